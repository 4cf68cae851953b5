//! One application: what it is asked with, and by which road.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::memory::Memory;
use super::turn::TurnCache;
use super::wire::{self, Report};
use crate::config;
use crate::domain::{SourceName, Untrusted};
use crate::net::http::{Ask, Http, Reply};
use crate::net::sse::Limits;
use crate::net::url;

use crate::sources::{SourceError, answer};
/// Longest wait for a read.
pub(super) const GET_LIMIT: Duration = Duration::from_secs(30);
/// Longest wait for a list.
pub(super) const LONG_LIMIT: Duration = Duration::from_mins(1);
/// Longest wait for a decision to be taken. Without the bridge it is answered only when the run pauses again or ends; what takes
/// longer is read afterwards.
const DECIDE_LIMIT: Duration = Duration::from_secs(45);

/// Requests at a time.
pub(super) const GETS: usize = 4;

/// One application.
#[derive(Debug)]
pub(super) struct Dendrux {
    pub(super) name: SourceName,
    pub(super) http: Http,
    pub(super) set: config::Dendrux,
    /// Who decides, for a bridge to remember.
    pub(super) reviewer: Option<Untrusted>,
    /// `None` until somebody asked, and again after a list failed or something was not there.
    pub(super) road: Mutex<Option<Road>>,
    pub(super) kept: Mutex<TurnCache>,
    pub(super) memory: Memory,
    pub(super) stream: Limits,
}

/// How it is reached.
#[derive(Clone, Debug)]
pub(super) enum Road {
    Bridge(Arc<Report>),
    Plain,
}

impl Dendrux {
    /// How it is reached: told, or asked for now.
    pub(super) async fn road(&self) -> Result<Road, SourceError> {
        if let Some(road) = lock(&self.road).clone() {
            return Ok(road);
        }
        let reply = self.ask("/placet".to_owned(), GET_LIMIT).await?;
        let road = match reply.status {
            200..=299 => {
                let report = wire::report(&reply.text);
                Road::Bridge(Arc::new(report.ok_or_else(|| answer::nonsense("it is no bridge of placet's"))?))
            }
            404 | 405 => Road::Plain,
            _ => return Err(answer::refusal(&reply)),
        };
        *lock(&self.road) = Some(road.clone());
        Ok(road)
    }

    pub(super) fn path(&self, place: &str) -> String {
        format!("{}{place}", self.set.prefix)
    }

    /// A path under the prefix, answered in any way.
    pub(super) async fn ask(&self, place: String, limit: Duration) -> Result<Reply, SourceError> {
        let ask = Ask { path: self.path(&place), body: None, key: None, limit };
        self.http.ask(&ask).await.map_err(answer::none)
    }

    /// What stands there, understood; `None` where nothing does.
    pub(super) async fn found<T: Send + 'static>(
        &self,
        place: String,
        read: fn(&str) -> Option<T>,
    ) -> Result<Option<T>, SourceError> {
        let reply = self.ask(place, GET_LIMIT).await?;
        match reply.status {
            404 | 410 => Ok(None),
            200..=299 => parsed(reply.text, read).await.map(Some),
            // It is there, and cannot tell of this one.
            500.. => Err(SourceError::Protocol { why: answer::message(&reply) }),
            _ => Err(answer::refusal(&reply)),
        }
    }

    pub(super) async fn post(&self, place: &str, body: String) -> Result<Reply, SourceError> {
        let ask = Ask { path: self.path(place), body: Some(body), key: None, limit: DECIDE_LIMIT };
        self.http.ask(&ask).await.map_err(answer::none)
    }

    /// What narrows the list, as configured.
    pub(super) fn narrowed<'a>(&'a self, more: &[(&'a str, &'a str)]) -> String {
        let agent = self.set.agent.as_deref().map(|agent| ("agent_name", agent));
        let tenant = self.set.tenant.as_deref().map(|tenant| ("tenant_id", tenant));
        let pairs: Vec<_> = more.iter().copied().chain(agent).chain(tenant).collect();
        url::query(&pairs)
    }
}

/// Reads a reply of its own form.
pub(super) async fn parsed<T: Send + 'static>(
    text: String,
    read: fn(&str) -> Option<T>,
) -> Result<T, SourceError> {
    answer::parsed(text, "the reply is not what dendrux answers there", read).await
}

pub(super) fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
