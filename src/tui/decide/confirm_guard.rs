//! Keys that confirm nothing: those that nobody typed, and those that were not for the sheet on screen. A key that confirms counts
//! once it stood alone: one that another key follows at once came with a paste, or with an answer of the terminal.

use crate::domain::Resolution;
use crate::tui::core::modal::Modal;
use crate::tui::core::model::Model;
use crate::tui::core::msg::Effect;
use crate::tui::decide::words;

use super::state::{Confirmed, Guard};

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

/// Keys that come faster than anybody types are a paste, or a terminal's reply: they decide nothing.
pub(crate) fn is_burst(model: &mut Model) -> bool {
    let Some(keys) = model.decide.guard.burst(model.now) else { return false };
    let back = if model.decide.guard.took_back() { words::AND_TAKEN_BACK } else { "" };
    model.warn(words::too_fast(keys, back));
    true
}
