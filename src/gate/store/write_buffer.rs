//! Rows that a group has not written yet.
//!
//! A statement costs a round trip, to the server or to the thread of an SQLite connection. So the writer buffers rows
//! until the end of the group, and adds up counts of the same key. A query that buffered rows may affect writes them
//! first (`has_…`).
//!
//! Each query must name its `has_…` itself: a missing one reads stale rows, and no type prevents that.

use std::collections::BTreeMap;

use super::ops::tx::{Answer, Counted, Head};
use super::rows::integer;
use super::sql::Value;
use super::{Actor, Keyed, NewAction};
use crate::domain::{Flow, Minute, Status, Timestamp};
use crate::gate::audit::AuditRow;

#[derive(Debug)]
pub(super) struct KeyedAnswer {
    pub(super) by: Actor,
    pub(super) key: Keyed,
    pub(super) body: String,
    pub(super) action: Option<String>,
    pub(super) at: Timestamp,
}

pub(super) type FlowKey = (String, Minute, String, String);

const STATES_ADD: &str =
    "ON CONFLICT (workspace, status) DO UPDATE SET actions = states.actions + excluded.actions";
const FLOWS: &str = "flows (workspace, minute, agent, tool, arrived, approved, edited, rejected, gone, executed, failed, unknown)";
const FLOWS_ADD: &str = "ON CONFLICT (workspace, minute, agent, tool) DO UPDATE SET \
     arrived = flows.arrived + excluded.arrived, approved = flows.approved + excluded.approved, \
     edited = flows.edited + excluded.edited, rejected = flows.rejected + excluded.rejected, gone = flows.gone + excluded.gone, \
     executed = flows.executed + excluded.executed, failed = flows.failed + excluded.failed, unknown = flows.unknown + excluded.unknown";
const HEADS_SET: &str = "ON CONFLICT (workspace) DO UPDATE SET revision = excluded.revision, pending = excluded.pending, \
     hash = excluded.hash, pruned = excluded.pruned";

#[derive(Debug)]
pub(super) struct Insert {
    /// The table and its columns, in the order of the values.
    pub(super) into: &'static str,
    pub(super) or: &'static str,
    pub(super) rows: Vec<Vec<Value>>,
}

impl Insert {
    fn new(into: &'static str, or: &'static str, rows: impl Iterator<Item = Vec<Value>>) -> Self {
        Self { into, or, rows: rows.collect() }
    }
}

#[derive(Debug, Default)]
pub(super) struct WriteBuffer {
    pub(super) proposals: Vec<NewAction>,
    pub(super) answers: Vec<KeyedAnswer>,
    /// `seq` of actions that are no longer pending. Their rows are already updated.
    pub(super) decided: Vec<i64>,
    pub(super) audit: Vec<(AuditRow, Vec<u8>)>,
    pub(super) flows: BTreeMap<FlowKey, Flow>,
    pub(super) states: BTreeMap<(String, String), i64>,
    pub(super) heads: BTreeMap<String, Head>,
}

impl WriteBuffer {
    pub(super) fn is_empty(&self) -> bool {
        let Self { proposals, answers, decided, audit, flows, states, heads } = self;
        proposals.is_empty()
            && answers.is_empty()
            && decided.is_empty()
            && audit.is_empty()
            && flows.is_empty()
            && states.is_empty()
            && heads.is_empty()
    }

    pub(super) fn has_actions(&self) -> bool {
        !self.proposals.is_empty()
    }

    pub(super) fn has_action(&self, id: &str) -> bool {
        self.proposals.iter().any(|kept| kept.action.row.id.as_raw() == id)
    }

    pub(super) fn has_call_of(&self, action: &NewAction) -> bool {
        let call = |of: &NewAction| {
            (of.action.row.workspace.clone(), of.action.row.session.clone(), of.action.tool_call.clone())
        };
        self.proposals.iter().any(|kept| kept.proposer == action.proposer && call(kept) == call(action))
    }

    pub(super) fn has_answer(&self, by: &Actor, key: &str) -> bool {
        self.answers.iter().any(|kept| {
            kept.key.key == key && kept.by.workspace == by.workspace && kept.by.subject == by.subject
        })
    }

    pub(super) fn answer(&mut self, by: &Actor, key: &Keyed, answer: Answer<'_>, at: Timestamp) {
        let (body, action) = match answer {
            Answer::Body(body) => (body.to_owned(), None),
            Answer::Action(id) => (String::new(), Some(id.to_owned())),
        };
        self.answers.push(KeyedAnswer { by: by.clone(), key: key.clone(), body, action, at });
    }

    pub(super) fn count_out(&mut self, seq: i64) {
        self.decided.push(seq);
    }

    pub(super) fn note(&mut self, row: &AuditRow, hash: &[u8]) {
        self.audit.push((row.clone(), hash.to_vec()));
    }

    pub(super) fn count_flow(&mut self, workspace: &str, at: Timestamp, counted: &Counted<'_>) {
        let key = (workspace.to_owned(), Minute::of(at), counted.agent.to_owned(), counted.tool.to_owned());
        let flow = self.flows.entry(key).or_default();
        *flow = flow.plus(&counted.flow);
    }

    pub(super) fn count_state(&mut self, workspace: &str, status: &Status, more: i64) {
        *self.states.entry((workspace.to_owned(), status.as_raw().to_owned())).or_default() += more;
    }

    pub(super) fn head(&mut self, head: &Head) {
        self.heads.insert(head.workspace.clone(), head.clone());
    }

    /// Returns the rows of all tables but those of the proposals, heads last because they state that the rest is there.
    pub(super) fn inserts(&self) -> [Insert; 5] {
        let states = self
            .states
            .iter()
            .map(|((workspace, status), more)| vec![workspace.into(), status.into(), (*more).into()]);
        let answers = self.answers.iter().map(|it| {
            let action = it.action.as_deref();
            let (by, key) = (&it.by, &it.key);
            let who = [(&by.workspace).into(), (&by.subject).into(), (&key.key).into()];
            let what = [key.fingerprint.as_slice().into(), (&it.body).into(), it.at.as_millis().into()];
            who.into_iter().chain(what).chain([action.into()]).collect()
        });
        let flows = self.flows.iter().map(|((workspace, minute, agent, tool), flow)| {
            let Flow { arrived, approved, edited, rejected, left, executed, failed, unknown } = *flow;
            let counts = [arrived, approved, edited, rejected, left, executed, failed, unknown];
            let key = [workspace.into(), minute.number().into(), agent.into(), tool.into()];
            key.into_iter().chain(counts.map(|count| integer(count).into())).collect()
        });
        let audit = self.audit.iter().map(|(it, hash)| {
            vec![
                (&it.workspace).into(),
                integer(it.revision).into(),
                it.action.as_deref().into(),
                (&it.kind).into(),
                it.at.as_millis().into(),
                it.who.as_deref().into(),
                it.details.as_deref().into(),
                hash.as_slice().into(),
            ]
        });
        let heads = self.heads.values().map(|head| {
            vec![
                (&head.workspace).into(),
                integer(head.revision).into(),
                integer(head.pending).into(),
                head.hash.as_deref().into(),
                integer(head.pruned).into(),
            ]
        });
        [
            Insert::new("states (workspace, status, actions)", STATES_ADD, states),
            Insert::new("replies (workspace, subject, key, fingerprint, body, at, action)", "", answers),
            Insert::new(FLOWS, FLOWS_ADD, flows),
            Insert::new("audit (workspace, revision, action, kind, at, who, details, hash)", "", audit),
            Insert::new("heads (workspace, revision, pending, hash, pruned)", HEADS_SET, heads),
        ]
    }

    pub(super) fn add(&mut self, later: Self) {
        self.proposals.extend(later.proposals);
        self.answers.extend(later.answers);
        self.decided.extend(later.decided);
        self.audit.extend(later.audit);
        for (key, flow) in later.flows {
            let sum = self.flows.entry(key).or_default();
            *sum = sum.plus(&flow);
        }
        for (key, more) in later.states {
            *self.states.entry(key).or_default() += more;
        }
        self.heads.extend(later.heads);
    }
}

#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// From earlier jobs.
    pub(super) kept: WriteBuffer,
    /// From the current job.
    pub(super) own: WriteBuffer,
}

impl Buffers {
    pub(super) fn any(&self, about: impl Fn(&WriteBuffer) -> bool) -> bool {
        about(&self.kept) || about(&self.own)
    }

    pub(super) fn end_of_piece(&mut self, keep: bool) {
        let own = std::mem::take(&mut self.own);
        if keep {
            self.kept.add(own);
        }
    }
}
