//! G15: exactly one of two reviewers decides, and the other learns who.

use futures_util::future::join_all;
use secrecy::SecretString;

use crate::gate::Scope;
use crate::gate::tests::rounds::{Random, rounds};
use crate::gate::tests::support::{Answer, TestGate, plain};

const AT_ONCE: u32 = 20;

/// Route, body and resulting status.
const VERBS: [(&str, &str, &str); 3] = [
    ("approve", r#"{"reason":"mine"}"#, "approved"),
    ("reject", r#"{"reason":"mine"}"#, "rejected"),
    ("approve", r#"{"userEdits":{"n":2.0},"reason":"mine"}"#, "approved"),
];

/// Two reviewers decide one action at the same time.
async fn race(gate: &TestGate, tokens: &[SecretString; 2], verbs: [usize; 2]) {
    let id = gate.propose("t", r#"{"n":1.10}"#).await;
    let verbs = verbs.map(|nth| VERBS[nth]);
    let decide = async |token: &SecretString, (verb, body, _): (&str, &str, &str)| {
        gate.post_as(token, &format!("/api/pending-actions/{id}/{verb}"), body).await
    };

    let (ann, bob) = tokio::join!(decide(&tokens[0], verbs[0]), decide(&tokens[1], verbs[1]));

    let (winner, won, lost) = if ann.status == 200 { (0, ann, bob) } else { (1, bob, ann) };
    let (who, status) = (["ann", "bob"][winner], verbs[winner].2);
    assert_eq!((won.status, won.at("/status").as_str(), won.at("/resolvedBy").as_str()), (200, status, who));
    assert_eq!(lost.code(), (409, "INVALID_STATE".to_owned()));
    let told = ["/error/status", "/error/resolvedBy", "/error/resolvedAt"].map(|at| lost.at(at));
    assert_eq!(told, [status, who, &won.at("/resolvedAt")], "the loser learns status, person and time");
    history_fits(gate, &id, &won).await;
}

/// The timeline and the row match the winner's answer, and nothing else happened.
async fn history_fits(gate: &TestGate, id: &str, won: &Answer) {
    let timeline = gate.get(&format!("/api/pending-actions/{id}/events")).await;
    let events: Vec<String> = timeline.json()["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| format!("{} {}", event["event"].as_str().unwrap(), event["by"].as_str().unwrap()))
        .collect();
    assert_eq!(
        events,
        ["created agent".to_owned(), format!("{} {}", won.at("/status"), won.at("/resolvedBy"))]
    );
    let now = gate.action(id).await;
    assert_eq!(now.text, won.text, "the row matches the winner's answer");
    assert_eq!(timeline.at("/items/1/revision"), now.at("/revision"));
    let edited = now.at("/userEdits") != "null";
    assert_eq!(now.text.contains(r#""effectiveInput":{"n":2.0}"#), edited, "{}", now.text);
}

#[tokio::test]
async fn g15_exactly_one_of_two_reviewers_decides() {
    let (_folder, gate) = plain().await;
    let member = async |name| gate.gate.create_token(name, "w", &[Scope::Decide], None).await.unwrap();
    let tokens = [member("ann").await, member("bob").await];
    let mut random = Random::seeded();

    for _ in 0..rounds(60, 10_000) / AT_ONCE {
        let pairs: Vec<_> = (0..AT_ONCE).map(|_| [random.below(3), random.below(3)]).collect();
        join_all(pairs.into_iter().map(|verbs| race(&gate, &tokens, verbs))).await;
    }

    let verified = gate.gate.verify_audit(&[]).await.unwrap();
    assert_eq!(verified.problems, Vec::<String>::new());
}
