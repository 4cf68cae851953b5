//! Changes white space in JSON, and no other byte.

use std::borrow::Cow;

use super::scan::{Scanner, Token, TokenKind};

/// Maximum levels of indentation. Otherwise a small text could become gigabytes of spaces: ten megabytes of `1,` at 500
/// levels.
const INDENTED: usize = 16;
/// The limit for a text of more than a megabyte.
const INDENTED_LONG: usize = 4;

/// Indents by two spaces per level, one member or element per line. The result is at most 35 times as long, and 11
/// times from a megabyte on. Malformed text is returned unchanged.
pub fn pretty(text: &str) -> String {
    let deepest = if text.len() > 1 << 20 { INDENTED_LONG } else { INDENTED };
    let out = String::with_capacity(text.len() * 5 / 4);
    write(text, &mut Pretty { out, fresh: true, after_key: false, deepest })
        .unwrap_or_else(|| text.to_owned())
}

/// Removes white space between tokens. Malformed text is returned unchanged.
pub fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut scanner = Scanner::new(text);
    let mut first = true;
    loop {
        match scanner.next_token() {
            Err(_) => return text.to_owned(),
            Ok(None) => return out,
            Ok(Some(token)) => {
                let closes = matches!(token.kind, TokenKind::ObjectEnd | TokenKind::ArrayEnd);
                if !first && !closes {
                    out.push(',');
                }
                out.push_str(token.text);
                if token.kind == TokenKind::Key {
                    out.push(':');
                }
                first = matches!(token.kind, TokenKind::ObjectStart | TokenKind::ArrayStart | TokenKind::Key);
            }
        }
    }
}

/// Writes out escapes for readers: `\u00e9` as `é`, `\/` as `/`. Quotes, backslashes, controls and unpaired surrogates
/// stay escaped, so the value is the same. For display only.
pub fn legible(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        let (meaning, length) = written_out(escape);
        out.push_str(before);
        match meaning {
            Some(c) => out.push(c),
            None => out.push_str(escape.get(..length).unwrap_or(escape)),
        }
        rest = escape.get(length..).unwrap_or_default();
    }
    if out.is_empty() && rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns the character of the escape at the start, if it may be written out, and the escape's length.
fn written_out(escape: &str) -> (Option<char>, usize) {
    let Some(kind) = escape.chars().nth(1) else { return (None, escape.len()) };
    if kind == '/' {
        return (Some('/'), 2);
    }
    if kind != 'u' {
        return (None, 1 + kind.len_utf8());
    }
    let unit = |at: usize| {
        let digits = escape.get(at..at + 6)?.strip_prefix("\\u")?;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
    };
    let Some(first) = unit(0) else { return (None, 2) };
    let units = std::iter::once(first).chain(unit(6));
    let c = char::decode_utf16(units).next().and_then(Result::ok);
    let plain = c.filter(|c| !c.is_control() && !matches!(c, '"' | '\\'));
    (plain, 6 * c.map_or(1, char::len_utf16))
}

struct Pretty {
    out: String,
    /// Whether the open object or array is still empty.
    fresh: bool,
    after_key: bool,
    deepest: usize,
}

fn write(text: &str, pretty: &mut Pretty) -> Option<String> {
    let mut scanner = Scanner::new(text);
    while let Some(token) = scanner.next_token().ok()? {
        let depth = scanner.depth();
        pretty.token(token, depth);
    }
    Some(std::mem::take(&mut pretty.out))
}

impl Pretty {
    fn token(&mut self, token: Token<'_>, depth: usize) {
        let (starts, closes) = match token.kind {
            TokenKind::ObjectStart | TokenKind::ArrayStart => (true, false),
            TokenKind::ObjectEnd | TokenKind::ArrayEnd => (false, true),
            TokenKind::Key | TokenKind::String | TokenKind::Scalar => (false, false),
        };
        let level = if starts { depth.saturating_sub(1) } else { depth };
        match (closes, self.fresh) {
            (true, true) => {}
            (true, false) => self.line(level),
            (false, _) if self.after_key || (level == 0 && self.out.is_empty()) => {}
            (false, fresh) => {
                if !fresh {
                    self.out.push(',');
                }
                self.line(level);
            }
        }
        self.out.push_str(token.text);
        if token.kind == TokenKind::Key {
            self.out.push_str(": ");
        }
        self.after_key = token.kind == TokenKind::Key;
        self.fresh = starts;
    }

    fn line(&mut self, level: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("  ", level.min(self.deepest)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pretty_changes_only_white_space() {
        let text = r#"{"a":1.10,"b":[],"c":[1,{"d":"x y"}],"e":{},"a":2}"#;

        let pretty = pretty(text);

        let want = "{\n  \"a\": 1.10,\n  \"b\": [],\n  \"c\": [\n    1,\n    {\n      \"d\": \"x y\"\n    }\n  ],\n  \"e\": {},\n  \"a\": 2\n}";
        assert_eq!(pretty, want);
        assert_eq!(compact(&pretty), text);
    }

    #[test]
    fn deep_nesting_has_bounded_indentation() {
        let deep = format!("{}{}1{}", "[".repeat(500), "1,".repeat(100_000), "]".repeat(500));

        assert!(pretty(&deep).len() <= 35 * deep.len());
        assert_eq!(compact(&pretty(&deep)), deep);
        let long = format!("{}{}1{}", "[".repeat(500), "1,".repeat(600_000), "]".repeat(500));
        assert!(pretty(&long).len() <= 11 * long.len());
    }

    #[test]
    fn written_out_escapes_keep_their_meaning() {
        for (written, want) in [
            (r#"["Caf\u00e9","\u65e5\u672c","\ud83d\ude00"]"#, "[\"Café\",\"日本\",\"😀\"]"),
            (r#"{"u":"https:\/\/a.example\/\u003cb\u003e"}"#, r#"{"u":"https://a.example/<b>"}"#),
            (
                r#"["\u0022","\u005c","\u0000","\u009f","\n","\"","\\u00e9"]"#,
                r#"["\u0022","\u005c","\u0000","\u009f","\n","\"","\\u00e9"]"#,
            ),
            (r#"["\ud83d","\ude00\ud83d","\ud83d\u0041"]"#, r#"["\ud83d","\ude00\ud83d","\ud83dA"]"#),
            (r#"["\u202e"]"#, "[\"\u{202e}\"]"),
            ("[1.10,{}]", "[1.10,{}]"),
            (r"\u00", r"\u00"),
            ("\\", "\\"),
        ] {
            assert_eq!(legible(written), want, "{written}");
        }
    }

    #[test]
    fn scalars_and_broken_text_are_unchanged() {
        assert_eq!(pretty(" 1.0 "), "1.0");
        assert_eq!(pretty("{\"a\""), "{\"a\"");
        assert_eq!(compact("[ 1 , 2 ]"), "[1,2]");
    }
}
