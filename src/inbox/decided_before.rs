//! How the tool of an action was decided lately, on other values.

use super::core::Inbox;
use super::timeouts::Wait;
use crate::contract::time;
use crate::domain::{ActionKey, Decision, ListQuery, Outcome, Status, Timestamp, Untrusted};
use crate::journal::Sent;

/// How far back decisions count, in days.
pub const LATELY: i64 = 7;
/// Rows that a source is asked for.
const ROWS: u32 = 200;
/// Exclusions whose reasons are read.
const REASONS: usize = 3;
/// Submissions of the journal that are looked through.
const SUBMISSIONS: u32 = 50;

/// How a tool was decided lately. Never a reason to approve: whoever shows it names exclusions first, and shows it for no action
/// that is of high risk or flagged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecidedBefore {
    pub excluded: usize,
    pub approved: usize,
    /// Of the newest exclusions, each once.
    pub reasons: Vec<Untrusted>,
    /// There may be more than were counted.
    pub at_least: bool,
}

impl Inbox {
    /// From the history of the action's source, and where it keeps none, from the journal. `None` where nothing was decided, or
    /// where neither can be read: nobody decides by it alone.
    pub(super) async fn decided_before(&self, of: &ActionKey, tool: &Untrusted) -> Option<DecidedBefore> {
        let since = time::now().plus_millis(-LATELY * 24 * 60 * 60 * 1_000);
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
