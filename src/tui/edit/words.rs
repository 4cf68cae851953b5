//! Texts of the edit form.

use std::fmt::Display;

pub(crate) const THE_INPUT: &str = "the input";
pub(crate) const NOTHING_TO_APPLY: &str = "nothing to apply: no field is changed";
pub(crate) const THE_FORM_IS_CLOSED: &str = "the form is closed";
pub(crate) const DECIDED_ELSEWHERE: &str = "it was decided meanwhile";
pub(crate) const TAKES_NO_EDITS: &str = "its source takes no edits from you";
pub(crate) const DIFFERENT_TOOL: &str = "different tool";
pub(crate) const CONTENT_NOT_READ: &str = "its content could not be read";
pub(crate) const INPUT_CHANGED: &str = "its input changed while you edited";
pub(crate) const STAGED_HAS_ITS_OWN: &str = "its staged decision has its own comment or edits";
pub(crate) const HAS_ITS_OWN: &str = "it has its own edits";

pub(crate) const NOT_A_NUMBER: &str = "type a number, such as 3, -1.50 or 2e6";
pub(crate) const NOT_JSON: &str = "this is not a JSON value (text needs \"quotes\")";

pub(crate) const KEY_REMOVED: &str =
    "a key cannot be removed by an edit; set it to null, or reset it to the proposed value";
pub(crate) const OWNER_CHANGED: &str =
    "it identifies whose action this is and cannot be edited; reset it to the proposed value";
pub(crate) const NOT_AN_OBJECT: &str = "its input is not a JSON object";

pub(crate) const NO_CURSOR: &str = "put the cursor on an action to edit it";
pub(crate) const ONLY_PENDING: &str = "only a pending action can be edited";
pub(crate) const WRITE_THE_ANSWER: &str = "it needs an answer: write it here, then Enter approves with it";
pub(crate) const CONTENT_NOT_READ_WHY: &str = "its content could not be read; the preview says why";
pub(crate) const TOO_LARGE: &str = "this input is too large to edit here: 256 KiB is the most";
pub(crate) const DECIDED_TEXT_KEPT: &str =
    "it was decided meanwhile; your text is kept until the action ends";
pub(crate) const PROPOSAL_CHANGED: &str =
    "the proposed input changed while you edited: close the form and look again";
pub(crate) const OWNER_LOCKED: &str = "this key identifies whose action it is and cannot be edited";
pub(crate) const LIST_KEYS: &str = "Space drops an element or restores it; Right edits the list as JSON";
pub(crate) const NUMBER_ONLY: &str = "type a number here";
pub(crate) const PASTE_IGNORED: &str = "ignored a paste: only text fields take text";
pub(crate) const PASTE_NO_NUMBER: &str = "ignored a paste: not a number";
pub(crate) const EDITOR_CHANGED_NOTHING: &str = "nothing was changed in the editor";

pub(crate) const NOT_SENT_FROM_HERE: &str = "nothing is sent from here; closing keeps your text";
pub(crate) const TITLE: &str = "Edit before approving";
pub(crate) const WHOLE_VALUE: &str = "An edited field is sent whole";
pub(crate) const AS_PROPOSED: &str = "as proposed: no edits";
pub(crate) const EDITS: &str = "Edits: ";
pub(crate) const CANNOT_BE_SENT: &str = "cannot be sent: ";
pub(crate) const VALID: &str = "valid against the tool's schema";
pub(crate) const NOT_VALID: &str = "not valid against the tool's schema";
pub(crate) const BUTTON_SHOW: &str = "[show what it changes]";
pub(crate) const BUTTON_APPROVE: &str = "[approve with these edits]";
pub(crate) const BUTTON_BACK: &str = "[back to proposed]";
pub(crate) const ENTER_PRESSES: &str = "Enter presses";
pub(crate) const ENTER_NEW_LINE: &str = "Enter: new line";
pub(crate) const ENTER_SHOWS: &str = "Enter: show what it changes";
pub(crate) const ENTER_APPROVES: &str = "Enter: approve with these edits";
pub(crate) const NOTHING_IS_SENT_FROM_HERE: &str = "nothing is sent from here";
pub(crate) const BULK_TITLE: &str = "The same change, action by action";
pub(crate) const SKIPPED: &str = "  skipped: ";
pub(crate) const ALIKE_ALREADY: &str = "  already has these values: approved as proposed";
pub(crate) const NOT_SET: &str = "(not set)";
pub(crate) const A_LIST: &str = "a list, sent whole";
pub(crate) const A_JSON: &str = "JSON, sent whole";
pub(crate) const OWNER_CANNOT_CHANGE: &str = "identifies whose action this is: it cannot be edited";
pub(crate) const CHOICE_KEYS: &str = " >  Left and Right change it";
pub(crate) const ELEMENT_KEYS: &str = "Space drops or restores   Right: as JSON";

sentences! {
    schema_says(at: &str, what: &str) => "the schema rejects {at}: {what}";
    applies_to_none(back: &str) => "Applies to none of the marked. {back} back to the form";
    staged_some(staged: usize, left_out: usize) => "{staged} staged with these edits; {left_out} left unchanged";
    staged_all(staged: usize) => "{staged} staged with these edits";

    not_allowed(place: &str, what: &str) => "the tool's schema does not allow {place}: {what}";
    lacks(key: &str) => "it has no {key}";
    other_nested(key: &str) => "its {key} is another list or object";

    too_many_marked(all: usize, most: usize) => "{all} actions are marked; at most {most} can be edited together";
    cannot_be_sent(why: &str) => "cannot be sent: {why}";
    close_and_read(why: &impl Display) => "{why}: close the form, read the proposal to the end, then approve (your text is kept)";
    answer_not_written(back: &str) => "no answer yet: write it, then Enter approves with it; {back} closes";
    nothing_changed(back: &str, approve: &str) => "nothing is changed; {back} closes, and {approve} approves it as proposed";
    no_fields_yet(why: &str) => "it cannot be shown as fields yet: {why}";
    came_back_broken(why: &str) => "the edited text cannot be sent: {why}; fix it here";

    marked_first(n: usize) => "{n} marked actions; the first: ";
    form_keys(editor: &str, back: &str, raw: &str, other: &str) => "{editor} $EDITOR  {back} back to proposed  {raw} {other}";
    at_line(what: &str, line: usize, column: usize) => "{what}, line {line}, column {column}";
    hidden_characters(hidden: &str) => "! {hidden} in this text, shown as ⟦…⟧";
    applies_to(applies: usize, all: usize) => "Applies to {applies} of {all} marked";
    and_skipped(n: usize) => ". {n} skipped";
    enter_stages(what: &str, undo: &str) => "Enter stages {what} with these edits; {undo} undoes them together. ";
    back_to_form(back: &str) => "{back}: back to the form";
}
