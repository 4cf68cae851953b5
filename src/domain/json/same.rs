//! Compares JSON texts by meaning, for clients that rewrite them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{JsonError, Scanner, TokenKind, decode, is_number};

#[derive(PartialEq)]
enum Node<'a> {
    /// Unordered; of duplicate members the last counts.
    Object(BTreeMap<Cow<'a, str>, Self>),
    Array(Vec<Self>),
    Text(Cow<'a, str>),
    Number(Number<'a>),
    Word(&'a str),
}

/// A number as written. Integers are compared by digits, others as doubles: 1.10 equals 1.1, and 1.0 equals 1.
struct Number<'a>(&'a str);

impl PartialEq for Number<'_> {
    fn eq(&self, other: &Self) -> bool {
        let is_whole = |text: &str| !text.contains(['.', 'e', 'E']);
        let double = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
        let are_whole = is_whole(self.0) && is_whole(other.0);
        self.0 == other.0 || !are_whole && double(self.0).is_some_and(|it| double(other.0) == Some(it))
    }
}

/// Whether both are JSON and mean the same.
pub fn is_same(one: &str, other: &str) -> bool {
    one == other || read(one).is_ok_and(|one| read(other).is_ok_and(|other| one == other))
}

fn read(text: &str) -> Result<Option<Node<'_>>, JsonError> {
    let mut scanner = Scanner::new(text);
    let node = node(&mut scanner)?;
    scanner.check().map(|()| node)
}

/// Reads a value; `None` at the end of an array.
fn node<'a>(scanner: &mut Scanner<'a>) -> Result<Option<Node<'a>>, JsonError> {
    let Some(token) = scanner.next_token()? else { return Ok(None) };
    Ok(Some(match token.kind {
        TokenKind::ObjectStart => {
            let mut members = BTreeMap::new();
            while let Some(key) = scanner.next_token()?.filter(|token| token.kind == TokenKind::Key) {
                let Some(value) = node(scanner)? else { break };
                members.insert(meaning(key.text), value);
            }
            Node::Object(members)
        }
        TokenKind::ArrayStart => {
            let mut elements = Vec::new();
            while let Some(element) = node(scanner)? {
                elements.push(element);
            }
            Node::Array(elements)
        }
        TokenKind::String | TokenKind::Key => Node::Text(meaning(token.text)),
        TokenKind::Scalar => {
            let text = if token.text == "-0" { "0" } else { token.text };
            if is_number(text) { Node::Number(Number(text)) } else { Node::Word(text) }
        }
        TokenKind::ArrayEnd | TokenKind::ObjectEnd => return Ok(None),
    }))
}

/// Decodes a string. With an unpaired surrogate it stays as written.
fn meaning(literal: &str) -> Cow<'_, str> {
    let decoded = decode(literal);
    if decoded.lossy { Cow::Borrowed(literal) } else { decoded.text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewritten_json_is_the_same() {
        for (one, other) in [
            (r#"{ "a": 1.10, "b": [1.0, "\u00e9"] }"#, r#"{"b":[1,"é"],"a":1.1}"#),
            (r#"{"n": 12345678901234567890, "e": 1e3}"#, r#"{"n":12345678901234567890.0,"e":1000}"#),
            ("[-0, 1e400]", "[0, 1e400]"),
            (r#"{"a": 1, "a": 2}"#, r#"{"a":2}"#),
            (r#"{"s": "\ud83d"}"#, r#"{"s":"\ud83d"}"#),
            ("[NaN]", "[ NaN ]"),
            ("{ }", "{}"),
            (" [null ]", "[null]"),
        ] {
            assert!(is_same(one, other) && is_same(other, one), "{one} {other}");
        }
    }

    #[test]
    fn different_values_types_and_members_differ() {
        for (one, other) in [
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            (r#"{"a":1}"#, r#"{"a":1,"b":null}"#),
            (r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#),
            ("9007199254740993", "9007199254740992"),
            ("-12345678901234567890", "-12345678901234567000"),
            ("1e400", "1e500"),
            (r#"{"a":true}"#, r#"{"a":"true"}"#),
            (r#"{"s":"\ud83d"}"#, r#"{"s":"\ud83e"}"#),
            (r#"{"s":"a"}"#, r#"{"s":"a "}"#),
            ("[]", "{}"),
            ("{", "{}"),
            ("{} {}", "{}"),
            ("[[]]", "[]"),
        ] {
            assert!(!is_same(one, other) && !is_same(other, one), "{one} {other}");
        }
    }

    #[test]
    fn deepest_nesting_is_compared() {
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(511), "]".repeat(511));

        assert!(is_same(&deep("1.0"), &deep(" 1")));
        assert!(!is_same(&deep("1"), &deep("2")));
    }
}
