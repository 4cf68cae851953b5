//! `Warden`, the source for one engine.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::names::Names;
use super::sent;
use super::step_id::{StepId, Verb};
use crate::config;
use crate::domain::{SourceName, Timestamp};
use crate::net::http::{Ask, Http, Reply};

use crate::sources::{SourceError, answer};
const LIMIT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Warden {
    pub(super) name: SourceName,
    pub(super) http: Http,
    pub(super) filter: config::Warden,
    pub(super) clock: Clock,
    pub(super) names: Names,
    pub(super) sent: sent::Log,
}

/// The current time, which tests can replace.
#[derive(Clone)]
pub(super) struct Clock(pub(super) Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

impl Warden {
    pub(super) fn now(&self) -> Timestamp {
        (self.clock.0)()
    }

    pub(super) async fn ask(&self, path: String) -> Result<Reply, SourceError> {
        let ask = Ask { path, body: None, key: None, limit: LIMIT };
        self.http.ask(&ask).await.map_err(answer::none)
    }

    /// Sends every request that is not a read.
    pub(super) async fn post(&self, verb: Verb, place: &StepId, body: String) -> Result<Reply, SourceError> {
        let ask = Ask { path: place.post(verb), body: Some(body), key: None, limit: LIMIT };
        self.http.ask(&ask).await.map_err(answer::none)
    }
}
