//! `GET /api/flows`.

use serde_json::Value;

use super::support::{TestGate, answer, plain, script, with_tool};
use crate::contract::flows;
use crate::domain::{Flow, Flows, Minute, Queue, Timestamp};
use crate::gate::Scope;
use reqwest::Method;

const HOUR: i64 = 60 * 60 * 1_000;

async fn told(gate: &TestGate, query: &str) -> Flows {
    let said = gate.get(&format!("/api/flows{query}")).await;
    assert_eq!(said.status, 200, "{}", said.text);
    flows::read(&said.text).unwrap()
}

fn sum(flows: &Flows) -> Flow {
    let minutes = flows.queues.iter().flat_map(|queue| &queue.minutes);
    minutes.fold(Flow::default(), |sum, (_, flow)| sum.plus(flow))
}

#[tokio::test]
async fn flows_are_equal_for_all_readers() {
    let (_folder, gate) = with_tool(script("cat")).await;
    let (ran, edited) =
        (gate.propose("t", "{}").await, gate.propose_with("t", "{}", r#","agent":"a""#).await);
    let (refused, waits) = (gate.propose("t", "{}").await, gate.propose("pulled", "{}").await);
    gate.approve(&ran, "").await;
    gate.until_final(&ran).await;
    gate.approve(&edited, r#"{"userEdits":{"n":1}}"#).await;
    gate.until_final(&edited).await;
    gate.reject(&refused, "").await;

    let lead = told(&gate, "?workspace_id=w&reviewers=true").await;
    let agent = answer(gate.request(Method::GET, "/api/flows?reviewers=true", &gate.agent)).await;

    let counts = Flow { arrived: 4, approved: 2, edited: 1, rejected: 1, executed: 2, ..Flow::default() };
    assert_eq!(sum(&lead), counts);
    let mut queues: Vec<_> = lead.queues.iter().map(|it| (it.queue.clone(), it.pending)).collect();
    queues.sort();
    let tool = |name: &str, pending| (Queue::Tool(name.into()), pending);
    assert_eq!(queues, [(Queue::Agent("a".into()), 0), tool("pulled", 1), tool("t", 0)]);
    assert_eq!((lead.reviewers.len(), lead.reviewers[0].name.as_raw()), (1, "owner"));
    let agent = flows::read(&agent.text).unwrap();
    assert_eq!(agent, Flows { at: agent.at, from: agent.from, ..lead });
    assert_eq!(gate.status(&waits).await, "pending");
}

#[tokio::test]
async fn flows_cover_one_hour_and_at_most_two_days() {
    let (_folder, gate) = plain().await;
    let clock = &gate.gate.inner.clock;
    clock.stop();
    gate.propose("t", "{}").await;
    clock.pass(2 * HOUR);
    gate.propose("t", "{}").await;
    let back = |flows: &Flows| (Minute::of(flows.at).number() - Minute::of(flows.from).number()) * 60_000;
    let since = |at: Timestamp| format!("?since={}", at.as_millis());

    let usual = told(&gate, "").await;
    let all = told(&gate, "?since=1970-01-01T00:00:00Z&reviewers=true").await;
    let ahead = told(&gate, &since(clock.now().plus_millis(HOUR))).await;
    let third = told(&gate, &since(clock.now().plus_millis(-3 * HOUR))).await;

    assert_eq!(
        [&usual, &all, &ahead, &third].map(back),
        [HOUR, 2 * HOUR, 0, 2 * HOUR],
        "the first minute is two hours old"
    );
    assert_eq!([&usual, &all, &third].map(|flows| sum(flows).arrived), [1, 2, 2]);
    assert!(all.reviewers.is_empty() && all.queues[0].pending == 2);
    clock.pass(50 * HOUR);
    assert_eq!(back(&told(&gate, "?since=1970-01-01T00:00:00Z").await), 48 * HOUR);
    let wrong = gate.get("/api/flows?since=yesterday").await;
    assert_eq!(wrong.code(), (422, "INVALID".to_owned()));
    assert!(wrong.at("/error/message").contains("since is a moment"));
}

#[tokio::test]
async fn flows_are_limited_to_the_tokens_workspace() {
    let (_folder, gate) = plain().await;
    gate.propose("secret", "{}").await;
    let reader = gate.gate.create_token("reader", "x", &[Scope::Read], None).await.unwrap();
    let proposer = gate.gate.create_token("proposer", "w", &[Scope::Propose], None).await.unwrap();

    let own = answer(gate.request(Method::GET, "/api/flows", &reader)).await;
    let other = answer(gate.request(Method::GET, "/api/flows?workspace_id=w", &reader)).await;
    let blind = answer(gate.request(Method::GET, "/api/flows", &proposer)).await;

    assert_eq!(
        (own.at("/workspaceId").as_str(), own.json()["queues"].as_array().map(Vec::len)),
        ("x", Some(0))
    );
    assert_eq!([other.status, blind.status], [403, 403]);
}

#[tokio::test]
async fn minutes_are_swept_after_two_days() {
    let (_folder, gate) = plain().await;
    gate.propose("t", "{}").await;
    gate.gate.inner.clock.pass(48 * HOUR - 60_000);
    crate::gate::reconcile::tidy(&gate.gate).await.unwrap();
    let kept = told(&gate, "?since=0").await;
    gate.gate.inner.clock.pass(2 * HOUR);
    crate::gate::reconcile::tidy(&gate.gate).await.unwrap();

    let rows = sqlite_rows(&gate).await;

    assert_eq!((sum(&kept).arrived, kept.queues[0].pending), (1, 1));
    assert_eq!(rows, 0);
    assert_eq!(told(&gate, "?since=0").await.queues[0].pending, 1);
}

/// Counts all stored minutes.
async fn sqlite_rows(gate: &TestGate) -> usize {
    let asked = crate::gate::store::AskedFlows {
        workspace: "w".to_owned(),
        from: Minute::new(0),
        decided: Minute::new(0),
        now: gate.gate.inner.clock.now(),
        reviewers: false,
        groups: None,
    };
    let told = gate.gate.store().flows(&asked).await.unwrap();
    told.queues.iter().map(|queue| queue.minutes.len()).sum()
}

#[tokio::test]
async fn answer_omits_zero_counts() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", "{}").await;
    gate.reject(&id, "").await;

    let said = gate.get("/api/flows").await.json();

    let minutes = said["queues"][0]["minutes"].as_array().unwrap();
    let names = minutes.iter().flat_map(|minute| minute.as_object().unwrap().keys().cloned());
    let names: std::collections::BTreeSet<_> = names.collect();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["arrived", "at", "rejected"]);
    assert_eq!(said.get("rest"), None::<&Value>);
}
