//! What to know before the action under the cursor is decided.

use std::borrow::Cow;

use crate::text::Shown;
use crate::tui::core::model::Model;

use super::state::Tab;

impl Model {
    /// What of it stands above the content: the Context tab has all of it anyway.
    pub(crate) fn notes_here(&self) -> Vec<Cow<'static, str>> {
        if self.preview.tab == Tab::Context { Vec::new() } else { self.told_here() }
    }

    /// What to know before the action under the cursor is decided.
    pub(crate) fn told_here(&self) -> Vec<Cow<'static, str>> {
        let here = self.here().filter(|slot| slot.is_pending() && self.view.is_none());
        let told = here.map(|slot| slot.entry.row.can.told()).unwrap_or_default();
        told.into_iter().map(|(_, words)| words).collect()
    }
}

/// What is told of an action, as lines of this width.
pub(crate) fn told_in(told: &[Cow<'static, str>], width: u16) -> Vec<Shown> {
    let lines = told.iter().map(|words| Shown::ours(format!("! {words}")));
    lines.flat_map(|line| line.wrap(usize::from(width.max(20)))).collect()
}
