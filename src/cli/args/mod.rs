//! The command line.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};

mod decide;
mod gate;
mod hook;
mod list;
mod log;
mod mcp;
mod shell;
mod watch;
mod words;

pub use decide::{DecideArgs, ProposeArgs, RetryArgs};
pub use gate::{
    AuditCommand, CallbacksArgs, GateCommand, LogFormat, MoveArgs, OwnerCommand, PauseArgs, PruneArgs,
    ServeArgs, SettleArgs, TokenCommand,
};
pub use hook::{
    HookArgs, HookCommand, HookInstallArgs, HookPlaceArgs, HookResumeArgs, HookRunArgs, HookUninstallArgs,
    HookWaitArgs,
};
pub use list::{ClaimArgs, ListArgs, ShowArgs};
pub use log::{LogArgs, LogCommand, ReportArgs, ShiftArgs};
pub use mcp::{McpArgs, McpCommand, McpServerArgs};
pub use shell::{CompletedShell, Values};
pub use watch::WatchArgs;

/// Review what AI agents propose to write, before it lands.
///
/// Without a command this opens the inbox. Without a configuration it runs a gate of its own, right here.
#[derive(Debug, Parser)]
#[command(name = "placet", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Args {
    /// The configuration file [default: see `placet config path`]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Plain mode, lines of text for screen readers; also PLACET_A11Y=1 or TERM=dumb
    #[arg(long)]
    pub plain: bool,
    #[command(subcommand)]
    pub command: Option<Command>,
}

const EXIT_CODES: &str = "Exit codes: 0 all done, 1 failed, 2 wrong arguments or configuration, 3 some skipped, \
                          4 some unknown, 5 nothing reachable, 6 rejected, 7 expired or timed out.";

const COMPLETIONS: &str = "Once, and again after an update:
  bash        placet completions bash > ~/.local/share/bash-completion/completions/placet
  zsh         `source <(placet completions zsh)` in ~/.zshrc, behind compinit
  fish        placet completions fish > ~/.config/fish/completions/placet.fish
  powershell  placet completions powershell >> $PROFILE
  elvish      placet completions elvish >> ~/.config/elvish/rc.elv
  nushell     placet completions nushell | save placet.nu, and `source placet.nu` in config.nu
Ids of pending actions are asked for while you type, of the configured sources or the gate that runs here, for 1.5 s at most. \
A source with token_command is not asked.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Try the inbox on a throw-away gate with a realistic queue
    Demo {
        /// Plain mode, lines of text for screen readers
        #[arg(long)]
        plain: bool,
    },
    /// Run and manage the gate
    Gate {
        #[command(subcommand)]
        command: GateCommand,
    },
    /// List actions: pending, unresolved or ended
    List(ListArgs),
    /// Print actions in full
    Show(ShowArgs),
    /// Say to other reviewers that you are on actions; it keeps nobody from deciding
    Claim(ClaimArgs),
    /// Approve or reject actions by id
    Decide(DecideArgs),
    /// Ask the agents of actions to try again, with guidance, where the source can
    Retry(RetryArgs),
    /// Print decisions made here, and verify their receipts
    Log(LogArgs),
    /// Watch every queue's figures, live; nothing is decided there
    Watch(WatchArgs),
    /// Propose an action, as an agent would
    Propose(ProposeArgs),
    /// Ask the gate before a tool of Claude Code, Codex or Gemini CLI runs
    ///
    /// Without a command this is the hook itself: it reads one event of the client from standard input, waits for the decision, and
    /// answers. Every fault ends with exit code 2, which blocks the call.
    Hook(HookArgs),
    Mcp(McpArgs),
    /// Check this machine and every source, and say what to fix
    Doctor(DoctorArgs),
    /// Print as whom each source takes your decisions
    Whoami(WhoamiArgs),
    /// Print a page of the manual: `placet man | man -l -`
    Man {
        /// keys, config, or a command like `gate serve` [default: placet itself]
        page: Vec<String>,
        /// Write every page to this folder, for packages
        #[arg(long, value_name = "FOLDER", conflicts_with = "page")]
        write: Option<PathBuf>,
    },
    /// Print the JSON Schema of what the commands print for programs
    Schema {
        /// The words of one command, like `list` or `log verify` [default: all of them]
        command: Vec<String>,
    },
    /// Print the script that completes commands, names and ids in a shell
    #[command(after_help = COMPLETIONS)]
    Completions {
        #[arg(value_enum)]
        shell: CompletedShell,
    },
    /// Print values for a completion script
    #[command(hide = true)]
    Complete {
        #[arg(value_enum)]
        values: Values,
    },
    /// Find and check the configuration
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
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
pub struct WhoamiArgs {
    /// One JSON object for each source, a line each
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
