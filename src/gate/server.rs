//! The HTTP server and its graceful shutdown.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::error::GateError;
use super::router::router;
use super::state::{Gate, Stop};
use super::{callbacks, connections, executor, heartbeat, reconcile};

/// Limit for requests after runs have ended.
const GRACE: Duration = Duration::from_secs(10);
/// Limit after an immediate stop was requested.
const LAST: Duration = Duration::from_secs(2);
/// Limit for closing connections, because a client may hold an idle one open.
const GOODBYE: Duration = Duration::from_millis(500);

impl Gate {
    /// Serves until told to stop. Then drains: starts nothing new and waits for runs, at most `gate.stop_seconds`. Then
    /// streams end, requests get 10 seconds, and the database closes for all clones. Commands continue under their
    /// supervisors, and the next gate picks up their results.
    pub async fn serve(self, listener: TcpListener, stop: impl Into<Stop>) -> Result<(), GateError> {
        serve(self, listener, stop.into()).await
    }
}

async fn serve(gate: Gate, listener: TcpListener, stop: Stop) -> Result<(), GateError> {
    let address = listener.local_addr()?;
    let (stopping, tasks) = (gate.inner.stopping.clone(), gate.inner.tasks.clone());
    let reconciler = tasks.spawn(reconcile::run(gate.clone()));
    let mut dispatcher = tasks.spawn(executor::run(gate.clone()));
    let heartbeat = tasks.spawn(heartbeat::run(gate.clone(), address));
    tasks.spawn(callbacks::run(gate.clone()));
    let requests = TaskTracker::new();
    let router = router(gate.clone(), address, requests.clone());
    let (accepting, inner) = (stopping.clone(), Arc::clone(&gate.inner));
    let mut served = tokio::spawn(async move {
        connections::serve(listener, inner.tls.clone(), &inner.trusted_proxies, router, accepting).await;
    });
    let early = tokio::select! {
        () = stop.soon.cancelled() => None,
        () = stop.now.cancelled() => None,
        ended = &mut served => Some(ended),
    };
    drain(&gate, &mut dispatcher, &stop.now).await;
    stopping.cancel();
    tasks.close();
    requests.close();
    let ended = async {
        gate.inner.under_way.wait().await;
        tasks.wait().await;
        requests.wait().await;
    };
    tokio::select! {
        () = ended => {}
        () = tokio::time::sleep(GRACE) => tracing::warn!("the gate stops although not everything was answered"),
        () = last(&stop.now) => tracing::warn!("the gate was told to stop at once"),
    }
    heartbeat.abort();
    reconciler.abort();
    dispatcher.abort();
    if early.is_none() {
        drop(tokio::time::timeout(GOODBYE, &mut served).await);
        served.abort();
    }
    gate.store().close().await;
    match early {
        Some(Err(join)) => Err(std::io::Error::other(join).into()),
        Some(Ok(())) | None => Ok(()),
    }
}

/// Starts nothing new, and waits for runs until the limit or an immediate stop. The next gate picks up the rest if
/// it can.
async fn drain(gate: &Gate, dispatcher: &mut JoinHandle<()>, now: &CancellationToken) {
    let inner = &gate.inner;
    inner.draining.cancel();
    inner.under_way.close();
    let ended = async {
        drop(dispatcher.await);
        if !inner.under_way.is_empty() {
            tracing::info!(
                runs = inner.under_way.len(),
                "the gate drains: it waits for what runs, and begins nothing new"
            );
        }
        inner.under_way.wait().await;
    };
    tokio::select! {
        () = ended => {}
        () = tokio::time::sleep(inner.stop_within) => {}
        () = now.cancelled() => {}
    }
    if !inner.under_way.is_empty() {
        tracing::warn!(runs = inner.under_way.len(), "the gate stops although something still runs");
    }
    inner.giving_up.cancel();
}

async fn last(now: &CancellationToken) {
    now.cancelled().await;
    tokio::time::sleep(LAST).await;
}
