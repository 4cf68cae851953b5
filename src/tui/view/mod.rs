//! Draws the model: pure, cells in, cells out. One file a part of the screen. Foreign text arrives here only as
//! [`crate::text::Shown`].

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::layout::{Layout, Shape, above_message};
use super::model::{Modal, Model};

mod counts;
mod edit;
mod empty;
mod frame;
mod header;
mod help;
mod list;
mod pen;
mod preview;
mod queues;
mod reason;
mod report;
mod review;
mod settle;
mod status;
mod words;

pub use words::title;

/// Draws everything.
pub fn view(model: &Model, area: Rect, buf: &mut Buffer) {
    let layout = model.layout_in(area);
    if layout.shape == Shape::Counts {
        counts::draw(model, area, buf);
        return;
    }
    header::draw(model, &layout, buf);
    body(model, &layout, buf);
    status::draw(model, &layout, buf);
    // What happened last stays in sight.
    sheet(model, above_message(&layout, area), buf);
}

fn body(model: &Model, layout: &Layout, buf: &mut Buffer) {
    if model.queue.lines().is_empty() {
        empty::draw(model, layout, buf);
        return;
    }
    queues::draw(model, layout, buf);
    list::draw(model, layout, buf);
    preview::draw(model, layout, buf);
}

fn sheet(model: &Model, area: Rect, buf: &mut Buffer) {
    match &model.modal {
        None => {}
        Some(Modal::Edit(form)) => edit::draw(model, form, area, buf),
        Some(Modal::Reason(form)) => reason::draw(model, form, area, buf),
        Some(Modal::Review(sheet)) => review::draw(model, sheet, area, buf),
        Some(Modal::Report(sheet)) => report::draw(model, sheet, area, buf),
        Some(Modal::Settle(sheet)) => settle::draw(model, sheet, area, buf),
        Some(Modal::Help { top }) => help::draw(model, *top, area, buf),
        Some(Modal::Quit) => help::quit(model, area, buf),
    }
}
