//! All texts of the review sheet; tests compare with them.

use crate::contract::tool::Totals;
use crate::domain::time::age;
use crate::domain::{Binding, DecisionKind, SourceName, Timestamp};
use crate::text::count;
use std::fmt::Display;

pub(crate) const TITLE: &str = "Send";
pub const NOTE: &str = "Nothing is sent yet";
pub(crate) const NOTHING_TO_SEND: &str = "None of this can be sent now:";
pub(crate) const COUNTS_MAY_BE_OLD: &str = "counts may be old";
pub(crate) const EDITED: &str = "edited";
pub(crate) const UNREAD: &str = "unread";
pub(crate) const CHANGED: &str = "changed since";
pub(crate) const EXPIRES_SOON: &str = "expires soon";
pub(crate) const NOT_SENT: &str = "NOT SENT";
pub(crate) const NOT_SENT_EITHER: &str = "not sent";
pub(crate) const NOT_SHOWN: &str = "not shown";
pub(crate) const SAME: &str = "same as";
pub(crate) const HIGH_RISK: &str = "high-risk";
pub(crate) const CRITICAL: &str = "critical";

pub(crate) const OTHER_THAN_APPROVED: &str =
    "not what others approved already: it takes the place of their approvals, and they must approve it anew";

pub(crate) const fn kind(kind: DecisionKind) -> &'static str {
    match kind {
        DecisionKind::Approve => "",
        DecisionKind::ApproveWithEdits => "approved with changes",
        DecisionKind::Reject => "rejected, final",
        DecisionKind::Retry => "the agent tries again",
    }
}

/// Returns `Approving 388.40 EUR + 49.00 USD · 3 recipients`.
pub(crate) fn approving(totals: &[String], dot: &str) -> String {
    match totals {
        [only] if only.starts_with(Totals::UNKNOWN) => only.clone(),
        totals => format!("Approving {}", totals.join(dot)),
    }
}

/// Returns the state of a duplicate: `approved 12 m ago`.
pub(crate) fn same(approved: Option<Timestamp>, is_staged: bool, now: Timestamp) -> String {
    match approved {
        Some(at) => format!("approved {} ago", age(at, now)),
        None if is_staged => "also approved here".to_owned(),
        None => "still pending".to_owned(),
    }
}

/// Returns `3 stay pending in this batch`.
pub(crate) fn left(n: usize, batches: usize) -> String {
    let of = if batches == 1 { "this batch" } else { "these batches" };
    format!("{n} {} pending in {of}", if n == 1 { "stays" } else { "stay" })
}

/// Returns `3 more staged in other batches · S all`.
pub(crate) fn elsewhere(more: usize, dot: &str, all: &str) -> String {
    format!("{more} more staged in other batches{dot}{all} all")
}

pub(crate) fn reading(actions: usize) -> String {
    format!("reading {} afresh…", count(actions, "action"))
}

pub(crate) fn more_lines(n: usize, key: &str) -> String {
    format!("… {n} more lines ({key})")
}

pub(crate) fn and_more(n: usize, what: &str) -> String {
    format!("and {n} more {what}").trim_end().to_owned()
}

/// Returns `Send 10 decisions in 2 batches to gate`.
pub(crate) fn title(decisions: usize, batches: usize, to: &str) -> String {
    let batches = if batches == 1 { String::new() } else { format!(" in {batches} batches") };
    format!("Send {}{batches} to {to}", count(decisions, "decision"))
}

pub(crate) fn label(word: &str, what: &str) -> String {
    format!("  {word:<15}{what}")
}

pub(crate) fn warned(word: &str, what: &str) -> String {
    format!("  ! {word:<13}{what}")
}

/// Returns `The gate refuses any action that changed after you saw it.`
pub(crate) fn promise(source: &SourceName, binding: Binding) -> String {
    let source = if source.as_str() == "gate" { "The gate" } else { source.as_str() };
    format!("{source} {}.", binding.promise())
}

pub(crate) fn hidden(n: usize) -> String {
    format!("{} hidden by the filter", count(n, "decision"))
}

pub(crate) fn approved(n: usize) -> String {
    format!("{} approved", count(n, "action"))
}

pub(crate) fn shows(key: &str) -> String {
    format!("({key} shows)")
}

pub(crate) const CANNOT: &str = "Nothing can be sent. Everything stays staged.";

pub fn press(key: &str) -> String {
    format!("Press {key} to send.")
}

pub fn type_count(count: &str, key: &str) -> String {
    format!("Type {count} and press {key} to send.")
}

/// Returns why a count is required: `1 high-risk, 2 unread.`
pub(crate) fn because(why: &[String]) -> String {
    format!("{}.", why.join(", "))
}

pub(crate) fn back(key: &str) -> String {
    format!("{key} back")
}

pub(crate) const NOTHING_SENT: &str = "nothing was sent, everything stays staged: ";

pub(crate) const LEFT_PENDING: &str = "left pending";
pub(crate) const UNKNOWN_ALERT: &str = "OUTCOME UNKNOWN after approval: ";
pub(crate) const FAILED_ALERT: &str = "FAILED after approval: ";
pub(crate) const UNDO_FAILED_ALERT: &str = "UNDO FAILED after rejection: ";
pub(crate) const RETRY_LOST_ALERT: &str = "OUTCOME UNKNOWN after retry: ";
pub(crate) const SKIPPED_NOT_OURS: &str = "SKIPPED, not ours: ";
pub(crate) const WAITS_AGAIN: &str = "waits again: ";
pub(crate) const EARLIER_NOT_CHECKED: &str = "earlier submissions could not be checked: ";
pub(crate) const NOTHING_WAS_SENT_YET: &str = "nothing was sent yet";
pub(crate) const REPORT_WRITTEN_TO: &str = "report written to ";
pub(crate) const REPORT_NOT_WRITTEN: &str = "report not written: ";
pub(crate) const THE_REPORT: &str = "the report";

pub(crate) const RESULTS_AS_THEY_COME: &str = "results appear as they come";
pub(crate) const NOTHING_LANDED: &str = "Nothing landed";
pub(crate) const EVERYTHING_STAYS_STAGED: &str = "everything stays staged";
pub(crate) const UNKNOWN_CHECKED_AGAIN: &str = "unknown outcomes are checked again";
pub(crate) const WHAT_FAILED_STAYS_STAGED: &str = "failed decisions stay staged";
pub(crate) const KEPT_IN_THE_LOG: &str = "also in placet log";
pub(crate) const WRITES_A_FILE: &str = "writes a file";
pub(crate) const ALL_STAY_STAGED: &str = "nothing landed, all stay staged";
pub(crate) const PAUSED: &str = "PAUSED: nothing runs until someone resumes";
pub(crate) const AFTER_APPROVAL: &str = " after approval";

pub(crate) const ONLY_UNKNOWN: &str = "only an action with an unknown outcome can be resolved";
pub(crate) const STILL_ANSWERING: &str = "one moment: your last answer is being sent";
pub(crate) const TAKES_NO_ANSWER: &str = "its source takes no answer from here";
pub(crate) const NOT_SENT_TWICE: &str = "a decision is not sent twice: if it did not land, decide again";
pub(crate) const WRITING_IT_DOWN: &str = "writing it down";
pub(crate) const TELLING_THE_SOURCE: &str = "telling the source";
pub(crate) const NOTHING_WAS_SETTLED: &str = "nothing was settled";
pub(crate) const SETTLED_MEANWHILE: &str = " was settled meanwhile: it is ";
pub(crate) const IT_WAS_NOT_SETTLED: &str = "it was not settled: ";
pub(crate) const IS_RUN_AGAIN: &str = " is run again";
pub(crate) const MARKED: &str = "Marked ";
pub(crate) const NO_ANSWER_CAME_BUT: &str = "no answer came, but ";
pub(crate) const NOT_LANDED_BY_HAND: &str = "a reviewer marked it as failed";
pub(crate) const WAS_SETTLED: &str = " was settled";
pub(crate) const IT_IS: &str = ": it is ";
pub(crate) const IT_RAN: &str = "it ran";
pub(crate) const IT_DID_NOT_RUN: &str = "it did not run";
pub(crate) const NOT_LANDED_MEANS: &str = "failed; it is not run again";
pub(crate) const RUN_IT_AGAIN: &str = "run it again";
pub(crate) const RUN_AGAIN_MEANS: &str = "only if running twice does no harm";
pub(crate) const WHAT_BECAME_OF_IT: &str = "What became of it?";
pub(crate) const LOOK_FIRST: &str = "look in the target first";
pub(crate) const SENT_AND_UNKNOWN: &str = "its decision was sent; the outcome is unknown";
pub(crate) const NOBODY_KNOWS: &str = "; nobody knows";

pub(crate) const EVERYTHING_STAGED: &str = "nothing is staged in this batch; here is everything staged";
pub(crate) const STILL_SENDING: &str = "still sending; new decisions go next";
pub(crate) const TOO_EARLY: &str = "too early: read the sheet, then press it again";
pub(crate) const ALL_READ: &str = "every approval here was read";
pub(crate) const NOTHING_WAS_SKIPPED: &str = "nothing was skipped";
pub(crate) const NOTHING_CHANGED: &str = "nothing here changed since you saw it";
pub(crate) const NOT_IN_LIST: &str = "it is no longer in the list";
pub(crate) const HIDDEN_BY_FILTER: &str = "it is hidden by the filter: clear that first";

pub(crate) const REVIEW_CLOSED: &str = "review closed: ";

sentences! {
    waits_for_others(needed: u64) => "it stays pending until {needed} people approved it";
    recalled(n: &str) => "recalled: nothing was sent, {n} staged as before";
    about_to_be_sent(n: &str, key: &str) => "{n} about to be sent ({key} recalls); new decisions go next";

    select_unknown(key: &str) => "Select an unknown row, then {key}";
    nothing_landed(said: &str) => "nothing landed: {said}; everything stays staged";
    earlier_submission(summary: &str) => "an earlier submission: {summary}";

    shows_skipped(key: &str) => "   {key} shows the first skipped";
    more_lines_below(n: usize, down: &str) => "{n} more lines ({down})";
    on_the_way(n: usize, source: &impl Display) => "{n} on the way to {source}";
    sending(n: usize, source: &impl Display) => "sending {n} to {source}: no answer yet";
    paused_waiting(waits: usize, verb: &str) => "PAUSED: {waits} {verb} until someone resumes the gate";

    whether_settled(again: &str) => " was settled is unknown ({again} looks again): ";
    ends_reason(key: &str) => "   {key} ends it";
    press_to_say(confirm: &str, says: &str, back: &str) => "Press {confirm} to say: {says}. {back} takes it back.";
    resolve_keys(reason: &str, close: &str) => "{reason} adds a reason   {close} closes";

    nothing_staged(approve: &str, exclude: &str) => "nothing is staged: {approve} approves, {exclude} excludes";
    type_to_send(count: usize, accept: &str) => "type {count} and {accept} to send";
    wrong_count(count: usize) => "that is not {count}; nothing was sent";
    turn_changed(new: &str, key: &str) => "its turn changed since you decided it: {new}; {key} shows it, then decide again";
    comes_back(all: &str) => "nothing was sent; {all} comes back to the review";

    and_on_more(n: usize) => ", and on {n} more";
}

#[cfg(test)]
mod tests {
    use crate::tui::tests::queue::screens::at_work;

    #[rustfmt::skip]
    #[test]
    fn the_review() {
        let mut desk = at_work(100, 30);

        desk.press("S");

        let buffer = desk.buffer();
        let row = |y: u16| (11..89).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
        insta::assert_snapshot!((2..27).map(row).collect::<Vec<_>>().join("\n"), @r#"
        ┌─ Send 3 decisions in 2 batches to gate ────────────────────────────────────┐
        │  2 create_linear_issue medium, 1 update_linear_issue low                   │
        │    ✓ 1 approve                                                             │
        │    ✎ 1 edit   approved with changes                                        │
        │    ✗ 1 exclude   rejected, final                                           │
        │      1 stays pending in these batches                                      │
        │                                                                            │
        │    edited         Escalate: EU outage → [now] Escal…  title                │
        │                                                                            │
        │    create_linear_issue  refunds-agent:create_linear_issue                  │
        │     ✓  Refund double-charge INV-8841                                       │
        │     ✎  Escalate: EU outage → [now] Escalate: EU outa…                      │
        │        title  "Escalate: EU outage" → "[now] Escalate: EU outage"          │
        │    update_linear_issue  refunds-agent:update_linear_issue                  │
        │     ✗  Close stale ticket #1182                                            │
        │                                                                            │
        │  gate, as kim@acme                                                         │
        │  The gate refuses any action that changed after you saw it.                │
        │                                                                            │
        │                                                                            │
        │  Press y to send.                                                Esc back  │
        │                                                                            │
        └─ Nothing is sent yet ──────────────────────────────────────────────────────┘
                                                     │
                                                     │
        "#);
    }
}
