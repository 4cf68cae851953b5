//! `GET /metrics`: counts of the gate and of the caller's workspace.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};

use crate::gate::auth::Caller;
use crate::gate::error::{ApiError, UNAVAILABLE};
use crate::gate::metrics::as_plain_text;
use crate::gate::state::Gate;

const OPEN_METRICS: &str = "application/openmetrics-text";

/// Returns OpenMetrics if the client accepts it, like Prometheus since version 2.5, else text format 0.0.4.
pub(crate) async fn metrics(
    State(gate): State<Gate>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let census = gate.store().census(&caller.token.workspace).await?;
    let text = gate.inner.metrics.write(&census, gate.inner.streams.in_all(), gate.inner.clock.now());
    let text = text.map_err(|error| ApiError::new(UNAVAILABLE, error.to_string()))?;
    let (kind, text) = if accepts_open_metrics(&headers) {
        (format!("{OPEN_METRICS}; version=1.0.0; charset=utf-8"), text)
    } else {
        ("text/plain; version=0.0.4; charset=utf-8".to_owned(), as_plain_text(&text))
    };
    Ok(([(CONTENT_TYPE, kind)], text).into_response())
}

fn accepts_open_metrics(headers: &HeaderMap) -> bool {
    let all = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let named = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case(OPEN_METRICS));
        let weight = parts.filter_map(|part| part.split_once('=')).find(|(name, _)| name.trim() == "q");
        named && weight.is_none_or(|(_, q)| q.trim().parse::<f32>().is_ok_and(|q| q > 0.0))
    })
}
