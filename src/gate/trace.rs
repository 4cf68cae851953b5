//! Which trace a request belongs to, as its client says. It is passed on, and changes nothing of what is recorded, decided or run.

use axum::http::HeaderMap;

use crate::contract::traceparent;

/// Of several none is believed, nor one that is no such header.
pub(crate) fn of(headers: &HeaderMap) -> Option<String> {
    let mut all = headers.get_all(traceparent::HEADER).iter();
    let (Some(one), None) = (all.next(), all.next()) else { return None };
    one.to_str().ok().filter(|one| traceparent::is_one(one)).map(str::to_owned)
}
