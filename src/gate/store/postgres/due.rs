//! Actions with which time has something to do, and approvals that come near their end.

use sqlx::{Postgres, QueryBuilder};

use super::conn::Conn;
use super::outstanding::narrow;
use super::which;
use crate::domain::Timestamp;
use crate::gate::store::ops::lapse::approved_before;
use crate::gate::store::ops::tx::Due;
use crate::gate::store::rows::number;
use crate::gate::store::{Counts, HOUR, RAN_OTHER, StoreError};
use crate::gate::tool::Tools;
use crate::gate::which::Which;

/// Workspaces in which something is due.
pub(super) async fn workspaces(
    conn: &mut Conn,
    due: &Due,
    now: Timestamp,
) -> Result<Vec<String>, StoreError> {
    let mut query = QueryBuilder::new("SELECT DISTINCT a.workspace FROM actions a");
    push(&mut query, due, now);
    Ok(query.build_query_scalar().fetch_all(&mut *conn).await?)
}

/// Which actions are due, in the words of an index that holds few. Returns the column that says for how long.
pub(super) fn push(query: &mut QueryBuilder<Postgres>, due: &Due, now: Timestamp) -> &'static str {
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
                query.push(" AND a.id NOT IN (");
                let mut ids = query.separated(", ");
                for id in going_on {
                    ids.push_bind(id.clone());
                }
                query.push(")");
            }
            "a.lease_until"
        }
        Due::Unclaimed { tools, before } => {
            push_unclaimed(query, tools, *before);
            "a.resolved_at"
        }
    }
}

fn push_unclaimed(query: &mut QueryBuilder<Postgres>, tools: &Which, before: Timestamp) {
    query
        .push(" WHERE a.status = 'approved' AND a.fence = 0 AND a.resolved_at <= ")
        .push_bind(before.as_millis());
    query.push(" AND ");
    which::push(query, tools);
}

/// How many approvals wait for longer than three quarters of their time.
pub(super) async fn lapsing(
    conn: &mut Conn,
    counts: &Counts,
    tools: &Tools,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let mut lapsing = 0;
    for (theirs, ttl) in tools.taken_by_agents() {
        let mut query = QueryBuilder::new("SELECT COUNT(*) FROM actions a");
        push_unclaimed(&mut query, &theirs, approved_before(now, ttl / 4 * 3));
        query.push(" AND a.workspace = ").push_bind(&counts.workspace);
        narrow(&mut query, counts);
        let found: i64 = query.build_query_scalar().fetch_one(&mut *conn).await?;
        lapsing += number(found);
    }
    Ok(lapsing)
}

/// Counts runs of the last hour whose input differed from the approved one.
pub(super) async fn ran_other(conn: &mut Conn, counts: &Counts, now: Timestamp) -> Result<u64, StoreError> {
    let mut query = QueryBuilder::new("SELECT COUNT(*) FROM actions a WHERE a.error = '");
    query.push(RAN_OTHER).push("' AND a.executed_at > ").push_bind(now.plus_millis(-HOUR).as_millis());
    query.push(" AND a.workspace = ").push_bind(&counts.workspace);
    narrow(&mut query, counts);
    let found: i64 = query.build_query_scalar().fetch_one(&mut *conn).await?;
    Ok(number(found))
}
