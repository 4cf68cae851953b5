//! Several people for one action: how many must approve it, and who did.

use super::{Digest, Edits, Timestamp, Untrusted};

/// What a list shows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approvals {
    /// So many different people must approve the same content.
    pub needed: u64,
    /// Those whose approvals stand, the first one first.
    pub by: Vec<Untrusted>,
}

/// One person's approval that stands. All of an action are of the same content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    pub by: Untrusted,
    pub at: Timestamp,
    /// Of what would run.
    pub effective: Digest,
    /// What of the proposed input they changed.
    pub edits: Option<Edits>,
}

impl Approvals {
    /// How many approvals stand.
    pub fn given(&self) -> u64 {
        self.by.len() as u64
    }
}
