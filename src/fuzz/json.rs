//! Fuzzes the raw JSON reader: no panics, exact byte positions, and no refusal of JSON that serde_json accepts.

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

/// Checks that decoding a literal returns its text, here and in serde_json.
fn strings(text: &str) {
    let literal = json::encode(text);
    assert_eq!(json::decode(&literal), Decoded { text: text.into(), lossy: false });
    assert_eq!(serde_json::from_str::<String>(&literal).ok().as_deref(), Some(text));
    // Any text may be decoded without a panic.
    let _ = json::decode(text);
    let _ = json::is_number(text);
}

/// Checks that tokens are at their positions, do not overlap, and have only punctuation and white space between them.
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

/// Checks that a layout changes only white space.
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
