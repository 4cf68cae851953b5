//! Approvals by several people.

use super::{Digest, Edits, Timestamp, Untrusted};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approvals {
    /// Number of people who must approve the same content.
    pub needed: u64,
    /// People with a valid approval, oldest first.
    pub by: Vec<Untrusted>,
}

/// A valid approval. All approvals of an action are of the same content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    pub by: Untrusted,
    pub at: Timestamp,
    pub effective: Digest,
    pub edits: Option<Edits>,
}

impl Approvals {
    pub fn given(&self) -> u64 {
        self.by.len() as u64
    }
}
