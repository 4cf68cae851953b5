//! The board as a table.

use crate::config::Targets;
use crate::inbox::figures::cells::{self, Figure};
use crate::inbox::figures::{Board, SourceBoard, Standing, words};
use crate::text::Shown;

use super::line;
use super::observer::Problems;
use crate::cli::output::{self, problem};

/// Maximum width of a name in columns.
const NAME: usize = 40;

pub(super) fn print(board: &Board, problems: &Problems, targets: Targets) -> anyhow::Result<()> {
    for line in lines(board, targets, &output::moment(board.at)) {
        output::line(&line)?;
    }
    for why in board.sources.iter().filter_map(|source| problems.get(&source.name)) {
        output::line(&format!("! {}", problem(why)))?;
    }
    Ok(())
}

/// Returns all lines but the problems.
pub(super) fn lines(board: &Board, targets: Targets, at: &str) -> Vec<String> {
    let mut lines = vec![
        format!("placet watch  {}  at {at}  window {} min", line::counts(board, targets), board.window),
        String::new(),
    ];
    let mut rows: Vec<Row> = Vec::new();
    for source in &board.sources {
        rows.push(Row::of_source(source, board));
        rows.extend(source.queues.iter().map(|queue| {
            let name = Shown::ours("  ").followed_by(cells::queue(&queue.queue));
            Row::of(name, &queue.standing, !source.is_good(), board, String::new())
        }));
    }
    if board.sources.len() > 1 {
        let doubtful = !board.sources.iter().all(SourceBoard::is_good);
        rows.push(Row::of(Shown::ours("all"), &board.total, doubtful, board, String::new()));
    }
    let width = rows.iter().map(|row| row.name.width()).max().unwrap_or(0).clamp(14, NAME);
    let heading = Figure::ALL.map(|figure| match figure {
        Figure::Pending => "PENDING".to_owned(),
        figure => figure.heading().to_uppercase(),
    });
    lines.push(joined(&format!("{:width$}", "SOURCE / QUEUE"), "STATE", &heading, "SOURCE"));
    lines.extend(rows.iter().map(|row| {
        let name = row.name.cut(width);
        let pad = " ".repeat(width.saturating_sub(name.width()));
        joined(&format!("{}{pad}", name.plain()), &row.verdict, &row.figures, &row.state)
    }));
    lines.extend(decided_by(board));
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

fn decided_by(board: &Board) -> Vec<String> {
    let Some(all) = board.decided_by() else { return Vec::new() };
    let head = [String::new(), format!("DECIDED BY, LAST {} MIN", board.window)];
    if all.is_empty() {
        return [&head[..], &["no source told who decided".to_owned()]].concat();
    }
    let names: Vec<Shown> = all.iter().map(|of| cells::decided_by(*of).cut(NAME)).collect();
    let width = names.iter().map(Shown::width).max().unwrap_or_default().max(head[1].len());
    let line = |name: &str, used: usize, cells: [String; 5]| {
        let cells = cells.iter().zip(cells::DECIDED);
        let cells: Vec<String> = cells.map(|(cell, (_, width))| format!("{cell:>width$}")).collect();
        format!("{name}{}{}", " ".repeat(width.saturating_sub(used)), cells.concat())
    };
    let headings = cells::DECIDED.map(|(heading, _)| heading.to_uppercase());
    let rows = names.iter().zip(&all);
    let rows = rows.map(|(name, of)| line(&name.plain(), name.width(), cells::decided(&of.line().decider)));
    let [gap, title] = head;
    [gap, line(&title, title.len(), headings)].into_iter().chain(rows).collect()
}

fn joined(name: &str, verdict: &str, figures: &[String; 9], state: &str) -> String {
    let [pending, high, oldest, over, in_now, in_mean, out_now, out_mean, clears] = figures;
    let line = format!(
        "{name}  {verdict:12}  {pending:>8}  {high:>5}  {oldest:>8}  {over:>5}  {in_now:>6}  {in_mean:>6}  {out_now:>7}  \
         {out_mean:>7}  {clears:>9}  {state}"
    );
    line.trim_end().to_owned()
}

struct Row {
    name: Shown,
    verdict: String,
    figures: [String; 9],
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
        // A zero would be a count.
        let state = if row.state == "READING" { "NO ANSWER".to_owned() } else { row.state };
        Self { figures: std::array::from_fn(|_| "-".to_owned()), state, ..row }
    }

    /// `doubtful`: its numbers are old, and are marked.
    fn of(name: Shown, standing: &Standing, doubtful: bool, board: &Board, state: String) -> Self {
        Self {
            name,
            verdict: cells::verdict(standing, doubtful),
            figures: Figure::ALL.map(|figure| figure.cell(standing, board.at).marked(doubtful)),
            state,
        }
    }
}
