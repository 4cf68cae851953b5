//! Exact JSON editing on random values: unedited bytes stay the same, and the result is the shallow merge.

use placet::for_tests::{EditError, Edits, RawJson, changed_keys, json, merge};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// JSON texts with awkward numbers, escapes and white space; may contain duplicate keys.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("1.10".to_owned()),
        Just("18446744073709551616".to_owned()),
        Just("-0".to_owned()),
        Just("1e-400".to_owned()),
        "\"[a-z\u{e9}\u{4e16}\u{202e}]{0,6}\"",
        Just(r#""a\nb\ud83d\ude00\"{""#.to_owned()),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(" , "))),
            prop::collection::vec((0..5_u8, inner), 0..4).prop_map(|members| {
                let members: Vec<_> =
                    members.iter().map(|(key, value)| format!("\"k{key}\" : {value}")).collect();
                format!("{{ {} }}", members.join(","))
            }),
        ]
    })
}

fn object(keys: std::ops::Range<u8>) -> impl Strategy<Value = String> {
    prop::collection::btree_map(keys, value(), 0..6).prop_map(|members| {
        let members: Vec<_> = members.iter().map(|(key, value)| format!("\"key{key}\":{value}")).collect();
        format!(" {{\n{}\n}} ", members.join(" ,\t"))
    })
}

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

fn members(json: &RawJson) -> Vec<(String, String)> {
    json.members().unwrap().into_iter().map(|it| (it.key.text.into_owned(), it.value.to_owned())).collect()
}

/// The short run has a fixed seed, the long run a random one.
fn config() -> ProptestConfig {
    let is_long = std::env::var_os("PLACET_LONG").is_some();
    let (cases, rng_seed) = if is_long { (5_000, RngSeed::Random) } else { (256, RngSeed::Fixed(0x5eed)) };
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn merge_changes_only_edited_keys(input in object(0..8), edits in object(4..12)) {
        let (input, edits) = (raw(&input), Edits::new(raw(edits.trim())).unwrap());
        let mut want = members(&input);
        for (key, value) in members(edits.as_json()) {
            match want.iter_mut().find(|(known, _)| *known == key) {
                Some((_, old)) => *old = value,
                None => want.push((key, value)),
            }
        }

        let merged = merge(&input, &edits).unwrap();

        prop_assert_eq!(members(&merged), want);
        if edits.keys().is_empty() {
            prop_assert_eq!(merged.as_str(), input.as_str());
        }
    }

    #[test]
    fn laying_out_changes_white_space_only(text in value()) {
        let pretty = json::pretty(&text);

        prop_assert_eq!(json::compact(&pretty), json::compact(&text));
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&pretty).ok(), serde_json::from_str(&text).ok());
    }

    #[test]
    fn unchanged_input_sends_no_edits(input in object(0..8)) {
        let input = raw(&input);

        prop_assert_eq!(changed_keys(&input, &json::pretty(input.as_str())), Ok(None));
    }

    #[test]
    fn changed_keys_reproduce_the_edited_input(input in object(0..6), more in object(0..9)) {
        let (input, more) = (raw(&input), raw(&more));
        let edited = merge(&input, &Edits::new(more).unwrap()).unwrap();

        let sent = changed_keys(&input, &json::pretty(edited.as_str())).unwrap();

        let lands = match sent {
            None => input.clone(),
            Some(edits) => merge(&input, &edits).unwrap(),
        };
        prop_assert_eq!(json::compact(lands.as_str()), json::compact(edited.as_str()));
    }

    #[test]
    fn parsing_any_text_never_panics(text in "[\\[\\]{}\",:0-9a-z\\\\u \n]{0,60}") {
        let read = RawJson::parse(text.as_str());

        if serde_json::from_str::<Box<serde_json::value::RawValue>>(&text).is_ok() {
            prop_assert!(read.is_ok(), "refused what is JSON");
        }
        drop((json::members(&text), json::elements(&text), json::duplicate_keys(&text), json::pretty(&text)));
    }

    #[test]
    fn duplicates_never_merge(input in value()) {
        let input = raw(&input);
        if !json::duplicate_keys(input.as_str()).is_empty() {
            let merged = merge(&input, &Edits::new(raw("{\"new\":1}")).unwrap());
            let top_level = input.members().map(|all| {
                let mut keys: Vec<_> = all.iter().map(|it| it.key.text.clone()).collect();
                let before = keys.len();
                keys.sort();
                keys.dedup();
                keys.len() < before
            });
            match top_level {
                Some(true) => prop_assert!(matches!(merged, Err(EditError::DuplicateKey(_)))),
                Some(false) => prop_assert!(merged.is_ok()),
                None => prop_assert_eq!(merged, Err(EditError::NotAnObject)),
            }
        }
    }
}
