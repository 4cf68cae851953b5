//! Deciding: approve, reject, their guards, staging, and the reason or comment of a decision.

pub(crate) mod confirm_guard;
mod job;
pub(crate) mod lock;
pub(crate) mod reason;
pub(crate) mod stage;
pub(crate) mod state;
pub(crate) mod take_back;
pub(crate) mod turns;
pub(crate) mod update;
pub(crate) mod words;
