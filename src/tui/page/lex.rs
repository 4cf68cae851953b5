//! What stands where in a row of JSON, so that keys, strings, numbers and words look different. It only paints: what is read,
//! edited and sent is judged elsewhere.

use std::ops::Range;

use super::Kind;

/// Further than this no string is searched for its end: it is a value.
const KEY_MAX: usize = 1 << 16;

/// What a row begins in the middle of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Lex {
    #[default]
    Between,
    Text {
        key: bool,
        escaped: bool,
    },
    Scalar {
        number: bool,
    },
}

/// Tells the parts of `text` within `range`, and what the text after it begins in the middle of.
pub(super) fn lex(
    mut state: Lex,
    text: &str,
    range: Range<usize>,
    told: &mut impl FnMut(Kind, Range<usize>),
) -> Lex {
    let bytes = text.as_bytes();
    let (mut at, end) = (range.start, range.end.min(bytes.len()));
    while at < end {
        let from = at;
        let rest = bytes.get(at..end).unwrap_or_default();
        let first = rest.first().copied().unwrap_or_default();
        match state {
            Lex::Between if first == b'"' => {
                let key = is_key(bytes, at);
                (state, at) = string(bytes, at + 1..end, key, false);
                told(if key { Kind::Key } else { Kind::Text }, from..at);
            }
            Lex::Between if is_word(first) => {
                state = Lex::Scalar { number: first == b'-' || first.is_ascii_digit() };
            }
            Lex::Between => {
                let length = rest.iter().position(|byte| *byte == b'"' || is_word(*byte));
                at += length.unwrap_or(rest.len());
                told(Kind::Punct, from..at);
            }
            Lex::Text { key, escaped } => {
                (state, at) = string(bytes, at..end, key, escaped);
                told(if key { Kind::Key } else { Kind::Text }, from..at);
            }
            Lex::Scalar { number } => {
                let length = rest.iter().position(|byte| !is_word(*byte));
                at += length.unwrap_or(rest.len());
                if length.is_some() {
                    state = Lex::Between;
                }
                if at > from {
                    told(if number { Kind::Number } else { Kind::Literal }, from..at);
                }
            }
        }
    }
    state
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// Goes on in a string, to behind its last quote or to the end of the range.
fn string(bytes: &[u8], range: Range<usize>, key: bool, mut escaped: bool) -> (Lex, usize) {
    for (nth, byte) in bytes.get(range.clone()).unwrap_or_default().iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return (Lex::Between, range.start + nth + 1),
            _ => {}
        }
    }
    (Lex::Text { key, escaped }, range.end)
}

/// A colon follows the string that begins here.
fn is_key(bytes: &[u8], at: usize) -> bool {
    let end = bytes.len().min(at.saturating_add(KEY_MAX));
    match string(bytes, at + 1..end, false, false) {
        (Lex::Between, end) => bytes.get(end) == Some(&b':'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, cut: usize) -> Vec<(Kind, &str)> {
        let mut parts: Vec<(Kind, &str)> = Vec::new();
        let mut tell = |kind, range: Range<usize>| parts.push((kind, &text[range]));
        let state = lex(Lex::default(), text, 0..cut, &mut tell);
        lex(state, text, cut..text.len(), &mut tell);
        parts
    }

    #[test]
    fn keys_strings_numbers_and_words_are_told_apart() {
        let want =
            [(Kind::Key, r#""a\"b""#), (Kind::Punct, ": "), (Kind::Text, r#""c: \\""#), (Kind::Punct, ",")];
        assert_eq!(told(r#""a\"b": "c: \\","#, 0), want);
        let want = [(Kind::Punct, "  "), (Kind::Number, "-1.10e+4"), (Kind::Punct, ",")];
        assert_eq!(told("  -1.10e+4,", 0), want);
        assert_eq!(told("null", 0), [(Kind::Literal, "null")]);
    }

    #[test]
    fn a_row_may_begin_anywhere() {
        let text = r#"{"k\"e": "v\\", "n": 12}"#;
        let whole: String = told(text, 0).iter().map(|(_, part)| *part).collect();
        for cut in 0..text.len() {
            let parts = told(text, cut);
            assert_eq!(parts.iter().map(|(_, part)| *part).collect::<String>(), whole, "{cut}");
            for (kind, part) in parts {
                let number = part.bytes().all(|byte| byte.is_ascii_digit());
                assert_eq!(kind == Kind::Number, number && !part.is_empty(), "{cut}: {part:?}");
            }
        }
    }
}
