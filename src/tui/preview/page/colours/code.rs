//! Programs: comments in one hue, strings and numbers in the other. What runs must not look like a comment: wherever a text might
//! be read in another way as well, such as a string that does not end on its line, the rest of it is plain.

use super::parts::{Hue, Part, Place, line, run, string};

/// What there is in a language.
pub(super) struct Syntax {
    /// `# …` at the beginning of a word.
    hash: bool,
    /// `-- …` or `// …`
    comment: Option<u8>,
    /// `/* … */`
    block: bool,
    /// Strings in these quotes may hold `\`, which escapes.
    escapes: &'static [u8],
    /// What begins here is not followed.
    lost: fn(&[u8]) -> bool,
    /// Something that looks like a string, behind such a byte, is more than that.
    more: fn(u8, &[u8]) -> bool,
}

/// Dialects differ in `#`, in `\`, and in what quotes a name.
pub(super) const SQL: Syntax = Syntax {
    hash: false,
    comment: Some(b'-'),
    block: true,
    escapes: b"",
    lost: |rest| match rest {
        [b'#' | b'\\' | b'`', ..] | [b'\'', b'\'', b'\'', ..] | [b'"', b'"', b'"', ..] => true,
        [b'$' | b'[', next, ..] => !next.is_ascii_digit(),
        _ => false,
    },
    more: |before, _| is_word(before),
};

/// Whatever holds words of its own is not followed: documents, sums, patterns, substitutions.
pub(super) const SHELL: Syntax = Syntax {
    hash: true,
    comment: None,
    block: false,
    escapes: b"\"",
    lost: |rest| match rest {
        [b'<', b'<', ..]
        | [b'$', b'\'' | b'"', ..]
        | [b'`', ..]
        | [b'=', b'~', ..]
        | [b'(' | b'?' | b'*' | b'+' | b'@' | b'!', b'(', ..] => true,
        [b'$', b'{', name @ ..] => name.get(run(name, is_word)) != Some(&b'}'),
        _ => false,
    },
    more: |_, whole| {
        whole.contains(&b'`') || whole.windows(2).any(|pair| matches!(pair, [b'$', b'(' | b'{' | b'[']))
    },
};

pub(super) const PYTHON: Syntax = Syntax {
    hash: true,
    comment: None,
    block: false,
    escapes: b"'\"",
    lost: |rest| matches!(rest, [b'"', b'"', b'"', ..] | [b'\'', b'\'', b'\'', ..]),
    more: |before, whole| is_word(before) && whole.contains(&b'{'),
};

/// Regular expressions, templates, raw strings, lifetimes and what stands in angle brackets are not followed.
pub(super) const LIKE_C: Syntax = Syntax {
    hash: false,
    comment: Some(b'/'),
    block: true,
    escapes: b"'\"",
    lost: |rest| match rest {
        [b'`' | b'/', ..] => true,
        [b'<', next, ..] => next.is_ascii_alphabetic() || *next == b'>',
        _ => false,
    },
    more: |before, whole| {
        let is_one = matches!(whole, [b'\'', b'\\', _, b'\''] | [b'\'', _, b'\'']);
        is_word(before) || before == b'#' || (whole.starts_with(b"'") && !is_one)
    },
};

pub(super) fn part(of: &Syntax, place: Place, bytes: &[u8], at: usize) -> Part {
    let rest = bytes.get(at..).unwrap_or_default();
    let before = at.checked_sub(1).and_then(|before| bytes.get(before)).copied().unwrap_or(b'\n');
    let lost = || (Hue::Plain, line(rest), Place::Lost);
    match rest {
        _ if place == Place::Lost => lost(),
        _ if place == Place::Comment => comment(rest),
        // Some databases run what is in these.
        [b'/', b'*', b'!' | b'+' | b'M', ..] if of.block => lost(),
        [b'/', b'*', after @ ..] if of.block => {
            let (hue, length, place) = comment(after);
            if place == Place::Lost { lost() } else { (hue, length + 2, place) }
        }
        [b'#', ..] if of.hash && before.is_ascii_whitespace() => (Hue::Name, line(rest), Place::InLine),
        [one, two, after @ ..] if Some(*one) == of.comment && one == two => match after {
            // `--x` may be a sum, and `://` an address.
            [next, ..] if *one == b'-' && !next.is_ascii_whitespace() => lost(),
            _ if before == b':' => lost(),
            _ => (Hue::Name, line(rest), Place::InLine),
        },
        _ if (of.lost)(rest) => lost(),
        [quote @ (b'\'' | b'"'), ..] => {
            let Some(length) = string(rest, *quote) else { return lost() };
            let whole = rest.get(..length).unwrap_or_default();
            let is_escaped = whole.contains(&b'\\') && !of.escapes.contains(quote);
            if is_escaped || (of.more)(before, whole) { lost() } else { (Hue::Value, length, Place::InLine) }
        }
        // The next line goes on in the middle of this one.
        [b'\\', b'\n' | b'\r', ..] | [b'\\'] => lost(),
        // Whatever comes, it is no quote.
        [b'\\', _, ..] => (Hue::Plain, 2, Place::InLine),
        [first, ..] if first.is_ascii_digit() => {
            (Hue::Value, run(rest, |byte| is_word(byte) || byte == b'.'), Place::InLine)
        }
        [first, ..] if is_word(*first) => (Hue::Plain, run(rest, is_word), Place::InLine),
        _ => (Hue::Plain, 1, Place::InLine),
    }
}

/// In a comment of several lines: its end, or the end of the line. Whether they nest depends on the language.
fn comment(rest: &[u8]) -> Part {
    let all = line(rest);
    let mut pairs = rest.get(..all).unwrap_or_default().windows(2).enumerate();
    match pairs.find(|(_, pair)| matches!(pair, [b'*', b'/'] | [b'/', b'*'])) {
        Some((nth, [b'*', ..])) => (Hue::Name, nth + 2, Place::InLine),
        Some(_) => (Hue::Plain, all, Place::Lost),
        None => (Hue::Name, all, Place::Comment),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}
