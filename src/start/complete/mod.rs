//! `placet completions SHELL`: scripts that ask placet itself, so that names and ids of now are offered, and the answers.
//!
//! Most shells call placet with [`ASKS`] set; nushell's script calls `placet complete`. What is offered goes into a command line, and
//! ids come from elsewhere: nothing but plain characters is ever offered, and never a title.

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

/// Set by the scripts to the name of their shell.
const ASKS: &str = "PLACET_COMPLETE";

/// Answers a shell that asks how a command line goes on; `false` when this is no such question. Call it first: nothing may run
/// beside it, and nothing else be printed.
pub(super) fn answered() -> bool {
    if std::env::var_os(ASKS).is_none() {
        return false;
    }
    let folder = std::env::current_dir().ok();
    let asked =
        CompleteEnv::with_factory(command).var(ASKS).try_complete(std::env::args_os(), folder.as_deref());
    // A shell that cannot be answered offers nothing; words in between would land in the command line.
    asked.unwrap_or(true)
}

/// Prints the script of a shell.
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

/// Prints values, one a line.
pub(super) fn values(of: Values) -> anyhow::Result<Exit> {
    for value in found(of) {
        cli::line(&value)?;
    }
    Ok(Exit::Done)
}

/// The command line, with what can be known of its values.
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

/// What an argument of a command takes, where that can be looked up.
fn values_of(command: &str, arg: &str) -> Option<Values> {
    match (command, arg) {
        (_, "source") => Some(Values::Sources),
        ("list", "saved") => Some(Values::Filters),
        ("show", "id") | ("decide", "approve" | "reject") => Some(Values::Ids),
        _ => None,
    }
}

fn offered(values: Values, begun: &std::ffi::OsStr) -> Vec<CompletionCandidate> {
    let begun = begun.to_string_lossy();
    let found = found(values).into_iter().filter(|value| value.starts_with(&*begun));
    found.map(CompletionCandidate::new).collect()
}

/// Nothing where something is wrong: whoever presses a key wants no message.
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

/// It means nothing to any shell, and is no flag.
fn is_plain(value: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._:-".contains(c);
    !value.is_empty() && !value.starts_with('-') && value.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_no_shell_obeys_is_offered() {
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
    fn every_argument_that_takes_such_a_value_is_still_there() {
        let mut root = Args::command();
        root.build();
        let names = |command: &clap::Command| {
            let args = command.get_arguments().map(|arg| arg.get_id().to_string());
            args.filter_map(|arg| values_of(command.get_name(), &arg)).count()
        };
        let of = |name: &str| names(root.find_subcommand(name).unwrap());

        assert_eq!([of("list"), of("show"), of("decide"), of("log"), of("doctor")], [2, 2, 3, 1, 1]);
    }
}
