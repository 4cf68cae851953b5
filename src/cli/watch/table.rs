//! The board as a table.

use crate::config::Targets;
use crate::contract::time;
use crate::domain::Queue;
use crate::inbox::figures::{Board, SourceBoard, Standing, words};
use crate::text::{self, Shown};

use super::line;
use super::observer::Problems;
use crate::cli::{output, problem};

/// Columns of a name, at most.
const NAME: usize = 40;

pub(super) fn print(board: &Board, problems: &Problems, targets: Targets) -> anyhow::Result<()> {
    for line in lines(board, targets) {
        output::line(&line)?;
    }
    for why in board.sources.iter().filter_map(|source| problems.get(&source.name)) {
        output::line(&format!("! {}", problem(why)))?;
    }
    Ok(())
}

/// Everything but what went wrong.
pub(super) fn lines(board: &Board, targets: Targets) -> Vec<String> {
    let at = time::write(board.at);
    let mut lines = vec![
        format!("placet watch  {}  at {at}  window {} min", line::counts(board, targets), board.window),
        String::new(),
    ];
    let mut rows: Vec<Row> = Vec::new();
    for source in &board.sources {
        rows.push(Row::of_source(source, board));
        rows.extend(source.queues.iter().map(|queue| {
            let name = Shown::ours("  ").followed_by(name(&queue.queue));
            Row::of(name, &queue.standing, !source.is_good(), board, String::new())
        }));
    }
    if board.sources.len() > 1 {
        let doubtful = !board.sources.iter().all(SourceBoard::is_good);
        rows.push(Row::of(Shown::ours("all"), &board.total, doubtful, board, String::new()));
    }
    let width = rows.iter().map(|row| row.name.width()).max().unwrap_or(0).clamp(14, NAME);
    let heading = ["PENDING", "HIGH", "OLDEST", "ARR/M", "RES/M", "NET"].map(str::to_owned);
    lines.push(joined(&format!("{:width$}", "SOURCE / QUEUE"), &heading, "CLEARS IN", "STATE"));
    lines.extend(rows.iter().map(|row| {
        let name = row.name.cut(width);
        let pad = " ".repeat(width.saturating_sub(name.width()));
        joined(&format!("{}{pad}", name.plain()), &row.figures, &row.clears, &row.state)
    }));
    if !board.alerts.is_empty() {
        lines.push(String::new());
    }
    lines.extend(
        board
            .alerts
            .iter()
            .map(|alert| format!("! {}: {}", alert.source, words::alert(alert.kind, alert.count, &targets))),
    );
    lines
}

fn joined(name: &str, figures: &[String; 6], clears: &str, state: &str) -> String {
    let [pending, high, oldest, arrivals, resolves, net] = figures;
    let line = format!(
        "{name}  {pending:>8}  {high:>5}  {oldest:>8}  {arrivals:>6}  {resolves:>6}  {net:>6}  {clears:9}  {state}"
    );
    line.trim_end().to_owned()
}

/// Who proposes, else what is proposed.
fn name(queue: &Queue) -> Shown {
    match queue {
        Queue::Agent(agent) => text::name(agent),
        Queue::Tool(tool) => Shown::ours("tool ").followed_by(text::identifier(tool)),
        Queue::Rest => Shown::ours("all others"),
    }
}

struct Row {
    name: Shown,
    figures: [String; 6],
    clears: String,
    state: String,
}

impl Row {
    fn of_source(source: &SourceBoard, board: &Board) -> Self {
        let (state, _) = words::state(source, board.at, false);
        let name = Shown::ours(source.name.as_str());
        let row = Self::of(name, &source.standing, !source.is_good(), board, state);
        if source.heard.is_some() {
            return row;
        }
        // Nought would be a number.
        let (nothing, clears) = (|| "-".to_owned(), "-".to_owned());
        let state = if row.state == "READING" { "NO ANSWER".to_owned() } else { row.state };
        Self { figures: std::array::from_fn(|_| nothing()), clears, state, ..row }
    }

    /// `doubtful`: its numbers are old, and say so.
    fn of(name: Shown, standing: &Standing, doubtful: bool, board: &Board, state: String) -> Self {
        let mark = if doubtful { "?" } else { "" };
        let told = |figure: String| format!("{figure}{mark}");
        let over = if standing.over_target > 0 { "!" } else { "" };
        let oldest = standing.oldest.map(|at| format!("{}{over}", words::age(at, board.at)));
        let rate = |say: fn(&crate::domain::Rate) -> String| {
            standing.rate.as_ref().map_or_else(|| "?".to_owned(), |rate| told(say(rate)))
        };
        let clears = words::clears(standing.trend);
        let known = clears != "?";
        Self {
            name,
            figures: [
                told(standing.pending.to_string()),
                told(standing.high.to_string()),
                oldest.map_or_else(|| "-".to_owned(), told),
                rate(|rate| words::tenths(rate.arrivals())),
                rate(|rate| words::tenths(rate.resolves())),
                rate(|rate| words::net(rate.net())),
            ],
            clears: if known { told(clears) } else { clears },
            state,
        }
    }
}
