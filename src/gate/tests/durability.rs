//! Durability: concurrent writers, stops, crashes and restarts.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;

use super::running::patient;
use super::support::{BORN, LIMIT, RUN_LIMIT, TestGate, config, plain, script, serve, start};
use crate::config::{GateConfig, Retry, TokenFrom, ToolConfig};
use crate::contract;
use crate::domain::Status;
use crate::gate::reconcile::ClockUptime;
use crate::gate::store::{Dispatched, Lease};
use crate::gate::tests::postgres;
use crate::gate::{Gate, reconcile};

#[tokio::test]
async fn concurrent_proposals_are_durable_and_numbered_without_gaps() {
    let folder = tempfile::tempdir().unwrap();
    let gate = start(config(folder.path())).await;

    let clients = (0..16).map(|_| async {
        let mut ids = Vec::new();
        for _ in 0..63 {
            ids.push(gate.propose("t", r#"{"n":1.10}"#).await);
        }
        ids
    });
    let ids: HashSet<String> = join_all(clients).await.into_iter().flatten().collect();
    gate.stop().await;
    let gate = start(config(folder.path())).await;

    let changes = gate.get("/api/pending-actions/changes?workspace_id=w&since=0").await.json();
    let changes = changes["changes"].as_array().unwrap();
    let revisions: Vec<u64> = changes.iter().map(|change| change["revision"].as_u64().unwrap()).collect();
    let kept: HashSet<String> =
        changes.iter().map(|change| change["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(revisions, (BORN + 1..=BORN + 16 * 63).collect::<Vec<_>>());
    assert_eq!(kept, ids);
}

#[tokio::test]
async fn repeated_proposal_is_recorded_once() {
    let (_folder, gate) = plain().await;
    let send = async |body: &str| {
        let request = gate
            .request(reqwest::Method::POST, "/api/pending-actions", &gate.agent)
            .header("content-type", "application/json")
            .header("idempotency-key", "call-1");
        super::support::answer(request.body(body.to_owned())).await
    };
    let body = r#"{"toolName":"t","workspaceId":"w","toolInput":{}}"#;

    let answers = join_all((0..5).map(|_| send(body))).await;
    let other = send(r#"{"toolName":"u","workspaceId":"w","toolInput":{}}"#).await;

    let texts: HashSet<_> = answers.iter().map(|answer| (answer.status, answer.text.as_str())).collect();
    assert_eq!(texts.len(), 1);
    assert_eq!(other.code(), (422, "IDEMPOTENCY_KEY_REUSED".to_owned()));
    assert_eq!(gate.list("").await.json()["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn repeated_proposal_gets_its_answer_after_expiry() {
    let (_folder, gate) = plain().await;
    let expires = contract::time::write(gate.gate.inner.clock.now().plus_millis(60_000));
    let body = format!(r#"{{"toolName":"t","workspaceId":"w","toolInput":{{}},"expiresAt":"{expires}"}}"#);
    let send = async |key: &str| {
        let request = gate
            .request(reqwest::Method::POST, "/api/pending-actions", &gate.agent)
            .header("content-type", "application/json")
            .header("idempotency-key", key);
        super::support::answer(request.body(body.clone())).await
    };

    let first = send("call-1").await;
    gate.gate.inner.clock.pass(60_001);
    let (again, new) = (send("call-1").await, send("call-2").await);

    assert_eq!((again.status, again.text), (202, first.text));
    assert_eq!(new.code(), (409, "EXPIRED".to_owned()));
    assert!(new.at("/error/message").contains("expired already"));
}

#[tokio::test]
async fn clock_jump_does_not_forget_idempotency_keys() {
    const DAY: Duration = Duration::from_hours(24);
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", "{}").await;
    let send = async || {
        let path = format!("/api/pending-actions/{id}/reject");
        let request = gate.request(reqwest::Method::POST, &path, &gate.owner);
        super::support::answer(request.header("idempotency-key", "decision-1")).await.text
    };
    let first = send().await;
    let (mut steady, start, later) = (ClockUptime::default(), Instant::now(), Duration::from_secs(5));
    let two_days = || gate.gate.inner.clock.pass(2 * DAY.as_millis() as i64);

    reconcile::forget(&gate.gate, &mut steady, start).await.unwrap();
    two_days();
    reconcile::forget(&gate.gate, &mut steady, start + later).await.unwrap();
    let after_a_jump = send().await;
    two_days();
    reconcile::forget(&gate.gate, &mut steady, start + later + 2 * DAY).await.unwrap();

    assert_eq!(after_a_jump, first);
    assert_ne!(send().await, first, "forgotten after two days of the steady clock");
    gate.stop().await;
}

#[tokio::test]
async fn one_of_many_deciders_wins() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", "{}").await;

    let answers = join_all((0..20).map(|n| {
        let verb = if n % 2 == 0 { "approve" } else { "reject" };
        let path = format!("/api/pending-actions/{id}/{verb}");
        let gate = &gate;
        async move { gate.post(&path, "").await.status }
    }))
    .await;

    assert_eq!(answers.iter().filter(|status| **status == 200).count(), 1);
    assert_eq!(answers.iter().filter(|status| **status == 409).count(), 19);
}

#[tokio::test]
async fn actions_expiring_together_expire_in_one_sweep() {
    let (_folder, gate) = plain().await;
    let proposals = (0..12).map(|_| async {
        for _ in 0..50 {
            gate.propose_with("t", "{}", r#","ttlSeconds":60"#).await;
        }
    });
    join_all(proposals).await;
    gate.gate.inner.clock.pass(60_001);

    reconcile::sweep(&gate.gate).await.unwrap();

    assert_eq!(gate.list("&status=pending&view=row").await.at("/items"), "[]");
}

/// Leaves an approved action behind that did not run, or with `lease` was running.
async fn left_behind(folder: &Path, tool: ToolConfig, lease: Option<Lease>) -> String {
    let gate = again(folder, tool.clone()).await;
    gate.gate.pause(None, None).await.unwrap();
    let id = gate.propose("t", r#"{"n":1.10}"#).await;
    assert_eq!(gate.approve(&id, "").await.status, 200);
    gate.stop().await;
    // Opened without serving, so it does not run the action.
    let gate = Gate::open(&with(folder, tool)).await.unwrap();
    gate.resume(None, None).await.unwrap();
    if let Some(lease) = lease {
        let dispatched = gate.store().dispatch(id.clone(), lease, None).await.unwrap();
        assert!(matches!(dispatched, Dispatched::Run(_)));
    }
    gate.close().await;
    id
}

fn with(folder: &Path, tool: ToolConfig) -> GateConfig {
    GateConfig { tools: [("t".to_owned(), tool)].into(), ..config(folder) }
}

async fn again(folder: &Path, tool: ToolConfig) -> TestGate {
    start(with(folder, tool)).await
}

#[tokio::test]
async fn approved_action_runs_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let id = left_behind(folder.path(), script("cat"), None).await;

    let gate = again(folder.path(), script("cat")).await;
    let done = gate.until_final(&id).await;

    assert_eq!(done.at("/status"), "executed");
    assert!(done.text.contains(r#""result":{"n":1.10}"#));
}

#[tokio::test]
async fn lost_run_is_repeated_only_if_safe() {
    for (retry, status, fence) in [(Retry::Safe, "executed", 2), (Retry::Manual, "unknown", 1)] {
        let folder = tempfile::tempdir().unwrap();
        let tool = ToolConfig { retry, ..script("echo $PLACET_FENCE") };
        let id = left_behind(folder.path(), tool.clone(), Some(Lease { by: None, millis: 0 })).await;

        let gate = again(folder.path(), tool).await;
        let done = gate.until_final(&id).await;

        assert_eq!(done.at("/status"), status);
        assert_eq!(gate.gate.store().get(&id).await.unwrap().unwrap().fence, fence);
        assert!(retry == Retry::Safe || done.at("/error").contains("nobody knows"));
    }
}

#[tokio::test]
async fn stop_waits_for_running_actions() {
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    let gate = again(folder.path(), patient(&go)).await;
    let id = gate.propose("t", "{}").await;
    gate.approve(&id, "").await;
    gate.until_running(&id).await;

    gate.begin_to_stop();
    std::fs::write(&go, "").unwrap();
    gate.stop().await;

    let gate = start(config(folder.path())).await;
    assert_eq!(gate.status(&id).await, "executed");
}

/// Polls a condition that has no event.
async fn until(what: &str, met: impl Fn() -> bool) {
    let waiting = async {
        let mut looks = tokio::time::interval(Duration::from_millis(5));
        while !met() {
            looks.tick().await;
        }
    };
    tokio::time::timeout(LIMIT, waiting).await.unwrap_or_else(|_| panic!("never: {what}"));
}

/// A tool that notes its start and its supervisor's pid, and waits for the file `go`.
fn waiting(folder: &Path, retry: Retry) -> ToolConfig {
    let folder = folder.display();
    let begins = format!("echo $PPID > {folder}/parent; echo x >> {folder}/begun");
    let tool = script(&format!("{begins}; until [ -e {folder}/go ]; do sleep 0.02; done; echo 1"));
    ToolConfig { retry, ..tool }
}

/// Returns a gate of this tool and an action whose command is running.
async fn running(folder: &Path, tool: ToolConfig) -> (TestGate, String) {
    let gate = again(folder, tool).await;
    let id = gate.propose("t", "{}").await;
    gate.approve(&id, "").await;
    until("the command begins", || folder.join("begun").exists()).await;
    (gate, id)
}

fn begun(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("begun")).unwrap().lines().count()
}

fn has_ended(gate: &TestGate) -> bool {
    gate.gate.inner.runs.going_on().is_empty()
}

async fn stored(gate: &TestGate, id: &str) -> Status {
    gate.gate.store().get(id).await.unwrap().unwrap().action.row.status
}

#[tokio::test]
async fn draining_gate_finishes_runs_and_starts_none() {
    if postgres::gates() > 1 {
        // Draining concerns one gate.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (gate, id) = running(folder.path(), waiting(folder.path(), Retry::Manual)).await;
    let [pending, claimed] = [gate.propose("t", "{}").await, gate.propose("agents", "{}").await];
    gate.approve(&claimed, "").await;
    let path = |id: &str, verb: &str| format!("/api/pending-actions/{id}/{verb}");
    gate.post_as(&gate.agent, &path(&claimed, "claim"), "").await;

    gate.begin_to_stop();
    gate.gate.inner.draining.cancelled().await;

    let proposal = r#"{"toolName":"t","workspaceId":"w","toolInput":{}}"#;
    for refused in [
        gate.get("/readyz").await,
        gate.post_as(&gate.agent, "/api/pending-actions", proposal).await,
        gate.approve(&pending, "").await,
        gate.reject(&pending, "").await,
        gate.post_as(&gate.agent, &path(&pending, "claim"), "").await,
    ] {
        assert_eq!(refused.code(), (503, "UNAVAILABLE".to_owned()), "{}", refused.named);
        assert_eq!(refused.headers["retry-after"], "5", "{}", refused.named);
    }
    assert_eq!(gate.get("/healthz").await.status, 200);
    assert_eq!(gate.status(&pending).await, "pending");
    let result = gate.post_as(&gate.agent, &path(&claimed, "result"), r#"{"fence":1,"result":2}"#).await;
    assert_eq!(result.at("/status"), "executed");
    std::fs::write(folder.path().join("go"), "").unwrap();
    gate.stop().await;

    let gate = start(config(folder.path())).await;
    assert_eq!([gate.status(&id).await, gate.status(&pending).await], ["executed", "pending"]);
}

#[tokio::test]
async fn run_that_outlives_its_gate_is_not_repeated() {
    for retry in [Retry::Manual, Retry::Safe] {
        let folder = tempfile::tempdir().unwrap();
        let tool = waiting(folder.path(), retry);
        let (gate, id) = running(folder.path(), tool.clone()).await;
        gate.begin_to_stop();
        gate.stop.now.cancel();
        gate.stop().await;

        let gate = again(folder.path(), tool).await;
        // The lease has ended, but the run has not.
        gate.gate.inner.clock.pass(RUN_LIMIT.as_millis() as i64 + 10_000);
        reconcile::sweep(&gate.gate).await.unwrap();
        assert_eq!(stored(&gate, &id).await, Status::Running, "{retry:?}");
        std::fs::write(folder.path().join("go"), "").unwrap();
        until("the run ends", || has_ended(&gate)).await;
        reconcile::sweep(&gate.gate).await.unwrap();

        let done = gate.action(&id).await;
        assert_eq!((done.at("/status"), done.at("/result")), ("executed".to_owned(), "1".to_owned()));
        assert_eq!(begun(folder.path()), 1, "{retry:?}");
        assert_eq!(std::fs::read_dir(folder.path().join("gate.runs")).unwrap().count(), 0);
    }
}

#[tokio::test]
async fn run_without_its_gate_ends_at_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let timeout = Duration::from_secs(1);
    let tool = ToolConfig { timeout, ..waiting(folder.path(), Retry::Manual) };
    let (gate, id) = running(folder.path(), tool.clone()).await;
    gate.stop.now.cancel();
    gate.stop().await;

    let gate = again(folder.path(), tool).await;
    until("the run ends", || has_ended(&gate)).await;
    reconcile::sweep(&gate.gate).await.unwrap();

    let lost = gate.action(&id).await;
    assert_eq!(lost.at("/status"), "unknown");
    assert!(lost.at("/error").starts_with("stopped after"), "{}", lost.text);
}

#[tokio::test]
async fn run_whose_supervisor_was_killed_keeps_its_lease() {
    let folder = tempfile::tempdir().unwrap();
    let (gate, id) = running(folder.path(), waiting(folder.path(), Retry::Safe)).await;
    let supervisor = std::fs::read_to_string(folder.path().join("parent")).unwrap();
    std::process::Command::new("kill").args(["-9", supervisor.trim()]).status().unwrap();
    until("the gate lets go of it", || gate.gate.inner.under_way.is_empty()).await;

    reconcile::sweep(&gate.gate).await.unwrap();
    assert_eq!(stored(&gate, &id).await, Status::Running);
    gate.gate.inner.clock.pass(RUN_LIMIT.as_millis() as i64 + 10_000);
    std::fs::write(folder.path().join("go"), "").unwrap();
    reconcile::sweep(&gate.gate).await.unwrap();

    assert_eq!(gate.until_final(&id).await.at("/status"), "executed");
    assert_eq!(begun(folder.path()), 2);
}

#[tokio::test]
async fn stop_does_not_wait_forever() {
    let (_folder, gate) = plain().await;
    // A task that ignores the stop.
    gate.gate.inner.tasks.spawn(std::future::pending::<()>());

    gate.begin_to_stop();
    gate.gate.inner.stopping.cancelled().await;
    assert!(!gate.served.is_finished(), "it waits for its tasks");
    // Only this thread runs the gate, which is waiting out its ten seconds now.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(10)).await;
    tokio::time::resume();

    gate.stop().await;
}

#[tokio::test]
async fn exposed_first_token_is_revoked_and_replaced() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let gate = Gate::open(&config(folder.path())).await.unwrap();
    let owner = gate.first_tokens(folder.path()).await.unwrap().owner;
    let exposed = std::fs::read_to_string(&owner).unwrap();
    std::fs::set_permissions(&owner, std::fs::Permissions::from_mode(0o644)).unwrap();

    gate.first_tokens(folder.path()).await.unwrap();

    let tokens = gate.list_tokens().await.unwrap();
    let mut owners: Vec<bool> = tokens
        .iter()
        .filter(|token| token.subject == "owner")
        .map(|token| token.revoked_at.is_some())
        .collect();
    owners.sort_unstable();
    assert_eq!(owners, [false, true]);
    assert_ne!(std::fs::read_to_string(&owner).unwrap(), exposed);
    assert_eq!(std::fs::metadata(&owner).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn two_databases_in_one_folder_keep_their_own_first_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let one = Gate::open(&config(folder.path())).await.unwrap();
    let database = folder.path().join("b.db");
    let other = Gate::open(&GateConfig { database, ..config(folder.path()) }).await.unwrap();

    let first = one.first_tokens(folder.path()).await.unwrap();
    let kept = std::fs::read_to_string(&first.owner).unwrap();
    let second = other.first_tokens(folder.path()).await.unwrap();

    assert_eq!(first.owner, folder.path().join("owner.token"));
    assert_eq!(second.owner, folder.path().join("b.owner.token"));
    assert_eq!(second.agent, folder.path().join("b.agent.token"));
    assert_eq!(std::fs::read_to_string(&first.owner).unwrap(), kept);
}

#[tokio::test]
async fn first_tokens_are_private_and_replaced_when_revoked() {
    use std::os::unix::fs::PermissionsExt as _;
    if postgres::is_used() {
        // Opens SQLite's file.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    let gate = Gate::open(&config(folder.path())).await.unwrap();
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();

    let first = gate.first_tokens(&tokens).await.unwrap();
    let (owner, agent) = (read(&first.owner), read(&first.agent));
    let again = gate.first_tokens(&tokens).await.unwrap();
    assert_eq!((read(&again.owner), read(&again.agent)), (owner.clone(), agent.clone()));
    let id = gate.list_tokens().await.unwrap().into_iter().find(|token| token.subject == "owner").unwrap().id;
    gate.revoke_token(&id).await.unwrap();
    gate.first_tokens(&tokens).await.unwrap();

    assert_ne!(read(&first.owner), owner);
    assert_eq!(read(&first.agent), agent);
    assert!(agent.starts_with("placet_agent_") && owner.starts_with("placet_owner_"));
    let mode = std::fs::metadata(&first.owner).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let database = std::fs::read(folder.path().join("gate.db-wal")).unwrap();
    assert!(!database.windows(20).any(|part| part == &agent.as_bytes()[..20]), "a token is in the database");
    let gate = serve(gate).await;
    let secret = TokenFrom::File(first.agent).read().unwrap();
    let own = gate.request(reqwest::Method::GET, "/api/workspaces", &secret).timeout(LIMIT);
    assert_eq!(super::support::answer(own).await.at("/items/0/id"), "w");
}
