//! The field for a reason.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::domain::ReasonRule;
use crate::tui::model::{Model, ReasonForm};
use crate::tui::theme;

use super::edit::{area_of, title};
use super::frame::open;
use super::pen::Pen;

pub(super) fn draw(model: &Model, form: &ReasonForm, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let note = "Enter excludes   Esc closes and keeps the text";
    let body = open(model, area, (76.min(area.width.saturating_sub(2)), 8), "Exclude, because", note, buf);
    let mut pen = Pen::new(buf, body, 0);
    match form.keys.as_slice() {
        [only] => title(model, only, &mut pen),
        many => drop(pen.ours(&format!("{} actions, one reason", many.len()), theme::BOLD)),
    }
    let says = match form.rule {
        ReasonRule::NotKept => "This source keeps no reason; it stays in your journal.",
        ReasonRule::Optional => "The source keeps the reason with the rejection.",
        ReasonRule::Required => "This source asks for a reason with every rejection.",
    };
    Pen::new(buf, body, 1).ours(says, theme::DIM);
    let field = Rect { y: body.y + 3, height: 1.min(body.height.saturating_sub(3)), ..body };
    let mark = Rect { width: 2, ..field };
    Pen::new(buf, mark, 0).ours("> ", theme::KEY);
    let field = Rect { x: field.x + 2, width: field.width.saturating_sub(2), ..field };
    area_of(&form.area, field, true, buf)
}
