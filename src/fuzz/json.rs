//! The reader of raw JSON bytes: it never panics, tells the truth about every byte, and takes all that a strict reader takes.

use serde::de::IgnoredAny;

use crate::domain::RawJson;
use crate::domain::json::{self, Decoded, MAX_DEPTH, Scanner};

pub(super) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    strings(&text);
    tokens(&text);
    let strict = serde_json::from_str::<IgnoredAny>(&text).is_ok();
    match RawJson::parse(text.as_ref()) {
        Ok(raw) => layouts(&raw),
        Err(error) => {
            assert!(!strict, "{error}");
            assert!(error.at <= text.len(), "{error}");
        }
    }
}

/// Any text comes back from its literal, here and in another reader.
fn strings(text: &str) {
    let literal = json::encode(text);
    assert_eq!(json::decode(&literal), Decoded { text: text.into(), lossy: false });
    assert_eq!(serde_json::from_str::<String>(&literal).ok().as_deref(), Some(text));
    // Whatever it is, it can be asked.
    let _ = json::decode(text);
    let _ = json::is_number(text);
}

/// Each token is where it says, none overlaps another, and only punctuation and white space stand between.
fn tokens(text: &str) {
    let mut scanner = Scanner::new(text);
    let mut end = 0;
    while let Ok(Some(token)) = scanner.next_token() {
        assert_eq!(text.get(token.at..token.at + token.text.len()), Some(token.text));
        let between = text.get(end..token.at).expect("tokens follow each other");
        assert!(between.chars().all(|c| matches!(c, ' ' | '\t' | '\n' | '\r' | ',' | ':')), "{between:?}");
        assert!(scanner.depth() <= MAX_DEPTH);
        end = token.at + token.text.len();
    }
}

/// Laying a value out changes its white space and nothing else.
fn layouts(raw: &RawJson) {
    let (compact, pretty) = (json::compact(raw.as_str()), json::pretty(raw.as_str()));
    assert_eq!(json::compact(&pretty), compact);
    assert_eq!(json::pretty(&compact), pretty);
    assert_eq!(texts(&compact), texts(raw.as_str()));
    assert_eq!(texts(&pretty), texts(raw.as_str()));
    assert_eq!(json::duplicate_keys(&compact), json::duplicate_keys(raw.as_str()));
    for member in raw.members().unwrap_or_default() {
        assert_eq!(raw.as_str().get(member.span.clone()), Some(member.value));
        assert_eq!(json::decode(member.raw_key), member.key);
    }
}

fn texts(text: &str) -> Vec<&str> {
    let mut scanner = Scanner::new(text);
    std::iter::from_fn(|| scanner.next_token().expect("it was read before")).map(|token| token.text).collect()
}
