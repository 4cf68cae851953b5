//! White space in and out of a JSON text; every other byte stays.

use super::{Scanner, Token, TokenKind};

/// So many levels are indented; what is deeper stands below each other. Else a text that is small on the wire would be
/// gigabytes of spaces: ten megabytes of `1,` at 500 levels.
const INDENTED: usize = 16;
/// The same for a text of more than a megabyte.
const INDENTED_LONG: usize = 4;

/// The text with two spaces a level and one member or element a line, for reading and editing. At most 35 times as long as
/// the text, and 11 times from a megabyte on. Malformed text is returned as it is.
pub fn pretty(text: &str) -> String {
    let deepest = if text.len() > 1 << 20 { INDENTED_LONG } else { INDENTED };
    let out = String::with_capacity(text.len() * 5 / 4);
    write(text, &mut Pretty { out, fresh: true, after_key: false, deepest })
        .unwrap_or_else(|| text.to_owned())
}

/// The text without white space between tokens. Malformed text is returned as it is.
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

struct Pretty {
    out: String,
    /// Nothing stands yet in the open object or array.
    fresh: bool,
    after_key: bool,
    /// Levels that are indented.
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
    fn pretty_moves_white_space_only() {
        let text = r#"{"a":1.10,"b":[],"c":[1,{"d":"x y"}],"e":{},"a":2}"#;

        let pretty = pretty(text);

        let want = "{\n  \"a\": 1.10,\n  \"b\": [],\n  \"c\": [\n    1,\n    {\n      \"d\": \"x y\"\n    }\n  ],\n  \"e\": {},\n  \"a\": 2\n}";
        assert_eq!(pretty, want);
        assert_eq!(compact(&pretty), text);
    }

    #[test]
    fn depth_is_no_way_to_gigabytes_of_spaces() {
        let deep = format!("{}{}1{}", "[".repeat(500), "1,".repeat(100_000), "]".repeat(500));

        assert!(pretty(&deep).len() <= 35 * deep.len());
        assert_eq!(compact(&pretty(&deep)), deep);
        let long = format!("{}{}1{}", "[".repeat(500), "1,".repeat(600_000), "]".repeat(500));
        assert!(pretty(&long).len() <= 11 * long.len());
    }

    #[test]
    fn scalars_and_broken_text_stay() {
        assert_eq!(pretty(" 1.0 "), "1.0");
        assert_eq!(pretty("{\"a\""), "{\"a\"");
        assert_eq!(compact("[ 1 , 2 ]"), "[1,2]");
    }
}
