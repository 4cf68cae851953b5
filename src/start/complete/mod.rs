//! `placet completions SHELL` and its answers. The scripts call placet for current names and ids.
//!
//! Most shells call placet with [`ASKS`] set; nushell calls `placet complete`. Only values of plain characters are
//! offered, never titles, because they are put into a command line and ids are foreign.

use std::path::PathBuf;

use clap::CommandFactory as _;
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};

use super::headless::saved_filters;
use crate::cli::args::{Args, CompletedShell, Values};
use crate::cli::{self, Exit};
use crate::config::Config;
use crate::config::paths::Paths;

mod ids;
mod nushell;

/// Variable that the scripts set to their shell's name.
const ASKS: &str = "PLACET_COMPLETE";

/// Answers a completion request; `false` if this is not one. Call it before anything else prints.
pub(super) fn answered() -> bool {
    if std::env::var_os(ASKS).is_none() {
        return false;
    }
    let folder = std::env::current_dir().ok();
    let asked =
        CompleteEnv::with_factory(command).var(ASKS).try_complete(std::env::args_os(), folder.as_deref());
    // On an error nothing is printed, because output would be inserted into the command line.
    asked.unwrap_or(true)
}

pub(super) fn script(shell: CompletedShell) -> anyhow::Result<Exit> {
    let known: &dyn EnvCompleter = match shell {
        CompletedShell::Bash => &Bash,
        CompletedShell::Elvish => &Elvish,
        CompletedShell::Fish => &Fish,
        CompletedShell::Powershell => &Powershell,
        CompletedShell::Zsh => &Zsh,
        CompletedShell::Nushell => {
            cli::line(nushell::script(Args::command())?.trim_end())?;
            return Ok(Exit::Done);
        }
    };
    let mut script = Vec::new();
    known.write_registration(ASKS, "placet", "placet", "placet", &mut script)?;
    cli::line(String::from_utf8(script)?.trim())?;
    Ok(Exit::Done)
}

pub(super) fn values(of: Values) -> anyhow::Result<Exit> {
    for value in found(of) {
        cli::line(&value)?;
    }
    Ok(Exit::Done)
}

fn command() -> clap::Command {
    with_values(Args::command())
}

fn with_values(command: clap::Command) -> clap::Command {
    let of = command.get_name().to_owned();
    let with = move |arg: clap::Arg| match values_of(&of, arg.get_id().as_str()) {
        Some(values) => {
            arg.add(ArgValueCompleter::new(move |begun: &std::ffi::OsStr| offered(values, begun)))
        }
        None => arg,
    };
    command.mut_args(with).mut_subcommands(with_values)
}

fn values_of(command: &str, arg: &str) -> Option<Values> {
    match (command, arg) {
        (_, "source") => Some(Values::Sources),
        ("list", "saved") => Some(Values::Filters),
        ("claim" | "show" | "retry", "id") | ("decide", "approve" | "reject") => Some(Values::Ids),
        _ => None,
    }
}

fn offered(values: Values, begun: &std::ffi::OsStr) -> Vec<CompletionCandidate> {
    let begun = begun.to_string_lossy();
    let found = found(values).into_iter().filter(|value| value.starts_with(&*begun));
    found.map(CompletionCandidate::new).collect()
}

/// Returns an empty list on any error, because messages would disturb the prompt.
fn found(values: Values) -> Vec<String> {
    let paths = Paths::find(None, |name| std::env::var_os(name).map(PathBuf::from));
    let Ok(paths) = paths else { return Vec::new() };
    let Ok(config) = Config::load(&paths) else { return Vec::new() };
    let mut found: Vec<String> = match values {
        Values::Sources if config.sources.is_empty() => vec!["gate".to_owned()],
        Values::Sources => config.sources.iter().map(|source| source.name.to_string()).collect(),
        Values::Filters => saved_filters(&config, &paths).into_iter().map(|filter| filter.name).collect(),
        Values::Ids => ids::pending(&config),
    };
    found.retain(|value| is_plain(value));
    found
}

/// Whether the value has no special meaning to any shell and is not a flag.
fn is_plain(value: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._:-".contains(c);
    !value.is_empty() && !value.starts_with('-') && value.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_values_are_offered() {
        for plain in ["pa-1", "0199a0b2-11ee", "run:7.2_b"] {
            assert!(is_plain(plain), "{plain}");
        }
        for odd in
            ["", "-rf", "$(reboot)", "a b", "a;b", "`x`", "a\nb", "a\u{1b}[2J", "*", "ü", "a'b", "~", "a|b"]
        {
            assert!(!is_plain(odd), "{odd}");
        }
    }

    #[test]
    fn every_completed_argument_exists() {
        let mut root = Args::command();
        root.build();
        let names = |command: &clap::Command| {
            let args = command.get_arguments().map(|arg| arg.get_id().to_string());
            args.filter_map(|arg| values_of(command.get_name(), &arg)).count()
        };
        let of = |name: &str| names(root.find_subcommand(name).unwrap());

        let counts = ["list", "show", "claim", "decide", "log", "doctor"].map(of);
        assert_eq!(counts, [2, 2, 2, 3, 1, 1]);
    }
}
