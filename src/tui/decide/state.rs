//! Staged decisions, steps in progress, and the guard against keys that were not meant.

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
    /// The group of the last decision, even if the cursor moved on from it automatically.
    pub decided_in: Option<GroupKey>,
    pub reason_texts: HashMap<(ActionKey, DecisionKind), String>,
    pub job: Option<DraftJob>,
    /// Keys that take effect once no other key follows at once.
    pub waiting: Vec<WaitingKey>,
}

/// A change of the draft that is made in slices. Between them only commands run that do not touch the draft (cursor,
/// help); the router finishes the job before all others.
#[derive(Clone, Debug)]
pub(crate) enum DraftJob {
    Approve(EligibilityScan),
    Stage(Staging),
    /// `left` changes remain.
    Undo {
        step: Step,
        left: usize,
    },
    /// `done` changes are done.
    Redo {
        step: Step,
        done: usize,
    },
}

/// An approval before it is staged: the decision for each target, or why it is refused.
#[derive(Clone, Debug)]
pub(crate) struct EligibilityScan {
    pub targets: Vec<ActionKey>,
    pub next: usize,
    pub allowed: Vec<(ActionKey, Option<Decision>)>,
    pub refused: Vec<(ActionKey, String)>,
    pub moment: Moment,
}

/// The time of a key press and the contents on screen until then. Contents opened later do not count.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub at: Timestamp,
    pub opened: KeyMap<Arc<Cached>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Staging {
    pub targets: Targets,
    pub step: OpenStep,
    pub moment: Moment,
    pub follow_up: FollowUp,
}

#[derive(Clone, Debug)]
pub(crate) enum Targets {
    /// Decisions to stage; `None` clears one.
    Each(std::vec::IntoIter<(ActionKey, Option<Decision>)>),
    /// Exclude, with the reason typed for each.
    Exclude(std::vec::IntoIter<ActionKey>),
    Clear(std::vec::IntoIter<ActionKey>),
}

impl Targets {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Each(decisions) => decisions.len(),
            Self::Exclude(keys) | Self::Clear(keys) => keys.len(),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FollowUp {
    pub said: Option<(Tone, String)>,
    /// Number of decisions left alone because they contain typed text.
    pub skipped: usize,
    pub moves_on: bool,
}

impl DecideState {
    /// Returns true while a step is staged, undone or redone. It is saved when it is complete.
    pub(crate) const fn is_changing(&self) -> bool {
        matches!(self.job, Some(DraftJob::Stage(_) | DraftJob::Undo { .. } | DraftJob::Redo { .. }))
    }

    pub(crate) fn next_of(&self, targets: &mut Targets) -> Option<(ActionKey, Option<Decision>)> {
        match targets {
            Targets::Each(decisions) => decisions.next(),
            Targets::Exclude(keys) => keys.next().map(|key| {
                let reason = self.known_reason(&key);
                (key, Some(Decision::Reject { reason }))
            }),
            Targets::Clear(keys) => keys.next().map(|key| (key, None)),
        }
    }

    pub(crate) fn known_reason(&self, key: &ActionKey) -> Option<String> {
        let text = self.known_text(key, DecisionKind::Reject)?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

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

// Keys that were not meant: typed at a row that just changed, repeated by a held key, or pasted.

/// A row that changed under the cursor takes no decision for this long. Milliseconds.
const CHANGED: i64 = 300;
/// The same while no frame has shown the change. Milliseconds.
const UNDRAWN: i64 = 2_000;
/// Minimum time between two decisions of a held key. Milliseconds.
const REPEAT: i64 = 80;
/// [`BURST`] keys this close together were not typed. Milliseconds.
const BURST_GAP: i64 = 15;
const BURST: usize = 3;
/// Two interrupts within this time quit. Milliseconds.
const TWICE: i64 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitingKey {
    pub key: KeyEvent,
    pub at: Timestamp,
    /// It followed another key faster than anybody types.
    pub hasty: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Guard {
    changed: Option<Timestamp>,
    undrawn: bool,
    decided: Option<Timestamp>,
    interrupted: Option<Timestamp>,
    last_pressed: Option<Timestamp>,
    hasty: bool,
    /// The last command was the wide form of a verb.
    wide: bool,
    /// Characters in the current run of close keys.
    run: usize,
    /// Number of ignored keys in the current run.
    ignored: usize,
}

impl Guard {
    /// Milliseconds after which a key counts as single, because a typed one takes longer.
    pub(crate) const ALONE: u64 = BURST_GAP as u64 + 1;

    /// Notes that the row under the cursor was replaced or changed by something other than a key.
    pub(crate) fn changed(&mut self, at: Timestamp) {
        self.changed = Some(at);
        self.undrawn = true;
    }

    pub(crate) fn drawn(&mut self) {
        self.undrawn = false;
    }

    pub(crate) fn just_changed(&self, now: Timestamp) -> bool {
        let within = if self.undrawn { UNDRAWN } else { CHANGED };
        self.changed.is_some_and(|at| now.since(at) < within)
    }

    /// Notes a decision. Returns false if it comes too soon after the last one.
    pub(crate) fn may_repeat(&mut self, now: Timestamp) -> bool {
        if self.decided.is_some_and(|at| now.since(at) < REPEAT) {
            return false;
        }
        self.decided = Some(now);
        true
    }

    /// Notes a paste, of which parts may come as keys.
    pub(crate) fn pasted(&mut self, now: Timestamp) {
        (self.run, self.hasty, self.last_pressed) = (BURST, true, Some(now));
    }

    /// Notes a key; counts those that a paste can contain.
    pub(crate) fn pressed(&mut self, now: Timestamp, is_char: bool) {
        self.hasty = self.is_close(now);
        if !self.hasty {
            (self.run, self.ignored) = (0, 0);
        }
        self.run += usize::from(is_char);
        self.last_pressed = Some(now);
    }

    /// Returns true if a key now would follow the last one faster than anybody types.
    pub(crate) fn is_close(&self, now: Timestamp) -> bool {
        self.last_pressed.is_some_and(|at| now.since(at) <= BURST_GAP)
    }

    /// Returns the number of keys in a burst. A later key is not part of it: a word from an input method may be
    /// followed by a typed Enter.
    pub(crate) fn burst(&self, now: Timestamp) -> Option<usize> {
        (self.run >= BURST && self.is_close(now)).then_some(self.run)
    }

    /// Ignores this many more keys of the current run. Returns their total.
    pub(crate) fn ignore(&mut self, keys: usize) -> usize {
        self.ignored += keys;
        self.ignored
    }

    pub(crate) const fn ignores(&self) -> bool {
        self.ignored > 0
    }

    /// Sets the state for a key that waited, as when it was pressed.
    pub(crate) const fn waited(&mut self, hasty: bool) {
        self.hasty = hasty;
    }

    /// Returns true if the current key followed another faster than anybody types. It must not confirm anything.
    pub(crate) const fn is_hasty(&self) -> bool {
        self.hasty
    }

    /// Notes a command. Returns true for the second wide verb in a row, which suggests Caps Lock.
    pub(crate) fn is_wide_again(&mut self, command: Command) -> bool {
        let wide = matches!(
            command,
            Command::ApproveRest | Command::ReviewAll | Command::ExcludeBecause | Command::Redo
        );
        std::mem::replace(&mut self.wide, wide) && wide
    }

    /// Notes an interrupt. Returns true for the second within a second.
    pub(crate) fn interrupted(&mut self, now: Timestamp) -> bool {
        let twice = self.interrupted.is_some_and(|at| now.since(at) < TWICE);
        self.interrupted = Some(now);
        twice
    }
}
