//! Notes on deciding a step, and its capabilities.

use super::sent::Waiting;
use super::wire::{Kind, WaitingStep};
use crate::domain::{Capabilities, Note, Notes, On, ReasonRule, Row};

const HELD_OUTPUT: Note = Note { on: On::Any, words: "output, held before it merges" };
const HELD_ARGUMENTS: Note = Note { on: On::Any, words: "arguments, not run yet" };
const TOOLS_RAN: Note = Note { on: On::Any, words: "tools may already have run" };
const NO_TOOL: Note = Note { on: On::Any, words: "the engine names no tool: the name is the step's" };
const NOT_TAKEN: Note = Note {
    on: On::Any,
    words: "a decision was sent from here and the engine did not take it: check its workers; whatever is decided now, the first decision counts",
};
const DROPPED: Note = Note {
    on: On::Any,
    words: "a retry came before the decision that was sent from here: the engine dropped it, and takes no later one on this step",
};
const FIXED: Note = Note { on: On::Edit, words: "no edits on commit steps" };
const UNDONE: Note =
    Note { on: On::Reject, words: "steps that completed before it are undone, where they say how" };
const MAY_NOT_RETURN: Note = Note { on: On::Retry, words: "it may not return on this engine version" };
const SPENT: Note = Note { on: On::Retry, words: "its retry limit is reached" };

const NOTES: [Note; 11] = [
    NOT_TAKEN,
    DROPPED,
    HELD_OUTPUT,
    TOOLS_RAN,
    HELD_ARGUMENTS,
    NO_TOOL,
    Note::NOBODY,
    FIXED,
    UNDONE,
    MAY_NOT_RETURN,
    SPENT,
];

/// Returns the capabilities of a row without details: a settled step, or a stand-in for an unreadable one.
pub(super) fn plain(row: &Row) -> Capabilities {
    let nameless = row.unreadable.as_ref().is_some_and(|stand_in| !stand_in.has_id);
    if nameless { Capabilities::READ_ONLY } else { PLAIN }
}

const PLAIN: Capabilities = Capabilities { reason: ReasonRule::Optional, ..Capabilities::PLAIN };

/// Returns the capabilities of a held step. `spent`: no retry is left. `waiting`: the state of a decision from here.
pub(super) fn of(held: &WaitingStep, spent: bool, waiting: Waiting) -> Capabilities {
    let reason = held.kind == Kind::Reason;
    let (not_taken, dropped) = (waiting == Waiting::NotTaken, waiting == Waiting::Dropped);
    let (returns, spent) = (reason && !spent, reason && spent);
    let undone = !held.is_first;
    let holds = [not_taken, dropped, reason, reason, !reason, !reason, true, !reason, undone, returns, spent];
    // A commit step would run the same arguments again, and takes no guidance.
    Capabilities {
        edit: held.can_be_edited(),
        retry: returns,
        notes: Notes::that_hold(&NOTES, holds),
        ..PLAIN
    }
}
