//! Keys that confirm nothing: pasted ones, and those typed before the sheet was drawn.

use crate::tui::core::model::{Model, Sheet};
use crate::tui::decide::words;

/// Restarts the sheet's reading time after a key that has no effect on it: its reviewer is not reading yet.
pub(crate) fn absorbed(model: &mut Model) {
    if let Some(drawn) = model.sheet.top_mut().and_then(Sheet::drawn) {
        *drawn = drawn.map(|_| model.now);
    }
}

/// Returns true, with a warning, if keys come faster than anybody types. They must not decide anything.
pub(crate) fn is_burst(model: &mut Model) -> bool {
    let Some(keys) = model.decide.guard.burst(model.now) else { return false };
    model.warn(words::too_fast(keys));
    true
}
