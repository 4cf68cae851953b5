//! `GET /openapi.json`: the contract, for programs. A test holds it against the table of routes and against real replies.

use axum::http::StatusCode;
use axum::response::Response;

use super::reply::json;

/// Written by hand.
pub(crate) const DOCUMENT: &str = include_str!("../../../assets/contract/openapi.json");

pub(crate) async fn openapi() -> Response {
    json(StatusCode::OK, DOCUMENT.to_owned())
}
