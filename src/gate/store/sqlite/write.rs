//! Writes the buffer of a group: multi-row inserts, one table after another, then the counts of pending actions.
//!
//! Each statement goes to the connection's thread and back, so statements cost more than rows. A lone proposal still
//! takes six, or seven with a key.
//!
//! A temporary view was tried, whose triggers took rows of all tables in one statement. It was faster with a few
//! clients, and the hardest part of the gate to read.

use sqlx::query_builder::Separated;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use crate::domain::{Effect, Flow, RawJson, Status, Timestamp};
use crate::gate::store::rows::integer;
use crate::gate::store::write_buffer::{Proposal, WriteBuffer};

const MAX_ROWS: usize = 32;

/// Counts new actions as pending. `?1` is a JSON array of their ids. With `MIN`, SQLite takes the other columns from
/// the same row.
pub(super) const COUNT_IN: &str = "INSERT INTO outstanding (workspace, batch, tool, mission, first_seq, pending, low, medium, critical) \
     SELECT workspace, COALESCE(batch, id), tool, mission, MIN(seq), COUNT(*), \
     SUM(risk = 'low'), SUM(risk = 'medium'), SUM(risk = 'critical') \
     FROM actions WHERE id IN (SELECT value FROM json_each(?1)) GROUP BY 1, 2 \
     ON CONFLICT (workspace, batch) DO UPDATE SET pending = pending + excluded.pending, low = low + excluded.low, \
     medium = medium + excluded.medium, critical = critical + excluded.critical; \
     INSERT INTO blocked (workspace, mission, pending) SELECT workspace, mission, COUNT(*) \
     FROM actions WHERE id IN (SELECT value FROM json_each(?1)) AND mission IS NOT NULL GROUP BY 1, 2 \
     ON CONFLICT (workspace, mission) DO UPDATE SET pending = pending + excluded.pending; \
     INSERT INTO waiting (workspace, agent, tool, pending, high) \
     SELECT workspace, COALESCE(agent, ''), tool, COUNT(*), SUM(risk NOT IN ('low', 'medium')) \
     FROM actions WHERE id IN (SELECT value FROM json_each(?1)) GROUP BY 1, 2, 3 \
     ON CONFLICT (workspace, agent, tool) DO UPDATE SET pending = pending + excluded.pending, high = high + excluded.high";

/// Removes actions from the counts of pending ones. `?1` is a JSON array of their `seq`. A batch whose oldest action
/// went continues with the next one. The `+` removes the type of the column, with which SQLite would
/// read all pending actions instead of using the index.
pub(super) const COUNT_OUT: &str = "UPDATE outstanding AS k SET pending = k.pending - g.gone, low = k.low - g.low, \
     medium = k.medium - g.medium, critical = k.critical - g.critical, \
     first_seq = COALESCE((SELECT MIN(a.seq) FROM actions a WHERE a.workspace = k.workspace \
     AND COALESCE(a.batch, a.id) = +k.batch AND a.status = 'pending'), k.first_seq) \
     FROM (SELECT workspace, COALESCE(batch, id) AS batch, COUNT(*) AS gone, SUM(risk = 'low') AS low, SUM(risk = 'medium') AS medium, \
     SUM(risk = 'critical') AS critical FROM actions WHERE seq IN (SELECT value FROM json_each(?1)) GROUP BY 1, 2) AS g \
     WHERE k.workspace = g.workspace AND k.batch = g.batch; \
     DELETE FROM outstanding WHERE pending = 0 AND (workspace, batch) IN \
     (SELECT workspace, COALESCE(batch, id) FROM actions WHERE seq IN (SELECT value FROM json_each(?1))); \
     UPDATE blocked AS k SET pending = k.pending - g.gone FROM (SELECT workspace, mission, COUNT(*) AS gone \
     FROM actions WHERE seq IN (SELECT value FROM json_each(?1)) GROUP BY 1, 2) AS g \
     WHERE k.workspace = g.workspace AND k.mission = g.mission; \
     DELETE FROM blocked WHERE pending = 0 AND (workspace, mission) IN \
     (SELECT workspace, mission FROM actions WHERE seq IN (SELECT value FROM json_each(?1))); \
     UPDATE waiting AS k SET pending = k.pending - g.gone, high = k.high - g.high FROM (SELECT workspace, COALESCE(agent, '') AS agent, \
     tool, COUNT(*) AS gone, SUM(risk NOT IN ('low', 'medium')) AS high \
     FROM actions WHERE seq IN (SELECT value FROM json_each(?1)) GROUP BY 1, 2, 3) AS g \
     WHERE k.workspace = g.workspace AND k.agent = g.agent AND k.tool = g.tool; \
     DELETE FROM waiting WHERE pending = 0 AND (workspace, agent, tool) IN \
     (SELECT workspace, COALESCE(agent, ''), tool FROM actions WHERE seq IN (SELECT value FROM json_each(?1)))";

/// Writes everything and empties the buffer. Heads come last, because they state that the rest is there.
pub(super) async fn write(buffer: &mut WriteBuffer, conn: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let WriteBuffer { proposals, answers, decided, audit, flows, states, heads } = std::mem::take(buffer);
    if !proposals.is_empty() {
        arrived(conn, &proposals).await?;
    }
    if !decided.is_empty() {
        sqlx::query(COUNT_OUT).bind(json(&decided)?).execute(&mut *conn).await?;
    }
    let states: Vec<_> = states.into_iter().collect();
    let into = "INSERT INTO states (workspace, status, actions) ";
    let then = " ON CONFLICT (workspace, status) DO UPDATE SET actions = actions + excluded.actions";
    insert(conn, (into, then), &states, |row, ((workspace, status), more)| {
        row.push_bind(workspace.as_str()).push_bind(status.as_str()).push_bind(*more);
    })
    .await?;
    let into = "INSERT INTO replies (workspace, subject, key, fingerprint, body, at, action) ";
    insert(conn, (into, ""), &answers, |row, it| {
        row.push_bind(it.by.workspace.as_str()).push_bind(it.by.subject.as_str());
        row.push_bind(it.key.key.as_str()).push_bind(it.key.fingerprint.as_slice());
        row.push_bind(it.body.as_str()).push_bind(it.at.as_millis()).push_bind(it.action.as_deref());
    })
    .await?;
    let flows: Vec<_> = flows.into_iter().collect();
    let into = "INSERT INTO flows \
         (workspace, minute, agent, tool, arrived, approved, edited, rejected, gone, executed, failed, unknown) ";
    let then = " ON CONFLICT (workspace, minute, agent, tool) DO UPDATE SET \
         arrived = arrived + excluded.arrived, approved = approved + excluded.approved, \
         edited = edited + excluded.edited, rejected = rejected + excluded.rejected, gone = gone + excluded.gone, \
         executed = executed + excluded.executed, failed = failed + excluded.failed, unknown = unknown + excluded.unknown";
    insert(conn, (into, then), &flows, |row, ((workspace, minute, agent, tool), flow)| {
        row.push_bind(workspace.as_str()).push_bind(minute.number());
        row.push_bind(agent.as_str()).push_bind(tool.as_str());
        let Flow { arrived, approved, edited, rejected, left, executed, failed, unknown } = *flow;
        for count in [arrived, approved, edited, rejected, left, executed, failed, unknown] {
            row.push_bind(integer(count));
        }
    })
    .await?;
    let into = "INSERT INTO audit (workspace, revision, action, kind, at, who, details, hash) ";
    insert(conn, (into, ""), &audit, |row, (it, hash)| {
        row.push_bind(it.workspace.as_str()).push_bind(integer(it.revision)).push_bind(it.action.as_deref());
        row.push_bind(it.kind.as_str()).push_bind(it.at.as_millis()).push_bind(it.who.as_deref());
        row.push_bind(it.details.as_deref()).push_bind(hash.as_slice());
    })
    .await?;
    let heads: Vec<_> = heads.into_values().collect();
    let into = "INSERT INTO heads (workspace, revision, pending, hash, pruned) ";
    let then = " ON CONFLICT (workspace) DO UPDATE SET revision = excluded.revision, pending = excluded.pending, \
         hash = excluded.hash, pruned = excluded.pruned";
    insert(conn, (into, then), &heads, |row, head| {
        row.push_bind(head.workspace.as_str()).push_bind(integer(head.revision));
        row.push_bind(integer(head.pending)).push_bind(head.hash.as_deref()).push_bind(integer(head.pruned));
    })
    .await
}

async fn arrived(conn: &mut SqliteConnection, proposals: &[Proposal]) -> Result<(), sqlx::Error> {
    let into = "INSERT INTO actions (id, workspace, batch, checkpoint, mission, session, run, tool_call, agent, requested_by, proposer, \
         tool, title, summary, risk, effect, callback, traceparent, size, digest, status, created_at, expires_at, revision) ";
    insert(conn, (into, ""), proposals, |row, Proposal { action, revision, at }| {
        row.push_bind(action.id.as_str()).push_bind(action.workspace.as_str());
        row.push_bind(action.batch.as_deref()).push_bind(action.checkpoint.as_deref());
        row.push_bind(action.mission.as_deref()).push_bind(action.session.as_deref());
        row.push_bind(action.run.as_deref()).push_bind(action.tool_call.as_deref());
        row.push_bind(action.agent.as_deref()).push_bind(action.requested_by.as_deref());
        row.push_bind(action.proposer.as_str()).push_bind(action.tool.as_str());
        row.push_bind(action.title.as_str()).push_bind(action.summary.as_deref());
        row.push_bind(action.risk.as_raw()).push_bind(action.effect.as_ref().map(Effect::as_raw));
        row.push_bind(action.origin.callback.as_deref()).push_bind(action.origin.traceparent.as_deref());
        row.push_bind(integer(action.input.as_str().len() as u64)).push_bind(action.digest.to_string());
        row.push_bind(Status::Pending.as_raw()).push_bind(at.as_millis());
        row.push_bind(action.expires_at.map(Timestamp::as_millis)).push_bind(integer(*revision));
    })
    .await?;
    let into = "INSERT INTO payloads (seq, input, preview, before) ";
    insert(conn, (into, ""), proposals, |row, Proposal { action, .. }| {
        row.push("(SELECT seq FROM actions WHERE id = ");
        row.push_bind_unseparated(action.id.as_str()).push_unseparated(")");
        row.push_bind(action.input.as_str());
        row.push_bind(action.preview.as_ref().map(RawJson::as_str));
        row.push_bind(action.before.as_ref().map(RawJson::as_str));
    })
    .await?;
    let ids: Vec<&str> = proposals.iter().map(|it| it.action.id.as_str()).collect();
    sqlx::query(COUNT_IN).bind(json(&ids)?).execute(conn).await?;
    Ok(())
}

/// Inserts rows; `into` and `then` are the text before and after them. The number of rows per statement is a power of
/// two, so that few distinct statements are prepared.
async fn insert<T>(
    conn: &mut SqliteConnection,
    (into, then): (&'static str, &'static str),
    mut rows: &[T],
    push: impl Fn(&mut Separated<'_, Sqlite, &'static str>, &T),
) -> Result<(), sqlx::Error> {
    while let Some(exponent) = rows.len().checked_ilog2() {
        let (part, rest) = rows.split_at(MAX_ROWS.min(1 << exponent));
        let mut query = QueryBuilder::new(into);
        query.push_values(part, |mut row, it| push(&mut row, it)).push(then);
        query.build().execute(&mut *conn).await?;
        rows = rest;
    }
    Ok(())
}

fn json(values: &impl serde::Serialize) -> Result<String, sqlx::Error> {
    serde_json::to_string(values).map_err(|error| sqlx::Error::Encode(error.into()))
}
