//! The source against a fake engine.

use crate::domain::Row;
use crate::domain::Timestamp;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use std::collections::HashMap;
use std::time::Duration;

use super::*;
use crate::domain::{
    ActionKey, BatchKey, Edits, Outcome, RawJson, Refusal, Staged, Status, Submission, SubmissionId,
    Untrusted, freeze,
};
use crate::net::testing::{nobody, serve};

mod deciding;
mod engine;
mod following;
mod listing;
pub(in crate::sources) mod world;

use engine::Engine;

const ENVELOPE: &str = r#"{"data": {"title":"Refund","amount":1.10,"n":18446744073709551616}, "facts":{"order":7,"total":1.10}}"#;
const ARGUMENTS: &str = r#"{"body":"1. open\n2. crash","amount":1.10}"#;
const KEY: &str = "sub:0";

async fn serve_engine(engine: &Engine) -> String {
    fn response((status, text): (u16, String)) -> Response {
        let response = Response::builder().status(status).header("content-type", "application/json");
        response.body(Body::from(text)).unwrap()
    }
    async fn answer(State(engine): State<Engine>, request: Request) -> Response {
        let (head, body) = request.into_parts();
        let body = String::from_utf8(to_bytes(body, 1 << 20).await.unwrap().to_vec()).unwrap();
        let query = head.uri.query().unwrap_or_default();
        let deed = async { response(engine.answer(head.method.as_str(), head.uri.path(), query, &body)) };
        let refusal = |status| response(engine::refusal(status));
        engine.faults.meet(head.method == "POST", refusal, deed).await
    }
    serve(Router::new().fallback(answer).with_state(engine.clone())).await
}

fn opened(engine: &Engine, url: &str, filter: config::Warden) -> Arc<dyn Source> {
    opened_for(engine, url, filter, Duration::MAX)
}

fn opened_for(engine: &Engine, url: &str, filter: config::Warden, limit: Duration) -> Arc<dyn Source> {
    let config = SourceConfig::of("sagas", SourceKind::Warden(filter), url);
    open_at(&config, Patience { request: limit, backoff: None }, engine.clock()).unwrap()
}

async fn source(engine: &Engine) -> Arc<dyn Source> {
    opened(engine, &serve_engine(engine).await, config::Warden::default())
}

async fn rows(source: &Arc<dyn Source>) -> Vec<Row> {
    match source.sync(None).await.unwrap() {
        Synced::All { rows, .. } => rows,
        Synced::Changes { .. } => panic!("expected the whole list"),
    }
}

async fn load(source: &Arc<dyn Source>, id: &ActionId) -> PendingAction {
    let mut found = source.get(std::slice::from_ref(id)).await.unwrap();
    assert_eq!(found.len(), 1, "{id:?}");
    found.remove(0).unwrap()
}

fn frozen(source: &Arc<dyn Source>, decided: &[(PendingAction, Decision)]) -> Result<Submission, Refusal> {
    let at = Timestamp::default();
    let (mut staged, mut loaded) = (Vec::new(), HashMap::new());
    for (action, decision) in decided {
        let key = ActionKey { source: source.name().clone(), id: action.row.id.clone() };
        let batch = BatchKey::Batch(key.source.clone(), action.row.batch.clone().unwrap());
        let (digest, decision) = (Some(action.digest()), decision.clone());
        staged.push((key.clone(), Staged { decision, batch, digest, terms: action.terms, at }));
        loaded.insert(key, action.clone());
    }
    let staged = staged.iter().map(|(key, staged)| (key, staged));
    freeze(SubmissionId::new("sub"), staged, &loaded, |_| 0, at)
}

async fn send(
    source: &Arc<dyn Source>,
    action: &PendingAction,
    decision: Decision,
) -> Result<Outcome, SourceError> {
    let submission = frozen(source, &[(action.clone(), decision)]).unwrap();
    let mut outcomes = source.submit(&submission.batches()[0], KEY).await?;
    assert_eq!(outcomes.len(), 1);
    Ok(outcomes.remove(0).1)
}

async fn decide(source: &Arc<dyn Source>, id: &ActionId, decision: Decision) -> Outcome {
    let action = load(source, id).await;
    send(source, &action, decision).await.unwrap()
}

fn edits(text: &str) -> Decision {
    let edits = Some(Edits::new(RawJson::parse(text).unwrap()).unwrap());
    Decision::Approve { edits, comment: None }
}

fn reject(reason: &str) -> Decision {
    Decision::Reject { reason: Some(reason.to_owned()) }
}

fn retry(guidance: &str) -> Decision {
    Decision::Retry { guidance: guidance.to_owned() }
}

fn skipped(status: Status) -> Outcome {
    Outcome::Skipped { status: Some(status), by: None }
}
