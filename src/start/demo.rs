//! `placet demo`: the real inbox on a real gate, with a separate configuration, folder and agent.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use tokio_util::sync::CancellationToken;

use crate::cli::demo::DemoArgs;
use crate::cli::{self, Exit};
use crate::config::paths::Paths;
use crate::config::{Config, SourceConfig, TokenFrom};
use crate::domain::json;
use crate::sources::AgentClient;
use crate::tui;

use super::embedded::{Embedded, OnGateEnd};
use super::logging;
use super::screen::{self, Shell};

const CONFIG: &str = include_str!("../../assets/demo/config.toml");
const QUEUE: &str = include_str!("../../assets/demo/queue.json");
const ARRIVALS: &str = include_str!("../../assets/demo/arrivals.json");

const ARRIVAL_EVERY: Duration = Duration::from_secs(6);

/// Runs the demo until the reviewer quits. Does not touch the user's configuration and state.
pub(super) async fn run(shell: Shell, args: DemoArgs) -> anyhow::Result<Exit> {
    shell.check()?;
    let folder = tempfile::Builder::new()
        .prefix("placet-demo-")
        .tempdir()
        .context("cannot make a folder for the demo")?;
    let executed = folder.path().join("executed");
    std::fs::create_dir(&executed).with_context(|| format!("cannot create {}", executed.display()))?;
    let state = folder.path().join("state");
    let paths = Paths {
        config: folder.path().join("config.toml"),
        config_named: false,
        log: state.join("placet.log"),
        state,
    };
    let mut config = Config::parse(&CONFIG.replace("@OUT@", &executed.display().to_string()), &paths)?;
    config.ui.theme = args.theme.unwrap_or(config.ui.theme);
    config.ui.glyphs = args.glyphs.unwrap_or(config.ui.glyphs);
    config.ui.density = args.density.unwrap_or(config.ui.density);
    tui::check_theme(&config)?;
    let log = logging::start(&paths.log)?;
    let embedded = Embedded::open(&config.gate, OnGateEnd::Nobody).await?;
    let agent = SourceConfig {
        token: Some(TokenFrom::File(embedded.note.agent_token_file.clone())),
        ..embedded.source()
    };
    let stop = CancellationToken::new();
    let proposing = tokio::spawn(propose(AgentClient::open(&agent)?, stop.clone()));
    let shown = screen::show(&paths, &config, Some(embedded), Some(executed.clone()), shell).await;
    stop.cancel();
    drop(proposing.await);
    drop(log);
    keep_or_remove(folder, &executed);
    shown
}

/// The scripted agent: proposes the queue, then arrivals in a loop.
async fn propose(proposer: AgentClient, stop: CancellationToken) {
    for proposal in json::elements(QUEUE).unwrap_or_default() {
        if stop.is_cancelled() {
            return;
        }
        send(&proposer, proposal).await;
    }
    let arrivals = json::elements(ARRIVALS).unwrap_or_default();
    for proposal in arrivals.iter().cycle() {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(ARRIVAL_EVERY) => {}
        }
        send(&proposer, proposal).await;
    }
}

async fn send(proposer: &AgentClient, proposal: &str) {
    if let Err(error) = proposer.propose_json(proposal.to_owned()).await {
        tracing::warn!(%error, "the demo's agent could not propose");
    }
}

/// Keeps the executed files for inspection and deletes the rest.
fn keep_or_remove(folder: tempfile::TempDir, executed: &Path) {
    let ran = std::fs::read_dir(executed).is_ok_and(|mut files| files.next().is_some());
    if !ran {
        return;
    }
    let folder = folder.keep();
    drop(std::fs::remove_dir_all(folder.join("state")));
    cli::complain(&format!("executed files are in {}; delete them when you have looked", executed.display()));
}
