//! Lists of what is over, and of decisions of this machine.

pub(crate) mod state;
pub(crate) mod update;
pub(crate) mod view;
pub(crate) mod words;
