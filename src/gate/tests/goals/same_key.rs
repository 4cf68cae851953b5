//! G14: concurrent copies of a request count as one.

use std::collections::HashSet;

use futures_util::future::join_all;
use reqwest::Method;
use secrecy::SecretString;

use crate::gate::tests::rounds::{Random, rounds};
use crate::gate::tests::support::{Answer, TestGate, answer, plain};

async fn send(gate: &TestGate, token: &SecretString, path: &str, key: &str, body: &str) -> Answer {
    let request = gate.request(Method::POST, path, token).header("content-type", "application/json");
    answer(request.header("idempotency-key", key).body(body.to_owned())).await
}

/// Sends `times` copies at once and returns their common answer.
async fn at_once(
    gate: &TestGate,
    token: &SecretString,
    path: &str,
    key: &str,
    body: &str,
    times: usize,
) -> Answer {
    let mut answers = join_all((0..times).map(|_| send(gate, token, path, key, body))).await;
    let texts: HashSet<_> = answers.iter().map(|answer| (answer.status, answer.text.as_str())).collect();
    assert_eq!(texts.len(), 1, "{texts:?}");
    let first = answers.iter().filter(|answer| !answer.headers.contains_key("idempotency-replayed")).count();
    assert_eq!(first, 1, "all answers but the first are marked as replayed");
    answers.pop().unwrap()
}

#[tokio::test]
async fn g14_concurrent_copies_have_one_effect() {
    let (_folder, gate) = plain().await;
    let mut random = Random::seeded();
    for round in 0..rounds(6, 1_000) {
        let (times, mission) = (2 + random.below(63), format!("m{round}"));
        let (propose, decide) = (format!("propose {round}"), format!("decide {round}"));
        let body = |n| {
            format!(r#"{{"toolName":"t","workspaceId":"w","missionId":"{mission}","toolInput":{{"n":{n}}}}}"#)
        };
        let path = format!("/api/pending-actions/batch/{mission}:t/approve");

        let queued = at_once(&gate, &gate.agent, "/api/pending-actions", &propose, &body(1), times).await;
        let id = queued.at("/pending_action_id");
        let listed = gate.list(&format!("&mission_id={mission}&view=row")).await;
        let items = |more: &str| format!(r#"{{"items":[{{"pendingActionId":"{id}"{more}}}]}}"#);
        let decided = at_once(&gate, &gate.owner, &path, &decide, &items(""), times).await;
        let timeline = gate.get(&format!("/api/pending-actions/{id}/events")).await;
        let others = [
            send(&gate, &gate.agent, "/api/pending-actions", &propose, &body(2)).await,
            send(&gate, &gate.owner, &path, &decide, &items(r#","exclude":true"#)).await,
        ];

        assert_eq!(queued.status, 202);
        assert_eq!(listed.json()["items"].as_array().unwrap().len(), 1, "one action");
        assert_eq!(["/approved", "/skipped", "/failed"].map(|at| decided.at(at)), ["1", "0", "0"]);
        assert_eq!(timeline.json()["items"].as_array().unwrap().len(), 2, "one decision: {}", timeline.text);
        for other in others {
            assert_eq!(other.code(), (422, "IDEMPOTENCY_KEY_REUSED".to_owned()));
        }
    }
}

#[tokio::test]
async fn g14_second_body_under_one_key_is_refused() {
    let (_folder, gate) = plain().await;
    for round in 0..rounds(12, 1_000) {
        let key = format!("k{round}");
        let bodies = [1, 2].map(|n| {
            format!(r#"{{"toolName":"t","workspaceId":"w","missionId":"m{round}","toolInput":{{"n":{n}}}}}"#)
        });

        let answers =
            join_all((0..8).map(|n| send(&gate, &gate.agent, "/api/pending-actions", &key, &bodies[n % 2])))
                .await;
        let listed = gate.list(&format!("&mission_id=m{round}&view=row")).await;

        let (done, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 202);
        assert_eq!((done.len(), refused.len()), (4, 4));
        assert!(refused.iter().all(|answer| answer.code() == (422, "IDEMPOTENCY_KEY_REUSED".to_owned())));
        assert_eq!(listed.json()["items"].as_array().unwrap().len(), 1);
    }
}
