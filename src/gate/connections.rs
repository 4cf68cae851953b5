//! Connections: each must say in time what it wants, and there are only so many at once.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long the head of a request may take, from the first to the last byte, and how long an idle connection is kept for the
/// next one. Longer than clients poll: one that is closed while it is used again costs its client an answer.
const HEAD: Duration = Duration::from_secs(30);
/// How many connections are served at once; beyond, they wait to be accepted.
const AT_ONCE: usize = 4_096;

/// Serves connections until `stopping`; then those that are idle end, and the others when they are answered.
pub(crate) async fn serve<L: Listener>(mut listener: L, router: Router, stopping: CancellationToken) {
    let (places, open) = (Arc::new(Semaphore::new(AT_ONCE)), TaskTracker::new());
    loop {
        let place = tokio::select! {
            () = stopping.cancelled() => break,
            place = Arc::clone(&places).acquire_owned() => place,
        };
        let (stream, _) = tokio::select! {
            () = stopping.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let service = TowerToHyperService::new(router.clone());
        let stopping = stopping.clone();
        open.spawn(async move {
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD);
            let mut connection = std::pin::pin!(http.serve_connection(TokioIo::new(stream), service));
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = stopping.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection broke off");
            }
            drop(place);
        });
    }
    open.close();
    open.wait().await;
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn half_a_head_is_not_waited_for_for_ever() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stopping = CancellationToken::new();
        let served = tokio::spawn(serve(listener, Router::new(), stopping.clone()));
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: ").await.unwrap();

        // The clock is paused: it moves on by itself when nothing else does.
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();

        assert!(!String::from_utf8_lossy(&answer).contains("200"));
        stopping.cancel();
        served.await.unwrap();
    }
}
