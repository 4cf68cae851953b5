//! The field for what is said beside a decision.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::domain::{ReasonRule, Untrusted};
use crate::journal::Says;
use crate::text;
use crate::tui::chrome::pen::{Pen, sheet_frame};
use crate::tui::chrome::theme;
use crate::tui::core::command::Command;
use crate::tui::core::modal::ReasonForm;
use crate::tui::core::model::Model;
use crate::tui::edit::view::{area_of, title};

/// So many of the configured reasons are listed; Tab comes to the others, too.
const LISTED: usize = 9;

pub(crate) fn draw(model: &Model, form: &ReasonForm, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let (heading, does) = match form.says {
        Says::Reason => ("Exclude, because", "excludes"),
        Says::Comment => ("Approve, with a comment", "approves"),
        Says::Guidance => ("Try again, with guidance", "asks for another try"),
    };
    let keys = &model.settings.keymap;
    let (accept, back) = (keys.key_in_text(Command::Accept), keys.key_in_text(Command::Back));
    let note = format!("{accept} {does}   {back} closes and keeps the text");
    let reasons: &[String] = if form.says == Says::Reason { &model.settings.reasons } else { &[] };
    let listed = reasons.len().min(LISTED) as u16;
    let height = if listed > 0 { 9 + listed } else { 8 };
    let body = sheet_frame(model, area, (76.min(area.width.saturating_sub(2)), height), heading, &note, buf);
    let mut pen = Pen::new(buf, body, 0);
    match form.keys.as_slice() {
        [only] => title(model, only, &mut pen),
        many => drop(pen.ours(&format!("{} actions, one text", many.len()), theme::BOLD)),
    }
    Pen::new(buf, body, 1).ours(kept(form), theme::DIM);
    let field = Rect { y: body.y + 3, height: 1.min(body.height.saturating_sub(3)), ..body };
    let mark = Rect { width: 2, ..field };
    Pen::new(buf, mark, 0).ours("> ", theme::KEY);
    let field = Rect { x: field.x + 2, width: field.width.saturating_sub(2), ..field };
    for (nth, reason) in reasons.iter().take(LISTED).enumerate() {
        Pen::new(buf, body, 5 + nth as u16)
            .ours(&format!("{} ", nth + 1), theme::KEY)
            .shown(&text::line(&Untrusted::from(reason.as_str())), theme::PLAIN);
    }
    area_of(&form.area, field, true, buf)
}

/// What becomes of the text.
const fn kept(form: &ReasonForm) -> &'static str {
    match (form.says, form.rule) {
        (Says::Reason, ReasonRule::NotKept) => "This source keeps no reason; it stays in your journal.",
        (Says::Reason, ReasonRule::Optional) => "The source keeps the reason with the rejection.",
        (Says::Reason, ReasonRule::Required) => "This source asks for a reason with every rejection.",
        (Says::Comment, ReasonRule::NotKept) => {
            "This source keeps no comment; it is kept in your journal only."
        }
        (Says::Comment, _) => "The source keeps the comment with the approval.",
        (Says::Guidance, _) => "The agent gets this text and proposes again.",
    }
}
