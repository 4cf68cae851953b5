//! Writes the buffer of a group in one statement, because each statement is a round trip while the workspace is locked.

use sqlx::{Postgres, QueryBuilder};

use super::conn::Conn;
use crate::gate::store::action_fields::{Table, columns, values};
use crate::gate::store::sql::Value;
use crate::gate::store::write_buffer::{Insert, WriteBuffer};
use crate::gate::store::{NewAction, StoreError};

/// Counts the new actions in `a` as pending.
const ARRIVED: &str = "o AS (INSERT INTO outstanding (workspace, batch, tool, mission, pending, first_seq, low, medium, critical) \
     SELECT workspace, of_batch, (array_agg(tool ORDER BY seq))[1], (array_agg(mission ORDER BY seq))[1], count(*), min(seq), \
     count(*) FILTER (WHERE risk = 'low'), count(*) FILTER (WHERE risk = 'medium'), count(*) FILTER (WHERE risk = 'critical') \
     FROM a GROUP BY workspace, of_batch ORDER BY of_batch \
     ON CONFLICT (workspace, batch) DO UPDATE SET pending = outstanding.pending + excluded.pending, low = outstanding.low + excluded.low, \
     medium = outstanding.medium + excluded.medium, critical = outstanding.critical + excluded.critical), \
     b AS (INSERT INTO blocked SELECT workspace, mission, count(*) FROM a WHERE mission IS NOT NULL GROUP BY workspace, mission \
     ON CONFLICT (workspace, mission) DO UPDATE SET pending = blocked.pending + excluded.pending), \
     w AS (INSERT INTO waiting SELECT workspace, of_agent, tool, count(*), count(*) FILTER (WHERE risk NOT IN ('low', 'medium')) \
     FROM a GROUP BY workspace, of_agent, tool \
     ON CONFLICT (workspace, agent, tool) DO UPDATE SET pending = waiting.pending + excluded.pending, high = waiting.high + excluded.high)";

/// Removes the actions in `l` from the counts of pending ones. A batch whose oldest action went continues with the next
/// one. All parts see the counts from before the statement.
const LEFT: &str = "batches AS (SELECT workspace, of_batch, count(*) AS gone, count(*) FILTER (WHERE risk = 'low') AS low, \
     count(*) FILTER (WHERE risk = 'medium') AS medium, count(*) FILTER (WHERE risk = 'critical') AS critical FROM l GROUP BY 1, 2), \
     missions AS (SELECT workspace, mission, count(*) AS gone FROM l WHERE mission IS NOT NULL GROUP BY 1, 2), \
     queues AS (SELECT workspace, of_agent, tool, count(*) AS gone, count(*) FILTER (WHERE risk NOT IN ('low', 'medium')) AS high \
     FROM l GROUP BY 1, 2, 3), \
     o AS (UPDATE outstanding AS k SET pending = k.pending - g.gone, low = k.low - g.low, medium = k.medium - g.medium, \
     critical = k.critical - g.critical, \
     first_seq = CASE WHEN NOT EXISTS (SELECT 1 FROM l WHERE l.seq = k.first_seq) THEN k.first_seq ELSE COALESCE((SELECT MIN(n.seq) \
     FROM actions n WHERE n.workspace = g.workspace AND COALESCE(n.batch, n.id) = g.of_batch AND n.status = 'pending'), k.first_seq) END \
     FROM batches g WHERE k.workspace = g.workspace AND k.batch = g.of_batch AND k.pending > g.gone), \
     od AS (DELETE FROM outstanding k USING batches g WHERE k.workspace = g.workspace AND k.batch = g.of_batch \
     AND k.pending <= g.gone), \
     b AS (UPDATE blocked AS k SET pending = k.pending - g.gone FROM missions g \
     WHERE k.workspace = g.workspace AND k.mission = g.mission AND k.pending > g.gone), \
     bd AS (DELETE FROM blocked k USING missions g WHERE k.workspace = g.workspace AND k.mission = g.mission \
     AND k.pending <= g.gone), \
     w AS (UPDATE waiting AS k SET pending = k.pending - g.gone, high = k.high - g.high FROM queues g \
     WHERE k.workspace = g.workspace AND k.agent = g.of_agent AND k.tool = g.tool AND k.pending > g.gone), \
     wd AS (DELETE FROM waiting k USING queues g WHERE k.workspace = g.workspace AND k.agent = g.of_agent AND k.tool = g.tool \
     AND k.pending <= g.gone)";

/// Writes everything and empties the buffer. Returns false if it was empty.
pub(super) async fn write(buffer: &mut WriteBuffer, conn: &mut Conn) -> Result<bool, StoreError> {
    if buffer.is_empty() {
        return Ok(false);
    }
    let buffer = std::mem::take(buffer);
    let mut parts = Parts::default();
    for (nth, insert) in buffer.inserts().into_iter().enumerate() {
        parts.insert(nth, insert);
    }
    if !buffer.proposals.is_empty() {
        parts.proposals(&buffer.proposals);
    }
    if !buffer.decided.is_empty() {
        if !buffer.proposals.is_empty() {
            // Both change the counts, and a statement may change a table only once. Arrivals first, so that a batch is
            // not deleted in between.
            std::mem::take(&mut parts).write(conn).await?;
        }
        parts.decided(&buffer.decided);
    }
    parts.write(conn).await?;
    Ok(true)
}

/// Parts of one statement. Each sees the tables from before it, and no two change the same table.
#[derive(Default)]
struct Parts {
    query: QueryBuilder<Postgres>,
}

impl Parts {
    fn part(&mut self, begins: impl std::fmt::Display) {
        let after = if self.query.sql().as_str().is_empty() { "WITH " } else { ", " };
        self.query.push(after).push(begins);
    }

    /// Adds rows as arrays, one for each column.
    fn unnest(&mut self, rows: Vec<Vec<Value>>) {
        let mut columns: Vec<Vec<Value>> = Vec::new();
        for row in rows {
            columns.resize_with(row.len(), Vec::new);
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
        for (nth, column) in columns.into_iter().enumerate() {
            self.query.push(if nth == 0 { "SELECT * FROM unnest(" } else { ", " });
            let int = |value: &Value| match value {
                Value::Int(number) => Some(*number),
                _ => None,
            };
            let bytes = |value: &Value| match value {
                Value::Bytes(bytes) => Some(bytes.clone()),
                _ => None,
            };
            if let Some(numbers) = column.iter().map(int).collect::<Option<Vec<_>>>() {
                self.query.push_bind(numbers);
            } else if let Some(bytes) = column.iter().map(bytes).collect::<Option<Vec<_>>>() {
                self.query.push_bind(bytes);
            } else {
                self.query.push_bind(column.into_iter().map(Value::into_text).collect::<Vec<_>>());
            }
        }
        self.query.push(")");
    }

    fn insert(&mut self, nth: usize, Insert { into, or, rows }: Insert) {
        if !rows.is_empty() {
            self.part(format_args!("i{nth} AS (INSERT INTO {into} "));
            self.unnest(rows);
            self.query.push(format_args!(" {or})"));
        }
    }

    fn proposals(&mut self, proposals: &[NewAction]) {
        let [actions, payloads] = [Table::Actions, Table::Payloads].map(columns);
        let row = |it: &NewAction| {
            values(Table::Actions, it.proposed()).chain(values(Table::Payloads, it.proposed())).collect()
        };
        self.part("n AS (");
        self.unnest(proposals.iter().map(row).collect());
        self.query.push(format_args!(
            " WITH ORDINALITY AS n ({actions}, {payloads}, nth)), \
             a AS (INSERT INTO actions ({actions}) SELECT {actions} FROM n ORDER BY nth \
             RETURNING seq, id, workspace, COALESCE(batch, id) AS of_batch, mission, COALESCE(agent, '') AS of_agent, tool, risk), \
             p AS (INSERT INTO payloads (seq, {payloads}) SELECT a.seq, {payloads} FROM a JOIN n ON n.id = a.id), {ARRIVED}"
        ));
    }

    fn decided(&mut self, places: &[i64]) {
        self.part(
            "l AS (SELECT *, COALESCE(batch, id) AS of_batch, COALESCE(agent, '') AS of_agent FROM actions WHERE seq = ANY (",
        );
        self.query.push_bind(places.to_vec()).push(format_args!(")), {LEFT}"));
    }

    async fn write(mut self, conn: &mut Conn) -> Result<(), StoreError> {
        self.query.push(" SELECT 1").build().execute(conn).await?;
        Ok(())
    }
}
