//! The gate as everything in this room shares it, and how it is told to stop.

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

/// How a gate is told to stop.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    /// Begin nothing new, and end when what runs has ended.
    pub soon: CancellationToken,
    /// End, whatever runs.
    pub now: CancellationToken,
}

impl From<CancellationToken> for Stop {
    fn from(soon: CancellationToken) -> Self {
        Self { soon, now: CancellationToken::new() }
    }
}

/// One gate over one database. Clones are the same gate.
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
    /// How other gates on this database know this one, from when it serves.
    pub(super) registered: OnceLock<Registered>,
    /// With other gates on this database, as far as is known.
    pub(super) disagreements: Mutex<Vec<Disagreement>>,
    pub(super) receivers: Receivers,
    /// `None`: plain HTTP.
    pub(super) tls: Option<Tls>,
    /// Names that the gate is called besides its addresses.
    pub(super) hosts: Vec<String>,
    pub(super) trusted_proxies: Vec<Network>,
    /// `None`: no proxy says who somebody is.
    pub(super) proxy: Option<Proxy>,
    pub(super) limits: Limits,
    pub(super) workspace: String,
    /// For how long settled actions are kept; `None`: for ever.
    pub(super) keep_settled: Option<Duration>,
    /// Tells this database's first tokens from those of another one in the same folder.
    pub(super) token_prefix: String,
    pub(super) uses: Uses,
    pub(super) rate: Rate,
    pub(super) streams: Streams,
    pub(super) bodies: Arc<Bodies>,
    /// Commands that run, or ran under an earlier gate on this machine.
    pub(super) runs: Runs,
    /// What this gate runs.
    pub(super) under_way: TaskTracker,
    /// Background work that shutdown waits for.
    pub(super) tasks: TaskTracker,
    /// How long stopping waits for what runs.
    pub(super) stop_within: Duration,
    /// Nothing new is begun; what runs is waited for, and everything else is answered.
    pub(super) draining: CancellationToken,
    /// Nobody is answered any more.
    pub(super) stopping: CancellationToken,
    /// What still runs is dropped.
    pub(super) giving_up: CancellationToken,
}

impl Gate {
    /// Why no client accepts the gate's certificate at this moment, as far as its dates say.
    pub fn outdated(&self) -> Option<String> {
        self.inner.tls.as_ref()?.outdated(self.inner.clock.now())
    }

    /// Finishes what is queued and closes the database, for a gate that was opened and not served.
    pub async fn close(self) {
        self.inner.store.close().await;
    }

    pub(super) fn store(&self) -> &dyn Store {
        self.inner.store.as_ref()
    }
}
