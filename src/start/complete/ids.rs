//! Completes ids of pending actions, quickly or not at all.

use std::time::Duration;

use crate::config::{Config, SourceConfig, TokenFrom};
use crate::inbox::in_time;
use crate::sources::{self, Synced};

use crate::start::embedded;

/// Limit for a source, because the user waits at the prompt.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// Limit for other sources once one has results.
const GRACE: Duration = Duration::from_millis(300);
/// Maximum ids; shells show no more.
const MOST: usize = 200;

/// Lists pending ids of the configured sources, or of the gate running on this machine. Starts no gate and no token
/// command.
pub(super) fn pending(config: &Config) -> Vec<String> {
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()
    else {
        return Vec::new();
    };
    let running = embedded::running(&config.gate).filter(|_| config.sources.is_empty());
    let quiet = |source: &&SourceConfig| !matches!(source.token, Some(TokenFrom::Command(_)));
    let asked = config.sources.iter().chain(&running).filter(quiet).map(of);
    let found = runtime.block_on(in_time(asked, GRACE, |ids| !ids.is_empty()));
    runtime.shutdown_background();
    found.into_iter().flatten().flatten().take(MOST).collect()
}

async fn of(config: &SourceConfig) -> Vec<String> {
    let Ok(source) = sources::open(config) else { return Vec::new() };
    let listed = tokio::time::timeout(PATIENCE, source.sync(None)).await;
    let Ok(Ok(Synced::All { rows, .. } | Synced::Changes { rows, .. })) = listed else { return Vec::new() };
    let pending = rows.into_iter().filter(|row| row.status.is_pending() && row.unreadable.is_none());
    pending.map(|row| row.id.as_raw().to_owned()).collect()
}
