//! One JSON value with its exact bytes, and its parts.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::scan::{JsonError, Scanner, TokenKind};
use crate::domain::Untrusted;

/// One JSON value, byte for byte as it was received. Cloning is cheap, and so is a part of it.
#[derive(Clone)]
pub struct RawJson {
    text: Arc<String>,
    part: Range<usize>,
}

/// A key and its value inside an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// The key as written, with its quotes.
    pub raw_key: &'a str,
    /// The key as meant.
    pub key: Decoded<'a>,
    /// The value as written.
    pub value: &'a str,
    /// Where the value stands, in bytes from the start of the object's text.
    pub span: Range<usize>,
}

/// A string's meaning.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decoded<'a> {
    pub text: Cow<'a, str>,
    /// A lone surrogate was replaced by U+FFFD: the text is not all there is.
    pub lossy: bool,
}

impl RawJson {
    /// Takes a text that must be one JSON value; white space around it is kept.
    pub fn parse(text: impl Into<String>) -> Result<Self, JsonError> {
        let text = text.into();
        Scanner::new(&text).check()?;
        Ok(Self::whole(text))
    }

    fn whole(text: String) -> Self {
        let part = 0..text.len();
        Self { text: Arc::new(text), part }
    }

    /// A value that was found inside of a text that was scanned: it is not looked at again.
    pub(crate) fn scanned(value: &str) -> Self {
        debug_assert!(Scanner::new(value).check().is_ok());
        Self::whole(value.to_owned())
    }

    /// The same for a value in a text that others keep, too: megabytes are not copied, and the text stays as long as the value.
    pub(crate) fn scanned_in(text: &Arc<String>, value: &str) -> Self {
        match place(text, value) {
            Some(part) => Self { text: Arc::clone(text), part },
            None => Self::scanned(value),
        }
    }

    /// A value that was found in the text of this one, or in the text that this one is a copy of.
    pub(crate) fn part(&self, copied: &str, value: &str) -> Self {
        let at = value.as_ptr().addr().saturating_sub(copied.as_ptr().addr());
        match self.as_str().get(at..at + value.len()) {
            Some(own) if std::ptr::eq(own, value) || own == value => Self::scanned_in(&self.text, own),
            _ => Self::scanned(value),
        }
    }

    /// Where a part of the text stands in a text that anybody may keep; `None` where it is a text of its own.
    pub(crate) fn place_of(&self, part: &str) -> Option<(Arc<String>, Range<usize>)> {
        Some((Arc::clone(&self.text), place(&self.text, part)?))
    }

    /// The value `null`.
    pub fn null() -> Self {
        Self::whole("null".to_owned())
    }

    pub fn as_str(&self) -> &str {
        self.text.get(self.part.clone()).unwrap_or_default()
    }

    /// The members of an object in written order, duplicates included; `None` when this is no object.
    pub fn members(&self) -> Option<Vec<Member<'_>>> {
        members(self.as_str())
    }

    /// The value of the last member called `key`, as most parsers would take it.
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
        // The same text is not looked at: it may be long.
        std::ptr::eq(self.as_str(), other.as_str()) || self.as_str() == other.as_str()
    }
}

impl Eq for RawJson {}

impl Hash for RawJson {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

/// Where a part stands in the text that it is borrowed from.
fn place(text: &str, part: &str) -> Option<Range<usize>> {
    let at = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let place = at..at.checked_add(part.len())?;
    std::ptr::eq(text.get(place.clone())?, part).then_some(place)
}

/// The members of the object `text`; `None` when it is no object or malformed.
pub fn members(text: &str) -> Option<Vec<Member<'_>>> {
    let (members, whole) = members_until_broken(text)?;
    whole.then_some(members)
}

/// The members of the object `text` as far as it can be read, and whether that is all of it; `None` when it begins no object.
pub fn members_until_broken(text: &str) -> Option<(Vec<Member<'_>>, bool)> {
    let mut scanner = Scanner::new(text);
    let (members, ends) = members_here(text, &mut scanner)?;
    Some((members, ends && scanner.next_token() == Ok(None)))
}

/// The members of the object that the scanner of `text` is at, as far as it can be read, and whether it ends.
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

/// So many members are room for what a list has of an action.
const MEMBERS: usize = 24;

/// The elements of the array `text`; `None` when it is no array or malformed.
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

/// What the string literal `raw` (with its quotes) means; any other text means itself.
pub fn decode(raw: &str) -> Decoded<'_> {
    // By bytes: of a long list this is called for each name and each text, and comparing them with texts of one character was a third of it.
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

/// The string literal, with its quotes, that means `text`. Only what must be escaped is.
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

/// Reads what follows `\u`, with the second half of a surrogate pair when there is one.
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
    fn a_value_in_a_text_that_is_kept_is_no_copy() {
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
        assert_eq!(kept, RawJson::scanned_in(&reply, &elsewhere), "what is borrowed elsewhere is copied");
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
    fn strings_decode_and_say_when_they_cannot() {
        assert_eq!(decode(r#""a\n\u00e9\ud83d\ude00\/""#).text, "a\né😀/");
        assert!(!decode(r#""\ud83d\ude00""#).lossy);
        let lone = decode(r#""x\ud800y""#);
        assert_eq!((lone.text.as_ref(), lone.lossy), ("x\u{fffd}y", true));
        assert_eq!(decode(r#""\ud800\u0041""#).text, "\u{fffd}A");
    }

    #[test]
    fn what_is_encoded_decodes_to_itself_and_numbers_are_told_from_words() {
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
    fn what_is_broken_is_read_up_to_there() {
        let (members, whole) = members_until_broken(r#"{"id":"7","a":[1,],"status":"pending"}"#).unwrap();

        assert!(!whole);
        assert_eq!(members.iter().map(|member| member.value).collect::<Vec<_>>(), ["\"7\""]);
        assert_eq!(members_until_broken("[]"), None);
    }
}
