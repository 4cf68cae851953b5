//! Foreign text as lines, and words for text that would not be visible.

use std::fmt::Write as _;

use super::class;
use super::shown::Shown;
use crate::domain::Untrusted;

/// Shows text on one line; line breaks become tokens.
pub fn line(text: &Untrusted) -> Shown {
    Shown::of_line(text.as_raw())
}

pub fn first_line(text: &Untrusted) -> Shown {
    lines(text.as_raw()).into_iter().next().unwrap_or_default()
}

/// Escapes every character of JSON text that a terminal would obey, hide or reorder. They occur only in strings, so the
/// value does not change.
pub fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        // Keeps line ends and tabs between values.
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

pub fn blank_lines(n: usize) -> Shown {
    Shown::token(&format!("{n} blank lines"))
}

/// Names an empty text and one of spaces only, because neither would be visible.
pub fn blank(text: &str) -> Option<Shown> {
    match text.len() {
        0 => Some(Shown::token("empty")),
        n if text.bytes().all(|byte| byte == b' ') => Some(Shown::token(&count(n, "space"))),
        _ => None,
    }
}

/// Shows text on several lines, ended by LF or CRLF. Everything else that is not plain becomes a token.
pub fn lines(text: &str) -> Vec<Shown> {
    let last = (text.is_empty() || text.ends_with('\n')).then_some("");
    text.split_inclusive('\n').chain(last).map(|line| part(line_of(line))).collect()
}

pub fn part(text: &str) -> Shown {
    Shown::of_line(text)
}

pub fn line_of(text: &str) -> &str {
    text.strip_suffix('\n').map_or(text, |line| line.strip_suffix('\r').unwrap_or(line))
}
