//! People: what the subjects of a source are called.

pub(crate) mod state;
pub(crate) mod update;
