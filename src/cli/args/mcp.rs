//! `placet mcp`.

use std::ffi::OsString;
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::{Args as ClapArgs, Subcommand};

use super::words::one_of;
use crate::agent::mcp::Wait;
use crate::agent::mcp::wrap::McpClient;
use crate::config::is_mcp_name;

/// Ask a human before an MCP server's tools write: a proxy for its command
#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct McpArgs {
    #[command(subcommand)]
    pub command: Option<McpCommand>,
    /// The server's name, before its tools' names at the gate [default: of what it calls itself]
    #[arg(long, value_parser = name)]
    pub name: Option<String>,
    /// How long a call waits for its human before the agent reads that it waits: auto (as long as the client does), never, or seconds
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
    pub client: McpClient,
    /// The server, by its name in the client's settings
    pub name: String,
    /// Write without asking
    #[arg(long)]
    pub yes: bool,
}

fn client() -> impl TypedValueParser<Value = McpClient> {
    one_of([
        ("claude-code", McpClient::ClaudeCode, "~/.claude.json, or .mcp.json here"),
        ("codex", McpClient::Codex, "~/.codex/config.toml"),
        ("opencode", McpClient::Opencode, "opencode.json here, in .opencode or in ~/.config/opencode"),
        ("gemini", McpClient::Gemini, ".gemini/settings.json here or at home"),
    ])
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
