//! The sentences that placet says: where they may be written, and a list of all, to read in one go:
//! `PLACET_PRINT_WORDS=1 cargo test --test fast words -- --nocapture`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::tidy::{Source, report, sources};

/// Returns string literals as written. Skips comments and character literals.
fn texts(code: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let from = &rest[at..];
        if from.starts_with("//") {
            rest = from.split_once('\n').map_or("", |(_, after)| after);
        } else if let Some(text) = from.strip_prefix('"') {
            let raw = rest[..at].chars().rev().take_while(|c| *c == '#').count();
            let is_raw = rest[..at - raw].ends_with('r');
            let end = if is_raw { text.find(&format!("\"{}", "#".repeat(raw))) } else { end_of(text) };
            let Some(end) = end else { return texts };
            texts.push(text[..end].to_owned());
            rest = &text[end + 1..];
        } else if from.starts_with("'\"'") || from.starts_with("'/'") || from.starts_with("'\\''") {
            rest = &from[3..];
        } else {
            rest = &from[1..];
        }
    }
    texts
}

/// Returns the index of the closing quote.
fn end_of(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}

/// Whether a text has at least two words in lower case, unlike most SQL.
fn is_sentence(text: &str) -> bool {
    let words = text.split(' ').filter(|word| word.chars().filter(char::is_ascii_lowercase).count() > 1);
    words.count() > 1
}

/// Returns the files of these rooms, without tests.
fn speaking(rooms: &[&str]) -> Vec<Source> {
    let mut files = sources("src");
    files.retain(|file| rooms.iter().any(|room| file.path.starts_with(room)));
    files.retain(|file| !["/tests", "/testing/", "bench.rs"].iter().any(|it| file.path.contains(it)));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

#[test]
fn sentences_are_printed_on_request() {
    if std::env::var_os("PLACET_PRINT_WORDS").is_none() {
        return;
    }
    for file in speaking(&["src/tui/", "src/cli/", "src/inbox/", "src/sources/", "src/domain/", "src/start/"])
    {
        println!("\n{}", file.path);
        let code = file.text.split("#[cfg(test)]").next().unwrap();
        for sentence in texts(code).iter().filter(|text| is_sentence(text)) {
            let words = sentence.replace("\\n", " ").replace("\\\"", "\"");
            let words: Vec<_> = words.split_whitespace().filter(|word| *word != "\\").collect();
            println!("- {}", words.join(" "));
        }
    }
}

/// Returns the code without attributes and `tracing` calls, because their texts are not drawn.
fn without_log(code: &str) -> String {
    let mut kept = String::new();
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        let start = line.trim_start();
        let (open, close) = match start {
            _ if start.starts_with("#[") => ('[', ']'),
            _ if line.contains("tracing::") => ('(', ')'),
            _ => {
                kept += line;
                kept.push('\n');
                continue;
            }
        };
        let mut depth = 0;
        for line in std::iter::once(line).chain(lines.by_ref()) {
            depth += line.matches(open).count() as i64 - line.matches(close).count() as i64;
            if depth <= 0 {
                break;
            }
        }
    }
    kept
}

/// Removes placeholders. `{left} of {all}` is not a sentence.
fn without_blanks(text: &str) -> String {
    let parts = text.split('{').enumerate();
    parts
        .map(|(nth, part)| if nth == 0 { part } else { part.split_once('}').map_or("", |(_, after)| after) })
        .collect()
}

#[test]
fn screen_sentences_are_in_words_files() {
    let mut problems = Vec::new();
    for file in speaking(&["src/tui/"]) {
        // The table of commands is a words file, too.
        if file.path.ends_with("/words.rs") || file.path == "src/tui/core/command.rs" {
            continue;
        }
        let code = without_log(file.text.split("#[cfg(test)]\nmod tests").next().unwrap());
        let found = texts(&code).into_iter().filter(|text| is_sentence(&without_blanks(text)));
        problems.extend(found.map(|text| format!("{}: {text:?} belongs in words.rs", file.path)));
    }
    report(&problems);
}

#[test]
fn screen_sentences_are_unique() {
    let mut files = speaking(&["src/tui/"]);
    files.retain(|file| file.path.ends_with("/words.rs"));
    let mut seen = BTreeMap::new();
    let mut problems = Vec::new();
    for file in &files {
        for text in
            texts(file.text.split("#[cfg(test)]").next().unwrap()).into_iter().filter(|it| is_sentence(it))
        {
            if let Some(other) = seen.insert(text.clone(), &file.path) {
                problems.push(format!("{text:?} stands in {other} and in {}", file.path));
            }
        }
    }
    report(&problems);
}

/// Removed sentences that read as translated.
const GONE: &[&str] = &[
    "nothing held back",
    "blocked until decided",
    "bound by the source: what",
    "(a count is asked because",
    "not part of the request",
    "The agent says (these words do not run)",
    "Its preview says nothing that",
    "Its preview says what the input does not",
    "+ is not in the agent's preview",
    "placet knows no more of it",
    "it cannot be called back",
    "who watches the repository has had a mail",
    "its executor has not begun",
    "left out: it is another tool's",
    "takes the last step back",
    "shows what would be sent, and asks",
    "says what every key does",
    "gives any command by its name",
    "FOR READING",
    "ended otherwise",
    "does not know this action any more",
    "settled by somebody else first",
    "what runs already is finished",
];

#[test]
fn removed_sentences_do_not_return() {
    let pages = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")).unwrap();
    let pages =
        pages.map(|page| page.unwrap().path()).filter(|page| page.extension().is_some_and(|it| it == "md"));
    let pages = pages.chain(
        ["README.md", "config.example.toml"].map(|page| Path::new(env!("CARGO_MANIFEST_DIR")).join(page)),
    );
    let pages = pages.map(|page| (page.display().to_string(), fs::read_to_string(&page).unwrap()));
    let code = sources("src").into_iter().map(|file| (file.path, file.text));
    let mut problems = Vec::new();
    for (path, text) in pages.chain(code) {
        // A sentence may continue on the next line.
        let line = text.split_whitespace().filter(|word| *word != "\\").collect::<Vec<_>>().join(" ");
        problems.extend(GONE.iter().filter(|it| line.contains(**it)).map(|it| format!("{path} says {it:?}")));
    }
    report(&problems);
}

#[test]
fn texts_are_found_between_comments_and_characters() {
    let code = "let a = \"one \\\"two\\\"\"; // \"not this\"\nlet b = '\"'; let c = r#\"raw \"text\"\"#; let d: &'a str = \"x\";";
    assert_eq!(texts(code), [r#"one \"two\""#, r#"raw "text""#, "x"]);
}
