//! Property test: edits of any input give the plain merge, and untouched fields keep their bytes.

use proptest::prelude::*;
use serde_json::Value;

use crate::domain::{RawJson, json, merge};
use crate::rounds;
use crate::tui::edit::field::Kind;
use crate::tui::edit::form::EditForm;
use crate::tui::testing;
use crate::tui::testing::key;

fn value() -> impl Strategy<Value = String> {
    let text = any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap());
    let odd = prop::sample::select(vec![
        "1.10",
        "18446744073709551616",
        "-0",
        "1e5",
        "true",
        "false",
        "null",
        r#""t\u006f""#,
        r#""\ud800""#,
        "[ 1.0 ,2]",
        "[]",
        r#"{"a" : [1.50]}"#,
        r#"[{"title":"x"},{"title":"y"}]"#,
    ]);
    prop_oneof![text, odd.prop_map(str::to_owned)]
}

/// Returns a text for a field of this kind, and the value it means.
fn typed(kind: &Kind, text: &str, number: i32) -> Option<(String, Value)> {
    match kind {
        Kind::Text => Some((text.to_owned(), Value::String(text.to_owned()))),
        Kind::Number => {
            Some((format!("{number}.50"), serde_json::from_str(&format!("{number}.50")).unwrap()))
        }
        Kind::Json => Some((format!("[{number}]"), serde_json::json!([number]))),
        Kind::Choice(_) | Kind::List => None,
    }
}

fn form(input: &RawJson) -> EditForm {
    let digest = testing::few(1)[0].digest();
    EditForm::new(key("1"), digest, input.clone(), &json::pretty(input.as_str()), None)
}

proptest! {
    #![proptest_config(rounds::config(128, 5_000))]

    #[test]
    fn edits_equal_the_plain_merge_and_keep_untouched_bytes(
        values in prop::collection::vec(value(), 1..8),
        edits in prop::collection::vec((0_usize..8, "[^\r]{0,12}", any::<i32>()), 0..4),
        gap in prop::sample::select(vec!["", " ", "\n\t"]),
    ) {
        let members: Vec<String> =
            values.iter().enumerate().map(|(nth, value)| format!("{gap}\"k{nth}\"{gap}:{gap}{value}")).collect();
        let input = RawJson::parse(format!("{{{}{gap}}}", members.join(","))).unwrap();
        let mut form = form(&input);
        let mut wanted: Vec<Option<Value>> = vec![None; values.len()];
        for (nth, text, number) in edits {
            let Some(kind) = form.fields.get(nth).map(|field| field.kind.clone()) else { continue };
            let Some((text, meant)) = typed(&kind, &text, number) else { continue };
            form.select(nth);
            form.area.select_all();
            form.area.cut();
            form.area.insert_str(&text);
            form.typed();
            wanted[nth] = Some(meant);
        }

        prop_assert!(form.fields.iter().all(|field| field.wrong.is_none()));
        let merged = match form.check.clone().unwrap() {
            Some(edits) => merge(&input, &edits).unwrap(),
            None => input.clone(),
        };
        let reopened = EditForm::new(key("1"), form.digest, input.clone(), &form.text(), None);
        prop_assert_eq!(&reopened.check, &form.check, "the saved text is the same draft");
        for ((member, before), wanted) in merged.members().unwrap().iter().zip(&values).zip(&wanted) {
            match wanted {
                None => prop_assert_eq!(member.value, before),
                Some(wanted) => {
                    prop_assert_eq!(&serde_json::from_str::<Value>(member.value).unwrap(), wanted);
                }
            }
        }
        if wanted.iter().all(Option::is_none) {
            prop_assert_eq!(merged.as_str(), input.as_str());
        }
    }
}
