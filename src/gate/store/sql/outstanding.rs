//! The counts of a briefing, and the checkpoints. Writers keep the counts, so reading them does not depend on the
//! length of the queue.

use std::collections::{HashMap, HashSet};

use super::{Sql, Statement, read};
use crate::domain::{Outstanding, Risk, Timestamp, ToolOutstanding};
use crate::gate::store::columns::Columns;
use crate::gate::store::{Batches, Briefed, Checkpoint, Counts, OpenBatch, StoreError, rows};

const BATCHES: usize = 500;

/// The oldest batches of the workspace. A subquery reads the oldest action of each; a join might read all history.
const ALL: &str = "SELECT o.batch, o.tool, o.mission, o.pending, \
     (SELECT a.created_at FROM actions a WHERE a.seq = o.first_seq) AS oldest, \
     CAST(CASE WHEN o.critical > 0 THEN 3 WHEN o.low + o.medium < o.pending THEN 2 WHEN o.medium > 0 THEN 1 ELSE 0 END AS BIGINT) \
     AS risk FROM outstanding o WHERE o.workspace = $1 ORDER BY o.first_seq LIMIT $2";

const COUNTS: &str = "SELECT COALESCE((SELECT pending FROM heads WHERE workspace = $1), 0) AS pending, \
     (SELECT COUNT(*) FROM blocked WHERE workspace = $1) AS blocked, \
     (SELECT COUNT(*) FROM actions WHERE workspace = $1 AND status = 'unknown') AS unknown";

/// Totals of a workspace (`$1`). The action that arrived first is the oldest.
pub(in crate::gate::store) const TOTALS: &str = "SELECT CAST(COALESCE(SUM(pending), 0) AS BIGINT) AS pending, CAST(COALESCE(SUM(high), 0) AS BIGINT) AS high, \
     (SELECT (SELECT a.created_at FROM actions a WHERE a.seq = o.first_seq) FROM outstanding o WHERE o.workspace = $1 \
     ORDER BY o.first_seq LIMIT 1) AS oldest \
     FROM waiting WHERE workspace = $1";

pub(in crate::gate::store) const BY_TOOL: &str = "SELECT tool, CAST(SUM(pending) AS BIGINT) AS pending, CAST(SUM(high) AS BIGINT) AS high FROM waiting \
     WHERE workspace = $1 GROUP BY tool ORDER BY 2 DESC, 1 LIMIT $2";

/// Reads totals. The caller begins a transaction, so that the parts add up.
pub(in crate::gate::store) async fn totals<S: Sql>(
    conn: &mut S,
    workspace: &str,
) -> Result<Outstanding, StoreError> {
    let all = conn.fetch_one(Statement::new(TOTALS).bind(workspace)).await?;
    let most = rows::integer(Outstanding::TOOLS as u64);
    let tools = conn.fetch_all(Statement::new(BY_TOOL).bind(workspace).bind(most)).await?;
    let tool = |row: &S::Row| {
        Ok(ToolOutstanding {
            tool: row.text("tool")?.into(),
            pending: rows::number(row.int("pending")?),
            high: rows::number(row.int("high")?),
        })
    };
    Ok(Outstanding {
        pending: rows::number(all.int("pending")?),
        high: rows::number(all.int("high")?),
        oldest: all.maybe_int("oldest")?.map(Timestamp::from_millis),
        tools: tools.iter().map(tool).collect::<Result<_, StoreError>>()?,
    })
}

/// Reads counts and batches. The caller begins a transaction: another gate may write between two queries.
pub(in crate::gate::store) async fn briefing<S: Sql>(
    conn: &mut S,
    counts: &Counts,
    batches: Batches,
) -> Result<Briefed, StoreError> {
    let workspace = &counts.workspace;
    let revision = read::revision(conn, workspace).await?;
    let (pending, blocked, unknown) = count(conn, counts).await?;
    let batches = match batches {
        Batches::None => None,
        some => Some(oldest(conn, counts, some.most()).await?),
    };
    Ok(Briefed {
        pending: rows::number(pending),
        blocked_missions: rows::number(blocked),
        unknown: rows::number(unknown),
        lapsing: 0,
        ran_other: 0,
        paused_at: read::paused_since(conn, workspace).await?,
        batches,
        revision,
    })
}

async fn oldest<S: Sql>(
    conn: &mut S,
    counts: &Counts,
    most: usize,
) -> Result<(Vec<OpenBatch>, bool), StoreError> {
    let asked = rows::integer(most as u64 + 1);
    let query = if counts.is_narrowed() {
        batches_of::<S>(counts, asked)
    } else {
        Statement::new(ALL).bind(&counts.workspace).bind(asked)
    };
    let found = conn.fetch_all(query).await?;
    let batches = found.iter().take(most).map(|row| batch(row)).collect::<Result<_, _>>()?;
    Ok((batches, found.len() > most))
}

async fn count<S: Sql>(conn: &mut S, counts: &Counts) -> Result<(i64, i64, i64), StoreError> {
    let query = if counts.is_narrowed() {
        let mut query = Statement::new(
            "SELECT COUNT(*) AS pending, COUNT(DISTINCT mission) AS blocked, (SELECT COUNT(*)",
        );
        push_part::<S>(&mut query, counts, "unknown");
        query.push(") AS unknown");
        push_part::<S>(&mut query, counts, "pending");
        query
    } else {
        Statement::new(COUNTS).bind(&counts.workspace)
    };
    let row = conn.fetch_one(query).await?;
    Ok((row.int("pending")?, row.int("blocked")?, row.int("unknown")?))
}

/// Selects the oldest batches of a part of the workspace, counted from its actions.
pub(in crate::gate::store) fn batches_of<S: Sql>(counts: &Counts, most: i64) -> Statement {
    let mut query = Statement::new(
        "SELECT COALESCE(batch, id) AS batch, MIN(tool) AS tool, MIN(mission) AS mission, \
         COUNT(*) AS pending, MIN(created_at) AS oldest, \
         CAST(MAX(CASE risk WHEN 'low' THEN 0 WHEN 'medium' THEN 1 WHEN 'critical' THEN 3 ELSE 2 END) AS BIGINT) AS risk",
    );
    push_part::<S>(&mut query, counts, "pending");
    query
        .push(" GROUP BY ")
        .push(S::UNINDEXED)
        .push("COALESCE(batch, id) ORDER BY MIN(seq) LIMIT ")
        .push_bind(most);
    query
}

fn push_part<S: Sql>(query: &mut Statement, counts: &Counts, status: &'static str) {
    query.push(" FROM actions");
    if status == "pending" {
        // The index of pending actions; others hold all that a mission or session ever proposed.
        let index = if counts.mission.is_some() { "actions_by_mission" } else { "actions_by_session" };
        query.push(&S::indexed_by(index));
    }
    // A literal: an index of pending actions is not used for a bound status.
    query.push(" WHERE workspace = ").push_bind(&counts.workspace);
    query.push(" AND status = '").push(status).push("'");
    narrow(query, counts);
}

pub(super) fn narrow(query: &mut Statement, counts: &Counts) {
    for (column, value) in [("session", &counts.session), ("mission", &counts.mission)] {
        if let Some(value) = value {
            query.push(" AND ").push(column).push(" = ").push_bind(value);
        }
    }
}

pub(in crate::gate::store) async fn checkpoints<S: Sql>(
    conn: &mut S,
    workspace: &str,
    mission: Option<&str>,
) -> Result<Vec<Checkpoint>, StoreError> {
    let query = Statement::new(
        "SELECT checkpoint, COALESCE(batch, id) AS batch, MIN(tool) AS tool, MIN(mission) AS mission, \
         COUNT(*) AS pending, MIN(created_at) AS oldest, \
         CAST(MAX(CASE risk WHEN 'low' THEN 0 WHEN 'medium' THEN 1 WHEN 'critical' THEN 3 ELSE 2 END) AS BIGINT) AS risk \
         FROM actions WHERE workspace = $1 AND status = 'pending' AND checkpoint IS NOT NULL \
         AND (CAST($2 AS TEXT) IS NULL OR mission = $2) GROUP BY checkpoint, COALESCE(batch, id) ORDER BY MIN(seq) LIMIT $3",
    )
    .bind(workspace)
    .bind(mission)
    .bind(rows::integer(BATCHES as u64));
    let found = conn.fetch_all(query).await?;
    // A map, because each proposal may name another checkpoint and mission.
    let mut checkpoints: Vec<Checkpoint> = Vec::new();
    let (mut places, mut known) = (HashMap::new(), HashSet::new());
    for found in &found {
        let (id, batch) = (found.text("checkpoint")?, batch(found)?);
        let place = *places.entry(id.clone()).or_insert(checkpoints.len());
        let mission = batch.mission.clone().filter(|mission| known.insert((place, mission.clone())));
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

fn batch(found: &dyn Columns) -> Result<OpenBatch, StoreError> {
    let highest_risk = match found.int("risk")? {
        0 => Risk::Low,
        1 => Risk::Medium,
        3 => Risk::Critical,
        _ => Risk::High,
    };
    Ok(OpenBatch {
        id: found.text("batch")?,
        tool: found.text("tool")?,
        mission: found.maybe_text("mission")?,
        pending: rows::number(found.int("pending")?),
        oldest: Timestamp::from_millis(found.int("oldest")?),
        highest_risk,
    })
}
