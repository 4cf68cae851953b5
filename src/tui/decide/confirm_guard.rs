//! Keys that confirm nothing: pasted keys, and keys that were typed before the sheet was drawn.

use crate::tui::core::modal::Modal;
use crate::tui::core::model::Model;
use crate::tui::decide::words;

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
    model.warn(words::too_fast(keys));
    true
}
