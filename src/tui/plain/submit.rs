//! Submitting: the review in words, the question, and the exact answer. The only way to a source.

use std::collections::HashMap;

use crate::domain::{
    Confirm, DecisionKind, Outcome, ReportLine, Status, Submission, SubmissionBatch, Timestamp, Untrusted,
};
use crate::text;
use crate::text::count;
use crate::tui::core::command::Command;
use crate::tui::core::modal::{Modal, ReportSheet, Review, ReviewSheet};
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Intent, SheetLines, What};
use crate::tui::preview::page::line::listed;
use crate::tui::submit::review_words;

use super::decide::SETTLE;
use super::sentences;
use super::sentences::foreign;
use super::session::{Session, Turn};

pub(crate) fn submit(session: &mut Session, rest: &str) {
    let command = match rest {
        "" | "all" => Command::ReviewAll,
        "batch" => Command::ReviewBatch,
        _ => {
            return session
                .say("Nothing was sent. Say submit for all that is staged, or submit batch for this batch.");
        }
    };
    session.give(Intent::Command(command));
    if matches!(session.model.modal, Some(Modal::Review(_))) {
        session.turn = Turn::Reviewing;
    } else if session.model.decide.draft.is_empty() {
        session.heard();
        session.say("Nothing is staged. approve and exclude stage decisions.");
    } else {
        session.say_heard();
    }
}

/// The actions were read afresh: says what will be sent, and asks. False while they are on their way.
pub(crate) fn reviewed(session: &mut Session) -> bool {
    let Some(Modal::Review(open)) = &session.model.modal else {
        session.turn = Turn::Word;
        session.say("The review is closed. Nothing was sent.");
        return true;
    };
    let Some(review) = &open.review else { return false };
    let can = review.submission.is_some();
    let said = review_lines(&session.model, open, review);
    session.say_all(&said);
    session.tell(What::Drawn(SheetLines::default()));
    if can {
        session.turn = Turn::Confirming(session.model.now);
    } else {
        session.give(Intent::Command(Command::Back));
        session.heard();
        session.turn = Turn::Word;
    }
    true
}

/// Exactly what was asked for sends; anything else goes back.
pub(crate) fn answer(session: &mut Session, answer: &str, at: Timestamp, asked: Timestamp) {
    let Some(Modal::Review(open)) = &session.model.modal else {
        session.turn = Turn::Word;
        return session.say("The review is closed. Nothing was sent.");
    };
    let Some(review) = &open.review else { return };
    if session.how.interactive && at.since(asked) < SETTLE {
        let said = format!("Ignored: that was typed before the question. {}", question(review));
        return session.say(&said);
    }
    if answer == "list" {
        let mut said = by_name(review);
        said.push(question(review));
        return session.say_all(&said);
    }
    session.give(Intent::Answer(answer.to_owned()));
    session.turn = Turn::Word;
    let heard = session.heard();
    if session.model.submit.held.is_some() {
        let seconds = session.model.settings.hold.as_secs_f64().ceil();
        session.say(&format!("Confirmed. It is sent in {seconds} seconds; undo recalls it."));
    } else if session.model.submit.sending.is_some() {
        session.say(&heard.unwrap_or_else(|| sending(&session.model)));
    } else {
        session.say("Nothing was sent. Everything stays staged.");
    }
}

/// How many decisions are on their way.
pub(crate) fn sending(model: &Model) -> String {
    let all = model.submit.progress.values().flat_map(|progress| progress.values());
    format!("Sending {}.", count(all.map(|(_, all)| all).sum(), "decision"))
}

/// What became of the last submission.
pub(crate) fn last(session: &mut Session) {
    match session.model.submit.last_report.clone() {
        None => session.say("Nothing was sent yet."),
        Some(report) => session.say_all(&report_lines(&session.model, &report)),
    }
}

// The review and the report in sentences.

/// So many names of a kind are said; the rest is a number.
const NAMED: usize = 5;
/// So many decisions are named without being asked for.
const FEW: usize = 10;

pub(crate) fn review_lines(model: &Model, sheet: &ReviewSheet, review: &Review) -> Vec<String> {
    let mut said = Vec::new();
    if review.submission.is_some() {
        said.push(what(review));
    }
    if sheet.scope.is_some() {
        let other = model.unsent().saturating_sub(sheet.keys.len());
        said.push(format!("This batch only; {} stay staged.", count(other, "other decision")));
    }
    if review.left_pending > 0 {
        said.push(format!(
            "Left alone: {} of these batches.",
            count(review.left_pending, "undecided action")
        ));
    }
    for (title, keys) in review.edited.iter().take(NAMED) {
        said.push(format!("Edited: {}. Changed: {}.", foreign(title), listed(keys)));
    }
    rest(review.edited.len(), "edited", &mut said);
    warned("Warning, approved unread", &review.unopened, &mut said);
    warned("Warning, changed since it was read", &review.changed, &mut said);
    for (title, became) in review.same.iter().take(NAMED) {
        said.push(format!("Warning, same as {}: {became}.", foreign(title)));
    }
    rest(review.same.len(), "same as another", &mut said);
    if !review.totals.is_empty() {
        said.push(format!("{}.", review_words::approving(&review.totals, ", ")));
    }
    if review.high_risk > 0 {
        let are = if review.high_risk == 1 { "is" } else { "are" };
        said.push(format!("Warning: {} {are} high-risk.", count(review.high_risk, "approval")));
    }
    for refused in review.refused.iter().take(NAMED) {
        let why = text::line(&Untrusted::from(refused.why.as_str())).plain();
        said.push(format!("Not sent: {}. {}", foreign(&refused.title), sentences::sentence(&why)));
    }
    rest(review.refused.len(), "not sent", &mut said);
    match &review.submission {
        None => said.push("Nothing can be sent.".to_owned()),
        Some(submission) if submission.len() <= FEW => said.extend(by_name(review)),
        Some(_) => said.push("list names all of them.".to_owned()),
    }
    for goes in &review.told {
        let words = format!("warning, {} {} on {}: {}", goes.does, goes.count, goes.source, goes.words);
        said.push(sentences::sentence(&words));
    }
    for (source, binding) in review.bound.iter().take(NAMED) {
        said.push(format!("{source} {}.", binding.promise()));
    }
    if review.submission.is_some() {
        said.push(question(review));
    }
    said
}

/// `2 batches, 8 decisions: 5 approve, 1 approve with edit, 2 exclude (final). As kim.`
fn what(review: &Review) -> String {
    let counts = review.counts;
    let last = |kind: DecisionKind| if kind.rejects() { " (final)" } else { "" };
    let some = counts.each().filter(|(_, n)| *n > 0);
    let kinds: Vec<String> =
        some.map(|(kind, n)| format!("{n} {}{}", sentences::kind(kind), last(kind))).collect();
    let batches =
        if review.batches == 1 { "1 batch".to_owned() } else { format!("{} batches", review.batches) };
    format!("{batches}, {}: {}.", count(counts.total(), "decision"), kinds.join(", "))
}

/// What to type, and why a count is asked for.
pub(crate) fn question(review: &Review) -> String {
    match &review.confirm {
        Confirm::Key => "Type yes to send, anything else goes back.".to_owned(),
        Confirm::Count(count, why) => {
            format!("{}. Type {count} to send, anything else goes back.", why.join(", "))
        }
    }
}

pub(crate) fn by_name(review: &Review) -> Vec<String> {
    let batches = review.submission.iter().flat_map(Submission::batches);
    batches
        .flat_map(SubmissionBatch::items)
        .map(|item| {
            let kind = sentences::kind(item.kind());
            format!(
                "{}: {}. Title: {}.",
                sentences::sentence(&kind).trim_end_matches('.'),
                sentences::identifier(&item.tool),
                foreign(&item.title)
            )
        })
        .collect()
}

fn warned(what: &str, titles: &[Untrusted], said: &mut Vec<String>) {
    said.extend(titles.iter().take(NAMED).map(|title| format!("{what}: {}.", foreign(title))));
    rest(titles.len(), "of these", said);
}

fn rest(all: usize, what: &str, said: &mut Vec<String>) {
    if all > NAMED {
        said.push(format!("And {} more {what}.", all - NAMED));
    }
}

/// `Sent. 5 approved, 2 rejected, 1 skipped, 3 left pending.` and a sentence for what did not go as asked.
pub(crate) fn report_lines(model: &Model, sheet: &ReportSheet) -> Vec<String> {
    let counts = sheet.report.counts();
    let all = [
        (counts.approved, "approved"),
        (counts.rejected, "rejected"),
        (counts.skipped, "skipped"),
        (counts.accepted, "accepted and settled later"),
        (counts.failed, "failed"),
        (counts.unknown, "unknown"),
        (counts.left_pending, "left pending"),
    ];
    let all: Vec<String> =
        all.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    let mut said = vec![format!("Sent. {}.", sentences::sentence(&all.join(", ")).trim_end_matches('.'))];
    said.extend(
        sheet.waits.iter().map(|(source, n)| format!("On the way: {n} to {source}, not answered yet.")),
    );
    said.extend(sheet.report.lines.iter().filter_map(trouble));
    said.extend(followed(model, sheet));
    said
}

/// A sentence for what did not go as asked, with the reason.
fn trouble(line: &ReportLine) -> Option<String> {
    let title = foreign(&line.title);
    match &line.outcome {
        Outcome::Approved | Outcome::Rejected | Outcome::Accepted => None,
        Outcome::Skipped { status, by } => {
            let why = text::skipped(line.decision, status.as_ref(), by.as_ref()).plain();
            Some(format!("Skipped: {title}. {}", sentences::sentence(&why)))
        }
        Outcome::Failed { why } => {
            Some(format!("Failed: {title}. It stays staged. {}", sentences::sentence(&foreign(why))))
        }
        Outcome::Unknown { why } => Some(format!(
            "Unknown: {title}. It is looked for again and not sent again. {}",
            sentences::sentence(&foreign(why))
        )),
    }
}

/// How far those have come that were approved, or accepted to be settled later.
fn followed(model: &Model, sheet: &ReportSheet) -> Vec<String> {
    let approved = |line: &&ReportLine| matches!(line.outcome, Outcome::Approved | Outcome::Accepted);
    let total = sheet.report.lines.iter().filter(approved).count();
    if total == 0 {
        return Vec::new();
    }
    let mut ended: HashMap<String, usize> = HashMap::new();
    for followed in sheet.followed.values().filter(|followed| followed.status.is_final()) {
        *ended.entry(sentences::status(&followed.status)).or_default() += 1;
    }
    let open = total.saturating_sub(ended.values().sum());
    let mut said: Vec<String> = ended.into_iter().map(|(word, n)| format!("{n} {word}")).collect();
    said.sort();
    if open > 0 {
        said.push(format!("{open} not finished"));
    }
    let approvals = sheet.report.lines.iter().filter(approved).all(|line| line.decision.approves());
    let since = if approvals { "After approval" } else { "Since then" };
    let mut said = vec![format!("{since}: {}.", said.join(", "))];
    if sheet.report.lines.iter().filter(approved).any(|line| model.is_paused(&line.key.source)) {
        said.push("The source is paused: approved actions do not run until someone resumes it.".to_owned());
    }
    let lost = sheet.followed.values().filter(|it| matches!(it.status, Status::Failed | Status::Unknown));
    let mut lost: Vec<String> = lost
        .map(|it| {
            let why = it.error.as_ref().map_or_else(String::new, |why| format!(" {}.", foreign(why)));
            format!(
                "{}: {}.{why}",
                sentences::sentence(&sentences::status(&it.status)).trim_end_matches('.'),
                foreign(&it.title)
            )
        })
        .collect();
    lost.sort();
    said.extend(lost);
    said
}
