//! Counts of actions by minute. Writers count, so reading costs the requested minutes and not the queue.

use std::collections::HashMap;

use futures_util::TryStreamExt as _;

use super::{Sql, Statement};
use crate::domain::{Decider, Flow, Flows, Minute, Queue, QueueFlow, Timestamp, ToolDecided, Untrusted};
use crate::gate::store::columns::Columns;
use crate::gate::store::deciders::{self, Deciders};
use crate::gate::store::rows::{integer, number};
use crate::gate::store::{AskedFlows, StoreError};

const TOOLS: usize = 500;

/// The queues reported by name: those with the most pending actions, then those with the most events. `$2` is the first
/// minute.
pub(in crate::gate::store) const QUEUES: &str = "SELECT agent <> '' AS named, CASE WHEN agent <> '' THEN agent ELSE tool END AS queue, \
     CAST(SUM(pending) AS BIGINT) AS pending, CAST(SUM(happened) AS BIGINT) AS happened FROM ( \
     SELECT agent, tool, pending, 0 AS happened FROM waiting WHERE workspace = $1 UNION ALL \
     SELECT agent, tool, 0, arrived + approved + rejected + gone + executed + failed + unknown FROM flows \
     WHERE workspace = $1 AND minute >= $2) AS counted GROUP BY 1, 2 ORDER BY pending DESC, happened DESC, 1, 2 LIMIT $3";

pub(in crate::gate::store) const PENDING: &str =
    "SELECT CAST(COALESCE(SUM(pending), 0) AS BIGINT) AS pending FROM waiting WHERE workspace = $1";

/// In key order, which is by minute.
pub(in crate::gate::store) const MINUTES: &str = "SELECT *, agent <> '' AS named, CASE WHEN agent <> '' THEN agent ELSE tool END AS queue \
     FROM flows WHERE workspace = $1 AND minute >= $2 ORDER BY minute";

pub(in crate::gate::store) const DECIDED: &str = "SELECT tool, CAST(SUM(approved) AS BIGINT) AS approved, CAST(SUM(edited) AS BIGINT) AS edited, \
     CAST(SUM(rejected) AS BIGINT) AS rejected, CAST(SUM(failed) AS BIGINT) AS failed FROM flows WHERE workspace = $1 AND minute >= $2 \
     GROUP BY tool HAVING SUM(approved + rejected + failed) > 0 \
     ORDER BY SUM(approved + rejected) DESC, tool LIMIT $3";

/// Decisions of settled actions since the time `$2`.
pub(in crate::gate::store) const REVIEWED: &str = "SELECT resolved_by AS subject, CAST(CASE WHEN status = 'rejected' THEN 1 ELSE 0 END AS BIGINT) AS rejected, \
     CAST(CASE WHEN COALESCE(effective_digest, digest) <> digest THEN 1 ELSE 0 END AS BIGINT) AS edited, resolved_at AS at, \
     resolved_at - created_at AS waited \
     FROM actions WHERE workspace = $1 AND resolved_at >= $2 AND resolved_by <> proposer \
     AND status NOT IN ('withdrawn', 'superseded') \
     ORDER BY resolved_at DESC LIMIT $3";

/// Approvals that were not the last one. They are few, so SQLite looks them up by time; by workspace it would read all
/// actions.
pub(in crate::gate::store) fn given<S: Sql>() -> String {
    format!(
        "SELECT v.subject, CAST(0 AS BIGINT) AS rejected, \
         CAST(CASE WHEN v.effective_digest <> a.digest THEN 1 ELSE 0 END AS BIGINT) AS edited, v.at, v.at - a.created_at AS waited \
         FROM approvals v JOIN actions a ON a.seq = v.seq WHERE {}a.workspace = $1 AND v.at >= $2 \
         AND (a.resolved_by IS NULL OR a.resolved_by <> v.subject) ORDER BY v.at DESC LIMIT $3",
        S::UNINDEXED
    )
}

/// Reads the counts. The caller begins a transaction: otherwise a proposal between two queries would be in the minutes
/// but not pending.
pub(in crate::gate::store) async fn read<S: Sql>(
    conn: &mut S,
    asked: &AskedFlows,
) -> Result<Flows, StoreError> {
    // Counting began with the gate, which is as old as its first token.
    let first = conn.fetch_one(Statement::new("SELECT MIN(created_at) AS at FROM tokens")).await?;
    let begun = first.maybe_int("at")?;
    let begun = begun.map_or(asked.from, |at| Minute::of(Timestamp::from_millis(at).min(asked.now)));
    let queues = queues(conn, asked).await?;
    let (tools, more) = tools(conn, asked).await?;
    let asks = asked.reviewers || asked.groups.is_some();
    let ((reviewers, groups), older) =
        if asks { deciders(conn, asked).await? } else { ((Vec::new(), Vec::new()), false) };
    let from = asked.from.max(begun).start();
    Ok(Flows { at: asked.now, from, queues, tools, reviewers, groups, truncated: more || older })
}

async fn queues<S: Sql>(conn: &mut S, asked: &AskedFlows) -> Result<Vec<QueueFlow>, StoreError> {
    let about = |text: &'static str| Statement::new(text).bind(&asked.workspace);
    let most = integer(Queue::MOST as u64);
    let found = conn.fetch_all(about(QUEUES).bind(asked.from.number()).bind(most)).await?;
    let mut told = Vec::with_capacity(found.len() + 1);
    let mut places = HashMap::new();
    for row in &found {
        let queue = queue(row)?;
        places.insert(queue.clone(), told.len());
        let pending = number(row.int("pending")?);
        told.push(QueueFlow { queue, pending, minutes: Vec::new() });
    }
    let all = conn.fetch_one(about(PENDING)).await?.int("pending")?;
    let apart: u64 = told.iter().map(|queue| queue.pending).sum();
    let pending = number(all).saturating_sub(apart);
    let mut rest = QueueFlow { queue: Queue::Rest, pending, minutes: Vec::new() };
    let mut rows = conn.fetch(about(MINUTES).bind(asked.from.number()));
    while let Some(row) = rows.try_next().await? {
        let place = places.get(&queue(&row)?).and_then(|&place| told.get_mut(place));
        add(&mut place.unwrap_or(&mut rest).minutes, Minute::new(row.int("minute")?), &flow(&row)?);
    }
    if rest.pending > 0 || !rest.minutes.is_empty() {
        told.push(rest);
    }
    Ok(told)
}

/// Adds a flow to the last minute, or begins the next: several tools of an agent share a minute.
fn add(minutes: &mut Vec<(Minute, Flow)>, minute: Minute, flow: &Flow) {
    match minutes.last_mut() {
        Some((last, sum)) if *last == minute => *sum = sum.plus(flow),
        _ => minutes.push((minute, *flow)),
    }
}

fn queue(row: &dyn Columns) -> Result<Queue, StoreError> {
    let name = Untrusted::from(row.text("queue")?);
    Ok(if row.flag("named")? { Queue::Agent(name) } else { Queue::Tool(name) })
}

fn flow(row: &dyn Columns) -> Result<Flow, StoreError> {
    Ok(Flow::of(|name| row.int(if name == "left" { "gone" } else { name }).map(number))?)
}

async fn tools<S: Sql>(conn: &mut S, asked: &AskedFlows) -> Result<(Vec<ToolDecided>, bool), StoreError> {
    let query = Statement::new(DECIDED)
        .bind(&asked.workspace)
        .bind(asked.decided.number())
        .bind(integer(TOOLS as u64 + 1));
    let found = conn.fetch_all(query).await?;
    let tool = |row: &S::Row| {
        Ok(ToolDecided {
            tool: Untrusted::from(row.text("tool")?),
            approved: number(row.int("approved")?),
            edited: Some(number(row.int("edited")?)),
            rejected: number(row.int("rejected")?),
            failed: number(row.int("failed")?),
        })
    };
    let tools = found.iter().take(TOOLS).map(tool).collect::<Result<_, StoreError>>()?;
    Ok((tools, found.len() > TOOLS))
}

/// Returns deciders and their groups, and whether older decisions were left out.
async fn deciders<S: Sql>(
    conn: &mut S,
    asked: &AskedFlows,
) -> Result<((Vec<Decider>, Vec<Decider>), bool), StoreError> {
    let (mut deciders, mut older) = (Deciders::new(asked), false);
    for question in [Statement::new(REVIEWED), Statement::new(given::<S>())] {
        let mut rows = conn.fetch(
            question
                .bind(&asked.workspace)
                .bind(asked.decided.start().as_millis())
                .bind(integer(deciders::MOST as u64 + 1)),
        );
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
