//! `GET /openapi.json`: the API contract. A test compares it with the table of routes and with replies.

use axum::http::StatusCode;
use axum::response::Response;

use super::reply::json;

/// Written by hand.
pub(crate) const DOCUMENT: &str = include_str!("../../../assets/contract/openapi.json");

pub(crate) async fn openapi() -> Response {
    json(StatusCode::OK, DOCUMENT.to_owned())
}
