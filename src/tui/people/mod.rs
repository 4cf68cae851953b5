//! People: the display names of a source's subjects.

pub(crate) mod state;
pub(crate) mod update;
