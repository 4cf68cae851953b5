//! The gate: the durable server that holds proposed writes until a human decides, and runs what was approved.
//!
//! It speaks the pending-actions contract ([`crate::contract`]) over HTTP. Every write is one transaction of the store;
//! what is approved is committed first and scheduled after, and a reconciler picks up what a crash left behind. The
//! inbox reaches the gate over HTTP like any other source, also when both live in one process.

mod admin;
mod audit;
mod auth;
mod bodies;
mod bootstrap_tokens;
mod briefings;
mod clock;
mod connections;
mod error;
mod events;
mod executor;
mod host_guard;
mod limits;
mod metrics;
mod prune;
mod reconcile;
mod router;
mod routes;
mod server;
mod store;
mod terms;
#[cfg(test)]
mod tests;
mod tls;
mod tool;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use self::audit::{AuditHead, Verified};
pub use self::auth::{Scope, TokenInfo, UnknownScope};
pub use self::bootstrap_tokens::FirstTokens;
pub use self::error::GateError;
pub use self::store::Settled;

use self::bodies::Bodies;
use self::briefings::Briefings;
use self::clock::Clock;
use self::events::Events;
use self::executor::Runs;
use self::limits::{Rate, Streams};
use self::metrics::Metrics;
use self::store::Store;
use self::store::sqlite::{Context, SqliteStore};
use self::tls::Tls;
use self::tool::Tools;
use crate::config::{ConfigError, GateConfig, Limits, Network, ToolConfig};
use crate::contract::time;
use crate::sqlite;

/// Looks whether a gate of this configuration could start, and whether clients would accept its certificate: programs and files that
/// its tools need, and the certificate's dates. Touches nothing.
pub fn check(config: &GateConfig) -> Result<(), ConfigError> {
    mistakes(config).into_iter().next().map_or(Ok(()), Err)
}

/// Everything for which a gate of this configuration could not start, or for which no client would accept it. Touches nothing.
pub fn mistakes(config: &GateConfig) -> Vec<ConfigError> {
    let bare = GateConfig { tools: BTreeMap::new(), ..config.clone() };
    let mut found = vec![config.reach().map_err(|why| config.error(why)), Tools::open(&bare).map(drop)];
    // One by one: each may be wrong. Where the targets are wrong, every tool would say so again.
    if found.iter().skip(1).all(Result::is_ok) {
        let one = |(name, tool): (&String, &ToolConfig)| [(name.clone(), tool.clone())].into();
        let alone = config.tools.iter().map(|tool| GateConfig { tools: one(tool), ..bare.clone() });
        found.extend(alone.map(|config| Tools::open(&config).map(drop)));
    }
    found.push(tls(config).and_then(|tls| {
        let outdated = tls.and_then(|tls| tls.outdated(time::now()));
        outdated.map_or(Ok(()), |why| Err(config.error(why)))
    }));
    found.into_iter().filter_map(Result::err).collect()
}

fn tls(config: &GateConfig) -> Result<Option<Tls>, ConfigError> {
    let loaded = config.tls.as_ref().map(tls::load).transpose();
    loaded.map_err(|what| config.error(what))
}

/// What a prune came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Actions that are gone.
    pub actions: u64,
}

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
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    store: Box<dyn Store>,
    events: Events,
    briefings: Briefings,
    metrics: Metrics,
    clock: Clock,
    tools: Arc<Tools>,
    /// `None`: plain HTTP.
    tls: Option<Tls>,
    /// Names that the gate is called besides its addresses.
    hosts: Vec<String>,
    trusted_proxies: Vec<Network>,
    limits: Limits,
    workspace: String,
    /// For how long settled actions are kept; `None`: for ever.
    keep_settled: Option<Duration>,
    /// Tells this database's first tokens from those of another one in the same folder.
    token_prefix: String,
    rate: Rate,
    streams: Streams,
    bodies: Bodies,
    /// Commands that run, or ran under an earlier gate on this machine.
    runs: Runs,
    /// What this gate runs.
    under_way: TaskTracker,
    /// Background work that shutdown waits for.
    tasks: TaskTracker,
    /// How long stopping waits for what runs.
    stop_within: Duration,
    /// Nothing new is begun; what runs is waited for, and everything else is answered.
    draining: CancellationToken,
    /// Nobody is answered any more.
    stopping: CancellationToken,
    /// What still runs is dropped.
    giving_up: CancellationToken,
}

impl Gate {
    /// Opens the database and brings it up to date. Does not listen and runs nothing yet.
    ///
    /// Fails when the database cannot be opened or a tool lacks what it needs; the message says which file and why.
    pub async fn open(config: &GateConfig) -> Result<Self, GateError> {
        Self::over(config, false).await
    }

    /// Opens the database to read it, also where nothing can be written. There, it must be up to date and its log empty.
    pub async fn open_to_read(config: &GateConfig) -> Result<Self, GateError> {
        Self::over(config, sqlite::is_read_only(&config.database)).await
    }

    async fn over(config: &GateConfig, read_only: bool) -> Result<Self, GateError> {
        let (tools, tls) = (Arc::new(Tools::open(config)?), tls(config)?);
        let routes: Vec<_> = router::table().into_iter().map(|route| (route.method, route.path)).collect();
        let metrics = Metrics::new(&routes);
        let (events, clock) = (Events::new(metrics.clone()), Clock::default());
        let context = Context { events: events.clone(), clock: clock.clone(), tools: Arc::clone(&tools) };
        let store = if read_only {
            SqliteStore::open_to_read(&config.database, context).await?
        } else {
            SqliteStore::open(&config.database, context).await?
        };
        let inner = Inner {
            store: Box::new(store),
            events,
            briefings: Briefings::default(),
            metrics,
            clock,
            tools,
            tls,
            hosts: config.hosts.clone(),
            trusted_proxies: config.trusted_proxies.clone(),
            limits: config.limits.clone(),
            workspace: config.workspace.clone(),
            keep_settled: config.keep_settled,
            token_prefix: bootstrap_tokens::prefix(&config.database),
            rate: Rate::default(),
            streams: Streams::default(),
            bodies: Bodies::default(),
            runs: Runs::of(&config.database),
            under_way: TaskTracker::new(),
            tasks: TaskTracker::new(),
            stop_within: config.stop_within,
            draining: CancellationToken::new(),
            stopping: CancellationToken::new(),
            giving_up: CancellationToken::new(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Serves HTTP, runs executors and the reconciler until it is told to stop. Then it drains: nothing new is begun, and what runs is
    /// waited for, up to `gate.stop_seconds`. Then streams end, requests get 10 seconds, and the database is closed: this gate and its
    /// clones are done. Commands that still run go on under their supervisors, and the next gate takes up what they come to.
    pub async fn serve(self, listener: TcpListener, stop: impl Into<Stop>) -> Result<(), GateError> {
        server::serve(self, listener, stop.into()).await
    }

    /// Reads the certificate, its key and the files of the first tokens in `folder` anew, for connections from now on. Ends nothing. What
    /// cannot be used stays as it was; returns a sentence for each problem.
    pub async fn reload(&self, folder: &Path) -> Vec<String> {
        let renewed = self.inner.tls.as_ref().map(Tls::renew);
        let mut problems: Vec<String> = renewed.and_then(Result::err).into_iter().collect();
        problems.extend(self.outdated());
        problems.extend(self.first_tokens(folder).await.err().map(|error| error.to_string()));
        problems
    }

    /// Why no client accepts the gate's certificate at this moment, as far as its dates say.
    pub fn outdated(&self) -> Option<String> {
        self.inner.tls.as_ref()?.outdated(self.inner.clock.now())
    }

    /// Finishes what is queued and closes the database, for a gate that was opened and not served.
    pub async fn close(self) {
        self.inner.store.close().await;
    }

    fn store(&self) -> &dyn Store {
        self.inner.store.as_ref()
    }
}
