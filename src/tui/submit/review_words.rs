//! The wording of the review sheet, all of it: the view draws these words, and tests ask for them here.

use crate::domain::DecisionKind;
use crate::text::count;

pub(crate) const TITLE: &str = "Review and submit";
/// At the foot of the frame, as long as the sheet is open.
pub const NOTE: &str = "nothing has been sent yet";
pub(crate) const NOTHING_TO_SEND: &str = "Nothing of this can be sent now:";
pub(crate) const COUNTS_MAY_BE_OLD: &str = "counts may be old";
pub(crate) const LEFT_ALONE: (&str, &str) = ("left alone", "stay pending, not part of the request");
pub(crate) const EDITED: &str = "edited";
pub(crate) const NEVER_OPENED: &str = "never opened";
pub(crate) const CHANGED: &str = "changed since";
pub(crate) const EXPIRES_SOON: &str = "expires soon";
pub(crate) const NOT_SENT: &str = "NOT SENT";
/// After the number of those that are not named.
pub(crate) const NOT_SENT_EITHER: &str = "not sent";
pub(crate) const NOT_SHOWN: &str = "not shown";
pub(crate) const HIGH_RISK: &str = "high-risk";

/// A kind of decision, and what happens to what is decided so.
pub(crate) const fn kind(kind: DecisionKind) -> (&'static str, &'static str) {
    match kind {
        DecisionKind::Approve => ("APPROVE", "as proposed"),
        DecisionKind::ApproveWithEdits => ("APPROVE + EDIT", ""),
        DecisionKind::Reject => ("EXCLUDE", "rejected for good"),
        DecisionKind::Retry => ("RETRY", "with guidance"),
    }
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

pub(crate) fn will_be_sent(decisions: usize, batches: usize) -> String {
    let batches = if batches == 1 { "1 batch".to_owned() } else { format!("{batches} batches") };
    format!("{} in {batches} will be sent:", count(decisions, "decision"))
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
pub fn cannot(back: &str) -> String {
    format!("Nothing can be sent; everything stays staged. {back} goes back.")
}

pub fn press(key: &str, back: &str) -> String {
    format!("Press {key} to send. {back} goes back.")
}

pub fn type_count(count: &str, key: &str, back: &str) -> String {
    format!("Type {count} and {key} to send. {back} goes back.")
}

pub(crate) fn because(why: &[String]) -> String {
    format!("(a count is asked because {})", why.join(", "))
}

#[cfg(test)]
mod tests {
    use crate::tui::tests::screens::at_work;

    #[rustfmt::skip]
    #[test]
    fn the_review() {
        let mut desk = at_work(100, 30);

        desk.press("S");

        let buffer = desk.buffer();
        let row = |y: u16| (11..89).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
        insta::assert_snapshot!((2..27).map(row).collect::<Vec<_>>().join("\n"), @r#"
│  2 create_linear_issue medium, 1 update_linear_issue low                   │
│  3 decisions in 2 batches will be sent:                                    │
│                                                                            │
│    APPROVE            1   as proposed                                      │
│    APPROVE + EDIT     1                                                    │
│    EXCLUDE            1   rejected for good                                │
│    left alone         1   stay pending, not part of the request            │
│                                                                            │
│    edited         Escalate: EU outage  title                               │
│                                                                            │
│    create_linear_issue  refunds-agent:create_linear_issue                  │
│     A  Refund double-charge INV-8841                                       │
│     E  Escalate: EU outage                                                 │
│        title  "Escalate: EU outage" → "[now] Escalate: EU outage"          │
│    update_linear_issue  refunds-agent:update_linear_issue                  │
│     X  Close stale ticket #1182                                            │
│                                                                            │
│  as kim@acme on 1 source; one request per batch                            │
│  gate: bound by the source: what is not what you saw is refused there      │
│                                                                            │
│                                                                            │
│  Press y to send. Esc goes back.                                           │
│                                                                            │
│                                                                            │
└─ nothing has been sent yet ────────────────────────────────────────────────┘
"#);
    }
}
