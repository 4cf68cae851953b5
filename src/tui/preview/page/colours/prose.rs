//! Markdown and YAML, highlighted by the start of each line.

use super::parts::{Hue, Part, Place, line, run};

const KEY: usize = 128;

/// Highlights headings, list and quote markers, and code.
pub(super) fn markdown(place: Place, rest: &[u8]) -> Part {
    let indent = run(rest, |byte| byte == b' ');
    let body = rest.get(indent..).unwrap_or_default();
    let whole = |hue, place| (hue, line(rest), place);
    match (place, body) {
        (Place::Fence(mark, many), _) => {
            let marks = run(body, |byte| byte == mark);
            let ends = marks >= usize::from(many) && is_blank(body.get(marks..).unwrap_or_default());
            whole(Hue::Value, if ends { Place::InLine } else { place })
        }
        (Place::Line, [mark @ (b'`' | b'~'), ..]) => match fence(*mark, body) {
            Some(many) => whole(Hue::Value, Place::Fence(*mark, many)),
            None => in_line(rest),
        },
        (Place::Line, [b'#', ..]) => {
            let marks = run(body, |byte| byte == b'#');
            let is_heading = marks <= 6 && matches!(body.get(marks), None | Some(b' ' | b'\n'));
            if is_heading { whole(Hue::Name, Place::InLine) } else { in_line(rest) }
        }
        (Place::Line, [b'>', ..]) => (Hue::Name, indent + 1, Place::InLine),
        // A list item may begin with a heading or a code block.
        (Place::Line, [b'-' | b'*' | b'+', b' ', ..]) => (Hue::Name, indent + 1, Place::Line),
        (Place::Line, [b'0'..=b'9', ..]) => {
            let digits = run(body, |byte| byte.is_ascii_digit());
            match body.get(digits..) {
                Some([b'.' | b')', b' ', ..]) if digits <= 9 => (Hue::Name, indent + digits + 1, Place::Line),
                _ => in_line(rest),
            }
        }
        _ => in_line(rest),
    }
}

fn fence(mark: u8, body: &[u8]) -> Option<u8> {
    let marks = run(body, |byte| byte == mark);
    let info = body.get(marks..line(body)).unwrap_or_default();
    let is_code_in_line = mark == b'`' && info.contains(&b'`');
    u8::try_from(marks).ok().filter(|marks| *marks >= 3 && !is_code_in_line)
}

/// Highlights code between equal numbers of backticks.
fn in_line(rest: &[u8]) -> Part {
    let marks = run(rest, |byte| byte == b'`');
    if marks == 0 {
        return (Hue::Plain, run(rest, |byte| !matches!(byte, b'`' | b'\n')), Place::InLine);
    }
    let mut at = marks;
    loop {
        let left = rest.get(at..).unwrap_or_default();
        at += run(left, |byte| !matches!(byte, b'`' | b'\n'));
        let left = rest.get(at..).unwrap_or_default();
        match run(left, |byte| byte == b'`') {
            // No closing backticks: the rest of the line is plain.
            0 => return (Hue::Plain, at, Place::InLine),
            same if same == marks => return (Hue::Value, at + same, Place::InLine),
            other => at += other,
        }
    }
}

fn is_blank(rest: &[u8]) -> bool {
    rest.get(..line(rest)).unwrap_or_default().trim_ascii().is_empty()
}

/// Highlights keys, numbers, and words such as `true`.
pub(super) fn yaml(place: Place, rest: &[u8]) -> Part {
    if place == Place::Line {
        let mut before = 0;
        loop {
            let left = rest.get(before..).unwrap_or_default();
            match left {
                [b' ', ..] => before += run(left, |byte| byte == b' '),
                [b'-', b' ', ..] => before += 2,
                _ => break,
            }
        }
        let left = rest.get(before..).unwrap_or_default();
        return match key(left) {
            Some(length) => (Hue::Name, before + length, Place::InLine),
            None if before > 0 => (Hue::Plain, before, Place::InLine),
            None => value(left),
        };
    }
    match run(rest, |byte| matches!(byte, b' ' | b':')) {
        0 => value(rest),
        between => (Hue::Plain, between, Place::InLine),
    }
}

/// Returns the length of the key at the start of a line, without its colon.
fn key(rest: &[u8]) -> Option<usize> {
    let near = rest.get(..rest.len().min(KEY)).unwrap_or_default();
    let length = run(near, |byte| !matches!(byte, b':' | b'\n' | b'#' | b'"' | b'\'' | b'{' | b'['));
    let colon = near.get(length) == Some(&b':');
    (length > 0 && colon && matches!(rest.get(length + 1), None | Some(b' ' | b'\n' | b'\r')))
        .then_some(length)
}

fn value(rest: &[u8]) -> Part {
    let all = line(rest);
    let word = rest.get(..all).unwrap_or_default().trim_ascii();
    let number = word.first().is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.'))
        && word.iter().any(u8::is_ascii_digit)
        && word.iter().all(|byte| byte.is_ascii_digit() || b"+-.:eE_".contains(byte));
    let literal = matches!(word, b"true" | b"false" | b"null" | b"~");
    (if number || literal { Hue::Value } else { Hue::Plain }, all, Place::InLine)
}
