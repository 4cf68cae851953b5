//! Counts marks of prose that reads as translated: in comments, documents and test names. A count is only an indicator; docs/style.md
//! says how to write.

use std::fs;
use std::path::Path;

use fancy_regex::Regex;

use super::tidy::{report, shipped_lines, sources};

/// Limits only go down. Those of marks count per ten thousand lines or names.
const LIMITS: [(&str, usize); 5] = [
    ("comment lines that open with a mark", 2),
    ("comment lines with a marked word", 4),
    ("document lines with a marked word", 36),
    ("test names of more than ten words", 0),
    ("comment lines of shipped code, in all", 7_485),
];

const OPENINGS: &str = r"^(What|Who|Whoever|Whose|Where(?= (it|one|there|no|the|a)\b)|So many|So long|So much|None of|Nothing|Nobody|Nor|As (it|long|many|much|one)|The same(?= (for|of|as|is|with)\b)|Of (a|the|one|what|those|all|many)\b|By (what|whom)|How (many|much|long|far)|All (that|of)|Such)\b";
const WORDS: &str = r"(?i)\b(anew|whoever|whatever|of now|of before|of then|by way of|has it(?=[.,;:])|(is|are|was|were) (over|told|said)\b|(comes|came|come) (of|to it|after all)|goes (on|by)|went (on|by)|stands? (for itself|there|first|beside|behind|in|on)|stood|so that (nobody|nothing|no)|nobody('s)?|none (of|is|has|are)|no longer so|is no (?=[a-z]+[.,;])|looked at|to be had|in its own time|all the same|as well as it|at the most|that is all|let go of|of its own|of (theirs|ours)|beside it)\b";

fn comments(text: &str) -> impl Iterator<Item = &str> {
    let texts = text.lines().filter_map(|line| line.trim_start().strip_prefix("//"));
    texts.map(|text| text.trim_start_matches(['/', '!']).trim()).filter(|text| !text.is_empty())
}

/// The lines of a page without headings, code blocks and HTML, each without its mark of a list or a table.
fn prose(page: &str) -> Vec<&str> {
    let mut is_code = false;
    let lines = page.lines().map(str::trim).filter(move |line| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence && !line.is_empty() && !line.starts_with(['#', '<', '!'])
    });
    lines.map(|line| line.trim_start_matches(['-', '*', '|', ' '])).collect()
}

fn test_names(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim_start) {
        is_test |= line.starts_with("#[test") || line.starts_with("#[tokio::test");
        let line = line.strip_prefix("async ").unwrap_or(line);
        if let Some(name) = line.strip_prefix("fn ").filter(|_| is_test) {
            names.extend(name.split('(').next());
            is_test = false;
        }
    }
    names
}

fn pages() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages: Vec<_> = [
        "",
        "docs",
        "docs/screens",
        "tests",
        "benches",
        "fuzz",
        "assets/bridges/python",
        "assets/bridges/dendrux",
    ]
    .iter()
    .filter_map(|folder| fs::read_dir(root.join(folder)).ok())
    .flat_map(|files| files.map(|file| file.unwrap().path()))
    .filter(|path| path.extension().is_some_and(|it| it == "md"))
    .collect();
    pages.sort();
    pages.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn prose_stays_within_its_limits() {
    let [opening, word] = [OPENINGS, WORDS].map(|pattern| Regex::new(pattern).unwrap());
    let files: Vec<_> = ["src", "tests", "benches"].iter().flat_map(|folder| sources(folder)).collect();
    let comments: Vec<&str> = files.iter().flat_map(|file| comments(&file.text)).collect();
    let pages = pages();
    let prose: Vec<&str> = pages.iter().flat_map(|page| prose(page)).collect();
    let names: Vec<&str> = files.iter().flat_map(|file| test_names(&file.text)).collect();
    let marked = |lines: &[&str], mark: &Regex| {
        let found = lines.iter().filter(|line| mark.is_match(line).unwrap()).count();
        found * 10_000 / lines.len()
    };
    let shipped = sources("src").iter().map(|file| shipped_lines(file).comments).sum();

    let counts = [
        marked(&comments, &opening),
        marked(&comments, &word),
        marked(&prose, &word),
        names.iter().filter(|name| name.matches('_').count() >= 10).count() * 10_000 / names.len(),
        shipped,
    ];
    println!("{counts:?} of {LIMITS:?}");
    let over = LIMITS.iter().zip(counts).filter(|((_, limit), count)| count > limit);
    report(&over.map(|((what, limit), count)| format!("{what}: {count}, limit {limit}")).collect::<Vec<_>>());
}

#[test]
fn marks_of_prose_are_found() {
    let [opening, word] = [OPENINGS, WORDS].map(|pattern| Regex::new(pattern).unwrap());
    let text = "/// Whoever asks first waits.\n// Returns the row.\n    //! It goes on.\nlet x = 1;\n//\n";
    let lines: Vec<_> = comments(text).collect();
    let found: Vec<_> =
        lines.iter().map(|it| (opening.is_match(it).unwrap(), word.is_match(it).unwrap())).collect();
    assert_eq!(found, [(true, true), (false, false), (false, true)]);
    assert_eq!(prose("# Head\n- one\n```\ncode\n```\n| two |"), ["one", "two |"]);
    assert_eq!(
        test_names("#[test]\nfn one() {}\nfn two() {}\n#[tokio::test]\nasync fn three() {}"),
        ["one", "three"]
    );
}
