//! Settled actions and the timeline of an action.

pub(crate) mod past;
pub(crate) mod timeline;
pub(crate) mod views;
