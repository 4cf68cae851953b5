//! Keys that were not meant: typed at something that just changed, repeated by a held key, or pasted.

use crate::domain::{Finding, Timestamp};
use crate::tui::command::Command;

/// A row that changed under the cursor takes no decision for so long.
const CHANGED: i64 = 300;
/// A screen that was not drawn meanwhile shows another row still; where nothing is drawn at all, that ends.
const UNDRAWN: i64 = 2_000;
/// A held key stages at most one action in so long.
const REPEAT: i64 = 80;
/// Nobody types three keys this close together.
const BURST_GAP: i64 = 15;
const BURST: usize = 3;
/// Two interrupts this close together quit.
const TWICE: i64 = 1_000;

/// What a key confirms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmed {
    /// The review on screen.
    Review,
    /// What became of the action on screen.
    Settle(Finding),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    changed: Option<Timestamp>,
    /// No frame has shown the change yet.
    undrawn: bool,
    decided: Option<Timestamp>,
    interrupted: Option<Timestamp>,
    last_pressed: Option<Timestamp>,
    hasty: bool,
    /// The last command was the wide form of a verb.
    wide: bool,
    last_key: Option<Timestamp>,
    run: usize,
    /// The draft's position before the present run of keys.
    before: usize,
}

impl Guard {
    /// Milliseconds after which a key stood alone: nobody types another one sooner.
    pub const ALONE: u64 = BURST_GAP as u64 + 1;

    /// A key now was not made together with one then.
    pub fn is_apart(then: Timestamp, now: Timestamp) -> bool {
        now.since(then) > BURST_GAP
    }

    /// The row under the cursor became another one, or another content, for a reason other than a key.
    pub fn changed(&mut self, at: Timestamp) {
        self.changed = Some(at);
        self.undrawn = true;
    }

    /// What changed is on screen.
    pub fn drawn(&mut self) {
        self.undrawn = false;
    }

    pub fn just_changed(&self, now: Timestamp) -> bool {
        let within = if self.undrawn { UNDRAWN } else { CHANGED };
        self.changed.is_some_and(|at| now.since(at) < within)
    }

    /// Notes a decision; false when it comes too soon after the last one.
    pub fn may_repeat(&mut self, now: Timestamp) -> bool {
        if self.decided.is_some_and(|at| now.since(at) < REPEAT) {
            return false;
        }
        self.decided = Some(now);
        true
    }

    /// Notes a key; `position` is the draft's before it.
    pub fn key(&mut self, now: Timestamp, position: usize) {
        let close = self.last_key.is_some_and(|at| now.since(at) <= BURST_GAP);
        if !close {
            self.run = 0;
            self.before = position;
        }
        self.run += 1;
        self.last_key = Some(now);
    }

    /// The keys come faster than anybody types: how many so far, and the draft's position before the first of them.
    pub fn burst(&self) -> Option<(usize, usize)> {
        (self.run >= BURST).then_some((self.run, self.before))
    }

    /// Notes any key, also one that is no character: an answer of the terminal holds escapes.
    pub fn pressed(&mut self, now: Timestamp) {
        self.hasty = self.last_pressed.is_some_and(|at| now.since(at) <= BURST_GAP);
        self.last_pressed = Some(now);
    }

    /// The key that is pressed now came right after another one, as no two typed ones do: it must not confirm anything.
    pub const fn is_hasty(&self) -> bool {
        self.hasty
    }

    /// A key that is no character comes right after such a run, as the end of a pasted line does. An input method that hands over
    /// a word at once is followed by a person's Enter, later.
    pub fn ends_burst(&self, now: Timestamp) -> bool {
        self.burst().is_some() && self.last_key.is_some_and(|at| now.since(at) <= BURST_GAP)
    }

    /// Notes a command; true for the second wide verb in a row, which Caps Lock makes of two small ones.
    pub fn is_wide_again(&mut self, command: Command) -> bool {
        let wide = matches!(
            command,
            Command::ApproveRest | Command::ReviewAll | Command::ExcludeBecause | Command::Redo
        );
        std::mem::replace(&mut self.wide, wide) && wide
    }

    /// Notes an interrupt; true for the second one within a second.
    pub fn interrupted(&mut self, now: Timestamp) -> bool {
        let twice = self.interrupted.is_some_and(|at| now.since(at) < TWICE);
        self.interrupted = Some(now);
        twice
    }
}
