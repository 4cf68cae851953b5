//! Recently approved actions, to detect a repeated proposal that may be a mistake.

use super::core::Inbox;
use super::timeouts::Wait;
use crate::clock;
use crate::domain::{ActionKey, Digest, ListQuery, Outcome, SourceName, Status, Timestamp, Untrusted};

/// Milliseconds for which approved actions are remembered.
pub const DAY: i64 = 24 * 60 * 60 * 1_000;
const ROWS: u32 = 200;
/// Submissions of the journal to search if the source has no history.
const SUBMISSIONS: u32 = 50;

/// An approved action, which has run or will run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    pub key: ActionKey,
    pub workspace: Option<Untrusted>,
    pub tool: Untrusted,
    pub title: Untrusted,
    /// Digest of its input, if known.
    pub digest: Option<Digest>,
    pub at: Timestamp,
}

impl Inbox {
    /// Returns actions approved within a day, from the source's history or else the journal. Empty if neither can be
    /// read, because this is only a hint.
    pub async fn ran_lately(&self, source: &SourceName) -> Vec<Ran> {
        let since = clock::now().plus_millis(-DAY);
        let lists = self.source(source).is_ok_and(|source| source.records().lists);
        let ran = if lists { self.ran_by_source(source).await } else { self.ran_by_journal(source).await };
        ran.unwrap_or_default().into_iter().filter(|ran| ran.at >= since).collect()
    }

    async fn ran_by_source(&self, name: &SourceName) -> Option<Vec<Ran>> {
        let statuses = Status::RAN.to_vec();
        let query = ListQuery { statuses, tool: None, cursor: None, limit: ROWS };
        let source = self.source(name).ok()?;
        let listed = source.ask_able(Wait::Look, |able| Some(able.history?.listed(&query))).await.ok()??;
        let ran = listed.rows.into_iter().filter_map(|row| {
            let key = ActionKey { source: name.clone(), id: row.id };
            let (workspace, tool, title) = (row.workspace, row.tool, row.title);
            Some(Ran { key, workspace, tool, title, digest: row.digest, at: row.resolved_at? })
        });
        Some(ran.collect())
    }

    async fn ran_by_journal(&self, name: &SourceName) -> Option<Vec<Ran>> {
        let past = self.decided(0, SUBMISSIONS).await.ok()?;
        let mut ran = Vec::new();
        for submission in past {
            let at = submission.begun_at;
            let approved = |outcome: &Outcome| matches!(outcome, Outcome::Approved | Outcome::Accepted);
            let sent = submission.items.into_iter().filter(|sent| {
                sent.key.source == *name
                    && sent.decision.kind().approves()
                    && sent.outcome.as_ref().is_some_and(approved)
            });
            // An agent that tries again may repeat its proposal, or the edited input that ran.
            ran.extend(sent.flat_map(|sent| {
                let proposed = (sent.digest != sent.effective).then_some(sent.digest);
                std::iter::once(sent.effective).chain(proposed).map(move |digest| Ran {
                    key: sent.key.clone(),
                    workspace: None,
                    tool: sent.tool.clone(),
                    title: sent.title.clone(),
                    digest: Some(digest),
                    at,
                })
            }));
        }
        Some(ran)
    }
}
