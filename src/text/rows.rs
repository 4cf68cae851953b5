//! Where the rows of a long foreign text end, without making them: ten megabytes are counted, one screen of them is made.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::shown::{is_plain, token};

/// The narrowest row: the widest token fits.
pub const NARROWEST: usize = 12;

/// Bytes of the first row of `line`, which holds no line break, at `width` columns. Never 0 for a text that is not empty.
///
/// Rows end where [`super::Shown::wrap`] ends them. The cost depends on the width, not on how long the line is.
pub fn row(line: &str, width: usize) -> usize {
    let width = width.max(NARROWEST);
    if let Some(end) = ascii_row(line.as_bytes(), width) {
        return end;
    }
    let (mut at, mut used, mut space) = (0, 0, None);
    for unit in units(line) {
        if at > 0 && used + unit.columns > width {
            return match space {
                Some((end, before)) if !unit.token && end < at && used - before <= width / 2 => end,
                _ => at,
            };
        }
        at += unit.bytes;
        used += unit.columns;
        match (unit.token, unit.space) {
            (true, _) => space = None,
            (false, true) => space = Some((at, used)),
            (false, false) => {}
        }
    }
    line.len()
}

/// Bytes of `line` that fill the first `columns` columns, or all of it.
pub fn column(line: &str, columns: usize) -> usize {
    let (mut at, mut used) = (0, 0);
    for unit in units(line) {
        if used + unit.columns > columns {
            return at;
        }
        at += unit.bytes;
        used += unit.columns;
    }
    line.len()
}

/// How many characters of the text are shown as tokens. Line breaks and tabs are ordinary in text: they are not counted.
pub fn hidden(text: &str) -> usize {
    if text.bytes().all(|byte| matches!(byte, b'\n' | b'\t' | 0x20..0x7f)) {
        return 0;
    }
    text.split_inclusive('\n')
        .map(super::line_of)
        .flat_map(units)
        .filter(|unit| unit.token && !unit.tab)
        .count()
}

/// The same for printable ASCII, a byte at a time; `None` where anything else is near.
fn ascii_row(bytes: &[u8], width: usize) -> Option<usize> {
    let head = bytes.get(..=width).unwrap_or(bytes);
    if !head.iter().all(|byte| (0x20..0x7f).contains(byte)) {
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

/// What is drawn as one: a grapheme, or a character's token.
struct Unit {
    bytes: usize,
    columns: usize,
    token: bool,
    space: bool,
    tab: bool,
}

fn units(line: &str) -> impl Iterator<Item = Unit> {
    line.graphemes(true).flat_map(|grapheme| {
        let plain = is_plain(grapheme);
        let whole = plain.then(|| Unit {
            bytes: grapheme.len(),
            columns: grapheme.width(),
            token: false,
            space: grapheme == " ",
            tab: false,
        });
        let parts = grapheme.chars().filter(move |_| !plain).map(unit);
        whole.into_iter().chain(parts)
    })
}

fn unit(c: char) -> Unit {
    let token = token(c);
    let columns = token.as_ref().map_or_else(|| c.width().unwrap_or_default(), |token| token.width());
    Unit { bytes: c.len_utf8(), columns, token: token.is_some(), space: c == ' ', tab: c == '\t' }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::Shown;

    fn rows(mut line: &str, width: usize) -> Vec<&str> {
        let mut rows = Vec::new();
        while !line.is_empty() {
            let (row, rest) = line.split_at(row(line, width));
            rows.push(row);
            line = rest;
        }
        rows
    }

    const PARTS: [&str; 16] = [
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
    ];

    proptest! {
        #[test]
        fn rows_end_where_wrapping_ends_them(
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
        fn any_text_fits_and_stays_whole(line in "\\PC{0,80}|[\\x00-\\x09\\x0b-\\xff]{0,80}", width in NARROWEST..40) {
            let rows = rows(&line, width);

            prop_assert!(rows.iter().all(|row| Shown::of_line(row).width() <= width), "{rows:?}");
            prop_assert_eq!(rows.concat(), line);
        }
    }

    #[test]
    fn a_row_costs_its_width_and_not_its_line() {
        let line = "x".repeat(10 << 20);

        assert_eq!(row(&line, 80), 80);
        assert_eq!(column(&line, 7), 7);
        assert_eq!(column("世界", 3), 3);
    }

    #[test]
    fn hidden_characters_are_counted_as_they_are_shown() {
        assert_eq!(hidden("plain\ttext\nand more\r\n"), 0);
        assert_eq!(hidden("Grüße, 世界 👩‍💻"), 0);
        assert_eq!(hidden("a\u{202e}b\u{200b}\u{1b}[0m ⟦"), 4);
        assert_eq!(hidden("one\rtwo"), 1);
    }
}
