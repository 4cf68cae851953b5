//! What is over, and what happened to an action.

pub(crate) mod past;
pub(crate) mod timeline;
pub(crate) mod views;
