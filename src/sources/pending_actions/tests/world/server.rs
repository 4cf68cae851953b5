//! The HTTP side of both backends. Praxiom keeps no reason or name, ignores idempotency keys, compares nothing, has no
//! pages, and answers a batch with three counts.

use std::future::ready;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use futures_util::stream::{self, StreamExt as _};

use super::{Books, Kept, Office, merged};
use crate::contract::batch::{Approve, BatchApprove, BatchItem, Reject};
use crate::domain::Digest;
use crate::sources::pending_actions::Dialect;

type Asked = Query<std::collections::HashMap<String, String>>;

pub(super) fn router(office: Arc<Office>) -> Router {
    Router::new()
        .route("/api/workspaces", get(workspaces))
        .route("/api/pending-actions", get(list))
        .route("/api/pending-actions/events", get(pushed))
        .route("/api/pending-actions/{id}", get(one))
        .route("/api/pending-actions/{id}/events", get(events))
        .route("/api/pending-actions/{id}/approve", post(approve))
        .route("/api/pending-actions/{id}/reject", post(reject))
        .route("/api/pending-actions/batch/{batch}/approve", post(batch))
        .layer(middleware::from_fn_with_state(Arc::clone(&office), meet))
        .with_state(office)
}

async fn meet(State(office): State<Arc<Office>>, request: Request, next: Next) -> Response {
    let decides = request.method() == Method::POST;
    let dialect = office.dialect;
    office.faults.meet(decides, |status| refusal(dialect, status), next.run(request)).await
}

fn answer(status: u16, body: String) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    (status, [("content-type", "application/json")], body).into_response()
}

fn refusal(dialect: Dialect, status: u16) -> Response {
    let code = match status {
        401 => "UNAUTHORIZED",
        403 => "FORBIDDEN",
        404 => "NOT_FOUND",
        409 => "INVALID_STATE",
        429 => "RATE_LIMITED",
        _ => "INTERNAL",
    };
    let body = match (dialect, status) {
        (Dialect::Praxiom, 422) => r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#.to_owned(),
        (Dialect::Praxiom, 500) => "Internal Server Error".to_owned(),
        (Dialect::Praxiom, 403) => format!(r#"{{"detail":{{"code":"{code}","message":"no member"}}}}"#),
        _ => format!(r#"{{"error":{{"code":"{code}","message":"because"}}}}"#),
    };
    let mut refusal = answer(status, body);
    if status == 429 {
        refusal.headers_mut().insert("retry-after", "1".parse().unwrap());
    }
    refusal
}

async fn workspaces(State(office): State<Arc<Office>>) -> Response {
    let scopes = match office.dialect {
        Dialect::Gate => r#","subject":"ada","scopes":["read","decide"]"#,
        Dialect::Praxiom => "",
    };
    answer(200, format!(r#"{{"items":[{{"id":"w","workspaceId":"w"{scopes}}}]}}"#))
}

async fn pushed() -> Response {
    let briefing = Ok::<_, std::convert::Infallible>("event: briefing\ndata: {\"pending\":0}\n\n");
    let events = stream::once(ready(briefing)).chain(stream::pending());
    ([("content-type", "text/event-stream")], Body::from_stream(events)).into_response()
}

async fn list(State(office): State<Arc<Office>>, Query(asked): Asked) -> Response {
    let books = office.books();
    let statuses: Option<Vec<&str>> = asked.get("status").map(|it| it.split(',').collect());
    if office.dialect == Dialect::Praxiom && statuses.as_ref().is_none_or(|it| it.len() != 1) {
        return refusal(office.dialect, 422);
    }
    let ids: Option<Vec<&str>> = asked.get("ids").map(|it| it.split(',').collect());
    let wanted = |kept: &&Kept| {
        statuses.as_ref().is_none_or(|it| it.contains(&kept.status.as_str()))
            && ids.as_ref().is_none_or(|it| it.contains(&kept.id.as_str()))
    };
    let newest_first = books.actions.iter().rev().filter(wanted);
    let mut items: Vec<String> = newest_first.map(|kept| kept.text(office.dialect)).collect();
    if statuses.is_some_and(|it| it.contains(&"pending")) {
        let middle = items.len() / 2;
        items.splice(middle..middle, books.broken.iter().cloned());
    }
    if office.dialect == Dialect::Praxiom {
        return answer(200, format!(r#"{{"items":[{}]}}"#, items.join(",")));
    }
    // Short pages, so that a client must follow them.
    let from: usize = asked.get("cursor").and_then(|it| it.parse().ok()).unwrap_or_default();
    let next = (items.len() > from + 300).then(|| format!("\"{}\"", from + 300));
    let page: Vec<_> = items.into_iter().skip(from).take(300).collect();
    let next = next.unwrap_or_else(|| "null".to_owned());
    answer(200, format!(r#"{{"items":[{}],"nextCursor":{next},"revision":7}}"#, page.join(",")))
}

async fn one(State(office): State<Arc<Office>>, Path(id): Path<String>) -> Response {
    match office.books().actions.iter().find(|kept| kept.id == id) {
        Some(kept) => answer(200, kept.text(office.dialect)),
        None => refusal(office.dialect, 404),
    }
}

async fn events(State(office): State<Arc<Office>>) -> Response {
    match office.dialect {
        Dialect::Gate => answer(200, r#"{"items":[]}"#.to_owned()),
        Dialect::Praxiom => refusal(office.dialect, 404),
    }
}

async fn approve(
    office: State<Arc<Office>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body: Approve = serde_json::from_slice(&body).unwrap();
    let item = BatchItem {
        pending_action_id: id,
        user_edits: body.user_edits,
        exclude: false,
        expected_digest: body.expected_digest,
        expected_effective_digest: body.expected_effective_digest,
        expected_terms: body.expected_terms,
        reason: body.reason,
    };
    alone(&office, &item, &headers)
}

async fn reject(
    office: State<Arc<Office>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body: Reject = serde_json::from_slice(&body).unwrap();
    let item = BatchItem {
        pending_action_id: id,
        user_edits: None,
        exclude: true,
        expected_digest: body.expected_digest,
        expected_effective_digest: None,
        expected_terms: None,
        reason: body.reason,
    };
    alone(&office, &item, &headers)
}

fn key<'a>(office: &Office, headers: &'a HeaderMap) -> Option<&'a str> {
    headers.get("idempotency-key").filter(|_| office.dialect == Dialect::Gate)?.to_str().ok()
}

fn alone(office: &Office, item: &BatchItem, headers: &HeaderMap) -> Response {
    let mut books = office.books();
    let key = key(office, headers);
    if let Some((status, body)) = key.and_then(|key| books.answered.get(key)) {
        return answer(*status, body.clone());
    }
    let (status, body) = match decide(&mut books, office.dialect, item) {
        Ok(kept) => (200, kept.text(office.dialect)),
        Err("missing") => return refusal(office.dialect, 404),
        Err("changed") => (412, r#"{"error":{"code":"CHANGED","message":"the content moved"}}"#.to_owned()),
        Err(status) => {
            let who = match office.dialect {
                Dialect::Gate => format!(r#","status":"{status}","resolvedBy":"bob""#),
                Dialect::Praxiom => String::new(),
            };
            (409, format!(r#"{{"error":{{"code":"INVALID_STATE","message":"it is {status}"{who}}}}}"#))
        }
    };
    let answered = key.map(|key| (key.to_owned(), (status, body.clone())));
    books.answered.extend(answered);
    answer(status, body)
}

/// Decides one item, or returns why not: `missing`, `changed`, or its status.
fn decide<'a>(books: &'a mut Books, dialect: Dialect, item: &BatchItem) -> Result<&'a Kept, &'static str> {
    let kept = books.actions.iter_mut().find(|kept| kept.id == item.pending_action_id).ok_or("missing")?;
    if kept.status != "pending" {
        let words = ["approved", "rejected", "expired"];
        return Err(words.into_iter().find(|word| *word == kept.status).unwrap_or("simmering"));
    }
    let edits = item.user_edits.as_ref().map(|edits| edits.get());
    if dialect == Dialect::Gate {
        let is = |input: &str, expected: &Option<String>| {
            let digest = Digest::of("write_note", "w", input).to_string();
            expected.as_ref().is_none_or(|expected| *expected == digest)
        };
        let effective = edits.map_or_else(|| kept.input.clone(), |edits| merged(&kept.input, edits));
        if !is(&kept.input, &item.expected_digest) || !is(&effective, &item.expected_effective_digest) {
            return Err("changed");
        }
    }
    let said = item.reason.clone().filter(|_| dialect == Dialect::Gate);
    assert!(dialect == Dialect::Gate || item.reason.is_none(), "Praxiom takes no reason");
    kept.decide(!item.exclude, edits, said, "ada");
    Ok(kept)
}

async fn batch(
    State(office): State<Arc<Office>>,
    Path(batch): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    assert_eq!(batch, "m:write/note", "the batch id is one path segment");
    let body: BatchApprove = serde_json::from_slice(&body).unwrap();
    let mut books = office.books();
    let key = key(&office, &headers);
    if let Some((status, body)) = key.and_then(|key| books.answered.get(key)) {
        return answer(*status, body.clone());
    }
    let (mut counts, mut items) = ([0_usize; 4], Vec::new());
    for item in &body.items {
        let told = match decide(&mut books, office.dialect, item) {
            Ok(kept) => (usize::from(item.exclude), kept.status.clone(), kept.status.clone()),
            Err(word @ ("missing" | "changed")) => (3, word.to_owned(), "pending".to_owned()),
            Err(status) => (2, "skipped".to_owned(), status.to_owned()),
        };
        let (count, outcome, status) = told;
        counts[count] += 1;
        let by = if outcome == "skipped" { r#","resolvedBy":"bob""# } else { "" };
        let id = &item.pending_action_id;
        items.push(format!(r#"{{"pendingActionId":"{id}","outcome":"{outcome}","status":"{status}"{by}}}"#));
    }
    let [approved, rejected, skipped, failed] = counts;
    let named = match office.dialect {
        Dialect::Gate => format!(r#","failed":{failed},"items":[{}]"#, items.join(",")),
        Dialect::Praxiom => String::new(),
    };
    let reply = format!(
        r#"{{"batchId":"{batch}","approved":{approved},"rejected":{rejected},"skipped":{skipped}{named}}}"#
    );
    let answered = key.map(|key| (key.to_owned(), (200, reply.clone())));
    books.answered.extend(answered);
    answer(200, reply)
}
