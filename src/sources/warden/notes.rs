//! What to know before a step is decided, and what may be done with it.

use super::sent::Waiting;
use super::wire::{Kind, WaitingStep};
use crate::domain::{Capabilities, Note, On, ReasonRule, Row};

const HELD_OUTPUT: Note = Note { on: On::Any, words: "output, held before it merges" };
const HELD_ARGUMENTS: Note = Note { on: On::Any, words: "arguments, not run yet" };
const TOOLS_RAN: Note = Note { on: On::Any, words: "tools may already have run" };
const NO_TOOL: Note = Note { on: On::Any, words: "the engine names no tool: the name is the step's" };
const NOT_TAKEN: Note = Note {
    on: On::Any,
    words: "a decision was sent from here and the engine did not take it: check its workers; whatever is decided now, the first one runs",
};
const DROPPED: Note = Note {
    on: On::Any,
    words: "a retry came before the decision that was sent from here: the engine dropped it, and takes no later one on this step",
};
const FIXED: Note = Note { on: On::Edit, words: "no edits on commit steps" };
const UNDONE: Note = Note { on: On::Reject, words: "completed steps will be compensated" };
const MAY_NOT_RETURN: Note = Note { on: On::Retry, words: "it may not return on this engine version" };
const SPENT: Note = Note { on: On::Retry, words: "its retry limit is reached" };

const REASON: [Note; 5] = [HELD_OUTPUT, TOOLS_RAN, Note::NOBODY, UNDONE, MAY_NOT_RETURN];
const REASON_SPENT: [Note; 5] = [HELD_OUTPUT, TOOLS_RAN, Note::NOBODY, UNDONE, SPENT];
const REASON_NOT_TAKEN: [Note; 6] = [NOT_TAKEN, HELD_OUTPUT, TOOLS_RAN, Note::NOBODY, UNDONE, MAY_NOT_RETURN];
const REASON_SPENT_NOT_TAKEN: [Note; 6] = [NOT_TAKEN, HELD_OUTPUT, TOOLS_RAN, Note::NOBODY, UNDONE, SPENT];
const REASON_DROPPED: [Note; 6] = [DROPPED, HELD_OUTPUT, TOOLS_RAN, Note::NOBODY, UNDONE, MAY_NOT_RETURN];
const REASON_SPENT_DROPPED: [Note; 6] = [DROPPED, HELD_OUTPUT, TOOLS_RAN, Note::NOBODY, UNDONE, SPENT];
const COMMIT: [Note; 5] = [HELD_ARGUMENTS, NO_TOOL, Note::NOBODY, FIXED, UNDONE];
const COMMIT_NOT_TAKEN: [Note; 6] = [NOT_TAKEN, HELD_ARGUMENTS, NO_TOOL, Note::NOBODY, FIXED, UNDONE];
const COMMIT_DROPPED: [Note; 6] = [DROPPED, HELD_ARGUMENTS, NO_TOOL, Note::NOBODY, FIXED, UNDONE];

/// What may be done with a row of which no more is known: one that is over, or stands in for what cannot be read.
pub(super) fn plain(row: &Row) -> Capabilities {
    let nameless = row.unreadable.is_some_and(|stand_in| !stand_in.has_id);
    if nameless { Capabilities::READ_ONLY } else { PLAIN }
}

const PLAIN: Capabilities = Capabilities { reason: ReasonRule::Optional, ..Capabilities::PLAIN };

/// What may be done with a step that is held. `spent`: no retry is left. `waiting`: how a decision from here stands.
pub(super) fn of(held: &WaitingStep, spent: bool, waiting: Waiting) -> Capabilities {
    let notes: &'static [Note] = match (held.kind, spent, waiting) {
        (Kind::Reason, false, Waiting::Sent | Waiting::No) => &REASON,
        (Kind::Reason, true, Waiting::Sent | Waiting::No) => &REASON_SPENT,
        (Kind::Reason, false, Waiting::NotTaken) => &REASON_NOT_TAKEN,
        (Kind::Reason, true, Waiting::NotTaken) => &REASON_SPENT_NOT_TAKEN,
        (Kind::Reason, false, Waiting::Dropped) => &REASON_DROPPED,
        (Kind::Reason, true, Waiting::Dropped) => &REASON_SPENT_DROPPED,
        (Kind::Commit, _, Waiting::Sent | Waiting::No) => &COMMIT,
        (Kind::Commit, _, Waiting::NotTaken) => &COMMIT_NOT_TAKEN,
        (Kind::Commit, _, Waiting::Dropped) => &COMMIT_DROPPED,
    };
    // A commit step would run the same arguments again, and take no guidance.
    let retry = held.kind == Kind::Reason && !spent;
    Capabilities { edit: held.can_be_edited(), retry, notes, ..PLAIN }
}
