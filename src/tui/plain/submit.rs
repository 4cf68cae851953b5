//! Submitting in plain mode: the review as sentences, the question, and the exact answer that sends.

use std::collections::HashMap;

use crate::domain::{
    Confirm, DecisionKind, Look, Outcome, ReportLine, Submission, SubmissionBatch, Timestamp, Untrusted,
};
use crate::text;
use crate::text::count;
use crate::tui::chrome;
use crate::tui::core::command::Command;
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Intent, SheetLines, What};
use crate::tui::plain::words;
use crate::tui::preview::page::line::listed;
use crate::tui::queue;
use crate::tui::submit::state::{ReportSheet, Review, ReviewSheet};
use crate::tui::submit::words as review_words;

use super::decide::SETTLE;
use super::sentences;
use super::sentences::foreign;
use super::session::{Session, Turn};

pub(crate) fn submit(session: &mut Session, rest: &str) {
    let command = match rest {
        "" | "all" => Command::ReviewAll,
        "batch" => Command::ReviewBatch,
        _ => {
            return session.say(words::SAY_SUBMIT);
        }
    };
    session.give(Intent::Command(command));
    if session.model.sheet.is::<ReviewSheet>() {
        session.turn = Turn::Reviewing;
    } else if session.model.decide.draft.is_empty() {
        session.heard();
        session.say(words::NOTHING_STAGED);
    } else {
        session.say_heard();
    }
}

/// Reads the review out once its actions are loaded, and asks the question. Returns false until then.
pub(crate) fn reviewed(session: &mut Session) -> bool {
    let Some(open) = session.model.sheet.get::<ReviewSheet>() else {
        session.turn = Turn::Word;
        session.say(words::REVIEW_CLOSED);
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

/// Sends if the answer is exact; anything else cancels.
pub(crate) fn answer(session: &mut Session, answer: &str, at: Timestamp, asked: Timestamp) {
    let Some(open) = session.model.sheet.get::<ReviewSheet>() else {
        session.turn = Turn::Word;
        return session.say(words::REVIEW_CLOSED);
    };
    let Some(review) = &open.review else { return };
    if session.how.interactive && at.since(asked) < SETTLE {
        let said = words::typed_before(&question(review));
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
        session.say(&words::confirmed(seconds));
    } else if session.model.submit.sending.is_some() {
        session.say(&heard.unwrap_or_else(|| sending(&session.model)));
    } else {
        session.say(words::STAYS_STAGED);
    }
}

pub(crate) fn sending(model: &Model) -> String {
    let all = model.submit.progress.values().flat_map(|progress| progress.values());
    format!("Sending {}.", count(all.map(|(_, all)| all).sum(), "decision"))
}

pub(crate) fn last(session: &mut Session) {
    match session.model.submit.last_report.clone() {
        None => session.say(&sentences::sentence(review_words::NOTHING_WAS_SENT_YET)),
        Some(report) => session.say_all(&report_lines(&session.model, &report)),
    }
}

const NAMED: usize = 5;
const FEW: usize = 10;

pub(crate) fn review_lines(model: &Model, sheet: &ReviewSheet, review: &Review) -> Vec<String> {
    let mut said = Vec::new();
    if review.submission.is_some() {
        said.push(what(review));
    }
    if sheet.scope.is_some() {
        let other = model.unsent().saturating_sub(sheet.keys.len());
        said.push(words::batch_only(&count(other, words::OTHER_DECISION)));
    }
    if review.left_pending > 0 {
        said.push(sentences::sentence(&review_words::left(review.left_pending, review.batches)));
    }
    for (title, keys) in review.edited.iter().take(NAMED) {
        said.push(words::edited_keys(&foreign(title), &listed(keys)));
    }
    rest(review.edited.len(), "edited", &mut said);
    warned(words::WARNING_UNREAD, &review.unopened, &mut said);
    warned(words::WARNING_CHANGED, &review.changed, &mut said);
    for (title, became) in review.same.iter().take(NAMED) {
        said.push(words::same(&foreign(title), became));
    }
    rest(review.same.len(), queue::words::SAME_AS_ANOTHER, &mut said);
    if !review.totals.is_empty() {
        said.push(format!("{}.", review_words::approving(&review.totals, ", ")));
    }
    let risks = [(review.high_risk, review_words::HIGH_RISK), (review.critical, review_words::CRITICAL)];
    for (n, risk) in risks.into_iter().filter(|(n, _)| *n > 0) {
        let are = if n == 1 { "is" } else { "are" };
        said.push(words::are_risky(&count(n, "approval"), are, risk));
    }
    for refused in review.refused.iter().take(NAMED) {
        let why = text::line(&Untrusted::from(refused.why.as_str())).plain();
        said.push(words::not_sent(&foreign(&refused.title), &sentences::sentence(&why)));
    }
    rest(review.refused.len(), review_words::NOT_SENT_EITHER, &mut said);
    match &review.submission {
        None => said.push(words::NOTHING_CAN_BE_SENT.to_owned()),
        Some(submission) if submission.len() <= FEW => said.extend(by_name(review)),
        Some(_) => said.push(words::LIST_NAMES_ALL.to_owned()),
    }
    for goes in &review.told {
        let words = words::warning(goes.does, goes.count, &goes.source, &goes.words);
        said.push(sentences::sentence(&words));
    }
    for (source, binding) in review.bound.iter().take(NAMED) {
        said.push(review_words::promise(source, *binding));
    }
    if review.submission.is_some() {
        said.push(question(review));
    }
    said
}

/// Returns `2 batches, 8 decisions: 5 approve, 1 approve with edit, 2 exclude (final). As kim.`
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

pub(crate) fn question(review: &Review) -> String {
    match &review.confirm {
        Confirm::Key => words::TYPE_YES.to_owned(),
        Confirm::Count(count, why) => words::type_count(&why.join(", "), *count),
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
    rest(titles.len(), words::OF_THESE, said);
}

fn rest(all: usize, what: &str, said: &mut Vec<String>) {
    if all > NAMED {
        said.push(words::and_more_of(all - NAMED, what));
    }
}

/// Returns `Sent. 5 approved, 2 rejected, 1 skipped, 3 left pending.`, and a sentence for each problem.
pub(crate) fn report_lines(model: &Model, sheet: &ReportSheet) -> Vec<String> {
    let counts = sheet.report.counts();
    let partly = |line: &&ReportLine| matches!(line.outcome, Outcome::PartlyApproved { .. });
    let partly = sheet.report.lines.iter().filter(partly).count() as u64;
    let split = |(look, n): (Look, u64)| {
        let later = if look == Look::ACCEPTED { n - partly } else { 0 };
        [(look.word, n - later), (words::ACCEPTED_AND_SETTLED_LATER, later)]
    };
    let left = (review_words::LEFT_PENDING, counts.left_pending);
    let all = counts.each().into_iter().flat_map(split).chain([left]);
    let all: Vec<String> = all.filter(|(_, n)| *n > 0).map(|(word, n)| format!("{n} {word}")).collect();
    let mut said = vec![format!("Sent. {}.", sentences::sentence(&all.join(", ")).trim_end_matches('.'))];
    said.extend(sheet.waits.iter().map(|(source, n)| words::on_the_way(*n, source)));
    said.extend(sheet.report.lines.iter().filter_map(|line| trouble(model, line)));
    said.extend(followed(model, sheet));
    said
}

/// Returns a sentence for a decision that was not accepted as requested.
fn trouble(model: &Model, line: &ReportLine) -> Option<String> {
    let (title, outcome) = (foreign(&line.title), &line.outcome);
    let reason = text::reason(outcome, model.people.who(&line.key, outcome.by()))?.plain();
    match outcome {
        Outcome::Approved | Outcome::Rejected | Outcome::Accepted => None,
        Outcome::PartlyApproved { .. } => Some(words::accepted(&title, &reason)),
        Outcome::Skipped { .. } => Some(format!("Skipped: {title}. {}", sentences::sentence(&reason))),
        Outcome::Failed { why } => Some(words::failed(&title, &sentences::sentence(&foreign(why)))),
        Outcome::Unknown { why } => Some(words::lost(&title, &sentences::sentence(&foreign(why)))),
    }
}

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
        said.push(words::not_finished(open));
    }
    let approvals = sheet.report.lines.iter().filter(approved).all(|line| line.decision.approves());
    let since = if approvals { words::AFTER_APPROVAL } else { words::SINCE_THEN };
    let mut said = vec![format!("{since}: {}.", said.join(", "))];
    if sheet.report.lines.iter().filter(approved).any(|line| model.is_paused(&line.key.source)) {
        said.push(words::SOURCE_PAUSED.to_owned());
    }
    let lost = sheet.followed.values().filter(|it| it.is_trouble());
    let mut lost: Vec<String> = lost
        .map(|it| {
            let why = it.error.as_ref().map_or_else(String::new, |why| format!(" {}.", foreign(why)));
            format!(
                "{}: {}.{why}",
                sentences::sentence(&if it.failed_undo() {
                    chrome::words::UNDO_FAILED.to_owned()
                } else {
                    sentences::status(&it.status)
                })
                .trim_end_matches('.'),
                foreign(&it.title)
            )
        })
        .collect();
    lost.sort();
    said.extend(lost);
    said
}
