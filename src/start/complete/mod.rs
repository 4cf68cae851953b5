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
use crate::cli::args::Completed;
use crate::cli::completions::{CompleteArgs, CompletedShell, CompletionsArgs};
use crate::cli::{self, Args, Exit};
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

pub(super) fn script(CompletionsArgs { shell }: &CompletionsArgs) -> anyhow::Result<Exit> {
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

pub(super) fn values(of: &CompleteArgs) -> anyhow::Result<Exit> {
    for value in found(of.values) {
        cli::line(&value)?;
    }
    Ok(Exit::Done)
}

fn command() -> clap::Command {
    with_values(Args::command())
}

fn with_values(command: clap::Command) -> clap::Command {
    let with = |arg: clap::Arg| match arg.get::<Completed>().copied() {
        Some(values) => {
            arg.add(ArgValueCompleter::new(move |begun: &std::ffi::OsStr| offered(values, begun)))
        }
        None => arg,
    };
    command.mut_args(with).mut_subcommands(with_values)
}

fn offered(values: Completed, begun: &std::ffi::OsStr) -> Vec<CompletionCandidate> {
    let begun = begun.to_string_lossy();
    let found = found(values).into_iter().filter(|value| value.starts_with(&*begun));
    found.map(CompletionCandidate::new).collect()
}

/// Returns an empty list on any error, because messages would disturb the prompt.
fn found(values: Completed) -> Vec<String> {
    let paths = Paths::find(None, |name| std::env::var_os(name).map(PathBuf::from));
    let Ok(paths) = paths else { return Vec::new() };
    let Ok(config) = Config::load(&paths) else { return Vec::new() };
    let mut found: Vec<String> = match values {
        Completed::Sources if config.sources.is_empty() => vec!["gate".to_owned()],
        Completed::Sources => config.sources.iter().map(|source| source.name.to_string()).collect(),
        Completed::Filters => saved_filters(&config, &paths).into_iter().map(|filter| filter.name).collect(),
        Completed::Ids => ids::pending(&config),
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
    fn ids_filters_and_every_source_are_completed() {
        let root = Args::command();
        let mut all = Vec::new();
        for command in root.get_subcommands() {
            for arg in command.get_arguments() {
                let values = arg.get::<Completed>();
                assert!(arg.get_id() != "source" || values == Some(&Completed::Sources), "{command:?}");
                all.extend(values.map(|_| format!("{} {}", command.get_name(), arg.get_id())));
            }
        }

        let sources = ["list", "show", "claim", "decide", "retry", "log", "watch", "doctor"];
        let mut wanted: Vec<String> = sources.iter().map(|name| format!("{name} source")).collect();
        wanted.extend(
            ["list saved", "show id", "claim id", "decide approve", "decide reject", "retry id"]
                .map(str::to_owned),
        );
        all.sort();
        wanted.sort();
        assert_eq!(all, wanted);
    }
}
