//! Reading everything for the audit's sake: the chain, and whether the tables still say what it says.

use std::collections::BTreeSet;

use futures_util::TryStreamExt as _;
use sqlx::{Row as _, SqlitePool};

use super::{audit, row, tokens};
use crate::domain::Timestamp;
use crate::gate::audit::replay::Replay;
use crate::gate::audit::{AuditHead, Verified};
use crate::gate::store::StoreError;
use crate::gate::tool::Tools;

/// Counts that the triggers keep, where they are not what they count.
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
     UNION SELECT 'queue ' || agent || tool FROM (SELECT workspace, agent, tool, pending FROM waiting EXCEPT \
     SELECT workspace, COALESCE(agent, ''), tool, COUNT(*) FROM actions WHERE status = 'pending' GROUP BY 1, 2, 3) \
     UNION SELECT 'queue ' || agent || tool FROM (SELECT workspace, COALESCE(agent, '') AS agent, tool, COUNT(*) \
     FROM actions WHERE status = 'pending' GROUP BY 1, 2, 3 EXCEPT \
     SELECT workspace, agent, tool, pending FROM waiting)";

/// What stands in one of two tables that say it together: neither half is read where the other is missing.
const HALVES: &str = "SELECT 'action ' || id FROM actions WHERE seq NOT IN (SELECT seq FROM payloads) \
     UNION ALL SELECT 'payload ' || seq FROM payloads WHERE seq NOT IN (SELECT seq FROM actions)";

/// Triggers that are not there any more, so that something else could be done.
const GUARDS_GONE: &str = "SELECT column1 FROM (VALUES ('audit_is_never_changed'), ('audit_is_never_cut'), \
     ('actions_arrive'), ('actions_leave'), ('actions_wait'), ('actions_wait_no_more'), ('audit_is_counted')) EXCEPT SELECT name FROM sqlite_master WHERE type = 'trigger'";

/// In one transaction, so that a gate that goes on writing does not look like tampering.
pub(super) async fn verify(pool: &SqlitePool, kept: &[AuditHead]) -> Result<Verified, StoreError> {
    let mut tx = pool.begin_with("BEGIN").await?;
    let mut replay = Replay::new(kept);
    let mut rows = sqlx::query("SELECT * FROM audit ORDER BY workspace, revision").fetch(&mut *tx);
    while let Some(found) = rows.try_next().await? {
        replay.row(&audit::row(&found)?);
    }
    drop(rows);
    let heads = audit::heads(&mut tx, None).await?;
    for head in &heads {
        replay.head(head);
    }
    let tools = Tools::none();
    let mut actions = sqlx::query(row::WHOLE).fetch(&mut *tx);
    while let Some(found) = actions.try_next().await? {
        let until: Option<i64> = found.try_get("lease_until")?;
        match row::stored(&found, &tools) {
            Ok(stored) => replay.action(&stored, until.map(Timestamp::from_millis)),
            Err(error) => replay.problem(format!("action {:?}: {error}", found.try_get::<String, _>("id")?)),
        }
    }
    drop(actions);
    for (token, kept) in tokens::kept(&mut tx).await? {
        replay.token(&token, &kept);
    }
    let paused: Vec<String> = sqlx::query_scalar("SELECT workspace FROM pauses").fetch_all(&mut *tx).await?;
    let paused: BTreeSet<String> = paused.into_iter().collect();
    for workspace in paused.symmetric_difference(&replay.paused().clone()) {
        replay.problem(format!("workspace {workspace:?}: the audit says otherwise of its pause"));
    }
    let miscounted: Vec<String> = sqlx::query_scalar(MISCOUNTED).fetch_all(&mut *tx).await?;
    for what in miscounted {
        replay.problem(format!("{what:?}: its pending actions are miscounted"));
    }
    let halves: Vec<String> = sqlx::query_scalar(HALVES).fetch_all(&mut *tx).await?;
    for what in halves {
        replay.problem(format!("{what:?}: only one half of it is there"));
    }
    let gone: Vec<String> = sqlx::query_scalar(GUARDS_GONE).fetch_all(&mut *tx).await?;
    for what in gone {
        replay.problem(format!("the guard {what} of the tables is gone"));
    }
    Ok(replay.end())
}
