//! Actions that need several approvals.

use secrecy::SecretString;
use serde_json::{Value, json};

use super::support::{Answer, TestGate, answer, config, plain, start, with_tool};
use crate::config::{GateConfig, RiskApprovals, ToolConfig};
use crate::domain::Digest;
use crate::gate::reconcile;
use crate::gate::token::hash;
use crate::gate::{OpenApproval, Scope};

/// A gate whose tool `t` needs several approvals, and two reviewers besides the owner.
struct Desk {
    _folder: tempfile::TempDir,
    gate: TestGate,
    kim: SecretString,
    lee: SecretString,
}

async fn member(gate: &TestGate, name: &str) -> SecretString {
    gate.gate.create_token(name, "w", &[Scope::Read, Scope::Decide], None).await.unwrap()
}

async fn desk(approvals: u64) -> Desk {
    let (folder, gate) = with_tool(ToolConfig { approvals, ..ToolConfig::default() }).await;
    let (kim, lee) = (member(&gate, "kim").await, member(&gate, "lee").await);
    Desk { _folder: folder, gate, kim, lee }
}

impl Desk {
    async fn ask(&self, who: &SecretString, verb: &str, id: &str, body: &str) -> Answer {
        self.gate.post_as(who, &format!("/api/pending-actions/{id}/{verb}"), body).await
    }

    async fn approve(&self, who: &SecretString, id: &str, body: &str) -> Answer {
        self.ask(who, "approve", id, body).await
    }

    async fn problems(&self) -> Vec<String> {
        self.gate.gate.verify_audit(&[]).await.unwrap().problems
    }
}

/// Returns the status, and the approvals as `1 of 2 kim`.
fn stands(answer: &Answer) -> (String, String) {
    assert_eq!(answer.status, 200, "{}", answer.text);
    let approvals = &answer.json()["approvals"];
    let by: Vec<&str> = approvals["by"].as_array().unwrap().iter().map(|by| by.as_str().unwrap()).collect();
    let said = format!("{} of {} {}", approvals["given"], approvals["needed"], by.join(" "));
    (answer.at("/status"), said.trim().to_owned())
}

fn pending(said: &str) -> (String, String) {
    ("pending".to_owned(), said.to_owned())
}

#[tokio::test]
async fn voided_approvals_end_with_the_revoked_token() {
    let desk = desk(2).await;
    let (gate, kim, lee) = (&desk.gate, &desk.kim, &desk.lee);
    let [half, both] = [gate.propose("t", "{}").await, gate.propose("t", "{}").await];
    let mut alone = Vec::new();
    for who in [kim, kim, kim, lee] {
        let id = gate.propose("u", "{}").await;
        desk.approve(who, &id, "").await;
        alone.push(id);
    }
    let [waits, taken, ran, of_lee] = <[String; 4]>::try_from(alone).unwrap();
    for id in [&taken, &ran] {
        gate.post_as(&gate.agent, &format!("/api/pending-actions/{id}/claim"), "").await;
    }
    let result = r#"{"fence":1,"result":1}"#;
    gate.post_as(&gate.agent, &format!("/api/pending-actions/{ran}/result"), result).await;
    desk.approve(kim, &half, "").await;
    desk.approve(lee, &both, "").await;
    desk.approve(kim, &both, "").await;
    // The same person in another spelling.
    let again = member(gate, "ＫＩＭ").await;
    let kim_2 = gate.gate.store().token(&hash(&again), gate.gate.inner.clock.now()).await.unwrap().unwrap();
    let revoke = async |void| {
        let open = gate.gate.revoke_with_approvals(&kim_2.id, void, Some("root")).await.unwrap();
        let told = |it: OpenApproval| (it.id, it.status.as_raw().to_owned(), it.is_voided);
        open.map(|open| open.into_iter().map(told).collect::<Vec<_>>())
    };
    let told = |void| {
        let all = [(&half, "pending", void), (&both, "approved", void), (&waits, "approved", void)];
        let all = all.into_iter().chain([(&taken, "running", false)]);
        all.map(|(id, status, is_voided)| (id.clone(), status.to_owned(), is_voided)).collect::<Vec<_>>()
    };

    assert_eq!(revoke(false).await, Some(told(false)));
    assert_eq!(stands(&gate.action(&half).await), pending("1 of 2 kim"));
    assert_eq!(gate.status(&waits).await, "approved");
    assert_eq!(revoke(false).await, None, "the token is revoked already");
    assert_eq!(revoke(true).await, Some(told(true)));

    assert_eq!(stands(&gate.action(&half).await), pending("0 of 2"));
    for id in [&both, &waits] {
        let lapsed = gate.action(id).await;
        let said = (lapsed.at("/status"), lapsed.at("/error"));
        assert_eq!(said, ("expired".to_owned(), "approval withdrawn".to_owned()));
        let events = gate.get(&format!("/api/pending-actions/{id}/events")).await.json();
        let last = events["items"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&last["event"], &last["by"]), (&json!("lapsed"), &json!("root")));
    }
    let events = gate.get(&format!("/api/pending-actions/{half}/events")).await.text;
    assert!(events.contains(r#""event":"approval-voided""#), "{events}");
    assert_eq!([gate.status(&of_lee).await, gate.status(&ran).await], ["approved", "executed"]);
    gate.post_as(&gate.agent, &format!("/api/pending-actions/{taken}/result"), result).await;
    assert_eq!(gate.status(&taken).await, "executed");
    desk.approve(lee, &half, "").await;
    assert_eq!(desk.approve(&gate.owner, &half, "").await.at("/status"), "approved");
    let left = revoke(true).await.unwrap();
    assert_eq!(left, [], "withdrawn approvals are no longer listed");
    assert_eq!(desk.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn spellings_that_look_alike_approve_once() {
    let desk = desk(2).await;
    let id = desk.gate.propose("t", "{}").await;
    desk.approve(&desk.kim, &id, "").await;

    for spelling in ["KIM", "ｋｉｍ", "\u{212a}im", "𝕜im"] {
        let again = member(&desk.gate, spelling).await;
        assert_eq!(stands(&desk.approve(&again, &id, "").await), pending("1 of 2 kim"), "{spelling}");
        let mine = desk.gate.post_as(&again, &format!("/api/claims/{id}"), "").await;
        assert_eq!(mine.status, 200, "{spelling}: {mine:?}");
        let other = desk.gate.post_as(&desk.kim, &format!("/api/claims/{id}/end"), "").await;
        assert_eq!(other.status, 200, "{spelling}: both are one person: {other:?}");
    }
    assert_eq!(desk.approve(&desk.lee, &id, "").await.at("/status"), "approved");
}

#[tokio::test]
async fn last_of_several_approvals_approves() {
    let desk = desk(3).await;
    let id = desk.gate.propose("t", r#"{"n":1.10}"#).await;

    let waits = desk.gate.action(&id).await;
    let first = desk.approve(&desk.kim, &id, r#"{"reason":"fine"}"#).await;
    let second = desk.approve(&desk.lee, &id, "").await;
    let row = desk.gate.list("&view=row&status=pending").await;
    let claimed = desk.gate.post_as(&desk.gate.agent, &format!("/api/pending-actions/{id}/claim"), "").await;
    let third = desk.approve(&desk.gate.owner, &id, "").await;

    assert_eq!(stands(&waits), pending("0 of 3"));
    assert_eq!(stands(&first), pending("1 of 3 kim"));
    assert_eq!(first.at("/givenApprovals/0/by"), "kim");
    assert_eq!(first.at("/givenApprovals/0/effectiveDigest"), first.at("/digest"));
    assert_eq!(stands(&second), pending("2 of 3 kim lee"));
    assert_eq!(row.at("/items/0/approvals/by"), r#"["kim","lee"]"#);
    assert_eq!(claimed.code(), (409, "INVALID_STATE".to_owned()), "not approved yet");
    assert_eq!(stands(&third), ("approved".to_owned(), "3 of 3 kim lee owner".to_owned()));
    assert_eq!(third.at("/resolvedBy"), "owner");
    let events = desk.gate.get(&format!("/api/pending-actions/{id}/events")).await;
    let told = |nth: usize| {
        let event = &events.json()["items"][nth];
        format!(
            "{} {} {}",
            event["event"].as_str().unwrap(),
            event["by"].as_str().unwrap(),
            event["details"]["approvers"]
        )
    };
    assert_eq!(told(1), r#"approval-given kim ["kim"]"#);
    assert_eq!(events.at("/items/1/details/reason"), "fine");
    assert_eq!(told(3), r#"approved owner ["kim","lee","owner"]"#);
    let work = desk.gate.post_as(&desk.gate.agent, &format!("/api/pending-actions/{id}/claim"), "").await;
    assert_eq!(work.status, 200, "{}", work.text);
    assert_eq!(desk.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn repeated_approval_counts_once_and_the_proposers_never() {
    let desk = desk(2).await;
    let id = desk.gate.propose("t", "{}").await;
    let kim_too = member(&desk.gate, " KIM").await;
    let agent_too = member(&desk.gate, "Agent").await;

    let first = desk.approve(&desk.kim, &id, "").await;
    let again = desk.approve(&kim_too, &id, "").await;
    let own = desk.approve(&agent_too, &id, "").await;

    assert_eq!(stands(&again), pending("1 of 2 kim"));
    assert_eq!(again.at("/revision"), first.at("/revision"), "the repeated approval changes nothing");
    assert_eq!(own.code(), (403, "FORBIDDEN".to_owned()));
    assert_eq!(stands(&desk.approve(&desk.lee, &id, "").await).0, "approved");
}

#[tokio::test]
async fn approval_of_other_content_restarts_the_count() {
    let desk = desk(2).await;
    let id = desk.gate.propose("t", r#"{"n":1,"m":2}"#).await;
    let edited = r#"{"n":5,"m":2}"#;

    desk.approve(&desk.kim, &id, "").await;
    let other = desk.approve(&desk.lee, &id, r#"{"userEdits":{"n": 5}}"#).await;
    let voided = desk.gate.get(&format!("/api/pending-actions/{id}/events")).await;

    assert_eq!(stands(&other), pending("1 of 2 lee"));
    assert!(other.text.contains(r#""userEdits":{"n": 5}"#), "{}", other.text);
    assert_eq!(other.at("/givenApprovals/0/effectiveDigest"), Digest::of("t", "w", edited).to_string());
    assert_eq!((other.at("/effectiveInput"), other.at("/userEdits")), ("null".to_owned(), "null".to_owned()));
    assert_eq!(voided.at("/items/2/details/voided"), r#"["kim"]"#);

    // The same effective input, from other edits.
    let both = desk.approve(&desk.kim, &id, r#"{"userEdits":{"n": 5,"m":2}}"#).await;
    assert_eq!(stands(&both), ("approved".to_owned(), "2 of 2 lee kim".to_owned()));
    assert!(both.text.contains(&format!(r#""effectiveInput":{edited}"#)), "{}", both.text);
    let row = desk.gate.list(&format!("&ids={id}&view=row")).await;
    assert_eq!(row.at("/items/0/editedTitle"), "t n=1 → 5 m=2");
    assert_eq!(desk.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn approval_can_be_taken_back_until_the_last() {
    let desk = desk(2).await;
    let id = desk.gate.propose("t", "{}").await;
    desk.approve(&desk.kim, &id, "").await;

    let not_mine = desk.ask(&desk.lee, "take-back", &id, "").await;
    let back = desk.ask(&desk.kim, "take-back", &id, "").await;
    let twice = desk.ask(&desk.kim, "take-back", &id, "").await;

    assert_eq!(not_mine.code(), (409, "INVALID_STATE".to_owned()));
    assert_eq!(stands(&back), pending("0 of 2"));
    assert_eq!(twice.code(), (409, "INVALID_STATE".to_owned()));
    assert_eq!(stands(&desk.approve(&desk.lee, &id, "").await), pending("1 of 2 lee"));
    assert_eq!(stands(&desk.approve(&desk.kim, &id, "").await).0, "approved");
    let late = desk.ask(&desk.kim, "take-back", &id, "").await;
    assert_eq!((late.code().1.as_str(), late.at("/error/status").as_str()), ("INVALID_STATE", "approved"));
    assert_eq!(desk.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn partly_approved_action_ends_like_a_pending_one() {
    let desk = desk(2).await;
    desk.gate.gate.inner.clock.stop();
    let proposed = async |more: &str| {
        let id = desk.gate.propose_with("t", "{}", more).await;
        desk.approve(&desk.kim, &id, "").await;
        id
    };
    let (rejected, withdrawn, old) = (proposed("").await, proposed("").await, proposed("").await);
    let expired = proposed(r#","ttlSeconds":60"#).await;

    desk.ask(&desk.kim, "reject", &rejected, "").await;
    desk.ask(&desk.gate.agent, "withdraw", &withdrawn, "").await;
    desk.gate.propose_with("t", "{}", &format!(r#","supersedes":"{old}""#)).await;
    desk.gate.gate.inner.clock.pass(61_000);
    reconcile::sweep(&desk.gate.gate).await.unwrap();

    for (id, status) in
        [(rejected, "rejected"), (withdrawn, "withdrawn"), (old, "superseded"), (expired, "expired")]
    {
        let late = desk.approve(&desk.lee, &id, "").await;
        assert_eq!((late.status, late.at("/error/status").as_str()), (409, status));
        assert_eq!(stands(&desk.gate.action(&id).await), (status.to_owned(), "1 of 2 kim".to_owned()));
    }
    assert_eq!(desk.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn first_approval_in_a_batch_is_accepted() {
    let desk = desk(2).await;
    let more = r#","batchId":"b","checkpointId":"c""#;
    let ids = [desk.gate.propose_with("t", "{}", more).await, desk.gate.propose_with("u", "{}", more).await];
    let items = json!({"items": [{"pendingActionId": ids[0]}, {"pendingActionId": ids[1]}]}).to_string();

    let batch = desk.gate.post_as(&desk.kim, "/api/pending-actions/batch/b/approve", &items).await;
    let checkpoint = desk.gate.post_as(&desk.lee, "/api/checkpoints/c/approve", &items).await;

    let counts = |answer: &Answer| ["/approved", "/skipped", "/failed"].map(|at| answer.at(at));
    assert_eq!((counts(&batch), batch.at("/accepted")), (["1", "0", "0"].map(str::to_owned), "1".to_owned()));
    let entry = json!({"pendingActionId": ids[0], "outcome": "accepted", "status": "pending",
        "approvals": {"given": 1, "needed": 2}});
    assert_eq!(batch.json()["items"][0], entry);
    assert_eq!(counts(&checkpoint), ["1", "1", "0"].map(str::to_owned));
    assert_eq!(checkpoint.json().get("accepted"), None, "omitted without accepted items");
    assert_eq!(checkpoint.at("/items/0/outcome"), "approved");
}

#[tokio::test]
async fn approval_answer_is_kept_under_its_key() {
    let desk = desk(2).await;
    let id = desk.gate.propose("t", "{}").await;
    let path = format!("/api/pending-actions/{id}/approve");
    let approve = async || {
        let request = desk.gate.request(reqwest::Method::POST, &path, &desk.kim);
        answer(request.header("idempotency-key", "k")).await
    };

    let first = approve().await;
    desk.approve(&desk.lee, &id, "").await;
    let again = approve().await;

    assert_eq!((again.status, again.text), (200, first.text), "the first answer despite later changes");
}

#[tokio::test]
async fn unknown_risk_needs_as_many_approvals_as_high() {
    let folder = tempfile::tempdir().unwrap();
    let approvals = RiskApprovals { high: 3, critical: 2, ..RiskApprovals::default() };
    let tools = [("t".to_owned(), ToolConfig { approvals: 2, ..ToolConfig::default() })].into();
    let gate = start(GateConfig { approvals, tools, ..config(folder.path()) }).await;

    for (tool, risk, needed) in
        [("t", "medium", 2), ("t", "spicy", 3), ("u", "high", 3), ("u", "critical", 2), ("t", "critical", 2)]
    {
        let id = gate.propose_with(tool, "{}", &format!(r#","risk":"{risk}""#)).await;
        assert_eq!(stands(&gate.action(&id).await), pending(&format!("0 of {needed}")), "{tool} {risk}");
    }
    let one = gate.propose("u", "{}").await;
    assert_eq!(gate.action(&one).await.json().get("approvals"), None);
    assert_eq!(gate.approve(&one, "").await.at("/status"), "approved");
}

#[tokio::test]
async fn approvals_under_another_configuration_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let with = |approvals| {
        let tools = [("t".to_owned(), ToolConfig { approvals, ..ToolConfig::default() })].into();
        GateConfig { tools, ..config(folder.path()) }
    };
    let gate = start(with(2)).await;
    let kim = member(&gate, "kim").await;
    let [half, whole] = [gate.propose("t", "{}").await, gate.propose("t", "{}").await];
    for id in [&half, &whole] {
        gate.post_as(&kim, &format!("/api/pending-actions/{id}/approve"), "").await;
    }
    gate.approve(&whole, "").await;
    gate.stop().await;

    let gate = start(with(3)).await;
    let row = gate.list("&view=row&status=pending").await;
    let action = gate.action(&half).await;
    let claimed = gate.post_as(&gate.agent, &format!("/api/pending-actions/{whole}/claim"), "").await;

    assert_eq!(row.at("/items/0/approvals/given"), "0");
    assert_eq!(stands(&action), pending("0 of 3"));
    assert_eq!(claimed.code(), (412, "CHANGED".to_owned()));
    let failed = gate.action(&whole).await;
    assert!(failed.at("/error").contains("fewer people approved it"), "{}", failed.text);
    assert_eq!(gate.gate.verify_audit(&[]).await.unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn workspace_reports_deciders_if_several_must_approve() {
    let membership = |answer: Answer| -> Value { answer.json()["items"][0]["approvals"].clone() };
    let (_folder, gate) = plain().await;
    assert_eq!(membership(gate.get("/api/workspaces").await), Value::Null);

    let desk = desk(3).await;
    member(&desk.gate, "Kim ").await;
    let spare =
        desk.gate.gate.list_tokens().await.unwrap().into_iter().find(|it| it.subject == "lee").unwrap();
    let told = async || membership(desk.gate.get("/api/workspaces").await);

    assert_eq!(told().await, json!({"needed": 3, "deciders": 3}), "kim, lee and the owner once each");
    desk.gate.gate.revoke_token(&spare.id).await.unwrap();
    assert_eq!(told().await, json!({"needed": 3, "deciders": 2}));
}

#[tokio::test]
async fn pruned_action_loses_its_approvals() {
    let desk = desk(2).await;
    desk.gate.gate.inner.clock.stop();
    let id = desk.gate.propose("t", "{}").await;
    desk.approve(&desk.kim, &id, "").await;
    desk.ask(&desk.lee, "reject", &id, "").await;
    desk.gate.gate.inner.clock.pass(10_000);

    let before = desk.gate.gate.inner.clock.now();
    let settled = desk.gate.gate.store().settled("w", before, 10, 1 << 20).await.unwrap();
    assert_eq!(desk.gate.gate.store().prune("w".to_owned(), settled, None).await.unwrap(), 1);

    assert_eq!(desk.problems().await, Vec::<String>::new());
}
