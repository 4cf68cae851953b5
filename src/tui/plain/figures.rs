//! The figures of the watch view as sentences: totals, each source with its longest queues, alerts, outcomes.

use crate::domain::time::spoken;
use crate::domain::{Queue, Timestamp, Trend};
use crate::inbox::figures::{self, Board, BoardRequest, DecidedBy, QueueLine, SourceBoard, Standing, cells};
use crate::tui::chrome;
use crate::tui::core::model::Model;
use crate::tui::core::msg::Effect;
use crate::tui::dashboard::state::Watch;
use crate::tui::plain::words;
use crate::tui::{dashboard, plain};

use super::browse;
use super::session::{Opened, Session, Turn};

const WINDOW: u32 = 60;
const QUEUES: usize = 5;

/// Limit for asking a source its counts; after that, this client's own counts are read out. Milliseconds.
const PATIENCE: i64 = 2_000;

/// Asks the gates for their rates, like the watch view, so that both report the same numbers.
pub(crate) fn start(session: &mut Session, opened: Opened) {
    dashboard::update::ask_now(&mut session.model);
    session.counting.extend(session.model.effects.iter().filter_map(|effect| match effect {
        Effect::Flows { source, .. } => Some(source.clone()),
        _ => None,
    }));
    session.turn = Turn::Counting(session.model.now, opened);
}

/// Reads the figures out once all sources have answered or the time is up. Returns false until then.
pub(crate) fn counted(session: &mut Session, asked: Timestamp, opened: Opened) -> bool {
    if !session.counting.is_empty() && session.model.now.since(asked) < PATIENCE {
        return false;
    }
    session.turn = Turn::Word;
    read(session);
    if opened == Opened::NotYet {
        browse::first(session);
    }
    true
}

fn read(session: &mut Session) {
    let model = &session.model;
    let board =
        model.dashboard.figures.board(BoardRequest { window: WINDOW, columns: Watch::COLUMNS }, model.now);
    let said = sentences(model, &board);
    session.say_all(&said);
}

fn sentences(model: &Model, board: &Board) -> Vec<String> {
    let unread: Vec<String> =
        board.sources.iter().filter(|it| it.heard.is_none()).map(|it| it.name.to_string()).collect();
    let any = unread.len() < board.sources.len();
    let over = match board.total.over_target {
        0 => String::new(),
        n => words::over_target(n, &spoken(board.ages.target)),
    };
    let all = if any { standing(&board.total, board.at) } else { words::NOTHING_WAS_READ_YET.to_owned() };
    let mut said = vec![words::last_minutes(WINDOW, &all, &over)];
    if any && !unread.is_empty() {
        said.push(words::not_counted(&unread.join(", ")));
    }
    for source in &board.sources {
        said.push(of_source(source, board.at));
        said.extend(source.queues.iter().take(QUEUES).map(|line| of_queue(line, board.at)));
        let more = source.queues.len().saturating_sub(QUEUES);
        if more > 0 {
            said.push(words::and_more(more));
        }
    }
    if any {
        let of = &board.outcomes;
        said.push(words::since_then(of.approved, of.rejected, of.left, of.failed, of.unknown));
    }
    said.extend(decided_by(board));
    said.extend(board.alerts.iter().map(|alert| {
        let words = figures::words::alert(alert.kind, alert.count, &model.settings.targets);
        format!("Alert. {}: {words}.", alert.source)
    }));
    // If no source was read, the absence of alerts is not known.
    if board.alerts.is_empty() {
        said.push(match (any, unread.is_empty()) {
            (false, _) => words::ALERTS_ARE_NOT_KNOWN_YET.to_owned(),
            (true, false) => words::NO_ALERTS_SO_FAR.to_owned(),
            (true, true) => "No alerts.".to_owned(),
        });
    }
    said
}

fn of_source(source: &SourceBoard, at: Timestamp) -> String {
    let (state, good) = figures::words::state(source, at, true);
    if source.heard.is_none() {
        return words::nothing_read(&source.name, &state);
    }
    let trust = if good { String::new() } else { words::may_be_old(&state) };
    format!("Source {}: {}.{trust}", source.name, standing(&source.standing, at))
}

fn of_queue(line: &QueueLine, at: Timestamp) -> String {
    let name = match &line.queue {
        Queue::Agent(agent) => plain::sentences::name(agent),
        Queue::Tool(tool) => format!("tool {}", plain::sentences::identifier(tool)),
        Queue::Rest => words::ALL_OTHERS.to_owned(),
    };
    let over = match line.standing.over_target {
        0 => String::new(),
        n => words::over_target(n, &spoken(line.target)),
    };
    format!("Queue {name}: {}.{over}", standing(&line.standing, at))
}

/// Returns a sentence for each decider, if that is enabled.
fn decided_by(board: &Board) -> Vec<String> {
    let Some(all) = board.decided_by() else { return Vec::new() };
    if all.is_empty() {
        return vec![words::NOBODY_TOLD_WHO_DECIDED.to_owned()];
    }
    let one = |of: &DecidedBy<'_>| {
        let decider = &of.line().decider;
        let name = cells::decided_by(*of).plain();
        words::decided(&name, decider.approved, decider.rejected, &spoken(decider.median_wait))
    };
    all.iter().map(one).collect()
}

/// Returns `88 pending, growing, 1 high risk, oldest 3 h 12 min, now 3 in and 1 out a minute, ...`.
fn standing(of: &Standing, at: Timestamp) -> String {
    let mut said = vec![format!("{} pending", of.pending), of.state.word().to_lowercase()];
    if of.high > 0 {
        said.push(words::high_risk(&of.high));
    }
    if of.unknown > 0 {
        said.push(chrome::words::with_unknown_outcome(&of.unknown));
    }
    if let Some(oldest) = of.oldest {
        said.push(format!("oldest {}", spoken(at.since(oldest))));
    }
    if let Some(last) = of.last {
        said.push(words::now_rates(last.arrived, last.resolved));
    }
    if let Some(rate) = of.rate {
        let (arrive, resolve) =
            (figures::words::tenths(rate.arrivals()), figures::words::tenths(rate.resolves()));
        said.push(words::mean_rates(&arrive, &resolve));
    }
    if matches!(of.trend, Trend::ClearsIn(_)) {
        said.push(words::clears_in(&figures::words::clears(of.trend)));
    }
    said.join(", ")
}
