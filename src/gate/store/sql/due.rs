//! Due actions, and approvals close to lapsing.

use super::outstanding::narrow;
use super::{Sql, Statement, which};
use crate::domain::Timestamp;
use crate::gate::store::columns::Columns as _;
use crate::gate::store::ops::lapse::approved_before;
use crate::gate::store::ops::tx::Due;
use crate::gate::store::rows::number;
use crate::gate::store::{Counts, HOUR, RAN_OTHER, StoreError};
use crate::gate::tool::Tools;
use crate::gate::which::Which;

pub(in crate::gate::store) async fn workspaces<S: Sql>(
    conn: &mut S,
    due: &Due,
    now: Timestamp,
) -> Result<Vec<String>, StoreError> {
    let mut query = Statement::new("SELECT DISTINCT ");
    query.push(S::UNINDEXED).push("a.workspace AS workspace FROM actions a");
    push::<S>(&mut query, due, now);
    Ok(conn.fetch_all(query).await?.iter().map(|row| row.text("workspace")).collect::<Result<_, _>>()?)
}

/// Adds the condition for due actions, in the words of a partial index. Returns the column with the time since when
/// they are due.
pub(super) fn push<S: Sql>(query: &mut Statement, due: &Due, now: Timestamp) -> &'static str {
    let now = now.as_millis();
    match due {
        Due::Expired => {
            query.push(" WHERE a.status = 'pending' AND a.expires_at IS NOT NULL AND a.expires_at <= ");
            query.push_bind(now);
            "a.expires_at"
        }
        Due::LeaseOver { going_on, .. } => {
            query.push(" WHERE a.status = 'running' AND a.lease_until <= ").push_bind(now);
            query.push(" AND COALESCE(a.renewed_until, 0) <= ").push_bind(now);
            if !going_on.is_empty() {
                query.push(" AND a.id NOT IN ").push_list(going_on);
            }
            "a.lease_until"
        }
        Due::Unclaimed { tools, before } => {
            push_unclaimed::<S>(query, tools, *before);
            "a.resolved_at"
        }
    }
}

fn push_unclaimed<S: Sql>(query: &mut Statement, tools: &Which, before: Timestamp) {
    query.push(" WHERE a.status = 'approved' AND a.fence = 0 AND a.resolved_at <= ");
    query.push_bind(before.as_millis()).push(" AND ");
    which::push::<S>(query, tools);
}

pub(in crate::gate::store) async fn lapsing<S: Sql>(
    conn: &mut S,
    counts: &Counts,
    tools: &Tools,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let mut lapsing = 0;
    for (theirs, ttl) in tools.taken_by_agents() {
        let mut query = Statement::new("SELECT COUNT(*) AS actions FROM actions a");
        push_unclaimed::<S>(&mut query, &theirs, approved_before(now, ttl / 4 * 3));
        query.push(" AND ").push(S::UNINDEXED).push("a.workspace = ").push_bind(&counts.workspace);
        narrow(&mut query, counts);
        lapsing += number(conn.fetch_one(query).await?.int("actions")?);
    }
    Ok(lapsing)
}

pub(in crate::gate::store) async fn ran_other<S: Sql>(
    conn: &mut S,
    counts: &Counts,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let mut query = Statement::new("SELECT COUNT(*) AS actions FROM actions a WHERE a.error = '");
    query.push(RAN_OTHER).push("' AND a.executed_at > ").push_bind(now.plus_millis(-HOUR).as_millis());
    query.push(" AND ").push(S::UNINDEXED).push("a.workspace = ").push_bind(&counts.workspace);
    narrow(&mut query, counts);
    Ok(number(conn.fetch_one(query).await?.int("actions")?))
}
