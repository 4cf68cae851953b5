//! Draws every hostile text wherever foreign text is drawn, and checks the bytes and the resulting screen.

#[path = "../../../../tests/oracle/mod.rs"]
mod oracle;
mod places;

use std::collections::HashMap;
use std::io::Write;
use std::num::NonZeroU16;
use std::path::Path;

use ratatui::backend::Backend as _;
use ratatui::buffer::Buffer;
use serde::Deserialize;

use crate::rounds::{is_long, skipped};
use crate::text;
use crate::text::{Badge, Badges};
use crate::tui::app::width_safe_backend::WidthSafeBackend;
use crate::tui::testing::Desk;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) cls: String,
    /// `body`, `title`, or `ident` (a name in which only ASCII is unescaped).
    pub(crate) field: String,
    pub(crate) text: String,
    pub(crate) see: Vec<String>,
    /// Byte sequences that must not be written, in hexadecimal.
    pub(crate) never: Vec<String>,
    pub(crate) flag: Option<String>,
}

pub(crate) const SIZES: [(u16, u16); 3] = [(40, 12), (80, 24), (200, 60)];

pub(crate) fn own() -> Vec<Case> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hostile/text.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// Loads the corpus next to the repository, or of `PLACET_CORPUS`. It is not part of this project.
fn others() -> Vec<Case> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let folder = std::env::var_os("PLACET_CORPUS").map_or(beside, Into::into);
    match std::fs::read_to_string(folder.join("hostile-text.json")) {
        Ok(text) => serde_json::from_str(&text).unwrap(),
        Err(_) => {
            skipped("the cases of the corpus were skipped; PLACET_CORPUS names its folder");
            Vec::new()
        }
    }
}

/// The bytes of a frame and the screen of a terminal that got them.
pub(crate) struct Frame {
    pub(crate) bytes: Vec<u8>,
    pub(crate) screen: vt100::Parser,
}

impl Frame {
    pub(crate) fn of(desk: &Desk) -> Self {
        let buffer = desk.buffer();
        let mut bytes = Vec::new();
        let mut backend = WidthSafeBackend::new(&mut bytes);
        backend.draw(Buffer::empty(buffer.area).diff(&buffer).into_iter()).unwrap();
        Write::flush(&mut backend).unwrap();
        let (rows, columns) = (buffer.area.height, buffer.area.width);
        let mut screen =
            vt100::Parser::new(NonZeroU16::new(rows).unwrap(), NonZeroU16::new(columns).unwrap(), 0);
        screen.process(&bytes);
        Self { bytes, screen }
    }

    /// Returns the screen without white space, because wrapping moves it.
    pub(crate) fn dense(&self, from: u16, width: u16) -> String {
        let rows: Vec<String> = self.screen.screen().rows(from, width).collect();
        rows.concat().split_whitespace().collect()
    }
}

/// Checks that `bytes` hold only allowed sequences and none that the case forbids.
pub(crate) fn judged(case: &Case, place: &str, bytes: &[u8]) {
    let bad = oracle::judge(bytes);
    assert!(bad.is_empty(), "{} in {place}: {bad:?}", case.id);
    for never in &case.never {
        let never: Vec<u8> = (0..never.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&never[at..at + 2], 16).unwrap())
            .collect();
        // Every frame contains cursor moves.
        let moves = never.starts_with(b"\x1b[") && never.ends_with(b"H");
        assert!(
            moves || !bytes.windows(never.len()).any(|it| it == never),
            "{} in {place}: {never:x?}",
            case.id
        );
    }
}

fn badges(case: &Case) -> Badges {
    match case.field.as_str() {
        "title" => text::badges_of_line(&case.text),
        "ident" => text::badges_of_identifier(&case.text),
        _ => text::badges(&case.text),
    }
}

fn flagged(case: &Case) {
    // A text longer than the screen has no badge; the reading lock covers it.
    let want = match case.flag.as_deref() {
        Some("zalgo") => Some("combining"),
        Some("boxdraw") => Some("boxes"),
        Some("truncated") => None,
        other => other,
    };
    let badges = badges(case);
    let Some(word) = want else {
        assert_eq!(badges.alarms().count(), 0, "{}: {:?}", case.id, badges.alarms().collect::<Vec<_>>());
        return;
    };
    let badge = Badge::ALL.into_iter().find(|badge| badge.word() == word).expect(word);
    assert!(badges.has(badge), "{}: {badges:?} has no {word}", case.id);
}

fn run(cases: &[Case]) {
    let of_class = classed(cases);
    // Runs all cases before it fails, to report every failure.
    let failed: Vec<&str> = cases
        .iter()
        .zip(of_class)
        .filter(|(case, nth)| !passes(*nth, case))
        .map(|(case, _)| case.id.as_str())
        .collect();
    println!("{} cases", cases.len());
    assert!(failed.is_empty(), "{failed:?}");
}

fn classed(cases: &[Case]) -> Vec<usize> {
    let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
    let next = |case| {
        let Case { cls, field, .. }: &Case = case;
        let count = counts.entry((cls, field)).or_default();
        *count += 1;
        *count - 1
    };
    cases.iter().map(next).collect()
}

/// Returns whether the short form draws a case in every place: each 16th of its class. It draws the others in the
/// list and in each tab.
const fn goes_everywhere(nth: usize) -> bool {
    nth.is_multiple_of(16)
}

/// Returns the size at which the short form draws a case. Each 12th of its class uses the largest, which takes as long as
/// eight others.
const fn turn(nth: usize) -> (u16, u16) {
    match nth {
        _ if nth.is_multiple_of(12) => SIZES[2],
        _ => SIZES[nth % 2],
    }
}

fn passes(nth: usize, case: &Case) -> bool {
    std::panic::catch_unwind(|| {
        flagged(case);
        places::seen(case);
        let short = [turn(nth)];
        for at in if is_long() { &SIZES[..] } else { &short } {
            if is_long() || goes_everywhere(nth) {
                places::everywhere(case, *at);
            } else {
                places::listed(case, *at);
            }
        }
    })
    .is_ok()
}

#[test]
fn g1_hostile_text_neither_drives_the_terminal_nor_hides() {
    let cases = own();
    assert!(cases.len() >= 160, "{}", cases.len());
    run(&cases);
}

#[test]
fn g1_foreign_corpus_neither_drives_the_terminal_nor_hides() {
    run(&others());
}

#[test]
fn every_class_is_in_the_corpus() {
    let cases = own();
    for class in [
        "escape",
        "c0",
        "bidi",
        "invisible",
        "combining",
        "width",
        "size",
        "homoglyph",
        "markdown",
        "injection",
    ] {
        assert!(cases.iter().any(|case| case.cls == class), "{class}");
    }
}
