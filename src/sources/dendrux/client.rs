//! `Dendrux`, the source for one application, and the routes to it.

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
pub(super) const GET_LIMIT: Duration = Duration::from_secs(30);
pub(super) const LONG_LIMIT: Duration = Duration::from_mins(1);
/// Time limit of a decision. Without the bridge, the answer comes only when the run pauses again or ends; a later
/// outcome is read afterwards.
const DECIDE_LIMIT: Duration = Duration::from_secs(45);

pub(super) const GETS: usize = 4;

#[derive(Debug)]
pub(super) struct Dendrux {
    pub(super) name: SourceName,
    pub(super) http: Http,
    pub(super) set: config::Dendrux,
    /// The name that a bridge records for decisions.
    pub(super) reviewer: Option<Untrusted>,
    /// `None` until the first request, and again after a failed list or a missing route.
    pub(super) road: Mutex<Option<Road>>,
    pub(super) kept: Mutex<TurnCache>,
    pub(super) memory: Memory,
    pub(super) stream: Limits,
}

#[derive(Clone, Debug)]
pub(super) enum Road {
    Bridge(Arc<Report>),
    Plain,
}

impl Dendrux {
    /// Returns how the application is reached, and finds out if unknown.
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

    pub(super) async fn ask(&self, place: String, limit: Duration) -> Result<Reply, SourceError> {
        let ask = Ask { path: self.path(&place), body: None, key: None, limit };
        self.http.ask(&ask).await.map_err(answer::none)
    }

    /// Reads a path; `None` if it does not exist.
    pub(super) async fn found<T: Send + 'static>(
        &self,
        place: String,
        read: fn(&str) -> Option<T>,
    ) -> Result<Option<T>, SourceError> {
        let reply = self.ask(place, GET_LIMIT).await?;
        match reply.status {
            404 | 410 => Ok(None),
            200..=299 => parsed(reply.text, read).await.map(Some),
            // The application answers, but cannot report this item.
            500.. => Err(SourceError::Protocol { why: answer::message(&reply) }),
            _ => Err(answer::refusal(&reply)),
        }
    }

    pub(super) async fn post(&self, place: &str, body: String) -> Result<Reply, SourceError> {
        let ask = Ask { path: self.path(place), body: Some(body), key: None, limit: DECIDE_LIMIT };
        self.http.ask(&ask).await.map_err(answer::none)
    }

    pub(super) fn narrowed<'a>(&'a self, more: &[(&'a str, &'a str)]) -> String {
        let agent = self.set.agent.as_deref().map(|agent| ("agent_name", agent));
        let tenant = self.set.tenant.as_deref().map(|tenant| ("tenant_id", tenant));
        let pairs: Vec<_> = more.iter().copied().chain(agent).chain(tenant).collect();
        url::query(&pairs)
    }
}

pub(super) async fn parsed<T: Send + 'static>(
    text: String,
    read: fn(&str) -> Option<T>,
) -> Result<T, SourceError> {
    answer::parsed(text, "the reply is not what dendrux answers there", read).await
}

pub(super) fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
