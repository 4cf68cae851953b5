//! Foreign text is always sanitized before it is drawn or printed: code that uses raw text is listed here, with a
//! reason.

use super::tidy::{Source, code, report, sources};

/// Files that use raw text: number of uses, and why they are safe. Other files that draw or print must not.
const AS_RAW: &[(&str, usize, &str)] = &[
    ("src/tui/chrome/copy.rs", 1, "judged before it is opened"),
    ("src/tui/queue/marks.rs", 1, "sorted"),
    ("src/tui/dashboard/rows.rs", 1, "sorted"),
    ("src/tui/queue/shape.rs", 3, "taken apart, and made untrusted again"),
    (
        "src/tui/preview/page/preview_comparison.rs",
        2,
        "compared; handed to a long text, which goes through the door row by row",
    ),
    ("src/tui/preview/page/timeline.rs", 6, "compared; handed to `more`, which goes through the door"),
    (
        "src/tui/preview/page/context.rs",
        5,
        "made untrusted again; handed to a long text, or to a part of a line",
    ),
    ("src/cli/columns.rs", 2, "compared; made untrusted again"),
    ("src/cli/context.rs", 3, "JSON; handed to the lines of a text"),
    ("src/cli/doctor.rs", 1, "JSON"),
    (
        "src/tui/preview/page/fields.rs",
        4,
        "looked up; handed to a long text, to `field` or to a part of a line",
    ),
    ("src/tui/preview/view.rs", 2, "looked up"),
    ("src/cli/propose.rs", 5, "JSON"),
    ("src/cli/decide/dry.rs", 9, "JSON; looked up"),
    ("src/cli/log/mod.rs", 1, "compared"),
    ("src/cli/log/lines.rs", 8, "JSON"),
    ("src/cli/gate/audit.rs", 1, "our own note, read back"),
    ("src/cli/watch/event.rs", 6, "JSON"),
    ("src/cli/whoami.rs", 4, "JSON"),
    ("src/cli/show.rs", 4, "JSON; looked up"),
    ("src/cli/shift.rs", 2, "JSON"),
    ("src/cli/shift/handed_over.rs", 4, "JSON"),
    ("src/cli/claim.rs", 2, "JSON"),
    ("src/tui/claims/update.rs", 1, "looked up"),
    ("src/tui/snooze/state.rs", 3, "digested"),
    ("src/cli/list/mod.rs", 1, "JSON"),
    ("src/cli/output.rs", 1, "JSON"),
];

/// Functions that write to a terminal, and the files that may call them.
const WRITERS: &[(&str, &[&str])] = &[
    ("set_symbol(", &[]),
    ("set_string(", &[]),
    ("set_stringn(", &["src/tui/chrome/pen.rs"]),
    ("set_line(", &[]),
    ("set_span(", &[]),
    ("Paragraph::", &[]),
    ("print!(", &[]),
    ("println!(", &["src/rounds.rs"]),
    ("dbg!(", &[]),
    // A supervisor's standard output is a file; it refuses to write to anything else.
    (
        "stdout()",
        &[
            "src/cli/output.rs",
            "src/tui/app/terminal.rs",
            "src/tui/plain/run.rs",
            "src/program/supervisor.rs",
        ],
    ),
    ("stderr()", &["src/cli/output.rs", "src/start/logging.rs"]),
];

/// Returns the sources without tests.
fn shipped(folder: &str) -> Vec<Source> {
    let mut sources = sources(folder);
    sources.retain(|it| !it.path.contains("/tests") && !it.path.contains("/testing/"));
    for source in &mut sources {
        let end = source.text.find("#[cfg(test)]\nmod tests {").unwrap_or(source.text.len());
        source.text.truncate(end);
    }
    sources
}

#[test]
fn foreign_text_reaches_a_screen_only_as_shown() {
    let mut problems = Vec::new();
    for folder in ["src/tui", "src/cli"] {
        for source in shipped(folder) {
            let raw: Vec<_> = code(&source).filter(|(_, line)| line.contains("as_raw")).collect();
            let known = AS_RAW.iter().find(|(path, ..)| *path == source.path);
            let allowed = known.map_or(0, |(_, count, _)| *count);
            if raw.len() != allowed {
                let lines: Vec<_> = raw.iter().map(|(n, line)| format!("  {n}: {}", line.trim())).collect();
                let (path, lines) = (&source.path, lines.join("\n"));
                problems.push(format!(
                    "{path}: {} as_raw, {allowed} known; show foreign text through crate::text\n{lines}",
                    raw.len()
                ));
            }
        }
    }
    report(&problems);
}

#[test]
fn only_a_few_places_write_to_a_terminal() {
    let mut problems = Vec::new();
    for source in shipped("src") {
        for (n, line) in code(&source) {
            for (word, places) in WRITERS {
                if line.contains(word) && !places.contains(&source.path.as_str()) {
                    problems.push(format!("{}:{n}: {word} belongs in {places:?}", source.path));
                }
            }
        }
    }
    report(&problems);
}
