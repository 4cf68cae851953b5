//! A submission that was confirmed and is not sent before its time.

use crate::domain::{Submission, Timestamp};
use crate::tui::core::model::Model;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub submission: Submission,
    pub left_pending: u64,
    /// When it is sent; `None` until the journal has it, and nothing is counted down before.
    pub until: Option<Timestamp>,
}

impl Held {
    /// Whole seconds until it is sent, at least one.
    pub(crate) fn seconds(&self, now: Timestamp) -> Option<i64> {
        self.until.map(|until| ((until.since(now) + 999) / 1_000).max(1))
    }
}

impl Model {
    /// Something was sent and has no answer yet.
    pub(crate) fn is_sending(&self) -> bool {
        self.sending.is_some() || !self.on_the_way.is_empty()
    }
}
