//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

/// Review what AI agents propose to write, before it lands.
///
/// Without a command this opens the inbox. Without a configuration it runs a gate of its own, right here.
#[derive(Debug, Parser)]
#[command(name = "placet", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Args {
    /// The configuration file [default: see `placet config path`]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The inbox in typed words and plain lines, for screen readers; also PLACET_A11Y=1 or TERM=dumb
    #[arg(long)]
    pub plain: bool,
    #[command(subcommand)]
    pub command: Option<Command>,
}

const EXIT_CODES: &str = "Exit codes: 0 all done, 1 failed, 2 wrong arguments or configuration, 3 some skipped, \
                          4 some unknown, 5 nothing reachable, 6 rejected, 7 expired or timed out.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Try the inbox on a throw-away gate with a realistic queue
    Demo {
        /// In typed words and plain lines, for screen readers
        #[arg(long)]
        plain: bool,
    },
    /// Run and manage the gate
    Gate {
        #[command(subcommand)]
        command: GateCommand,
    },
    /// Print what is pending, or what waits to be settled
    List(ListArgs),
    /// Print one action in full
    Show(ShowArgs),
    /// Approve or reject actions by id
    Decide(DecideArgs),
    /// Print what was decided from here, and check the receipts of it
    Log(LogArgs),
    /// Propose an action, as an agent would
    Propose(ProposeArgs),
    /// Look over this machine and every source, and say what is wrong and what to do
    Doctor(DoctorArgs),
    /// Print a page of the manual: `placet man | man -l -`
    Man {
        /// keys, config, or a command like `gate serve` [default: placet itself]
        page: Vec<String>,
        /// Write every page into this folder instead, for packages
        #[arg(long, value_name = "FOLDER", conflicts_with = "page")]
        write: Option<PathBuf>,
    },
    /// Find and check the configuration
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
}

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
    /// The action's id
    pub id: String,
    /// What became of it: it landed, it did not, or run it again
    #[arg(long = "as", value_enum)]
    pub how: SettleAs,
    /// How you know; kept in the audit
    #[arg(long)]
    pub reason: Option<String>,
    #[command(flatten)]
    pub database: DatabaseArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SettleAs {
    Executed,
    Failed,
    Retry,
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
    Revoke { id: String },
}

/// What `placet list` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Listed {
    Pending,
    Unknown,
}

#[derive(Debug, ClapArgs)]
pub struct ListArgs {
    /// Which actions: those that are pending, or those whose outcome nobody knows
    #[arg(long, value_enum, default_value_t = Listed::Pending)]
    pub status: Listed,
    /// Only this source
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub struct ShowArgs {
    /// The action's id
    pub id: String,
    /// The source it is in, when several know the id
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub struct DecideArgs {
    /// Approve this action; repeat for more
    #[arg(long, value_name = "ID")]
    pub approve: Vec<String>,
    /// Reject this action; repeat for more
    #[arg(long, value_name = "ID")]
    pub reject: Vec<String>,
    /// Why, for every rejection given by --reject
    #[arg(long, requires = "reject")]
    pub reason: Option<String>,
    /// Decisions as JSON: [{"id","decision":"approve|reject","userEdits"?,"reason"?,"digest"?,"terms"?,"source"?}]; - is standard input
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Only this source
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// Say what would be sent, and send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Wait until what was approved has run; at most so many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "60")]
    pub follow: Option<u64>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub struct LogArgs {
    /// At most so many decisions, the newest
    #[arg(long, default_value_t = 50)]
    pub limit: u32,
    /// Only what was decided since: a time ago like 12h or 30d, or a moment like 2026-11-22T08:00:00Z
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only in this source
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Option<LogCommand>,
}

#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// Read every receipt and every decision, and say what was changed behind placet's back
    Verify {
        /// A head that was kept elsewhere: its hash, or a file whose last line is a receipt or a head; - is standard input
        #[arg(long, value_name = "FILE|HASH")]
        head: Option<String>,
        /// One JSON object; kept elsewhere, it is a head
        #[arg(long)]
        json: bool,
    },
    /// Print every receipt as JSON, one a line, oldest first; the last line is a head
    Export {
        /// Into this file instead, readable by its owner alone; it must not be there yet
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
    },
}

#[derive(Debug, ClapArgs)]
pub struct DoctorArgs {
    /// Only this source
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub struct ProposeArgs {
    /// The tool that would be called
    pub tool: String,
    /// Its input, a JSON object; - is standard input. Every byte is kept
    #[arg(long, value_name = "FILE")]
    pub input: PathBuf,
    /// One sentence for the reviewer
    #[arg(long)]
    pub summary: Option<String>,
    /// low, medium, high, critical: only above the tool's own
    #[arg(long, value_name = "WORD", value_parser = ["low", "medium", "high", "critical"], hide_possible_values = true)]
    pub risk: Option<String>,
    /// The workspace [default: the token's]
    #[arg(long)]
    pub workspace: Option<String>,
    #[arg(long)]
    pub mission: Option<String>,
    #[arg(long)]
    pub session: Option<String>,
    #[arg(long)]
    pub agent: Option<String>,
    /// The batch [default: MISSION:TOOL]
    #[arg(long)]
    pub batch: Option<String>,
    /// Propose it to this gate [default: the configured gate, else the one on this machine]
    #[arg(long, value_name = "URL", requires = "token_file")]
    pub url: Option<String>,
    /// The file with the token to propose with
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Wait until it was executed, rejected or expired; at most so many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "3600")]
    pub wait: Option<u64>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub enum ConfigCommand {
    /// Print where the configuration is read from
    Path,
    /// Read the configuration and say what is wrong with it
    Check,
    /// Print every key with its default, as a file to start from
    Example,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
