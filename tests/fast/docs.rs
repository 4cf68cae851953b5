//! Documents that cannot lie: the README's keys are the command table's.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use placet::tui::{COMMANDS, Group};

fn readme() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

/// The table as it must stand in the README.
fn keys() -> String {
    let mut out = String::new();
    for group in Group::ALL {
        let rows = || COMMANDS.iter().filter(|spec| spec.group == group && !spec.keys.is_empty());
        if rows().next().is_none() {
            continue;
        }
        writeln!(out, "\n| {} | | |\n|---|---|---|", group.title()).unwrap();
        for spec in rows() {
            let keys: Vec<_> = spec.keys.iter().map(|key| format!("`{key}`")).collect();
            writeln!(out, "| {} | {} | `{}` |", keys.join(" "), spec.help, spec.name).unwrap();
        }
    }
    out
}

/// `PLACET_WRITE_README=1` writes the table instead of comparing it.
#[test]
fn the_readme_lists_the_keys_that_there_are() {
    let readme = readme();
    let (before, rest) = readme.split_once("against the command table -->\n").expect("the keys' start mark");
    let (written, after) = rest.split_once("<!-- /keys -->").expect("the keys' end mark");

    if std::env::var_os("PLACET_WRITE_README").is_some() {
        let text = format!("{before}against the command table -->\n{}<!-- /keys -->{after}", keys());
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"), text).unwrap();
        return;
    }
    assert!(
        written == keys(),
        "the README's keys are not the command table's; write them with\n\
         PLACET_WRITE_README=1 cargo test --test fast the_readme_lists"
    );
}

#[test]
fn commands_have_names_help_and_a_home() {
    for spec in COMMANDS {
        assert!(!spec.help.is_empty() && !spec.places.is_empty(), "{}", spec.name);
        assert!(spec.help.len() <= 80, "{}: help is one line", spec.name);
        assert!(spec.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", spec.name);
        assert_eq!(COMMANDS.iter().filter(|other| other.name == spec.name).count(), 1, "{}", spec.name);
    }
}

#[test]
fn the_documents_name_files_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for document in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/decisions.md"] {
        let text = fs::read_to_string(root.join(document)).unwrap();
        let quoted = text.split('`').skip(1).step_by(2);
        for path in
            quoted.filter(|it| ["src/", "tests/", "assets/"].iter().any(|folder| it.starts_with(folder)))
        {
            if !path.contains(['*', ' ']) && !path.contains("NAME") {
                assert!(root.join(path).exists(), "{document} names {path}, which does not exist");
            }
        }
    }
}

/// The walks name whole paths; whoever follows one reads first what the file does.
#[test]
fn every_file_on_a_walk_begins_with_a_doc_line() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let map = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    assert!(
        map.lines().count() <= 250,
        "ARCHITECTURE.md is a map of 250 lines; reasons go to docs/decisions.md"
    );
    let (_, walks) = map.split_once("## The walks").unwrap();
    let (walks, _) = walks.split_once("\n## ").unwrap();
    let is_file = |it: &&str| Path::new(it).extension().is_some_and(|extension| extension == "rs");
    let files: Vec<_> = walks.split('`').skip(1).step_by(2).filter(is_file).collect();

    let silent: Vec<_> = files
        .iter()
        .filter(|path| !fs::read_to_string(root.join(path)).is_ok_and(|text| text.starts_with("//! ")))
        .collect();

    assert!(silent.is_empty() && files.len() > 30, "{silent:?} of {} files", files.len());
}

/// Names of tests in a table: the last part of a quoted path, when it reads as a sentence.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let names = quoted.map(|it| it.rsplit("::").next().unwrap_or(it));
    let name = |it: &&str| !it.starts_with('_') && it.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    names.filter(name).filter(|it| it.matches('_').count() > 2)
}

#[test]
fn the_tests_that_documents_name_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut code = String::new();
    let mut folders = vec![root.join("src"), root.join("tests")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                code.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }
    for document in ["src/gate/tests/seed/mod.rs", "tests/README.md"] {
        let text = fs::read_to_string(root.join(document)).unwrap();
        let missing: Vec<_> =
            sentences(&text).filter(|name| !code.contains(&format!("fn {name}("))).collect();
        assert!(missing.is_empty() && sentences(&text).count() > 10, "{document} names {missing:?}");
    }
}
