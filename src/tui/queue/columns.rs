//! Draws the values of a row in the columns of its group.

use ratatui::style::Style;

use crate::contract::tool::cells;
use crate::domain::{RawJson, Untrusted};
use crate::text::{self, Shown};
use crate::tui::chrome::pen::{self, Pen};
use crate::tui::chrome::theme;

use super::bands::{Band, fitting, point};

/// Draws a row's values, each in its column. Returns false if the row has no columns.
pub(crate) fn draw(
    band: &Band,
    brief: &RawJson,
    (style, leads): (Style, bool),
    reserved: usize,
    pen: &mut Pen<'_>,
) -> bool {
    let cells = cells(brief);
    let find = |key: &str| cells.iter().find(|cell| cell.key == key);
    let shown = fitting(&band.columns, pen.left().saturating_sub(reserved));
    if !shown.iter().any(|column| find(&column.key).is_some()) {
        return false;
    }
    let last = shown.len().saturating_sub(1);
    for (nth, column) in shown.iter().enumerate() {
        let start = pen.position().x;
        let is_lead = leads && band.columns.first().is_some_and(|first| first.key == column.key);
        let style = if is_lead { pen::bold(style) } else { style };
        match find(&column.key) {
            Some(cell) if cell.is_number => {
                let before = column.whole.saturating_sub(point(&cell.text));
                pen.ours(&" ".repeat(before), theme::PLAIN).shown(&foreign(&cell.text), style);
                if let Some(unit) = &cell.unit {
                    let unit_at = start + (column.width - column.unit.min(column.width)) as u16;
                    pen.to(unit_at.max(pen.position().x)).ours(" ", theme::PLAIN);
                    pen.shown(&foreign(unit), if is_lead { style } else { theme::QUIET });
                }
            }
            Some(cell) => {
                let room = if nth == last { pen.left() } else { column.width };
                pen.shown(&foreign(&cell.text).cut(room), style);
            }
            None => {}
        }
        if nth < last {
            pen.to(start + column.width as u16).ours("  ", theme::PLAIN);
        }
    }
    // A row that differs from what the band says of all says so itself.
    for common in &band.common {
        let text = find(&common.key).map_or("", |cell| cell.text.as_str());
        if text != common.text {
            pen.ours("  ", theme::PLAIN).shown(&foreign(&format!("{}={text}", common.key)), style);
        }
    }
    true
}

fn foreign(text: &str) -> Shown {
    text::line(&Untrusted::from(text)).in_column()
}

/// Draws the fields that all rows share, as far as they fit.
pub(crate) fn draw_common(band: &Band, pen: &mut Pen<'_>) {
    for cell in &band.common {
        let unit = cell.unit.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
        let (key, value) = (foreign(&cell.key), foreign(&format!("{}{unit}", cell.text)));
        if key.width() + value.width() + 3 > pen.left() || cell.text.is_empty() {
            continue;
        }
        pen.ours("  ", theme::PLAIN)
            .shown(&key, theme::DIM)
            .ours(" ", theme::PLAIN)
            .shown(&value, theme::QUIET);
    }
}
