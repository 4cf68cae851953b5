//! The `http` executor: posts the merged input to a fixed URL.

use std::time::Duration;

use super::attempt::Attempt;
use crate::contract::traceparent;
use crate::gate::store::Work;
use crate::net::http::HttpError;
use crate::net::post::Targets;
use crate::net::url;
use crate::program::supervisor::OUTPUT_MAX;

/// 2xx is success. For 408 and 5xx, which a proxy may send or which may follow the write, and for 301 to 303, which may
/// answer an accepted write, the outcome is unknown. Other statuses are failures with the response as error.
pub(super) async fn run(targets: &Targets, address: &str, work: &Work, timeout: Duration) -> Attempt {
    let mut headers = vec![
        ("Content-Type", "application/json".to_owned()),
        ("Idempotency-Key", work.key.clone()),
        ("X-Gate-Fence", work.fence.to_string()),
        // Tools configured by a pattern share a URL.
        ("X-Gate-Tool", url::encode(&work.tool)),
    ];
    headers.extend(work.traceparent.clone().map(|trace| (traceparent::HEADER, trace)));
    match targets.post(address, &headers, work.input.as_str().to_owned(), timeout, OUTPUT_MAX).await {
        Ok((status, body)) if (200..300).contains(&status) => Attempt::Done(body),
        Ok((status, body)) => {
            let why = format!("HTTP {status}: {}", String::from_utf8_lossy(&body));
            if matches!(status, 301..=303 | 408 | 500..) { Attempt::Lost(why) } else { Attempt::Failed(why) }
        }
        Err(HttpError::NotSent(why)) => Attempt::Failed(format!("not sent: {why}")),
        Err(lost) => Attempt::Lost(lost.to_string()),
    }
}
