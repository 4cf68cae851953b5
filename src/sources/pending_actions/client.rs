//! `PendingActions`, the source for one backend that speaks the contract.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::wire;
use crate::config::{Praxiom, SourceConfig, SourceKind};
use crate::domain::{
    Binding, Capabilities, Claim, Note, Notes, On, ReasonRule, Row, SourceName, Status, Timestamp, Via,
};
use crate::net::http::{Ask, Http, Reply};
use crate::net::sse::Limits;
use crate::net::url;
use crate::sources::setup::{self, Patience};
use crate::sources::{Identity, OpenError, SourceError, answer, signals};

/// Praxiom merges `userEdits` shallowly.
const PRAXIOM_NOTES: [Note; 1] =
    [Note { on: On::Edit, words: "an edited key is replaced as a whole, and no key can be removed" }];
pub(super) const ROOT: &str = "/api/pending-actions";
pub(super) const GET_LIMIT: Duration = Duration::from_secs(30);
pub(super) const LONG_LIMIT: Duration = Duration::from_mins(1);
const NAMELESS: Note =
    Note { on: On::Any, words: "read-only: it has no id, so its source cannot be told about it" };

#[derive(Debug)]
pub(super) struct PendingActions {
    pub(super) name: SourceName,
    pub(super) dialect: Dialect,
    pub(super) http: Http,
    pub(super) workspace: Option<String>,
    pub(super) via: Via,
    /// The token's bearer, as last reported by the gate.
    pub(super) me: Mutex<Option<Identity>>,
    pub(super) claims: Mutex<Option<Vec<Claim>>>,
    pub(super) stream: Limits,
    /// Praxiom's event stream, if configured.
    pub(super) hints: Option<HintsAt>,
    /// Approvals that never ran, as last listed, and when.
    pub(super) orphans: Mutex<(Timestamp, Vec<Row>)>,
}

#[derive(Clone, Debug)]
pub(super) struct HintsAt {
    pub(super) path: String,
    pub(super) count_at: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Gate,
    Praxiom,
}

impl PendingActions {
    pub(super) fn open(config: &SourceConfig, patience: Patience) -> Result<Self, OpenError> {
        let dialect = match &config.kind {
            SourceKind::Praxiom(_) if config.workspace.is_none() => {
                return Err(OpenError::NoWorkspace(config.name.clone()));
            }
            SourceKind::Praxiom(_) => Dialect::Praxiom,
            _ => Dialect::Gate,
        };
        let hints = match &config.kind {
            SourceKind::Praxiom(Praxiom { events_path: Some(path), briefing_pointer }) => {
                Some(HintsAt { path: path.clone(), count_at: briefing_pointer.clone() })
            }
            _ => None,
        };
        Ok(Self {
            name: config.name.clone(),
            dialect,
            http: setup::http(config, patience)?,
            workspace: config.workspace.clone(),
            via: config.via,
            me: Mutex::default(),
            claims: Mutex::default(),
            stream: signals::limits(patience),
            hints,
            orphans: Mutex::default(),
        })
    }

    pub(super) fn can(&self, row: &Row) -> Capabilities {
        let (reason, comment, binding, notes) = match self.dialect {
            Dialect::Gate => (ReasonRule::Optional, true, Binding::Source, Notes::of(&[])),
            Dialect::Praxiom => (ReasonRule::NotKept, false, Binding::FreshRead, Notes::of(&PRAXIOM_NOTES)),
        };
        if row.unreadable.as_ref().is_some_and(|stand_in| !stand_in.has_id) {
            return Capabilities { notes: Notes::of(&[NAMELESS]), ..Capabilities::READ_ONLY };
        }
        if !self.may_decide() {
            return Capabilities { notes: Notes::of(&[Note::NO_SCOPE]), ..Capabilities::READ_ONLY };
        }
        let settle = self.lists(&row.status) && !row.status.is_pending();
        let edit = row.unreadable.is_none();
        let titled = self.is_gate();
        Capabilities { edit, reason, comment, settle, titled, binding, notes, ..Capabilities::PLAIN }
    }

    pub(super) fn me(&self) -> Option<Identity> {
        self.me.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns whether the token has the scope `decide`. True until its scopes are known.
    pub(super) fn may_decide(&self) -> bool {
        let me = self.me.lock().unwrap_or_else(PoisonError::into_inner);
        me.as_ref().is_none_or(|me| me.scopes.iter().any(|scope| scope.as_raw() == "decide"))
    }

    pub(super) fn learn_claims(&self, claims: Option<Vec<Claim>>) {
        *self.claims.lock().unwrap_or_else(PoisonError::into_inner) = claims.filter(|_| self.is_gate());
    }

    pub(super) fn lists(&self, status: &Status) -> bool {
        status.is_pending() || (self.is_gate() && *status == Status::Unknown)
    }

    pub(super) fn is_gate(&self) -> bool {
        self.dialect == Dialect::Gate
    }

    /// Asks the gate who the token's bearer is. Ignores failures, because reading works without it.
    pub(super) async fn learn_me(&self) {
        if self.is_gate()
            && let Err(error) = self.ask_me().await
        {
            tracing::debug!(%error, "a gate does not say who this reviewer is");
        }
    }

    pub(super) async fn ask_me(&self) -> Result<(), SourceError> {
        let reply = self.ask("/api/workspaces".to_owned(), GET_LIMIT).await?;
        if reply.status >= 500 {
            return Err(answer::refusal(&reply));
        }
        let me = wire::identity(&reply.text, self.workspace.as_deref()).filter(|_| reply.status == 200);
        if me.is_some() {
            *self.me.lock().unwrap_or_else(PoisonError::into_inner) = me;
        }
        Ok(())
    }

    /// Returns a path under the collection, with the workspace added to `query`.
    pub(super) fn path(&self, place: &str, query: &[(&str, &str)]) -> String {
        let workspace = self.workspace.as_deref().map(|workspace| ("workspace_id", workspace));
        let pairs: Vec<_> = workspace.into_iter().chain(query.iter().copied()).collect();
        format!("{ROOT}{place}{}", url::query(&pairs))
    }

    pub(super) async fn ask(&self, path: String, limit: Duration) -> Result<Reply, SourceError> {
        let ask = Ask { path, body: None, key: None, limit };
        self.http.ask(&ask).await.map_err(answer::none)
    }

    pub(super) async fn post(
        &self,
        path: String,
        body: String,
        key: Option<String>,
    ) -> Result<Reply, SourceError> {
        let ask = Ask { path, body: Some(body), key, limit: LONG_LIMIT };
        self.http.ask(&ask).await.map_err(answer::none)
    }
}
