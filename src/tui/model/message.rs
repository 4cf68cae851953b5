//! The line that says what happened last, and whether what was decided is on disk.

use crate::domain::Timestamp;
use crate::text::Shown;

use super::Model;

/// One line that says what happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub parts: Vec<Shown>,
    pub tone: Tone,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Good,
    Bad,
}

/// Whether what was decided is on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Writes under way, or waiting to be tried again.
    pub open: usize,
    pub last: Option<Timestamp>,
    /// The last write failed: what is staged would not survive a crash.
    pub failed: Option<String>,
}

impl Message {
    /// Read by now; what was good news goes sooner.
    pub fn is_over(&self, now: Timestamp) -> bool {
        now.since(self.at) > if self.tone == Tone::Bad { 30_000 } else { 10_000 }
    }
}

impl Model {
    /// Puts one line of our own on the screen.
    pub fn say(&mut self, text: impl Into<String>) {
        self.tell(Tone::Plain, vec![Shown::ours(text)]);
    }

    /// Says that something was not done, or went wrong.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.tell(Tone::Bad, vec![Shown::ours(text)]);
    }

    /// Puts one line on the screen, foreign parts and all.
    pub fn tell(&mut self, tone: Tone, parts: Vec<Shown>) {
        self.message = Some(Message { parts, tone, at: self.now });
    }
}
