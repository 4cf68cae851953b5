//! How actions came and went. It is counted when it happens, so that reading costs the minutes that are told and not what the queue
//! holds.

use std::collections::HashMap;

use futures_util::TryStreamExt as _;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection, SqlitePool};

use crate::domain::{Decider, Flow, Flows, Minute, Queue, QueueFlow, Timestamp, ToolDecided, Untrusted};
use crate::gate::store::deciders::{self, Deciders};
use crate::gate::store::rows::{integer, number};
use crate::gate::store::{AskedFlows, StoreError};

/// Most tools in one answer.
const TOOLS: usize = 500;

/// The queues that are told apart: where most waits, then where most happened. `?2` is the first minute.
pub(super) const QUEUES: &str = "SELECT agent <> '' AS named, CASE WHEN agent <> '' THEN agent ELSE tool END AS queue, \
     SUM(pending) AS pending, SUM(happened) AS happened FROM ( \
     SELECT agent, tool, pending, 0 AS happened FROM waiting WHERE workspace = ?1 UNION ALL \
     SELECT agent, tool, 0, arrived + approved + rejected + gone + executed + failed + unknown FROM flows \
     WHERE workspace = ?1 AND minute >= ?2) GROUP BY 1, 2 ORDER BY pending DESC, happened DESC, 1, 2 LIMIT ?3";

pub(super) const PENDING: &str = "SELECT COALESCE(SUM(pending), 0) FROM waiting WHERE workspace = ?1";

/// In the order of their minutes, which is that of the table.
pub(super) const MINUTES: &str = "SELECT *, agent <> '' AS named, CASE WHEN agent <> '' THEN agent ELSE tool END AS queue \
     FROM flows WHERE workspace = ?1 AND minute >= ?2 ORDER BY minute";

pub(super) const DECIDED: &str = "SELECT tool, SUM(approved) AS approved, SUM(edited) AS edited, \
     SUM(rejected) AS rejected, SUM(failed) AS failed FROM flows WHERE workspace = ?1 AND minute >= ?2 \
     GROUP BY tool HAVING SUM(approved + rejected + failed) > 0 \
     ORDER BY SUM(approved + rejected) DESC, tool LIMIT ?3";

/// `?2` is a moment. Who decided what is over.
pub(super) const REVIEWED: &str = "SELECT resolved_by AS subject, (CASE WHEN status = 'rejected' THEN 1 ELSE 0 END) AS rejected, \
     (CASE WHEN COALESCE(effective_digest, digest) <> digest THEN 1 ELSE 0 END) AS edited, resolved_at AS at, \
     resolved_at - created_at AS waited \
     FROM actions WHERE workspace = ?1 AND resolved_at >= ?2 AND resolved_by <> proposer \
     AND status NOT IN ('withdrawn', 'superseded') \
     ORDER BY resolved_at DESC LIMIT ?3";

/// Who approved before them, where more than one person must: their approvals stand, and were not the last. They are few, so they are
/// looked for by their time; by the workspace all of its actions would be read.
pub(super) const GIVEN: &str = "SELECT v.subject, 0 AS rejected, \
     (CASE WHEN v.effective_digest <> a.digest THEN 1 ELSE 0 END) AS edited, v.at, v.at - a.created_at AS waited \
     FROM approvals v JOIN actions a ON a.seq = v.seq WHERE +a.workspace = ?1 AND v.at >= ?2 \
     AND (a.resolved_by IS NULL OR a.resolved_by <> v.subject) ORDER BY v.at DESC LIMIT ?3";

/// In one transaction: a proposal between two of the questions would be in the minutes and not among what waits.
pub(super) async fn read(pool: &SqlitePool, asked: &AskedFlows) -> Result<Flows, StoreError> {
    let mut tx = pool.begin_with("BEGIN").await?;
    // Before the gate was there it counted nothing: its first tokens are as old as it is.
    let begun: Option<i64> =
        sqlx::query_scalar("SELECT MIN(created_at) FROM tokens").fetch_one(&mut *tx).await?;
    let begun = begun.map_or(asked.from, |at| Minute::of(Timestamp::from_millis(at).min(asked.now)));
    let queues = queues(&mut tx, asked).await?;
    let (tools, more) = tools(&mut tx, asked).await?;
    let asks = asked.reviewers || asked.groups.is_some();
    let ((reviewers, groups), older) =
        if asks { deciders(&mut tx, asked).await? } else { ((Vec::new(), Vec::new()), false) };
    let from = asked.from.max(begun).start();
    Ok(Flows { at: asked.now, from, queues, tools, reviewers, groups, truncated: more || older })
}

async fn queues(conn: &mut SqliteConnection, asked: &AskedFlows) -> Result<Vec<QueueFlow>, StoreError> {
    let found = sqlx::query(QUEUES)
        .bind(&asked.workspace)
        .bind(asked.from.number())
        .bind(integer(Queue::MOST as u64))
        .fetch_all(&mut *conn)
        .await?;
    let mut told = Vec::with_capacity(found.len() + 1);
    let mut places = HashMap::new();
    for row in &found {
        let queue = queue(row)?;
        places.insert(queue.clone(), told.len());
        let pending = number(row.try_get("pending")?);
        told.push(QueueFlow { queue, pending, minutes: Vec::new() });
    }
    let all: i64 = sqlx::query_scalar(PENDING).bind(&asked.workspace).fetch_one(&mut *conn).await?;
    let apart: u64 = told.iter().map(|queue| queue.pending).sum();
    let pending = number(all).saturating_sub(apart);
    let mut rest = QueueFlow { queue: Queue::Rest, pending, minutes: Vec::new() };
    let mut rows = sqlx::query(MINUTES).bind(&asked.workspace).bind(asked.from.number()).fetch(conn);
    while let Some(row) = rows.try_next().await? {
        let place = places.get(&queue(&row)?).and_then(|&place| told.get_mut(place));
        add(&mut place.unwrap_or(&mut rest).minutes, Minute::new(row.try_get("minute")?), &flow(&row)?);
    }
    if rest.pending > 0 || !rest.minutes.is_empty() {
        told.push(rest);
    }
    Ok(told)
}

/// Minutes come in their order; several tools of one agent may be in the same.
fn add(minutes: &mut Vec<(Minute, Flow)>, minute: Minute, flow: &Flow) {
    match minutes.last_mut() {
        Some((last, sum)) if *last == minute => *sum = sum.plus(flow),
        _ => minutes.push((minute, *flow)),
    }
}

fn queue(row: &SqliteRow) -> Result<Queue, StoreError> {
    let name = Untrusted::from(row.try_get::<String, _>("queue")?);
    Ok(if row.try_get("named")? { Queue::Agent(name) } else { Queue::Tool(name) })
}

fn flow(row: &SqliteRow) -> Result<Flow, StoreError> {
    Ok(Flow::of(|name| row.try_get(if name == "left" { "gone" } else { name }).map(number))?)
}

/// What was decided of each tool; true when there are more of them.
async fn tools(
    conn: &mut SqliteConnection,
    asked: &AskedFlows,
) -> Result<(Vec<ToolDecided>, bool), StoreError> {
    let found: Vec<(String, i64, i64, i64, i64)> = sqlx::query_as(DECIDED)
        .bind(&asked.workspace)
        .bind(asked.decided.number())
        .bind(integer(TOOLS as u64 + 1))
        .fetch_all(conn)
        .await?;
    let more = found.len() > TOOLS;
    let tool = |(tool, approved, edited, rejected, failed): (String, _, _, _, _)| ToolDecided {
        tool: Untrusted::from(tool),
        approved: number(approved),
        edited: Some(number(edited)),
        rejected: number(rejected),
        failed: number(failed),
    };
    Ok((found.into_iter().take(TOOLS).map(tool).collect(), more))
}

/// Who decided, and their groups; true when there are older decisions that were not looked at.
async fn deciders(
    conn: &mut SqliteConnection,
    asked: &AskedFlows,
) -> Result<((Vec<Decider>, Vec<Decider>), bool), StoreError> {
    let (mut deciders, mut older) = (Deciders::new(asked), false);
    for question in [REVIEWED, GIVEN] {
        let mut rows = sqlx::query(question)
            .bind(&asked.workspace)
            .bind(asked.decided.start().as_millis())
            .bind(integer(deciders::MOST as u64 + 1))
            .fetch(&mut *conn);
        let mut seen = 0;
        while let Some(row) = rows.try_next().await? {
            seen += 1;
            if seen > deciders::MOST {
                older = true;
                break;
            }
            deciders.add(&row)?;
        }
    }
    Ok((deciders.told(), older))
}
