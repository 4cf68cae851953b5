//! Compares all tables with the audit, and verifies the audit's chain.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::TryStreamExt as _;

use super::{Sql, Statement, audit, tokens};
use crate::gate::audit::replay::{Gone, Replay};
use crate::gate::store::columns::Columns as _;
use crate::gate::store::{StoreError, action_fields, rows};
use crate::gate::tool::Tools;

/// Names stored counts that are wrong.
const MISCOUNTED: &str = "WITH pending AS (SELECT * FROM actions WHERE status = 'pending'), \
     counted AS (SELECT 'batch ' AS kind, workspace, COALESCE(batch, id) AS name, '' AS more, COUNT(*) AS actions, MIN(seq) AS first_seq, \
     COUNT(*) FILTER (WHERE risk = 'low') AS low, COUNT(*) FILTER (WHERE risk = 'medium') AS medium, \
     COUNT(*) FILTER (WHERE risk = 'critical') AS critical, 0 AS high FROM pending GROUP BY workspace, COALESCE(batch, id) \
     UNION ALL SELECT 'workspace ', workspace, workspace, '', COUNT(*), 0, 0, 0, 0, 0 FROM pending GROUP BY workspace \
     UNION ALL SELECT 'mission ', workspace, mission, '', COUNT(*), 0, 0, 0, 0, 0 FROM pending WHERE mission IS NOT NULL \
     GROUP BY workspace, mission \
     UNION ALL SELECT 'queue ', workspace, COALESCE(agent, ''), tool, COUNT(*), 0, 0, 0, 0, \
     COUNT(*) FILTER (WHERE risk NOT IN ('low', 'medium')) FROM pending GROUP BY workspace, COALESCE(agent, ''), tool \
     UNION ALL SELECT '', workspace, status, ' in ' || workspace, COUNT(*), 0, 0, 0, 0, 0 FROM actions WHERE status <> 'pending' \
     GROUP BY workspace, status), \
     kept AS (SELECT 'batch ' AS kind, workspace, batch AS name, '' AS more, pending AS actions, first_seq, low, medium, critical, 0 AS high \
     FROM outstanding \
     UNION ALL SELECT 'workspace ', workspace, workspace, '', pending, 0, 0, 0, 0, 0 FROM heads WHERE pending <> 0 \
     UNION ALL SELECT 'mission ', workspace, mission, '', pending, 0, 0, 0, 0, 0 FROM blocked \
     UNION ALL SELECT 'queue ', workspace, agent, tool, pending, 0, 0, 0, 0, high FROM waiting \
     UNION ALL SELECT '', workspace, status, ' in ' || workspace, actions, 0, 0, 0, 0, 0 FROM states WHERE actions <> 0) \
     SELECT kind || name || more AS name FROM (SELECT * FROM counted EXCEPT SELECT * FROM kept) AS one \
     UNION SELECT kind || name || more FROM (SELECT * FROM kept EXCEPT SELECT * FROM counted) AS other";

/// Names rows whose counterpart in another table is missing.
const HALVES: &str = "SELECT 'action ' || id AS name FROM actions a WHERE NOT EXISTS (SELECT 1 FROM payloads p WHERE p.seq = a.seq) \
     UNION ALL SELECT 'payload ' || seq FROM payloads p WHERE NOT EXISTS (SELECT 1 FROM actions a WHERE a.seq = p.seq) \
     UNION ALL SELECT 'approval of ' || seq FROM approvals v WHERE NOT EXISTS (SELECT 1 FROM actions a WHERE a.seq = v.seq)";

/// Maximum number of actions, and of audit rows, compared at once.
const ACTIONS: i64 = 500;
const ROWS: i64 = 5_000;

/// Compares everything with the audit. The caller begins a transaction: writes of a running gate would look like
/// tampering.
pub(in crate::gate::store) async fn compare<S: Sql>(
    conn: &mut S,
    replay: &mut Replay,
    read: &AtomicU64,
) -> Result<(), StoreError> {
    let mut rows = conn.fetch(Statement::new("SELECT * FROM audit ORDER BY workspace, revision"));
    while let Some(found) = rows.try_next().await? {
        replay.row(&rows::audit_row(&found)?);
        counted(read).await;
    }
    drop(rows);
    for head in &audit::heads(conn, None).await? {
        replay.head(head);
    }
    if replay.prunes() {
        for statement in S::SORT_PRUNED {
            conn.execute(Statement::new(*statement)).await?;
        }
    }
    let mut pruned = Pruned { is_over: !replay.prunes(), ..Pruned::default() };
    let mut after = None;
    loop {
        let part = Part { until: end_of_part(conn, after.as_deref()).await?, after };
        part.audit(conn, replay, read).await?;
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
    let paused = conn.fetch_all(Statement::new("SELECT workspace FROM pauses")).await?;
    let paused = paused.iter().map(|row| row.text("workspace")).collect::<Result<BTreeSet<String>, _>>()?;
    for workspace in paused.symmetric_difference(&replay.paused().clone()) {
        replay.problem(format!("workspace {workspace:?}: the audit says otherwise of its pause"));
    }
    for (query, what) in [
        (MISCOUNTED, "its pending actions are miscounted"),
        (HALVES, "only one half of it is there"),
        (S::GUARDS_GONE, "this guard of the tables is gone"),
    ] {
        let mut found = conn.fetch(Statement::new(query));
        while let Some(row) = found.try_next().await? {
            replay.problem(format!("{:?}: {what}", row.text("name")?));
        }
    }
    Ok(())
}

/// Counts a row. Yields now and then, because rows may arrive faster than they are compared.
async fn counted(read: &AtomicU64) {
    if read.fetch_add(1, Ordering::Relaxed).is_multiple_of(128) {
        tokio::task::yield_now().await;
    }
}

struct Part {
    /// `None` to begin with the first.
    after: Option<String>,
    /// The last id; `None` for no limit.
    until: Option<String>,
}

/// Returns the last id of the part after `after`, so that it has few actions and few audit rows. `None` if the rest is
/// one part.
async fn end_of_part<S: Sql>(conn: &mut S, after: Option<&str>) -> Result<Option<String>, StoreError> {
    let mut query =
        Statement::new("SELECT MIN(id) AS id FROM (SELECT * FROM (SELECT id FROM actions WHERE id");
    behind(&mut query, after);
    query.push(" ORDER BY id LIMIT 1 OFFSET ").push_bind(ACTIONS);
    query.push(") AS a UNION ALL SELECT * FROM (SELECT action FROM audit WHERE action");
    behind(&mut query, after);
    query.push(" ORDER BY action LIMIT 1 OFFSET ").push_bind(ROWS).push(") AS b) AS c");
    Ok(conn.fetch_one(query).await?.maybe_text("id")?)
}

fn behind(query: &mut Statement, after: Option<&str>) {
    query.push(if after.is_some() { " > " } else { " >= " }).push_bind(after.unwrap_or_default());
}

impl Part {
    fn within(&self, query: &mut Statement, column: &str) {
        query.push(" WHERE ").push(column);
        behind(query, self.after.as_deref());
        if let Some(until) = &self.until {
            query.push(" AND ").push(column).push(" <= ").push_bind(until);
        }
    }

    async fn audit<S: Sql>(
        &self,
        conn: &mut S,
        replay: &mut Replay,
        read: &AtomicU64,
    ) -> Result<(), StoreError> {
        let mut query = Statement::new("SELECT * FROM audit");
        self.within(&mut query, "action");
        query.push(" ORDER BY action, revision");
        let mut rows = conn.fetch(query);
        while let Some(found) = rows.try_next().await? {
            replay.action_row(&rows::audit_row(&found)?);
            counted(read).await;
        }
        Ok(())
    }

    async fn actions<S: Sql>(&self, conn: &mut S, replay: &mut Replay) -> Result<(), StoreError> {
        let (mut query, tools) = (Statement::new(action_fields::whole_listing()), Tools::none());
        self.within(&mut query, "a.id");
        let mut actions = conn.fetch(query);
        while let Some(found) = actions.try_next().await? {
            match action_fields::stored(&found, &tools) {
                Ok(stored) => replay.action(&stored),
                Err(error) => replay.problem(format!("action {:?}: {error}", found.text("id")?)),
            }
        }
        replay.end_of_part();
        Ok(())
    }
}

#[derive(Default)]
struct Pruned {
    waiting: VecDeque<Gone>,
    read: i64,
    is_over: bool,
}

impl Pruned {
    /// Returns the next ones, up to the end of a part.
    async fn until<S: Sql>(&mut self, conn: &mut S, end: Option<&str>) -> Result<Vec<Gone>, StoreError> {
        let mut found = Vec::new();
        loop {
            if self.waiting.is_empty() && !self.is_over {
                let next = conn.fetch_all(S::next_pruned(self.read)).await?;
                self.is_over = next.is_empty();
                self.read += next.len() as i64;
                for row in &next {
                    let revision = rows::number(row.int("revision")?);
                    let (workspace, id, record) =
                        (row.text("workspace")?, row.text("id")?, row.text("record")?);
                    self.waiting.push_back(Gone { workspace, revision, id, record });
                }
            }
            let within = |gone: &mut Gone| end.is_none_or(|end| gone.id.as_str() <= end);
            match self.waiting.pop_front_if(within) {
                Some(gone) => found.push(gone),
                None => return Ok(found),
            }
        }
    }
}
