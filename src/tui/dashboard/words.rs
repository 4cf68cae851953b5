//! Texts of the watch view.

use std::fmt::Display;

pub(crate) const NO_CHART_YET: &str = "Not watched long enough for a chart.";

pub(crate) const NOTHING_HAPPENED_YET: &str = " nothing happened yet";
pub(crate) const AFTER_APPROVAL: &str = "after approval: ";
pub(crate) const PAUSED: &str = "paused: approved actions do not run";
pub(crate) const RESUMED: &str = "resumed: approved actions run";
pub(crate) const LIVE: &str = "connected: live updates";
pub(crate) const POLLED: &str = "connected: asked every few seconds";
pub(crate) const RETRIED: &str = "connection lost, tried again: ";
pub(crate) const TOKEN_REFUSED: &str = "does not let placet in: ";
pub(crate) const STREAM_ENDED: &str = "its stream ended: ";
pub(crate) const NO_ALERTS: &str = " no alerts";

pub(crate) const MOST_PENDING_FIRST: &str = "most pending first";
pub(crate) const OLDEST_FIRST: &str = "oldest first";
pub(crate) const FASTEST_GROWING_FIRST: &str = "fastest growing first";
pub(crate) const BY_NAME: &str = "by name";

pub(crate) const NOT_ACKNOWLEDGED_ANY_MORE: &str = "no longer acknowledged";
pub(crate) const NO_ALERT_IS_OPEN: &str = "no alert is open";
pub(crate) const FIGURES_WRITTEN_TO: &str = "figures written to ";
pub(crate) const FIGURES_NOT_WRITTEN: &str = "figures not written: ";
pub(crate) const NOTHING_TO_OPEN: &str = "there is nothing to open here";
pub(crate) const IT_IS_NO_LONGER_IN: &str = "it is no longer in the inbox";

pub(crate) const NOT_ALL: &str = ", not all";
pub(crate) const EVENTS: &str = "Events, newest first";
pub(crate) const PLACET_WATCH: &str = " placet watch";
pub(crate) const WITH_UNKNOWN_OUTCOME: &str = "with unknown outcome";
pub(crate) const NOTHING_DECIDED: &str = "nothing decided";
pub(crate) const NOTHING_IS_PENDING: &str = " nothing is pending";
pub(crate) const AGE_HEAD: &str = " age       pending";
pub(crate) const DECIDED_BY: &str = " decided by";
pub(crate) const NOBODY_TOLD: &str = " No source reported who decided.";

sentences! {
    over_target(count: u64, target: &str) => "   {count} over {target}";
    from_most(first: u64, most: u64) => "   from {first}, most {most}";
    now_and_mean(word: &str, now: &str, dot: &str, mean: &str) => "{word} {now} now{dot}{mean} mean  ";

    actions_from(count: u64) => "{count} actions from ";
    decided_many(approved: u64, rejected: u64) => "{approved} approved, {rejected} excluded";
    rules_cannot_notify(n: usize) => "{n} rules cannot notify";
    muted_until(at: &str) => "muted until {at}";

    more_below(below: usize) => " and {below} more";
    more_above(above: usize) => " and {above} more above";
    more_both(below: usize, above: usize) => " and {below} more, {above} above";

    nothing_decided_here(inbox: &str) => "nothing is decided here: {inbox} goes to the inbox";
    figures_frozen(key: &str) => "the figures are frozen: press {key}, then change the window";
    last_minutes(window: u32) => "the last {window} minutes";
    frozen_until(key: &str) => "frozen: numbers stay until {key} is pressed again";
    acknowledged(alerts: &str) => "{alerts} acknowledged until one grows or comes back";
    unmuted(alerts: &str) => "{alerts} no longer muted";
    muted(alerts: &str) => "{alerts} muted for an hour";
    only_these(all: &str, watch: &str) => "showing only these: {all} shows all, {watch} goes back to the figures";
    older_high_risk(limit: &str) => "is:high age:>{limit}";

    next_panel(key: &str) => "{key} next panel";
    sources_ok(well: usize, all: usize) => "{well} of {all} sources ok";
    data_old(source: &impl Display, age: &str) => "{source} data {age} old";
    failed(n: u64) => "{n} failed after approval";
    left(n: u64) => "{n} left undecided";
}
