//! `/metrics`: its contents and its readers.

use super::postgres;
use super::support::{Answer, TestGate, answer, plain, script, with_tool};
use crate::gate::Scope;
use reqwest::Method;

async fn metrics(gate: &TestGate) -> Answer {
    let accept = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.1";
    let said = answer(gate.request(Method::GET, "/metrics", &gate.owner).header("accept", accept)).await;
    assert_eq!(said.status, 200, "{}", said.text);
    assert!(said.headers["content-type"].to_str().unwrap().starts_with("application/openmetrics-text"));
    assert!(said.text.ends_with("# EOF\n"), "{}", said.text);
    said
}

fn value(metrics: &Answer, name: &str) -> f64 {
    let line = metrics.text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name} in {}", metrics.text)).parse().unwrap()
}

#[tokio::test]
async fn client_without_open_metrics_gets_plain_text() {
    let (_folder, gate) = plain().await;
    gate.propose("t", "{}").await;
    for accept in ["", "*/*", "text/plain", "application/openmetrics-text;q=0, text/plain", "text/html"] {
        let request = gate.request(Method::GET, "/metrics", &gate.owner);
        let request = if accept.is_empty() { request } else { request.header("accept", accept) };

        let said = answer(request).await;

        assert_eq!(said.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8", "{accept}");
        for line in [
            "# TYPE placet_proposals_total counter",
            "# HELP placet_proposals_total Proposals recorded.",
            "# TYPE placet_build_info gauge",
            "# TYPE placet_http_request_duration_seconds histogram",
            "# TYPE placet_pending gauge",
            "placet_pending 1",
        ] {
            assert!(said.text.lines().any(|it| it == line), "{line}: {}", said.text);
        }
        assert!(!said.text.contains("# EOF") && !said.text.contains("# UNIT"), "{}", said.text);
        // Every sample belongs to the last named family.
        let mut family = ("", "");
        for line in said.text.lines() {
            if let Some(named) = line.strip_prefix("# TYPE ") {
                family = named.split_once(' ').unwrap();
            } else if !line.starts_with('#') {
                let name = line.split(['{', ' ']).next().unwrap();
                let rest = name.strip_prefix(family.0).unwrap_or_else(|| panic!("{name} in {family:?}"));
                let is_part = family.1 == "histogram" && ["_bucket", "_sum", "_count"].contains(&rest);
                assert!(rest.is_empty() || is_part, "{name} in {family:?}");
            }
        }
    }
    gate.stop().await;
}

#[tokio::test]
async fn events_are_counted_after_their_commit() {
    if postgres::gates() > 1 {
        // Counts of one gate.
        return;
    }
    let (_folder, gate) = with_tool(script("cat")).await;
    let before = metrics(&gate).await;
    let (kept, refused) = (gate.propose("t", "{}").await, gate.propose("t", "{}").await);
    gate.propose_with("other", "{}", r#","missionId":"m""#).await;
    gate.approve(&kept, "").await;
    gate.until_final(&kept).await;
    gate.reject(&refused, "").await;
    gate.reject(&refused, "").await;

    let after = metrics(&gate).await;

    for (name, want) in [
        ("placet_proposals_total", 3.0),
        ("placet_decisions_total{outcome=\"approved\"}", 1.0),
        ("placet_decisions_total{outcome=\"rejected\"}", 1.0),
        ("placet_decisions_total{outcome=\"expired\"}", 0.0),
        ("placet_dispatches_total", 1.0),
        ("placet_executions_total{outcome=\"executed\"}", 1.0),
        ("placet_executions_total{outcome=\"lost\"}", 0.0),
        ("placet_executions_total{outcome=\"settled\"}", 0.0),
        ("placet_pending", 1.0),
        ("placet_actions{status=\"pending\"}", 1.0),
        ("placet_actions{status=\"executed\"}", 1.0),
        ("placet_actions{status=\"running\"}", 0.0),
        ("placet_open_streams", 0.0),
    ] {
        assert!((value(&after, name) - want).abs() < 1e-9, "{name}: {}", after.text);
    }
    assert!(value(&before, "placet_proposals_total") < 0.5, "{}", before.text);
    let commits = value(&after, "placet_commits_total");
    assert!(commits >= 3.0 && value(&after, "placet_jobs_per_commit_sum") >= commits, "{}", after.text);
    assert!(
        after.text.contains(&format!("placet_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION")))
    );
}

#[tokio::test]
async fn request_labels_hold_no_client_text() {
    if postgres::gates() > 1 {
        // Counts of one gate.
        return;
    }
    let (_folder, gate) = plain().await;
    gate.get("/api/pending-actions/canary-id").await;
    gate.get("/canary-path").await;
    gate.get("/metrics?canary=1").await;
    let odd = gate.request(Method::from_bytes(b"CANARY").unwrap(), "/healthz", &gate.owner);
    answer(odd).await;
    gate.propose_with("canary_tool", "{}", r#","missionId":"canary-mission""#).await;

    let metrics = metrics(&gate).await;

    let one = "placet_http_requests_total{method=\"GET\",route=\"/api/pending-actions/{id}\",status=\"404\"}";
    let none = "placet_http_requests_total{method=\"GET\",route=\"none\",status=\"404\"}";
    let odd = "placet_http_requests_total{method=\"none\",route=\"/healthz\",status=\"405\"}";
    let took =
        "placet_http_request_duration_seconds_count{method=\"GET\",route=\"/api/pending-actions/{id}\"}";
    for name in [one, none, odd, took] {
        assert!((value(&metrics, name) - 1.0).abs() < 1e-9, "{name}: {}", metrics.text);
    }
    assert!(!metrics.text.to_lowercase().contains("canary"), "{}", metrics.text);
}

#[tokio::test]
async fn oldest_pending_age_is_of_the_callers_workspace() {
    let (_folder, gate) = plain().await;
    gate.propose("t", "{}").await;
    gate.gate.inner.clock.pass(90_000);
    gate.propose("t", "{}").await;
    let stranger = gate.gate.create_token("stranger", "elsewhere", &[Scope::Read], None).await.unwrap();

    let mine = metrics(&gate).await;
    let theirs = answer(gate.request(Method::GET, "/metrics", &stranger)).await;

    let age = "placet_oldest_pending_age_seconds";
    assert!((90.0..100.0).contains(&value(&mine, age)), "{}", mine.text);
    assert!(value(&mine, "placet_pending") > 1.5 && value(&theirs, "placet_pending") < 0.5);
    assert!(value(&theirs, age) < 0.5, "{}", theirs.text);
}
