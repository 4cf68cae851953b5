//! What ran lately, or is about to: an action that is proposed again may be a mistake.

use super::core::Inbox;
use super::timeouts::Wait;
use crate::contract::time;
use crate::domain::{ActionKey, Digest, ListQuery, Outcome, SourceName, Status, Timestamp, Untrusted};

/// How long what ran is remembered, in milliseconds.
pub const DAY: i64 = 24 * 60 * 60 * 1_000;
/// Rows that a source is asked for.
const ROWS: u32 = 200;
/// Submissions of the journal that are looked through, where the source keeps no history.
const SUBMISSIONS: u32 = 50;

/// An action that was approved: it ran, runs, or will.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    pub key: ActionKey,
    /// `None` where it is not known.
    pub workspace: Option<Untrusted>,
    pub tool: Untrusted,
    pub title: Untrusted,
    /// Of its input, where it is known.
    pub digest: Option<Digest>,
    /// When it was decided.
    pub at: Timestamp,
}

impl Inbox {
    /// What was approved within a day, the newest rows of the source's history, else of the journal. Empty where neither can be
    /// read: it is a hint, and nothing waits for it.
    pub async fn ran_lately(&self, source: &SourceName) -> Vec<Ran> {
        let since = time::now().plus_millis(-DAY);
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
            // An agent that tries again may propose either, what was proposed before or what ran.
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
