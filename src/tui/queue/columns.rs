//! Draws the values of a row in the columns of its group.

use ratatui::style::Style;

use crate::contract::tool::cells;
use crate::domain::{RawJson, Untrusted};
use crate::text::{self, Shown};
use crate::tui::chrome::pen::{self, Pen};
use crate::tui::chrome::theme;
use crate::tui::core::model::Model;

use super::bands::{Band, fitting, key_of, point};

/// Draws a row's values, each in its column. Returns false if the row has no columns.
pub(crate) fn draw(
    band: &Band,
    brief: &RawJson,
    (style, leads): (Style, bool),
    room: usize,
    pen: &mut Pen<'_>,
) -> bool {
    let cells = cells(brief);
    let find = |key: &str| cells.iter().find(|cell| cell.key == key);
    let shown = fitting(&band.columns, room);
    if !shown.iter().any(|column| find(&column.key).is_some()) {
        return false;
    }
    // A row that differs from what the band says of all says so first.
    for common in band.common.iter().filter(|common| find(&common.key) != Some(common)) {
        let cell = find(&common.key);
        let unit =
            cell.and_then(|cell| cell.unit.as_ref()).map(|unit| format!(" {unit}")).unwrap_or_default();
        let text = cell.map_or("", |cell| cell.text.as_str());
        pen.shown(&key_of(common), theme::LOOK).ours("=", theme::LOOK);
        pen.shown(&foreign(&format!("{text}{unit}")), style).ours("  ", theme::PLAIN);
    }
    let last = shown.len().saturating_sub(1);
    for (nth, column) in shown.iter().enumerate() {
        let start = pen.position().x;
        let is_lead = leads && band.columns.first().is_some_and(|first| first.key == column.key);
        let style = if is_lead { pen::bold(style) } else { style };
        if let Some(cell) = find(&column.key) {
            let room = if nth == last { pen.left() } else { column.width };
            let unit = cell.unit.as_deref().map(foreign);
            let for_unit = unit.as_ref().map_or(0, |unit| unit.width() + 1);
            let before = if cell.is_number { column.whole.saturating_sub(point(&cell.text)) } else { 0 };
            pen.ours(&" ".repeat(before), theme::PLAIN);
            pen.shown(&foreign(&cell.text).cut(room.saturating_sub(before + for_unit)), style);
            if let Some(unit) = unit {
                let unit_at = start + (column.width - column.unit.min(column.width)) as u16;
                pen.to(if cell.is_number { unit_at } else { 0 }).ours(" ", theme::PLAIN);
                pen.shown(&unit, if is_lead { style } else { theme::QUIET });
            }
        }
        if nth < last {
            pen.to(start + column.width as u16).ours("  ", theme::PLAIN);
        }
    }
    true
}

fn foreign(text: &str) -> Shown {
    text::line(&Untrusted::from(text)).in_column()
}

pub(crate) fn draw_common(model: &Model, band: &Band, pen: &mut Pen<'_>) {
    if band.common.is_empty() {
        return;
    }
    pen.ours("  ", theme::PLAIN).ours(theme::vertical(model.settings.glyphs), theme::GUTTER);
    for (nth, cell) in band.common.iter().enumerate() {
        let unit = cell.unit.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
        pen.ours(if nth == 0 { " " } else { "  " }, theme::PLAIN).shown(&key_of(cell), theme::DIM);
        pen.ours(" ", theme::PLAIN).shown(&foreign(&format!("{}{unit}", cell.text)), theme::QUIET);
    }
}
