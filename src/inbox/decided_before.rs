//! Recent decisions on other actions with the same tool.

use super::core::Inbox;
use super::timeouts::Wait;
use crate::clock;
use crate::domain::{ActionKey, Decision, ListQuery, Outcome, Status, Timestamp, Untrusted};
use crate::journal::Sent;

/// Days for which decisions count.
pub const LATELY: i64 = 7;
const ROWS: u32 = 200;
/// Exclusions whose reasons are read.
const REASONS: usize = 3;
/// Submissions of the journal to search.
const SUBMISSIONS: u32 = 50;

/// Recent decisions on a tool. They are no reason to approve: callers show exclusions first, and nothing for actions
/// that are flagged or of high risk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecidedBefore {
    pub excluded: usize,
    pub approved: usize,
    pub reasons: Vec<Untrusted>,
    /// There may be more than counted.
    pub at_least: bool,
}

impl Inbox {
    /// Counts from the source's history, or from the journal if the source keeps none. `None` without decisions, and if
    /// they cannot be read, because no decision depends on this alone.
    pub(super) async fn decided_before(&self, of: &ActionKey, tool: &Untrusted) -> Option<DecidedBefore> {
        let since = clock::now().plus_millis(-LATELY * 24 * 60 * 60 * 1_000);
        let decided = if self.source(&of.source).ok()?.records().lists {
            self.by_source(of, tool, since).await?
        } else {
            self.by_journal(of, tool, since).await?
        };
        (decided.excluded + decided.approved > 0).then_some(decided)
    }

    async fn by_source(&self, of: &ActionKey, tool: &Untrusted, since: Timestamp) -> Option<DecidedBefore> {
        let statuses =
            [Status::Rejected, Status::Approved, Status::Running, Status::Executed, Status::Failed];
        let query =
            ListQuery { statuses: statuses.to_vec(), cursor: None, limit: ROWS, tool: Some(tool.clone()) };
        let source = self.source(&of.source).ok()?;
        let listed = source.ask_able(Wait::Look, |able| Some(able.history?.listed(&query))).await.ok()??;
        let rows = listed.rows.into_iter().filter(|row| row.tool == *tool && row.id != of.id);
        let lately = rows.filter(|row| row.resolved_at.is_some_and(|at| at >= since));
        let (excluded, approved): (Vec<_>, Vec<_>) = lately.partition(|row| row.status == Status::Rejected);
        let keys = excluded.iter().take(REASONS).map(|row| ActionKey { id: row.id.clone(), ..of.clone() });
        let read = self.load(&keys.collect::<Vec<_>>()).await;
        Some(DecidedBefore {
            excluded: excluded.len(),
            approved: approved.len(),
            reasons: each_once(read.into_iter().filter_map(|(_, action)| action.ok()?.reason)),
            at_least: listed.next.is_some(),
        })
    }

    async fn by_journal(&self, of: &ActionKey, tool: &Untrusted, since: Timestamp) -> Option<DecidedBefore> {
        let past = self.decided(0, SUBMISSIONS).await.ok()?;
        let at_least = past.len() == SUBMISSIONS as usize;
        let past = past.into_iter().filter(|past| past.begun_at >= since).flat_map(|past| past.items);
        let same = |sent: &Sent| sent.key.source == of.source && sent.tool == *tool && sent.key.id != of.id;
        let sent: Vec<Sent> = past.filter(same).collect();
        let ended =
            |outcome: &Outcome| sent.iter().filter(|sent| sent.outcome.as_ref() == Some(outcome)).count();
        let why = sent.iter().filter_map(|sent| match &sent.decision {
            Decision::Reject { reason } if sent.outcome == Some(Outcome::Rejected) => reason.as_deref(),
            _ => None,
        });
        Some(DecidedBefore {
            excluded: ended(&Outcome::Rejected),
            approved: ended(&Outcome::Approved) + ended(&Outcome::Accepted),
            reasons: each_once(why.take(REASONS).map(Untrusted::from)),
            at_least,
        })
    }
}

fn each_once(reasons: impl Iterator<Item = Untrusted>) -> Vec<Untrusted> {
    let mut each = Vec::new();
    for reason in reasons {
        if !each.contains(&reason) {
            each.push(reason);
        }
    }
    each
}
