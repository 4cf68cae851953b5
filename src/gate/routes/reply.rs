//! What the handlers share: payloads in, answers out.

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::value::RawValue;

use crate::contract::action;
use crate::domain::{PendingAction, RawJson};
use crate::gate::error::{ApiError, INVALID};
use crate::gate::store::{Reply, StoreError};

const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// A payload of a body, byte for byte.
pub(super) fn payload(name: &str, raw: &RawValue) -> Result<RawJson, ApiError> {
    RawJson::parse(raw.get()).map_err(|error| ApiError::new(INVALID, format!("{name} is {error}")))
}

/// An answer whose body is JSON already.
pub(super) fn json(status: StatusCode, body: String) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

/// The first answer, or the first answer again.
pub(super) fn reply(status: StatusCode, reply: Reply) -> Response {
    let mut response = json(status, reply.body);
    if reply.replayed {
        response.headers_mut().insert(IDEMPOTENCY_REPLAYED, HeaderValue::from_static("true"));
    }
    response
}

/// An action in full.
pub(super) fn full_response(action: &PendingAction) -> Result<Response, ApiError> {
    let body = action::write(action).map_err(|_| StoreError::Corrupt("a payload that is no JSON"))?;
    Ok(json(StatusCode::OK, body))
}
