//! The figures of the watch view in sentences: all sources, each source with its longest queues, alerts, outcomes.

use crate::domain::{Queue, Timestamp};
use crate::inbox::figures::{Ask, Board, QueueLine, SourceBoard, Standing, words};
use crate::tui::model::{Model, Watch};

use super::say;
use super::session::Session;

/// Minutes back.
const WINDOW: u32 = 60;
/// So many queues of a source are read out.
const QUEUES: usize = 5;

pub(super) fn read(session: &mut Session) {
    let model = &session.model;
    let board = model.figures.board(Ask { window: WINDOW, columns: Watch::COLUMNS }, model.now);
    let said = sentences(model, &board);
    session.say_all(&said);
}

fn sentences(model: &Model, board: &Board) -> Vec<String> {
    let over = match board.total.over_target {
        0 => String::new(),
        n => format!(" {n} over the target of {}.", say::span(board.ages.target)),
    };
    let mut said =
        vec![format!("The last {WINDOW} minutes. All: {}.{over}", standing(&board.total, board.at))];
    for source in &board.sources {
        said.push(of_source(source, board.at));
        said.extend(source.queues.iter().take(QUEUES).map(|line| of_queue(line, board.at)));
        let more = source.queues.len().saturating_sub(QUEUES);
        if more > 0 {
            said.push(format!("And {more} more."));
        }
    }
    let of = &board.outcomes;
    said.push(format!(
        "Approved {}, excluded {}, left undecided {}, failed after approval {}, outcome unknown {}.",
        of.approved, of.rejected, of.left, of.failed, of.unknown
    ));
    said.extend(board.alerts.iter().map(|alert| {
        let words = words::alert(alert.kind, alert.count, &model.settings.targets);
        format!("Alert. {}: {words}.", alert.source)
    }));
    if board.alerts.is_empty() {
        said.push("No alerts.".to_owned());
    }
    said
}

fn of_source(source: &SourceBoard, at: Timestamp) -> String {
    let (state, good) = words::state(source, at, true);
    let trust = if good { String::new() } else { format!(" Its numbers may be old: {state}.") };
    format!("Source {}: {}.{trust}", source.name, standing(&source.standing, at))
}

fn of_queue(line: &QueueLine, at: Timestamp) -> String {
    let name = match &line.queue {
        Queue::Agent(agent) => say::name(agent),
        Queue::Tool(tool) => format!("tool {}", say::identifier(tool)),
        Queue::Rest => "all others".to_owned(),
    };
    format!("Queue {name}: {}.", standing(&line.standing, at))
}

/// `88 pending, 1 high risk, oldest 3 h 12 min, 9.0 arrive and 6.5 are resolved a minute, growing`
fn standing(of: &Standing, at: Timestamp) -> String {
    use crate::domain::Trend;
    let mut said = vec![format!("{} pending", of.pending)];
    if of.high > 0 {
        said.push(format!("{} high risk", of.high));
    }
    if of.unknown > 0 {
        said.push(format!("{} with unknown outcome", of.unknown));
    }
    if let Some(oldest) = of.oldest {
        said.push(format!("oldest {}", say::span(at.since(oldest))));
    }
    if let Some(rate) = of.rate {
        let (arrive, resolve) = (words::tenths(rate.arrivals()), words::tenths(rate.resolves()));
        said.push(format!("{arrive} arrive and {resolve} are resolved a minute"));
    }
    match of.trend {
        Trend::Clear | Trend::NotKnown => {}
        Trend::ClearsIn(_) => said.push(format!("clears in {}", words::clears(of.trend))),
        Trend::Steady | Trend::Growing => said.push(words::clears(of.trend)),
    }
    said.join(", ")
}
