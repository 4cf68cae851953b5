//! What a group of writes has not written yet: proposals, counts, audit rows, answers, heads.
//!
//! Each statement is a way to the thread of the connection and back, which costs more than the statement. So what nothing in the same group
//! asks for is kept until the end of the group, and what belongs to one count is added up.

use std::collections::BTreeMap;

use sqlx::SqliteConnection;

use super::forms::{self, Rows, Value, Values, values};
use crate::domain::{Effect, Flow, Minute, RawJson, Risk, Row, Status, Timestamp, Untrusted};
use crate::gate::audit::AuditRow;
use crate::gate::store::ops::tx::{Answer, Counted, Head};
use crate::gate::store::{Actor, Keyed, NewAction};

/// How many wait, by risk.
#[derive(Debug, Clone, Copy, Default)]
struct Risks {
    pending: u64,
    low: u64,
    medium: u64,
    critical: u64,
}

impl Risks {
    fn add(&mut self, other: &Self) {
        self.pending += other.pending;
        self.low += other.low;
        self.medium += other.medium;
        self.critical += other.critical;
    }

    fn of(risk: &Risk) -> Self {
        Self {
            pending: 1,
            low: u64::from(*risk == Risk::Low),
            medium: u64::from(*risk == Risk::Medium),
            critical: u64::from(*risk == Risk::Critical),
        }
    }

    const fn high(&self) -> u64 {
        self.pending.saturating_sub(self.low + self.medium)
    }
}

/// What more waits, or less. Keys begin with the workspace.
#[derive(Debug, Default)]
struct Waiting {
    batches: BTreeMap<(String, String), Risks>,
    missions: BTreeMap<(String, String), u64>,
    queues: BTreeMap<(String, String, String), Risks>,
}

impl Waiting {
    fn count(
        &mut self,
        (workspace, batch): (&str, &str),
        mission: Option<&str>,
        (agent, tool): (&str, &str),
        risks: &Risks,
    ) {
        self.batches.entry((workspace.to_owned(), batch.to_owned())).or_default().add(risks);
        if let Some(mission) = mission {
            *self.missions.entry((workspace.to_owned(), mission.to_owned())).or_default() += risks.pending;
        }
        let queue = (workspace.to_owned(), agent.to_owned(), tool.to_owned());
        self.queues.entry(queue).or_default().add(risks);
    }

    /// As what leaves.
    fn rows_out(&self) -> [Vec<Values>; 3] {
        let batches = self.batches.iter().map(|((workspace, batch), risks)| {
            let Risks { pending, low, medium, critical } = *risks;
            values![pending, low, medium, critical, workspace, batch, workspace, batch, workspace, batch]
        });
        let missions = self
            .missions
            .iter()
            .map(|((workspace, mission), pending)| values![*pending, workspace, mission, workspace, mission]);
        let queues = self.queues.iter().map(|((workspace, agent, tool), risks)| {
            values![risks.pending, risks.high(), workspace, agent, tool, workspace, agent, tool]
        });
        [batches.collect(), missions.collect(), queues.collect()]
    }

    fn add(&mut self, other: &Self) {
        for (key, risks) in &other.batches {
            self.batches.entry(key.clone()).or_default().add(risks);
        }
        for (key, pending) in &other.missions {
            *self.missions.entry(key.clone()).or_default() += pending;
        }
        for (key, risks) in &other.queues {
            self.queues.entry(key.clone()).or_default().add(risks);
        }
    }
}

/// A proposal, with what others may ask for before it is written.
#[derive(Debug)]
struct Proposal {
    id: String,
    workspace: String,
    proposer: String,
    session: Option<String>,
    tool_call: Option<String>,
    row: Values,
    payload: Values,
}

/// The first of a batch to arrive: its id, its tool and its mission.
type First = (String, String, Option<String>);

#[derive(Debug, Default)]
pub(super) struct Unwritten {
    actions: Vec<Proposal>,
    replies: Vec<((String, String, String), Values)>,
    arrived: Waiting,
    firsts: BTreeMap<(String, String), First>,
    left: Waiting,
    states: BTreeMap<(String, String), i64>,
    flows: BTreeMap<(String, i64, String, String), Flow>,
    audit: Vec<Values>,
    heads: BTreeMap<String, Values>,
}

impl Unwritten {
    pub(super) fn has_actions(&self) -> bool {
        !self.actions.is_empty()
    }

    pub(super) fn has_action(&self, id: &str) -> bool {
        self.actions.iter().any(|known| known.id == id)
    }

    pub(super) fn has_call_of(&self, action: &NewAction) -> bool {
        self.actions.iter().any(|known| {
            known.workspace == action.workspace
                && known.proposer == action.proposer
                && known.session == action.session
                && known.tool_call == action.tool_call
        })
    }

    pub(super) fn has_reply(&self, by: &Actor, key: &str) -> bool {
        self.replies.iter().any(|((workspace, subject, known), _)| {
            known == key && *workspace == by.workspace && *subject == by.subject
        })
    }

    /// A proposal, which is one more that waits.
    pub(super) fn insert(&mut self, action: &NewAction, revision: u64, now: Timestamp) {
        let row = values![
            &action.id,
            &action.workspace,
            action.batch.as_ref(),
            action.checkpoint.as_ref(),
            action.mission.as_ref(),
            action.session.as_ref(),
            action.run.as_ref(),
            action.tool_call.as_ref(),
            action.agent.as_ref(),
            action.requested_by.as_ref(),
            &action.proposer,
            &action.tool,
            &action.title,
            action.summary.as_ref(),
            action.risk.as_raw(),
            action.effect.as_ref().map(Effect::as_raw),
            action.input.as_str().len() as u64,
            &action.digest.to_string(),
            Status::Pending.as_raw(),
            now.as_millis(),
            action.expires_at.map(Timestamp::as_millis),
            revision,
            action.origin.callback.as_ref(),
            action.origin.traceparent.as_ref(),
        ];
        let payload = values![
            &action.id,
            action.input.as_str(),
            action.preview.as_ref().map(RawJson::as_str),
            action.before.as_ref().map(RawJson::as_str),
        ];
        let batch = action.batch.as_ref().unwrap_or(&action.id);
        let agent = action.agent.as_deref().unwrap_or_default();
        let (mission, risks) = (action.mission.as_deref(), Risks::of(&action.risk));
        self.arrived.count((&action.workspace, batch), mission, (agent, &action.tool), &risks);
        self.firsts
            .entry((action.workspace.clone(), batch.clone()))
            .or_insert_with(|| (action.id.clone(), action.tool.clone(), action.mission.clone()));
        self.actions.push(Proposal {
            id: action.id.clone(),
            workspace: action.workspace.clone(),
            proposer: action.proposer.clone(),
            session: action.session.clone(),
            tool_call: action.tool_call.clone(),
            row,
            payload,
        });
    }

    /// One less waits.
    pub(super) fn count_out(&mut self, row: &Row) {
        let text = |text: &Option<Untrusted>| text.as_ref().map(|text| text.as_raw().to_owned());
        let workspace = text(&row.workspace).unwrap_or_default();
        let batch = row.batch.as_ref().map_or(row.id.as_raw(), |batch| batch.as_raw());
        let (mission, agent) = (text(&row.mission), text(&row.agent).unwrap_or_default());
        let risks = Risks::of(&row.risk);
        self.left.count((&workspace, batch), mission.as_deref(), (&agent, row.tool.as_raw()), &risks);
    }

    pub(super) fn count_state(&mut self, workspace: &str, status: &Status, more: i64) {
        *self.states.entry((workspace.to_owned(), status.as_raw().to_owned())).or_default() += more;
    }

    pub(super) fn count_flow(&mut self, workspace: &str, at: Timestamp, counted: &Counted<'_>) {
        let minute = Minute::of(at).number();
        let key = (workspace.to_owned(), minute, counted.agent.to_owned(), counted.tool.to_owned());
        let flow = self.flows.entry(key).or_default();
        *flow = flow.plus(&counted.flow);
    }

    pub(super) fn note(&mut self, row: &AuditRow, hash: &[u8]) {
        self.audit.push(values![
            &row.workspace,
            row.revision,
            row.action.as_ref(),
            &row.kind,
            row.at.as_millis(),
            row.who.as_ref(),
            row.details.as_ref(),
            hash,
        ]);
    }

    pub(super) fn reply(&mut self, by: &Actor, key: &Keyed, answer: Answer<'_>, now: Timestamp) {
        let (body, action) = match answer {
            Answer::Body(body) => (body, None),
            Answer::Action(id) => ("", Some(id)),
        };
        let row = values![
            &by.workspace,
            &by.subject,
            &key.key,
            key.fingerprint.as_slice(),
            body,
            now.as_millis(),
            action,
        ];
        self.replies.push(((by.workspace.clone(), by.subject.clone(), key.key.clone()), row));
    }

    pub(super) fn head(&mut self, head: &Head) {
        let row = values![&head.workspace, head.revision, head.pending, head.hash.as_deref(), head.pruned];
        self.heads.insert(head.workspace.clone(), row);
    }

    /// What came after it.
    pub(super) fn add(&mut self, later: Self) {
        self.actions.extend(later.actions);
        self.replies.extend(later.replies);
        self.arrived.add(&later.arrived);
        for (batch, first) in later.firsts {
            self.firsts.entry(batch).or_insert(first);
        }
        self.left.add(&later.left);
        for (key, more) in later.states {
            *self.states.entry(key).or_default() += more;
        }
        for (key, flow) in later.flows {
            let sum = self.flows.entry(key).or_default();
            *sum = sum.plus(&flow);
        }
        self.audit.extend(later.audit);
        self.heads.extend(later.heads);
    }

    /// Writes it all. Nothing of it is kept.
    pub(super) async fn write(&mut self, conn: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        forms::write(conn, std::mem::take(self).rows()).await
    }

    fn rows(self) -> Rows {
        let Self { actions, replies, arrived, mut firsts, left, states, flows, audit, heads } = self;
        let (actions, payloads) = actions.into_iter().map(|it| (it.row, it.payload)).unzip();
        let batches = arrived.batches.into_iter().map(|((workspace, batch), risks)| {
            let first = firsts.remove(&(workspace.clone(), batch.clone())).unwrap_or_default();
            let (id, tool, mission) = first;
            let Risks { pending, low, medium, critical } = risks;
            values![&workspace, &batch, &tool, mission.as_ref(), &id, pending, low, medium, critical]
        });
        let missions = arrived.missions.iter();
        let missions = missions.map(|((workspace, mission), pending)| values![workspace, mission, *pending]);
        let queues = arrived.queues.iter().map(|((workspace, agent, tool), risks)| {
            values![workspace, agent, tool, risks.pending, risks.high()]
        });
        let [batches_out, missions_out, queues_out] = left.rows_out();
        let states = states.iter().filter(|(_, more)| **more != 0);
        let states = states.map(|((workspace, status), more)| values![workspace, status, *more]);
        let flows = flows.iter().map(|((workspace, minute, agent, tool), flow)| {
            let Flow { arrived, approved, edited, rejected, left, executed, failed, unknown } = *flow;
            values![
                workspace, *minute, agent, tool, arrived, approved, edited, rejected, left, executed, failed,
                unknown
            ]
        });
        [
            actions,
            payloads,
            batches.collect(),
            missions.collect(),
            queues.collect(),
            batches_out,
            missions_out,
            queues_out,
            states.collect(),
            replies.into_iter().map(|(_, row)| row).collect(),
            flows.collect(),
            audit,
            heads.into_values().collect(),
        ]
    }
}
