//! `placet gate`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::words::one_of;
use crate::contract::settle::SettleAs;

#[derive(Debug, Subcommand)]
pub enum GateCommand {
    /// Serve the gate for a team, without a screen
    Serve(ServeArgs),
    /// Copy the gate's database to a new file, also while it is served
    Backup {
        #[command(flatten)]
        database: DatabaseArg,
        /// The file to write; it must not be there yet
        file: PathBuf,
    },
    /// What the gate's owner does on its machine
    #[command(flatten)]
    Owner(OwnerCommand),
}

/// Commands that work on the database itself: they need no running gate, and a running one obeys at once.
#[derive(Debug, Subcommand)]
pub enum OwnerCommand {
    /// Create, list and revoke tokens
    Token {
        #[command(flatten)]
        database: DatabaseArg,
        #[command(subcommand)]
        command: TokenCommand,
    },
    /// Stop running what was approved; proposals and decisions go on
    Pause(PauseArgs),
    /// Run what was approved again
    Resume(PauseArgs),
    /// Say what became of an action whose outcome is unknown
    Settle(SettleArgs),
    /// Delete what was settled long ago; the audit keeps that it was there
    Prune(PruneArgs),
    /// Check, print and anchor the record of everything that happened
    Audit {
        #[command(flatten)]
        database: DatabaseArg,
        #[command(subcommand)]
        command: AuditCommand,
    },
}

#[derive(Debug, ClapArgs)]
pub struct DatabaseArg {
    /// The database [default: the one in the configuration]
    #[arg(long, global = true, value_name = "sqlite:PATH")]
    pub database: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub struct PauseArgs {
    #[command(flatten)]
    pub database: DatabaseArg,
    /// Only this workspace [default: the whole gate]
    #[arg(long)]
    pub workspace: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub struct SettleArgs {
    /// The action's id, or as much of it as no other has
    pub id: String,
    /// What became of it: it landed, it did not, or run it again
    #[arg(long = "as", value_parser = settled())]
    pub how: SettleAs,
    /// How you know; kept in the audit
    #[arg(long)]
    pub reason: Option<String>,
    #[command(flatten)]
    pub database: DatabaseArg,
}

#[derive(Debug, ClapArgs)]
pub struct PruneArgs {
    /// Only what was settled before: a time ago like 90d, or a moment like 2026-11-22T08:00:00Z [default: gate.keep_settled]
    #[arg(long, value_name = "TIME")]
    pub before: Option<String>,
    /// First write what goes to this new file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,
    #[command(flatten)]
    pub database: DatabaseArg,
}

fn settled() -> impl TypedValueParser<Value = SettleAs> {
    one_of([
        ("executed", SettleAs::Executed, ""),
        ("failed", SettleAs::Failed, ""),
        ("retry", SettleAs::Retry, ""),
    ])
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Read everything and say what was changed behind the gate's back
    Verify {
        /// Heads that were printed before, one JSON object a line; - is standard input
        #[arg(long, value_name = "FILE")]
        heads: Option<PathBuf>,
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print every row as JSON, one a line
    Export {
        /// Only this workspace
        #[arg(long)]
        workspace: Option<String>,
    },
    /// Print the newest row's hash of every workspace as JSON, one a line; keep it where the gate cannot write
    Head,
}

#[derive(Debug, ClapArgs)]
pub struct ServeArgs {
    /// Address and port; port 0 picks a free one [default: the one in the configuration]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// The database [default: the one in the configuration]
    #[arg(long, value_name = "sqlite:PATH")]
    pub database: Option<String>,
    /// Speak plain HTTP to other machines: a proxy in front of the gate speaks TLS
    #[arg(long)]
    pub behind_proxy: bool,
    /// Where the log goes; - is standard error [default: placet.log in the state folder]
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// How the log is written
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One line an event, for people
    Text,
    /// One JSON object a line, for programs
    Json,
}

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Create a token and print it, once
    Create {
        /// propose, read, decide, execute, admin
        #[arg(long, value_delimiter = ',', required = true)]
        scopes: Vec<String>,
        /// Who it is for; decisions are recorded under this name
        #[arg(long)]
        subject: String,
        /// The one workspace it opens
        #[arg(long)]
        workspace: String,
        /// How long it is good, like 12h or 30d [default: until it is revoked]
        #[arg(long, value_name = "TIME")]
        expires_in: Option<String>,
    },
    /// Print every token's id, subject, workspace and scopes, never the token
    List {
        #[arg(long)]
        json: bool,
    },
    /// Make a token useless at once
    Revoke {
        /// The token's id, or as much of it as no other valid one has
        id: String,
    },
}
