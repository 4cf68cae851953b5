//! Texts of the preview.

pub(crate) const YOUR_EDITS: &str = "Your edits";
pub(crate) const THE_APPROVER_EDITS: &str = "The approver's edits";
pub(crate) const BEFORE_UNKNOWN: &str = "The agent did not report the state before.";
pub(crate) const BEFORE_AND_AFTER: &str = "Before (-), as the agent reports it (not checked), and after (+)";
pub(crate) const NOT_REPORTED: &str = "not reported: ";
pub(crate) const BEFORE_ONLY: &str = "  (before only)";
pub(crate) const CHANGED_SINCE_SEEN: &str = "! it changed since you saw it";
pub(crate) const SEEN_IS_LOST: &str =
    "What you saw is no longer available: it was longer than 256 kB, or placet was restarted.";
pub(crate) const SEEN_AND_NOW: &str = "What you saw (-), what it is now (+)";
pub(crate) const EDITS_ON_NEW: &str = "Your edits on the new content";
pub(crate) const WHAT_YOU_SAW: &str = "what you saw";
pub(crate) const WHAT_IT_IS_NOW: &str = "what it is now";
pub(crate) const YOUR_EDIT: &str = "your edit";
pub(crate) const OTHER_FIELD: &str = "other field";
pub(crate) const SEEN_AND_NOW_INDENTED: &str = "  what you saw (-), what it is now (+)";
pub(crate) const NOW_AND_EDIT: &str = "  what it is now (-), your edit (+)";
pub(crate) const NO_EDITS: &str = "No edits: it runs as proposed.";
pub(crate) const NO_OTHER_FIELD: &str = "No other fields";

pub(crate) const ASKED_BY: &str = "asked by";
pub(crate) const DECIDED_BY: &str = "decided by";
pub(crate) const TOOL_CALL: &str = "tool call";
pub(crate) const OTHER_DIGEST: &str = "! the digest from the source does not match this content";
pub(crate) const BEFORE_YOU_DECIDE: &str = "Before you decide";
pub(crate) const SAME_TOOL: &str = "Same tool, other values";
pub(crate) const AT_LEAST: &str = "at least ";
pub(crate) const ENTER_LISTS_THEM: &str = "Enter lists them";
pub(crate) const AGENTS_NOTE: &str = "Agent's note (not executed)";
pub(crate) const ASKING_CONTEXT: &str = "asking the source for more context…";

pub(crate) const CHANGED: &str = "! changed since you saw it (the Diff tab compares)";
pub(crate) const SEE_DIFF: &str = "Before and after: the Diff tab";
pub(crate) const WHAT_RAN: &str = "What ran";
pub(crate) const WHAT_MAY_HAVE_RUN: &str = "What may have run";
pub(crate) const WHAT_RUNS: &str = "What runs";
pub(crate) const YOUR_EDITS_REPLACE: &str = "your edits replace";
pub(crate) const APPROVED_EDITS_REPLACE: &str = "approved with edits that replace";
pub(crate) const AS_PROPOSED: &str = "as proposed";
pub(crate) const THE_OUTCOME_IS_UNKNOWN: &str = ": the outcome is unknown";
pub(crate) const THEN_DECIDED_BY: &str = "  decided by ";
pub(crate) const GATE_PAUSED: &str = "the gate is paused: it runs after the gate resumes";
pub(crate) const WAITING: &str = "Waiting for the agent or the executor to run it";
pub(crate) const OTHER_FIELDS: &str = "Other fields, unknown to this version";
pub(crate) const RAW_WITH_ID: &str = "The raw item is below. It can be rejected, not approved.";
pub(crate) const RAW_WITHOUT_ID: &str = "The raw item is below. It has no id, so it cannot be decided here.";
pub(crate) const DUPLICATE_KEYS: &str = "! duplicate keys: ";
pub(crate) const EXECUTORS_DIFFER: &str = "; executors differ in which one they take";
pub(crate) const LOOK_ALIKE_KEYS: &str = "! look-alike keys: ";
pub(crate) const WHAT_APPROVING_DOES: &str = "What approving does";
pub(crate) const NO_DESCRIPTION_RUNS: &str = "Runs with exactly this input. No description for this tool.";
pub(crate) const NO_DESCRIPTION_OF_TOOL: &str = "No description for this tool.";
pub(crate) const CANNOT_BE_UNDONE: &str = "cannot be undone";
pub(crate) const CAN_BE_UNDONE: &str = "can be undone";

pub(crate) const OUT_OF_RANGE: &str = "out of range";

pub(crate) const TOO_LONG_TO_COMPARE: &str = "Its preview is too long to compare:";
pub(crate) const PREVIEW_MATCHES: &str = "Preview matches the input";
pub(crate) const OTHER_ARRANGEMENT: &str = "! The preview has the same values in another arrangement";
pub(crate) const ONLY_IN_PREVIEW: &str = "Only in the preview, not in the input:";
pub(crate) const OTHER_VALUE_IN_INPUT: &str = "   (the input has another value)";

pub(crate) const ASKING_WHAT_HAPPENED: &str = "asking what happened…";
pub(crate) const BY_THE_SOURCE: &str = "by the source itself";
pub(crate) const NO_TIMELINE: &str = "This source keeps no timeline. placet knows this:";
pub(crate) const SENT_FROM_HERE: &str = "Sent from here";
pub(crate) const MAY_NOT_HAVE_BEEN_SENT: &str = "none: it may not have been sent";
pub(crate) const TAKEN_SETTLED_LATER: &str = "taken, settled later";

pub(crate) const MISSING_FROM_PREVIEW: &str = "+ missing from the agent's preview";
pub(crate) const NO_FIELDS: &str = "(no fields)";
pub(crate) const LEADS_TO: &str = "! leads to ";

pub(crate) const LONG_LINES: &str = "long lines continue to the right; text off screen counts as unread";
pub(crate) const TOO_NARROW: &str = "the screen is too narrow for a preview beside the list";
pub(crate) const NOTHING_TO_FOLD_HERE: &str = "nothing to fold here";
pub(crate) const ONLY_THE_RAW_TAB_FOLDS: &str = "only the Raw tab folds";

pub(crate) const NO_MATCH: &str = "no match";

pub(crate) const BATCH_OF: &str = "batch of ";
pub(crate) const CHECKING_NOW: &str = "Checking now.";
pub(crate) const SENT_AND_UNKNOWN: &str = "Its decision was sent from here; the outcome is unknown:";
pub(crate) const MAY_STILL_RUN: &str = "the source no longer shows the action. It may still run there.";
pub(crate) const NO_ANSWER_CAME: &str = "no answer came";
pub(crate) const EXECUTOR_DID_NOT_REPORT: &str = "the executor did not report";
pub(crate) const NO_DESCRIPTION: &str = "no description for this tool";
pub(crate) const AND_CANNOT_BE_UNDONE: &str = " · cannot be undone";
pub(crate) const SAME_ACTION: &str = "same proposal: ";
pub(crate) const DECISIONS_ON: &str = "decisions on ";
pub(crate) const OPEN_WHICH_LINK: &str = "Open which link?";

sentences! {
    approvals(given: u64, needed: u64) => "{given} of {needed} approvals";
    counts_as(nth: u64, needed: u64) => "Counts as approval {nth} of {needed}. After the last one:";
    approved_with_edits(keys: &str) => "with edits: {keys}";
    unchanged_keys(keys: &str) => "{keys} the same before and after";
    unchanged_since(keys: &str) => "{keys} unchanged since you saw it";
    unchanged(fields: &str) => "{fields} unchanged";
    lines_same(lines: &str) => "    ({lines} the same)";

    in_days(approved: &str, days: i64) => "{approved} in {days} days";
    no_more_context(what: &str) => "More context could not be read: the source {what}";
    and_more(more: usize) => "and {more} more";

    edits_replace(whose: &str, keys: &str) => "{whose}: {keys} (the Diff tab shows them)";
    with_edits(what: &str) => "{what}, with the approver's edits";
    unreadable(what: &str) => "! this cannot be read: {what}";
    hidden_characters(n: usize) => "! hidden characters: {n}, shown as ⟦…⟧";
    odd_json(n: usize, words: &str) => "! invalid JSON: {n} of {words} in place of a value";
    broken_strings(n: usize) => "! strings that do not decode: {n} (see Raw)";
    look_twice(words: &str) => "! look twice: {words}";
    at_least_more(more: usize) => ", and at least {more} more";
    undone_by_hand(how: &str) => "can be undone by hand: {how}";

    timeline_not_read(what: &str) => "The timeline cannot be read: the source {what}";

    lines_wrap(key: &str) => "lines wrap, so there is nothing to scroll to; {key} turns wrapping off";

    match_of(at: usize, all: usize) => "match {at} of {all}";

    cannot_be_shown(what: &str) => "cannot be shown: {what}";
    more_warnings(left: usize) => " +{left}: Context tab";
    group_counts(open: usize, undecided: usize, staged: usize) => "{open} open, {undecided} undecided, {staged} staged";
    next_check(at: &str) => "Next check at {at}.";
    check(key: &str) => "Check the target, then press {key}";
    may_have_run(n: usize) => "{n} may or may not have run:";
    search_keys(keep: &str, end: &str) => "{keep} keeps   {end} ends";
    match_keys(next: &str, previous: &str, end: &str) => "{next} {previous} others   {end} ends";
    fold_keys(fold: &str, all: &str, none: &str, at: &str) => "{fold} folds   {all} {none} all   {at}";
    sideways(left: &str, right: &str, column: usize, at: &str) => "{left}/{right} sideways, from column {column}   {at}";
    others_of_mission(others: usize, actions: &str) => "{others} other pending {actions} of mission ";
    link_keys(open: &str, copy: &str, back: &str) => "{open} opens it in the browser   {copy} copies it   {back} closes";
    place_keys(open: &str, back: &str) => "{open} goes there   {back} closes";
}
