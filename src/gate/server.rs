//! The HTTP server, and its orderly end.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::router::router;
use super::{Gate, GateError, connections, executor, reconcile};

/// How long requests and executors may take to finish after the gate was told to stop.
const GRACE: Duration = Duration::from_secs(10);
/// How long what was told to give up may take to do so.
const LAST: Duration = Duration::from_secs(2);
/// How long connections may take to end once nobody waits for an answer: a client may hold an idle one open for ever.
const GOODBYE: Duration = Duration::from_millis(500);

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
    let router = router(gate.clone(), address, requests.clone());
    let (accepting, inner) = (stopping.clone(), Arc::clone(&gate.inner));
    let mut served = tokio::spawn(async move {
        connections::serve(listener, inner.tls.clone(), &inner.trusted_proxies, router, accepting).await;
    });
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
        Some(Err(join)) => Err(std::io::Error::other(join).into()),
        Some(Ok(())) | None => Ok(()),
    }
}
