//! Draws the whole model. Foreign text reaches it only as [`crate::text::Shown`].

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::tui::chrome::pen::{divider, recede};
use crate::tui::chrome::state::Focus;
use crate::tui::chrome::{empty, header, overlay, status};
use crate::tui::queue::places;
use crate::tui::{dashboard, history, preview, queue};

use super::layout::{Layout, Shape, above_message};
use super::model::{Model, Sheet};
use super::msg::SheetLines;

/// Draws everything. Returns the position of the terminal's cursor, which screen readers and input methods follow: in
/// the typed text, or else on the row under the cursor.
pub(crate) fn view(model: &Model, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let layout = model.layout_in(area);
    let cursor = if layout.shape == Shape::Counts {
        header::draw_counts(model, area, buf);
        None
    } else {
        let watching = model.watches().then(|| dashboard::view::draw(model, &layout, area, buf));
        if watching.is_none() {
            header::draw(model, &layout, buf);
            body(model, &layout, buf);
            status::draw(model, &layout, buf);
        }
        let sheet = model.sheet.top();
        if sheet.is_some_and(Sheet::covers) || model.screen.overlay.is_some() {
            recede(model, above_message(&layout, area), buf);
        }
        // Sheets leave the last message visible.
        let typed = sheet.and_then(|sheet| sheet.draw(model, &layout, above_message(&layout, area), buf));
        let bare = sheet.is_none() && model.screen.overlay.is_none();
        let over = overlay::draw(model, &layout, area, buf);
        let here = || watching.unwrap_or_else(|| reading(model, &layout));
        over.or(typed).or_else(|| if bare { here() } else { None })
    };
    model.screen.theme.paint(buf);
    cursor
}

/// Returns the position of the row under the cursor; in the preview, the start of its text.
fn reading(model: &Model, layout: &Layout) -> Option<Position> {
    let text = Position::new(layout.text.x, layout.text.y);
    let in_preview = model.screen.zoom || model.screen.focus == Focus::Preview;
    if in_preview && !layout.text.is_empty() { Some(text) } else { queue::view::cursor(model, layout) }
}

fn body(model: &Model, layout: &Layout, buf: &mut Buffer) {
    let is_empty = model.history.open.is_none() && model.queue.slots.is_empty();
    if is_empty {
        empty::draw(model, layout, buf);
        return;
    }
    for line in layout.dividers {
        divider(model, line, buf);
    }
    places::draw(model, layout, buf);
    match &model.history.open {
        Some(view) => history::view::draw(model, view, layout, buf),
        None => queue::view::draw(model, layout, buf),
    }
    preview::view::draw(model, layout, buf);
    preview::view::draw_trusted(model, layout, buf);
}

pub(crate) fn sheet_lines(model: &Model) -> SheetLines {
    let screen = Rect::new(0, 0, model.screen.size.width, model.screen.size.height);
    let area = above_message(&model.layout(), screen);
    model.sheet.top().map_or_else(SheetLines::default, |sheet| sheet.extent(model, area))
}
