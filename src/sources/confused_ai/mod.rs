//! confused-ai, an agent framework: a list and a POST.
//!
//! Measured on 2.4.0: it lists what is pending and nothing else, knows no single action, no page, no push and no edit. It still
//! approves what has expired, answers a second decision with 500, and keeps whatever name it is told as the one who decided. So
//! expiry is enforced here, everything is read again just before sending, and an answer is held against what was asked.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::{OpenError, Outcomes, Patience, Source, SourceError, Synced, answer};
use crate::config::SourceConfig;
use crate::contract::action::Unreadable;
use crate::contract::time;
use crate::domain::{
    ActionId, Capabilities, Check, ContextEntry, Note, On, PendingAction, ReasonRule, Revision, Row,
    SourceName, SubmissionBatch, Timestamp,
};
use crate::net::http::{Ask, Http, Reply};

mod look;
mod submit;
#[cfg(test)]
mod tests;
mod wire;

#[cfg(test)]
pub(super) use tests::world;

/// It waits inside of the agent's process, which nobody can see from here.
const RESUMING: &str =
    "approve does not resume the run if the agent's process is gone: it waits in that process";
const NOTES: [Note; 3] = [
    Note::UNVERIFIED,
    Note { on: On::Approve, words: RESUMING },
    Note { on: On::Edit, words: "no edits: it would ignore them and run what was proposed" },
];
/// The unversioned `/approvals` is the same.
const ROOT: &str = "/v1/approvals";
/// Longest wait for a list or for a decision to be taken.
const LIMIT: Duration = Duration::from_secs(30);
/// So many of its answers to decisions are remembered: what was decided is told nowhere else.
const REMEMBERED: usize = 2_000;

/// So many milliseconds it is known of what expired that it did.
const EXPIRED_FOR: i64 = 60 * 60 * 1_000;

/// A source that speaks to one service.
#[derive(Debug)]
struct ConfusedAi {
    name: SourceName,
    http: Http,
    /// Goes with every decision as `decidedBy`.
    reviewer: Option<String>,
    decided: Mutex<Decided>,
    /// When what was listed expires: what is gone since may have.
    expiries: Mutex<HashMap<ActionId, Timestamp>>,
}

/// What the answers to our decisions said, the latest ones.
#[derive(Debug, Default)]
struct Decided {
    actions: HashMap<ActionId, PendingAction>,
    order: VecDeque<ActionId>,
}

impl Decided {
    fn put(&mut self, action: PendingAction) {
        let id = action.row.id.clone();
        if self.actions.insert(id.clone(), action).is_none() {
            self.order.push_back(id);
        }
        while self.order.len() > REMEMBERED {
            let oldest = self.order.pop_front();
            oldest.map(|id| self.actions.remove(&id));
        }
    }
}

/// Opens the source; see [`super::open`].
pub(super) fn open(config: &SourceConfig, patience: Patience) -> Result<Arc<dyn Source>, OpenError> {
    Ok(Arc::new(ConfusedAi {
        name: config.name.clone(),
        http: super::http(config, patience)?,
        reviewer: config.reviewer.clone(),
        decided: Mutex::default(),
        expiries: Mutex::default(),
    }))
}

type Full = Result<PendingAction, Unreadable>;

#[async_trait]
impl Source for ConfusedAi {
    fn name(&self) -> &SourceName {
        &self.name
    }

    fn capabilities(&self, row: &Row) -> Capabilities {
        if row.unreadable.is_some_and(|stand_in| !stand_in.has_id) {
            return Capabilities::READ_ONLY;
        }
        Capabilities { reason: ReasonRule::Optional, comment: true, notes: &NOTES, ..Capabilities::PLAIN }
    }

    async fn context(&self, id: &ActionId) -> Result<Vec<ContextEntry>, SourceError> {
        self.around(id).await
    }

    async fn check(&self) -> Vec<Check> {
        self.look_over().await
    }

    async fn sync(&self, _: Option<Revision>) -> Result<Synced, SourceError> {
        let (mut rows, mut unreadable) = (Vec::new(), Vec::new());
        for action in self.list().await? {
            match action {
                Ok(action) if action.row.status.is_pending() => rows.push(action.row),
                Ok(_) => {}
                Err(bad) => unreadable.push(bad),
            }
        }
        Ok(Synced::All { rows, unreadable, revision: None })
    }

    /// From the list, which holds whole actions; what we decided ourselves is in no list any more.
    async fn get(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        let known: HashMap<&ActionId, PendingAction> =
            ids.iter().filter_map(|id| Some((id, self.remembered(id)?))).collect();
        let mut found: Vec<Full> = known.values().cloned().map(Ok).collect();
        if known.len() < ids.len() {
            let of = |action: &Full| match action {
                Ok(action) => Some(action.row.id.clone()),
                Err(bad) => bad.id.clone(),
            };
            let missing: HashSet<&ActionId> = ids.iter().filter(|id| !known.contains_key(id)).collect();
            let wanted = |action: &Full| of(action).is_some_and(|id| missing.contains(&id));
            found.extend(self.list().await?.into_iter().filter(wanted));
        }
        Ok(found)
    }

    async fn submit(&self, batch: &SubmissionBatch, _: &str) -> Result<Outcomes, SourceError> {
        self.send(batch).await
    }

    /// What was decided is listed no more: what its reply said must be on disk before the next one goes.
    fn at_once(&self) -> usize {
        1
    }
}

impl ConfusedAi {
    /// Everything that it lists, in its order. One that cannot be read hides no other.
    async fn list(&self) -> Result<Vec<Full>, SourceError> {
        let reply = self.ask(ROOT.to_owned(), None).await?;
        if reply.status != 200 {
            return Err(answer::refusal(&reply));
        }
        // Megabytes of JSON take longer than other tasks should wait.
        let parsed = tokio::task::spawn_blocking(move || wire::list(&reply.text)).await;
        let actions =
            parsed.ok().flatten().ok_or_else(|| answer::nonsense("the reply is no list of approvals"))?;
        let expiries =
            actions.iter().flatten().filter_map(|it| Some((it.row.id.clone(), it.row.expires_at?)));
        let mut known = self.expiries.lock().unwrap_or_else(PoisonError::into_inner);
        let long_ago = time::now().plus_millis(-EXPIRED_FOR);
        known.retain(|_, at| *at > long_ago);
        known.extend(expiries);
        drop(known);
        Ok(actions)
    }

    async fn ask(&self, path: String, body: Option<String>) -> Result<Reply, SourceError> {
        let ask = Ask { path, body, key: None, limit: LIMIT };
        self.http.ask(&ask).await.map_err(answer::none)
    }

    fn remembered(&self, id: &ActionId) -> Option<PendingAction> {
        self.decided.lock().unwrap_or_else(PoisonError::into_inner).actions.get(id).cloned()
    }

    fn remember(&self, action: PendingAction) {
        self.decided.lock().unwrap_or_else(PoisonError::into_inner).put(action);
    }
}
