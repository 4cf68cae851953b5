//! White space in and out of a JSON text; every other byte stays.

use super::{Scanner, Token, TokenKind};

/// The text with two spaces a level and one member or element a line, for reading and editing.
/// Malformed text is returned as it is.
pub fn pretty(text: &str) -> String {
    write(text, &mut Pretty { out: String::with_capacity(text.len() * 5 / 4), fresh: true, after_key: false })
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
        self.out.extend(std::iter::repeat_n("  ", level));
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
    fn scalars_and_broken_text_stay() {
        assert_eq!(pretty(" 1.0 "), "1.0");
        assert_eq!(pretty("{\"a\""), "{\"a\"");
        assert_eq!(compact("[ 1 , 2 ]"), "[1,2]");
    }
}
