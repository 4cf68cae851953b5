//! Approve and reject: the keys, what guards them, what is staged, and the words beside a decision.

pub(crate) mod confirm_guard;
pub(crate) mod lock;
pub(crate) mod reason;
pub(crate) mod stage;
pub(crate) mod state;
pub(crate) mod take_back;
pub(crate) mod turns;
pub(crate) mod update;
pub(crate) mod words;
