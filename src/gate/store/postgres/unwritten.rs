//! What a group of writes has not written yet: proposals, answers, what waits no more, rows of the audit, counts and the heads of its
//! workspaces.
//!
//! Everybody else who writes to the workspace waits from the lock of the head to the commit, and each statement in between is a way to the
//! server and back. So what nothing in the same group reads is kept until its end, and then written in one statement.

use std::collections::BTreeMap;

use sqlx::{Postgres, QueryBuilder};

use super::conn::Conn;
use crate::domain::{Effect, Flow, Minute, RawJson, Status, Timestamp};
use crate::gate::audit::AuditRow;
use crate::gate::store::ops::tx::{Answer, Counted, Head};
use crate::gate::store::rows::integer;
use crate::gate::store::{Actor, Keyed, NewAction, StoreError};

/// A proposal in `n`.
const COLUMNS: &str = "id, workspace, batch, checkpoint, mission, session, run, tool_call, agent, requested_by, proposer, tool, title, summary, \
     risk, effect, callback, traceparent, input, preview, before, digest, size, created_at, expires_at, revision, nth";

/// Proposals, their payloads, and what more waits.
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

/// The texts of a proposal, in the order of [`COLUMNS`].
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

/// So many less wait: `l` are those. Where the oldest of a batch is among them, its place goes to the oldest that still waits. All parts see
/// the counts as they were.
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

/// In a minute that is counted already the counts are added up.
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

/// The minute, the agent and the tool of a count.
type CountKey = (Minute, String, String);

#[derive(Debug)]
struct Arrived {
    action: NewAction,
    revision: u64,
    at: Timestamp,
}

#[derive(Debug)]
struct Replied {
    by: Actor,
    key: Keyed,
    body: String,
    action: Option<String>,
    at: Timestamp,
}

#[derive(Debug, Default)]
pub(super) struct Unwritten {
    arrived: Vec<Arrived>,
    replies: Vec<Replied>,
    /// The places of what was pending until now. Their new status is written.
    left: Vec<i64>,
    audit: Vec<(AuditRow, Vec<u8>)>,
    /// By workspace.
    counts: BTreeMap<String, BTreeMap<CountKey, Flow>>,
    /// By workspace and status.
    states: BTreeMap<String, BTreeMap<String, i64>>,
    heads: BTreeMap<String, Head>,
}

impl Unwritten {
    pub(super) fn has_actions(&self) -> bool {
        !self.arrived.is_empty()
    }

    pub(super) fn has_action(&self, id: &str) -> bool {
        self.arrived.iter().any(|known| known.action.id == id)
    }

    pub(super) fn has_call_of(&self, action: &NewAction) -> bool {
        self.arrived.iter().map(|known| &known.action).any(|known| {
            known.workspace == action.workspace
                && known.proposer == action.proposer
                && known.session == action.session
                && known.tool_call == action.tool_call
        })
    }

    pub(super) fn has_reply(&self, by: &Actor, key: &str) -> bool {
        self.replies.iter().any(|known| {
            known.key.key == key && known.by.workspace == by.workspace && known.by.subject == by.subject
        })
    }

    /// A proposal, which is one more that waits.
    pub(super) fn insert(&mut self, action: &NewAction, revision: u64, at: Timestamp) {
        self.arrived.push(Arrived { action: action.clone(), revision, at });
    }

    pub(super) fn reply(&mut self, by: &Actor, key: &Keyed, answer: Answer<'_>, at: Timestamp) {
        let (body, action) = match answer {
            Answer::Body(body) => (body.to_owned(), None),
            Answer::Action(id) => (String::new(), Some(id.to_owned())),
        };
        self.replies.push(Replied { by: by.clone(), key: key.clone(), body, action, at });
    }

    /// One less waits.
    pub(super) fn count_out(&mut self, seq: i64) {
        self.left.push(seq);
    }

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

    pub(super) fn head(&mut self, head: &Head) {
        self.heads.insert(head.workspace.clone(), head.clone());
    }

    /// What came after it.
    pub(super) fn add(&mut self, later: Self) {
        self.arrived.extend(later.arrived);
        self.replies.extend(later.replies);
        self.left.extend(later.left);
        self.audit.extend(later.audit);
        for (workspace, counts) in later.counts {
            let of_workspace = self.counts.entry(workspace).or_default();
            for (key, flow) in counts {
                let sum = of_workspace.entry(key).or_default();
                *sum = sum.plus(&flow);
            }
        }
        for (workspace, states) in later.states {
            let of_workspace = self.states.entry(workspace).or_default();
            for (status, more) in states {
                *of_workspace.entry(status).or_default() += more;
            }
        }
        self.heads.extend(later.heads);
    }

    /// Writes it, mostly in one statement. Returns whether there was anything to write.
    pub(super) async fn write(&mut self, conn: &mut Conn) -> Result<bool, StoreError> {
        let (arrived, replies) = (std::mem::take(&mut self.arrived), std::mem::take(&mut self.replies));
        let (left, heads) = (std::mem::take(&mut self.left), std::mem::take(&mut self.heads));
        if arrived.is_empty() && replies.is_empty() && left.is_empty() && heads.is_empty() {
            return Ok(false);
        }
        let mut heads = heads.into_values();
        let mut parts = Parts::default();
        if let Some(head) = heads.next() {
            parts.head(&head);
            self.put(&mut parts, &head.workspace);
        }
        if !replies.is_empty() {
            parts.replied(&replies);
        }
        if !arrived.is_empty() {
            parts.arrived(&arrived);
        }
        if !left.is_empty() {
            if !arrived.is_empty() {
                // After what arrived: a batch that would be empty in between stays the same one.
                std::mem::take(&mut parts).write(conn).await?;
            }
            parts.left(&left);
        }
        parts.write(conn).await?;
        for head in heads {
            let mut parts = Parts::default();
            parts.head(&head);
            self.put(&mut parts, &head.workspace);
            parts.write(conn).await?;
        }
        Ok(true)
    }

    /// What belongs to a workspace.
    fn put(&mut self, parts: &mut Parts, workspace: &str) {
        let (audit, others) = std::mem::take(&mut self.audit)
            .into_iter()
            .partition::<Vec<_>, _>(|(row, _)| row.workspace == *workspace);
        self.audit = others;
        parts.noted(workspace, &audit);
        if let Some(counts) = self.counts.remove(workspace) {
            parts.counted(workspace, &counts);
        }
        if let Some(states) = self.states.remove(workspace) {
            parts.stated(workspace, &states);
        }
    }
}

/// Parts of one statement. Each sees what was there before all of them, and a table stands in one of them at the most.
struct Parts {
    query: QueryBuilder<Postgres>,
    any: bool,
}

impl Default for Parts {
    fn default() -> Self {
        Self { query: QueryBuilder::new(""), any: false }
    }
}

impl Parts {
    fn head(&mut self, head: &Head) {
        let query = self.part("h AS (UPDATE heads SET revision = ");
        query.push_bind(integer(head.revision)).push(", pending = ").push_bind(integer(head.pending));
        query.push(", hash = ").push_bind(&head.hash).push(", pruned = ").push_bind(integer(head.pruned));
        query.push(" WHERE workspace = ").push_bind(&head.workspace).push(")");
    }

    /// A part that begins so.
    fn part(&mut self, begins: &str) -> &mut QueryBuilder<Postgres> {
        let after = if std::mem::replace(&mut self.any, true) { ", " } else { "WITH " };
        self.query.push(after).push(begins)
    }

    /// One more column of the rows; the first one follows its bracket.
    fn column<'t, I>(&mut self, values: I)
    where
        I: IntoIterator,
        Vec<I::Item>: sqlx::Encode<'t, Postgres> + sqlx::Type<Postgres>,
    {
        let values: Vec<_> = values.into_iter().collect();
        let after = if self.query.sql().as_str().ends_with('(') { "" } else { ", " };
        self.query.push(after).push_bind(values);
    }

    fn arrived(&mut self, arrived: &[Arrived]) {
        self.part("n AS (SELECT * FROM unnest(");
        for text in TEXTS {
            self.column(arrived.iter().map(|it| text(&it.action)));
        }
        self.column(arrived.iter().map(|it| it.action.digest.to_string()));
        self.column(arrived.iter().map(|it| integer(it.action.input.as_str().len() as u64)));
        self.column(arrived.iter().map(|it| it.at.as_millis()));
        self.column(arrived.iter().map(|it| it.action.expires_at.map(Timestamp::as_millis)));
        self.column(arrived.iter().map(|it| integer(it.revision)));
        self.query.push(format_args!(") WITH ORDINALITY AS n ({COLUMNS})), {ARRIVED}"));
    }

    fn left(&mut self, places: &[i64]) {
        self.part(
            "l AS (SELECT *, COALESCE(batch, id) AS of_batch, COALESCE(agent, '') AS of_agent FROM actions WHERE seq = ANY (",
        );
        self.column(places.iter().copied());
        self.query.push(format_args!(")), {LEFT}"));
    }

    /// Answers under their keys.
    fn replied(&mut self, replies: &[Replied]) {
        self.part("r AS (INSERT INTO replies (workspace, subject, key, fingerprint, body, at, action) SELECT * FROM unnest(");
        self.column(replies.iter().map(|it| it.by.workspace.as_str()));
        self.column(replies.iter().map(|it| it.by.subject.as_str()));
        self.column(replies.iter().map(|it| it.key.key.as_str()));
        self.column(replies.iter().map(|it| it.key.fingerprint.as_slice()));
        self.column(replies.iter().map(|it| it.body.as_str()));
        self.column(replies.iter().map(|it| it.at.as_millis()));
        self.column(replies.iter().map(|it| it.action.as_deref()));
        self.query.push("))");
    }

    fn noted(&mut self, workspace: &str, audit: &[(AuditRow, Vec<u8>)]) {
        self.part(
            "noted AS (INSERT INTO audit (workspace, revision, action, kind, at, who, details, hash) SELECT ",
        );
        self.query.push_bind(workspace).push(", * FROM unnest(");
        self.column(audit.iter().map(|(row, _)| integer(row.revision)));
        self.column(audit.iter().map(|(row, _)| row.action.as_deref()));
        self.column(audit.iter().map(|(row, _)| row.kind.as_str()));
        self.column(audit.iter().map(|(row, _)| row.at.as_millis()));
        self.column(audit.iter().map(|(row, _)| row.who.as_deref()));
        self.column(audit.iter().map(|(row, _)| row.details.as_deref()));
        self.column(audit.iter().map(|(_, hash)| hash.as_slice()));
        self.query.push("))");
    }

    fn counted(&mut self, workspace: &str, counts: &BTreeMap<CountKey, Flow>) {
        self.part(
            "counted AS (INSERT INTO flows (workspace, minute, agent, tool, arrived, approved, edited, rejected, gone, executed, failed, unknown) \
             SELECT ",
        );
        self.query.push_bind(workspace).push(", * FROM unnest(");
        self.column(counts.keys().map(|(minute, ..)| minute.number()));
        self.column(counts.keys().map(|(_, agent, _)| agent.as_str()));
        self.column(counts.keys().map(|(.., tool)| tool.as_str()));
        for column in FLOW {
            self.column(counts.values().map(|flow| integer(column(flow))));
        }
        self.query.push(")").push(ADD);
    }

    fn stated(&mut self, workspace: &str, states: &BTreeMap<String, i64>) {
        self.part("stated AS (INSERT INTO states (workspace, status, actions) SELECT ");
        self.query.push_bind(workspace).push(", * FROM unnest(");
        self.column(states.keys().map(String::as_str));
        self.column(states.values().copied());
        self.query.push(
            ") ON CONFLICT (workspace, status) DO UPDATE SET actions = states.actions + excluded.actions)",
        );
    }

    async fn write(mut self, conn: &mut Conn) -> Result<(), StoreError> {
        self.query.push(" SELECT 1").build().execute(conn).await?;
        Ok(())
    }
}
