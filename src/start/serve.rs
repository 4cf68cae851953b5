//! `placet gate serve`: the gate without a screen, for a team.

use anyhow::Context as _;
use serde::Serialize;
use tokio::signal;
use tokio_util::sync::CancellationToken;

use crate::cli::args::ServeArgs;
use crate::cli::{self, Exit};
use crate::config::paths::Paths;
use crate::config::{Config, GateConfig};

use super::embedded::{self, PortRule};
use super::logging;

/// The one line on standard output when the gate is ready.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ready<'a> {
    url: &'a str,
    workspace: &'a str,
    token_file: &'a std::path::Path,
    agent_token_file: &'a std::path::Path,
    database: &'a std::path::Path,
    pid: u32,
}

/// Serves until SIGINT or SIGTERM, then finishes what is under way.
pub(super) async fn run(paths: &Paths, args: ServeArgs) -> anyhow::Result<Exit> {
    let mut config = with_database(Config::load(paths)?.gate, args.database.as_deref(), paths)?;
    if let Some(listen) = args.listen {
        config.listen = listen;
    }
    if !config.listen.ip().is_loopback() {
        anyhow::bail!(
            "{} can be reached from other machines, and this gate speaks plain HTTP; listen on 127.0.0.1 and put a TLS proxy \
             before it",
            config.listen
        );
    }
    let _log = logging::start(&paths.log)?;
    let lock = embedded::lock_file(&config.database)?;
    if lock.try_lock().is_err() {
        anyhow::bail!(
            "another placet serves {}; end it, or give another --database",
            config.database.display()
        );
    }
    let stop = CancellationToken::new();
    let served = embedded::serve(&config, lock, PortRule::Exact, stop.clone()).await?;
    cli::json(&Ready {
        url: &served.note.url,
        workspace: &config.workspace,
        token_file: &served.note.token_file,
        agent_token_file: &served.note.agent_token_file,
        database: &config.database,
        pid: served.note.pid,
    })?;
    end_signal().await?;
    stop.cancel();
    served.finish().await;
    Ok(Exit::Done)
}

/// The gate's configuration with the database that the command line names.
pub(super) fn with_database(
    mut gate: GateConfig,
    database: Option<&str>,
    paths: &Paths,
) -> anyhow::Result<GateConfig> {
    if let Some(text) = database {
        // On the command line a relative path is the shell's, as with every other program.
        let folder = std::env::current_dir().unwrap_or_else(|_| paths.state.clone());
        gate.database = crate::config::database(text, &folder).map_err(anyhow::Error::msg)?;
    }
    Ok(gate)
}

/// SIGINT, SIGTERM or SIGHUP.
#[cfg(unix)]
pub(super) async fn end_signal() -> anyhow::Result<()> {
    use signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let mut hangup = signal(SignalKind::hangup()).context("cannot listen for SIGHUP")?;
    tokio::select! {
        interrupted = signal::ctrl_c() => interrupted.context("cannot listen for SIGINT")?,
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
pub(super) async fn end_signal() -> anyhow::Result<()> {
    signal::ctrl_c().await.context("cannot listen for Ctrl-C")
}
