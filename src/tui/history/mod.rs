//! Lists of ended actions, and of decisions made on this machine.

pub(crate) mod state;
pub(crate) mod update;
pub(crate) mod view;
pub(crate) mod words;
