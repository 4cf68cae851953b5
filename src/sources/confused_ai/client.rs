//! `ConfusedAi`, the source for one service, with the answers that the service does not repeat.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::wire;
use crate::clock;
use crate::domain::{
    ActionId, Capabilities, Note, Notes, On, PendingAction, ReasonRule, Row, SourceName, Timestamp,
};
use crate::net::http::{Ask, Http, Reply};
use crate::sources::recent::Recent;
use crate::sources::source::permit;
use crate::sources::{Full, SourceError, answer};

/// The run waits inside the agent's process, which placet cannot see.
const RESUMING: &str =
    "approve does not resume the run if the agent's process is gone: it waits in that process";
const NOTES: [Note; 3] = [
    Note::UNVERIFIED,
    Note { on: On::Approve, words: RESUMING },
    Note { on: On::Edit, words: "no edits: it would ignore them and run what was proposed" },
];
/// The unversioned `/approvals` is the same.
pub(super) const ROOT: &str = "/v1/approvals";
const LIMIT: Duration = Duration::from_secs(30);
/// Maximum number of answers to decisions to remember. The service does not list decided requests.
pub(super) const REMEMBERED: usize = 2_000;

/// Milliseconds for which passed expiry times are remembered.
const EXPIRED_FOR: i64 = 60 * 60 * 1_000;

#[derive(Debug)]
pub(super) struct ConfusedAi {
    pub(super) name: SourceName,
    pub(super) http: Http,
    /// Sent with every decision as `decidedBy`.
    pub(super) reviewer: Option<String>,
    /// Actions from the answers to our decisions.
    pub(super) decided: Recent<ActionId, PendingAction>,
    /// Expiry times of listed requests, because one that disappeared may have expired.
    pub(super) expiries: Mutex<HashMap<ActionId, Timestamp>>,
}

fn can(row: &Row) -> Capabilities {
    if row.unreadable.as_ref().is_some_and(|stand_in| !stand_in.has_id) {
        return Capabilities::READ_ONLY;
    }
    Capabilities {
        reason: ReasonRule::Optional,
        comment: true,
        titled: true,
        notes: Notes::of(&NOTES),
        ..Capabilities::PLAIN
    }
}

impl ConfusedAi {
    /// Lists all requests in the service's order. An unreadable one does not hide the others.
    pub(super) async fn list(&self) -> Result<Vec<Full>, SourceError> {
        let reply = self.ask(ROOT.to_owned(), None).await?;
        if reply.status != 200 {
            return Err(answer::refusal(&reply));
        }
        let listed = answer::parsed(reply.text, "the reply is no list of approvals", wire::list).await?;
        let mut actions: Vec<Full> = listed.into_iter().map(answer::known_status).collect();
        for one in &mut actions {
            match one {
                Ok(action) => permit([&mut action.row], [], can),
                Err(bad) => permit([], [bad], can),
            }
        }
        let expiries =
            actions.iter().flatten().filter_map(|it| Some((it.row.id.clone(), it.row.expires_at?)));
        let mut known = self.expiries.lock().unwrap_or_else(PoisonError::into_inner);
        let long_ago = clock::now().plus_millis(-EXPIRED_FOR);
        known.retain(|_, at| *at > long_ago);
        known.extend(expiries);
        drop(known);
        Ok(actions)
    }

    pub(super) async fn ask(&self, path: String, body: Option<String>) -> Result<Reply, SourceError> {
        let ask = Ask { path, body, key: None, limit: LIMIT };
        self.http.ask(&ask).await.map_err(answer::none)
    }

    pub(super) fn remembered(&self, id: &ActionId) -> Option<PendingAction> {
        self.decided.get(id)
    }

    pub(super) fn remember(&self, mut action: PendingAction) {
        permit([&mut action.row], [], can);
        self.decided.put(action.row.id.clone(), action);
    }
}
