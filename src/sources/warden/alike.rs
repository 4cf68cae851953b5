//! Compares JSON texts by value, because the engine rewrites what it was sent.

use std::collections::HashMap;

use crate::domain::json;

/// Ignores white space, the order of members, escapes and the spelling of numbers.
pub(super) fn alike(one: &str, other: &str) -> bool {
    let (one, other) = (one.trim(), other.trim());
    if let (Some(one), Some(other)) = (json::members(one), json::members(other)) {
        // The last of duplicate keys counts.
        let (one, other) = (by_key(&one), by_key(&other));
        return one.len() == other.len()
            && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| alike(value, other)));
    }
    if let (Some(one), Some(other)) = (json::elements(one), json::elements(other)) {
        return one.len() == other.len() && one.iter().zip(other).all(|(one, other)| alike(one, other));
    }
    if one.starts_with('"') && other.starts_with('"') {
        return json::decode(one) == json::decode(other);
    }
    one == other || same_number(one, other)
}

fn by_key<'a>(members: &'a [json::Member<'a>]) -> HashMap<&'a str, &'a str> {
    members.iter().map(|member| (member.key.text.as_ref(), member.value)).collect()
}

/// Compares whole numbers by their digits, because a float cannot tell large ones apart.
#[expect(clippy::float_cmp, reason = "the very same float is meant: a written float reads back as itself")]
fn same_number(one: &str, other: &str) -> bool {
    if !json::is_number(one) || !json::is_number(other) {
        return false;
    }
    let is_whole = |text: &str| !text.contains(['.', 'e', 'E']);
    if is_whole(one) && is_whole(other) {
        // Equal spellings were handled before. Only zero has two.
        return matches!((one, other), ("0", "-0") | ("-0", "0"));
    }
    matches!((one.parse::<f64>(), other.parse::<f64>()), (Ok(one), Ok(other)) if one == other)
}
