//! Every route of the gate in one table: method, path, required access, handler.
//!
//! Only routes in the table are reachable. The table sets the access, so a handler cannot forget to check it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::handler::Handler;
use axum::http::{Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, get, post};
use tokio_util::task::TaskTracker;
use tower_http::timeout::TimeoutLayer;

use super::auth::{self, Access};
use super::bodies::bounded;
use super::error::{ApiError, envelope};
use super::host_guard::{Door, reject_browsers};
use super::metrics::observe;
use super::routes::{batch, changes, checkpoint, claims, counts, decide, flows, get as one, list, metrics};
use super::routes::{openapi, owner, propose, pull, stream, tools};
use super::state::Gate;
use super::token::Scope;
use crate::fault;

/// Longer than the longest long poll. Covers a stream only until it opens.
const REQUEST: Duration = Duration::from_secs(90);

#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    /// Whether it starts new work, which a draining gate refuses.
    pub(crate) begins: bool,
    handler: MethodRouter<Gate>,
}

pub(crate) fn table() -> Vec<Route> {
    use Access::{AnyToken, Open};
    const READ: Access = Access::Scope(Scope::Read);
    const PROPOSE: Access = Access::Scope(Scope::Propose);
    const DECIDE: Access = Access::Scope(Scope::Decide);
    const ADMIN: Access = Access::Scope(Scope::Admin);
    const EXECUTE: Access = Access::Scope(Scope::Execute);
    vec![
        reads("/api/pending-actions", READ, list::list),
        begins("/api/pending-actions", PROPOSE, propose::propose),
        reads("/api/pending-actions/changes", READ, changes::changes),
        reads("/api/pending-actions/counts", READ, counts::counts),
        reads("/api/pending-actions/events", READ, stream::stream),
        begins("/api/pending-actions/batch/{batch}/approve", DECIDE, batch::approve),
        reads("/api/pending-actions/{id}", READ, one::get),
        reads("/api/pending-actions/{id}/events", READ, one::timeline),
        begins("/api/pending-actions/{id}/approve", DECIDE, decide::approve),
        begins("/api/pending-actions/{id}/reject", DECIDE, decide::reject),
        writes("/api/pending-actions/{id}/take-back", DECIDE, decide::take_back),
        writes("/api/pending-actions/{id}/withdraw", PROPOSE, decide::withdraw),
        begins("/api/pending-actions/{id}/claim", EXECUTE, pull::claim),
        writes("/api/pending-actions/{id}/renew", EXECUTE, pull::renew),
        writes("/api/pending-actions/{id}/result", EXECUTE, pull::result),
        writes("/api/pending-actions/{id}/settle", DECIDE, owner::settle),
        reads("/api/checkpoints", READ, checkpoint::list),
        begins("/api/checkpoints/{id}/approve", DECIDE, checkpoint::approve),
        begins("/api/checkpoints/{id}/reject", DECIDE, checkpoint::reject),
        reads("/api/claims", READ, claims::list),
        writes("/api/claims/{id}", DECIDE, claims::claim),
        writes("/api/claims/{id}/end", DECIDE, claims::end),
        reads("/api/flows", READ, flows::flows),
        writes("/api/gate/pause", ADMIN, owner::pause),
        writes("/api/gate/resume", ADMIN, owner::resume),
        reads("/api/audit", ADMIN, owner::audit),
        reads("/api/audit/head", READ, owner::head),
        reads("/api/people", READ, tools::people),
        reads("/api/tools", READ, tools::tools),
        reads("/api/workspaces", AnyToken, tools::workspaces),
        reads("/healthz", Open, tools::healthz),
        reads("/metrics", READ, metrics::metrics),
        reads("/openapi.json", Open, openapi::openapi),
        reads("/readyz", Open, tools::readyz),
    ]
}

fn reads<H: Handler<T, Gate>, T: 'static>(path: &'static str, access: Access, handler: H) -> Route {
    Route { method: Method::GET, path, access, begins: false, handler: get(handler) }
}

fn writes<H: Handler<T, Gate>, T: 'static>(path: &'static str, access: Access, handler: H) -> Route {
    Route { method: Method::POST, path, access, begins: false, handler: post(handler) }
}

fn begins<H: Handler<T, Gate>, T: 'static>(path: &'static str, access: Access, handler: H) -> Route {
    Route { begins: true, ..writes(path, access, handler) }
}

async fn unless_draining(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    if gate.inner.draining.is_cancelled() {
        return ApiError::stopping().into_response();
    }
    next.run(request).await
}

/// `requests` tracks requests in progress, which stopping waits for.
pub(crate) fn router(gate: Gate, address: SocketAddr, requests: TaskTracker) -> Router {
    let body = usize::try_from(gate.inner.limits.body_bytes).unwrap_or(usize::MAX);
    let door = Door::new(address, &gate.inner.hosts);
    let mut router = Router::new();
    for route in table() {
        let guard = middleware::from_fn_with_state((gate.clone(), route.access), auth::guard);
        let bodies = (Arc::clone(&gate.inner.bodies), gate.inner.limits.body_bytes);
        let mut handler = route.handler.layer(middleware::from_fn_with_state(bodies, bounded));
        if route.begins {
            handler = handler.layer(middleware::from_fn_with_state(gate.clone(), unless_draining));
        }
        router = router.route(route.path, handler.layer(guard));
    }
    router
        .layer(DefaultBodyLimit::max(body))
        .layer(middleware::from_fn(move |request, next: Next| {
            let open = requests.token();
            async move {
                let response = next.run(request).await;
                fault::point("answer.ready");
                drop(open);
                response
            }
        }))
        .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, REQUEST))
        .layer(middleware::map_response(envelope))
        .layer(middleware::from_fn(move |request, next| reject_browsers(door.clone(), request, next)))
        .layer(middleware::from_fn_with_state(gate.inner.metrics.clone(), observe))
        .with_state(gate)
}
