//! Error replies: one envelope, one table of codes.

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::store::postgres::PostgresError;
use super::store::{self, Refused, StoreError};
use crate::config::ConfigError;
use crate::contract::absent::without_nulls;
use crate::contract::action::wire_status;
use crate::contract::time;
use crate::domain::{Status, Timestamp};
use crate::sqlite::OpenError;

#[derive(Debug, thiserror::Error)]
pub enum GateError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Postgres(#[from] PostgresError),
    #[error("{0}")]
    Store(String),
    #[error("{0}")]
    Refused(String),
    #[error("cannot write the token file {path}: {error}")]
    TokenFile { path: std::path::PathBuf, error: std::io::Error },
    #[error("{0:?} is no workspace of this gate, or no name for one")]
    Workspace(String),
    #[error("cannot serve: {0}")]
    Serve(#[from] std::io::Error),
}

impl From<StoreError> for GateError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(refused) => Self::Refused(refused.to_string()),
            failed => Self::Store(failed.to_string()),
        }
    }
}

/// HTTP status and code. Codes are part of the contract.
pub(crate) type Code = (StatusCode, &'static str);

pub(crate) const BAD_REQUEST: Code = (StatusCode::BAD_REQUEST, "BAD_REQUEST");
pub(crate) const UNAUTHORIZED: Code = (StatusCode::UNAUTHORIZED, "UNAUTHORIZED");
pub(crate) const FORBIDDEN: Code = (StatusCode::FORBIDDEN, "FORBIDDEN");
const NOT_FOUND: Code = (StatusCode::NOT_FOUND, "NOT_FOUND");
const INVALID_STATE: Code = (StatusCode::CONFLICT, "INVALID_STATE");
const STALE_FENCE: Code = (StatusCode::CONFLICT, "STALE_FENCE");
const INVALID_BATCH: Code = (StatusCode::CONFLICT, "INVALID_BATCH");
const CALL_ID_REUSED: Code = (StatusCode::CONFLICT, "CALL_ID_REUSED");
const ACTION_PRUNED: Code = (StatusCode::CONFLICT, "ACTION_PRUNED");
const EXPIRED: Code = (StatusCode::CONFLICT, "EXPIRED");
const PAUSED: Code = (StatusCode::CONFLICT, "PAUSED");
const CHANGED: Code = (StatusCode::PRECONDITION_FAILED, "CHANGED");
const UNSUPPORTED_TYPE: Code = (StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE");
const MISDIRECTED: Code = (StatusCode::MISDIRECTED_REQUEST, "MISDIRECTED");
pub(crate) const INVALID: Code = (StatusCode::UNPROCESSABLE_ENTITY, "INVALID");
const KEY_REUSED: Code = (StatusCode::UNPROCESSABLE_ENTITY, "IDEMPOTENCY_KEY_REUSED");
pub(crate) const TOO_MANY: Code = (StatusCode::TOO_MANY_REQUESTS, "TOO_MANY_REQUESTS");
pub(crate) const UNAVAILABLE: Code = (StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE");

/// Status, who resolved the action, and when.
type Settled = (Status, Option<String>, Option<Timestamp>);

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    code: Code,
    message: String,
    /// Sent with `INVALID_STATE`.
    state: Option<Box<Settled>>,
    /// Value of `Retry-After`, in seconds.
    again_in: Option<u64>,
}

impl ApiError {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), state: None, again_in: None }
    }

    pub(crate) fn again_in(code: Code, message: impl Into<String>, seconds: u64) -> Self {
        Self { again_in: Some(seconds), ..Self::new(code, message) }
    }

    pub(crate) fn stopping() -> Self {
        Self::again_in(UNAVAILABLE, "the gate is stopping; nothing was done; ask again when it is back", 5)
    }

    pub(crate) fn unsupported_type() -> Self {
        Self::new(UNSUPPORTED_TYPE, "the body must be JSON; send Content-Type: application/json")
    }

    pub(crate) fn misdirected() -> Self {
        Self::new(
            MISDIRECTED,
            "this gate does not know itself by the host you asked for; use the address it printed, or list the name in gate.hosts",
        )
    }

    fn in_state(status: Status, by: Option<String>, at: Option<Timestamp>) -> Self {
        let message = match &status {
            Status::Pending => "this action is pending; it can be neither run nor settled yet".to_owned(),
            Status::Running => "this action is approved and is being run".to_owned(),
            settled => format!("this action is {} already; read it to see by whom", wire_status(settled)),
        };
        Self { state: Some(Box::new((status, by, at))), ..Self::new(INVALID_STATE, message) }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, code) = self.code;
        let state = self.state.as_deref();
        let error = without_nulls(json!({
            "code": code,
            "message": self.message,
            "status": state.map(|(status, ..)| wire_status(status)),
            "resolvedBy": state.map(|(_, by, _)| by),
            "resolvedAt": state.and_then(|(.., at)| at.map(time::write)),
        }));
        let mut response = (status, Json(json!({"error": error}))).into_response();
        if let Some(seconds) = self.again_in {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}

impl From<Refused> for ApiError {
    fn from(refused: Refused) -> Self {
        let message = refused.to_string();
        let code = match refused {
            Refused::State { status, by, at } => return Self::in_state(status, by, at),
            Refused::Full(_) => return Self::again_in(TOO_MANY, message, 60),
            Refused::Missing | Refused::Pruned | Refused::MissingBatch | Refused::MissingCheckpoint => {
                NOT_FOUND
            }
            Refused::Foreign | Refused::Own | Refused::NotProposer => FORBIDDEN,
            Refused::Changed(_) => CHANGED,
            Refused::Invalid(_) => INVALID,
            Refused::KeyReused => KEY_REUSED,
            Refused::NotApproved | Refused::Tampered(_) => INVALID_STATE,
            Refused::StaleFence => STALE_FENCE,
            Refused::CallReused => CALL_ID_REUSED,
            Refused::RecordedAndPruned => ACTION_PRUNED,
            Refused::CrossesWorkspaces(_) => INVALID_BATCH,
            Refused::Late => EXPIRED,
            Refused::Paused => PAUSED,
        };
        Self::new(code, message)
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(refused) => refused.into(),
            StoreError::Closed => Self::new(UNAVAILABLE, "the gate is closing; try again"),
            failed @ (StoreError::Database(_) | StoreError::Commit(_) | StoreError::Corrupt(_)) => {
                // Other details may name files and SQL, so they go only to the log.
                tracing::error!(error = %failed, "a request failed");
                let why = match &failed {
                    StoreError::Commit(why) => why.clone(),
                    StoreError::Database(error) => store::words(error),
                    _ => String::new(),
                };
                let why = if store::is_usual(&why) { format!(": {why}") } else { String::new() };
                let message = format!(
                    "the gate's database failed{why}; look before you ask again: it may have been done"
                );
                Self::new(UNAVAILABLE, message)
            }
        }
    }
}

/// Wraps errors of axum itself (unknown method, body too large, unreadable query) in the envelope.
pub(crate) async fn envelope(response: Response) -> Response {
    let status = response.status();
    let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let text = to_bytes(body, 4_096).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let (code, message) = match status {
        StatusCode::NOT_FOUND => ("NOT_FOUND", "there is no such route"),
        StatusCode::METHOD_NOT_ALLOWED => ("METHOD_NOT_ALLOWED", "this route does not take this method"),
        StatusCode::REQUEST_TIMEOUT => ("TIMEOUT", "the request took too long; send it again"),
        StatusCode::PAYLOAD_TOO_LARGE => ("PAYLOAD_TOO_LARGE", "the body is larger than this gate takes"),
        StatusCode::BAD_REQUEST => ("BAD_REQUEST", text.as_ref()),
        _ if status.is_client_error() => ("BAD_REQUEST", text.as_ref()),
        _ => ("INTERNAL", "the gate failed; its log says why"),
    };
    let error = json!({"error": {"code": code, "message": message}});
    let mut enveloped = (status, Json(error)).into_response();
    for (name, value) in &parts.headers {
        if name != CONTENT_TYPE && name != CONTENT_LENGTH {
            enveloped.headers_mut().insert(name, value.clone());
        }
    }
    enveloped.map(Body::new)
}
