//! Texts of the list.

use std::fmt::Display;

pub(crate) const FILTER_FIELDS: &str =
    "words  'exact  -not  tool: agent: risk:>=high age:>1h expires:<30m is:unopened";

pub(crate) const TO_THE_LIST: &str = "to the list";
pub(crate) const SAVED_FILTERS: &str = "Saved filters";

pub(crate) const SAME_AS_ONE_APPROVED: &str = "same as one approved";
pub(crate) const SAME_AS_ANOTHER: &str = "same as another";

pub(crate) const NAME_MISSING: &str = "type a name first";
pub(crate) const NAME_TAKEN: &str = "another saved filter has this name";
pub(crate) const SAVED_FILTERS_ARE_LOST: &str = "saved filters will be lost when placet ends: ";

pub(crate) const SHOWN_IS_DECIDED: &str = "All shown decided";
pub(crate) const FILTER_CLEARED: &str = "Filter cleared";
pub(crate) const ALL_IS_DECIDED: &str = "All decided";
pub(crate) const NOTHING_IS_MARKED: &str = "nothing is marked";
pub(crate) const SORTED_BY_AGE: &str = "sorted by age: oldest first";
pub(crate) const SORTED_BY_RISK: &str = "sorted by risk: most harmful first";
pub(crate) const SORTED_BY_EXPIRY: &str = "sorted by expiry: next to expire first";
pub(crate) const SORTED_BY_TOOL: &str = "sorted by tool";
pub(crate) const SORTED_BY_SOURCE: &str = "sorted by source";
pub(crate) const FROZEN: &str = "frozen: rows stay, counts keep changing";
pub(crate) const LIVE_UNCHANGED: &str = "live: nothing changed meanwhile";

pub(crate) const APPROVED: &str = "approved";
pub(crate) const REJECTED: &str = "rejected";
pub(crate) const DECIDED: &str = "decided";
pub(crate) const FROM_ANOTHER_SCREEN: &str = "from another screen";
pub(crate) const IN_PLAIN_MODE: &str = "in plain mode";
pub(crate) const FROM_A_SHELL: &str = "from a shell";
pub(crate) const OVER_HTTP: &str = "over HTTP";
pub(crate) const ELSEWHERE: &str = "elsewhere";

pub(crate) const WAS_UNKNOWN: &str = "outcome was unknown";
pub(crate) const ALL_SETTLED: &str = "all settled";
pub(crate) const ALL_DECIDED: &str = "all decided";
pub(crate) const CHANGED: &str = "changed";
pub(crate) const APPROVED_UNREAD: &str = "approved unread";
pub(crate) const EXPIRING: &str = "expiring";
pub(crate) const BLOCKED: &str = "blocked";
pub(crate) const CRITICAL: &str = "critical";
pub(crate) const NOTHING_URGENT: &str = "Nothing unknown, expiring, blocked or critical";
pub(crate) const WAS: &str = "was ";
pub(crate) const WHAT_VARIES: &str = "    differences between the titles";

sentences! {

    same_was_approved(what: &str, age: &str) => "the same {what} was approved {age} ago";
    same_is_pending(what: &str) => "another pending action has the same {what}";

    saved_filter_left_out(name: &str, error: &impl Display) => "the saved filter {name:?} is left out: {error}";
    no_saved_filter(number: usize, key: &str) => "there is no saved filter {number}; {key} saves the current filter";
    no_filter_to_save(key: &str) => "there is no filter to save; {key} writes one";
    saved_already(name: &str) => "already saved as {name}";
    removed(name: &str, filter: &str) => "removed {name}; it was: {filter}";
    filter_is_configured(done: &str) => "not {done}: this filter is in the configuration";
    only_saved_filters(done: &str) => "only saved filters are {done}";
    name_too_long(longest: usize) => "a name has at most {longest} characters";
    saved_filters_note(clears: &str, back: &str) => "1 to 9 applies   {clears} clears   {back} closes";
    no_saved_filters(filter: &str, save: &str) => "None yet. {filter} writes a filter, {save} saves it.";

    decided_elsewhere(count: usize, decided: &str, place: &str) => "{count} {decided} {place}";
    under_your_name(told: &str) => "under your name: {told}";

    unreadable(count: usize, source: &impl Display) => "{count} of {source} cannot be read: ";
    marks_left(left: usize, all: usize) => "{left} of {all} marked are still pending: the others are unmarked";

    just_arrived(left: usize) => "{left} just arrived, not marked";
    marked_and_hidden(marked: &str, hidden: usize) => "{marked} marked, {hidden} of them hidden by the filter";
    grouped_by_shape(key: &str) => "grouped by shape: near-identical actions are one row; {key} opens it";
    grouped_by(word: &str) => "grouped by {word}";
    live_again(changes: &str) => "live: caught up with {changes}";

    none_matches(all: &str) => "  None of {all} matches.";
    approvals(given: u64, needed: u64) => "{given} of {needed}";
    range_of(rows: &str) => "range of {rows}";
    marked_pending(marked: usize, all: usize, totals: &str, hidden: &str) => "{marked} of {all} marked still pending{totals}{hidden}";
    turn_decided(decided: usize, all: usize) => "turn, {decided} of {all} decided";
    left(left: usize) => "{left} left";
    nth_of(reason: &str, nth: usize, all: usize, hidden: &str) => "{reason}, {nth} of {all}{hidden}";
    more_hidden(hidden: usize) => "; the filter hides {hidden}";
    all_hidden(hidden: usize) => "The filter hides {hidden} urgent rows";
    edited(fields: usize) => "{fields} edited";
    resolves(key: &str) => "outcome unknown: {key} resolves these";
    resolves_at(key: &str, at: &str) => "outcome unknown: {key} resolves these; next check at {at}";
    resolves_at_short(key: &str, at: &str) => "unknown: {key} resolves, next check {at}";
    resolves_reading(key: &str) => "outcome unknown: {key} resolves these; checking now";
    resolves_reading_short(key: &str) => "unknown: {key} resolves, checking now";
    group_counts(open: usize, undecided: usize, staged: usize, batches: &str) => "{open} open, {undecided} undecided, {staged} staged, in {batches}";
    first_of(looked: usize, all: usize) => "(the first {looked} of {all} actions)";
    and_more(more: usize, key: &str) => "    and {more} more: {key} opens the group";
}
