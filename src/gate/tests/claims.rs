//! Claims: visibility, expiry, and that they do not prevent decisions.

use secrecy::SecretString;
use serde_json::{Value, json};

use super::streaming::Stream;
use super::support::{Answer, BORN, TestGate, plain, with_tool};
use crate::config::ToolConfig;
use crate::domain::Claim;
use crate::gate::Scope;

mod races;

async fn member(gate: &TestGate, name: &str) -> SecretString {
    gate.gate.create_token(name, "w", &[Scope::Read, Scope::Decide], None).await.unwrap()
}

async fn claim(gate: &TestGate, who: &SecretString, id: &str) -> Answer {
    gate.post_as(who, &format!("/api/claims/{id}"), "").await
}

async fn end(gate: &TestGate, who: &SecretString, id: &str) -> Value {
    let answer = gate.post_as(who, &format!("/api/claims/{id}/end"), "").await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["ended"].clone()
}

/// Claims as `kim on ID`.
async fn claims(gate: &TestGate) -> Vec<String> {
    listed(&gate.get("/api/claims").await.json())
}

fn listed(beside: &Value) -> Vec<String> {
    let text = |claim: &Value, name: &str| claim[name].as_str().unwrap().to_owned();
    let claims = beside["claims"].as_array().unwrap().iter();
    claims
        .map(|claim| format!("{} on {}", text(claim, "claimedBy"), text(claim, "pendingActionId")))
        .collect()
}

#[tokio::test]
async fn claim_is_seen_everywhere_and_has_no_revision() {
    let (_folder, gate) = plain().await;
    let kim = member(&gate, "kim").await;
    let id = gate.propose("t", "{}").await;
    let revision = gate.list("").await.at("/revision");

    let answer = claim(&gate, &kim, &id).await;

    assert_eq!(
        (answer.status, answer.at("/claimedBy"), answer.at("/pendingActionId")),
        (200, "kim".into(), id.clone())
    );
    let expected = vec![format!("kim on {id}")];
    for path in [
        "/api/claims",
        "/api/pending-actions?view=row",
        "/api/pending-actions",
        "/api/pending-actions/changes?since=0",
    ] {
        assert_eq!(listed(&gate.get(path).await.json()), expected, "{path}");
    }
    assert_eq!(gate.list("").await.at("/revision"), revision);
    let timeline = gate.get(&format!("/api/pending-actions/{id}/events")).await.json();
    assert_eq!(timeline["items"].as_array().unwrap().len(), 1, "{timeline}");
    let page = gate.list("&limit=1").await;
    assert!(page.json().get("claims").is_some());
}

#[tokio::test]
async fn claim_expires_after_five_quiet_minutes() {
    let (_folder, gate) = plain().await;
    let (kim, lee) = (member(&gate, "kim").await, member(&gate, "lee").await);
    let id = gate.propose("t", "{}").await;
    gate.gate.inner.clock.stop();
    let clock = &gate.gate.inner.clock;

    let first = claim(&gate, &kim, &id).await;
    clock.pass(Claim::QUIET - 1);
    assert_eq!(claim(&gate, &lee, &id).await.text, first.text, "kim was first");
    assert_eq!(claim(&gate, &kim, &id).await.text, first.text, "and is still on it, since then");
    clock.pass(Claim::QUIET - 1);
    assert_eq!(claims(&gate).await, [format!("kim on {id}")]);
    clock.pass(1);

    assert_eq!(claims(&gate).await, Vec::<String>::new());
    assert_eq!(claim(&gate, &lee, &id).await.at("/claimedBy"), "lee");
    assert_eq!(end(&gate, &kim, &id).await, json!(false));
    assert_eq!(claims(&gate).await, [format!("lee on {id}")]);
    assert_eq!(end(&gate, &lee, &id).await, json!(true));
    assert_eq!((end(&gate, &lee, &id).await, claims(&gate).await), (json!(false), Vec::new()));
}

#[tokio::test]
async fn claim_does_not_prevent_a_decision_and_ends_with_it() {
    let (_folder, gate) = plain().await;
    let (kim, lee) = (member(&gate, "kim").await, member(&gate, "lee").await);
    let [approved, rejected, withdrawn] =
        [gate.propose("t", "{}").await, gate.propose("t", "{}").await, gate.propose("t", "{}").await];
    for id in [&approved, &rejected, &withdrawn] {
        claim(&gate, &kim, id).await;
    }

    let by_lee = gate.post_as(&lee, &format!("/api/pending-actions/{approved}/approve"), "").await;
    gate.post_as(&kim, &format!("/api/pending-actions/{rejected}/reject"), "").await;
    gate.post_as(&gate.agent, &format!("/api/pending-actions/{withdrawn}/withdraw"), "").await;

    assert_eq!((by_lee.status, by_lee.at("/resolvedBy")), (200, "lee".to_owned()));
    assert_eq!(claims(&gate).await, Vec::<String>::new());
    let late = claim(&gate, &kim, &approved).await;
    assert_eq!(
        (late.code(), late.at("/error/resolvedBy")),
        ((409, "INVALID_STATE".to_owned()), "lee".to_owned())
    );
}

/// Like approvals, claims ignore case and surrounding blanks of a subject.
#[tokio::test]
async fn claims_treat_spellings_of_a_subject_alike() {
    let (_folder, gate) = plain().await;
    let (kim, other) = (member(&gate, "kim").await, member(&gate, " KIM").await);
    let proposer = member(&gate, "Agent ").await;
    let id = gate.propose("t", "{}").await;
    gate.gate.inner.clock.stop();
    let clock = &gate.gate.inner.clock;

    let first = claim(&gate, &kim, &id).await;
    clock.pass(Claim::QUIET - 1);
    assert_eq!(claim(&gate, &other, &id).await.text, first.text, "renewed under the first spelling");
    clock.pass(Claim::QUIET - 1);
    assert_eq!(claims(&gate).await, [format!("kim on {id}")], "the renewal counts");
    assert_eq!(end(&gate, &other, &id).await, json!(true));

    assert_eq!(claims(&gate).await, Vec::<String>::new());
    assert_eq!(
        claim(&gate, &proposer, &id).await.code(),
        (403, "FORBIDDEN".to_owned()),
        "their own proposal"
    );
}

#[tokio::test]
async fn first_approval_ends_only_its_givers_claim() {
    let (_folder, gate) = with_tool(ToolConfig { approvals: 2, ..ToolConfig::default() }).await;
    let (kim, lee) = (member(&gate, "kim").await, member(&gate, "lee").await);
    let (mine, theirs) = (gate.propose("t", "{}").await, gate.propose("t", "{}").await);
    claim(&gate, &kim, &mine).await;
    claim(&gate, &lee, &theirs).await;
    let mut stream = Stream::open(&gate, "", None).await;
    assert_eq!(stream.next().await.unwrap().data["claims"].as_array().unwrap().len(), 2);

    for id in [&mine, &theirs] {
        let approved = gate.post_as(&kim, &format!("/api/pending-actions/{id}/approve"), "").await;
        assert_eq!((approved.status, approved.at("/status")), (200, "pending".to_owned()));
    }

    assert_eq!(claims(&gate).await, [format!("lee on {theirs}")]);
    while stream.next().await.unwrap().data["claims"].as_array().is_none_or(|claims| claims.len() != 1) {}
}

#[tokio::test]
async fn claim_needs_the_right_to_decide_this_action() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", "{}").await;
    let reader = gate.gate.create_token("reader", "w", &[Scope::Read], None).await.unwrap();
    let both = gate.gate.create_token("agent", "w", &[Scope::Propose, Scope::Decide], None).await.unwrap();
    let stranger = gate.gate.create_token("kim", "v", &[Scope::Decide], None).await.unwrap();

    let codes = [&reader, &both, &stranger].map(|token| claim(&gate, token, &id));
    let codes = futures_util::future::join_all(codes).await;
    assert_eq!(codes.iter().map(Answer::code).collect::<Vec<_>>(), vec![(403, "FORBIDDEN".to_owned()); 3]);
    assert_eq!(claim(&gate, &gate.owner, "nothing").await.code().0, 404);
    assert_eq!(claims(&gate).await, Vec::<String>::new());
}

#[tokio::test]
async fn claims_reach_streams_at_most_once_a_second() {
    let (_folder, gate) = plain().await;
    let kim = member(&gate, "kim").await;
    let mut ids = Vec::new();
    for _ in 0..30 {
        ids.push(gate.propose("t", "{}").await);
    }
    let mut stream = Stream::open(&gate, "", None).await;
    let first = stream.next().await.unwrap();
    assert_eq!(first.data["claims"], json!([]));
    let started = std::time::Instant::now();

    for id in &ids {
        claim(&gate, &kim, id).await;
    }
    let (mut told, mut last) = (0, 0);
    while last < 30 {
        let event = stream.next().await.unwrap();
        // Another gate's briefing about the proposals may arrive late.
        if event.name != "briefing" {
            continue;
        }
        assert_eq!(event.data["revision"], BORN + 31);
        let now = event.data["claims"].as_array().unwrap().len();
        told += u64::from(now != last);
        last = now;
    }
    assert!(told <= 1 + started.elapsed().as_secs(), "{told} briefings in {:?}", started.elapsed());
    end(&gate, &kim, &ids[0]).await;
    while stream.next().await.unwrap().data["claims"].as_array().is_none_or(|claims| claims.len() != 29) {}
}
