//! Whether two JSON texts mean the same to a client that reads one and writes the other.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{JsonError, Scanner, TokenKind, decode, is_number};

#[derive(PartialEq)]
enum Node<'a> {
    /// Members have no order. Of several with one name the last counts.
    Object(BTreeMap<Cow<'a, str>, Self>),
    Array(Vec<Self>),
    Text(Cow<'a, str>),
    /// As JavaScript keeps it: 1.10 is 1.1, and 1.0 is 1.
    Number(f64),
    Word(&'a str),
}

/// Returns whether both are JSON and mean the same.
pub fn is_same(one: &str, other: &str) -> bool {
    one == other || read(one).is_ok_and(|one| read(other).is_ok_and(|other| one == other))
}

fn read(text: &str) -> Result<Option<Node<'_>>, JsonError> {
    let mut scanner = Scanner::new(text);
    let node = node(&mut scanner)?;
    scanner.check().map(|()| node)
}

/// Reads one value; `None` at the end of the array around it.
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
            let number = token.text.parse().ok().filter(|_| is_number(token.text));
            number.map_or(Node::Word(token.text), Node::Number)
        }
        TokenKind::ArrayEnd | TokenKind::ObjectEnd => return Ok(None),
    }))
}

/// Half a surrogate pair means itself, as it was written.
fn meaning(literal: &str) -> Cow<'_, str> {
    let decoded = decode(literal);
    if decoded.lossy { Cow::Borrowed(literal) } else { decoded.text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_writes_differently_is_the_same() {
        for (one, other) in [
            (r#"{ "a": 1.10, "b": [1.0, "\u00e9"] }"#, r#"{"b":[1,"é"],"a":1.1}"#),
            (r#"{"n": 12345678901234567890, "e": 1e3}"#, r#"{"n":12345678901234567000,"e":1000}"#),
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
    fn another_value_type_or_member_is_not_the_same() {
        for (one, other) in [
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            (r#"{"a":1}"#, r#"{"a":1,"b":null}"#),
            (r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#),
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
