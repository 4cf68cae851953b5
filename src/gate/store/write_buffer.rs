//! Rows that a group has not written yet.
//!
//! A statement costs a round trip, to the server or to the thread of an SQLite connection. So the writer buffers rows
//! until the end of the group, and adds up counts of the same key. A query that buffered rows may affect writes them
//! first (`has_…`).
//!
//! This replaced direct writes, where a proposal took eight statements. Each query must name its `has_…` itself: a
//! missing one reads stale rows, and no type prevents that.

use std::collections::BTreeMap;

use super::ops::tx::{Answer, Counted, Head};
use super::{Actor, Keyed, NewAction};
use crate::domain::{Flow, Minute, Status, Timestamp};
use crate::gate::audit::AuditRow;

#[derive(Debug)]
pub(super) struct Proposal {
    pub(super) action: NewAction,
    pub(super) revision: u64,
    pub(super) at: Timestamp,
}

#[derive(Debug)]
pub(super) struct KeyedAnswer {
    pub(super) by: Actor,
    pub(super) key: Keyed,
    pub(super) body: String,
    pub(super) action: Option<String>,
    pub(super) at: Timestamp,
}

pub(super) type FlowKey = (String, Minute, String, String);

#[derive(Debug, Default)]
pub(super) struct WriteBuffer {
    pub(super) proposals: Vec<Proposal>,
    pub(super) answers: Vec<KeyedAnswer>,
    /// `seq` of actions that are no longer pending. Their rows are already updated.
    pub(super) decided: Vec<i64>,
    pub(super) audit: Vec<(AuditRow, Vec<u8>)>,
    pub(super) flows: BTreeMap<FlowKey, Flow>,
    /// By workspace and status.
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
        self.proposals.iter().any(|kept| kept.action.id == id)
    }

    pub(super) fn has_call_of(&self, action: &NewAction) -> bool {
        self.proposals.iter().map(|kept| &kept.action).any(|kept| {
            kept.workspace == action.workspace
                && kept.proposer == action.proposer
                && kept.session == action.session
                && kept.tool_call == action.tool_call
        })
    }

    pub(super) fn has_answer(&self, by: &Actor, key: &str) -> bool {
        self.answers.iter().any(|kept| {
            kept.key.key == key && kept.by.workspace == by.workspace && kept.by.subject == by.subject
        })
    }

    /// Adds a proposal, which counts as pending.
    pub(super) fn insert(&mut self, action: &NewAction, revision: u64, at: Timestamp) {
        self.proposals.push(Proposal { action: action.clone(), revision, at });
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
