//! The rows: only those on screen are looked at.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::domain::Together;
use crate::text;
use crate::tui::command::Command;
use crate::tui::layout::{Layout, Shape};
use crate::tui::model::{Focus, Group, GroupBy, GroupKey, Line, Model, Settled, Slot, SortBy, State};
use crate::tui::page::{changes, edited_title};
use crate::tui::theme;

use super::frame::frame;
use super::pen::Pen;
use super::words;

/// Where others say their risk.
const UNKNOWN: &str = "UNKNOWN ";

/// Widths of the columns at the right. Zero hides one: `!` still tells a high risk.
struct Columns {
    /// Where no header names it.
    tool: usize,
    risk: usize,
    age: usize,
}

pub(super) fn draw(model: &Model, layout: &Layout, buf: &mut Buffer) {
    if layout.rows.is_empty() {
        return;
    }
    if layout.shape != Shape::Stacked {
        let style = if model.focus == Focus::List { theme::PLAIN } else { theme::DIM };
        frame(model, layout.list, &title(model), &note(model), style, buf);
    }
    if model.queue.lines().is_empty() {
        let all = model.queue.slots().len();
        let words = format!(" None of {} matches.", words::count(all, "action"));
        Pen::new(buf, layout.rows, 1).ours(&words, theme::BOLD);
        return;
    }
    let range = model.queue.range();
    let lines = model.queue.lines().get(model.queue.top..).unwrap_or_default();
    for (nth, line) in lines.iter().take(usize::from(layout.rows.height)).enumerate() {
        let here = model.queue.top + nth == model.queue.at();
        let marked = range.is_some_and(|(first, last)| (first..=last).contains(&(model.queue.top + nth)));
        let row = Row { area: layout.rows, nth: nth as u16, here, marked };
        match line {
            Line::Header(index) => model.queue.group(*index).map(|group| batch(model, group, &row, buf)),
            Line::Action(index) => model.queue.slot(*index).map(|slot| action(model, slot, &row, buf)),
        };
    }
}

/// Where the row under the cursor begins.
pub(super) fn cursor(model: &Model, layout: &Layout) -> Option<Position> {
    let nth = u16::try_from(model.queue.at().checked_sub(model.queue.top)?).ok()?;
    let on_screen = nth < layout.rows.height && !model.queue.lines().is_empty();
    on_screen.then(|| Position::new(layout.rows.x, layout.rows.y + nth))
}

struct Row {
    area: Rect,
    nth: u16,
    here: bool,
    /// Inside a range.
    marked: bool,
}

impl Row {
    fn pen<'a>(&self, buf: &'a mut Buffer) -> Pen<'a> {
        let base = if self.here { theme::SELECTED } else { theme::PLAIN };
        let mut pen = Pen::new(buf, self.area, self.nth).base(base);
        pen.ours(if self.here { ">" } else { " " }, theme::BOLD);
        pen
    }

    /// What stands at the right end of a header.
    fn note(&self, note: &str, style: Style, buf: &mut Buffer) {
        let right = Rect { width: self.area.width.saturating_sub(1), ..self.area };
        let base = if self.here { theme::SELECTED } else { theme::PLAIN };
        Pen::new(buf, right, self.nth).keep(note.len()).ours(note, base.patch(style));
    }
}

fn note(model: &Model) -> String {
    let at = format!("row {} of {}", model.queue.at() + 1, model.queue.lines().len());
    if let Some((first, last)) = model.queue.range() {
        return format!("{at}   RANGE of {}", words::count(last + 1 - first, "row"));
    }
    let (marked, gone, hidden) =
        (model.queue.marks.len(), model.queue.marks_gone(), model.queue.marks_hidden());
    let hidden = if hidden > 0 { format!(", {hidden} hidden") } else { String::new() };
    match (marked, gone) {
        (0, 0) => at,
        (_, 0) => format!("{at}   {marked} marked{hidden}"),
        (_, gone) => format!("{at}   {marked} of {} marked still pending{hidden}", marked + gone),
    }
}

/// `Queue by checkpoint, risk first`
fn title(model: &Model) -> String {
    let (group, sort) = (model.queue.group_by(), model.queue.sort_by());
    let by = if group == GroupBy::default() { String::new() } else { format!(" by {}", group.word()) };
    let first = if sort == SortBy::default() { String::new() } else { format!(", {} first", sort.first()) };
    format!("Queue{by}{first}")
}

/// `v tool · agent     2 of 4 undecided`
fn batch(model: &Model, group: &Group, row: &Row, buf: &mut Buffer) {
    if group.key == GroupKey::ToSettle {
        return to_settle(model, group, row, buf);
    }
    let mut pen = row.pen(buf);
    let Some(first) = group.slots.first().and_then(|index| model.queue.slot(*index)) else { return };
    let staged = model.staged_in(group);
    let undecided = group.open.saturating_sub(staged.total());
    let wide = row.area.width >= 60;
    let turn = group.key.batch().is_some() && first.entry.can.together != Together::Free;
    let decided = group.open.saturating_sub(undecided);
    let mut note = match (wide, undecided) {
        (true, 0) if group.open == 0 => "all settled".to_owned(),
        (true, 0) => "all staged".to_owned(),
        // It goes as a whole, or not at all.
        (true, _) if turn => format!("turn: {decided} of {} decided", group.open),
        (false, _) if turn && group.open > 0 => format!("{decided}/{} decided", group.open),
        (true, n) => format!("{n} of {} undecided", group.open),
        (false, n) => format!("{n}/{}", group.open),
    };
    let letters = words::staged(staged);
    if group.folded && !letters.is_empty() {
        note = format!("{letters}  {note}");
    }
    pen.ours(if group.folded { " + " } else { " v " }, theme::DIM);
    pen.shorten(note.len() + 2);
    super::group::name(group, first, &mut pen);
    row.note(&note, if undecided == 0 { theme::GOOD } else { theme::PLAIN }, buf);
}

/// `v outcome unknown: t settles these     2 left`
fn to_settle(model: &Model, group: &Group, row: &Row, buf: &mut Buffer) {
    let note = match group.open {
        0 => "all settled".to_owned(),
        left if row.area.width >= 60 => format!("{left} left"),
        left => left.to_string(),
    };
    let mut pen = row.pen(buf);
    pen.ours(if group.folded { " + " } else { " v " }, theme::DIM);
    pen.shorten(note.len() + 2);
    pen.ours(&lost_words(model, group, row.area.width >= 60), theme::WARN);
    row.note(&note, if group.open == 0 { theme::GOOD } else { theme::WARN }, buf);
}

/// `outcome unknown: t settles these; read again at 14:22:07`
fn lost_words(model: &Model, group: &Group, wide: bool) -> String {
    let key = model.settings.keymap.key(Command::Settle);
    let mut slots = group.slots.iter().filter_map(|index| model.queue.slot(*index));
    if !slots.any(|slot| slot.state == State::Unknown) {
        return format!("outcome unknown: {key} settles these");
    }
    let at = model.look_again.map(|at| words::clock(model, at.max(model.now)));
    match (at, wide) {
        (Some(at), true) => format!("outcome unknown: {key} settles these; read again at {at}"),
        (Some(at), false) => format!("unknown: {key} settles, next look {at}"),
        (None, true) => format!("outcome unknown: {key} settles these; reading now"),
        (None, false) => format!("unknown: {key} settles, reading now"),
    }
}

/// `   A !* title                 HIGH  3h12m`
fn action(model: &Model, slot: &Slot, row: &Row, buf: &mut Buffer) {
    let key = &slot.entry.key;
    let mut pen = row.pen(buf);
    pen.ours(
        if row.marked || model.queue.marks.contains(key) { "+" } else { " " },
        super::pen::bold(theme::KEY),
    );
    // An action alone stands where headers stand, so that it does not seem to belong to the batch above it.
    let single = model.queue.group_of(slot).is_some_and(Group::is_single);
    pen.ours(if single { "" } else { " " }, theme::PLAIN);
    decision(model, slot, &mut pen);
    flags(model, slot, &mut pen);
    let lost = slot.is_lost();
    let columns = columns(row.area.width, single || lost);
    let risk = if lost { UNKNOWN.len() } else { columns.risk };
    let right = match &slot.state {
        State::Settled(settled) => return outcome(settled, slot, pen),
        State::Pending | State::Held | State::Sending | State::Unknown | State::ToSettle => {
            columns.tool + risk + columns.age
        }
    };
    let changed = if slot.is_pending() && model.has_changed(key) { "(changed) " } else { "" };
    let title =
        if model.drafted.contains_key(key) && model.draft.get(key).is_none() { "(edited) " } else { "" };
    let room = pen.left().saturating_sub(right + 1);
    pen.ours(changed, theme::WARN).ours(title, theme::KEY);
    let room = room.saturating_sub(changed.len() + title.len());
    pen.column(&shown_title(model, slot), room, theme::PLAIN).ours(" ", theme::PLAIN);
    if columns.tool > 0 {
        pen.column(&text::identifier(&slot.entry.row.tool), columns.tool - 2, theme::DIM)
            .ours("  ", theme::PLAIN);
    }
    if lost {
        pen.ours(UNKNOWN, theme::WARN);
    } else if columns.risk > 0 {
        pen.column(&words::risk(&slot.entry.row.risk), columns.risk - 1, theme::risk(&slot.entry.row.risk));
        pen.ours(" ", theme::PLAIN);
    }
    let soon = words::expires(slot.entry.row.expires_at, model.now).filter(|_| slot.is_pending());
    if let Some(soon) = soon {
        pen.ours(&format!("{soon:>width$}", width = columns.age), theme::WARN);
        return;
    }
    let age = words::age(slot.entry.row.created_at, model.now);
    pen.ours(&format!("{age:>width$} ", width = columns.age - 1), theme::PLAIN);
}

/// With the new values, where some are edited and the old ones are known.
fn shown_title(model: &Model, slot: &Slot) -> text::Shown {
    let (key, title) = (&slot.entry.key, &slot.entry.row.title);
    let known = model.edits_of(key).zip(model.preview.cached(key));
    known.map_or_else(
        || text::line(title),
        |(edits, cached)| edited_title(title, &changes(&cached.action.input, edits)),
    )
}

/// What is at the right of the title, by the width of the pane.
const fn columns(width: u16, single: bool) -> Columns {
    match (width, single) {
        (..56, _) => Columns { tool: 0, risk: 0, age: 7 },
        (_, false) => Columns { tool: 0, risk: 5, age: 7 },
        (_, true) => Columns { tool: 22, risk: 5, age: 7 },
    }
}

fn decision(model: &Model, slot: &Slot, pen: &mut Pen<'_>) {
    match (&slot.state, model.draft.get(&slot.entry.key)) {
        (State::Settled(settled), _) if settled.ours => pen.ours("=", theme::DIM),
        (State::Settled(_), _) => pen.ours("~", theme::DIM),
        (State::Unknown | State::ToSettle, _) => pen.ours("?", theme::WARN),
        (State::Sending, _) => pen.ours("^", theme::KEY),
        (State::Pending | State::Held, Some(staged)) => {
            let kind = staged.decision.kind();
            pen.ours(&kind.letter().to_string(), theme::decision(kind))
        }
        (State::Pending | State::Held, None) => pen.ours(".", theme::DIM),
    };
}

fn flags(model: &Model, slot: &Slot, pen: &mut Pen<'_>) {
    let open = slot.counts_as_pending();
    let high = open && slot.entry.row.risk.is_high();
    let unopened = open && model.seen_of(slot).is_none();
    pen.ours(" ", theme::PLAIN);
    pen.ours(if high { "!" } else { " " }, theme::WARN);
    pen.ours(if unopened { "*" } else { " " }, theme::KEY);
    pen.ours(if open && model.flags_of(slot).any() { "#" } else { " " }, theme::WARN);
}

/// A settled row stays in place and says what became of it, and by whom.
fn outcome(settled: &Settled, slot: &Slot, mut pen: Pen<'_>) {
    let status = words::status(settled.status.as_ref()).cut(12);
    let by = settled.by.as_ref().filter(|_| !settled.ours).map(|by| text::name(by).cut(16));
    let width = status.width() + by.as_ref().map_or(0, |by| by.width() + 4);
    let style = if settled.error.is_some() { theme::BAD } else { theme::DIM };
    let room = pen.left().saturating_sub(width + 2);
    pen.column(&text::line(&slot.entry.row.title), room, theme::DIM).ours(" ", theme::PLAIN);
    pen.shown(&status, style);
    if let Some(by) = by {
        pen.ours(" by ", theme::DIM).shown(&by, theme::DIM);
    }
}
