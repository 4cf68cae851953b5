//! Extracts a JSON body and an optional `Idempotency-Key` bound to it.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::gate::bodies::work_on;
use crate::gate::error::{ApiError, BAD_REQUEST};
use crate::gate::store::Keyed;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Longest `Idempotency-Key`, in bytes.
const KEY_MAX: usize = 200;

pub(crate) struct Sent<T> {
    pub(super) body: T,
    /// Bound to method, path and exact body.
    pub(super) key: Option<Keyed>,
}

pub(crate) struct MaybeSent<T> {
    pub(super) body: T,
    pub(super) key: Option<Keyed>,
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Sent<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let raw = Raw::from_request(request, state).await?;
        let sent = || Ok(Self { body: raw.body()?, key: raw.key()? });
        work_on(raw.bytes.len(), sent).map_err(ApiError::into_response)
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for MaybeSent<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let raw = Raw::from_request(request, state).await?;
        let sent = || {
            let body = if raw.is_empty() { T::default() } else { raw.body()? };
            Ok(Self { body, key: raw.key()? })
        };
        work_on(raw.bytes.len(), sent).map_err(ApiError::into_response)
    }
}

struct Raw {
    route: String,
    headers: HeaderMap,
    bytes: Bytes,
}

impl Raw {
    async fn from_request<S: Send + Sync>(request: Request, state: &S) -> Result<Self, Response> {
        let route = format!("{} {}", request.method(), request.uri().path());
        let headers = request.headers().clone();
        let bytes = Bytes::from_request(request, state).await.map_err(IntoResponse::into_response)?;
        Ok(Self { route, headers, bytes })
    }

    fn is_empty(&self) -> bool {
        self.bytes.iter().all(u8::is_ascii_whitespace)
    }

    fn body<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        if !is_json(&self.headers) {
            return Err(ApiError::unsupported_type());
        }
        if self.bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
            return Err(ApiError::new(BAD_REQUEST, "the body must be a JSON object"));
        }
        serde_json::from_slice(&self.bytes)
            .map_err(|error| ApiError::new(BAD_REQUEST, format!("the body cannot be read: {error}")))
    }

    fn key(&self) -> Result<Option<Keyed>, ApiError> {
        let Some(key) = self.headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
        let key = key.to_str().ok().filter(|key| !key.is_empty() && key.len() <= KEY_MAX);
        let key = key.ok_or_else(|| {
            ApiError::new(BAD_REQUEST, format!("Idempotency-Key is 1 to {KEY_MAX} visible ASCII characters"))
        })?;
        let mut hash = Sha256::new();
        for field in [self.route.as_bytes(), &self.bytes] {
            hash.update((field.len() as u64).to_be_bytes());
            hash.update(field);
        }
        Ok(Some(Keyed { key: key.to_owned(), fingerprint: hash.finalize().to_vec() }))
    }
}

/// Checks the content type. Forms of web pages cannot send JSON's.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}
