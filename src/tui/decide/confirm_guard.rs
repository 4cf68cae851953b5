//! A key that confirms counts once it stood alone: one that another key follows at once came with a paste, or with an answer of
//! the terminal, and was not typed.

use crate::domain::Resolution;
use crate::tui::core::modal::Modal;
use crate::tui::core::model::Model;
use crate::tui::core::msg::Effect;
use crate::tui::submit;
use crate::tui::submit::resolve_unknown;

use super::guard::{Confirmed, Guard};

/// The review on screen is confirmed, unless another key follows at once.
pub(crate) fn review(model: &mut Model) {
    wait(model, Confirmed::Review);
}

/// So is what became of an action.
pub(crate) fn settle(model: &mut Model, finding: Resolution) {
    wait(model, Confirmed::Settle(finding));
}

fn wait(model: &mut Model, what: Confirmed) {
    model.decide.confirmed = Some((model.now, what));
    model.effects.push(Effect::WakeIn(Guard::ALONE));
}

/// Time went by, or another key comes: what stood alone is done.
pub(crate) fn look(model: &mut Model) {
    let Some((at, what)) = model.decide.confirmed else { return };
    if !Guard::is_apart(at, model.now) {
        return;
    }
    model.decide.confirmed = None;
    model.screen.dirty = true;
    match what {
        Confirmed::Review => submit::review::send_confirmed(model),
        Confirmed::Settle(finding) => resolve_unknown::send_confirmed(model, finding),
    }
}

/// Another key comes: after a while, what was confirmed is done first; at once, it is not done at all.
pub(crate) fn another_key(model: &mut Model) {
    look(model);
    if model.decide.confirmed.take().is_some() {
        model.warn(
            "nothing was sent: the key that confirmed came with others, too fast to be typed (pasted?)",
        );
    }
}

/// A key that the sheet on screen takes and does nothing with, or that was for something over it: whoever presses such keys is
/// not reading the sheet, so its time starts anew.
pub(crate) fn absorbed(model: &mut Model) {
    let drawn = match &mut model.modal {
        Some(Modal::Review(sheet)) => &mut sheet.drawn,
        Some(Modal::ResolveUnknown(sheet)) => &mut sheet.drawn,
        _ => return,
    };
    *drawn = drawn.map(|_| model.now);
}
