//! The command line.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Parser, Subcommand};

use crate::config::{Density, Glyphs, ThemeChoice};

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
use words::one_of;

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
    /// Times in UTC, as JSON always has them [default: local times]
    #[arg(long, global = true)]
    pub utc: bool,
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
    Demo(DemoArgs),
    /// Run and manage the gate
    Gate {
        #[command(subcommand)]
        command: GateCommand,
    },
    /// List actions: pending, unresolved or ended
    List(ListArgs),
    /// Print actions in full
    Show(ShowArgs),
    /// Tell other reviewers you are on it (not a lock)
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
pub struct DemoArgs {
    /// Plain mode, lines of text for screen readers
    #[arg(long)]
    pub plain: bool,
    /// auto, terminal, dark, light, high-contrast, colour-blind, colour-blind-light, or a file [default: auto]
    #[arg(long, value_parser = |name: &str| ThemeChoice::named(name, Path::new("")), value_name = "NAME|FILE")]
    pub theme: Option<ThemeChoice>,
    /// Which marks and rules are drawn [default: unicode]
    #[arg(long, value_parser = one_of([("unicode", Glyphs::Unicode, ""), ("ascii", Glyphs::Ascii, "")]))]
    pub glyphs: Option<Glyphs>,
    /// Lines of the list for one action [default: compact]
    #[arg(long, value_parser = one_of([("compact", Density::Compact, "One"), ("comfortable", Density::Comfortable, "Two")]))]
    pub density: Option<Density>,
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

    /// The options of a command that do not exist, in a line such as `placet log verify --head FILE`.
    fn unknown_options(line: &str) -> Vec<String> {
        let mut all = Args::command();
        all.build();
        let (mut above, mut command) = (&all, &all);
        let mut words =
            line.split(|letter: char| letter.is_whitespace() || "[]|,()".contains(letter)).skip(1);
        let mut wrong = Vec::new();
        for word in words.by_ref().filter(|word| !word.is_empty()) {
            match word.strip_prefix("--").map(|option| option.split('=').next().unwrap_or_default()) {
                None => match command.find_subcommand(word) {
                    Some(below) => (above, command) = (command, below),
                    // `placet log report | shift`
                    None => command = above.find_subcommand(word).unwrap_or(command),
                },
                Some("") => break,
                Some(name) => {
                    let known = command.get_arguments().any(|arg| arg.get_long() == Some(name));
                    wrong.extend(
                        (!known && name != "help" && name != "version").then(|| format!("{line}: --{name}")),
                    );
                }
            }
        }
        wrong
    }

    #[test]
    fn documents_name_only_options_that_exist() {
        const PAGES: [&str; 10] = [
            include_str!("../../../README.md"),
            include_str!("../../../SECURITY.md"),
            include_str!("../../../config.example.toml"),
            include_str!("../../../docs/agents.md"),
            include_str!("../../../docs/gate.md"),
            include_str!("../../../docs/keys.md"),
            include_str!("../../../docs/security.md"),
            include_str!("../../../docs/shell.md"),
            include_str!("../../../docs/sources.md"),
            include_str!("../../../docs/watch.md"),
        ];
        let mut lines = Vec::new();
        for page in PAGES {
            let spans = page.split('`').skip(1).step_by(2).filter(|span| !span.contains('\n'));
            lines.extend(spans.chain(page.lines()).filter(|text| text.starts_with("placet ")));
        }
        assert!(lines.len() > 100, "{}", lines.len());
        let commands = lines.iter().filter_map(|line| line.split('#').next());
        assert_eq!(commands.flat_map(unknown_options).collect::<Vec<_>>(), Vec::<String>::new());
    }

    #[test]
    fn ids_lose_the_blanks_around_them() {
        let of = |words: &[&str]| match Args::try_parse_from([&["placet"], words].concat()).unwrap().command {
            Some(Command::Show(args)) => args.id,
            Some(Command::Claim(args)) => args.id,
            Some(Command::Retry(args)) => args.id,
            Some(Command::Decide(args)) => [args.approve, args.reject, args.take_back].concat(),
            Some(Command::Log(LogArgs { command: Some(LogCommand::Report(args)), .. })) => vec![args.id],
            Some(Command::Gate { command: GateCommand::Owner(OwnerCommand::Settle(args)) }) => vec![args.id],
            Some(Command::Gate { command: GateCommand::Owner(OwnerCommand::Token { command, .. }) }) => {
                match command {
                    TokenCommand::Revoke { id, .. } | TokenCommand::Rotate { id, .. } => vec![id],
                    other => panic!("{other:?}"),
                }
            }
            other => panic!("{other:?}"),
        };

        for words in [
            &["show", " a\r", "\ta\u{a0}"][..],
            &["claim", "a\n", "a"],
            &["retry", "a\r", "--guidance", "x"],
            &["decide", "--approve", "a\r", "--reject", " a"],
            &["decide", "--take-back", "a "],
            &["log", "report", "a\r"],
            &["gate", "settle", "a\r", "--as", "failed"],
            &["gate", "token", "revoke", "a\r"],
            &["gate", "token", "rotate", "a\r"],
        ] {
            assert!(of(words).iter().all(|id| id == "a"), "{words:?}: {:?}", of(words));
        }
        assert!(
            Args::try_parse_from(["placet", "show", " "]).unwrap_err().to_string().contains("it is empty")
        );
    }

    #[test]
    fn demo_takes_theme_glyphs_and_density() {
        let demo = |words: &[&str]| match Args::try_parse_from([&["placet", "demo"], words].concat()) {
            Ok(Args { command: Some(Command::Demo(args)), .. }) => Ok(args),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.to_string()),
        };

        let args = demo(&["--theme", "dark", "--glyphs", "ascii", "--density", "comfortable"]).unwrap();
        assert_eq!(args.theme, Some(ThemeChoice::Dark));
        assert_eq!((args.glyphs, args.density), (Some(Glyphs::Ascii), Some(Density::Comfortable)));
        let wrong = demo(&["--theme", "drak"]).unwrap_err();
        assert!(wrong.contains(r#"Unknown theme "drak". Did you mean "dark"? Themes: terminal"#), "{wrong}");
    }
}
