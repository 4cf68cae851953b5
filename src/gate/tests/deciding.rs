//! Proposing and deciding according to the contract.

use super::support::{Answer, answer, ids, plain, script, with_tool};
use crate::domain::Digest;
use crate::gate::{Scope, reconcile};

/// Numbers and keys that JSON libraries would change.
const EXACT: &str = r#"{"amount": 1.10,"big":18446744073709551616,"a":1,"a":2,"t\u006f":"x"}"#;

#[tokio::test]
async fn proposal_is_queued_listed_approved_and_run() {
    let (_folder, gate) = with_tool(script("cat")).await;

    let id = gate.propose("t", EXACT).await;
    let listed = ids(&gate.list("&status=pending").await);
    let approved = gate.approve(&id, "").await;
    let done = gate.until_final(&id).await;

    assert_eq!(listed, [id.as_str()]);
    assert_eq!((approved.status, approved.at("/status").as_str()), (200, "approved"));
    assert_eq!(done.at("/status"), "executed");
    assert!(done.text.contains(&format!(r#""result":{EXACT}"#)), "{}", done.text);
    gate.stop().await;
}

#[tokio::test]
async fn agent_gets_the_queued_signal() {
    let (_folder, gate) = plain().await;
    let body = r#"{"tool_name":"t","tool_input":{"workspace_id":"w","mission_id":"m","session_id":"s"}}"#;

    let queued = gate.post_as(&gate.agent, "/api/pending-actions", body).await;

    let id = queued.at("/pending_action_id");
    assert_eq!(queued.status, 202);
    assert_eq!((queued.at("/status").as_str(), queued.at("/tool_name").as_str()), ("queued", "t"));
    assert!(queued.at("/message").contains("did not run"));
    let action = gate.action(&id).await;
    let identity =
        ["/workspaceId", "/missionId", "/sessionId", "/batchId", "/status"].map(|at| action.at(at));
    assert_eq!(identity, ["w", "m", "s", "m:t", "pending"]);
}

#[tokio::test]
async fn only_approved_actions_run() {
    let folder = tempfile::tempdir().unwrap();
    let proof = folder.path().join("proof");
    let (_folder, gate) = with_tool(script(&format!("cat >> {}", proof.display()))).await;
    let pending = gate.propose("t", r#"{"n":1}"#).await;
    let refused = gate.propose("t", r#"{"n":2}"#).await;
    let approved = gate.propose("t", r#"{"n":3}"#).await;

    gate.reject(&refused, "").await;
    gate.approve(&approved, "").await;
    let done = gate.until_final(&approved).await;
    // The gate stops only after all executors ended.
    let statuses = [gate.status(&pending).await, gate.status(&refused).await, done.at("/status")];
    gate.stop().await;

    assert_eq!(statuses, ["pending", "rejected", "executed"]);
    assert_eq!(std::fs::read_to_string(proof).unwrap(), r#"{"n":3}"#);
}

#[tokio::test]
async fn decided_action_cannot_be_decided_again() {
    let (_folder, gate) = plain().await;
    let (kept, refused) = (gate.propose("t", "{}").await, gate.propose("t", "{}").await);

    assert_eq!(gate.approve(&kept, "{}").await.status, 200);
    assert_eq!(gate.reject(&refused, r#"{"reason":"no"}"#).await.status, 200);

    for answer in [gate.approve(&kept, "").await, gate.reject(&kept, "").await] {
        assert_conflict(&answer, "approved");
    }
    for answer in [gate.approve(&refused, "").await, gate.reject(&refused, "").await] {
        assert_conflict(&answer, "rejected");
    }
    assert_eq!(gate.action(&refused).await.at("/reason"), "no");
}

#[tokio::test]
async fn proposer_cannot_decide_under_another_spelling() {
    let (_folder, gate) = plain().await;
    let all = [Scope::Propose, Scope::Read, Scope::Decide];
    let solo = gate.gate.create_token("solo", "w", &all, None).await.unwrap();
    let body = r#"{"toolName":"t","workspaceId":"w","toolInput":{}}"#;

    for spelling in ["solo", "Solo ", " SOLO", "ｓｏｌｏ", "𝐬olo", "\u{a0}ſolo"] {
        let id = gate.post_as(&solo, "/api/pending-actions", body).await.at("/pending_action_id");
        let other = gate.gate.create_token(spelling, "w", &all, None).await.unwrap();
        for verb in ["approve", "reject"] {
            let refused = gate.post_as(&other, &format!("/api/pending-actions/{id}/{verb}"), "").await;
            assert_eq!(refused.code(), (403, "FORBIDDEN".to_owned()), "{spelling:?} {verb}");
        }
        let taken_back = gate.post_as(&other, &format!("/api/pending-actions/{id}/withdraw"), "").await;
        assert_eq!(taken_back.at("/status"), "withdrawn", "{spelling:?}");
    }
}

#[tokio::test]
async fn subject_of_a_token_is_trimmed() {
    let (_folder, gate) = plain().await;

    gate.gate.create_token(" Ann ", "w", &[Scope::Read], None).await.unwrap();
    let nobody = gate.gate.create_token(" \t", "w", &[Scope::Read], None).await;

    let subjects: Vec<_> = gate.gate.list_tokens().await.unwrap().into_iter().map(|it| it.subject).collect();
    assert!(subjects.contains(&"Ann".to_owned()), "{subjects:?}");
    assert!(nobody.unwrap_err().to_string().contains("needs a subject"));
}

fn assert_conflict(answer: &Answer, status: &str) {
    assert_eq!(answer.code(), (409, "INVALID_STATE".to_owned()));
    assert_eq!(answer.at("/error/status"), status);
    assert_eq!(answer.at("/error/resolvedBy"), "owner");
    assert!(answer.at("/error/resolvedAt").ends_with('Z'));
}

#[tokio::test]
async fn edits_are_merged_into_the_bytes_that_run() {
    let (_folder, gate) = with_tool(script("cat")).await;
    let id = gate.propose("t", r#"{"title":"a", "n":1.10,"big":18446744073709551616}"#).await;

    let approved = gate.approve(&id, r#"{"user_edits":{"title":"b","new":2.0}}"#).await;
    let done = gate.until_final(&id).await;

    let merged = r#"{"title":"b", "n":1.10,"big":18446744073709551616,"new":2.0}"#;
    assert_eq!(approved.status, 200);
    for part in [
        format!(r#""result":{merged}"#),
        format!(r#""effectiveInput":{merged}"#),
        r#""toolInput":{"title":"a", "n":1.10,"big":18446744073709551616}"#.to_owned(),
        r#""userEdits":{"title":"b","new":2.0}"#.to_owned(),
    ] {
        assert!(done.text.contains(&part), "{part} is not in {}", done.text);
    }
}

#[tokio::test]
async fn rows_of_edited_approvals_have_the_edited_title() {
    let (_folder, gate) = plain().await;
    let input = r#"{"amount":129.90,"currency":"EUR","customer":"pim"}"#;
    let id = gate.propose("refund_payment", input).await;
    let other = gate.propose("refund_payment", input).await;

    gate.approve(&id, r#"{"userEdits":{"amount":129.00}}"#).await;
    gate.approve(&other, "").await;

    let edited = "Refund 129.90 → 129.00 EUR to pim";
    for view in ["row", "row&nulls=false", "full"] {
        let listed = gate.list(&format!("&ids={id}&view={view}")).await;
        assert_eq!(listed.at("/items/0/editedTitle"), edited, "{view}");
        assert_eq!(listed.at("/items/0/title"), "Refund 129.90 EUR to pim", "terms hold the proposed title");
        let listed = gate.list(&format!("&ids={other}&view={view}")).await;
        assert!(!listed.text.contains("editedTitle"), "{view}: {}", listed.text);
    }
    assert_eq!(gate.get(&format!("/api/pending-actions/{id}")).await.at("/editedTitle"), edited);
    let changes = gate.list("&since=0&view=row").await;
    assert!(changes.text.contains(edited), "{}", changes.text);
}

#[tokio::test]
async fn title_of_an_unknown_tool_has_the_agents_amount() {
    let (_folder, gate) = plain().await;
    let body = r#"{"workspaceId":"w","toolName":"refund","toolInput":{"to":"ilka","cents":12990},"preview":{"to":"ilka","EUR":129.9}}"#;
    let id = gate.post_as(&gate.agent, "/api/pending-actions", body).await.at("/pending_action_id");
    let whole = gate.get(&format!("/api/pending-actions/{id}")).await;
    assert_eq!(whole.at("/title"), "refund 129.90 to ilka · agent says 129.9 EUR", "{}", whole.text);
}

#[tokio::test]
async fn unmergeable_edits_are_refused() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", r#"{"a":1,"a":2}"#).await;

    for edits in [r#"{"b":1}"#, r#"{"workspace_id":"other"}"#, "[]"] {
        let answer = gate.approve(&id, &format!(r#"{{"userEdits":{edits}}}"#)).await;
        assert_eq!(answer.code(), (422, "INVALID".to_owned()), "{edits}");
    }

    assert_eq!(gate.status(&id).await, "pending");
}

#[tokio::test]
async fn decision_is_bound_to_the_bytes_seen() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", r#"{"n":1.10}"#).await;
    let digest = |input| Digest::of("t", "w", input).to_string();
    let other = digest(r#"{"n":1.1}"#);

    let rejections = [
        gate.approve(&id, &format!(r#"{{"expectedDigest":"{other}"}}"#)).await,
        gate.reject(&id, &format!(r#"{{"expectedDigest":"{other}"}}"#)).await,
        gate.approve(&id, &format!(r#"{{"userEdits":{{"n":2}},"expectedEffectiveDigest":"{other}"}}"#)).await,
    ];
    let (seen, after) = (digest(r#"{"n":1.10}"#), digest(r#"{"n":2}"#));
    let body =
        format!(r#"{{"userEdits":{{"n":2}},"expectedDigest":"{seen}","expectedEffectiveDigest":"{after}"}}"#);
    let approved = gate.approve(&id, &body).await;

    for rejection in rejections {
        assert_eq!(rejection.code(), (412, "CHANGED".to_owned()));
    }
    assert_eq!((approved.status, approved.at("/digest")), (200, seen));
}

#[tokio::test]
async fn proposer_cannot_decide_their_own_proposal() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", "{}").await;
    let both = [Scope::Propose, Scope::Read, Scope::Decide];
    let again = gate.gate.create_token("agent", "w", &both, None).await.unwrap();

    let own = gate.post_as(&again, &format!("/api/pending-actions/{id}/approve"), "").await;
    let scopeless = gate.post_as(&gate.agent, &format!("/api/pending-actions/{id}/approve"), "").await;

    assert_eq!(own.code(), (403, "FORBIDDEN".to_owned()));
    assert!(own.at("/error/message").contains("own proposal"));
    assert_eq!(scopeless.code(), (403, "FORBIDDEN".to_owned()));
    assert_eq!(gate.status(&id).await, "pending");
}

#[tokio::test]
async fn only_the_proposer_withdraws_or_supersedes() {
    let (_folder, gate) = plain().await;
    let (first, second) = (gate.propose("t", "{}").await, gate.propose("t", "{}").await);
    let stranger = gate.gate.create_token("another", "w", &[Scope::Propose], None).await.unwrap();
    let withdraw = format!("/api/pending-actions/{first}/withdraw");

    let foreign = gate.post_as(&stranger, &withdraw, "").await;
    let own = gate.post_as(&gate.agent, &withdraw, "").await;
    let third = gate.propose_with("t", "{}", &format!(r#","supersedes":"{second}""#)).await;

    assert_eq!(foreign.code(), (403, "FORBIDDEN".to_owned()));
    assert_eq!((own.status, own.at("/status").as_str()), (200, "withdrawn"));
    let statuses = [gate.status(&second).await, gate.status(&third).await];
    assert_eq!(statuses, ["superseded", "pending"]);
    assert_eq!(gate.approve(&second, "").await.code(), (409, "INVALID_STATE".to_owned()));
}

#[tokio::test]
async fn expired_action_cannot_be_approved() {
    let (_folder, gate) = plain().await;
    let id = gate.propose_with("t", "{}", r#","ttlSeconds":60"#).await;
    let body = r#"{"toolName":"t","workspaceId":"w","toolInput":{},"expiresAt":"2020-01-01T00:00:00Z"}"#;
    let late = gate.post_as(&gate.agent, "/api/pending-actions", body).await;

    gate.gate.inner.clock.pass(60_001);
    let refused = gate.approve(&id, "").await;
    reconcile::sweep(&gate.gate).await.unwrap();

    assert_eq!(late.code(), (409, "EXPIRED".to_owned()));
    assert_eq!((refused.status, refused.at("/error/status").as_str()), (409, "expired"));
    assert_eq!(gate.status(&id).await, "expired");
    assert_eq!(gate.approve(&id, "").await.status, 409);
}

#[tokio::test]
async fn repeated_decision_gets_its_answer_under_its_key() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", r#"{"n":1.10}"#).await;
    let decide = async |verb: &str, body: &str| {
        let path = format!("/api/pending-actions/{id}/{verb}");
        let request = gate.request(reqwest::Method::POST, &path, &gate.owner).header("idempotency-key", "k");
        answer(request.header("content-type", "application/json").body(body.to_owned())).await
    };

    let first = decide("approve", r#"{"reason":"yes"}"#).await;
    let again = decide("approve", r#"{"reason":"yes"}"#).await;
    let other = decide("approve", r#"{"reason":"no"}"#).await;
    let turned = decide("reject", r#"{"reason":"yes"}"#).await;

    assert_eq!((first.status, again.status), (200, 200), "{}", again.text);
    assert_eq!(first.text, again.text);
    assert_eq!(again.headers["idempotency-replayed"], "true");
    assert_eq!(other.code(), (422, "IDEMPOTENCY_KEY_REUSED".to_owned()));
    assert_eq!(turned.code(), (422, "IDEMPOTENCY_KEY_REUSED".to_owned()));
}

#[tokio::test]
async fn decision_records_its_via() {
    let (_folder, gate) = plain().await;
    let (one, two, three, four) = (
        gate.propose("t", "{}").await,
        gate.propose("t", "{}").await,
        gate.propose_with("t", "{}", r#","batchId":"b""#).await,
        gate.propose_with("t", "{}", r#","batchId":"b""#).await,
    );
    let item = |id: &str, more: &str| format!(r#"{{"pendingActionId":"{id}"{more}}}"#);
    let batch =
        format!(r#"{{"via":"screen","items":[{},{}]}}"#, item(&three, ""), item(&four, r#","exclude":true"#));

    assert_eq!(gate.approve(&one, r#"{"via":"telepathy"}"#).await.code(), (422, "INVALID".to_owned()));
    gate.approve(&one, r#"{"via":"shell"}"#).await;
    gate.reject(&two, "").await;
    gate.post("/api/pending-actions/batch/b/approve", &batch).await;

    for (id, via) in [(&one, "shell"), (&two, "http"), (&three, "screen"), (&four, "screen")] {
        assert_eq!(gate.action(id).await.at("/resolvedVia"), via);
        let row = gate.list(&format!("&ids={id}&view=row")).await;
        assert_eq!(row.at("/items/0/resolvedVia"), via);
        let events = gate.get(&format!("/api/pending-actions/{id}/events")).await;
        assert_eq!(events.at("/items/1/details/via"), via, "{}", events.text);
    }
    assert_eq!(gate.gate.verify_audit(&[]).await.unwrap().problems, Vec::<String>::new());
    gate.stop().await;
}
