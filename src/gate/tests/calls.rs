//! Repeated calls: by call id, by idempotency key, and after their action was pruned.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Method;
use secrecy::SecretString;
use tokio::time::Instant;

use super::support::{Answer, TestGate, answer, ids, plain};
use crate::gate::reconcile::{self, ClockUptime};
use crate::gate::{GateError, Scope};

const DAY: i64 = 24 * 60 * 60 * 1_000;

/// Proposes the tool `t` with more fields and an optional key.
async fn propose(
    gate: &TestGate,
    token: &SecretString,
    input: &str,
    more: &str,
    key: Option<&str>,
) -> Answer {
    let body = format!(r#"{{"toolName":"t","workspaceId":"w","toolInput":{input}{more}}}"#);
    let request = gate.request(Method::POST, "/api/pending-actions", token);
    let request = request.header("content-type", "application/json").body(body);
    answer(match key {
        Some(key) => request.header("idempotency-key", key),
        None => request,
    })
    .await
}

fn call(id: &str) -> String {
    format!(r#","sessionId":"s","toolCallId":"{id}""#)
}

fn was_there(answer: &Answer) -> bool {
    answer.headers.contains_key("idempotency-replayed")
}

async fn prune(gate: &TestGate) -> u64 {
    // The clock of the database server may be ahead by a slow round trip.
    let before = gate.gate.inner.clock.now().plus_millis(1_000);
    let pruned = gate.gate.prune(before, None, &AtomicU64::new(0), |_| Ok::<_, GateError>(())).await;
    pruned.unwrap().actions
}

/// Lets days pass on the gate's clock and forgets expired keys.
async fn forget_after(gate: &TestGate, days: i64) {
    gate.gate.inner.clock.pass(days * DAY);
    let (mut steady, start) = (ClockUptime::default(), Instant::now());
    for hours in [0, 24] {
        // Forgetting needs this steady clock to advance with the gate's.
        let now = start + Duration::from_hours(hours);
        gate.gate.inner.clock.pass(hours as i64 * DAY / 24);
        reconcile::forget(&gate.gate, &mut steady, now).await.unwrap();
    }
}

#[tokio::test]
async fn repeated_call_ignores_a_changed_before() {
    let (_folder, gate) = plain().await;
    let with = async |before: &str| {
        let more = format!(r#"{},"before":{before}"#, call("c"));
        propose(&gate, &gate.agent, r#"{"n":1}"#, &more, Some("k")).await
    };

    let first = with(r#"{"n":0}"#).await;
    let again = with(r#"{"n":7}"#).await;

    assert_eq!((again.status, &again.text), (202, &first.text));
    assert!(was_there(&again));
}

#[tokio::test]
async fn repeated_call_is_the_same_action_in_any_status() {
    let (_folder, gate) = plain().await;
    let again = async || propose(&gate, &gate.agent, r#"{"n":1.10}"#, &call("c"), None).await;

    let first = again().await;
    let pending = again().await;
    let id = first.at("/pending_action_id");
    gate.approve(&id, "").await;
    let claimed = gate.post_as(&gate.agent, &format!("/api/pending-actions/{id}/claim"), "").await;
    let done = format!(r#"{{"fence":{},"result":1}}"#, claimed.at("/fence"));
    gate.post_as(&gate.agent, &format!("/api/pending-actions/{id}/result"), &done).await;
    let executed = again().await;

    assert!(!was_there(&first));
    for answer in [&pending, &executed] {
        assert_eq!((answer.status, &answer.text), (202, &first.text));
        assert!(was_there(answer));
    }
    assert_eq!(gate.status(&id).await, "executed");
    assert_eq!(ids(&gate.list("").await), [id]);
}

#[tokio::test]
async fn call_id_with_another_input_or_tool_is_refused() {
    let (_folder, gate) = plain().await;
    let first = propose(&gate, &gate.agent, r#"{"n":1.10}"#, &call("c"), None).await;
    let id = first.at("/pending_action_id");

    let input = propose(&gate, &gate.agent, r#"{"n":1.1}"#, &call("c"), None).await;
    let body = format!(r#"{{"toolName":"u","workspaceId":"w","toolInput":{{"n":1.10}}{}}}"#, call("c"));
    let tool = gate.post_as(&gate.agent, "/api/pending-actions", &body).await;
    let supersedes = format!(r#"{},"supersedes":"{id}""#, call("c"));
    let place = propose(&gate, &gate.agent, r#"{"n":1.10}"#, &supersedes, None).await;

    for refused in [&input, &tool, &place] {
        assert_eq!(refused.code(), (409, "CALL_ID_REUSED".to_owned()));
    }
    assert!(input.at("/error/message").contains("choose a new toolCallId"), "{}", input.text);
    assert_eq!(ids(&gate.list("&status=pending").await), [id]);
}

#[tokio::test]
async fn call_id_is_scoped_to_proposer_and_session() {
    let (_folder, gate) = plain().await;
    let other = gate.gate.create_token("another", "w", &[Scope::Propose], None).await.unwrap();
    let mut proposed = Vec::new();
    for (token, more) in [
        (&gate.agent, call("c")),
        (&gate.agent, call("d")),
        (&other, call("c")),
        (&gate.agent, r#","sessionId":"s2","toolCallId":"c""#.to_owned()),
        (&gate.agent, r#","toolCallId":"c""#.to_owned()),
        (&gate.agent, r#","toolCallId":"c""#.to_owned()),
        (&gate.agent, r#","sessionId":"s","toolCallId":"""#.to_owned()),
        (&gate.agent, r#","sessionId":"s","toolCallId":"""#.to_owned()),
        (&gate.agent, r#","sessionId":"s""#.to_owned()),
    ] {
        let answer = propose(&gate, token, "{}", &more, None).await;
        assert!(answer.status == 202 && !was_there(&answer), "{more}: {}", answer.text);
        proposed.push(answer.at("/pending_action_id"));
    }
    assert_eq!(ids(&gate.list("").await).len(), proposed.len());
}

#[tokio::test]
async fn concurrent_repeats_of_a_call_are_one_action() {
    let (_folder, gate) = plain().await;

    let inputs = (0..24).map(|n| if n % 3 == 0 { r#"{"n":2}"# } else { r#"{"n":1}"# });
    let call = call("c");
    let answers = join_all(inputs.map(|input| propose(&gate, &gate.agent, input, &call, None))).await;

    let (taken, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 202);
    assert!([8, 16].contains(&taken.len()), "{} taken", taken.len());
    assert!(taken.iter().all(|answer| answer.text == taken[0].text));
    assert_eq!(taken.iter().filter(|answer| !was_there(answer)).count(), 1);
    assert!(refused.iter().all(|answer| answer.code() == (409, "CALL_ID_REUSED".to_owned())));
    assert_eq!(ids(&gate.list("").await).len(), 1);
}

#[tokio::test]
async fn key_outlives_its_action_by_ninety_days() {
    let (_folder, gate) = plain().await;
    let keyed = async || propose(&gate, &gate.agent, "{}", "", Some("k")).await;
    let called = async |input: &str| propose(&gate, &gate.agent, input, &call("c"), None).await;
    let first = keyed().await;
    let by_call = called(r#"{"n":1}"#).await;
    // A second key for the same call.
    let both = propose(&gate, &gate.agent, r#"{"n":1}"#, &call("c"), Some("k2")).await;
    assert_eq!(both.text, by_call.text);

    forget_after(&gate, 400).await;
    assert_eq!(
        (keyed().await.text, called(r#"{"n":1}"#).await.text),
        (first.text.clone(), by_call.text.clone())
    );

    for answer in [&first, &by_call] {
        gate.reject(&answer.at("/pending_action_id"), "").await;
    }
    assert_eq!(prune(&gate).await, 2);
    forget_after(&gate, 88).await;
    let keyed_again = propose(&gate, &gate.agent, r#"{"n":1}"#, &call("c"), Some("k2")).await;
    for gone in [keyed().await, called(r#"{"n":1}"#).await, keyed_again] {
        assert_eq!(gone.code(), (409, "ACTION_PRUNED".to_owned()));
        assert!(gone.at("/error/message").contains("not recorded a second time"), "{}", gone.text);
    }
    assert_eq!(called(r#"{"n":2}"#).await.code(), (409, "CALL_ID_REUSED".to_owned()));
    assert!(ids(&gate.list("").await).is_empty());

    forget_after(&gate, 2).await;
    for answer in [keyed().await, called(r#"{"n":1}"#).await] {
        assert!(answer.status == 202 && !was_there(&answer), "{}", answer.text);
    }
}

#[tokio::test]
async fn answers_to_decisions_are_forgotten_after_a_day() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", "{}").await;
    let reject = async || {
        let path = format!("/api/pending-actions/{id}/reject");
        answer(gate.request(Method::POST, &path, &gate.owner).header("idempotency-key", "k")).await
    };
    assert_eq!(reject().await.status, 200);
    assert_eq!(reject().await.status, 200);

    forget_after(&gate, 1).await;

    assert_eq!(reject().await.code(), (409, "INVALID_STATE".to_owned()));
}
