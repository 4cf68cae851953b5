//! What waits: the counts of a briefing, and the checkpoints. Kept by whoever writes, so that reading them costs what they say and
//! not what the queue holds.

use std::collections::{HashMap, HashSet};

use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _, Sqlite, SqlitePool};

use super::read;
use crate::contract::briefing::{BatchBody, BriefingBody};
use crate::contract::time;
use crate::domain::{Outstanding, Timestamp, ToolOutstanding};
use crate::gate::store::{Batches, Checkpoint, Counts, StoreError, rows};

/// Batches in one list of checkpoints.
const BATCHES: usize = 500;

/// The oldest batches of the workspace.
const ALL: &str = "SELECT o.batch, o.tool, o.mission, o.pending, a.created_at AS oldest, \
     CASE WHEN o.critical > 0 THEN 3 WHEN o.low + o.medium < o.pending THEN 2 WHEN o.medium > 0 THEN 1 ELSE 0 END \
     AS risk FROM outstanding o JOIN actions a ON a.seq = o.first_seq \
     WHERE o.workspace = ?1 ORDER BY o.first_seq LIMIT ?2";

const COUNTS: &str = "SELECT COALESCE((SELECT pending FROM heads WHERE workspace = ?1), 0), \
     (SELECT COUNT(*) FROM blocked WHERE workspace = ?1), \
     (SELECT COUNT(*) FROM actions WHERE workspace = ?1 AND status = 'unknown')";

/// What waits altogether, and since when: the first to arrive is the oldest. `?1` is the workspace.
pub(super) const TOTALS: &str = "SELECT COALESCE(SUM(pending), 0), COALESCE(SUM(high), 0), (SELECT a.created_at \
     FROM outstanding o JOIN actions a ON a.seq = o.first_seq WHERE o.workspace = ?1 ORDER BY o.first_seq LIMIT 1) \
     FROM waiting WHERE workspace = ?1";

/// The tools of which most waits.
pub(super) const BY_TOOL: &str = "SELECT tool, SUM(pending) AS pending, SUM(high) AS high FROM waiting \
     WHERE workspace = ?1 GROUP BY tool ORDER BY 2 DESC, 1 LIMIT ?2";

/// In one transaction, so that the parts are of the same moment as the whole.
pub(super) async fn totals(pool: &SqlitePool, workspace: &str) -> Result<Outstanding, StoreError> {
    let mut tx = pool.begin_with("BEGIN").await?;
    let (pending, high, oldest): (i64, i64, Option<i64>) =
        sqlx::query_as(TOTALS).bind(workspace).fetch_one(&mut *tx).await?;
    let tools: Vec<(String, i64, i64)> = sqlx::query_as(BY_TOOL)
        .bind(workspace)
        .bind(rows::integer(Outstanding::TOOLS as u64))
        .fetch_all(&mut *tx)
        .await?;
    let tool = |(tool, pending, high): (String, i64, i64)| ToolOutstanding {
        tool: tool.into(),
        pending: rows::number(pending),
        high: rows::number(high),
    };
    Ok(Outstanding {
        pending: rows::number(pending),
        high: rows::number(high),
        oldest: oldest.map(Timestamp::from_millis),
        tools: tools.into_iter().map(tool).collect(),
    })
}

pub(super) async fn briefing(
    pool: &SqlitePool,
    counts: &Counts,
    batches: Batches,
) -> Result<BriefingBody, StoreError> {
    let workspace = &counts.workspace;
    let revision = read::revision(pool, workspace).await?;
    let (pending, blocked, unknown) = count(pool, counts).await?;
    let listed = match batches {
        Batches::None => None,
        some => Some(oldest(pool, counts, some.most()).await?),
    };
    let mut conn = pool.acquire().await?;
    Ok(BriefingBody {
        workspace_id: workspace.clone(),
        pending: rows::number(pending),
        blocked_missions: rows::number(blocked),
        unknown: rows::number(unknown),
        lapsing: 0,
        ran_other: 0,
        paused_at: read::paused_since(&mut conn, workspace).await?.map(time::write),
        truncated: listed.as_ref().map(|(_, more)| *more),
        batches: listed.map(|(batches, _)| batches),
        gone: None,
        since: None,
        claims: Vec::new(),
        revision,
    })
}

/// The oldest batches, so many at most, and whether there are more.
async fn oldest(
    pool: &SqlitePool,
    counts: &Counts,
    most: usize,
) -> Result<(Vec<BatchBody>, bool), StoreError> {
    let asked = rows::integer(most as u64 + 1);
    let found = if counts.is_narrowed() {
        batches_of(counts, asked).build().fetch_all(pool).await?
    } else {
        sqlx::query(ALL).bind(&counts.workspace).bind(asked).fetch_all(pool).await?
    };
    let batches = found.iter().take(most).map(batch).collect::<Result<_, _>>()?;
    Ok((batches, found.len() > most))
}

/// Pending actions, missions that wait for them, and actions whose outcome nobody knows.
async fn count(pool: &SqlitePool, counts: &Counts) -> Result<(i64, i64, i64), StoreError> {
    if !counts.is_narrowed() {
        return Ok(sqlx::query_as(COUNTS).bind(&counts.workspace).fetch_one(pool).await?);
    }
    let mut query = QueryBuilder::new("SELECT COUNT(*), COUNT(DISTINCT mission), (SELECT COUNT(*)");
    push_part(&mut query, counts, "unknown");
    query.push(")");
    push_part(&mut query, counts, "pending");
    Ok(query.build_query_as().fetch_one(pool).await?)
}

/// The oldest batches of a part of the workspace, counted from its own actions.
pub(super) fn batches_of(counts: &Counts, most: i64) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "SELECT COALESCE(batch, id) AS batch, MIN(tool) AS tool, MIN(mission) AS mission, \
         COUNT(*) AS pending, MIN(created_at) AS oldest, \
         MAX(CASE risk WHEN 'low' THEN 0 WHEN 'medium' THEN 1 WHEN 'critical' THEN 3 ELSE 2 END) AS risk",
    );
    push_part(&mut query, counts, "pending");
    // The plus keeps SQLite from walking the whole queue in the order of its batches.
    query.push(" GROUP BY +COALESCE(batch, id) ORDER BY MIN(seq) LIMIT ").push_bind(most);
    query
}

/// The actions of this status that are counted.
fn push_part(query: &mut QueryBuilder<Sqlite>, counts: &Counts, status: &'static str) {
    // The status is written out: an index of pending actions is not used for one that is bound.
    query.push(" FROM actions");
    // Those of a mission or session that wait, and not all that it ever proposed.
    let index = if counts.mission.is_some() { "actions_by_mission" } else { "actions_by_session" };
    if status == "pending" && counts.is_narrowed() {
        query.push(" INDEXED BY ").push(index);
    }
    query.push(" WHERE workspace = ").push_bind(counts.workspace.clone());
    query.push(" AND status = '").push(status).push("'");
    narrow(query, counts);
}

/// Only of the session and the mission that are counted.
pub(super) fn narrow(query: &mut QueryBuilder<Sqlite>, counts: &Counts) {
    for (column, value) in [("session", &counts.session), ("mission", &counts.mission)] {
        if let Some(value) = value {
            query.push(" AND ").push(column).push(" = ").push_bind(value.clone());
        }
    }
}

/// Checkpoints in which something waits, the oldest first, with at most 500 batches in all: decide those, and the next are told.
pub(super) async fn checkpoints(
    pool: &SqlitePool,
    workspace: &str,
    mission: Option<&str>,
) -> Result<Vec<Checkpoint>, StoreError> {
    let found = sqlx::query(
        "SELECT checkpoint, COALESCE(batch, id) AS batch, MIN(tool) AS tool, MIN(mission) AS mission, \
         COUNT(*) AS pending, MIN(created_at) AS oldest, \
         MAX(CASE risk WHEN 'low' THEN 0 WHEN 'medium' THEN 1 WHEN 'critical' THEN 3 ELSE 2 END) AS risk \
         FROM actions WHERE workspace = ?1 AND status = 'pending' AND checkpoint IS NOT NULL \
         AND (?2 IS NULL OR mission = ?2) GROUP BY checkpoint, COALESCE(batch, id) ORDER BY MIN(seq) LIMIT ?3",
    )
    .bind(workspace)
    .bind(mission)
    .bind(rows::integer(BATCHES as u64))
    .fetch_all(pool)
    .await?;
    // An agent may name a checkpoint for each of its proposals, and a mission: looked up, never searched for.
    let mut checkpoints: Vec<Checkpoint> = Vec::new();
    let (mut places, mut known) = (HashMap::new(), HashSet::new());
    for found in &found {
        let (id, batch): (String, BatchBody) = (found.try_get("checkpoint")?, batch(found)?);
        let place = *places.entry(id.clone()).or_insert(checkpoints.len());
        let mission = batch.mission_id.clone().filter(|mission| known.insert((place, mission.clone())));
        match checkpoints.get_mut(place) {
            Some(checkpoint) => {
                checkpoint.missions.extend(mission);
                checkpoint.batches.push(batch);
            }
            None => checkpoints.push(Checkpoint {
                id,
                missions: mission.into_iter().collect(),
                batches: vec![batch],
            }),
        }
    }
    Ok(checkpoints)
}

fn batch(found: &SqliteRow) -> Result<BatchBody, StoreError> {
    let risk = match found.try_get::<i64, _>("risk")? {
        0 => "low",
        1 => "medium",
        3 => "critical",
        _ => "high",
    };
    Ok(BatchBody {
        batch_id: found.try_get("batch")?,
        tool_name: found.try_get("tool")?,
        mission_id: found.try_get("mission")?,
        pending: rows::number(found.try_get("pending")?),
        oldest_at: time::write(Timestamp::from_millis(found.try_get("oldest")?)),
        highest_risk: risk.to_owned(),
    })
}
