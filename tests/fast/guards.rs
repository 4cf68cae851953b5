//! `guards.toml` is current: every guard's code and tests exist. `tests/guards/run.py` removes the guards.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn rust(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

/// Returns approximate test paths: the file's path and each function's name.
fn tests() -> BTreeSet<String> {
    let (src, mut files, mut found) = (root().join("src"), Vec::new(), BTreeSet::new());
    rust(&src, &mut files);
    for file in files {
        let place = file.strip_prefix(&src).unwrap().with_extension("").to_string_lossy().replace('/', "::");
        let text = fs::read_to_string(&file).unwrap();
        let names =
            text.lines().filter_map(|line| line.trim().trim_start_matches("async ").strip_prefix("fn "));
        found.extend(names.map(|name| format!("{place}::{}", name.split('(').next().unwrap())));
    }
    found
}

#[test]
fn every_listed_guard_exists() {
    let text = fs::read_to_string(root().join("tests/guards/guards.toml")).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let tests = tests();
    let guards = table["guard"].as_array().unwrap();
    assert!(guards.len() >= 15, "{} guards", guards.len());
    for guard in guards {
        let [name, file, old, new, filters] =
            ["name", "file", "old", "new", "tests"].map(|key| guard[key].as_str().unwrap());
        let code = fs::read_to_string(root().join(file)).unwrap();
        assert_eq!(code.matches(old).count(), 1, "{name}: `{old}` in {file}");
        assert_ne!(old, new, "{name}");
        for filter in filters.split_whitespace() {
            assert!(tests.iter().any(|test| test.contains(filter)), "{name}: no test matches {filter}");
        }
    }
}
