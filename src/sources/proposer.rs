//! The agent's side of our gate: propose, and wait for what becomes of it.

use std::time::{Duration, Instant};

use crate::config::SourceConfig;
use crate::contract::fields::Fields;
use crate::contract::propose::{Propose, Queued};
use crate::contract::{action, error};
use crate::domain::{PendingAction, Untrusted, json};
use crate::net::http::{Ask, Http, HttpError, Reply};
use crate::net::url;

use super::{OpenError, SourceError};

/// For one proposal; it is a row in a database.
const PROPOSE_LIMIT: Duration = Duration::from_secs(30);
/// The gate answers a wait after so long at the latest.
const WAIT_STEP: Duration = Duration::from_secs(25);

/// A client that proposes. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Proposer {
    http: Http,
}

impl Proposer {
    /// `config` names the gate and where the agent's token is.
    pub fn open(config: &SourceConfig) -> Result<Self, OpenError> {
        super::http(config).map(|http| Self { http })
    }

    /// Records an intent. The answer is the queued signal: nothing ran.
    pub async fn propose(&self, proposal: &Propose) -> Result<Queued, SourceError> {
        let body = serde_json::to_string(proposal)
            .map_err(|error| SourceError::Protocol { why: Untrusted::from(error.to_string()) })?;
        self.propose_json(body).await
    }

    /// The same with a body that was written elsewhere, byte for byte.
    pub async fn propose_json(&self, body: String) -> Result<Queued, SourceError> {
        let path = "/api/pending-actions".to_owned();
        let reply = self.ask(Ask { path, body: Some(body), key: None, limit: PROPOSE_LIMIT }).await?;
        serde_json::from_str(&reply.text)
            .map_err(|error| SourceError::Protocol { why: Untrusted::from(error.to_string()) })
    }

    /// The workspace that the token belongs to; `None` when the gate does not tell.
    pub async fn workspace(&self) -> Result<Option<String>, SourceError> {
        let ask = Ask { path: "/api/workspaces".to_owned(), body: None, key: None, limit: PROPOSE_LIMIT };
        let reply = self.ask(ask).await?;
        let first = Fields::of(&reply.text)
            .and_then(|fields| json::elements(fields.raw("items")?)?.into_iter().next())
            .and_then(|item| Fields::of(item)?.text("workspaceId"));
        Ok(first.map(|workspace| workspace.as_raw().to_owned()))
    }

    /// Waits until nothing more happens to the action by itself, or `limit` is over; then the action as it is.
    pub async fn wait(&self, id: &str, limit: Duration) -> Result<PendingAction, SourceError> {
        let gone = || SourceError::Refused { why: Untrusted::from("this id cannot be part of a URL") };
        let id = url::segment(id).ok_or_else(gone)?;
        let started = Instant::now();
        loop {
            let left = limit.saturating_sub(started.elapsed()).min(WAIT_STEP);
            let path = format!("/api/pending-actions/{id}?wait={}s&until=final", left.as_secs());
            let reply = self.ask(Ask { path, body: None, key: None, limit: left + PROPOSE_LIMIT }).await?;
            let action = action::read(&reply.text)
                .map_err(|unreadable| SourceError::Protocol { why: Untrusted::from(unreadable.what) })?;
            if action.row.status.is_final() || started.elapsed() >= limit {
                return Ok(action);
            }
        }
    }

    async fn ask(&self, ask: Ask) -> Result<Reply, SourceError> {
        let reply = self.http.ask(&ask).await.map_err(|error| match error {
            HttpError::Token(why) => SourceError::Token(why),
            HttpError::NotSent(why) => SourceError::NotSent { why: Untrusted::from(why) },
            other => SourceError::Unreachable { why: Untrusted::from(other.to_string()) },
        })?;
        match reply.status {
            200..300 => Ok(reply),
            401 => Err(SourceError::Unauthorized),
            403 => Err(SourceError::Forbidden { why: error::read(&reply.text).message }),
            429 => Err(SourceError::RateLimited { retry_after: reply.retry_after }),
            _ => Err(SourceError::Refused { why: error::read(&reply.text).message }),
        }
    }
}
