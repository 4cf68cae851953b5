//! `placet gate serve`: a gate without a screen, for a team.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::cli::gate::ServeArgs;
use crate::cli::{self, Exit};
use crate::config::paths::Paths;
use crate::config::{Config, GateConfig};
use crate::gate::Stop;

use super::embedded::{self, PortRule, Served};
use super::logging;
use super::signals::{Asked, EndSignals};

/// Time for another placet to release the database.
const LOCK_LIMIT: Duration = Duration::from_secs(3);
const LOCK_PAUSE: Duration = Duration::from_millis(100);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ready<'a> {
    url: &'a str,
    workspace: &'a str,
    token_file: &'a Path,
    agent_token_file: &'a Path,
    database: Cow<'a, str>,
    pid: u32,
}

/// Serves until SIGINT or SIGTERM, then finishes running actions; a second signal ends it at once. SIGHUP reloads the
/// certificate.
pub(super) async fn run(paths: &Paths, args: ServeArgs) -> anyhow::Result<Exit> {
    let mut config = with_database(Config::load(paths)?.gate, args.database.as_deref(), paths)?;
    if let Some(listen) = args.listen {
        config.listen = listen;
    }
    config.behind_proxy |= args.behind_proxy;
    let target = logging::Target::of(args.log.as_deref(), &paths.log);
    let _log = logging::start_at(&target, args.log_format)?;
    let lock = lock(&mut config).await?;
    let mut end = EndSignals::listen()?;
    let stop = Stop::default();
    let mut served = embedded::serve(&config, lock, PortRule::Exact, stop.clone()).await?;
    cli::json(&Ready {
        url: &served.note.url,
        workspace: &config.workspace,
        token_file: &served.note.token_file,
        agent_token_file: &served.note.agent_token_file,
        database: config.server.as_deref().map_or_else(|| config.database.to_string_lossy(), Cow::from),
        pid: served.note.pid,
    })?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), url = served.note.url, "the gate serves");
    if let Some(outdated) = served.gate.outdated() {
        cli::complain(&outdated);
        tracing::warn!(outdated, "clients will not connect");
    }
    let told = loop {
        tokio::select! {
            asked = end.asked() => match asked {
                Asked::End => break true,
                Asked::Reload => reload(&served).await,
            },
            () = served.ended() => break false,
        }
    };
    stop.soon.cancel();
    let mut finishing = std::pin::pin!(served.finish());
    tokio::select! {
        () = &mut finishing => {}
        () = end.again() => {
            stop.now.cancel();
            finishing.await;
        }
    }
    tracing::info!(told, "the gate stopped");
    anyhow::ensure!(told, "the gate stopped by itself; the log says why: {target}");
    Ok(Exit::Done)
}

async fn reload(served: &Served) {
    let folder = served.note.token_file.parent().unwrap_or(Path::new("."));
    let problems = served.gate.reload(folder).await;
    for problem in &problems {
        tracing::error!(problem, "not everything was reloaded; the rest goes on as before");
    }
    if problems.is_empty() {
        tracing::info!("reloaded the certificate, its key and the files of the tokens");
    }
}

/// Prevents others from serving the same database file, or the same port if gates share a server.
async fn lock(config: &mut GateConfig) -> anyhow::Result<File> {
    if config.server.is_some() {
        let name = config.database.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        config.database.set_file_name(format!("{name}-{}.db", config.listen.port()));
    }
    let lock = embedded::lock_file(&config.database)?;
    if locked(&lock, config).await? {
        return Ok(lock);
    }
    anyhow::ensure!(
        config.server.is_none(),
        "another gate of this state folder serves at this port; give another --listen, or another PLACET_STATE_DIR"
    );
    anyhow::bail!("another placet serves {}; end it, or give another --database", config.database.display())
}

/// Takes the lock, with retries, because commands and restarting gates hold it only briefly.
pub(super) async fn locked(lock: &File, config: &GateConfig) -> anyhow::Result<bool> {
    let deadline = tokio::time::Instant::now() + LOCK_LIMIT;
    while !embedded::locked(lock, &config.database).await? {
        if tokio::time::Instant::now() >= deadline {
            return Ok(false);
        }
        tokio::time::sleep(LOCK_PAUSE).await;
    }
    Ok(true)
}

pub(super) fn with_database(
    mut gate: GateConfig,
    database: Option<&str>,
    paths: &Paths,
) -> anyhow::Result<GateConfig> {
    if let Some(text) = database {
        // On the command line a relative path is relative to the current folder.
        let folder = std::env::current_dir().unwrap_or_else(|_| paths.state.clone());
        let at = |folder: &Path| crate::config::database(text, folder).map_err(anyhow::Error::msg);
        let mut place = at(&folder)?;
        if place.server.is_some() {
            // Local files of such a gate are in the state folder.
            place = at(&paths.state)?;
        }
        (gate.database, gate.server) = (place.file, place.server);
    }
    Ok(gate)
}
