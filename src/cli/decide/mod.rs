//! `placet decide`: decides without a screen, on the inbox's path: draft, freeze, journal, source, report.

mod dry;
mod plan;
mod requested;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tokio::sync::mpsc;

use self::dry::DryRun;
use self::plan::{Plan, plan};
pub use self::requested::DecideArgs;
use super::exit::Exit;
use super::find::{SearchedId, find};
use super::output::{self, problem};
use super::report;
use crate::domain::{
    ActionKey, BatchKey, Draft, Entry, Followed, Outcome, PendingAction, Refusal, Report, ReportLine,
    Submission, SubmissionId, Timestamp, freeze, in_sending_order,
};
use crate::inbox::{Inbox, Problem, Sending, with_edited_titles};
use crate::text;

pub async fn run(inbox: &Inbox, args: &DecideArgs, now: Timestamp) -> anyhow::Result<Exit> {
    if !args.take_back.is_empty() {
        return take_back(inbox, args).await;
    }
    if !args.dry_run {
        tell_of_earlier(inbox).await;
    }
    let (mut plan, missing) = plan(inbox, args, now).await?;
    if let Some(worst) = missing.iter().map(|missing| missing.exit).max_by_key(|exit| exit.code())
        && !args.dry_run
    {
        for missing in &missing {
            output::complain(&problem(&missing.problem));
        }
        return Ok(worst);
    }
    let entries = entries(inbox, &plan.loaded).await;
    if args.dry_run {
        let (submission, refused) = rehearse(&mut plan, &entries, now);
        return dry::print(&plan, &DryRun { submission, refused, missing }, args.json);
    }
    let id = SubmissionId::new(uuid::Uuid::now_v7().to_string());
    let mut report = Report { id: id.clone(), lines: Vec::new(), left_pending: 0 };
    let mut replaced = HashMap::new();
    if !plan.draft.is_empty() {
        let submission = match frozen(id, &plan, &entries, now) {
            Ok(submission) => submission,
            Err(refusal) => {
                let about = refusal.key().map(|key| format!("{}: ", output::identifier(key.id.untrusted())));
                let how =
                    if matches!(refusal, Refusal::AnswerRequired(_)) { " (userEdits in --from)" } else { "" };
                output::complain(&format!("{}{refusal}{how}; nothing was sent", about.unwrap_or_default()));
                return Ok(Exit::Failed);
            }
        };
        replaced = dry::decisions(Some(&submission))
            .filter_map(|(key, _, item)| plan.replaces(&key, item).map(|words| (key, words)))
            .collect();
        report = match send(inbox, submission, left_pending(&entries, &plan.draft)).await {
            Ok(report) => report,
            Err(not_sent) => {
                output::complain(&problem(&not_sent));
                return Ok(Exit::Failed);
            }
        };
    }
    report.lines.extend(plan.settled);
    let followed = follow(inbox, &mut report, args.follow).await;
    report::print(&report, &followed, &replaced, args.json)?;
    Ok(exit(&report, &followed))
}

/// Takes approvals back, one after another. A failure does not stop the others.
async fn take_back(inbox: &Inbox, args: &DecideArgs) -> anyhow::Result<Exit> {
    let sought = |id| SearchedId { id, source: args.source.as_deref(), may_begin: true };
    let sought: Vec<_> = args.take_back.iter().map(|id| sought(id)).collect();
    let mut exit = Exit::Done;
    for found in find(inbox, &sought).await? {
        let answer = match found {
            Ok((key, action)) => inbox.take_back_approval(&key).await.map(|()| action),
            Err(not_found) => Err(not_found.problem),
        };
        match answer {
            Ok(action) => {
                output::line(&format!("your approval is taken back: {}", output::shown(&action.row.title)))?;
            }
            Err(failed) => {
                output::complain(&problem(&failed));
                exit = Exit::Failed;
            }
        }
    }
    Ok(exit)
}

/// Returns the exit code of the report. An approved action that failed later, or a failed undo, counts as a failure.
fn exit(report: &Report, followed: &HashMap<ActionKey, Followed>) -> Exit {
    let failed_later = report.lines.iter().any(|line| {
        let Some(later) = followed.get(&line.key) else { return false };
        later.is_trouble() && (line.outcome == Outcome::Approved || later.failed_undo())
    });
    if failed_later { Exit::Failed } else { Exit::of(&report.counts()) }
}

fn frozen(
    id: SubmissionId,
    plan: &Plan,
    entries: &HashMap<ActionKey, Entry>,
    now: Timestamp,
) -> Result<Submission, Refusal> {
    let pending_in = |batch: &BatchKey| {
        let pending = entries.values().filter(|entry| entry.row.status.is_pending());
        pending.filter(|entry| entry.batch() == *batch).count()
    };
    if let Some((key, why)) = plan.flagged.iter().find(|(key, _)| plan.draft.get(key).is_some()) {
        return Err(Refusal::Flagged(key.clone(), why.clone()));
    }
    let mut staged: Vec<_> = plan.order.iter().filter_map(|key| Some((key, plan.draft.get(key)?))).collect();
    if !plan.as_given {
        in_sending_order(&mut staged, &plan.loaded);
    }
    freeze(id, staged, &with_edited_titles(&plan.loaded, &plan.draft), pending_in, now)
}

/// Freezes repeatedly, without the refused decisions, until every refusal is known.
fn rehearse(
    plan: &mut Plan,
    entries: &HashMap<ActionKey, Entry>,
    now: Timestamp,
) -> (Option<Submission>, Vec<(Option<ActionKey>, Refusal)>) {
    let mut refused = Vec::new();
    while !plan.draft.is_empty() {
        match frozen(SubmissionId::new("dry-run"), plan, entries, now) {
            Ok(submission) => return (Some(submission), refused),
            Err(refusal) => {
                let key = refusal.key().cloned();
                refused.push((key.clone(), refusal));
                let Some(key) = key else { break };
                plan.draft.stage([(key, None)]);
            }
        }
    }
    (None, refused)
}

async fn send(inbox: &Inbox, submission: Submission, left_pending: u64) -> Result<Report, Problem> {
    let all = text::count(submission.len(), "decision");
    let (told, mut heard) = mpsc::channel::<Sending>(8);
    let answered = RefCell::new(HashMap::new());
    let counting = async {
        while let Some(told) = heard.recv().await {
            if let Sending::Answered(source, n) = told {
                answered.borrow_mut().insert(source, n);
            }
        }
    };
    let sending = async { tokio::join!(inbox.submit_telling(submission, left_pending, told), counting).0 };
    let so_far = || format!("{} of {all} answered", answered.borrow().values().sum::<usize>());
    output::waiting_for(so_far, sending).await
}

/// Reads open decisions of earlier runs and prints their outcomes, because this run may concern the same actions.
async fn tell_of_earlier(inbox: &Inbox) {
    match inbox.reconcile().await {
        Err(failed) => output::complain(&problem(&failed)),
        Ok(settled) => {
            for earlier in settled.iter().filter(|earlier| !earlier.learnt.is_empty()) {
                let counts = earlier.report.counts();
                let accepted = Some(counts.accepted).filter(|n| *n > 0);
                output::complain(&format!(
                    "earlier decisions, read again: {} approved, {} rejected, {} skipped, {} failed, {} unknown{}",
                    counts.approved,
                    counts.rejected,
                    counts.skipped,
                    counts.failed,
                    counts.unknown,
                    accepted.map_or_else(String::new, |n| format!(", {n} accepted and not settled yet"))
                ));
            }
        }
    }
}

/// Reads the pending actions of the sources involved, to count those left undecided.
async fn entries(inbox: &Inbox, loaded: &HashMap<ActionKey, PendingAction>) -> HashMap<ActionKey, Entry> {
    let mut sources: Vec<_> = loaded.keys().map(|key| key.source.clone()).collect();
    sources.sort();
    sources.dedup();
    let mut entries = HashMap::new();
    for source in sources {
        if let Ok(synced) = inbox.sync(&source, None).await {
            let rows = synced.rows.into_entries();
            entries.extend(rows.into_iter().map(|entry| (entry.key.clone(), entry)));
        }
    }
    for (key, action) in loaded {
        // A settled action is not in the list. Freezing refuses it with its own message.
        let settled = || Entry { key: key.clone(), row: action.row.clone() };
        entries.entry(key.clone()).or_insert_with(settled);
    }
    entries
}

fn left_pending(entries: &HashMap<ActionKey, Entry>, draft: &Draft) -> u64 {
    let batches: HashSet<_> = draft.iter().map(|(_, staged)| &staged.batch).collect();
    let waiting =
        entries.values().filter(|entry| entry.row.status.is_pending() && draft.get(&entry.key).is_none());
    waiting.filter(|entry| batches.contains(&entry.batch())).count() as u64
}

/// Returns the state of approved actions: from the answers, and with a limit also what is learnt until then. Updates
/// the report with the outcomes of accepted decisions.
async fn follow(inbox: &Inbox, report: &mut Report, seconds: Option<u64>) -> HashMap<ActionKey, Followed> {
    let told = inbox.ended(report).into_iter();
    let mut latest: HashMap<_, _> = told.map(|followed| (followed.key.clone(), followed)).collect();
    let Some(seconds) = seconds else { return latest };
    let open = |line: &&ReportLine| line.outcome == Outcome::Approved || line.outcome.is_accepted();
    let keys: Vec<ActionKey> = report.lines.iter().filter(open).map(|line| line.key.clone()).collect();
    let open_actions = keys.len();
    let (changes, mut received) = mpsc::channel(64);
    let following = inbox.follow(keys, Duration::from_secs(seconds), changes);
    let collecting = async {
        while let Some(followed) = received.recv().await {
            let before = latest.remove(&followed.key).and_then(|it: Followed| it.outcome);
            let outcome = followed.outcome.clone().or(before);
            latest.insert(followed.key.clone(), Followed { outcome, ..followed });
        }
    };
    let all = text::count(open_actions, "action");
    output::waiting_for(|| format!("following {all}"), async { tokio::join!(following, collecting) }).await;
    for line in &mut report.lines {
        if let Some(outcome) = latest.get(&line.key).and_then(|it| it.outcome.clone()) {
            line.outcome = outcome;
        }
    }
    latest
}
