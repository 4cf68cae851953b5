//! Programs: comments in one hue, strings and numbers in the other. Code that runs must never look like a comment, so
//! the rest of a text is plain as soon as it could be read in two ways, such as after a string that does not end on
//! its line.

use super::parts::{Hue, Part, Place, line, run, string};

pub(super) struct Syntax {
    /// `# ...` at the beginning of a word.
    hash: bool,
    /// The byte that is doubled to begin a comment: `-- ...` or `// ...`.
    comment: Option<u8>,
    block: bool,
    /// Quotes whose strings may contain `\` escapes.
    escapes: &'static [u8],
    /// Returns true if the text from here on is too ambiguous to highlight.
    lost: fn(&[u8]) -> bool,
    /// Returns true if this string is not plain, given the byte before it: it has a prefix letter or a substitution.
    more: fn(u8, &[u8]) -> bool,
}

/// Dialects differ in `#`, in `\`, and in how names are quoted.
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

/// Highlighting stops at constructs with their own quoting rules: here-documents, arithmetic, patterns, substitutions.
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

/// Regular expressions, templates, raw strings, lifetimes and angle brackets are not followed.
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
        // Some databases execute these comments.
        [b'/', b'*', b'!' | b'+' | b'M', ..] if of.block => lost(),
        [b'/', b'*', after @ ..] if of.block => {
            let (hue, length, place) = comment(after);
            if place == Place::Lost { lost() } else { (hue, length + 2, place) }
        }
        [b'#', ..] if of.hash && before.is_ascii_whitespace() => (Hue::Name, line(rest), Place::InLine),
        [one, two, after @ ..] if Some(*one) == of.comment && one == two => match after {
            // `--x` may be arithmetic, and `://` part of a URL.
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
        // The statement continues on the next line.
        [b'\\', b'\n' | b'\r', ..] | [b'\\'] => lost(),
        // An escaped quote does not begin a string.
        [b'\\', _, ..] => (Hue::Plain, 2, Place::InLine),
        [first, ..] if first.is_ascii_digit() => {
            (Hue::Value, run(rest, |byte| is_word(byte) || byte == b'.'), Place::InLine)
        }
        [first, ..] if is_word(*first) => (Hue::Plain, run(rest, is_word), Place::InLine),
        _ => (Hue::Plain, 1, Place::InLine),
    }
}

/// Reads a block comment up to its end or the end of the line. A nested one is ambiguous: it depends on the language.
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
