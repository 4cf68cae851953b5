//! The watch view.

pub(crate) mod boards;
pub(crate) mod watch_goes;
pub(crate) mod watch_keys;
pub(crate) mod watch_screens;
pub(crate) mod watch_small;
