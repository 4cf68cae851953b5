//! A scripted backend, and submissions for it.

use crate::domain::Binding;
use crate::domain::PendingAction;
use crate::domain::ReasonRule;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Mutex;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};

use super::*;
use crate::contract::action;
use crate::domain::{ActionKey, BatchKey, Submission, SubmissionId, Timestamp, freeze};
use crate::domain::{Capabilities, Refusal, Staged};
use crate::net::testing::serve;

#[derive(Clone, Debug)]
pub(super) struct Came {
    pub(super) line: String,
    pub(super) body: String,
    pub(super) key: Option<String>,
}

#[derive(Clone, Default)]
pub(super) struct Backend {
    scripts: Arc<Mutex<HashMap<String, VecDeque<Answer>>>>,
    seen: Arc<Mutex<Vec<Came>>>,
}

#[derive(Clone)]
struct Answer {
    status: u16,
    body: Vec<u8>,
    content_type: &'static str,
}

/// The answers to one request line, in order; the last one repeats.
pub(super) struct Script<'a> {
    backend: &'a Backend,
    line: String,
}

impl Script<'_> {
    pub(super) fn reply(self, status: u16, body: impl Into<String>) -> Self {
        self.add(status, body.into().into_bytes(), "application/json")
    }

    pub(super) fn events(self, text: &str) -> Self {
        self.add(200, text.into(), "text/event-stream")
    }

    pub(super) fn bytes(self, status: u16, body: Vec<u8>) -> Self {
        self.add(status, body, "application/json")
    }

    fn add(self, status: u16, body: Vec<u8>, content_type: &'static str) -> Self {
        let answer = Answer { status, body, content_type };
        self.backend.scripts.lock().unwrap().entry(self.line.clone()).or_default().push_back(answer);
        self
    }
}

impl Backend {
    pub(super) fn on(&self, method: &str, path: &str) -> Script<'_> {
        Script { backend: self, line: format!("{method} {path}") }
    }

    /// Answers every request of `method` without its own script.
    pub(super) fn always(&self, method: &str, status: u16, body: &str) {
        Script { backend: self, line: method.to_owned() }.reply(status, body);
    }

    pub(super) async fn source(&self, kind: SourceKind, workspace: Option<&str>) -> Arc<dyn Source> {
        let url = serve(Router::new().fallback(answer).with_state(self.clone())).await;
        crate::sources::open(&config(kind, &url, workspace)).unwrap()
    }

    /// Returns all requests except those for the token's subject.
    pub(super) fn requests(&self) -> Vec<Came> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|request| !request.line.contains("/api/workspaces")).cloned().collect()
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.line).collect()
    }
}

async fn answer(State(backend): State<Backend>, request: Request) -> Response {
    let line = format!("{} {}", request.method(), request.uri());
    let method = request.method().to_string();
    let key = request.headers().get("idempotency-key").map(|key| key.to_str().unwrap().to_owned());
    let body = axum::body::to_bytes(request.into_body(), 1 << 20).await.unwrap();
    let body = String::from_utf8(body.to_vec()).unwrap();
    backend.seen.lock().unwrap().push(Came { line: line.clone(), body, key });
    let mut scripts = backend.scripts.lock().unwrap();
    let name = if scripts.contains_key(&line) { line } else { method };
    let Some(answers) = scripts.get_mut(&name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let answer = if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0].clone() };
    Response::builder()
        .status(answer.status)
        .header("content-type", answer.content_type)
        .body(Body::from(answer.body))
        .unwrap()
}

pub(super) fn config(kind: SourceKind, url: &str, workspace: Option<&str>) -> SourceConfig {
    SourceConfig { workspace: workspace.map(str::to_owned), ..SourceConfig::of("s", kind, url) }
}

/// Returns an action of workspace `w` as on the wire.
pub(super) fn text(id: &str, input: &str, status: &str) -> String {
    format!(r#"{{"id":"{id}","workspaceId":"w","toolName":"t","toolInput":{input},"status":"{status}"}}"#)
}

pub(super) fn action(id: &str, input: &str) -> PendingAction {
    action::read(&text(id, input, "pending")).unwrap()
}

/// Returns decisions on actions whose input is `{"n":1.10}`.
fn submission(batch: Option<&str>, decisions: &[(&str, Decision)]) -> Submission {
    let source = SourceName::new("s");
    let key = |id: &str| ActionKey { source: source.clone(), id: ActionId::new(id) };
    let mut staged = BTreeMap::new();
    let mut loaded = HashMap::new();
    let can = Capabilities {
        edit: true,
        reason: ReasonRule::Optional,
        comment: true,
        retry: true,
        settle: false,
        binding: Binding::Source,
        ..Capabilities::PLAIN
    };
    for (id, decision) in decisions {
        let mut action = action(id, r#"{"n":1.10}"#);
        (action.row.batch, action.row.can) = (batch.map(crate::domain::BatchId::new), can);
        let batch = match &action.row.batch {
            Some(batch) => BatchKey::Batch(source.clone(), batch.clone()),
            None => BatchKey::Alone(key(id)),
        };
        let at = Timestamp::default();
        staged.insert(key(id), Staged { decision: decision.clone(), batch, digest: None, terms: None, at });
        loaded.insert(key(id), action);
    }
    freeze(SubmissionId::new("sub"), &staged, &loaded, |_| 1, Timestamp::default()).unwrap()
}

pub(super) fn batch(batch: Option<&str>, decisions: &[(&str, Decision)]) -> SubmissionBatch {
    submission(batch, decisions).batches()[0].clone()
}

pub(super) fn frozen(
    source: &Arc<dyn Source>,
    mut action: PendingAction,
    decision: Decision,
) -> Result<SubmissionBatch, Refusal> {
    let key = ActionKey { source: source.name().clone(), id: action.row.id.clone() };
    let batch = BatchKey::Alone(key.clone());
    let staged = Staged { decision, batch, digest: None, terms: None, at: Timestamp::default() };
    let gate = source.abilities().timeline.is_some();
    let kind = if gate { SourceKind::Gate } else { SourceKind::Praxiom(Praxiom::default()) };
    let can = PendingActions::open(&config(kind, "http://127.0.0.1:1", Some("w")), Patience::USUAL).unwrap();
    action.row.can = can.can(&action.row);
    let loaded = HashMap::from([(key.clone(), action)]);
    let frozen = freeze(SubmissionId::new("sub"), [(&key, &staged)], &loaded, |_| 1, Timestamp::default());
    frozen.map(|submission| submission.batches()[0].clone())
}

pub(super) fn approve(id: &str) -> SubmissionBatch {
    batch(None, &[(id, Decision::APPROVE)])
}

pub(super) fn reject(id: &str) -> SubmissionBatch {
    batch(None, &[(id, Decision::REJECT)])
}
