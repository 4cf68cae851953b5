//! Draws the rows of the list. Only rows on screen are looked at.

use std::collections::HashMap;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::config::{GroupBy, SortBy};
use crate::domain::{BatchKey, Together, Untrusted};
use crate::text;
use crate::text::Shown;
use crate::tui::chrome;
use crate::tui::chrome::pen::{Pen, frame};
use crate::tui::chrome::state::Focus;
use crate::tui::chrome::{pen, theme};
use crate::tui::core::command::Command;
use crate::tui::core::layout::{Layout, Shape};
use crate::tui::core::model::Model;
use crate::tui::preview::page::fields::{changes, edited_title};
use crate::tui::preview::page::made::Cached;

use super::groups::{Group, GroupKey, varying};
use super::slots::{Settled, Slot, State};
use super::state::Line;

/// Where others say their risk.
const UNKNOWN: &str = "UNKNOWN ";

/// Widths of the columns at the right. Zero hides one: `!` still tells a high risk.
struct Columns {
    /// Where no header names it.
    tool: usize,
    risk: usize,
    age: usize,
}

pub(crate) fn draw(model: &Model, layout: &Layout, buf: &mut Buffer) {
    if layout.rows.is_empty() {
        return;
    }
    if layout.shape != Shape::Stacked {
        let style = if model.screen.focus == Focus::List { theme::PLAIN } else { theme::DIM };
        frame(model, layout.list, &title(model), &note(model), style, buf);
    }
    if model.queue.lines().is_empty() {
        let all = model.queue.slots().len();
        let words = format!(" None of {} matches.", chrome::words::count(all, "action"));
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
pub(crate) fn cursor(model: &Model, layout: &Layout) -> Option<Position> {
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
        return format!("{at}   RANGE of {}", chrome::words::count(last + 1 - first, "row"));
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
    if group.key == GroupKey::ToResolve {
        return to_settle(model, group, row, buf);
    }
    let mut pen = row.pen(buf);
    let Some(first) = group.slots.first().and_then(|index| model.queue.slot(*index)) else { return };
    let staged = model.decide.spread.of_group(group, &model.queue, &model.decide.tally);
    let undecided = group.open.saturating_sub(staged.total());
    let wide = row.area.width >= 60;
    let turn = group.key.batch().is_some() && first.entry.row.can.together != Together::Free;
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
    let letters = chrome::words::staged(staged);
    if group.folded && !letters.is_empty() {
        note = format!("{letters}  {note}");
    }
    pen.ours(if group.folded { " + " } else { " v " }, theme::DIM);
    pen.shorten(note.len() + 2);
    name(group, first, &mut pen);
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
    let key = model.settings.keymap.key(Command::ResolveUnknown);
    let mut slots = group.slots.iter().filter_map(|index| model.queue.slot(*index));
    if !slots.any(|slot| slot.state == State::Unknown) {
        return format!("outcome unknown: {key} settles these");
    }
    let at = model.submit.look_again.map(|at| chrome::words::clock(model, at.max(model.now)));
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
    pen.ours(if row.marked || model.queue.marks.contains(key) { "+" } else { " " }, pen::bold(theme::KEY));
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
        State::Pending | State::Held | State::Sending | State::Unknown | State::ToResolve => {
            columns.tool + risk + columns.age
        }
    };
    let changed = if slot.is_pending() && model.has_changed(key) { "(changed) " } else { "" };
    let title = if model.edit.drafted.contains_key(key) && model.decide.draft.get(key).is_none() {
        "(edited) "
    } else {
        ""
    };
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
        pen.column(
            &chrome::words::risk(&slot.entry.row.risk),
            columns.risk - 1,
            theme::risk(&slot.entry.row.risk),
        );
        pen.ours(" ", theme::PLAIN);
    }
    let soon = chrome::words::expires(slot.entry.row.expires_at, model.now).filter(|_| slot.is_pending());
    if let Some(soon) = soon {
        pen.ours(&format!("{soon:>width$}", width = columns.age), theme::WARN);
        return;
    }
    let age = chrome::words::age(slot.entry.row.created_at, model.now);
    pen.ours(&format!("{age:>width$} ", width = columns.age - 1), theme::PLAIN);
}

/// With the new values, where some are edited and the old ones are known.
fn shown_title(model: &Model, slot: &Slot) -> Shown {
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
    match (&slot.state, model.decide.draft.get(&slot.entry.key)) {
        (State::Settled(settled), _) if settled.ours => pen.ours("=", theme::DIM),
        (State::Settled(_), _) => pen.ours("~", theme::DIM),
        (State::Unknown | State::ToResolve, _) => pen.ours("?", theme::WARN),
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
    let status = chrome::words::status(settled.status.as_ref()).cut(12);
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

// Groups that are not batches: their name on the header, and on the header's preview what is in them.

/// So many actions of a group are looked at for its preview: it is drawn with every frame.
const LOOKED: usize = 2_000;
/// Columns of one value in the table of what varies, at least.
const COLUMN: usize = 18;

/// A column of the table, where so many share the width.
fn column(width: u16, columns: usize) -> usize {
    (usize::from(width).saturating_sub(4) / columns.max(1)).saturating_sub(1).max(COLUMN)
}

/// What a header says before its counts.
pub(crate) fn name(group: &Group, first: &Slot, pen: &mut Pen<'_>) {
    let row = &first.entry.row;
    let mut named = |word: &str, id: Option<&Untrusted>| {
        match id {
            Some(id) => pen.ours(&format!("{word} "), theme::DIM).shown(&text::name(id), theme::BOLD),
            None => pen.ours(&format!("no {word}"), theme::BOLD),
        };
        pen.ours("  ", theme::PLAIN).ours(&batches(group), theme::DIM);
    };
    match &group.key {
        GroupKey::Batch(_) | GroupKey::ToResolve => {
            pen.shown(&text::identifier(&row.tool), theme::BOLD);
            if let Some(who) = row.agent.as_ref().or(row.mission.as_ref()) {
                pen.ours("  ", theme::PLAIN).shown(&text::name(who), theme::DIM);
            }
        }
        GroupKey::Mission(_, id) => named("mission", id.as_ref()),
        GroupKey::Checkpoint(_, id) => named("checkpoint", id.as_ref()),
        GroupKey::Agent(_, id) => named("agent", id.as_ref()),
        GroupKey::Source(source) => named("source", Some(&source.as_str().into())),
        GroupKey::Shape(shape) => {
            pen.shown(&text::line(&shape.title), theme::BOLD);
            pen.ours("  ", theme::PLAIN).shown(&text::identifier(&shape.tool), theme::DIM);
        }
    }
}

fn batches(group: &Group) -> String {
    if group.batches == 1 { "1 batch".to_owned() } else { format!("{} batches", group.batches) }
}

/// The preview of a group's header.
pub(crate) fn draw_group(model: &Model, group: &Group, area: Rect, buf: &mut Buffer) {
    let Some(first) = group.slots.first().and_then(|index| model.queue.slot(*index)) else { return };
    name(group, first, &mut Pen::new(buf, area, 0));
    let staged = model.decide.spread.of_group(group, &model.queue, &model.decide.tally).total();
    let undecided = group.open.saturating_sub(staged);
    let line = format!("{} open, {undecided} undecided, {staged} staged, in {}", group.open, batches(group));
    Pen::new(buf, area, 1).ours(&line, theme::PLAIN);
    let keys = &model.settings.keymap;
    let hint = format!(
        "{} approves the rest   {} marks all   {} reviews",
        keys.key(Command::ApproveRest),
        keys.key(Command::Mark),
        keys.key(Command::ReviewBatch)
    );
    Pen::new(buf, area, 2).ours(&hint, theme::DIM);
    let rest = Rect { y: area.y + 4.min(area.height), height: area.height.saturating_sub(4), ..area };
    match group.key {
        GroupKey::Shape(_) => shape(model, group, rest, buf),
        _ => by_batch(model, group, rest, buf),
    }
}

/// Its batches with their counts: what `s` reviews together.
fn by_batch(model: &Model, group: &Group, area: Rect, buf: &mut Buffer) {
    let mut order: Vec<(BatchKey, &Slot)> = Vec::new();
    let mut counts: HashMap<BatchKey, usize> = HashMap::new();
    let slots = group.slots.iter().take(LOOKED).filter_map(|index| model.queue.slot(*index));
    for slot in slots {
        let batch = slot.entry.batch();
        let count = counts.entry(batch.clone()).or_insert_with(|| {
            order.push((batch, slot));
            0
        });
        *count += usize::from(slot.counts_as_pending());
    }
    let room = usize::from(area.height);
    for (nth, (batch, slot)) in order.iter().take(room).enumerate() {
        let open = counts.get(batch).copied().unwrap_or_default();
        let staged = chrome::words::staged(model.decide.tally.batch(batch));
        let gap = if staged.is_empty() { "" } else { "  staged " };
        let note = format!("{open} open{gap}{staged} ");
        let mut pen = Pen::new(buf, area, nth as u16);
        pen.shorten(note.len() + 1).shown(&text::identifier(&slot.entry.row.tool), theme::PLAIN);
        if let Some(id) = &slot.entry.row.batch {
            pen.ours("  ", theme::PLAIN).shown(&text::identifier(id.untrusted()), theme::DIM);
        }
        Pen::new(buf, area, nth as u16).keep(note.len()).ours(&note, theme::DIM);
    }
    if group.slots.len() > LOOKED {
        let line = format!("(the first {LOOKED} of {} actions)", group.slots.len());
        Pen::new(buf, area, order.len().min(room) as u16).ours(&line, theme::DIM);
    }
}

/// What varies: of actions that were read, the fields of their inputs that run; of the others, the words of their titles.
fn shape(model: &Model, group: &Group, area: Rect, buf: &mut Buffer) {
    let rows = usize::from(area.height.saturating_sub(2));
    let slots: Vec<&Slot> =
        group.slots.iter().take(rows).filter_map(|index| model.queue.slot(*index)).collect();
    let cached: Vec<Option<&Cached>> =
        slots.iter().map(|slot| model.preview.cached(&slot.entry.key).map(AsRef::as_ref)).collect();
    let fields = fields(&cached);
    let width = column(area.width, fields.len());
    let mut pen = Pen::new(buf, area, 0);
    if fields.is_empty() {
        pen.ours("    what varies in the titles", theme::DIM);
    } else {
        pen.ours("    ", theme::DIM);
        for field in &fields {
            pen.column(&text::line(&Untrusted::from(field.as_str())), width, theme::KEY)
                .ours(" ", theme::PLAIN);
        }
    }
    for (nth, (slot, cached)) in slots.iter().zip(&cached).enumerate() {
        let mut pen = Pen::new(buf, area, nth as u16 + 1);
        let letter =
            model.decide.draft.get(&slot.entry.key).map_or('.', |staged| staged.decision.kind().letter());
        let marked = if model.queue.marks.contains(&slot.entry.key) { '+' } else { ' ' };
        pen.ours(&format!("{marked}{letter}  "), theme::PLAIN);
        match cached.filter(|_| !fields.is_empty()) {
            Some(cached) => values(cached, &fields, width, &mut pen),
            None => {
                for part in varying(&slot.entry.row.title) {
                    pen.column(&text::line(&part), COLUMN, theme::PLAIN).ours(" ", theme::PLAIN);
                }
            }
        }
    }
    if group.slots.len() > slots.len() {
        let key = model.settings.keymap.key(Command::Unfold);
        let line = format!("    and {} more: {key} opens the group", group.slots.len() - slots.len());
        Pen::new(buf, area, area.height.saturating_sub(1)).ours(&line, theme::DIM);
    }
}

/// Keys whose values are not the same in all inputs that were read, in their order. Empty with fewer than two of them.
fn fields(cached: &[Option<&Cached>]) -> Vec<String> {
    let read: Vec<HashMap<String, &str>> = cached.iter().flatten().map(|cached| members(cached)).collect();
    let Some(first) = cached.iter().flatten().next().filter(|_| read.len() > 1) else { return Vec::new() };
    let keys = first
        .action
        .input
        .members()
        .unwrap_or_default()
        .into_iter()
        .map(|member| member.key.text.into_owned());
    keys.filter(|key| {
        let mut values = read.iter().map(|members| members.get(key));
        let one = values.next();
        values.any(|value| Some(value) != one)
    })
    .collect()
}

fn members(cached: &Cached) -> HashMap<String, &str> {
    let members = cached.action.input.members().unwrap_or_default();
    members.into_iter().map(|member| (member.key.text.into_owned(), member.value)).collect()
}

fn values(cached: &Cached, fields: &[String], width: usize, pen: &mut Pen<'_>) {
    let members = members(cached);
    for field in fields {
        let value = members
            .get(field)
            .map_or_else(|| Shown::ours("(none)"), |value| text::line(&Untrusted::from(*value)));
        pen.column(&value, width, theme::PLAIN).ours(" ", theme::PLAIN);
    }
}
