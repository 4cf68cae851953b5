//! The routes, one file each: read the request, ask the store, write the answer. No rule lives here.

pub(crate) mod batch;
pub(crate) mod changes;
pub(crate) mod checkpoint;
pub(crate) mod decide;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod metrics;
pub(crate) mod openapi;
pub(crate) mod owner;
pub(crate) mod propose;
pub(crate) mod pull;
pub(crate) mod stream;
pub(crate) mod tools;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::error::ApiError;
use super::store::{Keyed, Reply, StoreError};
use crate::contract::action;
use crate::domain::{PendingAction, RawJson};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// Longest `Idempotency-Key`, in bytes.
const KEY_MAX: usize = 200;

/// Reads a JSON body.
fn read<T: DeserializeOwned>(headers: &HeaderMap, body: &[u8]) -> Result<T, ApiError> {
    if !is_json(headers) {
        return Err(ApiError::UnsupportedType);
    }
    serde_json::from_slice(body)
        .map_err(|error| ApiError::BadRequest(format!("the body cannot be read: {error}")))
}

/// Reads a JSON body that may be left out.
fn read_or_default<T: DeserializeOwned + Default>(headers: &HeaderMap, body: &[u8]) -> Result<T, ApiError> {
    if body.iter().all(u8::is_ascii_whitespace) { Ok(T::default()) } else { read(headers, body) }
}

/// What is sent says that it is JSON. A form on a web page cannot say so.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

/// A JSON body.
pub(crate) struct Body<T>(T);

/// A JSON body that may be left out.
pub(crate) struct OptionalBody<T>(T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let headers = request.headers().clone();
        let body = Bytes::from_request(request, state).await.map_err(IntoResponse::into_response)?;
        read(&headers, &body).map(Self).map_err(IntoResponse::into_response)
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for OptionalBody<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let headers = request.headers().clone();
        let body = Bytes::from_request(request, state).await.map_err(IntoResponse::into_response)?;
        read_or_default(&headers, &body).map(Self).map_err(IntoResponse::into_response)
    }
}

/// A payload of a body, byte for byte.
fn payload(name: &str, raw: &RawValue) -> Result<RawJson, ApiError> {
    RawJson::parse(raw.get()).map_err(|error| ApiError::Invalid(format!("{name} is {error}")))
}

/// The request's `Idempotency-Key`, bound to its route and body.
fn keyed(headers: &HeaderMap, route: &str, body: &[u8]) -> Result<Option<Keyed>, ApiError> {
    let Some(key) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    let key = key.to_str().ok().filter(|key| !key.is_empty() && key.len() <= KEY_MAX);
    let key = key.ok_or_else(|| {
        ApiError::BadRequest(format!("Idempotency-Key is 1 to {KEY_MAX} visible ASCII characters"))
    })?;
    let mut hash = Sha256::new();
    for field in [route.as_bytes(), body] {
        hash.update((field.len() as u64).to_be_bytes());
        hash.update(field);
    }
    Ok(Some(Keyed { key: key.to_owned(), fingerprint: hash.finalize().to_vec() }))
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
