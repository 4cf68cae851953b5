//! Opens a gate, and checks beforehand that it can be opened.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::bootstrap_tokens;
use super::briefings::Briefings;
use super::clock::Clock;
use super::error::GateError;
use super::events::Events;
use super::executor::runs::Runs;
use super::limits::{Rate, Streams};
use super::metrics::Metrics;
use super::proxy::Proxy;
use super::receivers::{self, Receivers};
use super::router;
use super::state::{Gate, Inner};
use super::store::Store;
use super::store::context::Context;
use super::store::postgres::PostgresStore;
use super::store::sqlite::SqliteStore;
use super::tls::{self, Tls};
use super::token::Uses;
use super::tool::Tools;
use crate::clock;
use crate::config::{ConfigError, GateConfig, ToolConfig};
use crate::sqlite;

/// Checks that a gate with this configuration could start and that clients would accept its certificate. Has no side
/// effects.
pub fn check(config: &GateConfig) -> Result<(), ConfigError> {
    mistakes(config).into_iter().next().map_or(Ok(()), Err)
}

pub fn mistakes(config: &GateConfig) -> Vec<ConfigError> {
    let bare = GateConfig { tools: BTreeMap::new(), ..config.clone() };
    let mut found = vec![config.reach().map_err(|why| config.error(why)), Tools::open(&bare).map(drop)];
    // Checks each tool alone to find every mistake. With wrong targets, every tool would repeat that one.
    if found.iter().skip(1).all(Result::is_ok) {
        let one = |(name, tool): (&String, &ToolConfig)| [(name.clone(), tool.clone())].into();
        let alone = config.tools.iter().map(|tool| GateConfig { tools: one(tool), ..bare.clone() });
        found.extend(alone.map(|config| Tools::open(&config).map(drop)));
    }
    if let Ok(tools) = Tools::open(&bare) {
        found.extend(receivers::mistakes(config, tools.targets()).into_iter().map(Err));
    }
    found.push(tls(config).and_then(|tls| {
        let outdated = tls.and_then(|tls| tls.outdated(clock::now()));
        outdated.map_or(Ok(()), |why| Err(config.error(why)))
    }));
    found.into_iter().filter_map(Result::err).collect()
}

/// Returns settings that a gate accepts but cannot always follow.
pub fn warnings(config: &GateConfig) -> Vec<String> {
    Tools::open(config).map(|tools| tools.warnings()).unwrap_or_default()
}

fn tls(config: &GateConfig) -> Result<Option<Tls>, ConfigError> {
    let loaded = config.tls.as_ref().map(tls::load).transpose();
    loaded.map_err(|what| config.error(what))
}

impl Gate {
    /// Opens and migrates the database. Does not listen or run anything. Errors name the file and the reason.
    pub async fn open(config: &GateConfig) -> Result<Self, GateError> {
        Self::over(config, false, Clock::default()).await
    }

    #[cfg(test)]
    pub(crate) async fn open_another(&self, config: &GateConfig) -> Result<Self, GateError> {
        Self::over(config, false, self.inner.clock.clone()).await
    }

    /// Opens the database for reading. On a read-only file system, it must be up to date with an empty write-ahead log.
    pub async fn open_to_read(config: &GateConfig) -> Result<Self, GateError> {
        Self::over(
            config,
            config.server.is_some() || sqlite::is_read_only(&config.database),
            Clock::default(),
        )
        .await
    }

    async fn over(config: &GateConfig, read_only: bool, clock: Clock) -> Result<Self, GateError> {
        let (tools, tls) = (Arc::new(Tools::open(config)?), tls(config)?);
        let receivers = Receivers::open(config, tools.targets()).await?;
        let proxy = Proxy::open(config).await?;
        let routes: Vec<_> = router::table().into_iter().map(|route| (route.method, route.path)).collect();
        let metrics = Metrics::new(&routes);
        let events = Events::new(metrics.clone());
        let context = Context { events: events.clone(), clock: clock.clone(), tools: Arc::clone(&tools) };
        let store: Box<dyn Store> = match &config.server {
            Some(url) if read_only => {
                Box::new(PostgresStore::open_to_read(url, &config.postgres, context).await?)
            }
            Some(url) => Box::new(PostgresStore::open(url, &config.postgres, context).await?),
            None if read_only => Box::new(SqliteStore::open_to_read(&config.database, context).await?),
            None => Box::new(SqliteStore::open(&config.database, context).await?),
        };
        let inner = Inner {
            store,
            events,
            briefings: Briefings::default(),
            metrics,
            clock,
            tools,
            registered: OnceLock::new(),
            disagreements: Mutex::default(),
            receivers,
            tls,
            hosts: config.hosts.clone(),
            trusted_proxies: config.trusted_proxies.clone(),
            proxy,
            limits: config.limits.clone(),
            workspace: config.workspace.clone(),
            keep_settled: config.keep_settled,
            token_prefix: bootstrap_tokens::prefix(&config.database),
            uses: Uses::default(),
            rate: Rate::default(),
            streams: Streams::default(),
            bodies: Arc::default(),
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

    /// Rereads the certificate, its key, the secrets of callbacks and the first tokens in `folder`. Keeps the old value
    /// of anything unusable; returns a sentence for each.
    pub async fn reload(&self, folder: &Path) -> Vec<String> {
        let renewed = self.inner.tls.as_ref().map(Tls::renew);
        let mut problems: Vec<String> = renewed.and_then(Result::err).into_iter().collect();
        problems.extend(self.outdated());
        problems.extend(self.inner.receivers.renew().await);
        problems.extend(self.first_tokens(folder).await.err().map(|error| error.to_string()));
        problems
    }
}
