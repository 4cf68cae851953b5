//! What a key replaced: said, with the key that brings it back.

use crate::domain::{Change, Decision, Step, Untrusted};
use crate::text::{self, Shown};
use crate::tui::command::Command;
use crate::tui::model::Model;
use crate::tui::page::listed;

/// `undecided again; u brings back exclude, because "duplicate"`, or `2 decisions replaced; u brings them back`. Empty where
/// nothing was staged before. Of a turn the calls are decided as one.
pub(super) fn parts(model: &Model, step: &Step, turn: bool) -> Vec<Shown> {
    let key = model.settings.keymap.key(Command::Undo);
    let replaced: Vec<&Change> = step.changes.iter().filter(|change| change.before.is_some()).collect();
    let cleared = replaced.iter().all(|change| change.after.is_none());
    let before = replaced.first().and_then(|change| change.before.as_ref());
    match (before, replaced.len()) {
        (None, _) => Vec::new(),
        (Some(before), n) if n == 1 || turn => {
            let first = if cleared && turn {
                String::new()
            } else if cleared {
                "undecided again; ".to_owned()
            } else {
                let after = replaced.first().and_then(|change| change.after.as_ref());
                match after.map(|staged| word(&staged.decision)) {
                    Some(now) if now != word(&before.decision) => format!("{now} now; "),
                    _ => "changed; ".to_owned(),
                }
            };
            let mut parts = vec![Shown::ours(format!("{first}{key} brings back "))];
            parts.extend(said(&before.decision));
            parts
        }
        (Some(_), n) if cleared => vec![Shown::ours(format!("{n} undecided again; {key} brings them back"))],
        (Some(_), n) => vec![Shown::ours(format!("{n} decisions replaced; {key} brings them back"))],
    }
}

const fn word(decision: &Decision) -> &'static str {
    match decision {
        Decision::Approve { edits: None, .. } => "approve",
        Decision::Approve { edits: Some(_), .. } => "approve with edits",
        Decision::Reject { .. } => "exclude",
        Decision::Retry { .. } => "retry",
    }
}

/// `approve with edits (title), comment "urgent"`
fn said(decision: &Decision) -> Vec<Shown> {
    let edits = decision.edits().map(|edits| format!(" ({})", listed(&edits.keys()))).unwrap_or_default();
    let mut parts = vec![Shown::ours(format!("{}{edits}", word(decision)))];
    let (what, words) = match decision {
        Decision::Approve { comment, .. } => ("comment", comment.as_deref()),
        Decision::Reject { reason } => ("because", reason.as_deref()),
        Decision::Retry { guidance } => ("guidance", Some(guidance.as_str())),
    };
    if let Some(words) = words {
        let words = text::line(&Untrusted::from(words)).cut(30);
        parts.extend([Shown::ours(format!(", {what} \"")), words, Shown::ours("\"")]);
    }
    parts
}
