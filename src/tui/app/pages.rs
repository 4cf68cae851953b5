//! Reads pages of ended actions for the screen's lists.

use super::caught::caught;
use super::clock::now;
use crate::domain::{BatchKey, Entry, Outcome, Row, Status};
use crate::inbox::{Inbox, Problem};
use crate::journal::{Sent, SubmissionRecord};
use crate::tui::history::state::{OwnDecision, PageRequest, ViewPage, ViewRow};

/// Submissions per page of this machine's decisions.
const SUBMISSIONS: u32 = 50;

pub(super) async fn read(inbox: Inbox, ask: PageRequest) -> ViewPage {
    let answer = match ask {
        PageRequest::Listed { statuses, next, then_ours } => {
            caught(async move {
                let listing = inbox.listed(None, &statuses, next).await;
                let row = |entry| ViewRow { entry, own: None };
                let on = |next| PageRequest::Listed { statuses, next: Some(next), then_ours };
                let ours = then_ours.then_some(PageRequest::Decided { skip: 0 });
                Ok(ViewPage {
                    rows: listing.entries.into_iter().map(row).collect(),
                    next: listing.next.map(on).or(ours),
                    problems: listing.problems,
                    unreadable: listing.unreadable.len(),
                    at: listing.at,
                })
            })
            .await
        }
        PageRequest::Decided { skip } => caught(decided(inbox, skip)).await,
    };
    answer.unwrap_or_else(|problem| ViewPage { problems: vec![problem], at: now(), ..ViewPage::default() })
}

async fn decided(inbox: Inbox, skip: u32) -> Result<ViewPage, Problem> {
    let past = inbox.decided(skip, SUBMISSIONS).await?;
    let more = past.len() == SUBMISSIONS as usize;
    Ok(ViewPage {
        rows: past.iter().flat_map(|past| past.items.iter().map(|sent| row(past, sent))).collect(),
        next: more.then_some(PageRequest::Decided { skip: skip.saturating_add(SUBMISSIONS) }),
        at: now(),
        ..ViewPage::default()
    })
}

/// Returns a row with the journal's knowledge. The current status is read once the row is on screen.
fn row(past: &SubmissionRecord, sent: &Sent) -> ViewRow {
    let batch = match &sent.batch {
        BatchKey::Batch(_, batch) => Some(batch.clone()),
        BatchKey::Alone(_) => None,
    };
    let ended = sent.followed.as_ref().map(|seen| seen.status.clone());
    let ended = ended.filter(|_| sent.outcome == Some(Outcome::Approved));
    let status = match &sent.outcome {
        Some(Outcome::Approved) => ended.clone().unwrap_or(Status::Approved),
        Some(Outcome::Accepted) => Status::Other("accepted".into()),
        Some(Outcome::Rejected) => Status::Rejected,
        Some(Outcome::Skipped { status: Some(status), .. }) => status.clone(),
        Some(Outcome::Failed { .. } | Outcome::PartlyApproved { .. }) => Status::Pending,
        Some(Outcome::Skipped { status: None, .. } | Outcome::Unknown { .. }) | None => Status::Unknown,
    };
    let row = Row {
        batch,
        risk: sent.risk.clone(),
        status,
        created_at: past.begun_at,
        digest: Some(sent.digest),
        ..Row::new(sent.key.id.clone(), sent.tool.clone(), sent.title.clone())
    };
    let (decision, outcome) = (sent.decision.kind(), sent.outcome.clone());
    let own = OwnDecision { decision, at: past.begun_at, outcome, ended };
    ViewRow { entry: Entry { key: sent.key.clone(), row }, own: Some(own) }
}
