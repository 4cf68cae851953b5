//! Refusals, which all have the same form.

use reqwest::Method;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::postgres;
use super::support::{Answer, LIMIT, TestGate, answer, config, plain, script, start, with_tool};
use crate::config::{GateConfig, Limits, Retry, ToolConfig};
use crate::domain::Effect;
use crate::gate::Scope;

fn refused(answer: &Answer, status: u16, code: &str) {
    assert_eq!(answer.headers.get("content-type").unwrap(), "application/json");
    assert!(!answer.at("/error/message").is_empty());
    assert_eq!(answer.code(), (status, code.to_owned()), "{}", answer.text);
}

#[tokio::test]
async fn every_refusal_has_the_same_form() {
    let (_folder, gate) = plain().await;
    let bad = SecretString::from("placet_owner_0");
    let id = gate.propose("t", "{}").await;
    let path = format!("/api/pending-actions/{id}");
    let list = "/api/pending-actions";

    refused(&gate.post(&format!("{path}/approve"), "{").await, 400, "BAD_REQUEST");
    refused(&gate.list("&limit=many").await, 400, "BAD_REQUEST");
    refused(&gate.get("/api/pending-actions/%ff").await, 400, "BAD_REQUEST");
    refused(&answer(gate.request(Method::GET, &path, &bad)).await, 401, "UNAUTHORIZED");
    refused(&answer(gate.client.get(format!("{}{path}", gate.url))).await, 401, "UNAUTHORIZED");
    refused(&gate.post(list, "{}").await, 403, "FORBIDDEN");
    refused(&gate.get("/api/pending-actions/none").await, 404, "NOT_FOUND");
    refused(&gate.get("/api/nothing").await, 404, "NOT_FOUND");
    refused(&answer(gate.request(Method::DELETE, &path, &gate.owner)).await, 405, "METHOD_NOT_ALLOWED");
    let plain_text = gate.request(Method::POST, &format!("{path}/approve"), &gate.owner).body("{}");
    refused(&answer(plain_text).await, 415, "UNSUPPORTED_MEDIA_TYPE");
    refused(&gate.get(&format!("{list}?workspace_id=other")).await, 403, "FORBIDDEN");
    refused(&gate.list("&status=spicy").await, 422, "INVALID");
    refused(&gate.list("&cursor=zz").await, 422, "INVALID");
    assert_eq!(gate.status(&id).await, "pending");
}

#[tokio::test]
async fn stranger_with_a_valid_id_is_forbidden() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", "{}").await;
    let every = gate.gate.create_token("stranger", "elsewhere", &Scope::ALL, None).await.unwrap();
    let path = format!("/api/pending-actions/{id}");

    refused(&answer(gate.request(Method::GET, &path, &every)).await, 403, "FORBIDDEN");
    for verb in ["approve", "reject", "withdraw", "claim"] {
        refused(&gate.post_as(&every, &format!("{path}/{verb}"), "").await, 403, "FORBIDDEN");
    }
    for route in ["", "/changes", "/events"] {
        let query = if route == "/changes" { "&since=0" } else { "" };
        let path = format!("/api/pending-actions{route}?workspace_id=w{query}");
        refused(&answer(gate.request(Method::GET, &path, &every)).await, 403, "FORBIDDEN");
    }
    let missing = answer(gate.request(Method::GET, "/api/pending-actions/none", &every)).await;
    refused(&missing, 404, "NOT_FOUND");
    assert_eq!(gate.status(&id).await, "pending");
}

#[tokio::test]
async fn proposal_for_another_workspace_is_refused() {
    let (_folder, gate) = plain().await;
    let cases = [
        (r#"{"toolName":"t","toolInput":{}}"#, 422),
        (r#"{"toolName":"t","toolInput":{},"workspaceId":"elsewhere"}"#, 403),
        (r#"{"toolName":"save_insights","toolInput":{"workspace_id":"elsewhere"},"workspaceId":"w"}"#, 403),
        (r#"{"toolName":"save_insights","toolInput":{"workspaceId":7},"workspaceId":"w"}"#, 422),
        (r#"{"toolName":"t","toolInput":{"workspace_id":null,"workspaceId":""}}"#, 422),
        (r#"{"toolName":"save_insights","toolInput":{"workspaceId":"elsewhere","workspaceId":"w"}}"#, 403),
        (r#"{"toolName":"t","toolInput":[],"workspaceId":"w"}"#, 422),
        (r#"{"toolName":" ","toolInput":{},"workspaceId":"w"}"#, 422),
        (
            r#"{"toolName":"t","toolInput":{},"workspaceId":"w","ttlSeconds":1,"expiresAt":"2099-01-01T00:00:00Z"}"#,
            422,
        ),
        (r#"{"toolName":"t","toolName":"u","toolInput":{},"workspaceId":"w"}"#, 400),
    ];

    for (body, status) in cases {
        assert_eq!(gate.post_as(&gate.agent, "/api/pending-actions", body).await.status, status, "{body}");
    }

    assert_eq!(gate.list("").await.at("/items"), "[]");
}

#[tokio::test]
async fn texts_of_a_proposal_have_limits() {
    let (_folder, gate) = plain().await;
    let texts =
        ["missionId", "sessionId", "runId", "toolCallId", "agent", "requestedBy", "batchId", "checkpointId"];

    for (name, most) in texts.map(|name| (name, 512)).into_iter().chain([
        ("supersedes", 512),
        ("risk", 512),
        ("effect", 512),
        ("summary", 16_384),
    ]) {
        let long = "ü".repeat(most + 1);
        let body = format!(r#"{{"toolName":"t","workspaceId":"w","toolInput":{{}},"{name}":"{long}"}}"#);
        let answer = gate.post_as(&gate.agent, "/api/pending-actions", &body).await;

        refused(&answer, 422, "INVALID");
        let is_own = texts[..4].contains(&name);
        let advice = if is_own { "; send sha256: and the hex digest of it instead" } else { "; shorten it" };
        assert_eq!(answer.at("/error/message"), format!("{name} is longer than {most} characters{advice}"));
    }
    gate.propose_with("t", "{}", &format!(r#","summary":"{}""#, "ü".repeat(16_384))).await;
}

#[tokio::test]
async fn reads_are_not_gated() {
    let folder = tempfile::tempdir().unwrap();
    let reading = ToolConfig { effect: Some(Effect::Read), ..ToolConfig::default() };
    let gate =
        start(GateConfig { tools: [("look".to_owned(), reading)].into(), ..config(folder.path()) }).await;

    for body in [
        r#"{"toolName":"look","toolInput":{},"workspaceId":"w"}"#,
        r#"{"toolName":"t","toolInput":{},"workspaceId":"w","effect":"read"}"#,
    ] {
        let answer = gate.post_as(&gate.agent, "/api/pending-actions", body).await;
        refused(&answer, 422, "INVALID");
        assert!(answer.at("/error/message").contains("not gated"));
    }
}

#[tokio::test]
async fn floods_are_refused_with_retry_after() {
    if postgres::gates() > 1 {
        // The rate limit is per gate.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        pending_per_workspace: 2,
        proposal_burst: 5,
        proposals_per_minute: 1,
        body_bytes: 1_000,
        streams_per_token: 1,
        ..Limits::default()
    };
    let gate = start(GateConfig { limits, ..config(folder.path()) }).await;
    let body = r#"{"toolName":"t","workspaceId":"w","toolInput":{}}"#;
    let large =
        format!(r#"{{"toolName":"t","workspaceId":"w","toolInput":{{"a":"{}"}}}}"#, "x".repeat(1_000));
    let propose = async |body: &str| gate.post_as(&gate.agent, "/api/pending-actions", body).await;

    // Unreadable proposals count, too.
    refused(&propose(&large).await, 413, "PAYLOAD_TOO_LARGE");
    refused(&propose("{").await, 400, "BAD_REQUEST");
    let mut answers = Vec::new();
    for _ in 0..4 {
        answers.push(propose(body).await);
    }

    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [202, 202, 429, 429]);
    assert!(answers[2].at("/error/message").contains("pending actions"));
    assert!(answers[3].at("/error/message").contains("too many proposals"));
    refused(&propose("{").await, 429, "TOO_MANY_REQUESTS");
    for answer in &answers[2..] {
        let seconds: u64 = answer.headers.get("retry-after").unwrap().to_str().unwrap().parse().unwrap();
        assert!(seconds > 0);
    }
    let stream = "/api/pending-actions/events?workspace_id=w";
    let first = gate.request(Method::GET, stream, &gate.owner).send().await.unwrap();
    refused(&answer(gate.request(Method::GET, stream, &gate.owner)).await, 429, "TOO_MANY_REQUESTS");
    drop(first);
}

#[tokio::test]
async fn browser_requests_are_refused() {
    let (_folder, gate) = plain().await;
    let with = |name: &'static str, value: &'static str| {
        gate.request(Method::GET, "/healthz", &gate.owner).header(name, value)
    };

    refused(&answer(with("host", "evil.example")).await, 421, "MISDIRECTED");
    refused(&answer(with("origin", "null")).await, 403, "FORBIDDEN");
    assert_eq!(gate.get("/healthz").await.status, 200);
    assert_eq!(gate.get("/readyz").await.status, 200);
}

#[tokio::test]
async fn probes_are_answered_without_a_host() {
    let (_folder, gate) = plain().await;
    let ask = async |head: &str| {
        let host = gate.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).await.unwrap();
        stream.write_all(format!("{head}\r\n\r\n").as_bytes()).await.unwrap();
        let mut said = [0; 12];
        stream.read_exact(&mut said).await.unwrap();
        String::from_utf8_lossy(&said[9..]).into_owned()
    };
    for probe in ["/healthz", "/readyz", "/healthz?from=lb"] {
        assert_eq!(ask(&format!("GET {probe} HTTP/1.0")).await, "200", "{probe}");
        assert_eq!(ask(&format!("HEAD {probe} HTTP/1.0")).await, "200", "{probe}");
        assert_eq!(ask(&format!("GET {probe} HTTP/1.1")).await, "200", "{probe}");
        assert_eq!(ask(&format!("GET {probe} HTTP/1.1\r\nHost:")).await, "200", "{probe}");
        assert_eq!(ask(&format!("GET {probe} HTTP/1.1\r\nHost: evil.example")).await, "421", "{probe}");
        assert_eq!(ask(&format!("GET {probe} HTTP/1.1\r\nHost:\r\nHost: localhost")).await, "421", "{probe}");
        assert_eq!(ask(&format!("GET {probe} HTTP/1.0\r\nOrigin: http://x")).await, "403", "{probe}");
    }
    for other in ["/openapi.json", "/api/pending-actions", "/healthz/x"] {
        assert_eq!(ask(&format!("GET {other} HTTP/1.0")).await, "421", "{other}");
    }
    gate.stop().await;
}

#[tokio::test]
async fn revoked_token_is_refused() {
    let (_folder, gate) = plain().await;
    let token = gate.gate.create_token("guest", "w", &[Scope::Read], None).await.unwrap();
    let list =
        async || answer(gate.request(Method::GET, "/api/pending-actions?workspace_id=w", &token)).await;
    assert_eq!(list().await.status, 200);

    let tokens = gate.gate.list_tokens().await.unwrap();
    let guest = tokens.iter().find(|token| token.subject == "guest").unwrap();
    assert!(gate.gate.revoke_token(&guest.id).await.unwrap());

    refused(&list().await, 401, "UNAUTHORIZED");
    assert!(!gate.gate.revoke_token(&guest.id).await.unwrap());
}

#[tokio::test]
async fn malformed_decision_body_is_refused() {
    let (_folder, gate) = plain().await;
    let id = gate.propose_with("t", r#"{"x":1}"#, r#","missionId":"m","checkpointId":"c""#).await;
    let action = format!("/api/pending-actions/{id}");
    let batch = "/api/pending-actions/batch/m:t";
    for (path, body) in [
        (format!("{action}/approve"), "[]".to_owned()),
        (format!("{action}/approve"), r#"[{"x":42}]"#.to_owned()),
        (format!("{action}/approve"), r#"{"userEdit":{"x":2}}"#.to_owned()),
        (format!("{action}/reject"), r#"["r"]"#.to_owned()),
        (format!("{batch}/approve"), "[[]]".to_owned()),
        (format!("{batch}/approve"), format!(r#"{{"items":[["{id}"]]}}"#)),
        (
            format!("{batch}/approve"),
            format!(r#"{{"items":[{{"pendingActionId":"{id}","excluded":true}}]}}"#),
        ),
        (
            "/api/checkpoints/c/reject".to_owned(),
            format!(r#"{{"items":[{{"pendingActionId":"{id}"}}],"reason":"all bad"}}"#),
        ),
    ] {
        let refused = gate.post(&path, &body).await;

        assert_eq!(refused.code(), (400, "BAD_REQUEST".to_owned()), "{path} {body}");
    }
    assert_eq!(gate.status(&id).await, "pending");
}

struct Line(TcpStream);

impl Line {
    async fn to(gate: &TestGate) -> Self {
        Self(TcpStream::connect(gate.url.strip_prefix("http://").unwrap()).await.unwrap())
    }

    /// Sends the head of a proposal with a body of `bytes` bytes.
    async fn begin(&mut self, gate: &TestGate, bytes: usize, more: &str) {
        let token = gate.agent.expose_secret();
        let head = format!(
            "POST /api/pending-actions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {bytes}\r\n{more}\r\n"
        );
        self.0.write_all(head.as_bytes()).await.unwrap();
    }

    /// Reads until the end of a reply or of its head.
    async fn read_until(&mut self, end: &str) -> String {
        let mut said = String::new();
        while !said.ends_with(end) {
            let mut part = [0; 4_096];
            let count = tokio::time::timeout(LIMIT, self.0.read(&mut part)).await.unwrap().unwrap();
            assert!(count > 0, "the connection ended: {said}");
            said.push_str(std::str::from_utf8(&part[..count]).unwrap());
        }
        said
    }
}

#[tokio::test]
async fn connection_survives_a_429_for_a_large_body() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { proposal_burst: 1, proposals_per_minute: 1, ..Limits::default() };
    let gate = start(GateConfig { limits, ..config(folder.path()) }).await;
    gate.propose("t", "{}").await;
    let body = vec![b'x'; 8 << 20];
    let mut line = Line::to(&gate).await;

    for _ in 0..2 {
        line.begin(&gate, body.len(), "").await;
        line.0.write_all(&body).await.unwrap();
        let said = line.read_until("}}").await;
        assert!(said.starts_with("HTTP/1.1 429"), "{said}");
        assert!(!said.to_lowercase().contains("connection: close"), "{said}");
    }
    gate.stop().await;
}

#[tokio::test]
async fn bodies_beyond_the_memory_limit_get_503() {
    let (_folder, gate) = plain().await;
    let mut lines = Vec::new();
    for _ in 0..7 {
        let mut line = Line::to(&gate).await;
        line.begin(&gate, 16 << 20, "Expect: 100-continue\r\n").await;
        // The gate is reading this body.
        assert!(line.read_until("\r\n\r\n").await.starts_with("HTTP/1.1 100"));
        lines.push(line);
    }

    let large =
        format!(r#"{{"toolName":"t","workspaceId":"w","toolInput":{{"a":"{}"}}}}"#, "x".repeat(1 << 20));
    let busy = gate.post_as(&gate.agent, "/api/pending-actions", &large).await;
    let small = gate.propose("t", "{}").await;

    refused(&busy, 503, "UNAVAILABLE");
    assert!(busy.headers["retry-after"].to_str().unwrap().parse::<u64>().unwrap() > 0);
    assert_eq!(gate.approve(&small, "").await.status, 200);
    let mut first = lines.remove(0);
    first.0.write_all(&vec![b'x'; 16 << 20]).await.unwrap();
    assert!(first.read_until("}}").await.starts_with("HTTP/1.1 400"));
    assert_eq!(gate.post_as(&gate.agent, "/api/pending-actions", &large).await.status, 202);
    drop(lines);
    gate.stop().await;
}

/// PostgreSQL cannot store U+0000 in text. An input holds it as an escape.
#[tokio::test]
async fn u0000_is_kept_in_the_input_and_refused_elsewhere() {
    let tool = ToolConfig { retry: Retry::Safe, ..script(r"printf 'bad\000thing' >&2; exit 1") };
    let (_folder, gate) = with_tool(tool).await;
    let id = gate.propose("t", r#"{"title":"x\u0000y"}"#).await;
    let around = r#"{"toolName":"t","workspaceId":"w","toolInput":{},"sessionId":"a\u0000"}"#;
    let items = r#"{"items":[{"pendingActionId":"\u0000"}]}"#;

    let refused = [
        gate.post_as(&gate.agent, "/api/pending-actions", around).await.code(),
        gate.reject(&id, r#"{"reason":"a\u0000b"}"#).await.code(),
        gate.post("/api/pending-actions/batch/b/approve", items).await.code(),
    ];
    let approved = gate.approve(&id, "{}").await.status;
    let ended = gate.until_final(&id).await;

    assert_eq!(refused, [(); 3].map(|()| (422, "INVALID".to_owned())));
    assert_eq!((approved, ended.at("/status")), (200, "failed".to_owned()));
    assert!(ended.text.contains("bad\u{fffd}thing"), "{}", ended.text);
    assert!(ended.at("/toolInput/title").contains('\0'));
}
