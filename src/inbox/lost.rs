//! Decisions whose outcome nobody knows, from the journal: they are shown until somebody says what became of them.

use super::core::Inbox;
use super::problem::Problem;
use crate::domain::{
    ActionKey, BatchKey, Capabilities, Entry, Outcome, Report, ReportLine, Resolution, Resolved, Risk, Row,
    Status, Timestamp, Untrusted,
};
use crate::journal::{Sent, State, SubmissionRecord};

impl Inbox {
    /// Decisions whose outcome nobody knows, as rows, by the journal: also where the source has no row of them any more.
    pub async fn lost(&self) -> Result<Vec<Entry>, Problem> {
        let open = self.journal.open_ones().await?;
        let entries = open.iter().flat_map(|past| {
            let Report { lines, .. } = past.report();
            let unknown = lines.into_iter().filter(|line| matches!(line.outcome, Outcome::Unknown { .. }));
            unknown.map(|line| stand_in(&line, past.begun_at)).collect::<Vec<_>>()
        });
        Ok(entries.collect())
    }

    /// Settles earlier decisions on these actions that were lost sight of: a later one succeeded, so they did not land.
    pub(super) async fn disprove(&self, later: &[&ActionKey]) -> Result<(), Problem> {
        for past in self.journal.open_ones().await? {
            let is_lost = |sent: &&Sent| later.contains(&&sent.key) && is_lost(sent);
            let why =
                || Outcome::Failed { why: "it did not land: a later decision on this action did".into() };
            let outcomes: Vec<_> =
                past.items.iter().filter(is_lost).map(|sent| (sent.key.clone(), why())).collect();
            if outcomes.is_empty() {
                continue;
            }
            self.journal.note(&past.id, &outcomes).await?;
            if !past.items.iter().any(|sent| sent.is_open() && !later.contains(&&sent.key)) {
                self.journal.finish(&past.id, State::Done).await?;
            }
        }
        Ok(())
    }
}

fn is_lost(sent: &Sent) -> bool {
    matches!(sent.outcome, None | Some(Outcome::Unknown { .. }))
}

/// A row for a decision of which the source may have none: what the journal knows of it.
pub fn stand_in(line: &ReportLine, begun_at: Timestamp) -> Entry {
    let batch = match &line.batch {
        BatchKey::Batch(_, batch) => Some(batch.clone()),
        BatchKey::Alone(_) => None,
    };
    let row = Row {
        batch,
        // The journal does not keep it.
        risk: Risk::parse("?"),
        status: Status::Unknown,
        created_at: begun_at,
        can: Capabilities::PLAIN,
        ..Row::new(line.key.id.clone(), line.tool.clone(), line.title.clone())
    };
    Entry { key: line.key.clone(), row }
}

/// A decision from here that was lost sight of: one of a submission.
pub(super) struct Lost {
    past: SubmissionRecord,
    nth: usize,
}

/// The decision on this action that was lost sight of; `None` where the journal has none.
pub(super) async fn find(inbox: &Inbox, key: &ActionKey) -> Result<Option<Lost>, Problem> {
    let Some(id) = inbox.journal.newest_about(key).await? else { return Ok(None) };
    let Some(past) = inbox.journal.past(&id).await? else { return Ok(None) };
    let nth = past.items.iter().position(|sent| sent.key == *key && is_lost(sent));
    Ok(nth.map(|nth| Lost { past, nth }))
}

impl Lost {
    /// Writes down what a human says became of it.
    pub(super) async fn resolve(
        &self,
        inbox: &Inbox,
        finding: Resolution,
        reason: Option<&str>,
    ) -> Result<Resolved, Problem> {
        let again = || Problem {
            source: None,
            what: "the decision is not sent a second time from here".to_owned(),
            why: Some("say whether it landed; what did not land is decided anew".into()),
        };
        let sent = self.past.items.get(self.nth).ok_or_else(again)?;
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        let (outcome, status) = match (finding, &sent.decision) {
            (Resolution::RunAgain, _) => return Err(again()),
            (Resolution::NotLanded, _) => {
                let why = Untrusted::from(format!("it did not land, said by hand{reason}"));
                (Outcome::Failed { why }, Status::Failed)
            }
            (Resolution::Landed, decision) => Outcome::landed(decision.kind()),
        };
        let id = &self.past.id;
        inbox.journal.note(id, &[(sent.key.clone(), outcome)]).await?;
        if finding == Resolution::Landed {
            let said = format!("said by hand{reason}");
            inbox.journal.followed(&sent.key, status.as_raw(), Some(&said)).await?;
        }
        if !self.past.items.iter().any(|other| other.key != sent.key && other.is_open()) {
            inbox.journal.finish(id, State::Done).await?;
        }
        Ok(Resolved::Settled(status))
    }
}
