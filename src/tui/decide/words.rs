//! Texts of deciding.

use std::fmt::Display;

pub(crate) const OWN_TEXT_STAYS: &str = "your text stays: empty the field to choose a reason";
pub(crate) const DECIDED_MEANWHILE: &str = "nothing was decided: it was decided meanwhile";
pub(crate) const REASON_NOT_KEPT: &str = "This source keeps no reason; it stays in your journal.";
pub(crate) const REASON_DEMANDED_NOTE: &str = "This source asks for a reason with every rejection.";
pub(crate) const COMMENT_NOT_KEPT: &str = "This source keeps no comment; it stays in your journal.";

pub(crate) const STILL_READING_STAGED: &str = "one moment: still reading your staged decisions";
pub(crate) const NOTHING_TO_UNDO: &str = "nothing to undo";
pub(crate) const NOTHING_TO_REDO: &str = "nothing to redo";
pub(crate) const CHANGED_TAKEN_BACK: &str = " changed after you decided it: your decision was undone";
pub(crate) const NOT_SAVED_YET: &str = "not saved yet: ";
pub(crate) const JOURNAL_NOT_READ: &str = "the journal cannot be read: ";
pub(crate) const ANOTHER_INBOX: &str =
    "another inbox uses this state folder; neither shows what the other stages";
pub(crate) const STAGED_DECISION: &str = "staged decision";
pub(crate) const NOT_STAGED_AGAIN: &str = "decisions that did not land could not be staged again: ";
pub(crate) const UNDECIDED_AGAIN: &str = "undecided again; ";
pub(crate) const STAGED_WAS_DROPPED: &str = "; your staged decision was dropped";
pub(crate) const ACTION_IS_GONE: &str = "an action is no longer in the source";
pub(crate) const IS_NO_LONGER_PENDING: &str = " is no longer pending";
pub(crate) const WAS_SUPERSEDED: &str = " was superseded by a new proposal";
pub(crate) const WAS_WITHDRAWN: &str = " was withdrawn";
pub(crate) const WAS_DECIDED_BY: &str = " was decided by ";
pub(crate) const WAS_DECIDED_ELSEWHERE: &str = " was decided elsewhere";
pub(crate) const NO_LONGER_IN_SOURCE: &str = " is no longer in the source";
pub(crate) const ONE_DROPPED: &str = "1 staged decision was dropped: its action is no longer pending";

pub(crate) const TURN_ON_ITS_WAY: &str =
    "a call of its turn is already being sent, and one decision covers the whole turn";
pub(crate) const AND_UNDECIDED_AGAIN: &str = ", undecided again";

pub(crate) const ANSWER_FIRST: &str = "it needs an answer: write one first";
pub(crate) const ANSWER_OR_READ_FIRST: &str = "answer them, or read them to the end, first";
pub(crate) const APPROVED_LOOK_FIRST: &str = "somebody approved it already: look at what they approved first";
pub(crate) const NOTHING_TO_TAKE_BACK: &str = "you have not approved this action, or nobody else must";
pub(crate) const NOT_TAKEN_BACK: &str = "your approval was not taken back: ";
pub(crate) const APPROVAL_TAKEN_BACK: &str = ": your approval is taken back";
pub(crate) const READ_FIRST: &str = "read them to the end first";
pub(crate) const THIS_ACTION_IS_GONE: &str = "this action is gone";
pub(crate) const CHANGED_AFTER_EDIT: &str = "its content changed after your edit; open the form and check it";
pub(crate) const TO_BE_READ_OR_ANSWERED: &str = "to be read, answered or decided as a whole turn";
pub(crate) const AS_FAR_AS_IT_IS: &str = " (shown rows only)";
pub(crate) const ROW_JUST_CHANGED: &str = "the row under the cursor just changed: check it, then decide";
pub(crate) const ROW_JUST_ARRIVED: &str = "the row under the cursor just arrived: read it, then decide";
pub(crate) const ON_THE_WAY: &str = "its decision is being sent";
pub(crate) const CAPS_LOCK: &str = "Caps Lock?";
pub(crate) const EXPIRED: &str = "it expired and cannot be decided";
pub(crate) const ALREADY_DECIDED: &str = "already decided";
pub(crate) const ALL_SHOWN: &str = "All shown";
pub(crate) const ALL: &str = "All";

sentences! {
    nothing_to_undo_but(key: &str) => "nothing to undo; {key} takes back your approval";
    too_fast(keys: usize) => "Ignored {keys} pasted keys";

    cannot_be_rejected(left_out: usize, all: usize, why: &str) => "{left_out} of {all} marked cannot be rejected; mark only the others: {why}";
    excludes_with_reason(because: &str) => "; {because} excludes it with a reason instead";
    reason_note(accept: &str, does: &str, back: &str) => "{accept} {does}   {back} closes and keeps the text";
    one_text(actions: usize) => "{actions} actions, one text";

    undone(changed: usize) => "undone: {changed} actions";
    redone(changed: usize) => "redone: {changed} actions";
    changed_taken_back(closed: &str, many: usize) => "{closed}{many} actions changed after you decided them: your decisions were undone";
    from_last_time(staged: &str, key: &str, pronoun: &str) => "{staged} from last time; {key} reviews {pronoun}";
    staged_again(decisions: &str, are: &str) => "{decisions} did not land and {are} staged again";
    brings_back(first: &str, key: &str) => "{first}{key} brings back ";
    undecided_again(n: usize, key: &str) => "{n} undecided again; {key} brings them back";
    replaced(n: usize, key: &str) => "{n} decisions replaced; {key} brings them back";
    settled_elsewhere(closed: &str, many: usize) => "{closed}{many} actions are no longer pending; your staged decisions were dropped";
    dropped(many: usize) => "{many} staged decisions were dropped: their actions are no longer pending";

    turn_grew(new: &str, key: &str) => "its turn grew: {new} above; {key} shows it, then decide the whole turn";
    turn_just_grew(new: &str) => "its turn grew: {new} just arrived; read it, then decide the whole turn";
    turn_hidden(hidden: usize, all: usize, are: &str) => "{hidden} of the {all} calls of its turn {are} hidden by the filter, and one decision covers the whole turn: show them first";
    of_this_turn(locked: usize, all: usize, why: &str) => "{locked} of the {all} calls of this turn: {why}";
    whole_turn(calls: usize, back: &str) => "the whole turn: {calls} calls{back}";
    whole_turns(turns: usize, calls: usize, back: &str) => "{turns} whole turns: {calls} calls{back}";

    marked_skipped(skipped: usize, all: usize, why: &str) => "{skipped} of {all} marked skipped: {why}";
    with_words_stay(spared: usize, verb: &str) => "{spared} with text or edits {verb} unchanged; decide those one by one";
    unreadable(exclude: &str) => "it cannot be read, so it cannot be approved; {exclude} rejects it";
    wrap_first(why: &impl Display, line: usize, wrap: &str) => "{why}: line {line} goes on to the right; {wrap} wraps it. Read it, then approve";
    too_briefly(why: &impl Display) => "{why}: it was on screen too briefly to be read; look at it, then approve";
    read_from(why: &impl Display, down: &str, zoom: &str, line: usize) => "{why}: read it to the end first ({down} scrolls, {zoom} zooms; next is line {line}), then approve";
    read_to_end(why: &impl Display, down: &str, zoom: &str) => "{why}: read it to the end first ({down} scrolls, {zoom} zooms), then approve";
    edit_is_broken(error: &impl Display) => "your edited text cannot be sent: {error}; open the form";
    and_skipped(left: &str) => "; skipped: {left}";
    rest_approved(word: &str, shown: &str, approved: usize, left: &str, new: &str) => "approved the rest of this {word}{shown}: {approved}{left}{new}";
    marks_hidden(marked: usize, key: &str) => "{marked} marked, none shown: {key} unmarks, or clear the filter first";
    is_a_group(word: &str, rest: &str, mark: &str, turn: &str, does: &str) => "This {word}: {rest} approve rest · {mark} mark all · {turn} {does}";
    sent_and_unknown(look: &str, settle: &str) => "its decision was sent, but the outcome is unknown: {look} checks again, {settle} resolves it";
    ran_and_unknown(key: &str) => "it was approved and ran, but the outcome is unknown: {key} resolves it";
    hidden_still_marked(hidden: usize) => "{hidden} marked rows are hidden by the filter: not decided, still marked";
    all_decided(what: &str, batch: &str) => "{what} decided. {batch} review and send";
    new_arrived(new: usize, next: &str, batch: &str) => "{new} just arrived: {next} goes there. {batch} review and send";
}
