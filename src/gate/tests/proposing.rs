//! Proposals and their derived fields.

use std::time::Duration;

use super::support::{plain, with_tool};
use crate::config::ToolConfig;
use crate::domain::{Digest, Effect, PreviewShape, Risk};
use crate::gate::store::action_fields::record;

#[tokio::test]
async fn tool_determines_title_risk_and_effect() {
    let tool = ToolConfig {
        risk: Some(Risk::High),
        effect: Some(Effect::External),
        title: Some("Pay {amount} to {to.name}".to_owned()),
        ..ToolConfig::default()
    };
    let (_folder, gate) = with_tool(tool).await;
    let input = r#"{"amount":1.10,"to":{"name":"Ann"}}"#;
    let facts = async |id: &str| {
        let action = gate.action(id).await;
        ["/title", "/risk", "/effect", "/digest"].map(|at| action.at(at))
    };

    let lowered = gate.propose_with("t", input, r#","risk":"low","effect":"write""#).await;
    let raised = gate.propose_with("t", input, r#","risk":"critical","effect":"destructive""#).await;
    let built_in = gate.propose("refund_payment", r#"{"amount":5,"currency":"EUR","customer":"c"}"#).await;

    let digest = Digest::of("t", "w", input).to_string();
    assert_eq!(facts(&lowered).await, ["Pay 1.10 to Ann", "high", "external", &digest]);
    assert_eq!(facts(&raised).await, ["Pay 1.10 to Ann", "critical", "destructive", &digest]);
    assert_eq!(facts(&built_in).await[..3], ["Refund 5 EUR to c", "critical", "external"]);
}

#[tokio::test]
async fn invalid_ids_in_arguments_are_ignored() {
    let (_folder, gate) = plain().await;
    let long = "x".repeat(513);
    for input in [
        r#"{"workspace_id":"1200123456789","name":"x"}"#.to_owned(),
        r#"{"workspaceId":{"id":1},"workspace_id":7}"#.to_owned(),
        format!(r#"{{"workspace_id":"{long}","mission_id":"{long}","session_id":["s"]}}"#),
        r#"{"mission_id":7,"session_id":"a\u0000"}"#.to_owned(),
    ] {
        let id = gate.propose("t", &input).await;

        let action = gate.action(&id).await;
        let ids = ["/workspaceId", "/missionId", "/sessionId"].map(|at| action.at(at));
        assert_eq!(ids, ["w", "null", "null"], "{input}");
        assert_eq!(action.at("/toolInput"), input);
    }
}

#[tokio::test]
async fn workspace_in_the_arguments_is_ignored() {
    let (_folder, gate) = plain().await;
    let long = format!(r#"{{"workspace_id":"{}"}}"#, "x".repeat(129));
    for input in
        [r#"{"workspaceId":"other"}"#, r#"{"workspace_id":"other","workspaceId":null}"#, long.as_str()]
    {
        let body = format!(r#"{{"toolName":"t","toolInput":{input}}}"#);
        let answer = gate.post_as(&gate.agent, "/api/pending-actions", &body).await;
        assert_eq!(answer.status, 202, "{input}: {}", answer.text);
        let action = gate.action(&answer.at("/pending_action_id")).await;
        assert_eq!((action.at("/workspaceId"), action.at("/toolInput")), ("w".to_owned(), input.to_owned()));
    }
    for (tool, said) in
        [("t", "workspace_id is missing"), ("save_insights", "the workspace in toolInput must be text")]
    {
        let body = format!(r#"{{"toolName":"{tool}","toolInput":{{"workspace_id":7}}}}"#);
        let answer = gate.post_as(&gate.agent, "/api/pending-actions", &body).await;
        assert_eq!(answer.status, 422, "{tool}: {}", answer.text);
        assert!(answer.text.contains(said), "{}", answer.text);
    }
    let body = r#"{"toolName":"save_insights","toolInput":{"workspace_id":"other"}}"#;
    assert_eq!(gate.post_as(&gate.agent, "/api/pending-actions", body).await.status, 403);
}

#[tokio::test]
async fn input_names_the_ids_that_a_request_leaves_out() {
    let (_folder, gate) = plain().await;
    let input = r#"{"workspace_id":"elsewhere","mission_id":"theirs","session_id":"s"}"#;

    let id = gate.propose_with("t", input, r#","missionId":"m""#).await;

    let action = gate.action(&id).await;
    assert_eq!(["/workspaceId", "/missionId", "/sessionId"].map(|at| action.at(at)), ["w", "m", "s"]);
}

#[tokio::test]
async fn tools_of_praxiom_run_for_the_workspace_in_their_input() {
    let (_folder, gate) = plain().await;
    for tool in [
        "create_github_issue",
        "create_linear_comment",
        "create_linear_issue",
        "google_drive_batch_import",
        "google_drive_update",
        "google_drive_write",
        "save_document",
        "save_insights",
        "save_recommendations",
        "update_linear_issue",
    ] {
        for (field, workspace, status) in [
            ("workspace_id", "elsewhere", 403),
            ("workspaceId", "elsewhere", 403),
            ("workspace_id", "w", 202),
        ] {
            let input = format!(r#"{{"{field}":"{workspace}"}}"#);
            let body = format!(r#"{{"toolName":"{tool}","workspaceId":"w","toolInput":{input}}}"#);
            let answer = gate.post_as(&gate.agent, "/api/pending-actions", &body).await;
            assert_eq!(answer.status, status, "{tool} {input}");
        }
    }
}

#[tokio::test]
async fn unusable_preview_does_not_prevent_the_proposal() {
    let (_folder, gate) = plain().await;
    // Deeper than the gate reads.
    let deep = format!("{}{}", "[".repeat(600), "]".repeat(600));

    let id = gate.propose_with("t", "{}", &format!(r#","preview":{deep}"#)).await;
    let body = format!(r#"{{"toolName":"t","workspaceId":"w","toolInput":{{"a":{deep}}}}}"#);
    let unreadable = gate.post_as(&gate.agent, "/api/pending-actions", &body).await;

    assert_eq!(gate.action(&id).await.at("/preview"), "null");
    assert_eq!(unreadable.code(), (422, "INVALID".to_owned()));
}

#[tokio::test]
async fn before_is_kept_byte_for_byte_and_recorded() {
    let (_folder, gate) = plain().await;
    let deep = format!("{}{}", "[".repeat(600), "]".repeat(600));

    let with = gate.propose_with("t", "{}", r#","before":{"n":1.10,"n":2}"#).await;
    let without = gate.propose_with("t", "{}", r#","before":null"#).await;
    let unreadable = gate.propose_with("t", "{}", &format!(r#","before":{deep}"#)).await;
    let body = gate.action(&with).await.text;
    let stored = async |id: &str| gate.gate.store().get(id).await.unwrap().unwrap();
    let record = async |id: &str, keep: bool| {
        let mut stored = stored(id).await;
        stored.action.before = stored.action.before.filter(|_| keep);
        record(stored.proposed())
    };
    let verified = gate.gate.store().verify(&[]).await.unwrap();

    assert!(body.contains(r#""before":{"n":1.10,"n":2}"#), "{body}");
    assert_ne!(record(&with, true).await, record(&with, false).await);
    for id in [&without, &unreadable] {
        assert!(!gate.action(id).await.text.contains("before"));
    }
    assert_eq!(verified.problems, Vec::<String>::new());
}

#[tokio::test]
async fn tool_determines_the_default_expiry() {
    let expires_after = Some(Duration::from_hours(1));
    let (_folder, gate) = with_tool(ToolConfig { expires_after, ..ToolConfig::default() }).await;

    let default = gate.propose("t", "{}").await;
    let own = gate.propose_with("t", "{}", r#","expiresAt":"2099-01-01T00:00:00Z""#).await;
    let never = gate.propose("another", "{}").await;

    let action = gate.gate.store().get(&default).await.unwrap().unwrap().action.row;
    let waits = action.expires_at.unwrap().since(action.created_at);
    // The database's clock records the action. The gate's clock may be ahead by up to a second, the time of an answer.
    assert!((3_590_000..=3_601_000).contains(&waits), "{waits}");
    assert_eq!(gate.action(&own).await.at("/expiresAt"), "2099-01-01T00:00:00.000Z");
    assert_eq!(gate.action(&never).await.at("/expiresAt"), "null");
}

#[tokio::test]
async fn far_expiry_becomes_the_latest_time() {
    let (_folder, gate) = plain().await;
    for far in [
        r#""expiresAt":"9999-12-31T23:59:59.999999""#,
        r#""expiresAt":"9999-12-31T23:59:59.999999+00:00""#,
        r#""expiresAt":"9999-12-31T23:59:59-12:00""#,
        r#""expiresAt":"+275760-09-13T00:00:00.000Z""#,
        r#""expiresAt":"9223372036854775807""#,
        r#""expiresAt":"99999999999999999999999""#,
        r#""ttlSeconds":18446744073709551615"#,
        r#""ttlSeconds":999999999999"#,
        r#""ttlSeconds":1e30"#,
    ] {
        let id = gate.propose_with("t", "{}", &format!(",{far}")).await;
        assert_eq!(gate.action(&id).await.at("/expiresAt"), "9999-12-31T23:59:59.999Z", "{far}");
    }
    let id = gate.propose_with("t", "{}", r#","expiresAt":"9999-12-31T23:59:59Z""#).await;
    assert_eq!(gate.action(&id).await.at("/expiresAt"), "9999-12-31T23:59:59.000Z");
    let body = r#"{"toolName":"t","workspaceId":"w","toolInput":{},"expiresAt":"99999-99-99T00:00:00Z"}"#;
    assert_eq!(gate.post_as(&gate.agent, "/api/pending-actions", body).await.status, 422);
    gate.stop().await;
}

#[tokio::test]
async fn action_without_a_mission_has_no_batch() {
    let (_folder, gate) = plain().await;

    let alone = gate.propose("t", "{}").await;
    let named = gate.propose_with("t", "{}", r#","batch_id":"b","mission_id":"m""#).await;

    assert_eq!(gate.action(&alone).await.at("/batchId"), "null");
    assert_eq!(gate.action(&named).await.at("/batchId"), "b");
}

#[tokio::test]
async fn proposal_cannot_approve_itself() {
    let (_folder, gate) = plain().await;
    let more = r#","status":"approved","approved":true,"trust":true,"autoApprove":true,"resolvedBy":"owner""#;

    let id = gate.propose_with("t", "{}", more).await;

    let action = gate.action(&id).await;
    assert_eq!((action.at("/status"), action.at("/resolvedBy")), ("pending".to_owned(), "null".to_owned()));
}

#[tokio::test]
async fn tools_preview_replaces_the_proposers() {
    let (_folder, gate) = plain().await;
    let input = r#"{"amount": 1.10,"currency":"EUR","customer":"c","order_id":"o","reason":"r","extra":1}"#;
    let lie = r#","preview":{"amount":0.10}"#;

    let built = gate.propose_with("refund_payment", input, lie).await;
    let unfit = gate.propose_with("save_insights", r#"{"insights":7}"#, lie).await;
    let own = gate.propose_with("another", input, lie).await;

    let want = r#""preview":{"amount":1.10,"currency":"EUR","customer":"c","order_id":"o","reason":"r"}"#;
    let answer = gate.action(&built).await;
    assert!(answer.text.contains(want), "{}", answer.text);
    assert_eq!(gate.action(&unfit).await.at("/preview"), "null");
    assert_eq!(gate.action(&own).await.at("/preview/amount"), "0.1");
}

#[tokio::test]
async fn configured_preview_overrides_the_built_in_one() {
    for (shape, want) in [
        (PreviewShape { fields: vec!["b".to_owned()], ..PreviewShape::default() }, r#""preview":{"b":2}"#),
        (PreviewShape::default(), r#""preview":{"mine": 1}"#),
    ] {
        let (_folder, gate) = with_tool(ToolConfig { preview: Some(shape), ..ToolConfig::default() }).await;

        let id = gate.propose_with("t", r#"{"a":1,"b":2}"#, r#","preview":{"mine": 1}"#).await;

        let answer = gate.action(&id).await;
        assert!(answer.text.contains(want), "{}", answer.text);
    }
}
