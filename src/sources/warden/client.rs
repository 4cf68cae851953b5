//! One engine: what it is asked with, and what was learnt of it.

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
/// Longest wait for any answer.
const LIMIT: Duration = Duration::from_secs(30);

/// A source at an engine.
#[derive(Debug)]
pub(super) struct Warden {
    pub(super) name: SourceName,
    pub(super) http: Http,
    pub(super) filter: config::Warden,
    pub(super) clock: Clock,
    pub(super) names: Names,
    pub(super) sent: sent::Log,
}

/// The time, so that tests can let it pass.
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

    /// The one place from which anything is sent that is no question.
    pub(super) async fn post(&self, verb: Verb, place: &StepId, body: String) -> Result<Reply, SourceError> {
        let ask = Ask { path: place.post(verb), body: Some(body), key: None, limit: LIMIT };
        self.http.ask(&ask).await.map_err(answer::none)
    }
}
