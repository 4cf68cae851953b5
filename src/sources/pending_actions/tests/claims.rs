//! Claims, as a gate reports them.

use super::*;
use crate::domain::{Claim, Timestamp};

const LIST: &str =
    "/api/pending-actions?workspace_id=w&status=pending%2Cunknown&view=row&nulls=false&limit=100";

fn claim(id: &str, by: &str) -> String {
    format!(r#"{{"pendingActionId":"{id}","claimedBy":"{by}","claimedAt":"2026-04-21T18:02:11.420Z"}}"#)
}

fn expected(id: &str, by: &str) -> Claim {
    Claim { id: ActionId::new(id), by: by.into(), since: Timestamp::from_millis(1_776_794_531_420) }
}

#[tokio::test]
async fn claims_come_with_lists_and_changes() {
    let gate = Backend::default();
    let list = format!(r#"{{"items":[],"revision":1,"claims":[{},17]}}"#, claim("1", "kim"));
    gate.on("GET", LIST).reply(200, list);
    gate.on("GET", "/api/pending-actions/changes?workspace_id=w&since=1&limit=5000")
        .reply(200, r#"{"changes":[],"revision":1,"more":false,"complete":true,"claims":[]}"#);
    gate.on("POST", "/api/claims/a%2Fb").reply(200, claim("a/b", "lee"));
    gate.on("POST", "/api/claims/a%2Fb/end").reply(200, r#"{"ended":true}"#);
    let source = gate.source(SourceKind::Gate, Some("w")).await;
    assert_eq!(source.claims(), None, "not reported yet");

    source.sync(None).await.unwrap();
    assert_eq!(source.claims(), Some(vec![expected("1", "kim")]));
    source.sync(Some(Revision(1))).await.unwrap();
    assert_eq!(source.claims(), Some(Vec::new()));
    let claims = source.abilities().claims.unwrap();
    assert_eq!(claims.claim(&ActionId::new("a/b")).await.unwrap(), expected("a/b", "lee"));
    claims.end_claim(&ActionId::new("a/b")).await.unwrap();
}

#[tokio::test]
async fn praxiom_gets_no_claim_requests() {
    let praxiom = Backend::default();
    let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;

    assert!(source.abilities().claims.is_none());
}
