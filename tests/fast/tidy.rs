//! Architecture rules: a room imports only lower floors, a crate is used only in its listed places, files stay within
//! the line limit, and every room is on the map.

use std::fs;
use std::path::PathBuf;

/// Rooms and their floors (ARCHITECTURE.md). A room imports strictly lower floors.
const FLOORS: &[(&str, usize)] = &[
    ("domain", 0),
    ("text", 1),
    ("clock", 1),
    ("config", 1),
    ("net", 1),
    ("sqlite", 1),
    ("contract", 1),
    ("schema", 1),
    ("fault", 0),
    ("private", 0),
    ("program", 0),
    ("sources", 2),
    ("gate", 2),
    ("journal", 2),
    ("agent", 3),
    ("inbox", 3),
    ("tui", 4),
    ("cli", 4),
    ("start", 5),
    ("fuzz", 5),
];

/// Crates and the only places that may name them.
const FENCES: &[(&str, &[&str])] = &[
    ("ratatui", &["src/tui/", "benches/"]),
    ("crossterm", &["src/tui/"]),
    ("tui_textarea", &["src/tui/"]),
    ("axum", &["src/gate/"]),
    ("hyper", &["src/gate/"]),
    ("hyper_util", &["src/gate/"]),
    ("tower_http", &["src/gate/"]),
    ("prometheus_client", &["src/gate/metrics.rs"]),
    ("sqlx", &["src/sqlite/", "src/gate/store/", "src/journal/"]),
    ("reqwest", &["src/net/"]),
    ("eventsource_client", &["src/net/"]),
    ("launchdarkly_sdk_transport", &["src/net/"]),
    ("clap", &["src/cli/", "src/start/"]),
    ("clap_mangen", &["src/start/man.rs"]),
    ("clap_complete", &["src/start/complete/"]),
    ("clap_complete_nushell", &["src/start/complete/nushell.rs"]),
    ("rustls", &["src/net/", "src/gate/tls.rs"]),
    ("tokio_rustls", &["src/gate/tls.rs"]),
    ("fancy_regex", &["src/agent/hook/"]),
    ("jsonschema", &["src/schema/"]),
    ("jsonschema_regex", &["src/schema/"]),
    ("regex_automata", &["src/schema/"]),
    ("nucleo_matcher", &["src/inbox/filter"]),
];

/// Crates without side effects, which the domain may use.
const DOMAIN_CRATES: &[&str] = &[
    "foldhash",
    "icu_properties",
    "sha2",
    "thiserror",
    "unicode_normalization",
    "unicode_security",
    "std",
    "core",
];

const MAX_LINES: usize = 600;

/// Lines of code of each room, without tests and comments. A commit that raises one says what the room gives in return.
const BUDGET: &[(&str, usize)] = &[
    ("tui", 28_696),
    ("gate", 13_980),
    ("sources", 7_214),
    ("inbox", 6_319),
    ("cli", 5_912),
    ("agent", 5_135),
    ("domain", 3_751),
    ("contract", 2_474),
    ("config", 2_230),
    ("start", 1_952),
    ("journal", 1_759),
    ("net", 1_628),
    ("text", 1_733),
    ("schema", 722),
    ("program", 444),
    ("sqlite", 345),
    ("fuzz", 110),
    ("private", 89),
    ("fault", 67),
    ("clock", 16),
];

pub(super) struct Source {
    pub(super) path: String,
    pub(super) text: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub(super) fn sources(folder: &str) -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let path = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
                found.push(Source { path, text });
            }
        }
    }
    assert!(!found.is_empty(), "nothing in {folder}");
    found
}

fn room_of(path: &str) -> Option<&str> {
    path.strip_prefix("src/")?.split_once('/').map(|(room, _)| room)
}

fn floor_of(room: &str) -> Option<usize> {
    FLOORS.iter().find(|(name, _)| *name == room).map(|(_, floor)| *floor)
}

/// Returns lines of code with their numbers, without comments but with tests.
pub(super) fn code(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    source
        .text
        .lines()
        .enumerate()
        .map(|(n, line)| (n + 1, line))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Returns names that follow `prefix` in a line: `crate::domain::X` gives `domain`.
fn names_after<'a>(line: &'a str, prefix: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for (at, _) in line.match_indices(prefix) {
        let before = line[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &line[at + prefix.len()..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        names.push(&rest[..end]);
    }
    names
}

#[derive(Default)]
pub(super) struct Lines {
    pub(super) code: usize,
    pub(super) comments: usize,
}

/// Counts the lines of a file of `src` without blank lines, test files and what stands under `#[cfg(test)]` at the left margin.
pub(super) fn shipped_lines(source: &Source) -> Lines {
    let mut lines = Lines::default();
    let is_test = |part: &str| ["tests", "testing", "tests.rs", "testing.rs", "rounds.rs"].contains(&part);
    if source.path.split('/').any(is_test) {
        return lines;
    }
    let mut rest = source.text.lines();
    while let Some(line) = rest.next() {
        match line.trim() {
            _ if line.starts_with("#[cfg(test)]") => {
                let first = rest.by_ref().find(|line| !line.starts_with("#["));
                if first.is_some_and(|line| !line.trim_end().ends_with(';')) {
                    rest.by_ref().find(|line| *line == "}");
                }
            }
            "" => {}
            line if line.starts_with("//") => lines.comments += 1,
            _ => lines.code += 1,
        }
    }
    lines
}

pub(super) fn report(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn rooms_import_downwards_only() {
    let mut problems = Vec::new();
    for source in sources("src") {
        let Some(room) = room_of(&source.path) else { continue };
        let Some(floor) = floor_of(room) else { continue };
        for (n, line) in code(&source) {
            if line.contains("crate::{") || line.contains("super::super") {
                problems.push(format!(
                    "{}:{n}: name each room in a use of its own, and no super::super",
                    source.path
                ));
            }
            for other in names_after(line, "crate::") {
                let below = floor_of(other).is_some_and(|it| it < floor);
                if other != room && floor_of(other).is_some() && !below {
                    problems.push(format!("{}:{n}: {room} (floor {floor}) imports {other}", source.path));
                }
            }
        }
    }
    report(&problems);
}

#[test]
fn crates_stay_behind_their_fences() {
    let mut problems = Vec::new();
    for source in sources("src") {
        for (n, line) in code(&source) {
            for (name, places) in FENCES {
                let used = line.contains(&format!("{name}::"))
                    && !names_after(line, &format!("{name}::")).is_empty();
                let in_tests = source.path.contains("/test");
                if used && !in_tests && !places.iter().any(|place| source.path.starts_with(place)) {
                    problems.push(format!("{}:{n}: {name} belongs in {}", source.path, places.join(", ")));
                }
            }
        }
    }
    report(&problems);
}

#[test]
fn domain_uses_no_io_or_clock() {
    let banned = [
        "std::fs",
        "std::net",
        "std::io",
        "std::env",
        "std::thread",
        "std::process",
        "SystemTime",
        "Instant",
        "async ",
        "serde",
    ];
    let mut problems = Vec::new();
    for source in sources("src/domain") {
        for (n, line) in code(&source) {
            for word in banned.iter().filter(|word| line.contains(**word)) {
                problems.push(format!("{}:{n}: the domain may not use {word}", source.path));
            }
            let outside =
                line.trim_start().strip_prefix("use ").map(|rest| rest.split("::").next().unwrap_or(rest));
            let allowed =
                |name: &str| ["crate", "super", "self"].contains(&name) || DOMAIN_CRATES.contains(&name);
            let lower =
                |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit());
            let own = |name: &str| {
                root().join(format!("src/domain/{name}.rs")).exists() || source.path.contains("json")
            };
            if let Some(name) = outside.filter(lower).filter(|name| !allowed(name) && !own(name)) {
                problems.push(format!("{}:{n}: the domain may not use the crate {name}", source.path));
            }
        }
    }
    report(&problems);
}

#[test]
fn features_do_no_io() {
    let mut problems = Vec::new();
    for source in sources("src/tui") {
        let edges = [
            "src/tui/app/",
            "src/tui/plain/run.rs",
            // Reads theme files before the first frame.
            "src/tui/chrome/theme/",
            "src/tui/testing/",
            "src/tui/tests/",
        ];
        let pure = !edges.iter().any(|it| source.path.starts_with(it));
        for (n, line) in code(&source).filter(|_| pure) {
            for word in [
                "async ",
                ".await",
                "tokio::",
                "std::fs",
                "Instant::now",
                "SystemTime",
                "clock::now",
                "mpsc",
                "std::env",
            ] {
                if line.contains(word) {
                    problems.push(format!("{}:{n}: pure code may not use {word}", source.path));
                }
            }
        }
    }
    report(&problems);
}

#[test]
fn files_stay_within_the_line_limit() {
    let mut problems = Vec::new();
    for source in sources("src").into_iter().chain(sources("tests")).chain(sources("benches")) {
        let lines = source.text.lines().count();
        if lines > MAX_LINES {
            problems.push(format!(
                "{} has {lines} lines; the limit is {MAX_LINES}. Find the second idea in it.",
                source.path
            ));
        }
    }
    report(&problems);
}

#[test]
fn rooms_stay_within_their_budget_of_lines() {
    let mut problems = Vec::new();
    for (room, budget) in BUDGET {
        let lines: usize = sources(&format!("src/{room}")).iter().map(|file| shipped_lines(file).code).sum();
        if lines > *budget {
            problems.push(format!("src/{room} has {lines} lines of code; its budget is {budget}"));
        }
    }
    let named = BUDGET.iter().map(|(room, _)| *room).collect::<Vec<_>>();
    problems.extend(
        FLOORS
            .iter()
            .filter(|(room, _)| !named.contains(room))
            .map(|(room, _)| format!("src/{room} has no budget")),
    );
    report(&problems);
}

#[test]
fn every_room_has_a_floor_and_is_on_the_map() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for entry in fs::read_dir(root().join("src")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            assert!(floor_of(&name).is_some(), "src/{name} has no floor in tests/fast/tidy.rs");
            assert!(map.contains(&format!("`{name}`")), "src/{name} is not on the map in ARCHITECTURE.md");
        } else {
            // `rounds.rs` is test support without a room.
            let known = ["lib.rs", "main.rs", "rounds.rs"].contains(&name.as_str());
            assert!(known, "src/{name}: every room is a folder");
        }
    }
}

#[test]
fn no_lint_is_silenced_without_a_reason() {
    let mut problems = Vec::new();
    for source in sources("src") {
        let lines: Vec<&str> = source.text.lines().collect();
        for (n, line) in lines.iter().enumerate() {
            let silenced =
                line.contains("#[allow(") || line.contains("#![allow(") || line.contains("#[expect(");
            if silenced
                && !line.contains("reason = ")
                && !lines.get(n + 1).is_some_and(|it| it.contains("reason"))
            {
                problems.push(format!("{}:{}: say why, with reason = \"…\"", source.path, n + 1));
            }
        }
    }
    report(&problems);
}

/// The gate sets the environment of a supervised run.
const SUPERVISOR: &str = "src/program/supervisor.rs";

#[test]
fn programs_are_started_without_secrets() {
    let starts = |source: &Source| code(source).any(|(_, line)| line.contains("Command::new("));
    let mut problems = Vec::new();
    for source in sources("src") {
        let is_exempt = source.path == SUPERVISOR || source.path.contains("/test");
        if !is_exempt && starts(&source) && !source.text.contains("_secrets(") {
            problems.push(format!("{}: starts a program with every variable of placet's own", source.path));
        }
    }
    report(&problems);
}
