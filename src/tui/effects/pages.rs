//! Pages of what is over, as the screen's lists take them.

use crate::domain::{BatchKey, Capabilities, Entry, Outcome, Risk, Row, Status};
use crate::inbox::{Inbox, Problem};
use crate::journal::{Past, Sent};
use crate::tui::model::{Ask, Own, ViewPage, ViewRow};

use super::caught;
use crate::tui::clock::now;

/// So many submissions of the journal are a page of its history.
const SUBMISSIONS: u32 = 50;

/// What failed as a whole is a problem on a page without rows.
pub(super) async fn read(inbox: Inbox, ask: Ask) -> ViewPage {
    let answer = match ask {
        Ask::Listed { statuses, next } => {
            caught(async move {
                let listing = inbox.listed(&statuses, next).await;
                let row = |entry| ViewRow { entry, own: None };
                Ok(ViewPage {
                    rows: listing.entries.into_iter().map(row).collect(),
                    next: listing.next.map(|next| Ask::Listed { statuses, next: Some(next) }),
                    problems: listing.problems,
                    unreadable: listing.unreadable.len(),
                    at: listing.at,
                })
            })
            .await
        }
        Ask::Decided { skip } => caught(decided(inbox, skip)).await,
    };
    answer.unwrap_or_else(|problem| ViewPage { problems: vec![problem], at: now(), ..ViewPage::default() })
}

async fn decided(inbox: Inbox, skip: u32) -> Result<ViewPage, Problem> {
    let past = inbox.decided(skip, SUBMISSIONS).await?;
    let more = past.len() == SUBMISSIONS as usize;
    Ok(ViewPage {
        rows: past.iter().flat_map(|past| past.items.iter().map(|sent| row(past, sent))).collect(),
        next: more.then_some(Ask::Decided { skip: skip.saturating_add(SUBMISSIONS) }),
        at: now(),
        ..ViewPage::default()
    })
}

/// A row with what the journal knows: where the action stands now is read when the row is on screen.
fn row(past: &Past, sent: &Sent) -> ViewRow {
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
        Some(Outcome::Failed { .. }) => Status::Pending,
        Some(Outcome::Skipped { status: None, .. } | Outcome::Unknown { .. }) | None => Status::Unknown,
    };
    let row = Row {
        batch,
        // The journal did not always keep it.
        risk: sent.risk.clone().unwrap_or_else(|| Risk::parse("?")),
        status,
        created_at: past.begun_at,
        digest: Some(sent.digest),
        ..Row::new(sent.key.id.clone(), sent.tool.clone(), sent.title.clone())
    };
    let (decision, outcome) = (sent.decision.kind(), sent.outcome.clone());
    let own = Own { decision, at: past.begun_at, outcome, ended };
    ViewRow { entry: Entry { key: sent.key.clone(), row, can: Capabilities::READ_ONLY }, own: Some(own) }
}
