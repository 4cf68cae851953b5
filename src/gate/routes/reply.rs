//! Shared by the handlers: reads payloads, writes replies.

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::value::RawValue;

use crate::contract::action;
use crate::domain::{PendingAction, RawJson};
use crate::gate::error::{ApiError, INVALID};
use crate::gate::store::{Answered, StoreError, WriteReply};

const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// Reads a payload byte for byte.
pub(super) fn payload(name: &str, raw: &RawValue) -> Result<RawJson, ApiError> {
    RawJson::parse(raw.get()).map_err(|error| ApiError::new(INVALID, format!("{name} is {error}")))
}

pub(super) fn json(status: StatusCode, body: String) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

/// Replies with what the store did now, or with the reply that is kept for the key.
pub(super) fn answer<T>(answered: Answered<T>, write: WriteReply<T>) -> Result<Response, ApiError> {
    Ok(match answered {
        Answered::Now(done) => json(StatusCode::OK, write(&done)?),
        Answered::Before(body) => reply(StatusCode::OK, body, true),
    })
}

/// Writes a reply, marked if it repeats an earlier one.
pub(super) fn reply(status: StatusCode, body: String, replayed: bool) -> Response {
    let mut response = json(status, body);
    if replayed {
        response.headers_mut().insert(IDEMPOTENCY_REPLAYED, HeaderValue::from_static("true"));
    }
    response
}

pub(super) fn full_response(action: &PendingAction) -> Result<Response, ApiError> {
    Ok(json(StatusCode::OK, body(action)?))
}

pub(super) fn body(action: &PendingAction) -> Result<String, StoreError> {
    action::write(action).map_err(|_| StoreError::Corrupt("a payload that is no JSON"))
}
