//! Approvals that no agent claims: an old one must not be run when nobody remembers it any more.

use std::time::Duration;

use sqlx::{QueryBuilder, Row as _, Sqlite, SqliteConnection, SqlitePool};

use super::advance::{Change, StepRow, advance};
use super::outstanding::narrow;
use super::writer::Tx;
use super::{row, which};
use crate::domain::{Status, StatusStep, Timestamp};
use crate::gate::store::{Counts, Refused, StoreError, Stored};
use crate::gate::tool::Tools;
use crate::gate::which::Which;

/// How many rows one sweep settles; the rest waits for the next.
pub(super) const SWEEP: i64 = 500;
/// When the first version that lets approvals lapse opened this database: those from before have their whole time from then on.
const BEGUN: &str = "SELECT at FROM begun WHERE what = 'lapse'";

/// Approved actions that were never claimed, and whose approval is past its time.
pub(super) async fn lapse(tx: &mut Tx) -> Result<u64, StoreError> {
    let (tools, now) = (std::sync::Arc::clone(&tx.tools), tx.now);
    let mut lapsed = 0;
    for (theirs, ttl) in tools.taken_by_agents() {
        let Some(before) = due(tx.conn(), now, ttl).await? else { continue };
        let mut query = QueryBuilder::new(row::LIGHT);
        push_unclaimed(&mut query, &theirs, before);
        query.push(" ORDER BY a.resolved_at LIMIT ").push_bind(SWEEP);
        for found in query.build().fetch_all(tx.conn()).await? {
            // A damaged row must not keep the others from being swept.
            let Ok(row) = row::light(&found) else { continue };
            let place = StepRow { seq: found.try_get("seq")?, row: &row };
            // Who approved it, and when, stays as it is.
            advance(tx, place, StatusStep::Lapse, Change::default()).await?;
            lapsed += 1;
        }
    }
    Ok(lapsed)
}

/// How many approvals wait for longer than three quarters of their time.
pub(super) async fn lapsing(
    pool: &SqlitePool,
    counts: &Counts,
    tools: &Tools,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let mut conn = pool.acquire().await?;
    let mut lapsing = 0;
    for (theirs, ttl) in tools.taken_by_agents() {
        let Some(before) = due(&mut conn, now, ttl / 4 * 3).await? else { continue };
        let mut query = QueryBuilder::new("SELECT COUNT(*) FROM actions a");
        push_unclaimed(&mut query, &theirs, before);
        // The plus keeps SQLite from walking all that is approved in the workspace.
        query.push(" AND +a.workspace = ").push_bind(&counts.workspace);
        narrow(&mut query, counts);
        let found: i64 = query.build_query_scalar().fetch_one(&mut *conn).await?;
        lapsing += row::number(found);
    }
    Ok(lapsing)
}

/// Refuses a claim that comes after an approval's time and before the sweep.
pub(super) async fn refuse(tx: &mut Tx, stored: &Stored) -> Result<(), StoreError> {
    let row = &stored.action.row;
    if row.status != Status::Approved || stored.fence > 0 {
        return Ok(());
    }
    let (ttl, now) = (tx.tools.approval_ttl(row.tool.as_raw()), tx.now);
    match due(tx.conn(), now, ttl).await? {
        Some(before) if row.resolved_at.is_some_and(|at| at <= before) => {
            Err(Refused::State { status: Status::Expired, by: None, at: Some(now) }.into())
        }
        _ => Ok(()),
    }
}

/// The moment before which an approval must have been given to be past `ttl` now; `None` while none can be.
async fn due(
    conn: &mut SqliteConnection,
    now: Timestamp,
    ttl: Duration,
) -> Result<Option<Timestamp>, StoreError> {
    let begun: i64 = sqlx::query_scalar(BEGUN).fetch_one(conn).await?;
    let before = now.plus_millis(i64::try_from(ttl.as_millis()).map_or(i64::MIN, |millis| -millis));
    Ok((Timestamp::from_millis(begun) <= before).then_some(before))
}

fn push_unclaimed(query: &mut QueryBuilder<Sqlite>, tools: &Which, before: Timestamp) {
    query
        .push(" WHERE a.status = 'approved' AND a.fence = 0 AND a.resolved_at <= ")
        .push_bind(before.as_millis());
    query.push(" AND ");
    which::push(query, tools);
}
