//! Agents that run what was approved: answers that get lost, and looking for work.

use super::support::{Answer, TestGate, answer, ids, plain};

async fn claim(gate: &TestGate, id: &str, key: &str) -> Answer {
    let path = format!("/api/pending-actions/{id}/claim");
    answer(gate.request(reqwest::Method::POST, &path, &gate.agent).header("idempotency-key", key)).await
}

#[tokio::test]
async fn a_claim_whose_answer_was_lost_gets_the_same_work_again() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", r#"{"n":1.10}"#).await;
    gate.approve(&id, "").await;

    let first = claim(&gate, &id, "k").await;
    let again = claim(&gate, &id, "k").await;
    let other = claim(&gate, &id, "another").await;

    assert_eq!(first.status, 200, "{}", first.text);
    assert_eq!((again.status, &again.text), (200, &first.text));
    assert_eq!(other.code(), (409, "INVALID_STATE".to_owned()));
    assert_eq!(gate.gate.store().get(&id).await.unwrap().unwrap().fence, 1);
}

#[tokio::test]
async fn a_claim_is_not_given_again_when_its_lease_is_over() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", "{}").await;
    gate.approve(&id, "").await;
    claim(&gate, &id, "k").await;

    gate.gate.inner.clock.pass(120_000);
    gate.gate.store().recover(vec!["t".to_owned()]).await.unwrap();

    assert_eq!(claim(&gate, &id, "k").await.code(), (409, "STALE_FENCE".to_owned()));
}

#[tokio::test]
async fn a_report_whose_answer_was_lost_may_be_made_again_but_not_changed() {
    let (_folder, gate) = plain().await;
    for (report, another) in [
        (r#"{"fence":1,"result":{"n":1.10}}"#, r#"{"fence":1,"result":{"n":1.1}}"#),
        (r#"{"fence":1,"error":"no"}"#, r#"{"fence":1,"error":"yes"}"#),
    ] {
        let id = gate.propose("t", "{}").await;
        gate.approve(&id, "").await;
        claim(&gate, &id, &id).await;
        let path = format!("/api/pending-actions/{id}/result");

        let first = gate.post_as(&gate.agent, &path, report).await;
        let again = gate.post_as(&gate.agent, &path, report).await;
        let changed = gate.post_as(&gate.agent, &path, another).await;

        assert_eq!((first.status, again.status), (200, 200), "{}", again.text);
        assert_eq!(first.text, again.text);
        assert_eq!(changed.code(), (409, "INVALID_STATE".to_owned()));
    }
}

#[tokio::test]
async fn looking_for_work_does_not_show_what_runs_already() {
    let (_folder, gate) = plain().await;
    let (running, waiting) = (gate.propose("t", "{}").await, gate.propose("t", "{}").await);
    for id in [&running, &waiting] {
        gate.approve(id, "").await;
    }
    claim(&gate, &running, "k").await;

    assert_eq!(ids(&gate.list("&status=approved&claimable=true").await), std::slice::from_ref(&waiting));
    assert_eq!(ids(&gate.list("&status=approved").await), [waiting, running]);
}
