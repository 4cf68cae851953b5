//! Warden, a saga engine: steps that are held for a human, and decisions that it takes later.
//!
//! It answers 202 to a decision and settles it from an outbox, so that a decision from here is `accepted` and then followed.
//! One key stands for every decision about a step, whoever sent it and whatever it said: `already_queued` and `requeued` are
//! about the first one. Measured at revision cb46334 (version 0.1.0).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::{OpenError, Outcomes, Patience, Source, SourceError, Synced, answer};
use crate::config::{self, SourceConfig, SourceKind};
use crate::contract::action::Unreadable;
use crate::contract::time;
use crate::domain::{
    ActionId, Capabilities, Check, ContextEntry, Decision, Note, On, PendingAction, ReasonRule, Revision,
    Row, SourceName, SubmissionBatch, Timestamp,
};
use crate::net::http::{Ask, Http, Reply};

mod alike;
mod context;
mod look;
mod names;
mod read;
mod sent;
mod standing;
mod step_id;
mod submit;
#[cfg(test)]
mod tests;
mod wire;

use sent::Waiting;
use step_id::{StepId, Verb};
#[cfg(test)]
pub(super) use tests::world;
use wire::Kind;

/// Longest wait for any answer.
const LIMIT: Duration = Duration::from_secs(30);

const HELD_OUTPUT: Note = Note { on: On::Any, words: "output, held before it merges" };
const HELD_ARGUMENTS: Note = Note { on: On::Any, words: "arguments, not run yet" };
const TOOLS_RAN: Note = Note { on: On::Any, words: "tools may already have run" };
const NO_TOOL: Note = Note { on: On::Any, words: "the engine names no tool: the name is the step's" };
const NOT_TAKEN: Note = Note {
    on: On::Any,
    words: "a decision was sent from here and the engine did not take it: check its workers; whatever is decided now, the first one runs",
};
const DROPPED: Note = Note {
    on: On::Any,
    words: "a retry came before the decision that was sent from here: the engine dropped it, and takes no later one on this step",
};
const FIXED: Note = Note { on: On::Edit, words: "no edits on commit steps" };
const UNDONE: Note = Note { on: On::Reject, words: "completed steps will be compensated" };
const MAY_NOT_RETURN: Note = Note { on: On::Retry, words: "it may not return on this engine version" };
const SPENT: Note = Note { on: On::Retry, words: "its retry limit is reached" };

const REASON: [Note; 5] = [HELD_OUTPUT, TOOLS_RAN, Note::NOBODY, UNDONE, MAY_NOT_RETURN];
const REASON_SPENT: [Note; 5] = [HELD_OUTPUT, TOOLS_RAN, Note::NOBODY, UNDONE, SPENT];
const REASON_NOT_TAKEN: [Note; 6] = [NOT_TAKEN, HELD_OUTPUT, TOOLS_RAN, Note::NOBODY, UNDONE, MAY_NOT_RETURN];
const REASON_SPENT_NOT_TAKEN: [Note; 6] = [NOT_TAKEN, HELD_OUTPUT, TOOLS_RAN, Note::NOBODY, UNDONE, SPENT];
const REASON_DROPPED: [Note; 6] = [DROPPED, HELD_OUTPUT, TOOLS_RAN, Note::NOBODY, UNDONE, MAY_NOT_RETURN];
const REASON_SPENT_DROPPED: [Note; 6] = [DROPPED, HELD_OUTPUT, TOOLS_RAN, Note::NOBODY, UNDONE, SPENT];
const COMMIT: [Note; 5] = [HELD_ARGUMENTS, NO_TOOL, Note::NOBODY, FIXED, UNDONE];
const COMMIT_NOT_TAKEN: [Note; 6] = [NOT_TAKEN, HELD_ARGUMENTS, NO_TOOL, Note::NOBODY, FIXED, UNDONE];
const COMMIT_DROPPED: [Note; 6] = [DROPPED, HELD_ARGUMENTS, NO_TOOL, Note::NOBODY, FIXED, UNDONE];

/// A source at an engine.
#[derive(Debug)]
struct Warden {
    name: SourceName,
    http: Http,
    filter: config::Warden,
    clock: Clock,
    names: names::Names,
    sent: sent::Log,
    known: Mutex<HashMap<ActionId, StepDetails>>,
}

/// What a row does not say of its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StepDetails {
    kind: Kind,
    can_be_edited: bool,
    /// No retry is left.
    spent: bool,
    /// How a decision from here stands.
    waiting: Waiting,
}

/// The time, so that tests can let it pass.
#[derive(Clone)]
struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// Opens the source; see [`super::open`].
pub(super) fn open(config: &SourceConfig, patience: Patience) -> Result<Arc<dyn Source>, OpenError> {
    open_at(config, patience, Clock(Arc::new(time::now)))
}

fn open_at(config: &SourceConfig, patience: Patience, clock: Clock) -> Result<Arc<dyn Source>, OpenError> {
    let filter = match &config.kind {
        SourceKind::Warden(filter) => filter.clone(),
        _ => config::Warden::default(),
    };
    Ok(Arc::new(Warden {
        name: config.name.clone(),
        http: super::http(config, patience)?,
        filter,
        clock,
        names: names::Names::default(),
        sent: sent::Log::default(),
        known: Mutex::default(),
    }))
}

#[async_trait]
impl Source for Warden {
    fn name(&self) -> &SourceName {
        &self.name
    }

    fn capabilities(&self, row: &Row) -> Capabilities {
        let can = Capabilities { reason: ReasonRule::Optional, ..Capabilities::PLAIN };
        if let Some(stand_in) = row.unreadable {
            return if stand_in.has_id { can } else { Capabilities::READ_ONLY };
        }
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&row.id).copied();
        let Some(StepDetails { kind, can_be_edited, spent, waiting }) = known else { return can };
        let notes: &'static [Note] = match (kind, spent, waiting) {
            (Kind::Reason, false, Waiting::Sent | Waiting::No) => &REASON,
            (Kind::Reason, true, Waiting::Sent | Waiting::No) => &REASON_SPENT,
            (Kind::Reason, false, Waiting::NotTaken) => &REASON_NOT_TAKEN,
            (Kind::Reason, true, Waiting::NotTaken) => &REASON_SPENT_NOT_TAKEN,
            (Kind::Reason, false, Waiting::Dropped) => &REASON_DROPPED,
            (Kind::Reason, true, Waiting::Dropped) => &REASON_SPENT_DROPPED,
            (Kind::Commit, _, Waiting::Sent | Waiting::No) => &COMMIT,
            (Kind::Commit, _, Waiting::NotTaken) => &COMMIT_NOT_TAKEN,
            (Kind::Commit, _, Waiting::Dropped) => &COMMIT_DROPPED,
        };
        // A commit step would run the same arguments again, and take no guidance.
        let retry = kind == Kind::Reason && !spent;
        Capabilities { edit: can_be_edited, retry, notes, ..can }
    }

    async fn context(&self, id: &ActionId) -> Result<Vec<ContextEntry>, SourceError> {
        self.around(id).await
    }

    async fn check(&self) -> Vec<Check> {
        self.look_over().await
    }

    async fn sync(&self, _: Option<Revision>) -> Result<Synced, SourceError> {
        self.list().await
    }

    async fn get(&self, ids: &[ActionId]) -> Result<Vec<Result<PendingAction, Unreadable>>, SourceError> {
        self.read(ids).await
    }

    async fn submit(&self, batch: &SubmissionBatch, key: &str) -> Result<Outcomes, SourceError> {
        self.send(batch, key).await
    }

    fn ours(&self, action: &PendingAction, decision: &Decision, key: &str) -> Option<bool> {
        standing::ours(action, decision, key)
    }

    /// The engine keeps no list of who decided what: the answers are on disk before many more go out.
    fn at_once(&self) -> usize {
        8
    }

    fn one_by_one(&self) -> bool {
        true
    }
}

impl Warden {
    fn now(&self) -> Timestamp {
        (self.clock.0)()
    }

    /// Remembers what a row does not say.
    fn know(&self, id: &ActionId, known: StepDetails) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), known);
    }

    /// What is listed no more is known no more.
    fn know_only(&self, listed: HashMap<ActionId, StepDetails>) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = listed;
    }

    fn is_spent(&self, id: &ActionId) -> bool {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(id).is_some_and(|known| known.spent)
    }

    /// No retry of it is left.
    fn spend(&self, id: &ActionId) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get_mut(id) {
            known.spent = true;
        }
    }

    async fn ask(&self, path: String) -> Result<Reply, SourceError> {
        let ask = Ask { path, body: None, key: None, limit: LIMIT };
        self.http.ask(&ask).await.map_err(answer::none)
    }

    /// The one place from which anything is sent that is no question.
    async fn post(&self, verb: Verb, place: &StepId, body: String) -> Result<Reply, SourceError> {
        let ask = Ask { path: place.post(verb), body: Some(body), key: None, limit: LIMIT };
        self.http.ask(&ask).await.map_err(answer::none)
    }
}
