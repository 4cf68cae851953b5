use super::*;
use crate::domain::{BatchId, Effect, Risk, Timestamp};
use crate::sources::agents_api::wire::{action, is_nothing, listed, one};

const PENDING: &str = r#"{"action_id":"pa_1","kind":"delete_posts","summary":"Delete 2 posts","preview":"two \u201cposts\u201d","apply_input":{"ids":[1,2],"n":1.10,"big":18446744073709551616,"a":1,"a":2},"workspace":[],"agent":null,"creator":"user:1","status":"pending","created_at":"2026-11-21 20:37:34","expires_at":null,"resolved_at":null,"resolver":null,"resolution_result":[],"resolution_error":null,"resolution_metadata":[],"metadata":[]}"#;

fn read(text: &str) -> PendingAction {
    action(text, &Settings::default()).unwrap()
}

fn with(name: &str, value: &str) -> PendingAction {
    let raw = crate::domain::RawJson::parse(PENDING).unwrap();
    let members = raw.members().unwrap().into_iter();
    let written: Vec<_> = members
        .map(|member| {
            let value = if member.key.text == name { value } else { member.value };
            format!("{}:{value}", member.raw_key)
        })
        .collect();
    read(&format!("{{{}}}", written.join(",")))
}

#[test]
fn input_keeps_its_bytes_and_phps_empty_list_is_empty() {
    let action = read(PENDING);

    assert_eq!(action.input.as_str(), r#"{"ids":[1,2],"n":1.10,"big":18446744073709551616,"a":1,"a":2}"#);
    assert_eq!((&action.row.workspace, &action.row.session, &action.result), (&None, &None, &None));
    assert_eq!(action.row.batch, Some(BatchId::new("delete_posts")));
    assert_eq!(
        action.row.title,
        Untrusted::from("Delete 2 posts · ids=[1,2] n=1.10 big=18446744073709551616 a=1")
    );
    assert_eq!(action.preview.unwrap().as_str(), r#""two \u201cposts\u201d""#);
    for input in ["[]", "null", "\"text\"", "17", "{}"] {
        assert_eq!(with("apply_input", input).input.as_str(), input, "any JSON is kept as sent");
    }
}

#[test]
fn missing_effect_ranks_as_destructive() {
    let of = |word: &str| with("metadata", &format!(r#"{{"effect":{word}}}"#)).row;
    assert_eq!(read(PENDING).row.effect, Some(Effect::Destructive));
    assert_eq!(read(PENDING).row.risk, Risk::High);
    for (word, effect, risk) in [
        ("\"read\"", Effect::Read, Risk::Low),
        ("\"write\"", Effect::Write, Risk::Medium),
        ("\"external\"", Effect::External, Risk::High),
        ("\"destructive\"", Effect::Destructive, Risk::High),
        ("\"spicy\"", Effect::Other("spicy".into()), Risk::High),
        ("null", Effect::Destructive, Risk::High),
        ("[]", Effect::Destructive, Risk::High),
    ] {
        assert_eq!((of(word).effect, of(word).risk), (Some(effect), risk), "{word}");
    }
}

#[test]
fn any_date_format_is_read_or_ignored() {
    let at = |text: &str| with("expires_at", text).row.expires_at;
    let noon = Some(Timestamp::from_millis(1_795_348_800_000));
    for text in [
        "\"2026-11-22T12:00:00+00:00\"",
        "\"2026-11-22 12:00:00\"",
        "\"2026-11-22T12:00:00+00:00Z\"",
        "1795348800",
        "\"1795348800\"",
        "1795348800000",
    ] {
        assert_eq!(at(text), noon, "{text}");
    }
    for text in ["\"next tuesday\"", "\"\"", "null", "[]", "0", "\"0000-00-00 00:00:00\"", "false"] {
        assert_eq!(at(text), None, "{text}");
    }
    assert_eq!(with("created_at", "\"once\"").row.created_at, Timestamp::default());
}

#[test]
fn accepted_is_executed_unless_it_has_an_error() {
    let of = |word: &str| with("status", &format!("\"{word}\"")).row.status;
    assert_eq!(of("accepted"), Status::Executed);
    assert_eq!(of("applying"), Status::Running);
    assert_eq!(of("rejected"), Status::Rejected);
    assert_eq!(of("expired"), Status::Expired);
    assert_eq!(of("deleted"), Status::Other("deleted".into()));
    let failed = PENDING.replace("\"pending\"", "\"accepted\"").replace("error\":null", "error\":\"no\"");
    assert_eq!(read(&failed).row.status, Status::Failed);
}

#[test]
fn tool_and_session_are_read_by_configured_pointers() {
    let text = PENDING.replace(
        r#""metadata":[]"#,
        r#""metadata":{"tool_name":"posts/delete","datamachine":{"context":{"session_id":"dm"}},"s":5}"#,
    );
    let row = read(&text).row;
    assert_eq!((row.tool.as_raw(), row.batch), ("delete_posts", Some(BatchId::new("dm:delete_posts"))));

    let settings = Settings {
        agent: None,
        tool_pointer: Some("/metadata/tool_name".to_owned()),
        session_pointer: Some("/metadata/s".to_owned()),
    };
    let row = action(&text, &settings).unwrap().row;
    assert_eq!((row.tool.as_raw(), row.batch), ("posts/delete", Some(BatchId::new("5:delete_posts"))));
    assert_eq!(
        action(PENDING, &settings).unwrap().row.tool.as_raw(),
        "delete_posts",
        "without the pointer, the kind"
    );
}

#[test]
fn malformed_action_says_why_and_keeps_its_id() {
    let of = |text: &str| action(text, &Settings::default()).unwrap_err();
    let no_input = of(r#"{"action_id":"pa_1","kind":"k","status":"pending"}"#);
    assert_eq!((no_input.what, no_input.id), ("it has no apply_input", Some(ActionId::new("pa_1"))));
    assert_eq!(of(r#"{"action_id":"","kind":"k"}"#).what, "it has no action_id");
    assert_eq!(of(r#"{"action_id":"a","apply_input":1}"#).what, "it has no kind");
    assert_eq!(of(r#"{"action_id":"a","kind":"k","apply_input":1}"#).what, "it has no status");
    assert_eq!(of("17").what, "it is no object");
    assert_eq!(of(r#"{"action_id":"a",}"#).what, "it is no valid JSON");
}

#[test]
fn php_object_with_numeric_keys_is_a_list() {
    assert_eq!(listed(r#"{"actions":[]}"#), Some(vec![]));
    assert_eq!(listed(r#"{"actions":{"0":{"a":1},"3":{"a":2}}}"#), Some(vec![r#"{"a":1}"#, r#"{"a":2}"#]));
    assert_eq!(listed(r#"{"total":3}"#), None);
    for (text, nobody) in
        [(r#"{"action":null}"#, true), (r#"{"action":[]}"#, true), (r#"{"action":{"a":1}}"#, false)]
    {
        assert_eq!(one(text).map(is_nothing), Some(nobody), "{text}");
    }
    assert_eq!(one(r#"{"message":"no"}"#), None);
}
