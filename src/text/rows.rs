//! Finds the row ends of long foreign texts without building the rows.

use std::ops::Range;

use crate::domain::json::only;

use super::shown::{Shown, printable};
use super::units::{Face, Mode, Unit, units};

/// Minimum row width; the widest token fits.
pub const NARROWEST: usize = 20;

/// Returns the bytes of the first row of a part of `text` without line breaks; not 0 unless the part is empty.
///
/// Rows end where [`super::Shown::wrap`] ends them. The cost depends on the width, not on the length of the line.
pub fn row(text: &str, line: Range<usize>, width: usize) -> usize {
    let width = width.max(NARROWEST);
    let bytes = text.as_bytes().get(line.clone()).unwrap_or_default();
    if let Some(end) = ascii_row(bytes, width) {
        return end;
    }
    let (mut at, mut used, mut space) = (0, 0, None);
    for unit in units(text, line.clone(), Mode::Text) {
        if at > 0 && used + unit.columns > width {
            return match space {
                Some((end, before)) if unit.is_plain() && end < at && used - before <= width / 2 => end,
                _ => at,
            };
        }
        at += unit.bytes;
        used += unit.columns;
        match (unit.is_plain(), is_space(text, &unit)) {
            (false, _) => space = None,
            (true, true) => space = Some((at, used)),
            (true, false) => {}
        }
    }
    line.len()
}

pub fn column(text: &str, line: Range<usize>, columns: usize) -> usize {
    let (mut at, mut used) = (0, 0);
    for unit in units(text, line.clone(), Mode::Text) {
        if used + unit.columns > columns {
            return at;
        }
        at += unit.bytes;
        used += unit.columns;
    }
    line.len()
}

/// Shows a part of one line with a style for each byte; `kinds` are consecutive ranges. A unit has the style at its
/// start, so graphemes and tokens stay whole.
pub fn styled<K: Copy>(text: &str, line: Range<usize>, kinds: &[(K, Range<usize>)]) -> Vec<(K, Shown)> {
    let mut parts: Vec<(usize, K, Shown)> = Vec::new();
    let mut nth = 0;
    for unit in units(text, line, Mode::Text) {
        while kinds.get(nth + 1).is_some_and(|(_, next)| next.start <= unit.at) {
            nth += 1;
        }
        let Some((kind, _)) = kinds.get(nth) else { break };
        if parts.last().is_none_or(|(last, ..)| *last != nth) {
            parts.push((nth, *kind, Shown::foreign()));
        }
        if let Some((.., shown)) = parts.last_mut() {
            shown.push_unit(text, &unit);
        }
    }
    parts.into_iter().map(|(_, kind, shown)| (kind, shown)).collect()
}

/// Counts the characters that would not be visible. Line breaks, tabs, blanks with a sign of their own and placet's
/// brackets do not count.
pub fn hidden(text: &str) -> usize {
    if only(text.as_bytes(), |byte| matches!(byte, b'\n' | b'\t' | 0x20..0x7f)) {
        return 0;
    }
    let lines = text.split_inclusive('\n').map(super::lines::line_of);
    let units = lines.flat_map(|line| units(line, 0..line.len(), Mode::Text));
    let hidden = units.map(|unit| match unit.face {
        Face::Token(c) if !super::class::is_ours(c) => 1,
        Face::Repeat(c, n) if c != '\t' && !super::class::is_ours(c) => n,
        _ => 0,
    });
    hidden.sum()
}

fn is_space(text: &str, unit: &Unit) -> bool {
    unit.bytes == 1 && text.as_bytes().get(unit.at) == Some(&b' ')
}

/// Same as [`row`] for printable ASCII, byte by byte; `None` if anything else is near.
fn ascii_row(bytes: &[u8], width: usize) -> Option<usize> {
    let head = bytes.get(..=width).unwrap_or(bytes);
    if printable(head) < head.len() || head.ends_with(b"  ") {
        return None;
    }
    if head.len() <= width {
        return Some(head.len());
    }
    let full = head.get(..width)?;
    match full.iter().rposition(|byte| *byte == b' ') {
        Some(at) if at + 1 < width && width - at - 1 <= width / 2 => Some(at + 1),
        _ => Some(width),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rounds;
    use crate::text::Shown;

    fn rows(mut line: &str, width: usize) -> Vec<&str> {
        let mut rows = Vec::new();
        while !line.is_empty() {
            let (row, rest) = line.split_at(row(line, 0..line.len(), width));
            rows.push(row);
            line = rest;
        }
        rows
    }

    const PARTS: [&str; 18] = [
        "a",
        "be",
        "see ",
        " ",
        "  ",
        "世",
        "👩‍💻",
        "é",
        "e\u{301}",
        "\u{202e}",
        "\t",
        "\u{1b}",
        "\u{200b}",
        "longer-than-most-words",
        "Ж",
        "⟦",
        "                    ",
        "क्‍ष",
    ];

    proptest! {
        #![proptest_config(rounds::config(128, 5_000))]

        #[test]
        fn rows_end_like_wrapped_rows(
            parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..60),
            width in NARROWEST..50,
        ) {
            let line = parts.concat();
            let rows = rows(&line, width);

            let wrapped: Vec<String> = Shown::of_line(&line).wrap(width).iter().map(Shown::plain).collect();
            let wrapped: Vec<String> = wrapped.into_iter().filter(|row| !row.is_empty()).collect();
            let own: Vec<String> = rows.iter().map(|row| Shown::of_line(row).plain()).collect();
            prop_assert_eq!(own, wrapped);
            prop_assert_eq!(rows.concat(), line);
        }

        #[test]
        fn rows_fit_and_lose_no_text(line in "\\PC{0,80}|[\\x00-\\x09\\x0b-\\xff]{0,80}", width in NARROWEST..40) {
            let rows = rows(&line, width);

            prop_assert!(rows.iter().all(|row| Shown::of_line(row).width() <= width), "{rows:?}");
            prop_assert_eq!(rows.concat(), line);
        }
    }

    #[test]
    fn a_row_costs_its_width_and_not_its_line() {
        let line = "x".repeat(10 << 20);

        assert_eq!(row(&line, 0..line.len(), 80), 80);
        assert_eq!(column(&line, 0..line.len(), 7), 7);
        assert_eq!(column("世界", 0..6, 3), 3);
    }

    #[test]
    fn hidden_characters_are_counted() {
        assert_eq!(hidden("plain\ttext\nand more\r\n"), 0);
        assert_eq!(hidden("Grüße, 世界 👩‍💻"), 0);
        assert_eq!(hidden("a\u{202e}b\u{200b}\u{1b}[0m ⟦"), 3);
        assert_eq!(hidden("one\rtwo"), 1);
    }
}
