//! Documents match the code: the page of keys is the command table, and links lead to existing pages.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use placet::for_tests::{COMMANDS, Group};

use super::tidy::sources;

const KEYS: &str = "docs/keys.md";
const PAGES: [&str; 17] = [
    "README.md",
    "AGENTS.md",
    "SECURITY.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs/agents.md",
    "docs/decisions.md",
    "docs/gate.md",
    KEYS,
    "docs/performance.md",
    "docs/scale.md",
    "docs/screens/README.md",
    "docs/security.md",
    "docs/shell.md",
    "docs/sources.md",
    "docs/style.md",
    "docs/watch.md",
];

fn read(page: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap()
}

/// Returns the table expected in the page.
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

/// `PLACET_WRITE_KEYS=1` writes the table instead of comparing it.
#[test]
fn the_page_of_keys_lists_every_key() {
    let page = read(KEYS);
    let (before, rest) = page.split_once("against the command table -->\n").expect("the keys' start mark");
    let (written, after) = rest.split_once("<!-- /keys -->").expect("the keys' end mark");

    if std::env::var_os("PLACET_WRITE_KEYS").is_some() {
        let text = format!("{before}against the command table -->\n{}<!-- /keys -->{after}", keys());
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(KEYS), text).unwrap();
        return;
    }
    assert!(
        written == keys(),
        "docs/keys.md is not the command table; write it with\n\
         PLACET_WRITE_KEYS=1 cargo test --test fast the_page_of_keys"
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
    for document in PAGES {
        let text = read(document);
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

/// Replaced sentences that readers had to read twice.
const REWORDED: [&str; 24] = [
    "nothing held back",
    "held back: ",
    "blocked until decided",
    "bound by the source: what",
    "a count is asked because",
    "not part of the request",
    "these words do not run",
    "says nothing that the input does not",
    "says what the input does not",
    "is not in the agent's preview",
    "runs this tool with exactly this input; placet",
    "it cannot be called back",
    "has had a mail by then",
    "its executor has not begun",
    "left out: it is another tool's",
    "seen in part",
    "takes the last step back",
    "shows what would be sent, and asks\"",
    "says what every key does here;",
    "FOR READING",
    "ended otherwise",
    "does not know this action any more",
    "settled by somebody else first",
    "what runs already is finished",
];

#[test]
fn replaced_sentences_do_not_return() {
    let code = sources("src").into_iter().map(|source| (source.path, source.text));
    let pages = PAGES.into_iter().chain(["config.example.toml", "assets/contract/cli.schema.json"]);
    let pages = pages.map(|page| (page.to_owned(), read(page)));
    let found: Vec<_> = code
        .chain(pages)
        .flat_map(|(path, text)| {
            let said = REWORDED.iter().filter(|sentence| text.contains(**sentence));
            said.map(|sentence| format!("{path}: {sentence}")).collect::<Vec<_>>()
        })
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn links_resolve_and_the_readme_is_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert!(read("README.md").lines().count() <= 200, "details go to docs/");
    let mut links = 0;
    for page in PAGES {
        let text = read(page);
        let folder = root.join(page).parent().unwrap().to_owned();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(to, _)| to);
        for target in targets.filter(|to| !to.starts_with("http")) {
            links += 1;
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { root.join(page) } else { folder.join(file) };
            let there = fs::read_to_string(&path).unwrap_or_else(|_| panic!("{page} links to {target}"));
            let letters = |line: &str| {
                line.to_lowercase().replace(|it: char| !it.is_alphanumeric() && !" -_".contains(it), "")
            };
            let slug = |line: &str| letters(line.trim_start_matches('#').trim()).replace(' ', "-");
            let found = there.lines().any(|line| line.starts_with('#') && slug(line) == heading);
            assert!(heading.is_empty() || found, "{page} links to {target}");
        }
    }
    assert!(links > 20, "{links}");
}

#[test]
fn walk_files_begin_with_a_doc_line() {
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

/// Returns the test names in a table: last parts of quoted paths with at least four words.
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

#[test]
fn the_python_package_has_the_version_of_placet() {
    let package = read("assets/bridges/python/pyproject.toml");
    assert!(package.contains(&format!("\nversion = \"{}\"\n", env!("CARGO_PKG_VERSION"))), "{package}");
}

/// Returns the rows of a screenshot, with every character in its column.
fn rows_of(picture: &str) -> Vec<String> {
    let number = |line: &str, name: &str| -> f64 {
        let after = line.split_once(&format!(" {name}=\"")).unwrap().1;
        after.split('"').next().unwrap().parse().unwrap()
    };
    let mut rows: BTreeMap<i64, Vec<char>> = BTreeMap::new();
    for line in picture.lines().filter(|line| line.starts_with("<text ")) {
        let text = line.strip_suffix("</text>").and_then(|line| line.split_once('>')).unwrap().1;
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let from = (number(line, "x") / 8.4).round() as usize;
        let row = rows.entry(number(line, "y") as i64).or_default();
        row.resize(from.max(row.len()), ' ');
        row.extend(text.chars());
    }
    rows.into_values().map(|row| row.into_iter().collect()).collect()
}

#[test]
fn screenshots_contain_the_documented_answers() {
    let page = read("docs/screens/README.md");
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.contains("? |"));
    let answers: Vec<&str> = rows.map(|row| row.split(" | ").nth(1).unwrap()).collect();
    assert_eq!(answers.len(), 12);
    for size in ["80x24", "100x30"] {
        let picture = rows_of(&read(&format!("docs/screens/main-{size}.svg")));
        for answer in &answers {
            for words in answer.split('`').skip(1).step_by(2) {
                assert!(
                    picture.iter().any(|row| row.contains(words)),
                    "{size}: {words:?} is missing:\n{}",
                    picture.join("\n")
                );
            }
        }
    }
    for picture in page.split('(').filter_map(|part| part.split_once(".svg)")).map(|(name, _)| name) {
        assert!(read(&format!("docs/screens/{picture}.svg")).starts_with("<svg "), "{picture}");
    }
}
