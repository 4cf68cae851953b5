//! Draws the whole model. Foreign text reaches it only as [`crate::text::Shown`].

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::tui::chrome::pen::{divider, recede};
use crate::tui::chrome::state::Focus;
use crate::tui::chrome::{empty, header, leave, overlay, status};
use crate::tui::decide::reason;
use crate::tui::queue::{filter, places, saved_filters};
use crate::tui::submit::{report_view, resolve_unknown, review_view};
use crate::tui::{dashboard, edit, history, preview, queue};

use super::layout::{Layout, Shape, above_message};
use super::modal::Modal;
use super::model::Model;
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
        let covers =
            !matches!(model.modal, None | Some(Modal::Filter(_) | Modal::NameFilter(_) | Modal::Places(_)));
        if covers || model.screen.overlay.is_some() {
            recede(model, above_message(&layout, area), buf);
        }
        let filter = filter::draw(model, &layout, buf).or(saved_filters::draw_name(model, &layout, buf));
        // Sheets leave the last message visible.
        let typed = filter.or(sheet(model, above_message(&layout, area), buf));
        let bare = (model.modal.is_none() || places::is_open(model)) && model.screen.overlay.is_none();
        let over = overlay::draw(model, &layout, area, buf);
        let here = || watching.unwrap_or_else(|| reading(model, &layout));
        over.or(typed).or_else(|| if bare { here() } else { None })
    };
    model.screen.theme.paint(buf);
    cursor
}

/// Returns the position of the row under the cursor; in the preview, the start of its text.
fn reading(model: &Model, layout: &Layout) -> Option<Position> {
    if places::is_open(model) {
        return places::cursor(model, layout);
    }
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
    if let Some(view) = &model.history.open {
        places::draw(model, layout, buf);
        history::view::draw(model, view, layout, buf);
        preview::view::draw(model, layout, buf);
        preview::view::draw_trusted(model, layout, buf);
        return;
    }
    places::draw(model, layout, buf);
    queue::view::draw(model, layout, buf);
    preview::view::draw(model, layout, buf);
    preview::view::draw_trusted(model, layout, buf);
}

pub(crate) fn sheet_lines(model: &Model) -> SheetLines {
    let screen = Rect::new(0, 0, model.screen.size.width, model.screen.size.height);
    let area = above_message(&model.layout(), screen);
    match &model.modal {
        Some(Modal::Review(sheet)) => review_view::extent(model, sheet, area),
        Some(Modal::Report(sheet)) => report_view::extent(model, sheet, area),
        Some(_) | None => SheetLines::default(),
    }
}

fn sheet(model: &Model, area: Rect, buf: &mut Buffer) -> Option<Position> {
    match &model.modal {
        // These leave the list visible.
        None | Some(Modal::Filter(_) | Modal::NameFilter(_) | Modal::Places(_)) => {}
        Some(Modal::Saved) => saved_filters::draw_sheet(model, area, buf),
        Some(Modal::Edit(form)) => return edit::view::draw(model, form, area, buf),
        Some(Modal::EditSoon { keys, .. }) => edit::view::soon(model, keys.len(), area, buf),
        Some(Modal::Reason(form)) => return reason::draw(model, form, area, buf),
        Some(Modal::Review(sheet)) => return review_view::draw(model, sheet, area, buf),
        Some(Modal::Report(sheet)) => report_view::draw(model, sheet, area, buf),
        Some(Modal::ResolveUnknown(sheet)) => return resolve_unknown::draw(model, sheet, area, buf),
        Some(Modal::Links(sheet)) => return preview::view::draw_links(model, sheet, area, buf),
        Some(Modal::Quit(typed)) => leave::draw(model, typed.as_deref(), area, buf),
    }
    None
}
