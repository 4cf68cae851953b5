//! The window that the terminal is in: whether somebody looks at it, and what they are told when nobody does.

use crate::domain::Timestamp;

/// A click this soon after the window came to the front was meant for the window.
const FOCUSING: i64 = 200;
/// Nobody is called more often.
const APART: i64 = 60_000;
/// An answer about the background that takes longer would change the colours under the reader's eyes.
const BUDGET: i64 = 100;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The terminal reports its mouse to us.
    pub mouse: bool,
    /// The mouse was used: what it takes from the terminal was said.
    pub clicked: bool,
    /// Unknown until the terminal says so, and some never do: unknown counts as not looking.
    in_front: Option<bool>,
    since: Option<Timestamp>,
    called: Option<Timestamp>,
    /// What is waiting has been looked at, or called out: later news is compared with it.
    known: Option<Waiting>,
    /// There was news, and it is too soon to call again.
    owed: bool,
    /// The terminal was asked for its background.
    asked: Option<Timestamp>,
}

/// What somebody would be called for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    pub pending: usize,
    pub high_risk: usize,
    /// Sources that say nothing.
    pub down: usize,
}

impl Window {
    pub fn focus(&mut self, in_front: bool, now: Timestamp) {
        self.in_front = Some(in_front);
        self.since = Some(now);
        if in_front {
            self.owed = false;
        }
    }

    /// Somebody looks at it, as far as that is known.
    pub fn is_in_front(&self) -> bool {
        self.in_front == Some(true)
    }

    /// A click now only brought the window to the front.
    pub fn is_focusing(&self, now: Timestamp) -> bool {
        self.in_front == Some(false)
            || self.in_front == Some(true) && self.since.is_some_and(|at| now.since(at) < FOCUSING)
    }

    /// Takes how things stand; true when whoever looks elsewhere is to be called now.
    pub fn calls(&mut self, waiting: Waiting, now: Timestamp) -> bool {
        let Some(known) = self.known.replace(waiting) else { return false };
        self.owed |= waiting.is_news_after(known);
        // What was to be told is gone again.
        self.owed &= waiting != Waiting::default();
        if self.in_front == Some(true) {
            self.owed = false;
        }
        let soon = self.called.is_some_and(|at| now.since(at) < APART);
        if !self.owed || soon {
            return false;
        }
        self.owed = false;
        self.called = Some(now);
        true
    }

    pub fn asked(&mut self, now: Timestamp) {
        self.asked = Some(now);
    }

    /// The terminal says its background: true for the first answer, when it comes in time.
    pub fn takes_answer(&mut self, now: Timestamp) -> bool {
        self.asked.take().is_some_and(|at| now.since(at) <= BUDGET)
    }
}

impl Waiting {
    fn is_news_after(self, known: Self) -> bool {
        let first = known.pending == 0 && self.pending > 0;
        first || self.high_risk > known.high_risk || self.down > known.down
    }
}
