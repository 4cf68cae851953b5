//! Reading everything for the audit's sake: the chain, and whether the tables still say what it says.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::TryStreamExt as _;
use sqlx::{Executor as _, Postgres, QueryBuilder, Row as _};

use super::conn::Conn;
use super::pool::Pool;
use super::server::Server;
use super::{audit, tokens};
use crate::config::PostgresConfig;
use crate::gate::audit::replay::{Gone, Replay};
use crate::gate::audit::{AuditHead, Verified};
use crate::gate::store::{StoreError, rows};
use crate::gate::tool::Tools;

/// Counts that are kept, where they are not what they count.
const MISCOUNTED: &str = "WITH pending AS (SELECT * FROM actions WHERE status = 'pending'), \
     batches AS (SELECT workspace, COALESCE(batch, id) AS batch, COUNT(*) AS pending, MIN(seq) AS first_seq, \
     SUM((risk = 'low')::int) AS low, SUM((risk = 'medium')::int) AS medium, SUM((risk = 'critical')::int) AS critical \
     FROM pending GROUP BY 1, 2), \
     kept AS (SELECT workspace, batch, pending, first_seq, low, medium, critical FROM outstanding), \
     missions AS (SELECT workspace, mission, COUNT(*) AS pending FROM pending WHERE mission IS NOT NULL GROUP BY 1, 2), \
     queues AS (SELECT workspace, COALESCE(agent, '') AS agent, tool, COUNT(*) AS pending, \
     SUM((risk NOT IN ('low', 'medium'))::int) AS high FROM pending GROUP BY 1, 2, 3), \
     numbers AS (SELECT workspace, status, COUNT(*) AS actions FROM actions WHERE status <> 'pending' GROUP BY 1, 2), \
     told AS (SELECT workspace, status, actions FROM states WHERE actions <> 0), \
     odd AS (SELECT 'batch ' || batch AS name FROM ((TABLE batches EXCEPT TABLE kept) UNION (TABLE kept EXCEPT TABLE batches)) AS b \
     UNION SELECT 'workspace ' || h.workspace FROM heads h WHERE h.pending <> \
     (SELECT COUNT(*) FROM pending p WHERE p.workspace = h.workspace) \
     UNION SELECT 'mission ' || mission FROM ((TABLE missions EXCEPT TABLE blocked) UNION (TABLE blocked EXCEPT TABLE missions)) AS m \
     UNION SELECT 'queue ' || agent || tool FROM ((TABLE queues EXCEPT TABLE waiting) UNION (TABLE waiting EXCEPT TABLE queues)) AS q \
     UNION SELECT status || ' in ' || workspace FROM ((TABLE numbers EXCEPT TABLE told) UNION (TABLE told EXCEPT TABLE numbers)) AS s) \
     SELECT name FROM odd";

/// What stands in one of two tables that say it together: neither half is read where the other is missing.
const HALVES: &str = "SELECT 'action ' || id FROM actions a WHERE NOT EXISTS (SELECT 1 FROM payloads p WHERE p.seq = a.seq) \
     UNION ALL SELECT 'payload ' || seq FROM payloads p WHERE NOT EXISTS (SELECT 1 FROM actions a WHERE a.seq = p.seq) \
     UNION ALL SELECT 'approval of ' || seq FROM approvals v WHERE NOT EXISTS (SELECT 1 FROM actions a WHERE a.seq = v.seq)";

/// Triggers that are not there any more, or are switched off, so that something else could be done.
const GUARDS_GONE: &str = "SELECT guard FROM (VALUES ('audit_is_never_changed'), ('audit_is_never_cut')) AS guards (guard) \
     EXCEPT SELECT tgname::text FROM pg_trigger WHERE tgrelid = 'audit'::regclass AND tgenabled = 'O'";

/// How many actions, and how many audit rows, are compared in one part.
const ACTIONS: i64 = 500;
const ROWS: i64 = 5_000;

/// What was pruned, by id: one row of the audit names many. Sorted by the server, which keeps what does not fit its memory on its disk,
/// and read as a cursor, which a server that only reads has, too.
const PRUNED: &str = "DECLARE pruned NO SCROLL CURSOR FOR SELECT a.workspace, a.revision, g.value ->> 'id' AS id, COALESCE(g.value ->> 'record', '') AS record \
     FROM audit a, jsonb_array_elements(a.details::jsonb -> 'actions') AS g (value) \
     WHERE a.action IS NULL AND a.kind = 'pruned' ORDER BY 3";

/// What the audit of a database comes to that no gate may open.
pub(in crate::gate::store) async fn verify_at(
    server: &Server,
    kept: &[AuditHead],
    read: &AtomicU64,
) -> Result<Verified, StoreError> {
    let alone = PostgresConfig { connections: 1, ..PostgresConfig::default() };
    let pool = Pool::connect(server.options(false), &alone).await?;
    let given = (kept, read);
    let read_everything =
        pool.read_everything(&given, |conn, (kept, read)| Box::pin(verify(conn, kept, read)));
    let verified = read_everything.await;
    pool.close().await;
    verified
}

/// In one transaction, so that a gate that goes on writing does not look like tampering.
pub(super) async fn verify(
    conn: &mut Conn,
    kept: &[AuditHead],
    read: &AtomicU64,
) -> Result<Verified, StoreError> {
    let mut replay = Replay::new(kept);
    match compare(conn, &mut replay, read).await {
        // What somebody wrote there may not be what is expected; what was found before is told all the same.
        Err(StoreError::Database(error)) if error.as_database_error().is_some() => {
            replay.problem(format!("the rest cannot be read: {error}"));
        }
        compared => compared?,
    }
    Ok(replay.end())
}

/// One more row was read. Lets others run every now and then: rows may be there faster than they are compared.
async fn counted(read: &AtomicU64) {
    if read.fetch_add(1, Ordering::Relaxed).is_multiple_of(128) {
        tokio::task::yield_now().await;
    }
}

async fn compare(conn: &mut Conn, replay: &mut Replay, read: &AtomicU64) -> Result<(), StoreError> {
    let mut rows = sqlx::query("SELECT * FROM audit ORDER BY workspace, revision").fetch(&mut *conn);
    while let Some(found) = rows.try_next().await? {
        replay.row(&rows::audit_row(&found)?);
        counted(read).await;
    }
    drop(rows);
    for head in &audit::heads(conn, None).await? {
        replay.head(head);
    }
    if replay.prunes() {
        conn.execute(PRUNED).await?;
    }
    let mut pruned = Pruned { is_over: !replay.prunes(), ..Pruned::default() };
    let mut after = None;
    loop {
        let part = Part { until: end_of_part(conn, after.as_deref()).await?, after };
        part.compare(conn, replay, read).await?;
        for gone in pruned.until(conn, part.until.as_deref()).await? {
            replay.went(gone);
        }
        part.actions(conn, replay).await?;
        match part.until {
            Some(until) => after = Some(until),
            None => break,
        }
    }
    for (token, kept) in tokens::kept(conn).await? {
        replay.token(&token, &kept);
    }
    let paused: Vec<String> =
        sqlx::query_scalar("SELECT workspace FROM pauses").fetch_all(&mut *conn).await?;
    let paused: BTreeSet<String> = paused.into_iter().collect();
    for workspace in paused.symmetric_difference(&replay.paused().clone()) {
        replay.problem(format!("workspace {workspace:?}: the audit says otherwise of its pause"));
    }
    for (query, what) in [
        (MISCOUNTED, "its pending actions are miscounted"),
        (HALVES, "only one half of it is there"),
        (GUARDS_GONE, "this guard of the tables is gone"),
    ] {
        let mut found = sqlx::query_scalar::<_, String>(query).fetch(&mut *conn);
        while let Some(name) = found.try_next().await? {
            replay.problem(format!("{name:?}: {what}"));
        }
    }
    Ok(())
}

/// Actions whose ids lie in a range, and the audit's rows of them.
struct Part {
    /// `None`: from the first on.
    after: Option<String>,
    /// The last id; `None`: to the end.
    until: Option<String>,
}

/// The last id of the part after `after`, so that neither its actions nor its rows are many. `None`: the rest is one part.
async fn end_of_part(conn: &mut Conn, after: Option<&str>) -> Result<Option<String>, StoreError> {
    let mut query = QueryBuilder::new("SELECT MIN(id) FROM (SELECT * FROM (SELECT id FROM actions WHERE id");
    behind(&mut query, after);
    query.push(" ORDER BY id LIMIT 1 OFFSET ").push_bind(ACTIONS);
    query.push(") AS a UNION ALL SELECT * FROM (SELECT action FROM audit WHERE action");
    behind(&mut query, after);
    query.push(" ORDER BY action LIMIT 1 OFFSET ").push_bind(ROWS).push(") AS b) AS c");
    Ok(query.build_query_scalar().fetch_one(conn).await?)
}

fn behind(query: &mut QueryBuilder<Postgres>, after: Option<&str>) {
    let sign = if after.is_some() { " > " } else { " >= " };
    query.push(sign).push_bind(after.unwrap_or_default().to_owned());
}

impl Part {
    fn within(&self, query: &mut QueryBuilder<Postgres>, column: &'static str) {
        query.push(" WHERE ").push(column);
        behind(query, self.after.as_deref());
        if let Some(until) = &self.until {
            query.push(" AND ").push(column).push(" <= ").push_bind(until.clone());
        }
    }

    async fn compare(
        &self,
        conn: &mut Conn,
        replay: &mut Replay,
        read: &AtomicU64,
    ) -> Result<(), StoreError> {
        let mut query = QueryBuilder::new("SELECT * FROM audit");
        self.within(&mut query, "action");
        query.push(" ORDER BY action, revision");
        let mut rows = query.build().fetch(&mut *conn);
        while let Some(found) = rows.try_next().await? {
            replay.action_row(&rows::audit_row(&found)?);
            counted(read).await;
        }
        drop(rows);
        Ok(())
    }

    async fn actions(&self, conn: &mut Conn, replay: &mut Replay) -> Result<(), StoreError> {
        let (mut query, tools) = (QueryBuilder::new(rows::WHOLE), Tools::none());
        self.within(&mut query, "a.id");
        let mut actions = query.build().fetch(&mut *conn);
        while let Some(found) = actions.try_next().await? {
            match rows::stored(&found, &tools) {
                Ok(stored) => replay.action(&stored),
                Err(error) => {
                    replay.problem(format!("action {:?}: {error}", found.try_get::<String, _>("id")?));
                }
            }
        }
        replay.end_of_part();
        Ok(())
    }
}

/// Those that were pruned, in the order of their ids.
#[derive(Default)]
struct Pruned {
    waiting: VecDeque<Gone>,
    is_over: bool,
}

impl Pruned {
    /// The next ones, to the end of a part.
    async fn until(&mut self, conn: &mut Conn, end: Option<&str>) -> Result<Vec<Gone>, StoreError> {
        let mut found = Vec::new();
        loop {
            if self.waiting.is_empty() && !self.is_over {
                let next: Vec<(String, i64, String, String)> =
                    sqlx::query_as("FETCH 500 FROM pruned").fetch_all(&mut *conn).await?;
                self.is_over = next.is_empty();
                let gone = |(workspace, revision, id, record)| Gone {
                    workspace,
                    revision: rows::number(revision),
                    id,
                    record,
                };
                self.waiting.extend(next.into_iter().map(gone));
            }
            let within = |gone: &mut Gone| end.is_none_or(|end| gone.id.as_str() <= end);
            match self.waiting.pop_front_if(within) {
                Some(gone) => found.push(gone),
                None => return Ok(found),
            }
        }
    }
}
