//! Groups that are not batches: their name on the header, and on the header's preview what is in them.

use std::collections::HashMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::domain::{BatchKey, Untrusted};
use crate::text::{self, Shown};
use crate::tui::command::Command;
use crate::tui::model::{Cached, Group, GroupKey, Model, Slot, varying};
use crate::tui::theme;

use super::pen::Pen;
use super::words;

/// So many actions of a group are looked at for its preview: it is drawn with every frame.
const LOOKED: usize = 2_000;
/// Columns of one value in the table of what varies, at least.
const COLUMN: usize = 18;

/// A column of the table, where so many share the width.
fn column(width: u16, columns: usize) -> usize {
    (usize::from(width).saturating_sub(4) / columns.max(1)).saturating_sub(1).max(COLUMN)
}

/// What a header says before its counts.
pub(super) fn name(group: &Group, first: &Slot, pen: &mut Pen<'_>) {
    let row = &first.entry.row;
    let mut named = |word: &str, id: Option<&Untrusted>| {
        match id {
            Some(id) => pen.ours(&format!("{word} "), theme::DIM).shown(&text::name(id), theme::BOLD),
            None => pen.ours(&format!("no {word}"), theme::BOLD),
        };
        pen.ours("  ", theme::PLAIN).ours(&batches(group), theme::DIM);
    };
    match &group.key {
        GroupKey::Batch(_) | GroupKey::ToSettle => {
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
pub(super) fn draw(model: &Model, group: &Group, area: Rect, buf: &mut Buffer) {
    let Some(first) = group.slots.first().and_then(|index| model.queue.slot(*index)) else { return };
    name(group, first, &mut Pen::new(buf, area, 0));
    let staged = model.staged_in(group).total();
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
        let staged = words::staged(model.tally.batch(batch));
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
        let letter = model.draft.get(&slot.entry.key).map_or('.', |staged| staged.decision.kind().letter());
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
