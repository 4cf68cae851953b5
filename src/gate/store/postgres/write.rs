//! Writes the buffer of a group in one statement, because each statement is a round trip while the workspace is locked.

use sqlx::{Postgres, QueryBuilder};

use super::conn::Conn;
use crate::domain::{Effect, Flow, RawJson, Timestamp};
use crate::gate::store::rows::integer;
use crate::gate::store::write_buffer::{Proposal, WriteBuffer};
use crate::gate::store::{NewAction, StoreError};

const COLUMNS: &str = "id, workspace, batch, checkpoint, mission, session, run, tool_call, agent, requested_by, proposer, tool, title, summary, \
     risk, effect, callback, traceparent, input, preview, before, digest, size, created_at, expires_at, revision, nth";

const ARRIVED: &str = "a AS (INSERT INTO actions (id, workspace, batch, checkpoint, mission, session, run, tool_call, agent, requested_by, \
     proposer, tool, title, summary, risk, effect, callback, traceparent, digest, size, created_at, expires_at, revision, status) \
     SELECT id, workspace, batch, checkpoint, mission, session, run, tool_call, agent, requested_by, proposer, tool, \
     title, summary, risk, effect, callback, traceparent, digest, size, created_at, expires_at, revision, 'pending' FROM n ORDER BY nth \
     RETURNING seq, id, workspace, COALESCE(batch, id) AS of_batch, mission, COALESCE(agent, '') AS of_agent, tool, risk), \
     p AS (INSERT INTO payloads (seq, input, preview, before) SELECT a.seq, n.input, n.preview, n.before FROM a JOIN n ON n.id = a.id), \
     o AS (INSERT INTO outstanding (workspace, batch, tool, mission, pending, first_seq, low, medium, critical) \
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

/// The text columns of a proposal, in the order of [`COLUMNS`].
const TEXTS: [fn(&NewAction) -> Option<&str>; 21] = [
    |it| Some(&it.id),
    |it| Some(&it.workspace),
    |it| it.batch.as_deref(),
    |it| it.checkpoint.as_deref(),
    |it| it.mission.as_deref(),
    |it| it.session.as_deref(),
    |it| it.run.as_deref(),
    |it| it.tool_call.as_deref(),
    |it| it.agent.as_deref(),
    |it| it.requested_by.as_deref(),
    |it| Some(&it.proposer),
    |it| Some(&it.tool),
    |it| Some(&it.title),
    |it| it.summary.as_deref(),
    |it| Some(it.risk.as_raw()),
    |it| it.effect.as_ref().map(Effect::as_raw),
    |it| it.origin.callback.as_deref(),
    |it| it.origin.traceparent.as_deref(),
    |it| Some(it.input.as_str()),
    |it| it.preview.as_ref().map(RawJson::as_str),
    |it| it.before.as_ref().map(RawJson::as_str),
];

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

/// Adds to a minute that exists.
const ADD: &str = " ON CONFLICT (workspace, minute, agent, tool) DO UPDATE SET \
     arrived = flows.arrived + excluded.arrived, approved = flows.approved + excluded.approved, \
     edited = flows.edited + excluded.edited, rejected = flows.rejected + excluded.rejected, gone = flows.gone + excluded.gone, \
     executed = flows.executed + excluded.executed, failed = flows.failed + excluded.failed, unknown = flows.unknown + excluded.unknown)";

/// In the order of the columns.
const FLOW: [fn(&Flow) -> u64; 8] = [
    |flow| flow.arrived,
    |flow| flow.approved,
    |flow| flow.edited,
    |flow| flow.rejected,
    |flow| flow.left,
    |flow| flow.executed,
    |flow| flow.failed,
    |flow| flow.unknown,
];

/// Writes everything and empties the buffer. Returns false if it was empty.
pub(super) async fn write(buffer: &mut WriteBuffer, conn: &mut Conn) -> Result<bool, StoreError> {
    if buffer.is_empty() {
        return Ok(false);
    }
    let buffer = std::mem::take(buffer);
    let mut parts = Parts::default();
    parts.heads(&buffer);
    parts.audit(&buffer);
    parts.flows(&buffer);
    parts.states(&buffer);
    parts.answers(&buffer);
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
    fn part(&mut self, begins: &str) {
        let after = if self.query.sql().as_str().is_empty() { "WITH " } else { ", " };
        self.query.push(after).push(begins);
    }

    /// Adds a column of values. The first one follows an opening bracket.
    fn column<'t, I>(&mut self, values: I)
    where
        I: IntoIterator,
        Vec<I::Item>: sqlx::Encode<'t, Postgres> + sqlx::Type<Postgres>,
    {
        let values: Vec<_> = values.into_iter().collect();
        let after = if self.query.sql().as_str().ends_with('(') { "" } else { ", " };
        self.query.push(after).push_bind(values);
    }

    fn heads(&mut self, WriteBuffer { heads, .. }: &WriteBuffer) {
        self.part(
            "h AS (UPDATE heads SET revision = n.revision, pending = n.pending, pruned = n.pruned, hash = n.hash FROM unnest(",
        );
        self.column(heads.keys().map(String::as_str));
        self.column(heads.values().map(|head| integer(head.revision)));
        self.column(heads.values().map(|head| integer(head.pending)));
        self.column(heads.values().map(|head| integer(head.pruned)));
        self.column(heads.values().map(|head| head.hash.as_deref()));
        self.query
            .push(") AS n (workspace, revision, pending, pruned, hash) WHERE heads.workspace = n.workspace)");
    }

    fn audit(&mut self, WriteBuffer { audit, .. }: &WriteBuffer) {
        self.part(
            "noted AS (INSERT INTO audit (workspace, revision, action, kind, at, who, details, hash) SELECT * FROM unnest(",
        );
        self.column(audit.iter().map(|(row, _)| row.workspace.as_str()));
        self.column(audit.iter().map(|(row, _)| integer(row.revision)));
        self.column(audit.iter().map(|(row, _)| row.action.as_deref()));
        self.column(audit.iter().map(|(row, _)| row.kind.as_str()));
        self.column(audit.iter().map(|(row, _)| row.at.as_millis()));
        self.column(audit.iter().map(|(row, _)| row.who.as_deref()));
        self.column(audit.iter().map(|(row, _)| row.details.as_deref()));
        self.column(audit.iter().map(|(_, hash)| hash.as_slice()));
        self.query.push("))");
    }

    fn flows(&mut self, WriteBuffer { flows, .. }: &WriteBuffer) {
        self.part(
            "counted AS (INSERT INTO flows (workspace, minute, agent, tool, arrived, approved, edited, rejected, gone, executed, failed, unknown) \
             SELECT * FROM unnest(",
        );
        self.column(flows.keys().map(|(workspace, ..)| workspace.as_str()));
        self.column(flows.keys().map(|(_, minute, ..)| minute.number()));
        self.column(flows.keys().map(|(_, _, agent, _)| agent.as_str()));
        self.column(flows.keys().map(|(.., tool)| tool.as_str()));
        for column in FLOW {
            self.column(flows.values().map(|flow| integer(column(flow))));
        }
        self.query.push(")").push(ADD);
    }

    fn states(&mut self, WriteBuffer { states, .. }: &WriteBuffer) {
        self.part("stated AS (INSERT INTO states (workspace, status, actions) SELECT * FROM unnest(");
        self.column(states.keys().map(|(workspace, _)| workspace.as_str()));
        self.column(states.keys().map(|(_, status)| status.as_str()));
        self.column(states.values().copied());
        self.query.push(
            ") ON CONFLICT (workspace, status) DO UPDATE SET actions = states.actions + excluded.actions)",
        );
    }

    fn answers(&mut self, WriteBuffer { answers, .. }: &WriteBuffer) {
        self.part("r AS (INSERT INTO replies (workspace, subject, key, fingerprint, body, at, action) SELECT * FROM unnest(");
        self.column(answers.iter().map(|it| it.by.workspace.as_str()));
        self.column(answers.iter().map(|it| it.by.subject.as_str()));
        self.column(answers.iter().map(|it| it.key.key.as_str()));
        self.column(answers.iter().map(|it| it.key.fingerprint.as_slice()));
        self.column(answers.iter().map(|it| it.body.as_str()));
        self.column(answers.iter().map(|it| it.at.as_millis()));
        self.column(answers.iter().map(|it| it.action.as_deref()));
        self.query.push("))");
    }

    fn proposals(&mut self, proposals: &[Proposal]) {
        self.part("n AS (SELECT * FROM unnest(");
        for text in TEXTS {
            self.column(proposals.iter().map(|it| text(&it.action)));
        }
        self.column(proposals.iter().map(|it| it.action.digest.to_string()));
        self.column(proposals.iter().map(|it| integer(it.action.input.as_str().len() as u64)));
        self.column(proposals.iter().map(|it| it.at.as_millis()));
        self.column(proposals.iter().map(|it| it.action.expires_at.map(Timestamp::as_millis)));
        self.column(proposals.iter().map(|it| integer(it.revision)));
        self.query.push(format_args!(") WITH ORDINALITY AS n ({COLUMNS})), {ARRIVED}"));
    }

    fn decided(&mut self, places: &[i64]) {
        self.part(
            "l AS (SELECT *, COALESCE(batch, id) AS of_batch, COALESCE(agent, '') AS of_agent FROM actions WHERE seq = ANY (",
        );
        self.column(places.iter().copied());
        self.query.push(format_args!(")), {LEFT}"));
    }

    async fn write(mut self, conn: &mut Conn) -> Result<(), StoreError> {
        self.query.push(" SELECT 1").build().execute(conn).await?;
        Ok(())
    }
}
