//! No file imports one that imports it, directly or through others, so each can be read after its imports.

use std::collections::{BTreeMap, BTreeSet};

use super::tidy::{Source, code, report, sources};

/// Rooms without import circles.
const ROOMS: &[&str] = &[
    "agent", "cli", "config", "contract", "domain", "fault", "fuzz", "gate", "inbox", "journal", "net",
    "private", "program", "schema", "sources", "sqlite", "start", "text", "tui",
];

/// Path of a module or item from the crate root.
type Path = Vec<String>;

struct File {
    items: BTreeSet<String>,
    /// Imported names and their paths.
    imports: Vec<(String, Path)>,
    /// Other paths named in the file.
    paths: Vec<Path>,
}

type Files = BTreeMap<Path, File>;

fn words(path: &str) -> Path {
    path.split("::").map(|word| word.trim().to_owned()).collect()
}

/// `src/gate/mod.rs` is `gate`, `src/gate/auth.rs` is `gate::auth`.
fn module(path: &str) -> Option<Path> {
    let path = path.strip_prefix("src/")?.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    Some(path.split('/').map(str::to_owned).collect())
}

/// Returns the code of a file without test modules and string literals.
fn text_of(source: &Source) -> String {
    let mut text = String::new();
    let (mut tests, mut skip) = (false, false);
    for (_, line) in code(source) {
        tests |= line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(any(test");
        if tests && !line.starts_with('#') {
            // A declaration or import takes one line, a module ends at its closing brace.
            skip = line.ends_with('{');
            tests = false;
            continue;
        }
        if skip {
            skip = line != "}";
            continue;
        }
        let unquoted = line.split('"').step_by(2).collect::<Vec<_>>().join(" ");
        let (before, seen_in) = unquoted.split_once("pub(in ").unwrap_or((&unquoted, ""));
        let after = seen_in.split_once(')').map_or("", |(_, after)| after);
        text.push_str(format!("{before}{after}").split("//").next().unwrap());
        text.push('\n');
    }
    text
}

/// Splits `a::{b, c::{d, e as f}}` into local names and paths.
fn leaves(tree: &str, before: &str, found: &mut Vec<(String, String)>) {
    let (mut depth, mut start) = (0, 0);
    let mut parts = Vec::new();
    for (at, c) in tree.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&tree[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tree[start..]);
    for part in parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()) {
        if let Some((path, inner)) = part.split_once('{') {
            leaves(inner.trim().trim_end_matches('}'), &format!("{before}{path}"), found);
            continue;
        }
        let (path, name) = part.split_once(" as ").unwrap_or((part, part.rsplit("::").next().unwrap()));
        let path = format!("{before}{}", path.trim());
        let path = path.strip_suffix("::self").unwrap_or(&path);
        let name = if name == "self" { path.rsplit("::").next().unwrap() } else { name };
        found.push((name.trim().to_owned(), path.to_owned()));
    }
}

/// Resolves a path as written in `module`, which may begin with an imported name; `None` for a path of another crate.
fn absolute(
    module: &Path,
    children: &BTreeSet<String>,
    imports: &[(String, Path)],
    path: &str,
) -> Option<Path> {
    let mut words = words(path);
    let first = words.remove(0);
    let above = match first.as_str() {
        "crate" => Vec::new(),
        "self" => module.clone(),
        "super" => module[..module.len() - 1].to_vec(),
        child if children.contains(child) => [module.clone(), vec![first]].concat(),
        name => imports.iter().find(|(known, _)| known == name)?.1.clone(),
    };
    Some([above, words].concat())
}

fn name_after<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let rest = line.split_once(word)?.1;
    Some(&rest[..rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len())])
}

const KINDS: [&str; 7] = ["fn ", "struct ", "enum ", "trait ", "const ", "static ", "type "];

fn read(module: &Path, text: &str, children: &BTreeSet<String>) -> File {
    let mut file = File { items: BTreeSet::new(), imports: Vec::new(), paths: Vec::new() };
    let (mut rest, mut plain) = (text, String::new());
    while let Some((before, after)) = rest.split_once("use ").filter(|(_, after)| after.contains(';')) {
        plain.push_str(before);
        let is_import = before.trim_end_matches([' ', '\n']).ends_with([';', '}', ']', '{', ')'])
            || before.trim().is_empty()
            || before.ends_with("pub ");
        if !is_import {
            rest = after;
            continue;
        }
        let (tree, after) = after.split_once(';').unwrap();
        rest = after;
        let mut found = Vec::new();
        leaves(&tree.replace('\n', " "), "", &mut found);
        let known = found
            .into_iter()
            .filter_map(|(name, path)| Some((name, absolute(module, children, &[], &path)?)));
        file.imports.extend(known);
    }
    plain.push_str(rest);
    for line in plain.lines().filter(|line| !line.starts_with([' ', '}', '#'])) {
        file.items.extend(KINDS.iter().filter_map(|kind| name_after(line, kind)).map(str::to_owned));
    }
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for path in plain.split(|c| !is_path(c)).filter(|path| path.contains("::")) {
        file.paths.extend(absolute(module, children, &file.imports, path.trim_matches(':')));
    }
    file
}

fn files() -> Files {
    let texts: BTreeMap<Path, String> = sources("src")
        .iter()
        .filter(|source| !source.path.contains("/test"))
        .filter_map(|source| Some((module(&source.path)?, text_of(source))))
        .collect();
    let children = |of: &Path| -> BTreeSet<String> {
        let below = texts.keys().filter(|path| path.len() == of.len() + 1 && path.starts_with(of));
        below.filter_map(|path| path.last().cloned()).collect()
    };
    texts.iter().map(|(module, text)| (module.clone(), read(module, text, &children(module)))).collect()
}

/// Returns the file that defines an item, through reexports.
fn home(files: &Files, path: &[String], hops: usize) -> Option<Path> {
    let end = (1..=path.len()).rev().find(|end| files.contains_key(&path[..*end]))?;
    let (module, rest) = path.split_at(end);
    let file = &files[module];
    let Some(name) = rest.first().filter(|name| !file.items.contains(*name)) else {
        return Some(module.to_vec());
    };
    let passed = file.imports.iter().filter(|_| hops > 0).find(|(known, _)| known == name);
    match passed {
        Some((_, to)) => home(files, to, hops - 1),
        None => Some(module.to_vec()),
    }
}

fn needs(files: &Files, room: &str) -> BTreeMap<Path, BTreeSet<Path>> {
    let of_room = files.iter().filter(|(module, _)| module[0] == room);
    let needs = |module: &Path, file: &File| -> BTreeSet<Path> {
        let imported = file.imports.iter().map(|(_, path)| path);
        let homes = imported.chain(&file.paths).filter_map(|path| home(files, path, 9));
        homes.filter(|home| home != module && home[0] == room).collect()
    };
    of_room.map(|(module, file)| (module.clone(), needs(module, file))).collect()
}

/// Removes files without remaining imports, repeatedly. The rest is in a circle or imports one.
fn circle(mut needs: BTreeMap<Path, BTreeSet<Path>>) -> Vec<String> {
    loop {
        let free: Vec<Path> = needs
            .iter()
            .filter(|(_, on)| !on.iter().any(|it| needs.contains_key(it)))
            .map(|(it, _)| it.clone())
            .collect();
        if free.is_empty() {
            return needs.into_keys().map(|module| module.join("::")).collect();
        }
        needs.retain(|module, _| !free.contains(module));
    }
}

#[test]
fn rooms_have_no_import_circles() {
    let files = files();
    let circles = ROOMS.iter().map(|room| (room, circle(needs(&files, room))));
    let found = circles.filter(|(_, circle)| !circle.is_empty());
    let problems: Vec<String> = found
        .map(|(room, circle)| format!("{room}: these import each other in a circle: {}", circle.join(", ")))
        .collect();
    report(&problems);
}

#[test]
fn import_circle_is_found_through_reexports_and_imports() {
    let of = |module: &str, text: &str, children: &[&str]| {
        let children = children.iter().map(|child| (*child).to_owned()).collect();
        let module: Path = words(module);
        let file = read(&module, text, &children);
        (module, file)
    };
    let top = of("room", "pub use a::A;\npub use self::b::{B, C as D};\n", &["a", "b"]);
    let round = [
        of("room::a", "use super::D;\npub struct A;\n", &[]),
        of("room::b", "struct B;\nstruct C(super::a::A);\n", &[]),
    ];
    let straight =
        [of("room::a", "struct A;\n", &[]), of("room::b", "use crate::room::A;\nstruct B(A);\n", &[])];
    let found = |parts: [(Path, File); 2], top: (Path, File)| {
        circle(needs(&parts.into_iter().chain([top]).collect(), "room"))
    };

    let through_import = [
        of("room::a", "use crate::room;\nfn f() { room::b::g() }\n", &[]),
        of("room::b", "use super::a::f;\nfn g() { f() }\n", &[]),
    ];
    let bare = of("room", "", &["a", "b"]);
    let again = of("room", "pub use a::A;\npub use self::b::{B, C as D};\n", &["a", "b"]);
    assert_eq!(found(round, top), ["room", "room::a", "room::b"]);
    assert_eq!(found(through_import, bare), ["room::a", "room::b"]);
    assert!(found(straight, again).is_empty());
}
