//! What is staged, what keys have just done to it, and which keys were not meant: held, pasted, or pressed at something that changed.

use std::collections::HashMap;
use std::sync::Arc;

use crossterm::event::KeyEvent;

use crate::domain::{ActionKey, Decision, DecisionKind, Draft, KeyMap, OpenStep, Step, Timestamp};
use crate::tui::chrome::state::Tone;
use crate::tui::core::command::Command;
use crate::tui::preview::page::made::Cached;
use crate::tui::queue::counts::{StagedByGroup, StagedTotals};
use crate::tui::queue::groups::GroupKey;

#[derive(Clone, Debug, Default)]
pub(crate) struct DecideState {
    pub draft: Draft,
    pub tally: StagedTotals,
    pub spread: StagedByGroup,
    pub guard: Guard,
    /// The group decided in last, while nothing but deciding was done since: auto-advance may have left it.
    pub decided_in: Option<GroupKey>,
    /// Typed into reason fields, staged or not.
    pub reason_texts: HashMap<(ActionKey, DecisionKind), String>,
    pub looking: Option<Looking>,
    pub bulk: Option<Bulk>,
    /// What follows on what is under way.
    pub then: Option<Then>,
    /// Keys that act once no other key follows at once.
    pub waiting: Vec<WaitingKey>,
}

// What a key does to many actions, a stretch at a time: what leaves the draft alone may come between two stretches (the cursor
// moves, help opens). Whatever else comes waits until all of it is done.

/// A key that approves: what each action would be approved with, and why some cannot be.
#[derive(Clone, Debug)]
pub(crate) struct Looking {
    pub targets: Vec<ActionKey>,
    pub next: usize,
    pub wanted: Vec<(ActionKey, Option<Decision>)>,
    pub locked: Vec<(ActionKey, String)>,
    pub moment: Moment,
}

/// When a key was pressed, and what was, or had been, on screen then: whatever is opened while it is carried out was not.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub at: Timestamp,
    pub opened: KeyMap<Arc<Cached>>,
}

/// A step that is being taken.
#[derive(Clone, Debug)]
pub(crate) struct Bulk {
    pub way: Way,
    /// More than one stretch: it is said on screen that it is not saved yet.
    pub in_stretches: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Way {
    Stage(Staging),
    /// So many of its changes stand still.
    Undo {
        step: Step,
        left: usize,
    },
    /// So many of its changes stand already.
    Redo {
        step: Step,
        done: usize,
    },
}

/// Decisions that are being staged.
#[derive(Clone, Debug)]
pub(crate) struct Staging {
    pub wanted: Wanted,
    pub step: OpenStep,
    pub moment: Moment,
}

/// What becomes of which actions.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    Each(std::vec::IntoIter<(ActionKey, Option<Decision>)>),
    /// Excluded, each with the reason that was typed for it.
    Excluded(std::vec::IntoIter<ActionKey>),
    /// Back to undecided.
    Cleared(std::vec::IntoIter<ActionKey>),
}

impl Wanted {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Each(wanted) => wanted.len(),
            Self::Excluded(keys) | Self::Cleared(keys) => keys.len(),
        }
    }
}

impl DecideState {
    /// The next of them, and its decision.
    pub(crate) fn next_of(&self, wanted: &mut Wanted) -> Option<(ActionKey, Option<Decision>)> {
        match wanted {
            Wanted::Each(wanted) => wanted.next(),
            Wanted::Excluded(keys) => keys.next().map(|key| {
                let reason = self.known_reason(&key);
                (key, Some(Decision::Reject { reason }))
            }),
            Wanted::Cleared(keys) => keys.next().map(|key| (key, None)),
        }
    }

    /// Why it is to be excluded, as far as that was typed.
    pub(crate) fn known_reason(&self, key: &ActionKey) -> Option<String> {
        let text = self.known_text(key, DecisionKind::Reject)?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// What was typed before, staged or not.
    pub(crate) fn known_text(&self, key: &ActionKey, says: DecisionKind) -> Option<String> {
        let staged = self.draft.get(key).map(|staged| &staged.decision);
        let staged = staged.filter(|decision| decision.kind().without_edits() == says);
        let said = staged.and_then(Decision::said).map(str::to_owned);
        if said.is_none() && self.reason_texts.is_empty() {
            return None;
        }
        said.or_else(|| self.reason_texts.get(&(key.clone(), says)).cloned())
    }
}

/// What follows when all of it is staged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Then {
    pub said: Option<(Tone, String)>,
    /// Decisions that the key left alone, because somebody typed words for them.
    pub spared: usize,
    /// On to the next undecided action, or the marks go.
    pub moves_on: bool,
}

// Keys that were not meant: typed at something that just changed, repeated by a held key, or pasted.

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitingKey {
    pub key: KeyEvent,
    pub at: Timestamp,
    /// It came right after another one.
    pub hasty: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Guard {
    changed: Option<Timestamp>,
    /// No frame has shown the change yet.
    undrawn: bool,
    decided: Option<Timestamp>,
    interrupted: Option<Timestamp>,
    last_pressed: Option<Timestamp>,
    hasty: bool,
    /// The last command was the wide form of a verb.
    wide: bool,
    /// Characters of the present run: keys that each came right after another.
    run: usize,
    /// Keys of the present run that do nothing.
    ignored: usize,
}

impl Guard {
    /// Milliseconds after which a key stood alone: nobody types another one sooner.
    pub(crate) const ALONE: u64 = BURST_GAP as u64 + 1;

    /// The row under the cursor became another one, or another content, for a reason other than a key.
    pub(crate) fn changed(&mut self, at: Timestamp) {
        self.changed = Some(at);
        self.undrawn = true;
    }

    /// What changed is on screen.
    pub(crate) fn drawn(&mut self) {
        self.undrawn = false;
    }

    pub(crate) fn just_changed(&self, now: Timestamp) -> bool {
        let within = if self.undrawn { UNDRAWN } else { CHANGED };
        self.changed.is_some_and(|at| now.since(at) < within)
    }

    /// Notes a decision; false when it comes too soon after the last one.
    pub(crate) fn may_repeat(&mut self, now: Timestamp) -> bool {
        if self.decided.is_some_and(|at| now.since(at) < REPEAT) {
            return false;
        }
        self.decided = Some(now);
        true
    }

    /// Notes any key. Only what a paste can consist of is counted.
    pub(crate) fn pressed(&mut self, now: Timestamp, is_char: bool) {
        self.hasty = self.is_close(now);
        if !self.hasty {
            (self.run, self.ignored) = (0, 0);
        }
        self.run += usize::from(is_char);
        self.last_pressed = Some(now);
    }

    /// A key now comes right after the last one, as no two typed ones do.
    pub(crate) fn is_close(&self, now: Timestamp) -> bool {
        self.last_pressed.is_some_and(|at| now.since(at) <= BURST_GAP)
    }

    /// How many keys came by now, where they come faster than anybody types. A key that comes later belongs to no burst: an
    /// input method that hands over a word at once is followed by a person's Enter.
    pub(crate) fn burst(&self, now: Timestamp) -> Option<usize> {
        (self.run >= BURST && self.is_close(now)).then_some(self.run)
    }

    /// Ignores so many more keys of the present run. Returns how many that makes.
    pub(crate) fn ignore(&mut self, keys: usize) -> usize {
        self.ignored += keys;
        self.ignored
    }

    pub(crate) const fn ignores(&self) -> bool {
        self.ignored > 0
    }

    /// A key that waited acts as it would have when it was pressed.
    pub(crate) const fn waited(&mut self, hasty: bool) {
        self.hasty = hasty;
    }

    /// The key that is pressed now came right after another one, as no two typed ones do: it must not confirm anything.
    pub(crate) const fn is_hasty(&self) -> bool {
        self.hasty
    }

    /// Notes a command; true for the second wide verb in a row, which Caps Lock makes of two small ones.
    pub(crate) fn is_wide_again(&mut self, command: Command) -> bool {
        let wide = matches!(
            command,
            Command::ApproveRest | Command::ReviewAll | Command::ExcludeBecause | Command::Redo
        );
        std::mem::replace(&mut self.wide, wide) && wide
    }

    /// Notes an interrupt; true for the second one within a second.
    pub(crate) fn interrupted(&mut self, now: Timestamp) -> bool {
        let twice = self.interrupted.is_some_and(|at| now.since(at) < TWICE);
        self.interrupted = Some(now);
        twice
    }
}
