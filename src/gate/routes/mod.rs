//! The routes, one file each: read the request, ask the store, write the answer. No rule lives here.

pub(crate) mod batch;
pub(crate) mod changes;
pub(crate) mod checkpoint;
pub(crate) mod counts;
pub(crate) mod decide;
pub(crate) mod flows;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod metrics;
pub(crate) mod openapi;
pub(crate) mod owner;
pub(crate) mod propose;
pub(crate) mod pull;
pub(crate) mod sent;
pub(crate) mod stream;
pub(crate) mod tools;

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::value::RawValue;

use super::error::ApiError;
use super::store::{Reply, StoreError};
use crate::contract::action;
use crate::domain::{PendingAction, RawJson};

const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// A payload of a body, byte for byte.
fn payload(name: &str, raw: &RawValue) -> Result<RawJson, ApiError> {
    RawJson::parse(raw.get()).map_err(|error| ApiError::Invalid(format!("{name} is {error}")))
}

/// An answer whose body is JSON already.
fn json(status: StatusCode, body: String) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

/// The first answer, or the first answer again.
fn reply(status: StatusCode, reply: Reply) -> Response {
    let mut response = json(status, reply.body);
    if reply.replayed {
        response.headers_mut().insert(IDEMPOTENCY_REPLAYED, HeaderValue::from_static("true"));
    }
    response
}

/// An action in full, on the wire.
fn full(action: &PendingAction) -> Result<Box<RawValue>, ApiError> {
    action::write(action).map_err(|_| StoreError::Corrupt("a payload that is no JSON").into())
}

fn full_response(action: &PendingAction) -> Result<Response, ApiError> {
    Ok(json(StatusCode::OK, full(action)?.get().to_owned()))
}
