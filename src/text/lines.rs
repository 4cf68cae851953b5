//! Foreign text as lines, and the words that stand for what could not be seen.

use std::fmt::Write as _;

use super::class;
use super::shown::Shown;
use crate::domain::Untrusted;

/// Text for one line: line breaks become tokens.
pub fn line(text: &Untrusted) -> Shown {
    Shown::of_line(text.as_raw())
}

/// The first line of a text, for a place that has one.
pub fn first_line(text: &Untrusted) -> Shown {
    lines(text.as_raw()).into_iter().next().unwrap_or_default()
}

/// JSON text in which every character that a terminal would obey, hide or reorder is an escape. Such characters stand in strings
/// only, so the value stays the same.
pub fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        // Line ends and tabs between values stay.
        let plain = rest.bytes().take_while(|byte| matches!(byte, b'\n' | b'\t' | 0x20..0x7f)).count();
        let (ascii, odd) = rest.split_at_checked(plain).unwrap_or((rest, ""));
        out.push_str(ascii);
        let Some(c) = odd.chars().next() else { return out };
        rest = odd.get(c.len_utf8()..).unwrap_or_default();
        if !class::is_unseen(c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            write!(out, "\\u{unit:04x}").ok(); // writing to a String cannot fail
        }
    }
}

/// `1 action`, `2 actions`.
pub fn count(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// What stands for so many empty lines.
pub fn blank_lines(n: usize) -> Shown {
    Shown::token(&format!("{n} blank lines"))
}

/// Nothing, and spaces alone, are told in words: there would be nothing to see.
pub fn blank(text: &str) -> Option<Shown> {
    match text.len() {
        0 => Some(Shown::token("empty")),
        n if text.bytes().all(|byte| byte == b' ') => Some(Shown::token(&count(n, "space"))),
        _ => None,
    }
}

/// Text for several lines: LF and CRLF end a line, everything else that is no plain character becomes a token.
pub fn lines(text: &str) -> Vec<Shown> {
    let last = (text.is_empty() || text.ends_with('\n')).then_some("");
    text.split_inclusive('\n').chain(last).map(|line| part(line_of(line))).collect()
}

/// A part of one line.
pub fn part(text: &str) -> Shown {
    Shown::of_line(text)
}

/// A line without what ends it.
pub fn line_of(text: &str) -> &str {
    text.strip_suffix('\n').map_or(text, |line| line.strip_suffix('\r').unwrap_or(line))
}
