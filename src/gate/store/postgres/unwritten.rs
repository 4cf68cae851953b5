//! What a group of writes has not written yet: proposals, answers, what waits no more, rows of the audit, counts and the heads of its
//! workspaces.
//!
//! Everybody else who writes to the workspace waits from the lock of the head to the commit, and each statement in between is a way to the
//! server and back. So what nothing in the same group reads is kept until its end, and then written in one statement of each kind.

use std::collections::BTreeMap;

use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;

use super::conn::Conn;
use crate::domain::{Effect, Flow, Minute, RawJson, Status, Timestamp};
use crate::gate::audit::AuditRow;
use crate::gate::store::ops::tx::{Answer, Counted, Head};
use crate::gate::store::rows::integer;
use crate::gate::store::{Actor, Keyed, NewAction, StoreError};

/// Proposals, their payloads, and what more waits. From `$1` on a column each, in the order of [`TEXTS`]; then digests, sizes, times of
/// arrival and of expiry, and revisions.
const INSERT: &str = "WITH n AS (SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], \
     $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], \
     $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::bigint[], $24::bigint[], $25::bigint[], $26::bigint[]) \
     WITH ORDINALITY AS n (id, workspace, batch, checkpoint, mission, session, run, tool_call, agent, requested_by, proposer, tool, title, \
     summary, risk, effect, callback, traceparent, input, preview, before, digest, size, created_at, expires_at, revision, nth)), \
     a AS (INSERT INTO actions (id, workspace, batch, checkpoint, mission, session, run, tool_call, agent, requested_by, proposer, tool, \
     title, summary, risk, effect, callback, traceparent, digest, size, created_at, expires_at, revision, status) \
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
     ON CONFLICT (workspace, mission) DO UPDATE SET pending = blocked.pending + excluded.pending) \
     INSERT INTO waiting SELECT workspace, of_agent, tool, count(*), count(*) FILTER (WHERE risk NOT IN ('low', 'medium')) \
     FROM a GROUP BY workspace, of_agent, tool \
     ON CONFLICT (workspace, agent, tool) DO UPDATE SET pending = waiting.pending + excluded.pending, high = waiting.high + excluded.high";

/// The texts of a proposal, in the order of the columns.
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

/// So many less wait: `$1` are their places. Where the oldest of a batch is among them, its place goes to the oldest that still waits.
/// All parts see the counts as they were.
const COUNT_OUT: &str = "WITH a AS (SELECT *, COALESCE(batch, id) AS of_batch, COALESCE(agent, '') AS of_agent FROM actions WHERE seq = ANY ($1)), \
     batches AS (SELECT workspace, of_batch, count(*) AS gone, count(*) FILTER (WHERE risk = 'low') AS low, \
     count(*) FILTER (WHERE risk = 'medium') AS medium, count(*) FILTER (WHERE risk = 'critical') AS critical FROM a GROUP BY 1, 2), \
     missions AS (SELECT workspace, mission, count(*) AS gone FROM a WHERE mission IS NOT NULL GROUP BY 1, 2), \
     queues AS (SELECT workspace, of_agent, tool, count(*) AS gone, count(*) FILTER (WHERE risk NOT IN ('low', 'medium')) AS high \
     FROM a GROUP BY 1, 2, 3), \
     o AS (UPDATE outstanding AS k SET pending = k.pending - g.gone, low = k.low - g.low, medium = k.medium - g.medium, \
     critical = k.critical - g.critical, \
     first_seq = CASE WHEN k.first_seq <> ALL ($1) THEN k.first_seq ELSE COALESCE((SELECT MIN(n.seq) FROM actions n \
     WHERE n.workspace = g.workspace AND COALESCE(n.batch, n.id) = g.of_batch AND n.status = 'pending'), k.first_seq) END \
     FROM batches g WHERE k.workspace = g.workspace AND k.batch = g.of_batch AND k.pending > g.gone), \
     od AS (DELETE FROM outstanding k USING batches g WHERE k.workspace = g.workspace AND k.batch = g.of_batch \
     AND k.pending <= g.gone), \
     b AS (UPDATE blocked AS k SET pending = k.pending - g.gone FROM missions g \
     WHERE k.workspace = g.workspace AND k.mission = g.mission AND k.pending > g.gone), \
     bd AS (DELETE FROM blocked k USING missions g WHERE k.workspace = g.workspace AND k.mission = g.mission \
     AND k.pending <= g.gone), \
     w AS (UPDATE waiting AS k SET pending = k.pending - g.gone, high = k.high - g.high FROM queues g \
     WHERE k.workspace = g.workspace AND k.agent = g.of_agent AND k.tool = g.tool AND k.pending > g.gone) \
     DELETE FROM waiting k USING queues g WHERE k.workspace = g.workspace AND k.agent = g.of_agent AND k.tool = g.tool \
     AND k.pending <= g.gone";

/// Answers under their keys.
const REPLIES: &str = "INSERT INTO replies (workspace, subject, key, fingerprint, body, at, action) \
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::bigint[], $7::text[])";

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

    /// Writes it: what belongs to a head with the head. False when there was nothing.
    pub(super) async fn write(&mut self, conn: &mut Conn) -> Result<bool, StoreError> {
        let (arrived, replies) = (std::mem::take(&mut self.arrived), std::mem::take(&mut self.replies));
        let (left, heads) = (std::mem::take(&mut self.left), std::mem::take(&mut self.heads));
        let is_something = !(arrived.is_empty() && replies.is_empty() && left.is_empty() && heads.is_empty());
        if !arrived.is_empty() {
            inserting(&arrived).execute(&mut *conn).await?;
        }
        if !replies.is_empty() {
            replying(&replies).execute(&mut *conn).await?;
        }
        if !left.is_empty() {
            // After what arrived: a batch that would be empty in between stays the same one.
            sqlx::query(COUNT_OUT).bind(left).execute(&mut *conn).await?;
        }
        for head in heads.into_values() {
            self.put(conn, &head).await?;
        }
        Ok(is_something)
    }

    /// Writes the head, and what belongs to its workspace.
    async fn put(&mut self, conn: &mut Conn, head: &Head) -> Result<(), StoreError> {
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

type Statement<'a> = Query<'a, Postgres, PgArguments>;

fn inserting(arrived: &[Arrived]) -> Statement<'_> {
    let mut insert = sqlx::query(INSERT);
    for text in TEXTS {
        insert = insert.bind(arrived.iter().map(|it| text(&it.action)).collect::<Vec<_>>());
    }
    insert
        .bind(arrived.iter().map(|it| it.action.digest.to_string()).collect::<Vec<_>>())
        .bind(arrived.iter().map(|it| integer(it.action.input.as_str().len() as u64)).collect::<Vec<_>>())
        .bind(arrived.iter().map(|it| it.at.as_millis()).collect::<Vec<_>>())
        .bind(arrived.iter().map(|it| it.action.expires_at.map(Timestamp::as_millis)).collect::<Vec<_>>())
        .bind(arrived.iter().map(|it| integer(it.revision)).collect::<Vec<_>>())
}

fn replying(replies: &[Replied]) -> Statement<'_> {
    sqlx::query(REPLIES)
        .bind(replies.iter().map(|it| it.by.workspace.as_str()).collect::<Vec<_>>())
        .bind(replies.iter().map(|it| it.by.subject.as_str()).collect::<Vec<_>>())
        .bind(replies.iter().map(|it| it.key.key.as_str()).collect::<Vec<_>>())
        .bind(replies.iter().map(|it| it.key.fingerprint.as_slice()).collect::<Vec<_>>())
        .bind(replies.iter().map(|it| it.body.as_str()).collect::<Vec<_>>())
        .bind(replies.iter().map(|it| it.at.as_millis()).collect::<Vec<_>>())
        .bind(replies.iter().map(|it| it.action.as_deref()).collect::<Vec<_>>())
}
