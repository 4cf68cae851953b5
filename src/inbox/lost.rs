//! Decisions with an unknown outcome, from the journal. They are shown until somebody resolves them.

use super::core::Inbox;
use super::problem::Problem;
use crate::domain::{
    ActionKey, BatchKey, Capabilities, Entry, Outcome, PendingAction, RawJson, Resolution, Resolved, Row,
    Status, Timestamp, Untrusted, merge,
};
use crate::journal::{Sent, State, SubmissionRecord};

impl Inbox {
    /// Returns decisions with an unknown outcome as rows, also if the source has no row of them.
    pub async fn lost(&self) -> Result<Vec<Entry>, Problem> {
        let open = self.journal.open_ones().await?;
        Ok(open.iter().flat_map(rows).collect())
    }

    /// Returns the journal's copy of an action with a lost decision; `None` if the outcome is known.
    pub(super) async fn kept(&self, key: &ActionKey) -> Option<PendingAction> {
        let Lost { past, nth } = find(self, key).await.ok()??;
        let sent = past.items.get(nth)?;
        let input = sent.input.clone()?;
        let (kind, edits) = (sent.decision.kind(), sent.decision.edits());
        let mut row = Row { resolved_at: Some(past.begun_at), ..row(sent, past.begun_at) };
        if !kind.approves() {
            row.status = Status::Other(format!("{} sent, outcome unknown", kind.word()).into());
        }
        let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
        let raw = format!(
            r#"{{"id":{},"toolName":{},"title":{},"status":"unknown","toolInput":{}}}"#,
            text(key.id.as_raw()),
            text(row.tool.as_raw()),
            text(row.title.as_raw()),
            input.as_str()
        );
        let why = match &sent.outcome {
            Some(Outcome::Unknown { why }) => Some(why.clone()),
            _ => None,
        };
        Some(PendingAction {
            effective_input: edits.and_then(|edits| merge(&input, edits).ok()),
            user_edits: edits.cloned(),
            reason: sent.decision.said().map(Untrusted::from),
            error: why,
            ..PendingAction::new(row, input, RawJson::parse(raw).ok()?)
        })
    }

    /// Records that earlier lost decisions on these actions did not land, because a later one succeeded.
    pub(super) async fn disprove(&self, later: &[&ActionKey]) -> Result<(), Problem> {
        for past in self.journal.open_ones().await? {
            let is_lost = |sent: &&Sent| later.contains(&&sent.key) && sent.is_lost();
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

pub(super) fn rows(past: &SubmissionRecord) -> Vec<Entry> {
    let lost = past.items.iter().filter(|sent| sent.is_lost());
    lost.map(|sent| Entry { key: sent.key.clone(), row: row(sent, past.begun_at) }).collect()
}

fn row(sent: &Sent, begun_at: Timestamp) -> Row {
    let batch = match &sent.batch {
        BatchKey::Batch(_, batch) => Some(batch.clone()),
        BatchKey::Alone(_) => None,
    };
    Row {
        batch,
        risk: sent.risk.clone(),
        status: Status::Unknown,
        created_at: begun_at,
        can: Capabilities::PLAIN,
        ..Row::new(sent.key.id.clone(), sent.tool.clone(), sent.title.clone())
    }
}

/// A decision from here without a known outcome.
pub(super) struct Lost {
    past: SubmissionRecord,
    nth: usize,
}

pub(super) async fn find(inbox: &Inbox, key: &ActionKey) -> Result<Option<Lost>, Problem> {
    let Some(id) = inbox.journal.newest_about(key).await? else { return Ok(None) };
    let Some(past) = inbox.journal.past(&id).await? else { return Ok(None) };
    let nth = past.items.iter().position(|sent| sent.key == *key && sent.is_lost());
    Ok(nth.map(|nth| Lost { past, nth }))
}

impl Lost {
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
                let why = Untrusted::from(format!("a reviewer marked it as not received{reason}"));
                (Outcome::Failed { why }, Status::Failed)
            }
            (Resolution::Landed, decision) => Outcome::landed(decision.kind()),
        };
        let id = &self.past.id;
        inbox.journal.note(id, &[(sent.key.clone(), outcome)]).await?;
        if finding == Resolution::Landed {
            let said = format!("a reviewer marked it as received{reason}");
            inbox.journal.followed(&sent.key, status.as_raw(), Some(&said)).await?;
        }
        if !self.past.items.iter().any(|other| other.key != sent.key && other.is_open()) {
            inbox.journal.finish(id, State::Done).await?;
        }
        Ok(Resolved::Settled(status))
    }
}
