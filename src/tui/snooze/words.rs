//! Texts of snoozing.

pub(crate) const NOT_PENDING: &str = "only what waits for a decision can be snoozed";
pub(crate) const IS_STAGED: &str = "it is staged: make it undecided first, then snooze it";
pub(crate) const ALL_BACK: &str = "everything that was snoozed is back";
pub(crate) const NONE_SNOOZED: &str = "nothing is snoozed";
pub(crate) const TAKES: &str = "snooze takes a time up to 30 days ahead: 1h, 30m, 17:00, tomorrow 9:00, mon, fri 14:00; off brings all back";

sentences! {
    snoozed(actions: &str, at: &str) => "{actions} snoozed until {at}";
    before_expiry(actions: &str, at: &str) => "{actions} snoozed until {at}, before it expires";
    too_soon(at: &str) => "it expires at {at}: too soon to snooze it";
    back(actions: &str) => "{actions} back: the snooze is over";
    changed(actions: &str) => "{actions} back: changed while snoozed";
    count(n: usize) => "{n} snoozed";
    row(at: &str) => "snoozed until {at}";
}
