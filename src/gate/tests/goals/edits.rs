//! G13: the gate stores and runs the edited input exactly as the reviewer saw it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use reqwest::Method;
use serde_json::value::RawValue;

use crate::domain::{Digest, EditError, Edits, IDENTITY_KEYS, RawJson, merge};
use crate::gate::tests::rounds::runner;
use crate::gate::tests::support::{TestGate, plain};

/// JSON spellings of names, some of which are identity fields.
const KEYS: [&str; 9] = [
    r#""title""#,
    r#""n""#,
    r#""t\u0069tle""#,
    r#""""#,
    r#""ü""#,
    r#""a b""#,
    r#""workspace_id""#,
    r#""workspace\u005fid""#,
    r#""sessionId""#,
];
const IDENTITY: [&str; 2] = ["workspace_id", "sessionId"];

fn value() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        Just("1.10".to_owned()),
        Just("18446744073709551616".to_owned()),
        Just("1e400".to_owned()),
        Just("-0.0".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
    ];
    let text = any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap());
    let word = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just(r#""\u00e9\ud83d\ude00""#.to_owned())
    ];
    prop_oneof![number, text, word].prop_recursive(2, 8, 3, |inner| {
        let list =
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[ {}]", items.join(", ")));
        let object = inner.prop_map(|value| format!(r#"{{"x" : {value},"x":1}}"#));
        prop_oneof![list, object]
    })
}

/// An object of some of the first `keys` names, with JSON's white space. Names may repeat.
fn object(keys: usize) -> impl Strategy<Value = String> {
    let space = prop_oneof![Just(""), Just(" "), Just("\n\t")];
    let member = (0..keys, value(), space.clone())
        .prop_map(|(key, value, space)| format!("{space}{}{space}:{space}{value}", KEYS[key]));
    (prop::collection::vec(member, 0..5), space)
        .prop_map(|(members, space)| format!("{{{}{space}}}", members.join(",")))
}

/// Reads names and exact values with another reader. `None` if a name repeats.
fn read(text: &str) -> Option<BTreeMap<String, String>> {
    let members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).unwrap();
    let in_all = RawJson::parse(text).unwrap().members().unwrap().len();
    let values: BTreeMap<_, _> =
        members.into_iter().map(|(name, value)| (name, value.get().to_owned())).collect();
    (values.len() == in_all).then_some(values)
}

/// Returns status and body as text, because no JSON library reads numbers like 1e400.
async fn approve(gate: &TestGate, id: &str, body: String) -> (u16, String) {
    let path = format!("/api/pending-actions/{id}/approve");
    let request = gate.request(Method::POST, &path, &gate.owner).header("content-type", "application/json");
    let response = request.body(body).send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

async fn check(gate: &TestGate, input: &str, edits: &str) {
    let id = gate.propose("t", input).await;
    let ours = RawJson::parse(edits)
        .map_err(EditError::from)
        .and_then(Edits::new)
        .and_then(|edits| merge(&RawJson::parse(input).unwrap(), &edits));
    let (before, change) = (read(input), read(edits));
    let identity = change.as_ref().is_some_and(|it| it.keys().any(|key| IDENTITY.contains(&key.as_str())));
    let want = before.zip(change).filter(|_| !identity).map(|(before, change)| {
        let mut merged = before;
        merged.extend(change);
        merged
    });

    // Like the reviewer's client, which sends the digest it expects.
    let expected = ours.as_ref().ok().map(|merged| Digest::of("t", "w", merged.as_str()).to_string());
    let bound =
        expected.as_ref().map_or(String::new(), |digest| format!(r#","expectedEffectiveDigest":"{digest}""#));
    let (status, text) = approve(gate, &id, format!(r#"{{"userEdits":{edits}{bound}}}"#)).await;

    let stored = gate.gate.store().get(&id).await.unwrap().unwrap();
    match (ours, want) {
        (Ok(merged), Some(want)) => {
            assert_eq!(status, 200, "{text}");
            let kept = stored.action.effective_input.unwrap();
            assert_eq!(kept.as_str(), merged.as_str());
            assert!(text.contains(&format!(r#""effectiveInput":{},"#, merged.as_str())), "{text}");
            assert_eq!(stored.effective_digest.map(|digest| digest.to_string()), expected);
            // The other reader finds the result of a shallow merge.
            assert_eq!(read(kept.as_str()), Some(want));
        }
        (Err(_), None) => {
            assert!(status == 422 && text.contains(r#""code":"INVALID""#), "{status} {text}");
            assert!(stored.action.row.status.is_pending() && stored.action.effective_input.is_none());
        }
        (ours, want) => panic!("the two sides disagree: {ours:?}, {want:?}"),
    }
}

#[test]
fn g13_both_sides_merge_edits_to_the_same_bytes() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (_folder, gate) = runtime.block_on(plain());
    let cases = (object(6), object(KEYS.len()));

    let ran = runner(60, 10_000).run(&cases, |(input, edits)| {
        runtime.block_on(check(&gate, &input, &edits));
        Ok(())
    });

    ran.unwrap_or_else(|failed| panic!("{failed}"));
}

#[tokio::test]
async fn g13_identity_fields_cannot_be_edited_in_any_spelling() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", r#"{"workspace_id":"w","title":"a"}"#).await;

    for name in IDENTITY_KEYS {
        let escaped: Vec<_> = name.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
        for spelled in [name.to_owned(), escaped.concat()] {
            for value in [r#""x""#, r#""w""#, "null"] {
                let body = format!(r#"{{"userEdits":{{"title":"b","{spelled}":{value}}}}}"#);
                assert_eq!(gate.approve(&id, &body).await.code(), (422, "INVALID".to_owned()), "{body}");
            }
        }
    }

    assert_eq!(gate.status(&id).await, "pending");
}
