//! Snoozing: an action is out of sight until a time, before it expires, or until it changes. On this machine only.

pub(crate) mod state;
pub(crate) mod until;
pub(crate) mod update;
pub(crate) mod view;
pub(crate) mod words;
