//! `placet mcp`: a proxy between an agent and an MCP server.

use std::sync::Arc;

use anyhow::Context as _;

use crate::agent::mcp::{Ended, FindGate, Found, Proxy};
use crate::agent::mission;
use crate::cli::mcp::{McpArgs, McpCommand};
use crate::cli::{self, Exit, hook};
use crate::config::Config;
use crate::config::paths::Paths;
use crate::program::{self, supervisor};

use super::signals::EndSignals;
use super::{agents, logging};

pub(super) async fn run(paths: &Paths, args: McpArgs) -> anyhow::Result<Exit> {
    match args.command {
        None => proxy(paths, args).await,
        Some(McpCommand::Wrap(args)) => {
            let config = paths.config_named.then_some(paths.config.as_path());
            cli::mcp::wrap(&args, &hook::lasting_program(config)?)
        }
        Some(McpCommand::Unwrap(args)) => cli::mcp::unwrap(&args),
    }
}

/// Runs the proxy. The server starts at once and the gate is searched in the background, because clients skip tools
/// that are late.
async fn proxy(paths: &Paths, args: McpArgs) -> anyhow::Result<Exit> {
    let config = Config::load(paths)?;
    let _log = logging::start(&paths.log)?;
    let mut signals = EndSignals::listen()?;
    let mission = std::env::current_dir().ok().map(|folder| mission(&folder));
    let program =
        args.server.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default();
    let words: Vec<_> = args.server.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    program::check(&words, None, "the command after --").map_err(cli::Usage)?;
    let server = supervisor::guarded(args.server)?;
    let proxy = Proxy { server, name: args.name, tools: config.mcp, wait: args.wait, mission };
    let client = (tokio::io::stdin(), cli::pipe());
    let ended = proxy.run(find(paths), client, signals.next(), cli::complain).await;
    match ended.with_context(|| format!("cannot run the MCP server {program}"))? {
        Ended::Client => Ok(Exit::Done),
        Ended::Server(status) if status.success() => Ok(Exit::Done),
        Ended::Server(status) => {
            cli::complain(&format!("the MCP server {program} ended with {status}"));
            Ok(Exit::Failed)
        }
    }
}

fn find(paths: &Paths) -> FindGate {
    let paths = paths.clone();
    Arc::new(move || {
        let paths = paths.clone();
        Box::pin(async move {
            let gate = agents::gate(&paths).await.map_err(|error| format!("{error:#}"))?;
            tracing::info!(gate = gate.place, "found the gate");
            Ok(Found { client: gate.client, workspace: gate.workspace })
        })
    })
}
