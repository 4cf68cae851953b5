//! Values of an input as text for titles.

use crate::domain::json;

/// Returns a value, or the first of a list and the number of others.
pub(super) fn say(value: &str) -> Option<String> {
    let Some(elements) = json::elements(value) else { return said(value) };
    let (first, rest) = elements.split_first()?;
    let first = said(first)?;
    Some(if rest.is_empty() { first } else { format!("{first} and {} more", rest.len()) })
}

/// Returns a decoded string, or a number as written; `None` for containers, null and empty strings.
pub(super) fn said(value: &str) -> Option<String> {
    let plain = !value.starts_with(['{', '[']) && value != "null";
    plain.then(|| json::decode(value).text.into_owned()).filter(|text| !text.trim().is_empty())
}

pub(super) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}
