//! Tokens of a JSON text with their positions.

use std::ops::Range;

/// Why a text is not exactly one JSON value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not valid JSON at byte {at}: {what}")]
pub struct JsonError {
    pub at: usize,
    pub what: &'static str,
}

impl JsonError {
    pub const TOO_DEEP: &str = "it is nested more than 512 levels deep";
}

/// Maximum nesting. Deeper text is refused, not cut.
pub const MAX_DEPTH: usize = 512;

/// Words that are read although they are not JSON, because Python's `json.dumps` writes them. Never numbers; shown to
/// the reviewer.
pub const ODD_WORDS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

pub(in crate::domain) const NO_VALUE: &str = "a word that is no value; text needs \"quotes\"";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    ObjectStart,
    ObjectEnd,
    ArrayStart,
    ArrayEnd,
    /// A key with its quotes. The colon after it is checked and omitted.
    Key,
    String,
    /// A number, `true`, `false`, `null`, or one of [`ODD_WORDS`], as written.
    Scalar,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub kind: TokenKind,
    pub text: &'a str,
    pub at: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expect {
    Value,
    FirstKeyOrEnd,
    Key,
    FirstElementOrEnd,
    CommaOrEnd,
    Nothing,
}

/// A pull parser for one JSON value. Not recursive; each level costs one byte.
#[derive(Debug, Clone)]
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// `{` or `[` for each open level.
    open: Vec<u8>,
    expect: Expect,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, open: Vec::new(), expect: Expect::Value }
    }

    /// Continues after a member of the outermost object.
    pub(super) fn in_object(text: &'a str, at: usize) -> Self {
        Self { text, at, open: vec![b'{'], expect: Expect::CommaOrEnd }
    }

    pub fn depth(&self) -> usize {
        self.open.len()
    }

    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// Fails unless the text is exactly one value.
    pub fn check(mut self) -> Result<(), JsonError> {
        while self.next_token()?.is_some() {}
        Ok(())
    }

    /// Returns the next token; `None` at the end of the text after the value.
    pub fn next_token(&mut self) -> Result<Option<Token<'a>>, JsonError> {
        self.skip_space();
        let Some(&byte) = self.text.as_bytes().get(self.at) else {
            return if self.expect == Expect::Nothing {
                Ok(None)
            } else {
                Err(self.error("it ends too early"))
            };
        };
        match self.expect {
            Expect::Nothing => Err(self.error("something follows the value")),
            Expect::CommaOrEnd => self.after_value(byte),
            Expect::FirstKeyOrEnd if byte == b'}' => Ok(Some(self.close(TokenKind::ObjectEnd))),
            Expect::FirstKeyOrEnd | Expect::Key => self.key(byte).map(Some),
            Expect::FirstElementOrEnd if byte == b']' => Ok(Some(self.close(TokenKind::ArrayEnd))),
            Expect::FirstElementOrEnd | Expect::Value => self.value(byte).map(Some),
        }
    }

    pub fn value_span(&mut self) -> Result<Range<usize>, JsonError> {
        let depth = self.depth();
        let first = self.next_token()?.ok_or_else(|| self.error("a value is missing"))?;
        while self.depth() > depth {
            self.next_token()?;
        }
        Ok(first.at..self.at)
    }

    /// Reads the next element of the open array; `None` at its end.
    pub(super) fn element_span(&mut self) -> Result<Option<Range<usize>>, JsonError> {
        let depth = self.depth();
        let Some(first) = self.next_token()? else { return Ok(None) };
        if self.depth() < depth {
            return Ok(None);
        }
        while self.depth() > depth {
            self.next_token()?;
        }
        Ok(Some(first.at..self.at))
    }

    fn after_value(&mut self, byte: u8) -> Result<Option<Token<'a>>, JsonError> {
        match (byte, self.open.last()) {
            (b',', Some(b'{')) => self.expect = Expect::Key,
            (b',', Some(_)) => self.expect = Expect::Value,
            (b'}', Some(b'{')) => return Ok(Some(self.close(TokenKind::ObjectEnd))),
            (b']', Some(b'[')) => return Ok(Some(self.close(TokenKind::ArrayEnd))),
            _ => return Err(self.error("a comma or the end is missing")),
        }
        self.at += 1;
        self.next_token()
    }

    fn key(&mut self, byte: u8) -> Result<Token<'a>, JsonError> {
        if byte != b'"' {
            return Err(self.error("a key is missing"));
        }
        let token = self.string(TokenKind::Key)?;
        self.skip_space();
        if self.text.as_bytes().get(self.at) != Some(&b':') {
            return Err(self.error("a colon is missing"));
        }
        self.at += 1;
        self.expect = Expect::Value;
        Ok(token)
    }

    fn value(&mut self, byte: u8) -> Result<Token<'a>, JsonError> {
        match byte {
            b'{' => self.start(TokenKind::ObjectStart, byte, Expect::FirstKeyOrEnd),
            b'[' => self.start(TokenKind::ArrayStart, byte, Expect::FirstElementOrEnd),
            b'"' => {
                let token = self.string(TokenKind::String)?;
                self.value_done();
                Ok(token)
            }
            _ => self.scalar(),
        }
    }

    fn start(&mut self, kind: TokenKind, byte: u8, expect: Expect) -> Result<Token<'a>, JsonError> {
        if self.open.len() == MAX_DEPTH {
            return Err(self.error(JsonError::TOO_DEEP));
        }
        self.open.push(byte);
        let token = self.token(kind, self.at + 1);
        self.expect = expect;
        Ok(token)
    }

    fn close(&mut self, kind: TokenKind) -> Token<'a> {
        self.open.pop();
        let token = self.token(kind, self.at + 1);
        self.value_done();
        token
    }

    fn string(&mut self, kind: TokenKind) -> Result<Token<'a>, JsonError> {
        let bytes = self.text.as_bytes();
        let wrong = |at, what| Err(JsonError { at, what });
        let mut at = self.at + 1;
        loop {
            at += plain(bytes.get(at..).unwrap_or_default());
            let Some(&byte) = bytes.get(at) else { break };
            match byte {
                b'\\' => match escape_length(bytes.get(at + 1..).unwrap_or_default()) {
                    Some(length) => at += 1 + length,
                    None => return wrong(at, "an escape that JSON does not have"),
                },
                b'"' => return Ok(self.token(kind, at + 1)),
                0..0x20 => return wrong(at, "a raw control character in a string"),
                _ => at += 1,
            }
        }
        Err(self.error("a string has no end"))
    }

    fn scalar(&mut self) -> Result<Token<'a>, JsonError> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_');
        let length = rest.iter().position(|byte| !word(byte)).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.error("a value is missing"));
        }
        let said = self.text.get(self.at..self.at + length).unwrap_or_default();
        let known = matches!(said, "null" | "true" | "false") || ODD_WORDS.contains(&said);
        if !known && !is_number(said) {
            // The position after the word, where typing would continue.
            return Err(JsonError { at: self.at + length, what: NO_VALUE });
        }
        let token = self.token(TokenKind::Scalar, self.at + length);
        self.value_done();
        Ok(token)
    }

    fn value_done(&mut self) {
        self.expect = if self.open.is_empty() { Expect::Nothing } else { Expect::CommaOrEnd };
    }

    fn token(&mut self, kind: TokenKind, end: usize) -> Token<'a> {
        let at = std::mem::replace(&mut self.at, end);
        Token { kind, text: self.text.get(at..end).unwrap_or_default(), at }
    }

    fn skip_space(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
    }

    fn error(&self, what: &'static str) -> JsonError {
        JsonError { at: self.at, what }
    }
}

/// Returns the length of the prefix whose bytes all satisfy `is`, in steps of 64, without branches so that it
/// vectorises. Inputs of ten megabytes are mostly plain text.
fn run_of(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    let some = bytes.chunks_exact(64).take_while(|some| some.iter().fold(true, |all, byte| all & is(*byte)));
    some.count() * 64
}

pub(crate) fn only(bytes: &[u8], is: impl Fn(u8) -> bool) -> bool {
    let rest = bytes.get(run_of(bytes, &is)..).unwrap_or_default();
    rest.iter().all(|byte| is(*byte))
}

fn plain(bytes: &[u8]) -> usize {
    // Without optimisation this is slower than eight bytes at a time.
    let many = if cfg!(debug_assertions) {
        0
    } else {
        run_of(bytes, |byte| !matches!(byte, 0..0x20 | b'"' | b'\\'))
    };
    many + plain_ahead(bytes.get(many..).unwrap_or_default())
}

/// Same as [`plain`], eight bytes at a time.
fn plain_ahead(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES << 7;
    // Sets the highest bit of bytes less than `n`. Bits before the first such byte are reliable.
    let less = |word: u64, n: u64| word.wrapping_sub(ONES * n) & !word & HIGH;
    let mut at = 0;
    for eight in bytes.chunks_exact(8) {
        let word = u64::from_le_bytes(eight.try_into().unwrap_or_default());
        let is = |byte: u8| less(word ^ (ONES * u64::from(byte)), 1);
        let found = less(word, 0x20) | is(b'"') | is(b'\\');
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| !matches!(byte, 0..0x20 | b'"' | b'\\')).count()
}

/// Returns the length of the escape after a backslash; `None` if invalid. Unpaired surrogates are valid, because
/// backends send them; [`super::decode`] reports them.
fn escape_length(rest: &[u8]) -> Option<usize> {
    match rest.first()? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(1),
        b'u' => rest.get(1..5)?.iter().all(u8::is_ascii_hexdigit).then_some(5),
        _ => None,
    }
}

/// Whether the text is a JSON number; `NaN` and others are not.
pub fn is_number(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest.starts_with('0')) {
        return false;
    }
    let mut rest = rest.get(whole..).unwrap_or_default();
    if let Some(fraction) = rest.strip_prefix('.') {
        let places = digits(fraction);
        rest = match fraction.get(places..) {
            Some(rest) if places > 0 => rest,
            _ => return false,
        };
    }
    let Some(power) = rest.strip_prefix(['e', 'E']) else { return rest.is_empty() };
    let power = power.strip_prefix(['+', '-']).unwrap_or(power);
    !power.is_empty() && digits(power) == power.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(), &'static str> {
        Scanner::new(text).check().map_err(|error| error.what)
    }

    #[test]
    fn the_end_of_plain_text_is_found_at_any_offset() {
        for at in 0..200 {
            let with = |end: &str| format!("\"{}{end}{}\"", "a".repeat(at), "b".repeat(200 - at));
            let error = |what| Err(JsonError { at: at + 1, what });

            let before = run_of(with("\n").as_bytes(), |byte| byte >= 0x20);
            assert_eq!(before, (at + 1) / 64 * 64, "optimised builds skip whole steps");
            assert_eq!(Scanner::new(&with("\\n")).check(), Ok(()), "{at}");
            assert_eq!(Scanner::new(&with("\\x")).check(), error("an escape that JSON does not have"));
            assert_eq!(Scanner::new(&with("\n")).check(), error("a raw control character in a string"));
            let quote = Err(JsonError { at: at + 2, what: "something follows the value" });
            assert_eq!(Scanner::new(&with("\"")).check(), quote);
            assert_eq!(Scanner::new(&with("ü")).check(), Ok(()));
            assert!(
                !only(with("\\").as_bytes(), |byte| byte != b'\\')
                    && only(with("").as_bytes(), |byte| byte != b'\\')
            );
        }
    }

    #[test]
    fn one_value_is_read_to_its_end() {
        for text in ["{}", "[]", " [1, {\"a\": null}, \"x\"] ", "\"\\\"\"", "-0", "NaN", "{\"a\":{}}"] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn broken_structure_is_refused() {
        for text in [
            "",
            "{",
            "[1,]",
            "{,}",
            "{\"a\"}",
            "{\"a\":}",
            "[1 2]",
            "{} {}",
            "]",
            "\"",
            "\"\u{1}\"",
            "{a:1}",
            "[}",
            "{\"a\":1,}",
            "\u{feff}{}",
            "[\u{a0}1]",
        ] {
            assert!(check(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_invalid_word_is_refused() {
        for text in [
            "abc",
            "True",
            "nul",
            "nulll",
            "01",
            "1.",
            ".5",
            "1e",
            "1e+",
            "+1",
            "--1",
            "-",
            "0x1F",
            "1_000",
            "1.2.3",
            "1-2",
            "nan",
            "+Infinity",
            "Infinit",
            "-NaN",
            "[1,abc]",
            "{\"a\":yes}",
            "1\u{660}",
            "tru\u{435}",
        ] {
            assert!(check(text).is_err(), "{text}");
        }
        for text in ["NaN", "[Infinity,-Infinity]"] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn an_invalid_escape_is_refused() {
        for text in [
            r#""\x41""#,
            r#""\u12""#,
            r#""\u12g4""#,
            r#""\""#,
            r#""\'""#,
            r#""\U0041""#,
            r#"{"\q":1}"#,
            r#""\u+123""#,
        ] {
            assert!(check(text).is_err(), "{text}");
        }
        for text in [r#""\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00""#, r#""half \ud800 pair""#, r#""\u0000""#] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn plain_bytes_end_at_the_first_other_byte() {
        for fill in [b'a', b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xff] {
            for byte in 0..=u8::MAX {
                for at in 0..20 {
                    let mut bytes = [fill; 20];
                    bytes[at] = byte;
                    let other = matches!(byte, 0..0x20 | b'"' | b'\\');
                    assert_eq!(plain(&bytes), if other { at } else { 20 }, "{fill:#x} {byte:#x} {at}");
                }
            }
        }
    }

    #[test]
    fn depth_is_bounded() {
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);

        assert_eq!(check(&deep(MAX_DEPTH)), Ok(()));
        assert_eq!(check(&deep(MAX_DEPTH + 1)), Err("it is nested more than 512 levels deep"));
        assert!(check(&"[".repeat(1_000_000)).is_err());
    }
}
