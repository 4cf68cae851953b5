//! Texts of the lists of ended actions.

pub(crate) const APPROVED_AND_RUNNING: &str = "Approved and running";
pub(crate) const OUTCOME_UNKNOWN: &str = "Outcome unknown";
pub(crate) const ENDED_OTHERWISE: &str = "Expired, withdrawn, superseded";
pub(crate) const DECIDED_BY_ME: &str = "Decided by me";
pub(crate) const DECIDED_BY_ANYONE: &str = "Decided by anyone";

pub(crate) const NOTHING_FOUND: &str = " nothing like this was found; Esc shows all";
pub(crate) const NOTHING_ELSE_IS_KNOWN: &str = " nothing else is known";
pub(crate) const NOTHING_DECIDED_HERE: &str = " nothing was decided here yet";
pub(crate) const NOTHING_WAS_DECIDED_YET: &str = " nothing was decided yet";
pub(crate) const NOTHING_IS_APPROVED_OR_RUNNING: &str = " nothing is approved or running";
pub(crate) const NOTHING_WAS_EXECUTED_YET: &str = " nothing was executed yet";
pub(crate) const NOTHING_HAS_FAILED: &str = " nothing has failed";
pub(crate) const NO_OUTCOME_IS_UNKNOWN: &str = " no outcome is unknown";
pub(crate) const NOTHING_WAS_REJECTED_YET: &str = " nothing was rejected yet";
pub(crate) const NOTHING_ENDED_OTHERWISE: &str = " nothing expired, was withdrawn or superseded";

sentences! {
    lists_nothing(key: &str) => "no source lists ended actions; {key} shows decisions made here";
    read_only_resolves(inbox: &str, settle: &str) => "read-only list: {inbox} goes back to the inbox, where {settle} resolves it";
    read_only(inbox: &str) => "read-only list: {inbox} goes back to the inbox";

    as_of(name: &str, at: &str) => "{name}   as of {at}";
    as_of_old(name: &str, at: &str, age: &str, key: &str) => "{name}   as of {at}, {age} ago: {key} reads it again";
    found_so_far(all: usize, read: usize) => "reading… {all} found in {read}";
    row_and_more(at: usize, all: usize) => "row {at} of {all} and more";
    row_of(at: usize, all: usize) => "row {at} of {all}";
    unreadable(actions: &str) => " ! {actions} cannot be read";
}
