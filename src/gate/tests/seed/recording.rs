//! "Intercepting every write-classified tool call before it executes": a proposal becomes a row, and does not run.

use serde_json::Value;

use crate::gate::tests::support::{Answer, TestGate, plain};

/// The specification's payload, byte for byte.
const EXAMPLE: &str = r#"{
    "workspace_id": "550e8400-e29b-41d4-a716-446655440000",
    "recommendations": [
      {
        "title": "Streamline onboarding step 3",
        "description": "Collapse the two-screen verification...",
        "addresses_insight_ids": ["ins-1", "ins-2"],
        "effort_estimate": "small",
        "effort_weeks": 2,
        "impact_score": 0.82,
        "success_metrics": ["Activation rate +10%", "Drop-off <8%"]
      }
    ],
    "prioritization_rationale": "Quick wins first — onboarding friction..."
  }"#;

const PREVIEW: &str = r#"{"count":1,"prioritization_rationale":"Quick wins first — onboarding friction...","items":[{"title":"Streamline onboarding step 3","description":"Collapse the two-screen verification...","rationale":"","effort_estimate":"small","effort_weeks":2,"impact_score":0.82,"addresses_insight_ids":["ins-1","ins-2"],"success_metrics":["Activation rate +10%","Drop-off <8%"]}]}"#;

const TOOLS: [&str; 10] = [
    "save_insights",
    "save_recommendations",
    "save_document",
    "create_github_issue",
    "create_linear_issue",
    "update_linear_issue",
    "create_linear_comment",
    "google_drive_write",
    "google_drive_update",
    "google_drive_batch_import",
];

async fn propose(gate: &TestGate, body: &str) -> Answer {
    gate.post_as(&gate.agent, "/api/pending-actions", body).await
}

#[tokio::test]
async fn only_workspace_id_is_required() {
    let (_folder, gate) = plain().await;

    let without = propose(&gate, r#"{"toolName":"t","toolInput":{"mission_id":"m","session_id":"s"}}"#).await;
    let empty = propose(&gate, r#"{"toolName":"t","toolInput":{},"workspaceId":""}"#).await;
    let alone = propose(&gate, r#"{"toolName":"t","toolInput":{"workspace_id":"w"}}"#).await;

    for refused in [without, empty] {
        assert_eq!(refused.code(), (422, "INVALID".to_owned()));
        assert!(refused.at("/error/message").contains("workspace_id"));
    }
    assert_eq!(alone.status, 202);
    let action = gate.action(&alone.at("/pending_action_id")).await;
    let identity = ["/workspaceId", "/missionId", "/sessionId", "/batchId"].map(|at| action.at(at));
    assert_eq!(identity, ["w", "null", "null", "null"]);
    assert!(action.text.contains(r#""toolInput":{"workspace_id":"w"}"#), "the input is unchanged");
}

#[tokio::test]
async fn queued_signal_has_exactly_the_specified_fields() {
    let (_folder, gate) = plain().await;

    let queued = propose(&gate, r#"{"toolName":"t","toolInput":{},"workspaceId":"w"}"#).await;

    let names: Vec<String> = queued.json().as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["status", "pending_action_id", "tool_name", "message"]);
    assert_eq!(queued.at("/status"), "queued");
}

#[tokio::test]
async fn every_tool_of_the_specification_is_gated() {
    let (_folder, gate) = plain().await;

    for tool in TOOLS {
        let id = gate.propose(tool, r#"{"title":"x"}"#).await;

        let action = gate.action(&id).await;
        assert_eq!((action.at("/status").as_str(), action.at("/toolName").as_str()), ("pending", tool));
        assert_ne!(action.at("/effect"), "read");
    }

    assert_eq!(gate.list("&status=pending&view=row").await.json()["items"].as_array().unwrap().len(), 10);
}

#[tokio::test]
async fn example_payload_reads_as_specified() {
    let (_folder, gate) = plain().await;
    // The specification's payload with the test's workspace.
    let input = EXAMPLE.replace("550e8400-e29b-41d4-a716-446655440000", "w");
    let mission = "a1b2c3d4-e5f6-7890-abcd-ef0123456789";
    let body = format!(
        r#"{{"toolName":"save_recommendations","toolInput":{input},"preview":{PREVIEW},"missionId":"{mission}","sessionId":"ses_abc123"}}"#
    );

    let id = propose(&gate, &body).await.at("/pending_action_id");
    let action = gate.action(&id).await;

    let texts = ["/id", "/workspaceId", "/missionId", "/sessionId", "/batchId", "/toolName", "/status"];
    let batch = format!("{mission}:save_recommendations");
    let want = [&id, "w", mission, "ses_abc123", &batch, "save_recommendations", "pending"];
    assert_eq!(texts.map(|at| action.at(at)), want);
    assert!(action.text.contains(&format!(r#""toolInput":{input}"#)), "{}", action.text);
    // The gate's own preview must equal the specification's.
    let preview: Value = serde_json::from_str(PREVIEW).unwrap();
    assert_eq!(action.json()["preview"], preview);
    for name in ["userEdits", "result", "error", "resolvedAt", "executedAt"] {
        assert_eq!(action.json().get(name), Some(&Value::Null), "{name} must be there and null");
    }
    // `2026-04-21T18:02:11.420Z`: milliseconds and a Z.
    let created = action.at("/createdAt");
    assert_eq!(
        (created.len(), created.as_bytes()[19], created.as_bytes()[23]),
        (24, b'.', b'Z'),
        "{created}"
    );
}

#[tokio::test]
async fn agents_description_of_itself_is_kept() {
    let (_folder, gate) = plain().await;
    let more = r#","runId":"run-1","toolCallId":"call-1","requestedBy":"ann","agent":"SupportAgent","summary":"why""#;

    let id = gate.propose_with("t", "{}", more).await;
    let snake = r#","run_id":"run-2","tool_call_id":"call-2","requested_by":"bob""#;
    let other = gate.propose_with("t", "{}", snake).await;

    let said = async |id: &str| {
        let action = gate.action(id).await;
        ["/runId", "/toolCallId", "/requestedBy", "/agent", "/summary"].map(|at| action.at(at))
    };
    assert_eq!(said(&id).await, ["run-1", "call-1", "ann", "SupportAgent", "why"]);
    assert_eq!(said(&other).await[..3], ["run-2", "call-2", "bob"]);
}

#[tokio::test]
async fn batch_is_named_by_mission_and_tool() {
    let (_folder, gate) = plain().await;

    for (more, batch) in [
        (r#","missionId":"mission-uuid""#, "mission-uuid:t"),
        (r#","missionId":"mission-uuid","batchId":"mine""#, "mine"),
        ("", "null"),
    ] {
        let id = gate.propose_with("t", "{}", more).await;
        assert_eq!(gate.action(&id).await.at("/batchId"), batch);
    }
}
