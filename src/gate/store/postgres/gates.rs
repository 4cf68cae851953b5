//! The registry of gates that share this database.

use sqlx::Row as _;

use super::conn::Conn;
use crate::domain::Timestamp;
use crate::gate::policies::Registered;
use crate::gate::store::StoreError;

/// A gate that missed three reports is removed.
const SILENT_MILLIS: i64 = 35_000;

/// `$1` to `$4` are this gate, `$5` the maximum silence. Gates that clean up at the same time skip each other's rows.
const BEAT: &str = "WITH moment AS MATERIALIZED (SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint AS now), \
     silent AS (SELECT id FROM gates, moment WHERE id <> $1 AND seen_at < now - $5 FOR UPDATE OF gates SKIP LOCKED), \
     swept AS (DELETE FROM gates WHERE id IN (SELECT id FROM silent)), \
     beat AS (INSERT INTO gates (id, name, started_at, seen_at, policies) SELECT $1, $2, $3, now, $4 FROM moment \
     ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at) \
     SELECT id, name, started_at, policies FROM gates, moment WHERE id <> $1 AND seen_at >= now - $5 ORDER BY name, id";

pub(super) async fn beat(conn: &mut Conn, me: &Registered) -> Result<Vec<Registered>, StoreError> {
    let policies = serde_json::to_string(&me.policies);
    let policies = policies.map_err(|_| StoreError::Corrupt("policies that are no JSON"))?;
    let beat = sqlx::query(BEAT)
        .bind(&me.id)
        .bind(&me.name)
        .bind(me.started_at.as_millis())
        .bind(policies)
        .bind(SILENT_MILLIS);
    let mut others = Vec::new();
    for row in beat.fetch_all(&mut *conn).await? {
        let policies: String = row.try_get("policies")?;
        // Policies that another version wrote in an unreadable form are not compared.
        if let Ok(policies) = serde_json::from_str(&policies) {
            let started_at = Timestamp::from_millis(row.try_get("started_at")?);
            others.push(Registered {
                id: row.try_get("id")?,
                name: row.try_get("name")?,
                started_at,
                policies,
            });
        }
    }
    Ok(others)
}

pub(super) async fn leave(conn: &mut Conn, me: &str) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM gates WHERE id = $1").bind(me).execute(conn).await?;
    Ok(())
}
