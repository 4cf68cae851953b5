//! The end of a piece of work: its rows of the audit, its counts and the head of its workspace, in one statement.
//!
//! Everybody else who writes to the workspace waits from the lock of the head to the commit, and each statement in between is a way to the
//! server and back. So what nothing in the same work reads again is kept until the head is written, which is the last thing before the
//! commit.

use std::collections::BTreeMap;

use crate::domain::{Flow, Minute, Status, Timestamp};
use crate::gate::audit::AuditRow;
use crate::gate::store::StoreError;
use crate::gate::store::ops::tx::{Counted, Head};
use crate::gate::store::rows::integer;

use super::conn::Conn;

/// `$1` to `$5` is the head; from `$6` on a column of the audit each, and from `$13` on a column of the counts,
/// and then of the statuses.
const PUT: &str = "WITH noted AS (INSERT INTO audit (workspace, revision, action, kind, at, who, details, hash) \
     SELECT $1, * FROM unnest($6::bigint[], $7::text[], $8::text[], $9::bigint[], $10::text[], $11::text[], $12::bytea[])), \
     counted AS (INSERT INTO flows (workspace, minute, agent, tool, arrived, approved, edited, rejected, gone, executed, failed, unknown) \
     SELECT $1, * FROM unnest($13::bigint[], $14::text[], $15::text[], $16::bigint[], $17::bigint[], $18::bigint[], $19::bigint[], \
     $20::bigint[], $21::bigint[], $22::bigint[], $23::bigint[]) \
     ON CONFLICT (workspace, minute, agent, tool) DO UPDATE SET \
     arrived = flows.arrived + excluded.arrived, approved = flows.approved + excluded.approved, \
     edited = flows.edited + excluded.edited, rejected = flows.rejected + excluded.rejected, gone = flows.gone + excluded.gone, \
     executed = flows.executed + excluded.executed, failed = flows.failed + excluded.failed, unknown = flows.unknown + excluded.unknown), \
     stated AS (INSERT INTO states (workspace, status, actions) SELECT $1, * FROM unnest($24::text[], $25::bigint[]) \
     ON CONFLICT (workspace, status) DO UPDATE SET actions = states.actions + excluded.actions) \
     UPDATE heads SET revision = $2, pending = $3, hash = $4, pruned = $5 WHERE workspace = $1";

/// The minute, the agent and the tool of a count.
type CountKey = (Minute, String, String);

/// What is not written yet.
#[derive(Debug, Default)]
pub(super) struct Tail {
    audit: Vec<(AuditRow, Vec<u8>)>,
    /// By workspace.
    counts: BTreeMap<String, BTreeMap<CountKey, Flow>>,
    /// By workspace and status.
    states: BTreeMap<String, BTreeMap<String, i64>>,
}

impl Tail {
    pub(super) fn note(&mut self, row: &AuditRow, hash: &[u8]) {
        self.audit.push((row.clone(), hash.to_vec()));
    }

    /// A row of the counts may be written once in a statement, so what belongs to one is added up.
    pub(super) fn count(&mut self, workspace: &str, at: Timestamp, counted: &Counted<'_>) {
        let key = (Minute::of(at), counted.agent.to_owned(), counted.tool.to_owned());
        let flow = self.counts.entry(workspace.to_owned()).or_default().entry(key).or_default();
        *flow = flow.plus(&counted.flow);
    }

    pub(super) fn count_state(&mut self, workspace: &str, status: &Status, more: i64) {
        let of_workspace = self.states.entry(workspace.to_owned()).or_default();
        *of_workspace.entry(status.as_raw().to_owned()).or_default() += more;
    }

    /// Writes the head, and what belongs to its workspace.
    pub(super) async fn put(&mut self, conn: &mut Conn, head: &Head) -> Result<(), StoreError> {
        let (audit, others) = std::mem::take(&mut self.audit)
            .into_iter()
            .partition::<Vec<_>, _>(|(row, _)| row.workspace == head.workspace);
        self.audit = others;
        let counts = self.counts.remove(&head.workspace).unwrap_or_default();
        let mut put = sqlx::query(PUT)
            .bind(&head.workspace)
            .bind(integer(head.revision))
            .bind(integer(head.pending))
            .bind(&head.hash)
            .bind(integer(head.pruned))
            .bind(audit.iter().map(|(row, _)| integer(row.revision)).collect::<Vec<_>>())
            .bind(audit.iter().map(|(row, _)| row.action.as_deref()).collect::<Vec<_>>())
            .bind(audit.iter().map(|(row, _)| row.kind.as_str()).collect::<Vec<_>>())
            .bind(audit.iter().map(|(row, _)| row.at.as_millis()).collect::<Vec<_>>())
            .bind(audit.iter().map(|(row, _)| row.who.as_deref()).collect::<Vec<_>>())
            .bind(audit.iter().map(|(row, _)| row.details.as_deref()).collect::<Vec<_>>())
            .bind(audit.iter().map(|(_, hash)| hash.as_slice()).collect::<Vec<_>>())
            .bind(counts.keys().map(|(minute, ..)| minute.number()).collect::<Vec<_>>())
            .bind(counts.keys().map(|(_, agent, _)| agent.as_str()).collect::<Vec<_>>())
            .bind(counts.keys().map(|(.., tool)| tool.as_str()).collect::<Vec<_>>());
        // In the order of the columns.
        let columns: [fn(&Flow) -> u64; 8] = [
            |flow| flow.arrived,
            |flow| flow.approved,
            |flow| flow.edited,
            |flow| flow.rejected,
            |flow| flow.left,
            |flow| flow.executed,
            |flow| flow.failed,
            |flow| flow.unknown,
        ];
        for column in columns {
            put = put.bind(counts.values().map(|flow| integer(column(flow))).collect::<Vec<_>>());
        }
        let states = self.states.remove(&head.workspace).unwrap_or_default();
        let put = put
            .bind(states.keys().map(String::as_str).collect::<Vec<_>>())
            .bind(states.values().copied().collect::<Vec<_>>());
        put.execute(conn).await?;
        Ok(())
    }
}
