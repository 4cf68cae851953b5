//! `placet mcp wrap` and `unwrap`: put the proxy into a client's settings, or take it out.

use std::path::PathBuf;

use crate::agent::mcp::wrap::{self, Change, Server, WrapError};
use crate::domain::Untrusted;

use super::args::McpServerArgs;
use super::exit::Exit;
use super::{input, output};

/// Puts placet in front of a server's command. `program` is the command line of this placet, with its configuration.
pub fn mcp_wrap(args: &McpServerArgs, program: &[String]) -> anyhow::Result<Exit> {
    let server = found(args)?;
    match server.wrapped(program) {
        Some(change) => written(args, &server, &change?),
        None => nothing_to_do(args, &server, "asks the gate already"),
    }
}

pub fn mcp_unwrap(args: &McpServerArgs) -> anyhow::Result<Exit> {
    let server = found(args)?;
    match server.unwrapped() {
        Some(change) => written(args, &server, &change?),
        None => nothing_to_do(args, &server, "does not ask the gate"),
    }
}

fn found(args: &McpServerArgs) -> anyhow::Result<Server> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let folder = std::env::current_dir()?;
    wrap::find(args.client, &args.name, &folder, variable).map_err(|error| match error {
        // The name was typed, so these are usage errors.
        WrapError::NoServer { .. } | WrapError::Http { .. } | WrapError::NoTime { .. } => {
            super::Usage(error.to_string()).into()
        }
        other => other.into(),
    })
}

fn nothing_to_do(args: &McpServerArgs, server: &Server, what: &str) -> anyhow::Result<Exit> {
    let name = shown(&args.name);
    output::line(&format!("{name} of {} {what}: {}", args.client.title(), server.path().display()))?;
    Ok(Exit::Done)
}

fn written(args: &McpServerArgs, server: &Server, change: &Change) -> anyhow::Result<Exit> {
    output::line(&format!("In {}:", server.path().display()))?;
    output::line(&format!("- {}", shown(&shell_words::join(&change.before))))?;
    output::line(&format!("+ {}", shown(&shell_words::join(&change.after))))?;
    if !input::agreed(args.yes)? {
        return Ok(Exit::Failed);
    }
    change.write()?;
    if let Some(hidden) = server.hides_result() {
        output::line(&shown(&hidden))?;
    }
    output::line(&format!("Written. New sessions of {} use it.", args.client.title()))?;
    Ok(Exit::Done)
}

fn shown(text: &str) -> String {
    output::shown(&Untrusted::from(text))
}
