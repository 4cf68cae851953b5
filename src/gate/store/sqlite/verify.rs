//! Reading everything for the audit's sake: the chain, and whether the tables still say what it says.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::TryStreamExt as _;
use sqlx::{QueryBuilder, Row as _, Sqlite, SqliteConnection, SqlitePool};

use super::{audit, tokens};
use crate::gate::audit::replay::{Gone, Replay};
use crate::gate::audit::{AuditHead, Verified};
use crate::gate::store::{StoreError, rows};
use crate::gate::tool::Tools;
use crate::sqlite::Words;

/// Counts that are kept, where they are not what they count.
const MISCOUNTED: &str = "WITH counted AS (SELECT workspace, COALESCE(batch, id) AS batch, COUNT(*) AS pending, \
     MIN(seq) AS first_seq, SUM(risk = 'low') AS low, SUM(risk = 'medium') AS medium, \
     SUM(risk = 'critical') AS critical FROM actions WHERE status = 'pending' GROUP BY 1, 2), \
     kept AS (SELECT workspace, batch, pending, first_seq, low, medium, critical FROM outstanding) \
     SELECT 'batch ' || batch FROM (SELECT * FROM (SELECT * FROM counted EXCEPT SELECT * FROM kept) \
     UNION SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM counted)) \
     UNION SELECT 'workspace ' || h.workspace FROM heads h WHERE h.pending <> \
     (SELECT COUNT(*) FROM actions a WHERE a.workspace = h.workspace AND a.status = 'pending') \
     UNION SELECT 'mission ' || mission FROM (SELECT workspace, mission, pending FROM blocked EXCEPT \
     SELECT workspace, mission, COUNT(*) FROM actions WHERE status = 'pending' AND mission IS NOT NULL GROUP BY 1, 2) \
     UNION SELECT 'mission ' || mission FROM (SELECT workspace, mission, COUNT(*) FROM actions \
     WHERE status = 'pending' AND mission IS NOT NULL GROUP BY 1, 2 EXCEPT \
     SELECT workspace, mission, pending FROM blocked) \
     UNION SELECT 'queue ' || agent || tool FROM (SELECT workspace, agent, tool, pending, high FROM waiting EXCEPT \
     SELECT workspace, COALESCE(agent, ''), tool, COUNT(*), SUM(risk NOT IN ('low', 'medium')) \
     FROM actions WHERE status = 'pending' GROUP BY 1, 2, 3) \
     UNION SELECT 'queue ' || agent || tool FROM (SELECT workspace, COALESCE(agent, '') AS agent, tool, COUNT(*), \
     SUM(risk NOT IN ('low', 'medium')) FROM actions WHERE status = 'pending' GROUP BY 1, 2, 3 EXCEPT \
     SELECT workspace, agent, tool, pending, high FROM waiting) \
     UNION SELECT status || ' in ' || workspace FROM (SELECT workspace, status, actions FROM states WHERE actions <> 0 EXCEPT \
     SELECT workspace, status, COUNT(*) FROM actions WHERE status <> 'pending' GROUP BY 1, 2) \
     UNION SELECT status || ' in ' || workspace FROM (SELECT workspace, status, COUNT(*) FROM actions \
     WHERE status <> 'pending' GROUP BY 1, 2 EXCEPT SELECT workspace, status, actions FROM states)";

/// What stands in one of two tables that say it together: neither half is read where the other is missing.
const HALVES: &str = "SELECT 'action ' || id FROM actions WHERE seq NOT IN (SELECT seq FROM payloads) \
     UNION ALL SELECT 'payload ' || seq FROM payloads WHERE seq NOT IN (SELECT seq FROM actions) \
     UNION ALL SELECT 'approval of ' || seq FROM approvals WHERE seq NOT IN (SELECT seq FROM actions)";

/// Triggers that are not there any more, so that something else could be done.
const GUARDS_GONE: &str = "SELECT column1 FROM (VALUES ('audit_is_never_changed'), ('audit_is_never_cut')) \
     EXCEPT SELECT name FROM sqlite_master WHERE type = 'trigger'";

/// How many actions, and how many audit rows, are compared in one part.
const ACTIONS: i64 = 500;
const ROWS: i64 = 5_000;
/// What SQLite itself finds wrong is told up to this number.
const FAULTS: &str = "PRAGMA integrity_check(50)";

/// What was pruned, by id: one row of the audit names many, in the order in which they were settled. In SQLite's own temporary file,
/// because they may be many.
const PRUNED: [&str; 3] = [
    "DROP TABLE IF EXISTS temp.pruned",
    "CREATE TEMP TABLE pruned AS SELECT a.workspace, a.revision, CAST(g.value ->> 'id' AS TEXT) AS id, \
     COALESCE(CAST(g.value ->> 'record' AS TEXT), '') AS record FROM audit a, \
     json_each(CASE WHEN json_valid(a.details) THEN a.details ELSE '{}' END, '$.actions') g \
     WHERE a.action IS NULL AND a.kind = 'pruned'",
    "CREATE INDEX temp.pruned_by_id ON pruned (id)",
];

/// In one transaction, so that a gate that goes on writing does not look like tampering.
pub(in crate::gate::store) async fn verify(
    pool: &SqlitePool,
    kept: &[AuditHead],
    read: &AtomicU64,
) -> Result<Verified, StoreError> {
    let mut tx = pool.begin_with("BEGIN").await?;
    let mut replay = Replay::new(kept);
    let whole = is_whole(&mut tx, &mut replay).await;
    match compare(&mut tx, &mut replay, read).await {
        // A file with faults may not be readable to its end: what was found is told all the same.
        Err(error) if !whole => replay.problem(format!("the rest cannot be read: {error}")),
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

/// SQLite's own check: pages, indexes against their tables, constraints.
async fn is_whole(conn: &mut SqliteConnection, replay: &mut Replay) -> bool {
    match sqlx::query_scalar::<_, String>(FAULTS).fetch_all(conn).await {
        Ok(said) if said == ["ok"] => return true,
        Ok(faults) => faults.into_iter().for_each(|fault| replay.problem(format!("SQLite's check: {fault}"))),
        Err(error) => replay.problem(format!("SQLite's check: {}", Words(&error))),
    }
    false
}

async fn compare(
    conn: &mut SqliteConnection,
    replay: &mut Replay,
    read: &AtomicU64,
) -> Result<(), StoreError> {
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
        for statement in PRUNED {
            sqlx::query(statement).execute(&mut *conn).await?;
        }
    }
    let mut after = None;
    loop {
        let part = Part { until: end_of_part(conn, after.as_deref()).await?, after };
        part.compare(conn, replay, read).await?;
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
async fn end_of_part(conn: &mut SqliteConnection, after: Option<&str>) -> Result<Option<String>, StoreError> {
    let mut query = QueryBuilder::new("SELECT MIN(id) FROM (SELECT * FROM (SELECT id FROM actions WHERE id");
    behind(&mut query, after);
    query.push(" ORDER BY id LIMIT 1 OFFSET ").push_bind(ACTIONS);
    query.push(") UNION ALL SELECT * FROM (SELECT action FROM audit WHERE action");
    behind(&mut query, after);
    query.push(" ORDER BY action LIMIT 1 OFFSET ").push_bind(ROWS).push("))");
    Ok(query.build_query_scalar().fetch_one(conn).await?)
}

fn behind(query: &mut QueryBuilder<Sqlite>, after: Option<&str>) {
    let sign = if after.is_some() { " > " } else { " >= " };
    query.push(sign).push_bind(after.unwrap_or_default().to_owned());
}

impl Part {
    fn within(&self, query: &mut QueryBuilder<Sqlite>, column: &'static str) {
        query.push(" WHERE ").push(column);
        behind(query, self.after.as_deref());
        if let Some(until) = &self.until {
            query.push(" AND ").push(column).push(" <= ").push_bind(until.clone());
        }
    }

    async fn compare(
        &self,
        conn: &mut SqliteConnection,
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
        if replay.prunes() {
            let mut query = QueryBuilder::new("SELECT workspace, revision, id, record FROM temp.pruned");
            self.within(&mut query, "id");
            let mut pruned = query.build_query_as::<(String, i64, String, String)>().fetch(&mut *conn);
            while let Some((workspace, revision, id, record)) = pruned.try_next().await? {
                replay.went(Gone { workspace, revision: rows::number(revision), id, record });
            }
        }
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
