//! The state that all parts of the gate share, and its stop signals.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::bodies::Bodies;
use super::briefings::Briefings;
use super::clock::Clock;
use super::events::Events;
use super::executor::runs::Runs;
use super::limits::{Rate, Streams};
use super::metrics::Metrics;
use super::policies::{Disagreement, Registered};
use super::proxy::Proxy;
use super::receivers::Receivers;
use super::store::Store;
use super::tls::Tls;
use super::token::Uses;
use super::tool::Tools;
use crate::config::{Limits, Network};

#[derive(Debug, Clone, Default)]
pub struct Stop {
    /// Starts nothing new, and ends when runs have ended.
    pub soon: CancellationToken,
    /// Ends without waiting for runs.
    pub now: CancellationToken,
}

impl From<CancellationToken> for Stop {
    fn from(soon: CancellationToken) -> Self {
        Self { soon, now: CancellationToken::new() }
    }
}

/// One gate on one database. Clones share the gate.
#[derive(Debug, Clone)]
pub struct Gate {
    pub(super) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) store: Box<dyn Store>,
    pub(super) events: Events,
    pub(super) briefings: Briefings,
    pub(super) metrics: Metrics,
    pub(super) clock: Clock,
    pub(super) tools: Arc<Tools>,
    /// Set when this gate serves.
    pub(super) registered: OnceLock<Registered>,
    pub(super) disagreements: Mutex<Vec<Disagreement>>,
    pub(super) receivers: Receivers,
    /// `None` for plain HTTP.
    pub(super) tls: Option<Tls>,
    /// Accepted host names besides addresses.
    pub(super) hosts: Vec<String>,
    pub(super) trusted_proxies: Vec<Network>,
    pub(super) proxy: Option<Proxy>,
    pub(super) limits: Limits,
    pub(super) workspace: String,
    /// `None` for forever.
    pub(super) keep_settled: Option<Duration>,
    /// Distinguishes token files of databases in one folder.
    pub(super) token_prefix: String,
    pub(super) uses: Uses,
    pub(super) rate: Rate,
    pub(super) streams: Streams,
    pub(super) bodies: Arc<Bodies>,
    /// Commands started by this gate or an earlier one on this machine.
    pub(super) runs: Runs,
    /// Runs of this gate.
    pub(super) under_way: TaskTracker,
    pub(super) tasks: TaskTracker,
    pub(super) stop_within: Duration,
    /// Refuses new work; runs continue, and other requests are answered.
    pub(super) draining: CancellationToken,
    /// Ends streams and background tasks.
    pub(super) stopping: CancellationToken,
    /// Drops runs in progress.
    pub(super) giving_up: CancellationToken,
}

impl Gate {
    pub fn outdated(&self) -> Option<String> {
        self.inner.tls.as_ref()?.outdated(self.inner.clock.now())
    }

    /// Finishes queued writes and closes the database, for a gate that is not served.
    pub async fn close(self) {
        self.inner.store.close().await;
    }

    pub(super) fn store(&self) -> &dyn Store {
        self.inner.store.as_ref()
    }
}
