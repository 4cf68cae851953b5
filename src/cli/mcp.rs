//! `placet mcp wrap` and `unwrap`: put the proxy into a client's settings, or take it out.

use std::ffi::OsString;
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::{Args as ClapArgs, Subcommand};

use crate::agent::clients::{CLIENTS, Client};
use crate::agent::mcp::Wait;
use crate::agent::mcp::wrap::{self as settings, Change, Server, WrapError};
use crate::config::is_mcp_name;
use crate::domain::Untrusted;

use super::args::one_of;
use super::exit::Exit;
use super::{input, output};

/// Ask a human before an MCP server's tools write: a proxy for its command
#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct McpArgs {
    #[command(subcommand)]
    pub command: Option<McpCommand>,
    /// The server's name, before its tools' names at the gate [default: of what it calls itself]
    #[arg(long, value_parser = name)]
    pub name: Option<String>,
    /// Time a call waits for its human before the agent reads that it waits: auto (as long as the client does), never, or seconds
    #[arg(long, value_name = "SECONDS", default_value = "auto", value_parser = wait, hide_default_value = true)]
    pub wait: Wait,
    /// The server's program and its arguments
    #[arg(last = true, required = true, value_name = "SERVER")]
    pub server: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Put placet in front of a server in a client's own settings, after showing it
    Wrap(McpServerArgs),
    /// Remove placet and restore the settings
    Unwrap(McpServerArgs),
}

#[derive(Debug, ClapArgs)]
pub struct McpServerArgs {
    #[arg(value_parser = client())]
    pub client: &'static Client,
    /// The server, by its name in the client's settings
    pub name: String,
    /// Write without asking
    #[arg(long)]
    pub yes: bool,
}

fn client() -> impl TypedValueParser<Value = &'static Client> {
    one_of(CLIENTS.map(|client| (client.word, client, client.help)))
}

fn name(given: &str) -> Result<String, String> {
    let is_name = is_mcp_name(given);
    is_name.then(|| given.to_owned()).ok_or_else(|| "use letters, digits, - and _".to_owned())
}

fn wait(given: &str) -> Result<Wait, String> {
    match given {
        "auto" => Ok(Wait::Auto),
        "never" => Ok(Wait::Never),
        seconds => match seconds.parse() {
            Ok(seconds) if seconds > 0 => Ok(Wait::For(Duration::from_secs(seconds))),
            _ => Err("use auto, never, or a number of seconds from 1".to_owned()),
        },
    }
}

/// Puts placet in front of a server's command. `program` is the command line of this placet, with its configuration.
pub fn wrap(args: &McpServerArgs, program: &[String]) -> anyhow::Result<Exit> {
    let server = found(args)?;
    match server.wrapped(program) {
        Some(change) => written(args, &server, &change?),
        None => nothing_to_do(args, &server, "asks the gate already"),
    }
}

pub fn unwrap(args: &McpServerArgs) -> anyhow::Result<Exit> {
    let server = found(args)?;
    match server.unwrapped() {
        Some(change) => written(args, &server, &change?),
        None => nothing_to_do(args, &server, "does not ask the gate"),
    }
}

fn found(args: &McpServerArgs) -> anyhow::Result<Server> {
    let folder = std::env::current_dir()?;
    settings::find(args.client, &args.name, &folder, &input::variable).map_err(|error| match error {
        // The name was typed, so these are usage errors.
        WrapError::NoServer { .. } | WrapError::Http { .. } | WrapError::NoTime { .. } => {
            super::Usage(error.to_string()).into()
        }
        other => other.into(),
    })
}

fn nothing_to_do(args: &McpServerArgs, server: &Server, what: &str) -> anyhow::Result<Exit> {
    let name = shown(&args.name);
    output::line(&format!("{name} of {} {what}: {}", args.client.title, server.path().display()))?;
    Ok(Exit::Done)
}

fn written(args: &McpServerArgs, server: &Server, change: &Change) -> anyhow::Result<Exit> {
    output::line(&format!("In {}:", server.path().display()))?;
    output::line(&format!("- {}", shown(&shell_words::join(&change.before))))?;
    output::line(&format!("+ {}", shown(&shell_words::join(&change.after))))?;
    for line in &change.more {
        output::line(&shown(line))?;
    }
    if !input::agreed(args.yes)? {
        return Ok(Exit::Failed);
    }
    change.write()?;
    if let Some(hidden) = server.hides_result() {
        output::line(&shown(&hidden))?;
    }
    output::line(&format!("Written. New sessions of {} use it.", args.client.title))?;
    Ok(Exit::Done)
}

fn shown(text: &str) -> String {
    output::shown(&Untrusted::from(text))
}
