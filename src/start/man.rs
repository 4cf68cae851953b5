//! `placet man`: the manual, generated from arguments, keys and configuration.

use std::fmt::Write as _;

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};

use crate::cli::man::ManArgs;
use crate::cli::{self, Args, Exit, Usage};
use crate::tui;

const CONFIG: &str = include_str!("../../config.example.toml");

pub(super) fn run(ManArgs { page, write }: &ManArgs) -> anyhow::Result<Exit> {
    let Some(folder) = write else {
        cli::line(self::page(page)?.trim_end())?;
        return Ok(Exit::Done);
    };
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut all = vec![("placet-keys.7".to_owned(), keys()), ("placet-config.5".to_owned(), config())];
    let mut root = Args::command();
    root.build();
    commands(&root, &mut all)?;
    for (name, text) in all {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        cli::line(&path.display().to_string())?;
    }
    Ok(Exit::Done)
}

/// Returns the page `keys`, `config`, or that of a command; without words, of placet.
fn page(of: &[String]) -> anyhow::Result<String> {
    match of {
        [keys] if keys == "keys" => return Ok(self::keys()),
        [config] if config == "config" => return Ok(self::config()),
        _ => {}
    }
    let mut root = Args::command();
    root.build();
    let mut command = &root;
    for word in of {
        command = command.find_subcommand(word).ok_or_else(|| {
            Usage(format!(
                "there is no page {word:?}; there are keys, config, and every command: placet man gate serve"
            ))
        })?;
    }
    rendered(command)
}

fn rendered(command: &clap::Command) -> anyhow::Result<String> {
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text)?;
    Ok(ascii(&String::from_utf8(text)?))
}

/// Escapes other characters than ASCII, so that formatters do not misread the encoding.
fn ascii(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    for c in page.chars() {
        if c.is_ascii() {
            text.push(c);
        } else {
            let _ = write!(text, "\\[u{:04X}]", u32::from(c));
        }
    }
    text
}

/// Adds a page per command, except for `help` and hidden commands.
fn commands(of: &clap::Command, all: &mut Vec<(String, String)>) -> anyhow::Result<()> {
    let name = of.get_display_name().unwrap_or_else(|| of.get_name());
    all.push((format!("{name}.1"), rendered(of)?));
    for command in of.get_subcommands().filter(|it| it.get_name() != "help" && !it.is_hide_set()) {
        commands(command, all)?;
    }
    Ok(())
}

fn start(name: &str, section: &str, what: &str) -> Roff {
    let mut roff = Roff::new();
    let version = concat!("placet ", env!("CARGO_PKG_VERSION"));
    roff.control("TH", [name, section, "", version, "placet"]);
    roff.control("SH", ["NAME"]);
    roff.text([roman(format!("{name} - {what}"))]);
    roff
}

fn paragraph(roff: &mut Roff, text: &str) {
    roff.control("PP", []);
    roff.text([roman(text)]);
}

fn entry(roff: &mut Roff, term: Vec<Inline>, text: &str) {
    roff.control("TP", []);
    roff.text(term);
    roff.text([roman(text)]);
}

fn keys() -> String {
    let mut roff = start("placet-keys", "7", "the keys of the inbox");
    roff.control("SH", ["DESCRIPTION"]);
    for text in [
        "No key in the list sends anything: decisions are staged, and only the review sheet sends. In the inbox ? lists \
         the keys that work there, and : runs any command by its name.",
        "The table [keys] of the configuration gives a command other keys, by its name, which stands last in each entry; see \
         placet-config(5).",
    ] {
        paragraph(&mut roff, text);
    }
    for section in tui::keys_page() {
        roff.control("SH", [section.title.to_uppercase().as_str()]);
        for command in section.commands {
            let mut term = Vec::new();
            for key in command.keys {
                term.extend([bold(*key), roman("  ")]);
            }
            if command.keys.is_empty() {
                term.push(roman("(no key)"));
            }
            entry(&mut roff, term, &format!("{} ({})", command.help, command.name));
        }
    }
    for (preset, changes) in tui::presets() {
        roff.control("SH", [format!("PRESET {}", preset.to_uppercase()).as_str()]);
        paragraph(
            &mut roff,
            &format!("With keymap = \"{preset}\" in [ui], these are the keys instead; all others stay."),
        );
        for (name, keys) in changes {
            entry(&mut roff, vec![bold(keys.join("  "))], name);
        }
    }
    roff.control("SH", ["SEE ALSO"]);
    roff.text([roman("placet(1), placet-config(5)")]);
    ascii(&roff.to_roff())
}

/// Converts the example configuration: tables to headings, comments to text, keys literally.
fn config() -> String {
    let mut roff = start("placet-config", "5", "the configuration of placet");
    roff.control("SH", ["DESCRIPTION"]);
    let mut text = String::new();
    let mut literal = false;
    for line in CONFIG.lines() {
        let comment = line.strip_prefix("# ");
        let table = line.trim_start_matches('#').starts_with('[');
        if literal && (comment.is_some() || table || line.is_empty()) {
            roff.control("EE", []);
            literal = false;
        }
        match comment {
            Some(more) => {
                text.push_str(more);
                text.push(' ');
                continue;
            }
            None if table => {
                roff.control("SH", [line.trim_start_matches('#')]);
            }
            None => {}
        }
        if !text.is_empty() {
            paragraph(&mut roff, text.trim_end());
            text.clear();
        }
        if table || line.is_empty() {
            continue;
        }
        if !literal {
            roff.control("PP", []);
            roff.control("EX", []);
            literal = true;
        }
        roff.text([roman(line)]);
    }
    if literal {
        roff.control("EE", []);
    }
    roff.control("SH", ["SEE ALSO"]);
    roff.text([roman("placet(1), placet-keys(7)")]);
    ascii(&roff.to_roff())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(of: &[&str]) -> Vec<String> {
        of.iter().map(|word| (*word).to_owned()).collect()
    }

    fn stray(page: &str) -> Vec<&str> {
        let known = ["TH", "SH", "SS", "PP", "TP", "IP", "EX", "EE", "br", "ie", "el", "RS", "RE"];
        let request = |line: &&str| line.starts_with(['.', '\'']);
        page.lines()
            .filter(request)
            .filter(|line| !known.iter().any(|it| line[1..].starts_with(it)))
            .collect()
    }

    #[test]
    fn every_page_is_generated_without_stray_requests() {
        for of in [&[][..], &["keys"], &["config"], &["gate", "serve"], &["propose"]] {
            let page = page(&words(of)).unwrap();
            assert!(page.contains(".TH "), "{of:?}");
            assert_eq!(stray(&page), Vec::<&str>::new(), "{of:?}");
            assert!(page.is_ascii(), "{of:?}");
        }
        assert!(page(&words(&["nosuch"])).unwrap_err().is::<Usage>());
    }

    #[test]
    fn manual_pages_have_every_command_and_setting() {
        let plain = |page: &str| page.replace("\\-", "-").replace("\\&", "").replace("\\*(Aq", "'");
        let page = plain(&keys());
        for spec in tui::core::command::COMMANDS {
            assert!(page.contains(&format!("({})", spec.name)), "{}", spec.name);
        }
        let page = config();
        for line in CONFIG.lines().filter(|line| !line.starts_with("# ") && line.contains(" = ")) {
            let name = line.trim_start_matches('#').split(' ').next().unwrap();
            assert!(page.contains(name), "{name}");
        }
        assert_eq!(page.matches("\n.EX").count(), page.matches("\n.EE").count());
    }

    #[test]
    fn every_command_has_a_page_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        run(&ManArgs { page: Vec::new(), write: Some(folder.path().to_owned()) }).unwrap();
        for name in [
            "placet.1",
            "placet-keys.7",
            "placet-config.5",
            "placet-gate-serve.1",
            "placet-decide.1",
            "placet-completions.1",
            "placet-schema.1",
            "placet-log-report.1",
        ] {
            assert!(folder.path().join(name).exists(), "{name}");
        }
        assert!(!folder.path().join("placet-complete.1").exists(), "hidden commands have no page");
    }
}
