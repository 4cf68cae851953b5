//! Agents that run what was approved: answers that get lost, and looking for work.

use std::time::Duration;

use super::support::{Answer, TestGate, answer, config, ids, plain, start};
use crate::config::{GateConfig, Retry, ToolConfig};
use crate::gate::reconcile;
use crate::gate::store::Counts;

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
    gate.gate.store().recover(vec!["t".to_owned()], Vec::new()).await.unwrap();

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

#[tokio::test]
async fn a_claim_under_a_key_of_another_request_is_refused_as_documented() {
    let (_folder, gate) = plain().await;
    let (first, second) = (gate.propose("t", "{}").await, gate.propose("t", "{}").await);
    for id in [&first, &second] {
        gate.approve(id, "").await;
    }
    assert_eq!(claim(&gate, &first, "k").await.status, 200);

    // The document is held against every answer: without 422 there, this fails.
    let reused = claim(&gate, &second, "k").await;

    assert_eq!(reused.code(), (422, "IDEMPOTENCY_KEY_REUSED".to_owned()));
    assert_eq!(gate.status(&second).await, "approved");
}

const HOUR: i64 = 60 * 60 * 1_000;

/// Moves the clock and sweeps.
async fn later(gate: &TestGate, millis: i64) {
    gate.gate.inner.clock.pass(millis);
    reconcile::sweep(&gate.gate).await.unwrap();
}

#[tokio::test]
async fn an_approval_that_nobody_takes_lapses() {
    let folder = tempfile::tempdir().unwrap();
    let quick = ToolConfig { approval_ttl: Some(Duration::from_hours(1)), ..ToolConfig::default() };
    let safe = ToolConfig { retry: Retry::Safe, ..ToolConfig::default() };
    let tools = [("quick".to_owned(), quick), ("safe".to_owned(), safe)].into();
    let gate = start(GateConfig { tools, ..config(folder.path()) }).await;
    let (quick, usual) = (gate.propose("quick", "{}").await, gate.propose("t", r#"{"n":1}"#).await);
    let taken = gate.propose("safe", "{}").await;
    for id in [&quick, &usual, &taken] {
        gate.approve(id, "").await;
    }
    claim(&gate, &taken, "k").await;
    let lapsing = async || gate.gate.store().lapsing(&Counts::all("w")).await.unwrap();

    later(&gate, HOUR + 1_000).await;
    assert_eq!(
        (gate.status(&quick).await.as_str(), gate.status(&usual).await.as_str()),
        ("expired", "approved")
    );
    assert_eq!(lapsing().await, 0);
    // Three quarters of a week.
    later(&gate, 125 * HOUR).await;
    assert_eq!((lapsing().await, gate.status(&usual).await.as_str()), (1, "approved"));
    gate.gate.inner.clock.pass(42 * HOUR);
    // Whether it was swept already or not.
    assert_eq!(claim(&gate, &usual, "late").await.code(), (409, "INVALID_STATE".to_owned()));
    later(&gate, 0).await;

    let told = gate.action(&usual).await;
    assert_eq!(
        ["/status", "/resolvedBy", "/toolResult/ok"].map(|at| told.at(at)),
        ["expired", "owner", "false"]
    );
    let sentence = "A human approved this call, but nobody ran it in time. It did not run.";
    assert_eq!(told.at("/toolResult/content"), sentence);
    let events = gate.get(&format!("/api/pending-actions/{usual}/events")).await;
    assert_eq!(events.at("/items/2/event"), "lapsed");
    assert_eq!(gate.status(&taken).await, "approved", "what was claimed once never lapses");
    assert_eq!(lapsing().await, 0);
    assert_eq!(gate.gate.verify_audit(&[]).await.unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn an_approval_that_the_gate_is_to_run_never_lapses() {
    let folder = tempfile::tempdir().unwrap();
    let tools = [("t".to_owned(), super::support::script("cat"))].into();
    let gate = start(GateConfig { tools, ..config(folder.path()) }).await;
    gate.gate.pause(None, None).await.unwrap();
    let id = gate.propose("t", "{}").await;
    gate.approve(&id, "").await;

    later(&gate, 1_000 * HOUR).await;

    assert_eq!(gate.status(&id).await, "approved");
    gate.stop().await;
}
