//! `placet gate`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::words::{id, one_of};
use crate::contract::settle::SettleAs;

#[derive(Debug, Subcommand)]
pub enum GateCommand {
    /// Serve the gate for a team, without a screen
    Serve(ServeArgs),
    /// Copy the gate's database to a new file, also while the gate runs
    Backup {
        #[command(flatten)]
        database: DatabaseArg,
        /// The file to write; it must not exist
        file: PathBuf,
    },
    /// Bring the gate's database to this version, and make it on a server where it is missing
    Migrate {
        #[command(flatten)]
        database: DatabaseArg,
    },
    /// Move a gate from SQLite to PostgreSQL; the old database stays as it is
    Move(MoveArgs),
    /// Commands for the gate's owner, on its machine
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
    /// Stop running approved actions; proposals and decisions continue
    Pause(PauseArgs),
    /// Resume running approved actions
    Resume(PauseArgs),
    /// Resolve an action whose outcome is unknown
    Settle(SettleArgs),
    /// Delete actions settled long ago; the audit keeps a record of them
    Prune(PruneArgs),
    /// List what callbacks are told: what waits, what arrived, what was given up
    Callbacks(CallbacksArgs),
    /// Check, print and anchor the audit
    Audit {
        #[command(flatten)]
        database: DatabaseArg,
        #[command(subcommand)]
        command: AuditCommand,
    },
}

#[derive(Debug, ClapArgs)]
pub struct DatabaseArg {
    /// The database: sqlite:PATH or postgres://USER@HOST/NAME [default: the one in the configuration]
    #[arg(long, global = true, value_name = "URL")]
    pub database: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub struct MoveArgs {
    /// The database that is there: sqlite:PATH. Nothing may serve it meanwhile
    #[arg(long, value_name = "URL")]
    pub from: String,
    /// A database without a gate: postgres://USER@HOST/NAME
    #[arg(long, value_name = "URL")]
    pub to: String,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
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
    /// The action's id, or any unique beginning of it
    #[arg(value_parser = id)]
    pub id: String,
    /// What became of it: it ran, it did not run, or run it again
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
    /// Only actions settled before: an age like 90d, or a moment like 2026-11-22T08:00:00Z [default: gate.keep_settled]
    #[arg(long, value_name = "TIME")]
    pub before: Option<String>,
    /// First export what will be deleted to this new file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,
    #[command(flatten)]
    pub database: DatabaseArg,
}

#[derive(Debug, ClapArgs)]
pub struct CallbacksArgs {
    /// At most so many; those that wait come first, then the newest
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: u32,
    /// One JSON object a line
    #[arg(long)]
    pub json: bool,
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
    /// Read every row and report what was changed outside the gate
    Verify {
        /// Heads printed earlier, one JSON object a line; - reads standard input
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
    /// Print the newest hash of each workspace as JSON, one a line; keep it where the gate cannot write
    Head,
}

#[derive(Debug, ClapArgs)]
pub struct ServeArgs {
    /// Address and port; port 0 picks a free one [default: the one in the configuration]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// The database: sqlite:PATH or postgres://USER@HOST/NAME [default: the one in the configuration]
    #[arg(long, value_name = "URL")]
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

/// The format of the log.
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
        /// Their name, for people to read
        #[arg(long)]
        name: Option<String>,
        /// What they are counted under, like support
        #[arg(long, value_name = "GROUP", value_delimiter = ',')]
        groups: Vec<String>,
        /// The one workspace it opens
        #[arg(long)]
        workspace: String,
        /// How long it is valid, like 12h or 30d [default: until it is revoked]
        #[arg(long, value_name = "TIME")]
        expires_in: Option<String>,
    },
    /// Print every token's id, subject, workspace, scopes and last use, never the token
    List {
        #[arg(long)]
        json: bool,
    },
    /// Create a token in the place of another one and print it, once; the old one goes on for a while
    Rotate {
        /// The old token's id, or any unique beginning of it
        #[arg(value_parser = id)]
        id: String,
        /// How long both are valid, like 30m or 7d
        #[arg(long, value_name = "TIME", default_value = "24h")]
        overlap: String,
    },
    /// Revoke a token at once
    Revoke {
        /// The token's id, or any unique beginning of it
        #[arg(value_parser = id)]
        id: String,
        /// Withdraw approvals of its subject that no executor has taken: those actions wait for another person, or expire
        #[arg(long)]
        void_approvals: bool,
    },
}
