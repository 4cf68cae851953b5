//! Content that was on screen.

use super::{ActionKey, Digest, KeyMap};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seen {
    Opened,
    InFull,
}

/// Seen content by action. Changed content counts as unseen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenLog(KeyMap<(Digest, Seen)>);

impl SeenLog {
    /// Records that `digest` was on screen. Returns whether that is new.
    pub fn note(&mut self, key: &ActionKey, digest: Digest, seen: Seen) -> bool {
        let is_new = self.of(key, &digest).is_none_or(|best| best < seen);
        if is_new {
            self.0.insert(key.clone(), (digest, seen));
        }
        is_new
    }

    pub fn of(&self, key: &ActionKey, digest: &Digest) -> Option<Seen> {
        self.0.get(key).filter(|(known, _)| known == digest).map(|(_, seen)| *seen)
    }

    pub fn last(&self, key: &ActionKey) -> Option<(Digest, Seen)> {
        self.0.get(key).copied()
    }
}
