//! Writes the buffer of a group: multi-row inserts, one table after another, then the counts of pending actions.
//!
//! Each statement goes to the connection's thread and back, so statements cost more than rows. A lone proposal still
//! takes six, or seven with a key.

use sqlx::SqliteConnection;

use crate::gate::store::NewAction;
use crate::gate::store::action_fields::{Table, columns, values};
use crate::gate::store::sql::{Sql as _, Statement, Value};
use crate::gate::store::write_buffer::WriteBuffer;

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

pub(super) async fn write(buffer: &mut WriteBuffer, conn: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let buffer = std::mem::take(buffer);
    if !buffer.proposals.is_empty() {
        arrived(conn, &buffer.proposals).await?;
    }
    if !buffer.decided.is_empty() {
        conn.execute(Statement::new(COUNT_OUT).bind(json(&buffer.decided)?)).await?;
    }
    for it in buffer.inserts() {
        insert(conn, (&format!("INSERT INTO {} VALUES ", it.into), it.or), it.rows).await?;
    }
    Ok(())
}

async fn arrived(conn: &mut SqliteConnection, proposals: &[NewAction]) -> Result<(), sqlx::Error> {
    let actions = proposals.iter().map(|it| values(Table::Actions, it.proposed()).collect()).collect();
    let into = format!("INSERT INTO actions ({}) VALUES ", columns(Table::Actions));
    insert(conn, (&into, ""), actions).await?;
    let payloads = proposals.iter().map(|it| {
        let id = Value::from(it.action.row.id.as_raw());
        std::iter::once(id).chain(values(Table::Payloads, it.proposed())).collect()
    });
    let columns = columns(Table::Payloads);
    let into = format!("WITH n (id, {columns}) AS (VALUES ");
    let then = format!(
        ") INSERT INTO payloads (seq, {columns}) SELECT a.seq, {columns} FROM n JOIN actions a ON a.id = n.id"
    );
    insert(conn, (&into, &then), payloads.collect()).await?;
    let ids: Vec<&str> = proposals.iter().map(|it| it.action.row.id.as_raw()).collect();
    conn.execute(Statement::new(COUNT_IN).bind(json(&ids)?)).await?;
    Ok(())
}

/// Inserts rows, between these two texts. The number of rows per statement is a power of two, so that few distinct
/// statements are prepared.
async fn insert(
    conn: &mut SqliteConnection,
    (into, then): (&str, &str),
    mut rows: Vec<Vec<Value>>,
) -> Result<(), sqlx::Error> {
    while let Some(exponent) = rows.len().checked_ilog2() {
        let mut query = Statement::new(into.to_owned());
        for (nth, row) in rows.drain(..MAX_ROWS.min(1 << exponent)).enumerate() {
            query.push(if nth == 0 { "" } else { ", " }).push_list(row);
        }
        query.push(" ").push(then);
        conn.execute(query).await?;
    }
    Ok(())
}

fn json(values: &impl serde::Serialize) -> Result<String, sqlx::Error> {
    serde_json::to_string(values).map_err(|error| sqlx::Error::Encode(error.into()))
}
