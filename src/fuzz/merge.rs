//! Fuzzes edits over an input: members that were not edited keep their bytes. The data is an input and an object of
//! edits, separated by a zero byte.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::domain::json;
use crate::domain::{Edits, RawJson, changed_keys, merge};

type Members = BTreeMap<String, Box<RawValue>>;

pub(super) fn run(data: &[u8]) {
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let mut text = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let (input, wanted) = (text(), text());
    let Ok(input) = RawJson::parse(input) else { return };
    let _ = changed_keys(&input, &wanted);
    let Some(edits) = RawJson::parse(wanted).ok().and_then(|object| Edits::new(object).ok()) else { return };
    let Ok(merged) = merge(&input, &edits) else { return };

    bytes(&input, &edits, &merged);
    another_reader(&input, &edits, &merged);
    let again = changed_keys(&input, merged.as_str());
    if let Ok(Some(again)) = again {
        let twice = merge(&input, &again).expect("the first merge succeeded");
        assert_eq!(json::compact(twice.as_str()), json::compact(merged.as_str()));
    }
    let Ok(unchanged) = merge(&merged, &edits) else { panic!("{merged:?} cannot be edited again") };
    assert_eq!(unchanged, merged, "the same edits change nothing more");
}

/// Checks that each member keeps its place, with its own bytes or the edit's, and that new members follow in edit
/// order.
fn bytes(input: &RawJson, edits: &Edits, merged: &RawJson) {
    let (old, new) = (input.members().unwrap_or_default(), edits.as_json().members().unwrap_or_default());
    let mut want: Vec<(&str, &str)> = Vec::new();
    for member in &old {
        let edit = new.iter().find(|edit| edit.key.text == member.key.text);
        want.push((member.raw_key, edit.map_or(member.value, |edit| edit.value)));
    }
    let known = |key: &str| old.iter().any(|member| member.key.text == key);
    want.extend(new.iter().filter(|edit| !known(&edit.key.text)).map(|edit| (edit.raw_key, edit.value)));
    let got = merged.members().unwrap_or_default();
    let got: Vec<(&str, &str)> = got.iter().map(|member| (member.raw_key, member.value)).collect();
    assert_eq!(got, want);
}

/// Checks the merge with serde_json, if it can read all three.
fn another_reader(input: &RawJson, edits: &Edits, merged: &RawJson) {
    let read = |raw: &RawJson| serde_json::from_str::<Members>(raw.as_str()).ok();
    let (Some(mut want), Some(edits)) = (read(input), read(edits.as_json())) else { return };
    want.extend(edits);
    let texts = |members: &Members| -> Vec<(String, String)> {
        members.iter().map(|(key, value)| (key.clone(), value.get().to_owned())).collect()
    };
    let got = read(merged).expect("both inputs could be read");
    assert_eq!(texts(&got), texts(&want));
}
