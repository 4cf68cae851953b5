//! The trace of a request, as its client sent it. Does not affect actions.

use axum::http::HeaderMap;

use crate::contract::traceparent;

/// Returns `None` if the header is repeated or malformed.
pub(crate) fn of(headers: &HeaderMap) -> Option<String> {
    let mut all = headers.get_all(traceparent::HEADER).iter();
    let (Some(one), None) = (all.next(), all.next()) else { return None };
    one.to_str().ok().filter(|one| traceparent::is_one(one)).map(str::to_owned)
}
