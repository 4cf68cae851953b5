//! Formats Markdown tables, and replaces them in docs/scale.md.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::lab::{SETTINGS, said};
use crate::postgres::programs;

const BEGIN: &str = "<!-- figures: cargo bench --bench scale -- --full --write -->\n";
const END: &str = "<!-- end of figures -->\n";

/// Begins a section with its heading, the machine and the command that measured it.
pub(crate) fn section(heading: &str) -> String {
    let given: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let given = if given.is_empty() { String::new() } else { format!(" -- {}", given.join(" ")) };
    format!("### {heading}\n\n{}\n`cargo bench --bench scale{given}`\n\n", machine())
}

pub(crate) fn table(text: &mut String, head: &[&str], rows: &[Vec<String>]) {
    writeln!(text, "| {} |\n|{}", head.join(" | "), "---|".repeat(head.len())).unwrap();
    for row in rows {
        writeln!(text, "| {} |", row.join(" | ")).unwrap();
    }
    text.push('\n');
}

fn machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("an unknown processor", |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    let memory = memory.unwrap_or_default() / 1_048_576;
    let postgres = programs().map(|programs| said(Command::new(programs.join("postgres")).arg("--version")));
    let postgres = postgres.unwrap_or_default();
    let postgres = postgres.trim_start_matches("postgres (PostgreSQL) ");
    let commit = said(Command::new("git").args(["describe", "--always", "--dirty"]));
    let settings: Vec<_> = SETTINGS.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let at = said(Command::new("date").args(["-u", "+%Y-%m-%d %H:%M"]));
    format!(
        "{at} UTC, {model}, {cores} cores, {memory} GiB; placet {} ({commit}), PostgreSQL {postgres} ({}).",
        env!("CARGO_PKG_VERSION"),
        settings.join(", "),
    )
}

/// Replaces the sections of docs/scale.md that have the same headings.
pub(crate) fn write(sections: &[String]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scale.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("docs/scale.md has lost its marker");
    let (old, after) = rest.split_once(END).expect("docs/scale.md has lost its second marker");
    let heading = |section: &str| section.lines().next().unwrap_or_default().to_owned();
    let mut parts: Vec<String> = Vec::new();
    for old in old.split("### ").skip(1) {
        parts.push(format!("### {}", old.trim_end()));
    }
    for new in sections {
        let new = new.trim_end().to_owned();
        match parts.iter_mut().find(|part| heading(part) == heading(&new)) {
            Some(part) => *part = new,
            None => parts.push(new),
        }
    }
    std::fs::write(path, format!("{before}{BEGIN}\n{}\n\n{END}{after}", parts.join("\n\n"))).unwrap();
}

/// Formats with thousands separators: `1,234`.
pub(crate) fn whole(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the median and the range of several rounds.
pub(crate) fn middle(mut figures: Vec<f64>) -> String {
    figures.sort_unstable_by(f64::total_cmp);
    let (first, last) = (figures[0], figures[figures.len() - 1]);
    let middle = whole(figures[figures.len() / 2]);
    if figures.len() == 1 { middle } else { format!("{middle} ({}–{})", whole(first), whole(last)) }
}
