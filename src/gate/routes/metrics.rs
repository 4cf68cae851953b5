//! `GET /metrics`: counts of the gate, and of the caller's workspace.

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};

use crate::gate::auth::Caller;
use crate::gate::error::{ApiError, UNAVAILABLE};
use crate::gate::state::Gate;

/// Prometheus has read it since version 2.5, and falls back to it by itself.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(crate) async fn metrics(State(gate): State<Gate>, caller: Caller) -> Result<Response, ApiError> {
    let census = gate.store().census(&caller.token.workspace).await?;
    let text = gate.inner.metrics.write(&census, gate.inner.streams.in_all(), gate.inner.clock.now());
    let text = text.map_err(|error| ApiError::new(UNAVAILABLE, error.to_string()))?;
    Ok(([(CONTENT_TYPE, OPEN_METRICS)], text).into_response())
}
