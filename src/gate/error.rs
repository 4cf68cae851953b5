//! Error replies of the gate: one envelope, one table of codes.

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::store::{Refused, StoreError};
use crate::config::ConfigError;
use crate::contract::absent::without_nulls;
use crate::contract::action::wire_status;
use crate::contract::time;
use crate::domain::{Status, Timestamp};
use crate::sqlite::{self, OpenError};

/// The gate cannot do its work.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Open(#[from] OpenError),
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

/// A request that was not done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ApiError {
    BadRequest(String),
    Unauthorized(&'static str),
    Forbidden(String),
    NotFound(String),
    InvalidState {
        status: Status,
        by: Option<String>,
        at: Option<Timestamp>,
    },
    StaleFence(String),
    InvalidBatch(String),
    Late(String),
    Paused(String),
    Changed(String),
    UnsupportedType,
    Misdirected,
    Invalid(String),
    KeyReused(String),
    /// Seconds until it may be tried again.
    TooMany(String, u64),
    Unavailable(String),
    /// Nothing was done. Seconds until it may be tried again.
    Busy(String, u64),
}

impl ApiError {
    /// A gate that drains begins nothing new.
    pub(crate) fn stopping() -> Self {
        Self::Busy("the gate is stopping; nothing was done; ask again when it is back".to_owned(), 5)
    }

    /// The status, and the code that clients match on. Codes are part of the contract.
    const fn contract(&self) -> (StatusCode, &'static str) {
        match self {
            Self::BadRequest(_) => (StatusCode::BAD_REQUEST, "BAD_REQUEST"),
            Self::Unauthorized(_) => (StatusCode::UNAUTHORIZED, "UNAUTHORIZED"),
            Self::Forbidden(_) => (StatusCode::FORBIDDEN, "FORBIDDEN"),
            Self::NotFound(_) => (StatusCode::NOT_FOUND, "NOT_FOUND"),
            Self::InvalidState { .. } => (StatusCode::CONFLICT, "INVALID_STATE"),
            Self::StaleFence(_) => (StatusCode::CONFLICT, "STALE_FENCE"),
            Self::InvalidBatch(_) => (StatusCode::CONFLICT, "INVALID_BATCH"),
            Self::Late(_) => (StatusCode::CONFLICT, "EXPIRED"),
            Self::Paused(_) => (StatusCode::CONFLICT, "PAUSED"),
            Self::Changed(_) => (StatusCode::PRECONDITION_FAILED, "CHANGED"),
            Self::UnsupportedType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE"),
            Self::Misdirected => (StatusCode::MISDIRECTED_REQUEST, "MISDIRECTED"),
            Self::Invalid(_) => (StatusCode::UNPROCESSABLE_ENTITY, "INVALID"),
            Self::KeyReused(_) => (StatusCode::UNPROCESSABLE_ENTITY, "IDEMPOTENCY_KEY_REUSED"),
            Self::TooMany(..) => (StatusCode::TOO_MANY_REQUESTS, "TOO_MANY_REQUESTS"),
            Self::Unavailable(_) | Self::Busy(..) => (StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE"),
        }
    }

    fn message(&self) -> String {
        match self {
            Self::BadRequest(message)
            | Self::Forbidden(message)
            | Self::NotFound(message)
            | Self::StaleFence(message)
            | Self::InvalidBatch(message)
            | Self::Late(message)
            | Self::Paused(message)
            | Self::Changed(message)
            | Self::Invalid(message)
            | Self::KeyReused(message)
            | Self::TooMany(message, _)
            | Self::Busy(message, _)
            | Self::Unavailable(message) => message.clone(),
            Self::Unauthorized(message) => (*message).to_owned(),
            Self::InvalidState { status, .. } => match status {
                Status::Pending => "this action is pending; it can be neither run nor settled yet".to_owned(),
                Status::Running => "this action is approved and is being run".to_owned(),
                settled => format!("this action is {} already; read it to see by whom", wire_status(settled)),
            },
            Self::UnsupportedType => "the body must be JSON; send Content-Type: application/json".to_owned(),
            Self::Misdirected => {
                "this gate does not know itself by the host you asked for; use the address it printed, or list the name in gate.hosts"
                    .to_owned()
            }
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, code) = self.contract();
        let mut error = json!({"code": code, "message": self.message()});
        if let Self::InvalidState { status, by, at } = &self {
            error = json!({
                "code": code,
                "message": self.message(),
                "status": wire_status(status),
                "resolvedBy": by,
                "resolvedAt": at.map(time::write),
            });
        }
        let mut response = (status, Json(json!({"error": without_nulls(error)}))).into_response();
        if let Self::TooMany(_, seconds) | Self::Busy(_, seconds) = self {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}

impl From<Refused> for ApiError {
    fn from(refused: Refused) -> Self {
        let message = refused.to_string();
        match refused {
            Refused::Missing | Refused::Pruned | Refused::MissingBatch | Refused::MissingCheckpoint => {
                Self::NotFound(message)
            }
            Refused::Foreign | Refused::Own | Refused::NotProposer => Self::Forbidden(message),
            Refused::State { status, by, at } => Self::InvalidState { status, by, at },
            Refused::Changed(_) => Self::Changed(message),
            Refused::Invalid(_) => Self::Invalid(message),
            Refused::KeyReused => Self::KeyReused(message),
            Refused::Full(_) => Self::TooMany(message, 60),
            Refused::StaleFence => Self::StaleFence(message),
            Refused::CrossesWorkspaces(_) => Self::InvalidBatch(message),
            Refused::Late => Self::Late(message),
            Refused::Paused => Self::Paused(message),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(refused) => refused.into(),
            StoreError::Closed => Self::Unavailable("the gate is closing; try again".to_owned()),
            failed @ (StoreError::Database(_) | StoreError::Commit(_) | StoreError::Corrupt(_)) => {
                // Other details may name files and SQL: they are for the log.
                tracing::error!(error = %failed, "a request failed");
                let why = match &failed {
                    StoreError::Commit(why) => why.clone(),
                    StoreError::Database(error) => sqlite::Words(error).to_string(),
                    _ => String::new(),
                };
                let why = if sqlite::is_usual(&why) { format!(": {why}") } else { String::new() };
                Self::Unavailable(format!(
                    "the gate's database failed{why}; look before you ask again: it may have been done"
                ))
            }
        }
    }
}

/// Puts what axum itself refuses (an unknown method, a body too large, a query that cannot be read) into the envelope.
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
