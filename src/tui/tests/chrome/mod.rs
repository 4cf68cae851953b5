//! Header, hints, messages, keys, help, window.

mod contrast;
mod hints;
pub(crate) mod keys;
pub(crate) mod leaving;
pub(crate) mod newcomer;
pub(crate) mod notices;
pub(crate) mod paused;
pub(crate) mod reviewers;
pub(crate) mod stale;
pub(crate) mod starting;
pub(crate) mod terminal;
pub(crate) mod window;
