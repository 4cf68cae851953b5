//! Draws the rows of the list, looking only at those on screen.

use std::collections::HashMap;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::contract::tool::Totals;
use crate::domain::{BatchKey, Look, Status, Together, Untrusted, merge};
use crate::text;
use crate::text::Shown;
use crate::tui::chrome;
use crate::tui::chrome::pen::Pen;
use crate::tui::chrome::state::Focus;
use crate::tui::chrome::theme::Mark;
use crate::tui::chrome::{pen, theme};
use crate::tui::core::command::Command;
use crate::tui::core::layout::Layout;
use crate::tui::core::model::Model;
use crate::tui::preview::page::made::Cached;
use crate::tui::queue::words;
use crate::tui::snooze;

use super::groups::{Group, GroupKey};
use super::places;
use super::shape::varying;
use super::slots::{Settled, Slot, State};
use super::state::Line;

const RISK: usize = 4;

pub(crate) fn draw(model: &Model, layout: &Layout, buf: &mut Buffer) {
    if layout.rows.is_empty() {
        return;
    }
    if model.queue.lines.is_empty() {
        let all = model.queue.slots.len();
        let words = words::none_matches(&chrome::words::count(all, "action"));
        Pen::new(buf, layout.rows, 1).ours(&words, theme::BOLD);
        return;
    }
    let range = model.queue.range();
    let focused = model.screen.focus == Focus::List && !places::is_open(model);
    for placed in model.queue.placed(layout.rows.height, model.settings.density) {
        let here = (placed.at == model.queue.at).then_some(focused);
        let marked = range.is_some_and(|(first, last)| (first..=last).contains(&placed.at));
        let row = Row { area: layout.rows, nth: placed.row, here, marked };
        match placed.line {
            Line::Header(id) => model.queue.group(id).map(|group| batch(model, group, &row, buf)),
            Line::Action(id) => model.queue.slot(id).map(|slot| {
                action(model, slot, &row, buf);
                if placed.height > 1 {
                    why(model, slot, &Row { nth: placed.row + 1, ..row }, buf);
                }
            }),
        };
    }
}

pub(crate) fn cursor(model: &Model, layout: &Layout) -> Option<Position> {
    let mut placed = model.queue.placed(layout.rows.height, model.settings.density);
    let here = placed.find(|placed| placed.at == model.queue.at)?;
    Some(Position::new(layout.rows.x, layout.rows.y + here.row))
}

/// Draws an action's second line: the agent's reason if it was loaded, or else the agent.
fn why(model: &Model, slot: &Slot, row: &Row, buf: &mut Buffer) {
    let read = model.preview.cached(&slot.entry.key);
    let summary = read.and_then(|cached| cached.action.summary.as_ref()).filter(|words| !words.is_empty());
    let mut pen = row.pen(model, buf);
    pen.ours(&" ".repeat(4 + RISK), theme::PLAIN);
    match (summary, &slot.entry.row.agent) {
        (Some(words), _) => drop(pen.shown(&text::line(words).boxed(), theme::DIM)),
        (None, Some(agent)) => drop(pen.ours("from ", theme::DIM).shown(&text::name(agent), theme::DIM)),
        (None, None) => {}
    }
}

struct Row {
    area: Rect,
    nth: u16,
    /// The cursor is on this row; true if the list has the focus.
    here: Option<bool>,
    marked: bool,
}

impl Row {
    fn pen<'a>(&self, model: &Model, buf: &'a mut Buffer) -> Pen<'a> {
        pen::row(model, self.area, self.nth, self.here, buf)
    }
}

/// Returns `3 marked, 1 hidden` if not all marks are visible, or the size of a range.
pub(crate) fn marked(model: &Model) -> Option<String> {
    if let Some((first, last)) = model.queue.range() {
        return Some(words::range_of(&chrome::words::count(last + 1 - first, "row")));
    }
    let (marked, gone, hidden) =
        (model.queue.marks.len(), model.queue.marks.gone(), model.queue.marks_hidden());
    let hidden = if hidden > 0 { format!(", {hidden} hidden") } else { String::new() };
    let totals = of_marked(model);
    match (marked, gone) {
        (0, 0) => None,
        (_, 0) => Some(format!("{marked} marked{totals}{hidden}")),
        (_, gone) => Some(words::marked_pending(marked, marked + gone, &totals, &hidden)),
    }
}

/// Returns `: 388.40 EUR, 3 recipients` if all marked actions are loaded.
fn of_marked(model: &Model) -> String {
    let mut totals = Totals::default();
    for key in &model.queue.mark_sums().few {
        let Some(cached) = model.preview.cached(key) else { return String::new() };
        match model.edits_of(key).map(|edits| merge(&cached.action.input, edits)) {
            Some(Ok(edited)) => totals.add(&cached.action.row.tool, &edited, None),
            _ => totals.join(cached.totals()),
        }
    }
    let parts = totals.parts();
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
}

fn batch(model: &Model, group: &Group, row: &Row, buf: &mut Buffer) {
    if group.key == GroupKey::ToResolve {
        return to_settle(model, group, row, buf);
    }
    let Some(first) = model.queue.rows_of(group).next() else { return };
    let staged = model.decide.spread.of_group(group, &model.decide.tally);
    let undecided = group.open.saturating_sub(staged.total());
    let turn = group.key.batch().is_some() && first.entry.row.can.together != Together::Free;
    let (mut note, mut style) = match undecided {
        0 if group.open == 0 => (words::ALL_SETTLED.to_owned(), theme::DIM),
        0 => (words::ALL_DECIDED.to_owned(), theme::GOOD),
        // A turn is decided as a whole.
        n if turn => (words::turn_decided(group.open - n, group.open), theme::PLAIN),
        n => (words::left_of(n, group.open), theme::DIM),
    };
    let letters = chrome::words::staged(staged);
    if group.folded && !letters.is_empty() {
        (note, style) = (format!("{letters}  {note}"), theme::PLAIN);
    }
    headed(model, group, row, (&note, style), buf, |pen| name(group, first, pen));
}

fn headed(
    model: &Model,
    group: &Group,
    row: &Row,
    (note, style): (&str, Style),
    buf: &mut Buffer,
    name: impl FnOnce(&mut Pen<'_>),
) {
    let mut pen = row.pen(model, buf);
    pen.ours(theme::fold(model.settings.glyphs, group.folded), theme::DIM).ours(" ", theme::PLAIN);
    pen.before(note.len() + 2, name).ours(" ", theme::PLAIN).ours(note, style);
}

fn to_settle(model: &Model, group: &Group, row: &Row, buf: &mut Buffer) {
    let wide = row.area.width >= 60;
    let note = match group.open {
        0 => words::ALL_SETTLED.to_owned(),
        left if wide => format!("{left} left"),
        left => left.to_string(),
    };
    let (name, style) = match group.open {
        0 => (words::WAS_UNKNOWN.to_owned(), theme::GOOD),
        _ => (lost_words(model, group, wide), theme::role(Look::UNKNOWN.role)),
    };
    headed(model, group, row, (&note, style), buf, |pen| {
        pen.ours(&name, theme::role(Look::UNKNOWN.role));
    });
}

/// Returns `outcome unknown: t resolves these; next check at 14:22:07`.
fn lost_words(model: &Model, group: &Group, wide: bool) -> String {
    let key = model.settings.keymap.key(Command::ResolveUnknown);
    if !model.queue.rows_of(group).any(|slot| slot.state == State::Unknown) {
        return words::resolves(&key);
    }
    let at = model.submit.look_again.map(|at| chrome::words::clock(model, at.max(model.now)));
    match (at, wide) {
        (Some(at), true) => words::resolves_at(&key, &at),
        (Some(at), false) => words::resolves_at_short(&key, &at),
        (None, true) => words::resolves_reading(&key),
        (None, false) => words::resolves_reading_short(&key),
    }
}

/// Draws an action's row: mark, risk, title, flag, age.
fn action(model: &Model, slot: &Slot, row: &Row, buf: &mut Buffer) {
    let key = &slot.entry.key;
    let mut pen = row.pen(model, buf);
    let marked = row.marked || slot.marked;
    let mark = mark(model, slot);
    let glyph = mark.map_or(" ", |mark| mark.glyph(model.settings.glyphs));
    let cells = [
        (if marked { "+" } else { " " }, pen::bold(theme::KEY)),
        (glyph, mark.map_or(theme::PLAIN, Mark::style)),
    ];
    // A single action is indented like a header, because it does not belong to the group above.
    let single = model.queue.group_of(slot).is_some_and(Group::is_single);
    for (text, style) in if single { [cells[1], cells[0]] } else { cells } {
        pen.ours(text, style);
    }
    pen.ours(" ", theme::PLAIN);
    let risk = &slot.entry.row.risk;
    let risk_style = if matches!(slot.state, State::Settled(_)) { theme::DIM } else { theme::risk(risk) };
    pen.column(&chrome::words::risk(risk), RISK, risk_style).ours(" ", theme::PLAIN);
    if let State::Settled(settled) = &slot.state {
        return outcome(model, settled, slot, pen);
    }
    let (when, when_style) = when(model, slot);
    let flag = flag(model, slot, pen.left());
    // A single action has no header that names its tool.
    let alone = slot.is_lost() || single;
    let tool = text::identifier(&slot.entry.row.tool).cut(if alone && pen.left() >= 64 { 22 } else { 0 });
    let people = approvals(model, slot, pen.left());
    let gap = |width: usize| if width == 0 { 0 } else { width + 2 };
    let claimed = claimed(model, slot, pen.left());
    let end =
        when.len() + 2 + gap(flag.len()) + gap(tool.width()) + gap(people.width()) + gap(claimed.width());
    pen.before(end, |pen| {
        if slot.is_pending() && model.has_changed(key) {
            pen.ours("(changed) ", theme::WARN);
        }
        if model.edit.drafted.contains_key(key) && model.decide.draft.get(key).is_none() {
            pen.ours("(edited) ", theme::KEY);
        }
        let style = if mark == Some(Mark::Unread) { theme::BOLD } else { theme::PLAIN };
        pen.shown(&text::line(&model.title_of(slot)).boxed(), style);
    });
    pen.ours(" ", theme::PLAIN);
    if tool.width() > 0 {
        pen.ours(" ", theme::PLAIN).shown(&tool, theme::DIM).ours(" ", theme::PLAIN);
    }
    if people.width() > 0 {
        pen.ours(" ", theme::PLAIN).shown(&people, theme::KEY).ours(" ", theme::PLAIN);
    }
    if claimed.width() > 0 {
        pen.ours(" ", theme::PLAIN).shown(&claimed, theme::KEY).ours(" ", theme::PLAIN);
    }
    if !flag.is_empty() {
        pen.ours(" ", theme::PLAIN).ours(&flag, theme::WARN).ours(" ", theme::PLAIN);
    }
    pen.ours(&when, when_style);
}

/// Returns the approvals given and needed, and by whom.
fn approvals(model: &Model, slot: &Slot, room: usize) -> Shown {
    let Some(approvals) = slot.entry.row.approvals.as_ref().filter(|_| slot.is_pending()) else {
        return Shown::ours("");
    };
    let mut shown = Shown::ours(words::approvals(approvals.given(), approvals.needed));
    let names = if room < 40 { &[] } else { approvals.by.as_slice() };
    let each = if room < 80 { 12 } else { 20 };
    for (nth, by) in names.iter().enumerate() {
        let between = if nth == 0 { theme::dot(model.settings.glyphs) } else { ", " };
        let by = model.people.called(&slot.entry.key.source, by, each);
        shown = shown.followed_by(Shown::ours(between)).followed_by(by);
    }
    shown
}

fn when(model: &Model, slot: &Slot) -> (String, Style) {
    let soon = chrome::words::expires(slot.entry.row.expires_at, model.now).filter(|_| slot.is_pending());
    match soon {
        Some(soon) => (soon, theme::WARN),
        None if slot.is_lost() => (Look::UNKNOWN.badge.to_owned(), theme::role(Look::UNKNOWN.role)),
        None => (chrome::words::row_age(slot.entry.row.created_at, model.now), theme::DIM),
    }
}

fn claimed(model: &Model, slot: &Slot, room: usize) -> Shown {
    if let Some(snoozed) = snooze::view::of_row(model, slot) {
        return Shown::ours(snoozed);
    }
    let of = (model.list.sources.as_slice(), &model.people);
    let room = if room < 56 { 8 } else { 16 };
    let named = model.claims.named(&slot.entry.key, of, model.now, room).filter(|_| slot.counts_as_pending());
    let Some((who, since)) = named else { return Shown::default() };
    who.followed_by(Shown::ours(format!("{}{since}", theme::dot(model.settings.glyphs))))
}

/// Returns the flag of a suspicious action; contains no foreign text.
fn flag(model: &Model, slot: &Slot, room: usize) -> String {
    if !slot.counts_as_pending() {
        return String::new();
    }
    let (short, long) = model.flags_of(slot).kind();
    match short {
        "" => match model.queue.same_as(slot, model.now) {
            Some(_) if room < 56 => "! same".to_owned(),
            Some(same) => format!("! {}", same.short()),
            None => String::new(),
        },
        _ if room < 56 => format!("! {short}"),
        _ => format!("! {long}"),
    }
}

/// Returns the row's mark. A settled row shows its outcome instead.
fn mark(model: &Model, slot: &Slot) -> Option<Mark> {
    match (&slot.state, model.decide.draft.get(&slot.entry.key)) {
        (State::Settled(_), _) => None,
        (State::Unknown | State::ToResolve, _) => Some(Mark::Unknown),
        (State::Sending, _) => Some(Mark::Sending),
        (State::Pending | State::Held, Some(staged)) => Some(Mark::Decided(staged.decision.kind())),
        (State::Pending | State::Held, None) if model.seen_of(slot).is_none() => Some(Mark::Unread),
        (State::Pending | State::Held, None) => Some(Mark::Read),
    }
}

fn outcome(model: &Model, settled: &Settled, slot: &Slot, mut pen: Pen<'_>) {
    let by = settled.by.as_ref().filter(|_| !settled.ours);
    let status = match (&settled.status, &settled.error) {
        (Some(Status::Rejected), Some(_)) => Shown::ours(chrome::words::UNDO_FAILED),
        (Some(status), _) if by.is_some() => text::status_word(status).cut(12),
        (Some(status), _) => text::status_badge(status).cut(12),
        (None, _) => Shown::ours("settled"),
    };
    let (before, after) = text::by_whom(settled.status.as_ref());
    let by =
        by.map(|by| model.people.called(&slot.entry.key.source, by, if pen.left() < 80 { 16 } else { 24 }));
    let width = status.width() + by.as_ref().map_or(0, |by| by.width() + before.len() + after.len());
    let style = if settled.error.is_some() { theme::BAD } else { theme::DIM };
    let room = pen.left().saturating_sub(width + 2);
    pen.column(&text::line(&model.title_of(slot)), room, theme::DIM).ours(" ", theme::PLAIN);
    pen.shown(&status, style);
    if let Some(by) = by {
        pen.ours(before, theme::DIM).shown(&by, theme::DIM).ours(after, theme::DIM);
    }
}

// Groups other than batches: the name in the header, and the content in the preview.

/// Maximum number of actions examined per frame for a group's preview.
const LOOKED: usize = 2_000;
const COLUMN: usize = 18;

fn column(width: u16, columns: usize) -> usize {
    (usize::from(width).saturating_sub(4) / columns.max(1)).saturating_sub(1).max(COLUMN)
}

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

pub(crate) fn draw_group(model: &Model, group: &Group, area: Rect, buf: &mut Buffer) {
    let Some(first) = model.queue.rows_of(group).next() else { return };
    name(group, first, &mut Pen::new(buf, area, 0));
    let staged = model.decide.spread.of_group(group, &model.decide.tally).total();
    let undecided = group.open.saturating_sub(staged);
    let line = words::group_counts(group.open, undecided, staged, &batches(group));
    Pen::new(buf, area, 1).ours(&line, theme::PLAIN);
    let keys = &model.settings.keymap;
    let hint = chrome::words::group_keys(
        &keys.key(Command::ApproveRest),
        &keys.key(Command::Mark),
        &keys.key(Command::ReviewBatch),
    );
    Pen::new(buf, area, 2).ours(&hint, theme::DIM);
    let rest = Rect { y: area.y + 4.min(area.height), height: area.height.saturating_sub(4), ..area };
    match group.key {
        GroupKey::Shape(_) => shape(model, group, rest, buf),
        _ => by_batch(model, group, rest, buf),
    }
}

fn by_batch(model: &Model, group: &Group, area: Rect, buf: &mut Buffer) {
    let mut order: Vec<(BatchKey, &Slot)> = Vec::new();
    let mut counts: HashMap<BatchKey, usize> = HashMap::new();
    for slot in model.queue.rows_of(group).take(LOOKED) {
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
    if group.rows.len() > LOOKED {
        let line = words::first_of(LOOKED, group.rows.len());
        Pen::new(buf, area, order.len().min(room) as u16).ours(&line, theme::DIM);
    }
}

/// Draws the varying values: input fields of loaded actions, or words of titles.
fn shape(model: &Model, group: &Group, area: Rect, buf: &mut Buffer) {
    let rows = usize::from(area.height.saturating_sub(2));
    let slots: Vec<&Slot> = model.queue.rows_of(group).take(rows).collect();
    let cached: Vec<Option<&Cached>> =
        slots.iter().map(|slot| model.preview.cached(&slot.entry.key).map(AsRef::as_ref)).collect();
    let fields = fields(&cached);
    let width = column(area.width, fields.len());
    let mut pen = Pen::new(buf, area, 0);
    if fields.is_empty() {
        pen.ours(words::WHAT_VARIES, theme::DIM);
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
        let marked = if slot.marked { '+' } else { ' ' };
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
    if group.rows.len() > slots.len() {
        let key = model.settings.keymap.key(Command::Unfold);
        let line = words::and_more(group.rows.len() - slots.len(), &key);
        Pen::new(buf, area, area.height.saturating_sub(1)).ours(&line, theme::DIM);
    }
}

/// Returns keys whose values differ among the loaded inputs; empty with fewer than two inputs.
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
