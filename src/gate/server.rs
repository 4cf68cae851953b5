//! The HTTP server: the router, what stands before every route, and an orderly end.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::http::header::{HOST, ORIGIN};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_http::timeout::TimeoutLayer;

use super::error::{ApiError, envelope};
use super::routes::{batch, changes, decide, get as one, list, propose, pull, stream, tools};
use super::{Gate, GateError, executor, reconcile};

/// How long requests and executors may take to finish after the gate was told to stop.
const GRACE: Duration = Duration::from_secs(10);
/// How long what was told to give up may take to do so.
const LAST: Duration = Duration::from_secs(2);
/// How long connections may take to end once nobody waits for an answer: a client may hold an idle one open for ever.
const GOODBYE: Duration = Duration::from_millis(500);

/// How long a request may take to arrive and be answered; longer than the longest wait. An open stream is an answer.
const REQUEST: Duration = Duration::from_secs(90);

/// Serves until `shutdown`, then finishes what is under way and closes the database.
pub(crate) async fn serve(
    gate: Gate,
    listener: TcpListener,
    shutdown: CancellationToken,
) -> Result<(), GateError> {
    let address = listener.local_addr()?;
    let (stopping, tasks) = (gate.inner.stopping.clone(), gate.inner.tasks.clone());
    let background = [tasks.spawn(reconcile::run(gate.clone())), tasks.spawn(executor::run(gate.clone()))];
    let requests = TaskTracker::new();
    let served = axum::serve(listener, router(gate.clone(), address, requests.clone()))
        .with_graceful_shutdown(stopping.clone().cancelled_owned());
    let mut served = tokio::spawn(served.into_future());
    let early = tokio::select! {
        () = shutdown.cancelled() => None,
        ended = &mut served => Some(ended),
    };
    stopping.cancel();
    tasks.close();
    requests.close();
    let finished = tokio::time::timeout(GRACE, async {
        tasks.wait().await;
        requests.wait().await;
    });
    if finished.await.is_err() {
        tracing::warn!(
            "the gate stops although something still runs; the reconciler takes it up at the next start"
        );
        gate.inner.giving_up.cancel();
        if tokio::time::timeout(LAST, tasks.wait()).await.is_err() {
            tracing::warn!("background work does not end; it is cut off");
        }
    }
    for task in background {
        task.abort();
    }
    if early.is_none() {
        drop(tokio::time::timeout(GOODBYE, &mut served).await);
        served.abort();
    }
    gate.store().close().await;
    match early {
        Some(Ok(Err(error))) => Err(error.into()),
        Some(Err(join)) => Err(std::io::Error::other(join).into()),
        Some(Ok(Ok(()))) | None => Ok(()),
    }
}

fn router(gate: Gate, address: SocketAddr, requests: TaskTracker) -> Router {
    let body = usize::try_from(gate.inner.limits.body_bytes).unwrap_or(usize::MAX);
    Router::new()
        .route("/api/pending-actions", get(list::list).post(propose::propose))
        .route("/api/pending-actions/changes", get(changes::changes))
        .route("/api/pending-actions/events", get(stream::stream))
        .route("/api/pending-actions/batch/{batch}/approve", post(batch::approve))
        .route("/api/pending-actions/{id}", get(one::get))
        .route("/api/pending-actions/{id}/events", get(one::timeline))
        .route("/api/pending-actions/{id}/approve", post(decide::approve))
        .route("/api/pending-actions/{id}/reject", post(decide::reject))
        .route("/api/pending-actions/{id}/withdraw", post(decide::withdraw))
        .route("/api/pending-actions/{id}/claim", post(pull::claim))
        .route("/api/pending-actions/{id}/result", post(pull::result))
        .route("/api/tools", get(tools::tools))
        .route("/api/workspaces", get(tools::workspaces))
        .route("/healthz", get(tools::healthz))
        .route("/readyz", get(tools::readyz))
        .layer(DefaultBodyLimit::max(body))
        .layer(middleware::from_fn(move |request, next: Next| {
            // Held while the request is answered; stopping waits for it.
            let open = requests.token();
            async move {
                let response = next.run(request).await;
                drop(open);
                response
            }
        }))
        .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, REQUEST))
        .layer(middleware::map_response(envelope))
        .layer(middleware::from_fn(move |request, next| no_browsers(address, request, next)))
        .with_state(gate)
}

/// Browsers have no business here: a page must not reach a gate on loopback by a name of its own (DNS rebinding), nor
/// from its own origin. There is no user interface in HTML and there are no cookies.
async fn no_browsers(address: SocketAddr, request: Request, next: Next) -> Response {
    let headers = request.headers();
    if headers.contains_key(ORIGIN) {
        let refused = "requests from web pages are refused; call the gate from a program";
        return ApiError::Forbidden(refused.to_owned()).into_response();
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    if address.ip().is_loopback() && !host.is_some_and(is_loopback) {
        return ApiError::Misdirected.into_response();
    }
    next.run(request).await
}

/// `localhost` or a loopback address, with or without a port.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_loopback_names_are_ours() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:7878", "[::1]:7878", "127.1.2.3"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["evil.example", "evil.example:7878", "localhost.evil.example", "10.0.0.1", "", "::"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
