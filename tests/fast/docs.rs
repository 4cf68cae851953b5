//! Documents that cannot lie: the README's keys are the command table's.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use placet::tui::command::{COMMANDS, Place, Spec};

/// Places in the order of the README, with the words for them.
const PLACES: &[(&str, &[Place])] = &[
    ("In the inbox", &[Place::Inbox, Place::List, Place::Preview]),
    (
        "In a sheet or form",
        &[Place::Review, Place::Report, Place::Edit, Place::Reason, Place::Settle, Place::Help, Place::Quit],
    ),
];

fn readme() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

fn first_place(spec: &Spec) -> usize {
    let found = PLACES.iter().position(|(_, places)| spec.places.iter().any(|place| places.contains(place)));
    found.unwrap_or(0)
}

/// The table as it must stand in the README.
fn keys() -> String {
    let mut out = String::from("| key | in the inbox |\n|---|---|\n");
    for (nth, _) in PLACES.iter().enumerate() {
        if nth == 1 {
            out.push_str("\n| key | in a sheet or form |\n|---|---|\n");
        }
        for spec in COMMANDS.iter().filter(|spec| first_place(spec) == nth && !spec.keys.is_empty()) {
            let keys: Vec<_> = spec.keys.iter().map(|key| format!("`{key}`")).collect();
            writeln!(out, "| {} | {} |", keys.join(" "), spec.help).unwrap();
        }
    }
    out
}

#[test]
fn the_readme_lists_the_keys_that_there_are() {
    let readme = readme();
    let (_, rest) = readme.split_once("against the command table -->\n").expect("the keys' start mark");
    let (written, _) = rest.split_once("<!-- /keys -->").expect("the keys' end mark");

    assert_eq!(written, keys(), "put this between the marks of README.md:\n{}", keys());
}

#[test]
fn commands_have_names_help_and_a_home() {
    for spec in COMMANDS {
        assert!(!spec.help.is_empty() && !spec.places.is_empty(), "{}", spec.name);
        assert!(spec.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", spec.name);
        assert_eq!(COMMANDS.iter().filter(|other| other.name == spec.name).count(), 1, "{}", spec.name);
    }
}

#[test]
fn the_documents_name_files_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for document in ["README.md", "ARCHITECTURE.md"] {
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
