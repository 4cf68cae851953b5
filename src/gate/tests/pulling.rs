//! Agents that run approved actions: lost answers, leases, and searching for work.

use crate::gate::which::Which;
use std::time::Duration;

use super::support::{Answer, TestGate, answer, config, ids, plain, start};
use crate::config::{GateConfig, Retry, ToolConfig};
use crate::gate::reconcile;
use crate::gate::store::{Actor, Batches, Counts, Finished};

async fn claim(gate: &TestGate, id: &str, key: &str) -> Answer {
    let path = format!("/api/pending-actions/{id}/claim");
    answer(gate.request(reqwest::Method::POST, &path, &gate.agent).header("idempotency-key", key)).await
}

#[tokio::test]
async fn repeated_claim_gets_the_same_work() {
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
async fn repeated_claim_after_the_lease_is_refused() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", "{}").await;
    gate.approve(&id, "").await;
    claim(&gate, &id, "k").await;

    gate.gate.inner.clock.pass(120_000);
    gate.gate.store().recover(Which::only("t"), Vec::new()).await.unwrap();

    assert_eq!(claim(&gate, &id, "k").await.code(), (409, "STALE_FENCE".to_owned()));
}

#[tokio::test]
async fn report_can_be_repeated_but_not_changed() {
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
async fn other_input_that_ran_is_a_failure_with_both_inputs() {
    let (_folder, gate) = plain().await;
    for (report, status, error, result) in [
        (r#"{"fence":1,"result":"out","ranInput":{"n": 1.1}}"#, "executed", "null", r#""out""#),
        (
            r#"{"fence":1,"result":"out","ranInput":{"n":2}}"#,
            "failed",
            r#""something else ran than what was approved""#,
            r#"{"ranInput":{"n":2},"result":"out"}"#,
        ),
        (
            r#"{"fence":1,"error":"no \"x\"","ranInput":{"n":1.10,"more":null}}"#,
            "failed",
            r#""something else ran than what was approved""#,
            r#"{"ranInput":{"n":1.10,"more":null},"error":"no \"x\""}"#,
        ),
    ] {
        let id = gate.propose("t", r#"{"n":1.10}"#).await;
        gate.approve(&id, "").await;
        claim(&gate, &id, &id).await;
        let path = format!("/api/pending-actions/{id}/result");

        let told = gate.post_as(&gate.agent, &path, report).await;
        let again = gate.post_as(&gate.agent, &path, report).await;

        assert_eq!((told.status, again.text.as_str()), (200, told.text.as_str()), "{report}");
        assert_eq!(gate.status(&id).await, status, "{report}");
        for kept in [
            format!("\"error\":{error}"),
            format!("\"result\":{result}"),
            r#""effectiveInput":{"n":1.10}"#.to_owned(),
        ] {
            assert!(told.text.contains(&kept), "{kept} {}", told.text);
        }
    }
    let counted =
        async || gate.gate.store().briefing(&Counts::all("w"), Batches::None).await.unwrap().ran_other;
    assert_eq!(counted().await, 2);
    gate.gate.inner.clock.pass(HOUR + 1);
    assert_eq!(counted().await, 0, "counted for one hour");
}

#[tokio::test]
async fn claimable_list_omits_running_actions() {
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
async fn claim_under_a_reused_key_is_refused() {
    let (_folder, gate) = plain().await;
    let (first, second) = (gate.propose("t", "{}").await, gate.propose("t", "{}").await);
    for id in [&first, &second] {
        gate.approve(id, "").await;
    }
    assert_eq!(claim(&gate, &first, "k").await.status, 200);

    // Each answer is checked against the API document, so this fails if the document lacks 422.
    let reused = claim(&gate, &second, "k").await;

    assert_eq!(reused.code(), (422, "IDEMPOTENCY_KEY_REUSED".to_owned()));
    assert_eq!(gate.status(&second).await, "approved");
}

const HOUR: i64 = 60 * 60 * 1_000;

async fn later(gate: &TestGate, millis: i64) {
    gate.gate.inner.clock.pass(millis);
    reconcile::sweep(&gate.gate).await.unwrap();
}

#[tokio::test]
async fn unclaimed_approval_lapses() {
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
    // Whether it was swept or not.
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
    assert_eq!(gate.status(&taken).await, "approved", "a claimed action does not lapse");
    assert_eq!(lapsing().await, 0);
    assert_eq!(gate.gate.verify_audit(&[]).await.unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn patterns_ttl_and_retry_apply_to_its_tools() {
    let folder = tempfile::tempdir().unwrap();
    let hours = |hours, retry| ToolConfig {
        approval_ttl: Some(Duration::from_hours(hours)),
        retry,
        ..ToolConfig::default()
    };
    let tools = [("fs.*", hours(1, Retry::Safe)), ("fs.slow*", hours(9, Retry::Manual))];
    let tools = tools.map(|(name, tool)| (name.to_owned(), tool)).into();
    let gate = start(GateConfig { tools, ..config(folder.path()) }).await;
    let mut ids = Vec::new();
    for tool in ["fs.write", "fs.slow_copy", "fs_write", "fs.again", "fs.slow_again"] {
        let id = gate.propose(tool, "{}").await;
        gate.approve(&id, "").await;
        ids.push(id);
    }
    for id in &ids[3..] {
        claim(&gate, id, id).await;
    }

    later(&gate, HOUR + 1_000).await;
    let mut statuses = Vec::new();
    for id in &ids {
        statuses.push(gate.status(id).await);
    }
    assert_eq!(statuses, ["expired", "approved", "approved", "approved", "unknown"]);
    later(&gate, 8 * HOUR).await;
    assert_eq!([gate.status(&ids[1]).await, gate.status(&ids[2]).await], ["expired", "approved"]);
}

#[tokio::test]
async fn approval_run_by_the_gate_never_lapses() {
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

async fn renew(gate: &TestGate, token: &secrecy::SecretString, id: &str, body: &str) -> Answer {
    gate.post_as(token, &format!("/api/pending-actions/{id}/renew"), body).await
}

#[tokio::test]
async fn renewed_lease_outlives_the_first_one() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", "{}").await;
    gate.approve(&id, "").await;
    let first = claim(&gate, &id, "k").await.at("/leaseUntil");
    let revision = gate.list("").await.at("/revision");

    let renewed = renew(&gate, &gate.agent, &id, r#"{"fence":1,"leaseSeconds":7200}"#).await;
    let shorter = renew(&gate, &gate.agent, &id, r#"{"fence":1,"leaseSeconds":1}"#).await;
    let claimed_again = claim(&gate, &id, "k").await;
    later(&gate, 2 * HOUR - 60_000).await;
    let held = gate.gate.store().get(&id).await.unwrap().unwrap().action.row.status;
    let usual = renew(&gate, &gate.agent, &id, r#"{"fence":1}"#).await;

    assert_eq!(renewed.status, 200, "{}", renewed.text);
    assert!(renewed.at("/leaseUntil") > first, "{first} {}", renewed.text);
    assert_eq!(shorter.text, renewed.text, "a renewal does not shorten a lease");
    assert_eq!(claimed_again.at("/leaseUntil"), renewed.at("/leaseUntil"));
    assert_eq!(held, crate::domain::Status::Running);
    assert_eq!(usual.status, 200);
    assert_eq!(gate.list("").await.at("/revision"), revision, "a renewal is not a change");
    assert_eq!(gate.gate.verify_audit(&[]).await.unwrap().problems, Vec::<String>::new());
    later(&gate, HOUR).await;
    assert_eq!(gate.status(&id).await, "unknown", "the renewed lease ends, too");
    assert_eq!(renew(&gate, &gate.agent, &id, r#"{"fence":1}"#).await.code().1, "STALE_FENCE");
}

#[tokio::test]
async fn new_run_has_its_own_lease() {
    let folder = tempfile::tempdir().unwrap();
    let safe = ToolConfig { retry: Retry::Safe, ..ToolConfig::default() };
    let gate = start(GateConfig { tools: [("t".to_owned(), safe)].into(), ..config(folder.path()) }).await;
    let id = gate.propose("t", "{}").await;
    gate.approve(&id, "").await;
    claim(&gate, &id, "k").await;
    renew(&gate, &gate.agent, &id, r#"{"fence":1,"leaseSeconds":7200}"#).await;
    let agent = Actor { subject: "agent".to_owned(), workspace: "w".to_owned() };
    let again = Finished::Again("away".to_owned());
    gate.gate.store().finish(id.clone(), 1, Some(agent), again).await.unwrap();
    later(&gate, 60_000).await;
    assert_eq!(claim(&gate, &id, "k2").await.at("/fence"), "2");

    later(&gate, 61_000).await;

    let lost = gate.gate.store().get(&id).await.unwrap().unwrap();
    assert_eq!(lost.action.row.status.as_raw(), "approved", "the new run's own lease has ended");
}

#[tokio::test]
async fn only_the_newest_runs_holder_renews() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", "{}").await;
    let pending = renew(&gate, &gate.agent, &id, r#"{"fence":0}"#).await;
    gate.approve(&id, "").await;
    claim(&gate, &id, "k").await;
    let other = renew(&gate, &gate.owner, &id, r#"{"fence":1}"#).await;
    let old = renew(&gate, &gate.agent, &id, r#"{"fence":0}"#).await;
    let report = format!("/api/pending-actions/{id}/result");
    gate.post_as(&gate.agent, &report, r#"{"fence":1}"#).await;
    let over = renew(&gate, &gate.agent, &id, r#"{"fence":1}"#).await;

    for refused in [pending, other, old, over] {
        assert_eq!(refused.code(), (409, "STALE_FENCE".to_owned()));
    }
    let none = renew(&gate, &gate.agent, "none", r#"{"fence":1}"#).await;
    assert_eq!(none.code(), (404, "NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn stopping_gate_renews_leases() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", "{}").await;
    gate.approve(&id, "").await;
    claim(&gate, &id, "k").await;

    gate.gate.inner.draining.cancel();

    assert_eq!(renew(&gate, &gate.agent, &id, r#"{"fence":1}"#).await.status, 200);
    assert_eq!(claim(&gate, &id, "k3").await.code(), (503, "UNAVAILABLE".to_owned()));
}
