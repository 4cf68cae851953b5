//! What the reviewer has had in front of their eyes.

use super::{ActionKey, Digest, KeyMap};

/// How much of one content was on screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seen {
    /// Some of it.
    Opened,
    /// Every line.
    InFull,
}

/// What was seen, per action and content: a changed content is unseen again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenLog(KeyMap<(Digest, Seen)>);

impl SeenLog {
    /// Notes that `digest` was on screen; true when that is news.
    pub fn note(&mut self, key: &ActionKey, digest: Digest, seen: Seen) -> bool {
        match self.0.get(key) {
            Some((known, best)) if *known == digest && *best >= seen => false,
            _ => {
                self.0.insert(key.clone(), (digest, seen));
                true
            }
        }
    }

    /// How much of exactly this content was seen.
    pub fn of(&self, key: &ActionKey, digest: &Digest) -> Option<Seen> {
        self.0.get(key).filter(|(known, _)| known == digest).map(|(_, seen)| *seen)
    }

    /// The content that was last on screen for this action.
    pub fn last(&self, key: &ActionKey) -> Option<(Digest, Seen)> {
        self.0.get(key).copied()
    }
}
