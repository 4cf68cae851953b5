//! One service: what it is asked with, and what it told and will not tell again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::wire;
use crate::contract::time;
use crate::domain::{
    ActionId, Capabilities, Note, Notes, On, PendingAction, ReasonRule, Row, SourceName, Timestamp,
};
use crate::net::http::{Ask, Http, Reply};
use crate::sources::recent::Recent;
use crate::sources::source::permit;
use crate::sources::{Full, SourceError, answer};

/// It waits inside of the agent's process, which nobody can see from here.
const RESUMING: &str =
    "approve does not resume the run if the agent's process is gone: it waits in that process";
const NOTES: [Note; 3] = [
    Note::UNVERIFIED,
    Note { on: On::Approve, words: RESUMING },
    Note { on: On::Edit, words: "no edits: it would ignore them and run what was proposed" },
];
/// The unversioned `/approvals` is the same.
pub(super) const ROOT: &str = "/v1/approvals";
/// Longest wait for a list or for a decision to be taken.
const LIMIT: Duration = Duration::from_secs(30);
/// So many of its answers to decisions are remembered: what was decided is told nowhere else.
pub(super) const REMEMBERED: usize = 2_000;

/// So many milliseconds it is known of what expired that it did.
const EXPIRED_FOR: i64 = 60 * 60 * 1_000;

/// A source that speaks to one service.
#[derive(Debug)]
pub(super) struct ConfusedAi {
    pub(super) name: SourceName,
    pub(super) http: Http,
    /// Goes with every decision as `decidedBy`.
    pub(super) reviewer: Option<String>,
    /// What the answers to our decisions said.
    pub(super) decided: Recent<ActionId, PendingAction>,
    /// When what was listed expires: what is gone since may have.
    pub(super) expiries: Mutex<HashMap<ActionId, Timestamp>>,
}

/// What may be done with a row.
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
    /// Everything that it lists, in its order. One that cannot be read hides no other.
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
        let long_ago = time::now().plus_millis(-EXPIRED_FOR);
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
