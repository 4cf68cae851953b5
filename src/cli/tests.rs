//! The command line as a whole.

use clap::{CommandFactory as _, Parser as _};

use super::gate::token::TokenCommand;
use super::gate::{GateCommand, OwnerCommand};
use super::log::{LogArgs, LogCommand};
use super::{Args, Command};
use crate::config::{Density, Glyphs, ThemeChoice};

#[test]
fn the_command_line_is_consistent() {
    Args::command().debug_assert();
}

/// The options of a command that do not exist, in a line such as `placet log verify --head FILE`.
fn unknown_options(line: &str) -> Vec<String> {
    let mut all = Args::command();
    all.build();
    let (mut above, mut command) = (&all, &all);
    let mut words = line.split(|letter: char| letter.is_whitespace() || "[]|,()".contains(letter)).skip(1);
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
        include_str!("../../README.md"),
        include_str!("../../SECURITY.md"),
        include_str!("../../config.example.toml"),
        include_str!("../../docs/agents.md"),
        include_str!("../../docs/gate.md"),
        include_str!("../../docs/keys.md"),
        include_str!("../../docs/security.md"),
        include_str!("../../docs/shell.md"),
        include_str!("../../docs/sources.md"),
        include_str!("../../docs/watch.md"),
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
        Some(Command::Gate(GateCommand::Owner(OwnerCommand::Settle(args)))) => vec![args.id],
        Some(Command::Gate(GateCommand::Owner(OwnerCommand::Token(args)))) => match args.command {
            TokenCommand::Revoke { id, .. } | TokenCommand::Rotate { id, .. } => vec![id],
            other => panic!("{other:?}"),
        },
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
    assert!(Args::try_parse_from(["placet", "show", " "]).unwrap_err().to_string().contains("it is empty"));
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
