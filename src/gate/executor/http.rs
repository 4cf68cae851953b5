//! The `http` executor: POST of the merged input to a fixed URL.

use std::time::Duration;

use super::{OUTPUT_MAX, Ran};
use crate::gate::store::Work;
use crate::net::http::{HttpError, post_bytes};

/// 2xx is done; any other answer is a failure in the tool's own words.
pub(super) async fn run(url: &str, work: &Work, timeout: Duration) -> Ran {
    let headers = [
        ("Content-Type", "application/json".to_owned()),
        ("Idempotency-Key", work.key.clone()),
        ("X-Gate-Fence", work.fence.to_string()),
    ];
    match post_bytes(url, &headers, work.input.as_str().to_owned(), timeout, OUTPUT_MAX).await {
        Ok((status, body)) if (200..300).contains(&status) => Ran::Done(body),
        Ok((status, body)) => Ran::Failed(format!("HTTP {status}: {}", String::from_utf8_lossy(&body))),
        Err(HttpError::NotSent(why)) => Ran::Failed(why),
        Err(lost) => Ran::Lost(lost.to_string()),
    }
}
