//! Running approved actions by command, by URL and by the agent.

use crate::gate::which::Which;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;

use super::support::{Answer, BORN, LIMIT, TestGate, config, plain, script, start, with_tool};
use crate::config::{Executor, GateConfig, Retry, ToolConfig};
use crate::domain::Status;

const EXACT: &str = r#"{"amount": 1.10,"big":18446744073709551616,"a":1,"a":2}"#;

async fn run(gate: &TestGate, input: &str) -> Answer {
    let id = gate.propose("t", input).await;
    assert_eq!(gate.approve(&id, "").await.status, 200);
    gate.until_final(&id).await
}

#[tokio::test]
async fn command_gets_the_exact_input_and_a_minimal_environment() {
    let folder = tempfile::tempdir().unwrap();
    let (input, seen) = (folder.path().join("input"), folder.path().join("env"));
    let tool = script(&format!("cat > {}; env > {}; echo done", input.display(), seen.display()));
    let (_folder, gate) = with_tool(tool).await;

    let done = run(&gate, EXACT).await;

    assert_eq!((done.at("/status").as_str(), done.at("/result").as_str()), ("executed", "done\n"));
    assert_eq!(std::fs::read_to_string(input).unwrap(), EXACT);
    let seen = std::fs::read_to_string(seen).unwrap();
    let id = done.at("/id");
    for line in [format!("PLACET_ACTION_ID={id}"), "PLACET_TOOL=t".to_owned(), "PLACET_FENCE=1".to_owned()] {
        assert!(seen.lines().any(|seen| seen == line), "{line} is not in {seen}");
    }
    assert!(seen.contains(&format!("PLACET_IDEMPOTENCY_KEY={id}:{}\n", BORN + 2)), "{seen}");
    for name in ["HOME", "LANG", "TMPDIR", "USER"] {
        let own = std::env::var(name).ok().map(|value| format!("{name}={value}"));
        assert!(own.is_none_or(|own| seen.lines().any(|seen| seen == own)), "{name} is not in {seen}");
    }
    // Cargo sets this variable for every test.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some() && !seen.contains("CARGO_MANIFEST_DIR"));
}

/// A pipe from a killed gate could end cleanly after a part of the input.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn commands_input_is_an_immutable_file() {
    let look = "stat -L -c '%F %s' /proc/self/fd/0; echo more >> /proc/self/fd/0; sha256sum";
    let told = "echo \"$PLACET_INPUT_LENGTH $PLACET_INPUT_SHA256\"";
    let (_folder, gate) = with_tool(script(&format!("{look}; {told}"))).await;

    let done = run(&gate, EXACT).await;

    let digest = format!("{:x}", Sha256::digest(EXACT));
    let length = EXACT.len();
    let expected = format!("regular file {length}\n{digest}  -\n{length} {digest}\n");
    assert_eq!(done.at("/result"), expected);
}

#[tokio::test]
async fn failed_command_is_recorded_with_its_error() {
    let (_folder, gate) = with_tool(script("echo 'no such repository' >&2; exit 3")).await;

    let failed = run(&gate, "{}").await;

    assert_eq!(failed.at("/status"), "failed");
    assert!(failed.at("/error").contains("no such repository") && failed.at("/error").contains('3'));
    assert_eq!(failed.at("/result"), "null");
}

#[tokio::test]
async fn command_that_cannot_start_fails_its_action_only() {
    let programs = tempfile::tempdir().unwrap();
    let program = programs.path().join("program");
    std::fs::copy("/bin/sh", &program).unwrap();
    let executor = Executor::Command { argv: vec![program.display().to_string()], env: [].into() };
    let (_folder, gate) = with_tool(ToolConfig { executor, ..ToolConfig::default() }).await;
    std::fs::remove_file(program).unwrap();

    let failed = run(&gate, "{}").await;

    assert_eq!(failed.at("/status"), "failed");
    assert_eq!(run(&gate, "{}").await.at("/status"), "failed");
}

#[tokio::test]
async fn hanging_command_is_stopped_and_becomes_unknown() {
    let timeout = Duration::from_millis(100);
    let (_folder, gate) = with_tool(ToolConfig { timeout, ..script("exec sleep 600") }).await;

    let lost = loop {
        let lost = run(&gate, "{}").await;
        // On a busy machine the time may be up before the command starts.
        if !lost.at("/error").contains("before it was started") {
            break lost;
        }
    };

    assert_eq!(lost.at("/status"), "unknown");
    assert!(lost.at("/error").contains("stopped after"));
}

#[tokio::test]
async fn tool_without_a_time_limit_runs() {
    let (_folder, gate) = with_tool(ToolConfig { timeout: Duration::MAX, ..script("echo 1") }).await;

    assert_eq!(run(&gate, "{}").await.at("/status"), "executed");
}

#[tokio::test]
async fn command_ended_by_a_signal_becomes_unknown() {
    let (_folder, gate) = with_tool(script("echo half >&2; kill -9 $$")).await;

    let lost = run(&gate, "{}").await;

    assert_eq!(lost.at("/status"), "unknown");
    assert!(lost.at("/error").contains("half") && lost.at("/error").contains("signal"));
}

#[tokio::test]
async fn lost_run_of_a_safe_tool_is_retried_five_times() {
    let (tool, seen) = handler(StatusCode::SERVICE_UNAVAILABLE).await;
    let (_folder, gate) = with_tool(ToolConfig { retry: Retry::Safe, ..tool }).await;
    let id = gate.propose("t", "{}").await;
    gate.approve(&id, "").await;

    let mut attempts = 1;
    let mut revisions = gate.gate.inner.events.watch("w");
    let ends = async {
        loop {
            let stored = gate.gate.store().get(&id).await.unwrap().unwrap();
            match stored.action.row.status {
                Status::Unknown => return stored,
                Status::Approved if stored.fence == attempts => {
                    attempts += 1;
                    // Ends the pause between attempts.
                    gate.gate.inner.clock.pass(2_000 * 5);
                    gate.gate.inner.events.approved();
                }
                _ => revisions.changed().await.unwrap(),
            }
        }
    };
    let stored = tokio::time::timeout(LIMIT, ends).await.unwrap();

    assert_eq!((attempts, stored.fence, seen.lock().unwrap().len()), (5, 5, 5));
    assert!(stored.action.error.unwrap().as_raw().starts_with("HTTP 503"));
}

#[tokio::test]
async fn stopped_commands_children_are_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let tool = script(&format!("sleep 600 & echo $! > {0}.new; mv {0}.new {0}; wait", pid.display()));
    let (_folder, gate) = with_tool(ToolConfig { timeout: Duration::from_secs(1), ..tool }).await;

    let lost = loop {
        let lost = run(&gate, "{}").await;
        // On a busy machine the time may be up before the pid is written.
        if pid.exists() {
            break lost;
        }
    };

    assert_eq!(lost.at("/status"), "unknown");
    let pid = std::fs::read_to_string(pid).unwrap();
    let is_alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    let gone = async {
        while is_alive() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, gone).await.unwrap();
}

#[tokio::test]
async fn long_output_is_read_and_cut() {
    let (_folder, gate) = with_tool(script("head -c 3000000 /dev/zero | tr '\\0' x")).await;

    let done = run(&gate, "{}").await;

    assert_eq!((done.at("/status").as_str(), done.at("/result").len()), ("executed", 1 << 20));
}

/// A URL's tool and the requests it received.
async fn handler(status: StatusCode) -> (ToolConfig, Arc<Mutex<Vec<(HeaderMap, String)>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/run", listener.local_addr().unwrap());
    let keep = Arc::clone(&seen);
    let router = Router::new().fallback(move |headers: HeaderMap, body: String| async move {
        keep.lock().unwrap().push((headers, body));
        (status, [("location", "/elsewhere")], r#"{"n": 1.10}"#)
    });
    tokio::spawn(async move { axum::serve(listener, router).await });
    (ToolConfig { executor: Executor::Http { url }, ..ToolConfig::default() }, seen)
}

#[tokio::test]
async fn url_gets_the_exact_input_with_key_and_fence() {
    let (tool, seen) = handler(StatusCode::OK).await;
    let (_folder, gate) = with_tool(tool).await;

    let done = run(&gate, EXACT).await;

    assert_eq!(done.at("/status"), "executed");
    assert!(done.text.contains(r#""result":{"n": 1.10}"#));
    let seen = seen.lock().unwrap();
    let [(headers, body)] = seen.as_slice() else { panic!("{seen:?}") };
    assert_eq!(body, EXACT);
    assert_eq!(headers["idempotency-key"], format!("{}:{}", done.at("/id"), BORN + 2));
    assert_eq!(
        (&headers["x-gate-fence"], &headers["content-type"]),
        (&"1".parse().unwrap(), &"application/json".parse().unwrap())
    );
}

#[tokio::test]
async fn status_decides_between_failed_and_unknown() {
    for (status, ends) in [
        (StatusCode::BAD_REQUEST, "failed"),
        (StatusCode::TEMPORARY_REDIRECT, "failed"),
        (StatusCode::FOUND, "unknown"),
        (StatusCode::SEE_OTHER, "unknown"),
        (StatusCode::REQUEST_TIMEOUT, "unknown"),
        (StatusCode::BAD_GATEWAY, "unknown"),
    ] {
        let (tool, seen) = handler(status).await;
        let (_folder, gate) = with_tool(tool).await;

        let failed = run(&gate, "{}").await;

        assert_eq!(failed.at("/status"), ends);
        assert!(failed.at("/error").starts_with(&format!("HTTP {}", status.as_u16())));
        assert_eq!(seen.lock().unwrap().len(), 1, "a redirect was followed");
    }
}

#[tokio::test]
async fn unreachable_url_fails() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let (_folder, gate) =
        with_tool(ToolConfig { executor: Executor::Http { url }, ..ToolConfig::default() }).await;

    assert_eq!(run(&gate, "{}").await.at("/status"), "failed");
}

/// A tool that ends when the file `go` exists.
pub(super) fn patient(go: &Path) -> ToolConfig {
    let waits = script(&format!("while [ ! -e {} ]; do sleep 0.02; done; echo 1", go.display()));
    // Tests decide when it ends, also on a busy machine.
    ToolConfig { timeout: Duration::from_hours(1), ..waits }
}

#[tokio::test]
async fn slow_tool_does_not_delay_others() {
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    let tools = [("slow".to_owned(), patient(&go)), ("quick".to_owned(), script("echo 1"))].into();
    let gate = start(GateConfig { tools, ..config(folder.path()) }).await;
    let mut slow = Vec::new();
    for _ in 0..20 {
        slow.push(gate.propose("slow", "{}").await);
    }
    let quick = gate.propose("quick", "{}").await;
    for id in slow.iter().chain([&quick]) {
        gate.approve(id, "").await;
    }

    let done = gate.until_final(&quick).await;
    std::fs::write(&go, "").unwrap();

    assert_eq!(done.at("/status"), "executed");
    for id in slow {
        assert_eq!(gate.until_final(&id).await.at("/status"), "executed");
    }
}

#[tokio::test]
async fn approval_is_answered_before_the_run_ends() {
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    let (_folder, gate) = with_tool(patient(&go)).await;
    let id = gate.propose("t", "{}").await;

    let approved = gate.approve(&id, "").await;
    gate.until_running(&id).await;
    let meanwhile = gate.list("&status=approved&view=row").await;
    std::fs::write(&go, "").unwrap();
    let done = gate.until_final(&id).await;

    assert_eq!((approved.status, approved.at("/status").as_str()), (200, "approved"));
    assert_eq!(meanwhile.at("/items/0/status"), "approved");
    assert_eq!(done.at("/status"), "executed");
}

#[tokio::test]
async fn agent_claims_runs_and_reports() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", EXACT).await;
    let path = |verb: &str| format!("/api/pending-actions/{id}/{verb}");

    let early = gate.post_as(&gate.agent, &path("claim"), "").await;
    gate.approve(&id, r#"{"userEdits":null}"#).await;
    let claimed = gate.post_as(&gate.agent, &path("claim"), r#"{"leaseSeconds":30}"#).await;
    let twice = gate.post_as(&gate.agent, &path("claim"), "").await;
    let forged = gate.post(&path("result"), r#"{"fence":1,"result":"forged"}"#).await;
    let stale = gate.post_as(&gate.agent, &path("result"), r#"{"fence":0,"result":1}"#).await;
    let done = gate.post_as(&gate.agent, &path("result"), r#"{"fence":1,"result":{"n": 1.10}}"#).await;
    let again = gate.post_as(&gate.agent, &path("result"), r#"{"fence":1,"result":2}"#).await;

    assert_eq!(early.code(), (409, "INVALID_STATE".to_owned()));
    assert!(early.at("/error/message").contains("is pending"));
    assert!(claimed.text.contains(&format!(r#""toolInput":{EXACT},"#)), "{}", claimed.text);
    assert_eq!(
        (claimed.at("/fence"), claimed.at("/idempotencyKey")),
        ("1".to_owned(), format!("{id}:{}", BORN + 2))
    );
    assert_eq!(twice.code(), (409, "INVALID_STATE".to_owned()));
    for refused in [forged, stale] {
        assert_eq!(refused.code(), (409, "STALE_FENCE".to_owned()));
    }
    assert_eq!(done.at("/status"), "executed");
    assert!(done.text.contains(r#""result":{"n": 1.10}"#));
    assert_eq!(again.code(), (409, "INVALID_STATE".to_owned()));
}

#[tokio::test]
async fn agent_may_report_after_its_lease() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", "{}").await;
    let path = |verb: &str| format!("/api/pending-actions/{id}/{verb}");
    gate.approve(&id, "").await;
    gate.post_as(&gate.agent, &path("claim"), r#"{"leaseSeconds":1}"#).await;
    gate.gate.inner.clock.pass(1_001);
    gate.gate.store().recover(Which::default(), Vec::new()).await.unwrap();
    assert_eq!(gate.status(&id).await, "unknown");

    let forged = gate.post(&path("result"), r#"{"fence":1,"result":"forged"}"#).await;
    let stale = gate.post_as(&gate.agent, &path("result"), r#"{"fence":0,"result":1}"#).await;
    let done = gate.post_as(&gate.agent, &path("result"), r#"{"fence":1,"result":2}"#).await;

    for refused in [forged, stale] {
        assert_eq!(refused.code(), (409, "STALE_FENCE".to_owned()));
    }
    assert_eq!([done.at("/status"), done.at("/result"), done.at("/error")], ["executed", "2", "null"]);
}

#[tokio::test]
async fn tool_run_by_the_gate_cannot_be_claimed() {
    let folder = tempfile::tempdir().unwrap();
    let (_folder, gate) = with_tool(patient(&folder.path().join("never"))).await;
    let id = gate.propose("t", "{}").await;

    let claim = gate.post_as(&gate.agent, &format!("/api/pending-actions/{id}/claim"), "").await;

    assert_eq!(claim.code(), (403, "FORBIDDEN".to_owned()));
}

#[tokio::test]
async fn tool_result_can_be_appended_by_the_agent() {
    let (_folder, gate) = with_tool(script("cat")).await;
    let call = r#","toolCallId":"call-1""#;
    let [done, declined, refused] = [
        gate.propose_with("t", EXACT, call).await,
        gate.propose("t", "{}").await,
        gate.propose("t", "{}").await,
    ];
    gate.approve(&done, "").await;
    gate.reject(&declined, "").await;
    gate.reject(&refused, r#"{"reason":"wrong customer"}"#).await;

    let told = async |id: &str| gate.until_final(id).await.json()["toolResult"].clone();

    assert_eq!(told(&done).await, json!({"toolCallId": "call-1", "ok": true, "content": EXACT}));
    let declining = json!({"toolCallId": null, "ok": false, "content": "User declined to run this tool."});
    assert_eq!(told(&declined).await, declining);
    let sentence = "A human rejected this call: wrong customer. Do not repeat it unchanged.";
    assert_eq!(told(&refused).await["content"], sentence);
}
