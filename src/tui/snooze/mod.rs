//! Snoozing: hides an action until a time, until shortly before it expires, or until it changes. Local to this machine.

pub(crate) mod state;
pub(crate) mod until;
pub(crate) mod update;
pub(crate) mod view;
pub(crate) mod words;
