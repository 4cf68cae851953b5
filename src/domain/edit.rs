//! Applies edits: a shallow merge on bytes that leaves everything else exactly as proposed.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::RawJson;
use super::json::{self, JsonError, Member};

/// Top-level keys that identify workspace, mission or session. Not editable, because an edit must not redirect a write
/// to another tenant.
pub const IDENTITY_KEYS: [&str; 6] =
    ["workspace_id", "workspaceId", "mission_id", "missionId", "session_id", "sessionId"];

/// Changed top-level keys with their complete new values, in sent order. A key cannot be removed, because the contract
/// merges edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edits(RawJson);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error(transparent)]
    Json(#[from] JsonError),
    #[error("the input must be a JSON object")]
    NotAnObject,
    #[error("the key {0:?} stands twice; an input with duplicate keys cannot be edited")]
    DuplicateKey(String),
    #[error("the key {0:?} says whose action this is and cannot be edited")]
    IdentityKey(String),
    #[error("{0} is no JSON value; text needs \"quotes\"")]
    Word(String),
    #[error("the key {0:?} is gone, but a key cannot be removed by an edit; set it to null instead")]
    Removed(String),
}

impl Edits {
    /// Validates the `userEdits` of a decision. Empty edits are allowed.
    pub fn new(object: RawJson) -> Result<Self, EditError> {
        for member in unique_members(object.as_str())? {
            let key = member.key.text;
            if IDENTITY_KEYS.contains(&key.as_ref()) {
                return Err(EditError::IdentityKey(key.into_owned()));
            }
        }
        Ok(Self(object))
    }

    pub fn as_json(&self) -> &RawJson {
        &self.0
    }

    pub fn keys(&self) -> Vec<String> {
        let members = self.0.members().unwrap_or_default();
        members.into_iter().map(|member| member.key.text.into_owned()).collect()
    }
}

/// Applies edits to an input: replaces values, appends new keys in sent order, and leaves all other bytes.
///
/// ```
/// use placet::for_tests::{EditError, Edits, RawJson, merge};
///
/// let input = RawJson::parse(r#"{ "price": 1.10, "title": "a" }"#)?;
/// let edits = Edits::new(RawJson::parse(r#"{"title": "b", "urgent": true}"#)?)?;
///
/// assert_eq!(merge(&input, &edits)?.as_str(), r#"{ "price": 1.10, "title": "b","urgent":true }"#);
/// # Ok::<(), EditError>(())
/// ```
pub fn merge(input: &RawJson, edits: &Edits) -> Result<RawJson, EditError> {
    let text = input.as_str();
    let old = unique_members(text)?;
    let new = edits.0.members().ok_or(EditError::NotAnObject)?;
    let body_end = match old.last() {
        Some(member) => member.span.end,
        None => text.find('{').map_or(0, |at| at + 1),
    };
    let mut out = String::with_capacity(text.len() + edits.0.as_str().len());
    let mut copied = 0;
    let edited = by_key(&new);
    for member in &old {
        let Some(edit) = edited.get(member.key.text.as_ref()) else { continue };
        out.push_str(slice(text, copied..member.span.start));
        out.push_str(edit.value);
        copied = member.span.end;
    }
    out.push_str(slice(text, copied..body_end));
    let known = by_key(&old);
    let added = new.iter().filter(|edit| !known.contains_key(edit.key.text.as_ref()));
    for (nth, edit) in added.enumerate() {
        if nth > 0 || !old.is_empty() {
            out.push(',');
        }
        out.push_str(edit.raw_key);
        out.push(':');
        out.push_str(edit.value);
    }
    out.push_str(slice(text, body_end..text.len()));
    Ok(RawJson::parse(out)?)
}

/// Returns the top-level keys of `edited` whose values differ from `input`, ignoring white space; `None` if none
/// differ.
pub fn changed_keys(input: &RawJson, edited: &str) -> Result<Option<Edits>, EditError> {
    let edited = RawJson::parse(edited)?;
    let (old, new) = (unique_members(input.as_str())?, unique_members(edited.as_str())?);
    let (before, after) = (by_key(&old), by_key(&new));
    if let Some(gone) = old.iter().find(|member| !after.contains_key(member.key.text.as_ref())) {
        return Err(EditError::Removed(gone.key.text.clone().into_owned()));
    }
    let changed = new.iter().filter(|member| {
        let before = before.get(member.key.text.as_ref());
        before.is_none_or(|before| {
            before.value != member.value && json::compact(before.value) != json::compact(member.value)
        })
    });
    let changed: Vec<&Member<'_>> = changed.collect();
    for member in &changed {
        let before = before_of(&old, member).map(odd_words).unwrap_or_default();
        if let Some(odd) = odd_words(member.value).into_iter().find(|word| !before.contains(word)) {
            return Err(EditError::Word(odd.to_owned()));
        }
    }
    let parts: Vec<String> =
        changed.into_iter().map(|m| format!("{}:{}", m.raw_key, json::compact(m.value))).collect();
    if parts.is_empty() {
        return Ok(None);
    }
    let object = RawJson::parse(format!("{{{}}}", parts.join(",")))?;
    Edits::new(object).map(Some)
}

/// One value that edits change, as JSON. `None`: it is new, or dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldChange {
    /// The top-level key.
    pub key: String,
    /// The key, or the path of a value in it: `recommendations[1].title`. Elements that a list lost or gained have the
    /// path of the list.
    pub path: String,
    pub old: Option<String>,
    pub new: Option<String>,
}

/// Longer values and paths are not compared in detail. Bytes.
const LONGEST: usize = 64 << 10;
const LONGEST_PATH: usize = 256;
/// Maximum elements of a list that is compared in detail.
const ELEMENTS: usize = 500;

/// Returns what edits change of an input, value by value.
pub fn changes(input: &RawJson, edits: &Edits) -> Vec<FieldChange> {
    let (old, mut all) = (input.members().unwrap_or_default(), Vec::new());
    for member in edits.0.members().unwrap_or_default() {
        let key = &member.key.text;
        let before = old.iter().find(|known| known.key.text == *key).map(|known| known.value);
        let mut found = Vec::new();
        compare(key.to_string(), before, Some(member.value), &mut found);
        all.extend(found.into_iter().map(|change| FieldChange { key: key.to_string(), ..change }));
    }
    all
}

fn compare(path: String, old: Option<&str>, new: Option<&str>, found: &mut Vec<FieldChange>) {
    let is_short = |text: &str| text.len() <= LONGEST && path.len() <= LONGEST_PATH;
    if let Some((old, new)) = old.zip(new).filter(|(old, new)| is_short(old) && is_short(new)) {
        if json::compact(old) == json::compact(new) {
            return;
        }
        if let (Ok(old), Ok(new)) = (unique_members(old), unique_members(new)) {
            let (before, after) = (by_key(&old), by_key(&new));
            let added = new.iter().filter(|member| !before.contains_key(member.key.text.as_ref()));
            for name in old.iter().chain(added).map(|member| member.key.text.as_ref()) {
                let value = |of: &HashMap<&str, &Member<'_>>| of.get(name).map(|it| it.value.to_owned());
                compare(format!("{path}.{name}"), value(&before).as_deref(), value(&after).as_deref(), found);
            }
            return;
        }
        if let (Some(old), Some(new)) = (elements(old), elements(new)) {
            let (dropped, added) = (without(&old, &new), without(&new, &old));
            let differ = old.iter().zip(&new).enumerate().filter(|(_, (old, new))| old != new);
            if old.len() == new.len() && differ.clone().count() == dropped.len() {
                differ.for_each(|(nth, (old, new))| {
                    compare(format!("{path}[{nth}]"), Some(old), Some(new), found);
                });
                return;
            }
            // Otherwise only their order differs, and the list itself is the change.
            if dropped.len() + added.len() > 0 {
                let change =
                    |old, new| FieldChange { path: path.clone(), old, new, ..FieldChange::default() };
                found.extend(dropped.into_iter().map(|old| change(Some(old), None)));
                found.extend(added.into_iter().map(|new| change(None, Some(new))));
                return;
            }
        }
    }
    let (old, new) = (old.map(str::to_owned), new.map(str::to_owned));
    found.push(FieldChange { path, old, new, ..FieldChange::default() });
}

fn elements(list: &str) -> Option<Vec<String>> {
    let elements = json::elements(list).filter(|elements| elements.len() <= ELEMENTS)?;
    Some(elements.into_iter().map(json::compact).collect())
}

/// Returns the elements that the other list lacks; one that stands twice must be there twice.
fn without(elements: &[String], other: &[String]) -> Vec<String> {
    let mut left = other.to_vec();
    let mut take = |element| left.iter().position(|it| it == element).map(|place| left.swap_remove(place));
    elements.iter().filter(|element| take(*element).is_none()).cloned().collect()
}

fn unique_members(text: &str) -> Result<Vec<Member<'_>>, EditError> {
    let members = json::members(text).ok_or(EditError::NotAnObject)?;
    let mut keys = HashSet::new();
    match members.iter().find(|member| !keys.insert(member.key.text.as_ref())) {
        Some(twice) => Err(EditError::DuplicateKey(twice.key.text.clone().into_owned())),
        None => Ok(members),
    }
}

fn before_of<'a>(old: &[Member<'a>], member: &Member<'_>) -> Option<&'a str> {
    old.iter().find(|other| other.key.text == member.key.text).map(|other| other.value)
}

/// Returns words that are not JSON values, such as `NaN`. An input may have them, but edits must not add any.
fn odd_words(value: &str) -> Vec<&str> {
    let (mut scanner, mut odd) = (json::Scanner::new(value), Vec::new());
    while let Ok(Some(token)) = scanner.next_token() {
        let plain = matches!(token.text, "null" | "true" | "false") || json::is_number(token.text);
        if token.kind == json::TokenKind::Scalar && !plain {
            odd.push(token.text);
        }
    }
    odd
}

fn by_key<'a, 'b>(members: &'b [Member<'a>]) -> HashMap<&'b str, &'b Member<'a>> {
    members.iter().map(|member| (member.key.text.as_ref(), member)).collect()
}

fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawJson {
        RawJson::parse(text).unwrap()
    }

    fn merged(input: &str, edits: &str) -> Result<String, EditError> {
        merge(&raw(input), &Edits::new(raw(edits))?).map(|json| json.as_str().to_owned())
    }

    #[test]
    fn only_the_edited_values_change() {
        let input = "{ \"price\": 1.10,\n \"n\":18446744073709551616 , \"t\":\"a\" }";

        let merged = merged(input, r#"{"t":"b","new":[1]}"#).unwrap();

        assert_eq!(merged, "{ \"price\": 1.10,\n \"n\":18446744073709551616 , \"t\":\"b\",\"new\":[1] }");
    }

    #[test]
    fn new_keys_are_appended_in_sent_order() {
        assert_eq!(merged("{}", r#"{"b":1,"a":2}"#).unwrap(), r#"{"b":1,"a":2}"#);
        assert_eq!(merged(" { } ", r#"{"b":1}"#).unwrap(), r#" {"b":1 } "#);
        assert_eq!(merged(r#"{"x":{"y":1}}"#, "{}").unwrap(), r#"{"x":{"y":1}}"#);
    }

    #[test]
    fn keys_are_matched_by_meaning() {
        assert_eq!(merged(r#"{"t\u006f":"a"}"#, r#"{"to":"b"}"#).unwrap(), r#"{"t\u006f":"b"}"#);
    }

    #[test]
    fn duplicates_and_identity_refuse_edits() {
        assert_eq!(merged(r#"{"a":1,"a":2}"#, r#"{"b":1}"#), Err(EditError::DuplicateKey("a".into())));
        assert_eq!(merged("{}", r#"{"b":1,"b":2}"#), Err(EditError::DuplicateKey("b".into())));
        assert_eq!(
            merged("{}", r#"{"workspace_id":"w"}"#),
            Err(EditError::IdentityKey("workspace_id".into()))
        );
        assert_eq!(merged("[]", r#"{"b":1}"#), Err(EditError::NotAnObject));
    }

    #[test]
    fn a_reviewers_text_becomes_the_changed_keys() {
        let input = raw(r#"{"title":"a","n":1.10,"list":[1,2]}"#);

        let edits = changed_keys(&input, "{\n \"title\": \"b\",\n \"n\": 1.10,\n \"list\": [1, 2, 3]\n}")
            .unwrap()
            .unwrap();

        assert_eq!(edits.as_json().as_str(), r#"{"title":"b","list":[1,2,3]}"#);
        assert_eq!(changed_keys(&input, &json::pretty(input.as_str())), Ok(None));
        assert_eq!(
            changed_keys(&input, r#"{"title":b,"n":1.10,"list":[1,2]}"#),
            Err(EditError::Json(JsonError { at: 10, what: json::NO_VALUE }))
        );
        let odd = raw(r#"{"list":[NaN,1]}"#);
        assert!(changed_keys(&odd, r#"{"list":[NaN]}"#).unwrap().is_some(), "the input has the word");
        assert_eq!(
            changed_keys(&input, r#"{"n":1.10,"list":[1,2]}"#),
            Err(EditError::Removed("title".into()))
        );
    }

    #[test]
    fn changes_name_every_value_that_differs() {
        let told = |input: &str, edits: &str| {
            let all = changes(&raw(input), &Edits::new(raw(edits)).unwrap());
            let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
            let one = |it: &FieldChange| format!("{} {} {}", it.path, side(&it.old), side(&it.new));
            all.iter().map(one).collect::<Vec<_>>().join("; ")
        };
        for (input, edits, want) in [
            (r#"{"a":1,"b":2}"#, r#"{"b": 3}"#, "b 2 3"),
            (r#"{"a":1}"#, r#"{"a":null,"n":"x"}"#, r#"a 1 null; n - "x""#),
            (r#"{"a":[1, 2]}"#, r#"{"a":[1,2]}"#, ""),
            (r#"{"a":{"b":{"c":1},"d":2}}"#, r#"{"a":{"b":{"c":9},"d":2,"e":3}}"#, "a.b.c 1 9; a.e - 3"),
            (r#"{"a":{"b":1}}"#, r#"{"a":{}}"#, "a.b 1 -"),
            (r#"{"a":{"b":1}}"#, r#"{"a":7}"#, r#"a {"b":1} 7"#),
            (r#"{"a":{"b":1,"b":2}}"#, r#"{"a":{"b":2}}"#, r#"a {"b":1,"b":2} {"b":2}"#),
            (r#"{"a":["x","y","x"]}"#, r#"{"a":["y","x"]}"#, r#"a "x" -"#),
            (r#"{"a":["x","y"]}"#, r#"{"a":["y","z"]}"#, r#"a "x" -; a - "z""#),
            (r#"{"a":["x","y"]}"#, r#"{"a":["y","x"]}"#, r#"a ["x","y"] ["y","x"]"#),
            (r#"{"a":[{"t":1},{"t":2}]}"#, r#"{"a":[{"t":1},{"t":3}]}"#, "a[1].t 2 3"),
            (r#"{"a":[{"t":1},{"t":2}]}"#, r#"{"a":[{"t":2}]}"#, r#"a {"t":1} -"#),
        ] {
            assert_eq!(told(input, edits), want, "{input} {edits}");
        }
    }
}
