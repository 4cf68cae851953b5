//! Edits at a Praxiom: a shallow merge over the input, regardless of the preview.

use super::*;
use crate::config::Praxiom;
use crate::domain::PendingAction;
use crate::domain::{EditError, Refusal, changed_keys};

const INPUT: &str = r#"{"workspace_id":"w","items":[{"n":1.10,"t":"a"},{"n":2,"t":"b"}],"note":"as it was"}"#;

fn proposed() -> PendingAction {
    let text = fake::text("1", INPUT, "pending");
    let text = text.strip_suffix('}').unwrap();
    let text = format!(r#"{text},"preview":{{"count":2,"items":[{{"Title":"a"}},{{"Title":"b"}}]}}}}"#);
    crate::contract::action::read(&text).unwrap()
}

fn edits(edited: &str) -> Result<Edits, EditError> {
    changed_keys(&proposed().input, edited).map(|edits| edits.expect("no edits"))
}

async fn sent(edited: &str) -> String {
    let praxiom = Backend::default();
    let path = "/api/pending-actions/1";
    praxiom.on("GET", path).reply(200, fake::text("1", INPUT, "pending"));
    praxiom.on("POST", "/api/pending-actions/1/approve").reply(200, fake::text("1", INPUT, "approved"));
    let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;
    let decision = Decision::Approve { edits: Some(edits(edited).unwrap()), comment: None };
    let frozen = fake::frozen(&source, proposed(), decision).unwrap();

    let outcomes = source.submit(&frozen, "k").await.unwrap();

    assert_eq!(outcomes, [(id("1"), Outcome::Approved)]);
    praxiom.requests().pop().unwrap().body
}

#[tokio::test]
async fn changed_list_element_sends_only_its_whole_list() {
    let edited = INPUT.replace(r#""t":"b""#, r#""t":"c""#);

    assert_eq!(sent(&edited).await, r#"{"userEdits":{"items":[{"n":1.10,"t":"a"},{"n":2,"t":"c"}]}}"#);
}

#[test]
fn edit_that_removes_a_key_is_refused() {
    let error = edits(r#"{"workspace_id":"w","items":[]}"#).unwrap_err();

    assert_eq!(error, EditError::Removed("note".to_owned()));
    assert!(error.to_string().contains("a key cannot be removed by an edit; set it to null instead"));
}

#[tokio::test]
async fn edits_apply_to_the_input_not_the_preview() {
    let body = sent(&INPUT.replace("as it was", "as it is")).await;

    assert_eq!(body, r#"{"userEdits":{"note":"as it is"}}"#);
    assert!(!proposed().preview.is_none_or(|preview| body.contains(preview.as_str())));
}

#[tokio::test]
async fn edit_cannot_change_the_workspace() {
    for key in ["workspace_id", "workspaceId"] {
        let moved = format!(r#"{{"{key}":"x","items":[],"note":"n","workspace_id":"x"}}"#);
        let moved = if key == "workspace_id" { INPUT.replace(r#"id":"w""#, r#"id":"x""#) } else { moved };
        assert!(matches!(edits(&moved), Err(EditError::IdentityKey(_))), "{moved}");
        assert!(Edits::new(RawJson::parse(format!(r#"{{"{key}":"x"}}"#)).unwrap()).is_err());
    }
}

#[tokio::test]
async fn input_with_duplicate_keys_cannot_be_edited() {
    let praxiom = Backend::default();
    let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;
    let twice = fake::action("1", r#"{"n":1,"n":2}"#);
    let edits = Edits::new(RawJson::parse(r#"{"n":3}"#).unwrap()).unwrap();

    let refusal = fake::frozen(&source, twice, Decision::Approve { edits: Some(edits), comment: None });

    assert!(matches!(refusal, Err(Refusal::BadEdits(_, EditError::DuplicateKey(_)))), "{refusal:?}");
    assert!(praxiom.requests().is_empty());
}
