//! Claims: who said "I'm on it". Shown and never enforced: whoever decides first decides.

pub(crate) mod state;
pub(crate) mod update;
pub(crate) mod words;
