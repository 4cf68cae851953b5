//! The report: counts per batch, and a line for each action, problems first.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::config::Glyphs;
use crate::domain::{BatchKey, Counts, Followed, Look, Outcome, ReportLine, Role, Status};
use crate::text;
use crate::tui::chrome;
use crate::tui::chrome::pen::{Parts, Pen, draw_lines, ours, sheet_frame};
use crate::tui::chrome::theme::{self, Mark};
use crate::tui::core::command::Command;
use crate::tui::core::layout::sheet_text;
use crate::tui::core::model::Model;
use crate::tui::core::msg::SheetLines;
use crate::tui::submit::state::ReportSheet;
use crate::tui::submit::words;

const WIDTH: u16 = 90;

fn size(lines: &[Parts], area: Rect) -> (u16, u16) {
    (WIDTH.min(area.width.saturating_sub(2)), (lines.len() + 4).min(usize::from(area.height)) as u16)
}

pub(crate) fn extent(model: &Model, sheet: &ReportSheet, area: Rect) -> SheetLines {
    let lines = lines(model, sheet, usize::from(area.width));
    let (width, height) = size(&lines, area);
    let page = usize::from(sheet_text(Rect { width, height, ..area }).height).saturating_sub(2);
    SheetLines { end: lines.len().saturating_sub(page), page }
}

pub(crate) fn draw(model: &Model, sheet: &ReportSheet, area: Rect, buf: &mut Buffer) {
    let lines = lines(model, sheet, usize::from(area.width));
    let counts = sheet.report.counts();
    let all = chrome::words::count(sheet.report.lines.len(), "decision");
    // If every decision failed, nothing was sent.
    let (word, foot) = match (counts.failed, counts.unknown) {
        _ if !sheet.waits.is_empty() => ("So far", words::RESULTS_AS_THEY_COME),
        (failed, _) if failed == sheet.report.lines.len() as u64 => {
            (words::NOTHING_LANDED, words::EVERYTHING_STAYS_STAGED)
        }
        (_, unknown) if unknown > 0 => ("Sent", words::UNKNOWN_CHECKED_AGAIN),
        (failed, _) if failed > 0 => ("Sent", words::WHAT_FAILED_STAYS_STAGED),
        _ => ("Sent", words::KEPT_IN_THE_LOG),
    };
    let at = chrome::words::clock(model, sheet.at);
    let title = format!("{word}: {all}  {}", at.get(..5).unwrap_or_default());
    let body = sheet_frame(model, area, size(&lines, area), &title, foot, buf);
    let room = usize::from(body.height.saturating_sub(2));
    let top = sheet.scroll.top.min(lines.len().saturating_sub(room));
    draw_lines(lines.get(top..).unwrap_or_default(), Rect { height: room as u16, ..body }, buf);
    let foot = Rect { y: body.bottom().saturating_sub(1), height: 1.min(body.height), ..body };
    let mut pen = Pen::new(buf, foot, 0);
    pen.ours(&format!("{} closes", model.settings.keymap.key(Command::Accept)), theme::BOLD);
    for (command, what) in [(Command::ExportReport, words::WRITES_A_FILE), (Command::CopyReport, "copies")] {
        let key = model.settings.keymap.key(command);
        pen.ours(&format!("   {key} {what}"), theme::PLAIN);
    }
    if sheet.report.counts().skipped > 0 {
        let key = model.settings.keymap.key(Command::ShowFirst);
        pen.ours(&words::shows_skipped(&key), theme::PLAIN);
    }
    if top + room < lines.len() {
        let down = model.settings.keymap.key(Command::Down);
        pen.right(&words::more_lines_below(lines.len() - top - room, &down), theme::DIM);
    }
}

/// Returns the summary of the last submission, shown until the next decision: counts of outcomes, then of what
/// followed. If it is too wide, problems come first.
pub(crate) fn sent(model: &Model, width: usize) -> Option<Parts> {
    let sheet = model.submit.last_report.as_ref().filter(|_| model.submit.sent_line && !model.watches())?;
    let counts = sheet.report.counts();
    let first: Vec<Part> = shown(&counts, &counts).map(|(look, n)| part(n, look.word, look.role)).collect();
    let mut notes: Vec<Part> = Vec::new();
    if counts.failed == sheet.report.lines.len() as u64 {
        notes.push((words::ALL_STAY_STAGED.to_owned(), Role::Bad));
    }
    notes.extend(sheet.waits.iter().map(|(source, n)| (words::on_the_way(*n, source), Role::Warn)));
    if waiting(model, sheet) > 0 {
        notes.push((words::PAUSED.to_owned(), Role::Warn));
    }
    let key = model.settings.keymap.key(Command::LastReport);
    let line = OneLine { first, then: ended(sheet), notes, key };
    let whole = line.parts(model);
    let fits = whole.iter().map(|(part, _)| part.width()).sum::<usize>() <= width;
    Some(if fits { whole } else { line.trouble_first(model) })
}

type Part = (String, Role);

/// Returns `5 approved`; good unless the reviewer must look.
fn part(n: u64, word: &str, role: Role) -> Part {
    (format!("{n} {word}"), if n == 0 || role == Role::Plain { Role::Good } else { role })
}

/// Returns the place in an order with problems first.
const fn urgency(role: Role) -> u8 {
    match role {
        Role::Bad | Role::Unknown => 0,
        Role::Warn => 1,
        Role::Plain | Role::Good => 2,
    }
}

/// Returns the counts of a batch or of all that a report shows: the first three, and those that occur in it.
fn shown(of: &Counts, all: &Counts) -> impl Iterator<Item = (Look, u64)> {
    let both = of.each().into_iter().zip(all.each()).enumerate();
    both.filter(|(nth, (_, (_, total)))| *nth < 3 || *total > 0).map(|(_, (of, _))| of)
}

fn ended(sheet: &ReportSheet) -> Vec<Part> {
    use Status as S;
    let statuses = [S::Executed, S::Failed, S::Unknown, S::Rejected, S::Expired, S::Withdrawn, S::Superseded];
    // Rejections are already counted among the outcomes.
    let news = |line: &&ReportLine| line.outcome != Outcome::Rejected;
    let with = |status: &Status| {
        let followed =
            sheet.report.lines.iter().filter(news).filter_map(|line| sheet.followed.get(&line.key));
        followed.filter(|it| it.status == *status).count() as u64
    };
    let undo = sheet.followed.values().filter(|it| it.failed_undo()).count() as u64;
    let counted = statuses.iter().filter_map(|status| Some((with(status), status.look()?)));
    let counted = counted.map(|(n, look)| (n, look.ran, look.role));
    let counted = counted.chain([(undo, chrome::words::UNDO_FAILED, Role::Bad)]);
    counted.filter(|(n, ..)| *n > 0).map(|(n, word, role)| part(n, word, role)).collect()
}

struct OneLine {
    first: Vec<Part>,
    then: Vec<Part>,
    notes: Vec<Part>,
    key: String,
}

impl OneLine {
    fn parts(&self, model: &Model) -> Parts {
        let mut parts = vec![ours(" ", theme::PLAIN)];
        join(model, &self.first, &mut parts);
        if !self.then.is_empty() {
            parts.push(ours("   then ", theme::PLAIN));
            join(model, &self.then, &mut parts);
        }
        for (note, role) in &self.notes {
            parts.extend([ours("   ", theme::PLAIN), ours(note.clone(), theme::role(*role))]);
        }
        parts.extend([
            ours("   ", theme::PLAIN),
            ours(self.key.clone(), theme::KEY),
            ours(" report", theme::PLAIN),
        ]);
        parts
    }

    /// Returns the line with the key first, then problems, so that only good news is cut.
    fn trouble_first(&self, model: &Model) -> Parts {
        let then = self.then.iter().map(|(text, role)| (format!("then {text}"), *role));
        let mut all: Vec<Part> =
            self.first.iter().cloned().chain(then).chain(self.notes.iter().cloned()).collect();
        all.sort_by_key(|(.., role)| urgency(*role));
        let mut parts =
            vec![ours(" ", theme::PLAIN), ours(self.key.clone(), theme::KEY), ours("  ", theme::PLAIN)];
        join(model, &all, &mut parts);
        parts
    }
}

fn join(model: &Model, words: &[Part], parts: &mut Parts) {
    let dot = if model.settings.glyphs == Glyphs::Unicode { " · " } else { ", " };
    for (nth, (word, role)) in words.iter().enumerate() {
        if nth > 0 {
            parts.push(ours(dot, theme::DIM));
        }
        parts.push(ours(word.clone(), theme::role(*role)));
    }
}

/// Number of approved actions that do not run because their source is paused.
fn waiting(model: &Model, sheet: &ReportSheet) -> usize {
    let ended = |line: &ReportLine| sheet.followed.get(&line.key).is_some_and(|at| at.status.is_final());
    let approved = |line: &&ReportLine| matches!(line.outcome, Outcome::Approved | Outcome::Accepted);
    let open = sheet.report.lines.iter().filter(approved).filter(|line| !ended(line));
    open.filter(|line| model.is_paused(&line.key.source)).count()
}

fn lines(model: &Model, sheet: &ReportSheet, width: usize) -> Vec<Parts> {
    let counts = sheet.report.counts();
    let name = width.saturating_sub(8 + shown(&counts, &counts).count() * 10).clamp(8, 40);
    let mut heading = vec![ours(format!("{:<name$}", "batch"), theme::DIM)];
    heading.extend(shown(&counts, &counts).map(|(look, _)| ours(format!("{:>10}", look.word), theme::DIM)));
    let mut lines: Vec<Parts> = vec![heading];
    let batches = sheet.report.by_batch();
    let is_several = batches.len() > 1;
    for (batch, tool, of_batch) in batches {
        // The name of the batch distinguishes two batches of one tool.
        let called = match batch {
            BatchKey::Batch(_, id) => id.untrusted(),
            BatchKey::Alone(_) => tool,
        };
        let tool = text::identifier(called).cut(name - 1);
        let pad = " ".repeat(name - tool.width());
        let mut line = vec![(tool, theme::PLAIN), ours(pad, theme::PLAIN)];
        line.extend(shown(&of_batch, &counts).map(cell));
        lines.push(line);
    }
    if is_several {
        let mut line = vec![ours(format!("{:<name$}", "all"), theme::BOLD)];
        line.extend(shown(&counts, &counts).map(cell));
        lines.push(line);
    }
    lines.push(Vec::new());
    let room = usize::from(WIDTH).min(width.saturating_sub(2)).saturating_sub(6);
    lines.extend(outcomes(model, sheet, room));
    let pending = counts.left_pending;
    if pending > 0 {
        let stay = if pending == 1 { "stays" } else { "stay" };
        lines.push(vec![ours(format!("{pending} {stay} pending"), theme::PLAIN)]);
    }
    for (source, n) in &sheet.waits {
        let line = words::sending(*n, source);
        lines.push(vec![ours(line, theme::WARN)]);
    }
    let waits = waiting(model, sheet);
    if waits > 0 {
        let verb = if waits == 1 { "waits" } else { "wait" };
        let line = words::paused_waiting(waits, verb);
        lines.push(vec![ours(line, theme::WARN)]);
    }
    lines
}

fn cell((look, count): (Look, u64)) -> (text::Shown, Style) {
    let style = match (count, look.role) {
        (0, _) => theme::DIM,
        (_, Role::Plain) => theme::BOLD,
        (_, role) => theme::role(role),
    };
    ours(format!("{count:>10}"), style)
}

const TITLE: usize = 44;

fn outcomes(model: &Model, sheet: &ReportSheet, room: usize) -> Vec<Parts> {
    let told = |line| (line, Ended::of(model, line, sheet.followed.get(&line.key)));
    let mut all: Vec<(&ReportLine, Ended)> = sheet.report.lines.iter().map(told).collect();
    all.sort_by_key(|(_, ended)| urgency(ended.role));
    let titles = all.iter().map(|(line, _)| text::line(&line.title).width());
    let title = titles.max().unwrap_or_default().min(TITLE).min(room / 2);
    all.into_iter().flat_map(|(line, ended)| ended.parts(model, line, title, room)).collect()
}

struct Ended {
    word: text::Shown,
    role: Role,
    why: Option<text::Shown>,
}

impl Ended {
    fn of(model: &Model, line: &ReportLine, followed: Option<&Followed>) -> Self {
        let look = line.outcome.look();
        // A later status says more than an outcome as decided.
        let since = followed.filter(|_| look.role == Role::Plain);
        let Some(since) = since else {
            let why = text::reason(&line.outcome, model.people.who(&line.key, line.outcome.by()));
            return Self { word: text::Shown::ours(look.word), role: look.role, why };
        };
        let why = since.error.as_ref().map(text::line);
        if since.failed_undo() {
            return Self { word: text::Shown::ours(chrome::words::UNDO_FAILED), role: Role::Bad, why };
        }
        let (word, role) = (text::status_as(&since.status, |look| look.ran), since.status.role());
        let after = if since.is_trouble() { words::AFTER_APPROVAL } else { "" };
        Self { word: word.followed_by(text::Shown::ours(after)), role, why }
    }

    /// Writes the reason on the same line if it fits, or else below it in full.
    fn parts(self, model: &Model, line: &ReportLine, title: usize, room: usize) -> Vec<Parts> {
        let mark = Mark::Decided(line.decision);
        let shown = text::line(&line.title).cut(title);
        let pad = " ".repeat(title - shown.width() + 2);
        let used = 2 + title + 2 + self.word.width() + 2;
        let mut first = vec![
            ours(mark.glyph(model.settings.glyphs), mark.style()),
            ours(" ", theme::PLAIN),
            (shown, theme::PLAIN),
            ours(pad, theme::PLAIN),
            (self.word, theme::role(self.role)),
        ];
        let Some(why) = self.why else { return vec![first] };
        if used + why.width() <= room {
            first.extend([ours("  ", theme::PLAIN), (why, theme::PLAIN)]);
            return vec![first];
        }
        let under = why.wrap(room.saturating_sub(4)).into_iter();
        std::iter::once(first)
            .chain(under.map(|row| vec![ours("    ", theme::PLAIN), (row, theme::PLAIN)]))
            .collect()
    }
}
