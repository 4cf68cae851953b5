//! A JSON value with its exact bytes, and its parts.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::scan::{JsonError, Scanner, TokenKind};
use crate::domain::Untrusted;

/// A JSON value, byte for byte as received. Clones and parts share memory.
#[derive(Clone)]
pub struct RawJson {
    text: Arc<String>,
    part: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    pub raw_key: &'a str,
    pub key: Decoded<'a>,
    pub value: &'a str,
    /// Span of the value in the object's text.
    pub span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decoded<'a> {
    pub text: Cow<'a, str>,
    /// Whether an unpaired surrogate was replaced by U+FFFD.
    pub lossy: bool,
}

impl RawJson {
    /// Parses a text that must be one JSON value. Surrounding white space is kept.
    pub fn parse(text: impl Into<String>) -> Result<Self, JsonError> {
        let text = text.into();
        Scanner::new(&text).check()?;
        Ok(Self::whole(text))
    }

    fn whole(text: String) -> Self {
        let part = 0..text.len();
        Self { text: Arc::new(text), part }
    }

    /// Takes a value from a text that is already scanned.
    pub(crate) fn scanned(value: &str) -> Self {
        debug_assert!(Scanner::new(value).check().is_ok());
        Self::whole(value.to_owned())
    }

    /// Like [`Self::scanned`], but shares memory with `text`, which stays allocated as long as the value.
    pub(crate) fn scanned_in(text: &Arc<String>, value: &str) -> Self {
        match place(text, value) {
            Some(part) => Self { text: Arc::clone(text), part },
            None => Self::scanned(value),
        }
    }

    /// Takes a value that was found in this value's text, or in `copied`, a copy of it.
    pub(crate) fn part(&self, copied: &str, value: &str) -> Self {
        let at = value.as_ptr().addr().saturating_sub(copied.as_ptr().addr());
        match self.as_str().get(at..at + value.len()) {
            Some(own) if std::ptr::eq(own, value) || own == value => Self::scanned_in(&self.text, own),
            _ => Self::scanned(value),
        }
    }

    /// Returns the shared text and the part's position in it; `None` if the part is from another text.
    pub(crate) fn place_of(&self, part: &str) -> Option<(Arc<String>, Range<usize>)> {
        Some((Arc::clone(&self.text), place(&self.text, part)?))
    }

    pub fn null() -> Self {
        Self::whole("null".to_owned())
    }

    pub fn as_str(&self) -> &str {
        self.text.get(self.part.clone()).unwrap_or_default()
    }

    /// Returns the members of an object in written order with duplicates; `None` if it is not an object.
    pub fn members(&self) -> Option<Vec<Member<'_>>> {
        members(self.as_str())
    }

    /// Returns the value of the last member `key`, as most parsers do.
    pub fn member(&self, key: &str) -> Option<&str> {
        self.members()?.into_iter().rev().find(|member| member.key.text == key).map(|member| member.value)
    }
}

impl Default for RawJson {
    fn default() -> Self {
        Self::null()
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", Untrusted::new(self.as_str()))
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        // Skips comparing long texts that are the same.
        std::ptr::eq(self.as_str(), other.as_str()) || self.as_str() == other.as_str()
    }
}

impl Eq for RawJson {}

impl Hash for RawJson {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

/// Returns the position of a part in the text it borrows from.
fn place(text: &str, part: &str) -> Option<Range<usize>> {
    let at = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let place = at..at.checked_add(part.len())?;
    std::ptr::eq(text.get(place.clone())?, part).then_some(place)
}

/// Returns the members of an object; `None` if it is not an object or malformed.
pub fn members(text: &str) -> Option<Vec<Member<'_>>> {
    let (members, whole) = members_until_broken(text)?;
    whole.then_some(members)
}

/// Returns the members up to the first error, and whether there was none; `None` if the text does not begin an object.
pub fn members_until_broken(text: &str) -> Option<(Vec<Member<'_>>, bool)> {
    let mut scanner = Scanner::new(text);
    let (members, ends) = members_here(text, &mut scanner)?;
    Some((members, ends && scanner.next_token() == Ok(None)))
}

/// Returns the members of the scanner's next object up to the first error, and whether it ends.
pub(super) fn members_here<'a>(text: &'a str, scanner: &mut Scanner<'a>) -> Option<(Vec<Member<'a>>, bool)> {
    if scanner.next_token().ok()??.kind != TokenKind::ObjectStart {
        return None;
    }
    let mut members = Vec::new();
    while let Ok(Some(token)) = scanner.next_token() {
        if token.kind == TokenKind::ObjectEnd {
            return Some((members, true));
        }
        let Ok(span) = scanner.value_span() else { break };
        let Some(value) = text.get(span.clone()) else { break };
        if members.is_empty() {
            members.reserve(MEMBERS);
        }
        members.push(Member { raw_key: token.text, key: decode(token.text), value, span });
    }
    Some((members, false))
}

const MEMBERS: usize = 24;

/// Returns the elements of an array; `None` if it is not an array or malformed.
pub fn elements(text: &str) -> Option<Vec<&str>> {
    let mut scanner = Scanner::new(text);
    let mut elements = Vec::new();
    if scanner.next_token().ok()??.kind != TokenKind::ArrayStart {
        return None;
    }
    while let Some(span) = scanner.element_span().ok()? {
        elements.push(text.get(span)?);
    }
    (scanner.next_token() == Ok(None)).then_some(elements)
}

/// Decodes a string literal with its quotes; returns other text unchanged.
pub fn decode(raw: &str) -> Decoded<'_> {
    // Compares bytes: this is called for each name and text of a long list, and comparing strings took a third of the
    // time.
    let is_quoted = matches!(raw.as_bytes(), [b'"', .., b'"']);
    let inner = raw.get(1..raw.len().saturating_sub(1)).filter(|_| is_quoted).unwrap_or(raw);
    if !inner.as_bytes().contains(&b'\\') {
        return Decoded { text: Cow::Borrowed(inner), lossy: false };
    }
    let (mut text, mut lossy) = (String::with_capacity(inner.len()), false);
    let mut left = inner;
    while let Some((before, after)) = left.split_once('\\') {
        text.push_str(before);
        let mut rest = after.chars();
        match rest.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('b') => text.push('\u{8}'),
            Some('f') => text.push('\u{c}'),
            Some('u') => {
                let unit = unicode_escape(&mut rest);
                text.push(unit.unwrap_or_else(|| {
                    lossy = true;
                    char::REPLACEMENT_CHARACTER
                }));
            }
            Some(other) => text.push(other),
            None => lossy = true,
        }
        left = rest.as_str();
    }
    text.push_str(left);
    Decoded { text: Cow::Owned(text), lossy }
}

/// Encodes text as a string literal with quotes, escaping only what must be.
pub fn encode(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32); // writing to a String cannot fail
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Reads an escape after `\u`, with the second half of a surrogate pair if present.
fn unicode_escape(rest: &mut std::str::Chars<'_>) -> Option<char> {
    let first = four_hex(rest)?;
    if !(0xD800..0xDC00).contains(&first) {
        return char::from_u32(first);
    }
    let mut ahead = rest.clone();
    if ahead.next() != Some('\\') || ahead.next() != Some('u') {
        return None;
    }
    let second = four_hex(&mut ahead).filter(|unit| (0xDC00..0xE000).contains(unit))?;
    *rest = ahead;
    char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
}

fn four_hex(chars: &mut std::str::Chars<'_>) -> Option<u32> {
    (0..4).try_fold(0, |value, _| Some(value << 4 | chars.next()?.to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::json::is_number;

    #[test]
    fn members_keep_numbers_keys_and_order() {
        let json =
            RawJson::parse(r#" {"b": 1.10, "a":18446744073709551616,"b":[1, 2] , "t\u006f":"x"} "#).unwrap();

        let members: Vec<_> =
            json.members().unwrap().into_iter().map(|m| (m.raw_key.to_owned(), m.value.to_owned())).collect();

        let want = [
            ("\"b\"", "1.10"),
            ("\"a\"", "18446744073709551616"),
            ("\"b\"", "[1, 2]"),
            ("\"t\\u006f\"", "\"x\""),
        ];
        assert_eq!(members, want.map(|(k, v)| (k.to_owned(), v.to_owned())));
        assert_eq!(json.member("to"), Some("\"x\""));
    }

    #[test]
    fn a_value_of_a_kept_text_is_not_copied() {
        let reply = Arc::new(r#"{"items":[{"input":{"a":1}}]}"#.to_owned());
        let (item, elsewhere) = (reply.get(10..27).unwrap(), r#"{"input":{"a":1}}"#.to_owned());
        let input = item.get(9..16).unwrap();

        let kept = RawJson::scanned_in(&reply, item);
        let copied = RawJson::scanned(item);
        let parts =
            [kept.part(item, input), copied.part(item, input), kept.part(&elsewhere, &elsewhere[9..16])];

        assert_eq!((kept.as_str(), kept.as_str().as_ptr()), (item, item.as_ptr()));
        assert_eq!(parts.each_ref().map(RawJson::as_str), [input; 3]);
        assert_eq!(parts[0].as_str().as_ptr(), input.as_ptr());
        assert_eq!(parts[1].as_str().as_ptr(), copied.as_str()[9..].as_ptr());
        assert_eq!(kept, RawJson::scanned_in(&reply, &elsewhere), "a value of another text is copied");
        let place = kept.place_of(input).map(|(text, part)| (Arc::ptr_eq(&text, &reply), part));
        assert_eq!((place, kept.place_of(&elsewhere)), (Some((true, 19..26)), None));
    }

    #[test]
    fn elements_are_the_written_texts() {
        assert_eq!(elements(r#"[ 1.0 ,{"a":[1]}, "x" ]"#), Some(vec!["1.0", r#"{"a":[1]}"#, "\"x\""]));
        assert_eq!(elements("[]"), Some(vec![]));
        assert_eq!(elements("{}"), None);
    }

    #[test]
    fn decoding_reports_unpaired_surrogates() {
        assert_eq!(decode(r#""a\n\u00e9\ud83d\ude00\/""#).text, "a\né😀/");
        assert!(!decode(r#""\ud83d\ude00""#).lossy);
        let lone = decode(r#""x\ud800y""#);
        assert_eq!((lone.text.as_ref(), lone.lossy), ("x\u{fffd}y", true));
        assert_eq!(decode(r#""\ud800\u0041""#).text, "\u{fffd}A");
    }

    #[test]
    fn encoded_text_decodes_to_itself() {
        let text = "a\"b\\c\n\r\t\u{1}é\u{202e}😀/";

        assert_eq!(decode(&encode(text)).text, text);
        assert!(RawJson::parse(encode(text)).is_ok());
        for number in ["0", "-0", "12", "1.10", "18446744073709551616", "1e5", "-1.5E+10"] {
            assert!(is_number(number), "{number}");
        }
        for none in ["", "-", "01", "1.", ".5", "1e", "NaN", "null", "1,2", "+1", " 1", "0x1"] {
            assert!(!is_number(none), "{none}");
        }
    }

    #[test]
    fn a_broken_object_is_read_up_to_its_error() {
        let (members, whole) = members_until_broken(r#"{"id":"7","a":[1,],"status":"pending"}"#).unwrap();

        assert!(!whole);
        assert_eq!(members.iter().map(|member| member.value).collect::<Vec<_>>(), ["\"7\""]);
        assert_eq!(members_until_broken("[]"), None);
    }
}
