//! The wording of the review sheet, all of it: the view draws these words, and tests ask for them here.

use crate::domain::{DecisionKind, Timestamp};
use crate::text::count;
use crate::tui::chrome::words::age;

/// While the actions are read afresh.
pub(crate) const TITLE: &str = "Send";
/// At the foot of the frame, as long as the sheet is open.
pub const NOTE: &str = "Nothing is sent yet";
pub(crate) const NOTHING_TO_SEND: &str = "None of this can be sent now:";
pub(crate) const COUNTS_MAY_BE_OLD: &str = "counts may be old";
pub(crate) const EDITED: &str = "edited";
pub(crate) const UNREAD: &str = "unread";
pub(crate) const CHANGED: &str = "changed since";
pub(crate) const EXPIRES_SOON: &str = "expires soon";
pub(crate) const NOT_SENT: &str = "NOT SENT";
/// After the number of those that are not named.
pub(crate) const NOT_SENT_EITHER: &str = "not sent";
pub(crate) const NOT_SHOWN: &str = "not shown";
/// Before the title of another action that proposes the same.
pub(crate) const SAME: &str = "same as";
pub(crate) const HIGH_RISK: &str = "high-risk";

/// What happens to what is decided so.
pub(crate) const fn kind(kind: DecisionKind) -> &'static str {
    match kind {
        DecisionKind::Approve => "",
        DecisionKind::ApproveWithEdits => "approved with changes",
        DecisionKind::Reject => "rejected for good",
        DecisionKind::Retry => "the agent tries again",
    }
}

/// `Approving 388.40 EUR + 49.00 USD · 3 recipients`
pub(crate) fn approving(totals: &[String], dot: &str) -> String {
    format!("Approving {}", totals.join(dot))
}

/// What became of the other one: `approved 12 m ago`.
pub(crate) fn same(approved: Option<Timestamp>, is_staged: bool, now: Timestamp) -> String {
    match approved {
        Some(at) => format!("approved {} ago", age(at, now)),
        None if is_staged => "also approved here".to_owned(),
        None => "still pending".to_owned(),
    }
}

/// `3 stay pending in this batch`
pub(crate) fn left(n: usize, batches: usize) -> String {
    let of = if batches == 1 { "this batch" } else { "these batches" };
    format!("{n} {} pending in {of}", if n == 1 { "stays" } else { "stay" })
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

/// `Send 10 decisions in 2 batches to gate`
pub(crate) fn title(decisions: usize, batches: usize, to: &str) -> String {
    let batches = if batches == 1 { String::new() } else { format!(" in {batches} batches") };
    format!("Send {}{batches} to {to}", count(decisions, "decision"))
}

/// A word in the column at the left, and what it is about.
pub(crate) fn label(word: &str, what: &str) -> String {
    format!("  {word:<15}{what}")
}

pub(crate) fn warned(word: &str, what: &str) -> String {
    format!("  ! {word:<13}{what}")
}

/// On which sources, after a reviewer's name that all of them know.
pub(crate) fn on_sources(n: usize) -> String {
    format!(" on {}", count(n, "source"))
}

/// After the reviewer's names.
pub(crate) const REQUESTS: &str = "; one request per batch";

pub(crate) fn hidden(n: usize) -> String {
    format!("{} hidden by the filter", count(n, "decision"))
}

pub(crate) fn high_risk(n: usize) -> String {
    format!("{} approved", count(n, "action"))
}

pub(crate) fn shows(key: &str) -> String {
    format!("({key} shows)")
}

/// What it takes to send: nothing helps, a key, or a count and a key.
pub(crate) const CANNOT: &str = "Nothing can be sent. Everything stays staged.";

pub fn press(key: &str) -> String {
    format!("Press {key} to send.")
}

pub fn type_count(count: &str, key: &str) -> String {
    format!("Type {count} and press {key} to send.")
}

/// Why a count is asked for: `1 high-risk, 2 unread.`
pub(crate) fn because(why: &[String]) -> String {
    format!("{}.", why.join(", "))
}

pub(crate) fn back(key: &str) -> String {
    format!("{key} back")
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
│    ✗ 1 exclude   rejected for good                                         │
│      1 stays pending in these batches                                      │
│                                                                            │
│    edited         Escalate: EU outage  title                               │
│                                                                            │
│    create_linear_issue  refunds-agent:create_linear_issue                  │
│     ✓  Refund double-charge INV-8841                                       │
│     ✎  Escalate: EU outage                                                 │
│        title  "Escalate: EU outage" → "[now] Escalate: EU outage"          │
│    update_linear_issue  refunds-agent:update_linear_issue                  │
│     ✗  Close stale ticket #1182                                            │
│                                                                            │
│  as kim@acme on 1 source; one request per batch                            │
│  gate refuses any action that changed after you saw it.                    │
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
