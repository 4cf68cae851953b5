//! What waits: the counts of a briefing, and the checkpoints. Kept by triggers, so that reading them costs what they say and
//! not what the queue holds.

use std::collections::{HashMap, HashSet};

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqlitePool};

use super::{pause, read, row};
use crate::contract::briefing::{BatchBody, BriefingBody};
use crate::contract::time;
use crate::domain::Timestamp;
use crate::gate::store::{Checkpoint, StoreError};

/// Batches in one briefing; more are said to exist and not listed.
const BATCHES: usize = 500;

/// The oldest batches of the workspace.
const ALL: &str = "SELECT o.batch, o.tool, o.mission, o.pending, a.created_at AS oldest, \
     CASE WHEN o.critical > 0 THEN 3 WHEN o.low + o.medium < o.pending THEN 2 WHEN o.medium > 0 THEN 1 ELSE 0 END \
     AS risk FROM outstanding o JOIN actions a ON a.seq = o.first_seq \
     WHERE o.workspace = ?1 ORDER BY o.first_seq LIMIT ?3";

/// The same of one session, counted from its own actions. `?2` is the session.
const OF_SESSION: &str = "SELECT COALESCE(batch, id) AS batch, MIN(tool) AS tool, MIN(mission) AS mission, \
     COUNT(*) AS pending, MIN(created_at) AS oldest, \
     MAX(CASE risk WHEN 'low' THEN 0 WHEN 'medium' THEN 1 WHEN 'critical' THEN 3 ELSE 2 END) AS risk \
     FROM actions WHERE workspace = ?1 AND status = 'pending' AND session = ?2 \
     GROUP BY COALESCE(batch, id) ORDER BY MIN(seq) LIMIT ?3";

const COUNTS: &str = "SELECT COALESCE((SELECT pending FROM heads WHERE workspace = ?1), 0), \
     (SELECT COUNT(*) FROM blocked WHERE workspace = ?1), \
     (SELECT COUNT(*) FROM actions WHERE workspace = ?1 AND status = 'unknown')";

const COUNTS_OF_SESSION: &str = "SELECT COUNT(*), COUNT(DISTINCT mission), \
     (SELECT COUNT(*) FROM actions WHERE workspace = ?1 AND status = 'unknown' AND session = ?2) \
     FROM actions WHERE workspace = ?1 AND status = 'pending' AND session = ?2";

pub(super) async fn briefing(
    pool: &SqlitePool,
    workspace: &str,
    session: Option<&str>,
) -> Result<BriefingBody, StoreError> {
    let revision = read::revision(pool, workspace).await?;
    let (pending, blocked, unknown) = counts(pool, workspace, session).await?;
    let found = sqlx::query(if session.is_some() { OF_SESSION } else { ALL })
        .bind(workspace)
        .bind(session)
        .bind(row::integer(BATCHES as u64 + 1))
        .fetch_all(pool)
        .await?;
    let batches = found.iter().take(BATCHES).map(batch).collect::<Result<Vec<_>, _>>()?;
    let mut conn = pool.acquire().await?;
    Ok(BriefingBody {
        workspace_id: workspace.to_owned(),
        pending: row::number(pending),
        blocked_missions: row::number(blocked),
        unknown: row::number(unknown),
        paused_at: pause::since(&mut conn, workspace).await?.map(time::write),
        batches,
        truncated: found.len() > BATCHES,
        revision,
    })
}

/// Pending actions, missions that wait for them, and actions whose outcome nobody knows.
async fn counts(
    pool: &SqlitePool,
    workspace: &str,
    session: Option<&str>,
) -> Result<(i64, i64, i64), StoreError> {
    let counts = sqlx::query_as(if session.is_some() { COUNTS_OF_SESSION } else { COUNTS });
    Ok(counts.bind(workspace).bind(session).fetch_one(pool).await?)
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
    .bind(row::integer(BATCHES as u64))
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
        pending: row::number(found.try_get("pending")?),
        oldest_at: time::write(Timestamp::from_millis(found.try_get("oldest")?)),
        highest_risk: risk.to_owned(),
    })
}
