//! Draws a group in the place of the preview: its counts and keys, and its batches or what differs in a shape.

use std::collections::HashMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::domain::{BatchKey, Untrusted};
use crate::text::{self, Shown};
use crate::tui::chrome;
use crate::tui::chrome::pen::Pen;
use crate::tui::chrome::theme;
use crate::tui::core::command::Command;
use crate::tui::core::model::Model;
use crate::tui::preview::page::made::Cached;

use super::groups::{Group, GroupKey};
use super::shape::varying;
use super::slots::Slot;
use super::view::{batches, name};
use super::words;

/// Maximum number of actions examined per frame for a group's preview.
const LOOKED: usize = 2_000;
const COLUMN: usize = 18;

fn column(width: u16, columns: usize) -> usize {
    (usize::from(width).saturating_sub(4) / columns.max(1)).saturating_sub(1).max(COLUMN)
}

pub(crate) fn draw_group(model: &Model, group: &Group, area: Rect, buf: &mut Buffer) {
    let Some(first) = model.queue.rows_of(group).next() else { return };
    name(group, first, theme::BOLD, &mut Pen::new(buf, area, 0));
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
