//! A served gate for tests, with helpers to talk to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::{contract, postgres};
use crate::config::{Executor, GateConfig, Limits, Retry, RiskApprovals, ToolConfig};
use crate::domain::Status;
use crate::gate::{Gate, GateError, Scope, Stop};

/// Time limit of a test for any condition.
pub(super) const LIMIT: Duration = Duration::from_mins(1);
/// Timeout of a test's command.
pub(super) const RUN_LIMIT: Duration = Duration::from_secs(20);

/// Revisions used by a test gate's two tokens.
pub(super) const BORN: u64 = 2;

/// A served gate for the workspace `w`, with a token for its agent and one for its owner.
pub(super) struct TestGate {
    pub(super) gate: Gate,
    pub(super) url: String,
    pub(super) agent: SecretString,
    pub(super) owner: SecretString,
    pub(super) client: Client,
    pub(super) stop: Stop,
    pub(super) served: JoinHandle<Result<(), GateError>>,
    /// More gates on the same database; requests alternate between all.
    others: Vec<(String, JoinHandle<Result<(), GateError>>)>,
    turn: AtomicUsize,
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: reqwest::header::HeaderMap,
    pub(super) text: String,
    /// The answer's name in the contract: `GET /healthz 200`.
    pub(super) named: String,
}

impl Answer {
    /// Parses the body; compare exact bytes with `text`.
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The value at a JSON pointer, a string without quotes.
    pub(super) fn at(&self, pointer: &str) -> String {
        match self.json().pointer(pointer) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => panic!("no {pointer} in {}", self.text),
        }
    }

    pub(super) fn code(&self) -> (u16, String) {
        (self.status, self.at("/error/code"))
    }
}

pub(super) fn config(folder: &Path) -> GateConfig {
    let server = postgres::database_of(folder);
    GateConfig {
        file: "config.toml".into(),
        listen: ([127, 0, 0, 1], 0).into(),
        may_move: false,
        database: folder.join("gate.db"),
        postgres: postgres::config_of(server.as_deref()),
        server,
        workspace: "w".to_owned(),
        limits: Limits { proposal_burst: 100_000, ..Limits::default() },
        denied: BTreeSet::new(),
        allow_targets: vec!["127.0.0.1".to_owned()],
        hosts: Vec::new(),
        tls: None,
        behind_proxy: false,
        approval_ttl: Duration::from_hours(168),
        approvals: RiskApprovals::default(),
        keep_settled: None,
        trusted_proxies: Vec::new(),
        proxy: None,
        stop_within: LIMIT,
        tools: BTreeMap::new(),
        callbacks: BTreeMap::new(),
    }
}

/// A tool that pipes its input to a shell script.
pub(super) fn script(text: &str) -> ToolConfig {
    let argv = ["/bin/sh", "-c", text].map(str::to_owned).to_vec();
    let executor = Executor::Command { argv, env: BTreeMap::new() };
    ToolConfig { executor, retry: Retry::Manual, timeout: RUN_LIMIT, ..ToolConfig::default() }
}

/// A gate without tools in a new folder.
pub(super) async fn plain() -> (TempDir, TestGate) {
    let folder = tempfile::tempdir().unwrap();
    let gate = start(config(folder.path())).await;
    (folder, gate)
}

pub(super) async fn with_tool(tool: ToolConfig) -> (TempDir, TestGate) {
    let folder = tempfile::tempdir().unwrap();
    let config = GateConfig { tools: [("t".to_owned(), tool)].into(), ..config(folder.path()) };
    let gate = start(config).await;
    (folder, gate)
}

pub(super) async fn start(config: GateConfig) -> TestGate {
    let gate = Gate::open(&config).await.unwrap();
    let mut more = Vec::new();
    for _ in 1..postgres::gates() {
        more.push(gate.open_another(&config).await.unwrap());
    }
    let mut first = serve(gate).await;
    for gate in more {
        first.others.push(listen(gate, first.stop.clone()).await);
    }
    first
}

async fn listen(gate: Gate, stop: Stop) -> (String, JoinHandle<Result<(), GateError>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (url, tokio::spawn(gate.serve(listener, stop)))
}

pub(super) async fn serve(gate: Gate) -> TestGate {
    rustls::crypto::ring::default_provider().install_default().ok();
    let agent =
        gate.create_token("agent", "w", &[Scope::Propose, Scope::Read, Scope::Execute], None).await.unwrap();
    let owner = gate
        .create_token("owner", "w", &[Scope::Read, Scope::Decide, Scope::Execute, Scope::Admin], None)
        .await
        .unwrap();
    let stop = Stop::default();
    let (url, served) = listen(gate.clone(), stop.clone()).await;
    // Loading the system's certificates takes longer than most tests, and plain HTTP needs none.
    let client = Client::builder().no_proxy().timeout(LIMIT).tls_certs_only([]).build().unwrap();
    TestGate { gate, url, agent, owner, client, stop, served, others: Vec::new(), turn: AtomicUsize::new(0) }
}

impl TestGate {
    pub(super) fn request(&self, method: Method, path: &str, token: &SecretString) -> RequestBuilder {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % (self.others.len() + 1);
        let url = turn.checked_sub(1).map_or(&self.url, |other| &self.others[other].0);
        self.client.request(method, format!("{url}{path}")).bearer_auth(token.expose_secret())
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        answer(self.request(Method::GET, path, &self.owner)).await
    }

    /// Posts as the owner.
    pub(super) async fn post(&self, path: &str, body: &str) -> Answer {
        self.post_as(&self.owner, path, body).await
    }

    pub(super) async fn post_as(&self, token: &SecretString, path: &str, body: &str) -> Answer {
        let request = self.request(Method::POST, path, token).header("content-type", "application/json");
        answer(request.body(body.to_owned())).await
    }

    /// Proposes as the agent and returns the id.
    pub(super) async fn propose(&self, tool: &str, input: &str) -> String {
        self.propose_with(tool, input, "").await
    }

    /// Like [`Self::propose`], with more fields as `,"name":value`.
    pub(super) async fn propose_with(&self, tool: &str, input: &str, more: &str) -> String {
        let body = format!(r#"{{"toolName":"{tool}","workspaceId":"w","toolInput":{input}{more}}}"#);
        let answer = self.post_as(&self.agent, "/api/pending-actions", &body).await;
        assert_eq!(answer.status, 202, "{}", answer.text);
        answer.at("/pending_action_id")
    }

    pub(super) async fn approve(&self, id: &str, body: &str) -> Answer {
        self.post(&format!("/api/pending-actions/{id}/approve"), body).await
    }

    pub(super) async fn reject(&self, id: &str, body: &str) -> Answer {
        self.post(&format!("/api/pending-actions/{id}/reject"), body).await
    }

    pub(super) async fn action(&self, id: &str) -> Answer {
        self.get(&format!("/api/pending-actions/{id}")).await
    }

    pub(super) async fn until_final(&self, id: &str) -> Answer {
        self.get(&format!("/api/pending-actions/{id}?wait=15s&until=final")).await
    }

    pub(super) async fn status(&self, id: &str) -> String {
        self.action(id).await.at("/status")
    }

    pub(super) async fn list(&self, query: &str) -> Answer {
        self.get(&format!("/api/pending-actions?workspace_id=w{query}")).await
    }

    /// Waits until the action runs. Reads the store, because the API shows running actions as approved.
    pub(super) async fn until_running(&self, id: &str) {
        let mut revisions = self.gate.inner.events.watch("w");
        let running = async {
            while self.gate.store().get(id).await.unwrap().unwrap().action.row.status != Status::Running {
                revisions.changed().await.unwrap();
            }
        };
        tokio::time::timeout(LIMIT, running).await.unwrap();
    }

    pub(super) fn begin_to_stop(&self) {
        self.stop.soon.cancel();
    }

    /// Stops the gate like Ctrl-C and waits.
    pub(super) async fn stop(self) {
        self.stop.soon.cancel();
        for served in [self.served].into_iter().chain(self.others.into_iter().map(|(_, served)| served)) {
            tokio::time::timeout(LIMIT, served).await.unwrap().unwrap().unwrap();
        }
    }
}

/// Sends a request and checks the answer against the contract, so every test tests the contract.
pub(super) async fn answer(request: RequestBuilder) -> Answer {
    let (client, request) = request.build_split();
    let request = request.unwrap();
    let (method, path) = (request.method().to_string(), request.url().path().to_owned());
    let response = client.execute(request).await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().await.unwrap();
    let named = contract::check(&method, &path, status, &text);
    Answer { status, headers, text, named }
}

pub(super) fn ids(list: &Answer) -> Vec<String> {
    let items = list.json().pointer("/items").and_then(Value::as_array).cloned().unwrap_or_default();
    items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}
