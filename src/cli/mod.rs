//! The command line. Each command has a file with its arguments, their help and what it does.
//!
//! Commands read arguments, ask the inbox or the gate, print, and return an exit code. Printed text is for people, with
//! foreign text made safe. `--json` is for scripts, with exact values.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub mod args;
pub mod claim;
mod columns;
pub mod completions;
pub mod config;
mod context;
pub mod decide;
pub mod demo;
pub mod doctor;
mod exit;
mod find;
pub mod gate;
pub mod hook;
pub mod input;
pub mod list;
pub mod log;
pub mod man;
pub mod mcp;
mod output;
pub mod propose;
mod receipts;
mod report;
pub mod retry;
pub mod schema;
mod shift;
pub mod show;
#[cfg(test)]
mod tests;
pub mod watch;
pub mod whoami;

pub use exit::{Exit, Usage};
pub use output::{answer, complain, json, line, moment, pipe};

/// Review what AI agents propose to write, before it lands.
///
/// Without a command this opens the inbox. Without a configuration it runs its own gate.
#[derive(Debug, Parser)]
#[command(name = "placet", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Args {
    /// The configuration file [default: see `placet config path`]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Plain mode, lines of text for screen readers; also PLACET_A11Y=1 or TERM=dumb
    #[arg(long)]
    pub plain: bool,
    /// Times in UTC, as JSON always has them [default: local times]
    #[arg(long, global = true)]
    pub utc: bool,
    #[command(subcommand)]
    pub command: Option<Command>,
}

const EXIT_CODES: &str = "Exit codes: 0 all done, 1 failed, 2 wrong arguments or configuration, 3 some skipped, \
                          4 some unknown, 5 nothing reachable, 6 rejected, 7 expired or timed out.";

#[derive(Debug, Subcommand)]
pub enum Command {
    Demo(demo::DemoArgs),
    #[command(subcommand)]
    Gate(gate::GateCommand),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Claim(claim::ClaimArgs),
    Decide(decide::DecideArgs),
    Retry(retry::RetryArgs),
    Log(log::LogArgs),
    Watch(watch::WatchArgs),
    Propose(propose::ProposeArgs),
    Hook(hook::HookArgs),
    Mcp(mcp::McpArgs),
    Doctor(doctor::DoctorArgs),
    Whoami(whoami::WhoamiArgs),
    Man(man::ManArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
    #[command(hide = true)]
    Complete(completions::CompleteArgs),
    #[command(subcommand)]
    Config(config::ConfigCommand),
}
