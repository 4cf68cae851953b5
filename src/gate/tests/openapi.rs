//! Compares the gate with its API document.

use crate::gate::which::Which;
use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use super::contract::{CONTRACT, check_event, documented, operations, validator};
use super::support::{TestGate, answer, config, plain, script, start};
use crate::config::{GateConfig, RiskApprovals};
use crate::gate::auth::Access;
use crate::gate::router;
use crate::gate::token::Scope;

/// The document's notation for a route's access.
fn asked(access: Access) -> Value {
    match access {
        Access::Open => json!([]),
        Access::AnyToken => json!([{ "token": [] }]),
        Access::Scope(scope) => json!([{ "token": [scope.as_str()] }]),
    }
}

#[test]
fn routes_and_scopes_match_the_document() {
    let routes = router::table().into_iter();
    let served: BTreeSet<_> =
        routes.map(|it| format!("{} {} security {}", it.method, it.path, asked(it.access))).collect();
    let written: BTreeSet<_> = operations()
        .map(|(method, path, operation)| format!("{method} {path} security {}", operation["security"]))
        .collect();

    let missing: Vec<_> = served.difference(&written).collect();
    let gone: Vec<_> = written.difference(&served).collect();

    assert!(missing.is_empty(), "add these to assets/contract/openapi.json under `paths`: {missing:#?}");
    assert!(gone.is_empty(), "these are in assets/contract/openapi.json and not in the table: {gone:#?}");
}

#[test]
fn document_has_this_version_and_every_code_and_scope() {
    assert_eq!(CONTRACT["info"]["version"], env!("CARGO_PKG_VERSION"), "set info.version in openapi.json");
    let document = CONTRACT.to_string();
    for scope in Scope::ALL {
        assert!(document.contains(&format!("\"{scope}\"")), "the scope {scope} is not in openapi.json");
    }
    let is_code = |word: &&str| word.len() > 3 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    for code in include_str!("../error.rs").split('"').filter(is_code) {
        let known = document.contains(&format!("\"{code}\""));
        assert!(known, "add the code {code} to the enum of one of the error schemas in openapi.json");
    }
}

#[test]
fn reply_schemas_are_closed() {
    let mut open = Vec::new();
    for (name, schema) in CONTRACT["components"]["schemas"].as_object().unwrap() {
        let asked = [
            "Propose",
            "Approve",
            "Reject",
            "BatchApprove",
            "CheckpointReject",
            "Settle",
            "Claim",
            "Renew",
            "Outcome",
        ];
        // The gate validates request bodies itself, and shared fields are closed where they are used.
        if !asked.contains(&name.as_str()) && !name.ends_with("Fields") {
            open_objects(name, schema, false, &mut open);
        }
    }

    assert!(open.is_empty(), "say \"additionalProperties\": false here in openapi.json: {open:#?}");
}

fn open_objects(place: &str, schema: &Value, closed: bool, open: &mut Vec<String>) {
    let shut = |key: &str| schema.get(key) == Some(&Value::Bool(false));
    let closed = shut("additionalProperties") || shut("unevaluatedProperties") || closed;
    if schema.get("properties").is_some() && !closed {
        open.push(place.to_owned());
    }
    let parts = schema.as_object().into_iter().flatten();
    for (key, part) in parts {
        match part {
            // The parts of an `allOf` are closed by the schema around them.
            Value::Array(parts) => {
                let closed = closed && key == "allOf";
                for part in parts {
                    open_objects(&format!("{place}/{key}"), part, closed, open);
                }
            }
            part => open_objects(&format!("{place}/{key}"), part, false, open),
        }
    }
}

#[derive(Default)]
struct Seen(BTreeSet<String>);

impl Seen {
    async fn get(&mut self, gate: &TestGate, path: &str) {
        self.0.insert(gate.get(path).await.named);
    }

    async fn post(&mut self, gate: &TestGate, path: &str, body: &str) -> super::support::Answer {
        let answer = gate.post(path, body).await;
        self.0.insert(answer.named.clone());
        answer
    }
}

/// Covers checkpoints, unknown outcomes, pauses and the audit.
async fn settle_and_own(seen: &mut Seen, ran: &TestGate) {
    let lost = ran.propose_with("pulled", "{}", r#","checkpointId":"c","missionId":"m""#).await;
    let other = ran.propose_with("pulled", "{}", r#","checkpointId":"c""#).await;
    seen.get(ran, "/api/checkpoints?mission_id=m").await;
    let items = format!(r#"{{"items":[{{"pendingActionId":"{lost}"}},{{"pendingActionId":"none"}}]}}"#);
    seen.post(ran, "/api/checkpoints/c/approve", &items).await;
    seen.post(ran, "/api/checkpoints/c/reject", &format!(r#"{{"items":[{{"pendingActionId":"{other}"}}]}}"#))
        .await;
    seen.post(ran, &format!("/api/pending-actions/{lost}/claim"), r#"{"leaseSeconds":1}"#).await;
    ran.gate.inner.clock.pass(10_000);
    ran.gate.store().recover(Which::default(), Vec::new()).await.unwrap();
    seen.post(ran, &format!("/api/pending-actions/{lost}/settle"), r#"{"as":"failed","reason":"looked"}"#)
        .await;
    seen.post(ran, "/api/gate/pause", "").await;
    seen.post(ran, "/api/gate/resume", "").await;
    seen.get(ran, "/api/audit?limit=3").await;
    seen.get(ran, "/api/audit/head").await;
}

/// Each reply is checked against the contract when it is received. This test covers all documented replies.
#[tokio::test]
async fn every_documented_reply_occurs() {
    let folder = tempfile::tempdir().unwrap();
    let approvals = RiskApprovals { critical: 2, ..RiskApprovals::default() };
    let tools = [("t".to_owned(), script("cat"))].into();
    let ran = start(GateConfig { approvals, tools, ..config(folder.path()) }).await;
    let mut seen = Seen::default();
    let all = "/api/pending-actions";
    let more =
        r#","missionId":"m","sessionId":"s","agent":"a","summary":"why","preview":[1],"ttlSeconds":60"#;
    let body = format!(r#"{{"toolName":"t","workspaceId":"w","toolInput":{{}}{more}}}"#);
    seen.0.insert(ran.post_as(&ran.agent, all, &body).await.named);
    let ids = [ran.propose("t", "{}").await, ran.propose("t", "{}").await, ran.propose("pulled", "{}").await];
    let [first, second, pulled] = ids.each_ref().map(|id| format!("{all}/{id}"));

    seen.post(&ran, &format!("{first}/approve"), r#"{"userEdits":{"n":1},"reason":"yes"}"#).await;
    seen.get(&ran, &format!("{first}?wait=15s&until=final")).await;
    for path in ["", "/end"] {
        seen.post(&ran, &format!("/api/claims/{}{path}", ids[1]), "").await;
    }
    seen.get(&ran, "/api/claims").await;
    seen.post(&ran, &format!("{second}/reject"), r#"{"reason":"no"}"#).await;
    seen.post(&ran, &format!("{all}/batch/m:t/approve"), r#"{"items":[{"pendingActionId":"none"}]}"#).await;
    seen.post(&ran, &format!("{pulled}/approve"), "").await;
    let claimed = seen.post(&ran, &format!("{pulled}/claim"), "").await;
    let fence = claimed.at("/fence");
    seen.post(&ran, &format!("{pulled}/renew"), &format!(r#"{{"fence":{fence}}}"#)).await;
    let result = format!(r#"{{"fence":{fence},"result":[1.10]}}"#);
    seen.post(&ran, &format!("{pulled}/result"), &result).await;
    let taken_back = ran.propose("t", "{}").await;
    let half = ran.propose_with("t", "{}", r#","risk":"critical""#).await;
    seen.post(&ran, &format!("{all}/{half}/approve"), "").await;
    seen.post(&ran, &format!("{all}/{half}/take-back"), "").await;
    let withdraw = format!("{all}/{taken_back}/withdraw");
    seen.0.insert(ran.post_as(&ran.agent, &withdraw, "").await.named);
    for path in
        ["", "?view=row", "?view=row&nulls=false&limit=1", "?status=executed", "/changes?since=0", "/counts"]
    {
        seen.get(&ran, &format!("{all}{path}")).await;
    }
    seen.get(&ran, &format!("{first}/events")).await;
    for path in [
        "/api/flows?reviewers=true",
        "/api/people",
        "/api/tools",
        "/api/workspaces",
        "/healthz",
        "/readyz",
        "/openapi.json",
        "/metrics",
    ] {
        seen.get(&ran, path).await;
    }
    settle_and_own(&mut seen, &ran).await;
    // The stream has its own tests.
    let stream = ran.request(Method::GET, &format!("{all}/events"), &ran.owner).send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    seen.0.insert(format!("GET {all}/events {}", stream.status().as_u16()));
    drop(stream);

    let unseen: Vec<_> = documented().into_iter().filter(|answer| !seen.0.contains(answer)).collect();
    assert!(unseen.is_empty(), "let this walk see each of these answers: {unseen:#?}");
    ran.stop().await;
}

/// Proposal bodies at the limits of the document.
fn edges() -> Vec<String> {
    let mut bodies: Vec<String> = [
        r#"{"toolName":"t","toolInput":{}}"#,
        r#"{"toolName":"t","toolInput":{},"workspaceId":""}"#,
        r#"{"toolName":"t","toolInput":{},"workspaceId":null}"#,
        r#"{"toolName":"t","toolInput":{"workspace_id":"w"}}"#,
        r#"{"toolName":"t","toolInput":{"workspace_id":"w"},"workspaceId":null}"#,
        r#"{"toolName":"t","toolInput":{"workspace_id":""}}"#,
        r#"{"toolName":" ","toolInput":{},"workspaceId":"w"}"#,
        r#"{"toolName":"t","toolInput":[],"workspaceId":"w"}"#,
    ]
    .map(str::to_owned)
    .into();
    let long = |name: &str, length: usize| format!(r#""{name}":"{}""#, "ü".repeat(length));
    for more in [
        r#""ttlSeconds":1000000.0"#,
        r#""ttlSeconds":1"#,
        r#""ttlSeconds":0"#,
        r#""ttlSeconds":1.5"#,
        r#""ttlSeconds":-1"#,
        r#""ttlSeconds":18446744073709551615"#,
        r#""ttlSeconds":18446744073709551616"#,
        r#""ttlSeconds":1e30"#,
        r#""ttlSeconds":null,"expiresAt":"2999-01-01T00:00:00Z""#,
        r#""ttlSeconds":60,"expiresAt":null"#,
        r#""ttlSeconds":60,"expiresAt":"2999-01-01T00:00:00Z""#,
        r#""runId":"","agent":"","batchId":"","missionId":"","effect":"","risk":"","summary":"""#,
        r#""runId":null,"effect":null,"risk":null,"preview":null,"more":[]"#,
        r#""runId":7"#,
        r#""effect":"read""#,
    ] {
        bodies.push(format!(r#"{{"toolName":"t","toolInput":{{}},"workspaceId":"w",{more}}}"#));
    }
    for (name, most) in [("runId", 512), ("summary", 16_384), ("toolName", 200)] {
        for length in [most, most + 1] {
            let tool = if name == "toolName" { "" } else { r#""toolName":"t","# };
            bodies.push(format!(r#"{{{tool}"toolInput":{{}},"workspaceId":"w",{}}}"#, long(name, length)));
        }
    }
    bodies
}

#[tokio::test]
async fn proposal_is_accepted_if_the_document_accepts_it() {
    let (_folder, gate) = plain().await;
    let document = validator(&CONTRACT["components"]["schemas"]["Propose"]);
    let mut taken = 0;

    for body in edges() {
        let answer = gate.post_as(&gate.agent, "/api/pending-actions", &body).await;

        let says = document.is_valid(&serde_json::from_str(&body).unwrap());
        assert_eq!(answer.status == 202, says, "{body}: {}", answer.text);
        taken += u32::from(says);
    }
    assert_eq!(taken, 14, "edges on both sides");
}

#[tokio::test]
async fn query_is_accepted_if_the_document_accepts_it() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", "{}").await;
    let list = "/api/pending-actions";
    let one = format!("{list}/{id}");
    let mut refused = 0;

    for (template, path, name, value) in [
        (list, list, "limit", "0"),
        (list, list, "limit", "4294967295"),
        (list, list, "limit", "4294967296"),
        (list, list, "limit", "-1"),
        (list, list, "status", ""),
        (list, list, "status", ",pending,,running,"),
        (list, list, "status", "pendingrunning"),
        (list, list, "cursor", ""),
        (list, list, "cursor", "7fffffffffffffff"),
        (list, list, "cursor", "8fffffffffffffff"),
        (list, list, "cursor", "+1"),
        (list, list, "cursor", "A"),
        (list, list, "agent", ""),
        (list, list, "id_prefix", ""),
        (list, list, "id_prefix", "0"),
        ("/api/pending-actions/changes", "/api/pending-actions/changes", "since", "18446744073709551615"),
        ("/api/pending-actions/changes", "/api/pending-actions/changes", "since", "18446744073709551616"),
        ("/api/pending-actions/{id}", one.as_str(), "wait", ""),
        ("/api/pending-actions/{id}", one.as_str(), "wait", "0"),
        ("/api/pending-actions/{id}", one.as_str(), "wait", "+1ms"),
        ("/api/pending-actions/{id}", one.as_str(), "wait", "1ms"),
        ("/api/audit", "/api/audit", "limit", "0"),
        ("/api/flows", "/api/flows", "since", "0"),
    ] {
        let parameters = CONTRACT["paths"][template]["get"]["parameters"].as_array().unwrap();
        let schema = &parameters.iter().find(|it| it["name"] == name).unwrap()["schema"];
        let meant =
            if schema["type"] == "integer" { serde_json::from_str(value).unwrap() } else { json!(value) };
        let says = validator(schema).is_valid(&meant);

        let query = value.replace('+', "%2B");
        let answer = gate.get(&format!("{path}?{name}={query}")).await;

        assert_eq!(answer.status == 200, says, "{path}?{name}={value}: {}", answer.text);
        refused += u32::from(!says);
    }
    assert_eq!(refused, 11, "edges on both sides");
}

#[tokio::test]
async fn document_is_served_without_a_token() {
    let (_folder, gate) = plain().await;

    let served = answer(gate.client.get(format!("{}/openapi.json", gate.url))).await;

    assert_eq!((served.status, served.at("/openapi").as_str()), (200, "3.1.0"));
    assert_eq!(served.json(), *CONTRACT);
}

#[test]
#[should_panic(expected = "not what assets/contract/openapi.json says")]
fn undocumented_field_fails() {
    check_event("tick", &json!({ "tick": 1, "more": 2 }));
}
