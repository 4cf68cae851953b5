//! The inverse of the display, for tests and fuzzers: a reversible display never shows two different texts alike.

use super::identifier::identifier_part;
use super::{NARROWEST, Shown, badges, lines, part, row, styled};

/// Reads a display back. Written from the specification, independently of the code.
pub(super) fn undone(shown: &str) -> String {
    let mut text = String::new();
    let mut rest = shown;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '⟦' => {
                let (token, after) = rest.split_once('⟧').expect("a token ends");
                text.push_str(&meant(token));
                rest = after;
            }
            '⇥' => text.push('\t'),
            '⍽' => text.push('\u{a0}'),
            '⎵' => text.push('\u{202f}'),
            '⁞' => text.push('\u{200b}'),
            '␣' => {
                rest = rest.strip_prefix('␣').expect("two cells for a wide blank");
                text.push('\u{3000}');
            }
            c => text.push(c),
        }
    }
    text
}

fn meant(token: &str) -> String {
    const C0: &str = "NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB \
                      ESC FS GS RS US";
    if token.starts_with("= ") {
        return String::new();
    }
    if let Some(n) = token.strip_suffix(" spaces") {
        return " ".repeat(n.parse().unwrap());
    }
    if let Some((n, name)) = token.split_once(" × ") {
        return meant(name).repeat(n.parse().unwrap());
    }
    let name = token.rsplit(' ').next().unwrap();
    let code = match name.strip_prefix("U+") {
        Some(hex) => u32::from_str_radix(hex, 16).unwrap(),
        None if name == "DEL" => 0x7f,
        None => C0.split(' ').position(|it| it == name).expect(name) as u32,
    };
    let c = char::from_u32(code).unwrap();
    if let Some((itself, _)) = token.split_once(' ') {
        assert_eq!(itself, c.to_string(), "an identifier names its own characters");
    }
    c.to_string()
}

/// Whether no character is left that a terminal obeys or hides, independent of the tables.
fn is_harmless(shown: &str) -> bool {
    !shown.chars().any(|c| {
        c.is_control() || matches!(c, '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
            || matches!(c, '\u{feff}' | '\u{e000}'..='\u{f8ff}' | '\u{e0100}'..='\u{10ffff}')
    })
}

pub(super) fn check(text: &str) {
    for shown in [part(text).plain(), identifier_part(text).plain()] {
        assert_eq!(undone(&shown), text, "{}", shown.escape_unicode());
        assert!(is_harmless(&shown), "{}", text.escape_unicode());
    }
}

/// Checks any bytes as text: harmless, reversible, and complete in rows of any width.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = badges(&text);
    for line in lines(&text) {
        let all = line.plain();
        for width in [NARROWEST, 40, 80] {
            let rows = line.wrap(width);
            assert!(rows.iter().all(|row| row.width() <= width), "{all:?} at {width}");
            assert_eq!(rows.iter().map(Shown::plain).collect::<String>(), all);
            assert!(line.cut(width).width() <= width, "{all:?} at {width}");
        }
    }
    for line in text.split('\n') {
        check(line);
        let (mut at, mut shown) = (0, String::new());
        while at < line.len() {
            let length = row(line, at..line.len(), 40);
            assert!(length > 0, "a row without end");
            let end = at + length;
            let parts = styled(line, at..end, &[((), at..end)]);
            shown.extend(parts.iter().map(|((), part)| part.plain()));
            at = end;
        }
        assert_eq!(undone(&shown), line);
    }
}
