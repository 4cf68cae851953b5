//! Accepts connections, with a time limit for the first request and limits per client.
//!
//! A connection is half-open until the head of its first request is complete, TLS handshake included. One over a limit
//! closes the oldest half-open one of the client that has most; accepting never waits.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::proxy::FromProxy;
use super::tls::{self, Tls};
use crate::config::Network;

/// Limit from accepting a connection to the end of its first head, TLS handshake included.
const HEAD: Duration = Duration::from_secs(5);
/// Longer than the poll interval of clients: closing a connection while it is reused loses an answer.
const IDLE: Duration = Duration::from_secs(30);
/// Limit for a client to read sent bytes.
const UNREAD: Duration = Duration::from_secs(30);
const HALF_OPEN_EACH: usize = 128;
const HALF_OPEN: usize = 1_024;
/// Maximum number of connections that have sent a request. Over it, the oldest close after their answer.
const SERVED: usize = 4_096;
/// Pause after a failed accept.
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Clone)]
struct Shared {
    router: Router,
    tls: Option<Tls>,
    half_open: Crowd,
    served: Crowd,
    /// Children are cancelled to end one connection after its current answer.
    stopping: CancellationToken,
}

/// Serves until `stopping`. Idle connections then end at once, others after their answer.
pub(super) async fn serve(
    listener: TcpListener,
    tls: Option<Tls>,
    trusted: &[Network],
    router: Router,
    stopping: CancellationToken,
) {
    let files = open_files();
    let shared = Shared {
        router,
        tls,
        half_open: Crowd::of(HALF_OPEN_EACH, HALF_OPEN.min(files / 4)),
        served: Crowd::of(usize::MAX, SERVED.min(files / 2)),
        stopping: stopping.clone(),
    };
    let open = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = stopping.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let client = Client::of(peer, trusted);
                // Before the task starts: in a flood, most connections are closed without any work.
                let half_open = shared.half_open.enter(client);
                drop(open.spawn(connection(shared.clone(), stream, half_open)));
            }
            Err(error) if is_of_one_client(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                sleep(PAUSE).await;
            }
        }
    }
    open.close();
    open.wait().await;
}

fn is_of_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Returns the file descriptor limit of this process. Each connection takes one.
fn open_files() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX)
}

async fn connection(shared: Shared, stream: TcpStream, (half_open, crowded_out): (Slot, CancellationToken)) {
    if crowded_out.is_cancelled() {
        return;
    }
    prepare(&stream);
    let (heard, leave) = (CancellationToken::new(), shared.stopping.child_token());
    let from_proxy = FromProxy(half_open.client.trusted);
    let mut talk = std::pin::pin!(talk(&shared, from_proxy, Progressing::new(stream), &heard, &leave));
    tokio::select! {
        () = &mut talk => return,
        () = heard.cancelled() => {}
        () = crowded_out.cancelled() => return,
        () = sleep(HEAD) => return,
    }
    let (_served, crowded_out) = shared.served.enter(half_open.client);
    drop(half_open);
    tokio::select! {
        () = &mut talk => return,
        () = crowded_out.cancelled() => leave.cancel(),
    }
    talk.await;
}

/// Disables Nagle's algorithm, so that answers in two parts are not delayed. Sets a timeout for unread bytes, which
/// applies even while the send buffer has room.
fn prepare(stream: &TcpStream) {
    stream.set_nodelay(true).ok();
    #[cfg(target_os = "linux")]
    rustix::net::sockopt::set_tcp_user_timeout(stream, UNREAD.as_millis() as u32).ok();
}

/// Cancels `heard` at the first complete head.
async fn talk(
    shared: &Shared,
    from_proxy: FromProxy,
    stream: Progressing<TcpStream>,
    heard: &CancellationToken,
    leave: &CancellationToken,
) {
    let Some(tls) = &shared.tls else {
        return exchange(&shared.router, from_proxy, stream, heard, leave).await;
    };
    let shaken = tokio::select! {
        () = leave.cancelled() => return,
        shaken = tls::shake(tls, stream) => shaken,
    };
    match shaken {
        Ok(stream) => exchange(&shared.router, from_proxy, stream, heard, leave).await,
        Err(error) => tracing::debug!(%error, "a TLS handshake failed"),
    }
}

async fn exchange<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    router: &Router,
    from_proxy: FromProxy,
    stream: S,
    heard: &CancellationToken,
    leave: &CancellationToken,
) {
    let router = TowerToHyperService::new(router.clone());
    let heard = heard.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        heard.cancel();
        request.extensions_mut().insert(from_proxy);
        router.call(request)
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(IDLE);
    let mut connection = std::pin::pin!(http.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = leave.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}

/// One address, or one /64 network for IPv6 because a customer has all of its addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Client {
    address: IpAddr,
    /// A trusted proxy, in front of many clients.
    trusted: bool,
}

impl Client {
    fn of(peer: SocketAddr, trusted: &[Network]) -> Self {
        let address = peer.ip().to_canonical();
        let trusted = trusted.iter().any(|network| network.contains(address));
        let address = match address {
            IpAddr::V6(address) if !trusted => {
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)))
            }
            address => address,
        };
        Self { address, trusted }
    }
}

/// Connections in one state, by client.
#[derive(Debug, Clone)]
struct Crowd {
    each: usize,
    all: usize,
    members: Arc<Mutex<Members>>,
}

#[derive(Debug, Default)]
struct Members {
    /// In the order of arrival.
    by_client: HashMap<Client, BTreeMap<u64, CancellationToken>>,
    count: usize,
    last: u64,
}

#[derive(Debug)]
struct Slot {
    crowd: Crowd,
    client: Client,
    number: u64,
}

impl Crowd {
    fn of(each: usize, all: usize) -> Self {
        Self { each, all, members: Arc::default() }
    }

    /// Adds a connection. The token is cancelled when it is evicted.
    fn enter(&self, client: Client) -> (Slot, CancellationToken) {
        let token = CancellationToken::new();
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        members.last += 1;
        members.count += 1;
        let number = members.last;
        let own = members.by_client.entry(client).or_default();
        own.insert(number, token.clone());
        if own.len() > self.each && !client.trusted {
            members.close_oldest_of(client);
        } else if members.count > self.all
            && let Some(fullest) = members.fullest()
        {
            members.close_oldest_of(fullest);
        }
        (Slot { crowd: self.clone(), client, number }, token)
    }
}

impl Members {
    /// Returns the client with most connections, or among equals the one with the oldest. Trusted proxies come last.
    fn fullest(&self) -> Option<Client> {
        let oldest = |own: &BTreeMap<u64, _>| own.keys().next().map(|number| std::cmp::Reverse(*number));
        let fullest =
            self.by_client.iter().max_by_key(|(client, own)| (!client.trusted, own.len(), oldest(own)));
        fullest.map(|(client, _)| *client)
    }

    fn close_oldest_of(&mut self, client: Client) {
        let oldest = self.by_client.get(&client).and_then(|own| own.keys().next().copied());
        if let Some(token) = oldest.and_then(|number| self.leave(client, number)) {
            token.cancel();
        }
    }

    fn leave(&mut self, client: Client, number: u64) -> Option<CancellationToken> {
        let own = self.by_client.get_mut(&client)?;
        let left = own.remove(&number)?;
        if own.is_empty() {
            self.by_client.remove(&client);
        }
        self.count -= 1;
        Some(left)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut members = self.crowd.members.lock().unwrap_or_else(PoisonError::into_inner);
        members.leave(self.client, self.number);
    }
}

/// A stream whose writes fail after `UNREAD` without progress.
struct Progressing<S> {
    stream: S,
    /// Set while a write waits.
    limit: Option<Pin<Box<Sleep>>>,
}

impl<S> Progressing<S> {
    fn new(stream: S) -> Self {
        Self { stream, limit: None }
    }

    fn in_time(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.limit = None;
            return written;
        }
        let limit = self.limit.get_or_insert_with(|| Box::pin(sleep(UNREAD)));
        ready!(limit.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Progressing<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Progressing<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.in_time(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.in_time(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::time::{Instant, timeout};

    use super::*;

    fn client(text: &str) -> Client {
        Client { address: text.parse().unwrap(), trusted: false }
    }

    fn out(tokens: &[(Slot, CancellationToken)]) -> Vec<usize> {
        (0..tokens.len()).filter(|n| tokens[*n].1.is_cancelled()).collect()
    }

    #[test]
    fn client_over_its_limit_loses_its_oldest() {
        let crowd = Crowd::of(2, 10);
        let other = crowd.enter(client("10.0.0.1"));
        let many: Vec<_> = (0..5).map(|_| crowd.enter(client("10.0.0.2"))).collect();

        assert_eq!(out(&many), [0, 1, 2]);
        assert!(!other.1.is_cancelled());
        assert_eq!(crowd.members.lock().unwrap().count, 3);
        drop(many);
        drop(other);
        assert_eq!(crowd.members.lock().unwrap().count, 0);
        assert!(crowd.members.lock().unwrap().by_client.is_empty());
    }

    #[test]
    fn client_with_most_connections_loses_at_the_total_limit() {
        let crowd = Crowd::of(10, 5);
        let few: Vec<_> = (0..2).map(|_| crowd.enter(client("10.0.0.1"))).collect();
        let many: Vec<_> = (0..3).map(|_| crowd.enter(client("10.0.0.2"))).collect();
        let new = crowd.enter(client("10.0.0.3"));
        let newer = crowd.enter(client("10.0.0.4"));

        assert_eq!((out(&few), out(&many)), (vec![0], vec![0]));
        assert!(!new.1.is_cancelled() && !newer.1.is_cancelled());
    }

    #[test]
    fn trusted_proxy_has_no_limit_per_client() {
        let crowd = Crowd::of(2, 5);
        let proxy = Client { trusted: true, ..client("10.0.0.9") };
        let proxied: Vec<_> = (0..4).map(|_| crowd.enter(proxy)).collect();
        let stranger: Vec<_> = (0..2).map(|_| crowd.enter(client("10.0.0.1"))).collect();

        assert_eq!((out(&proxied), out(&stranger)), (vec![], vec![0]));
    }

    #[test]
    fn ipv6_clients_are_networks() {
        let trusted = ["2001:db8::/32".parse().unwrap()];
        let of = |text: &str| Client::of(text.parse().unwrap(), &trusted);

        assert_eq!(of("[2001:db9::1]:5"), of("[2001:db9::ffff:2]:6"));
        assert_ne!(of("[2001:db9::1]:5"), of("[2001:db9:0:1::1]:5"));
        assert_eq!(of("[::ffff:10.0.0.1]:5"), of("10.0.0.1:6"));
        assert!(of("[2001:db8::1]:5").trusted && !of("10.0.0.1:5").trusted);
    }

    async fn served() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(|| async { "here" }));
        tokio::spawn(async move { serve(listener, None, &[], router, CancellationToken::new()).await });
        address
    }

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

    async fn ask(stream: &mut TcpStream) -> bool {
        stream.write_all(REQUEST).await.unwrap();
        let mut said = [0; 1_024];
        let count = stream.read(&mut said).await.unwrap();
        String::from_utf8_lossy(&said[..count]).starts_with("HTTP/1.1 200")
    }

    #[tokio::test(start_paused = true)]
    async fn half_sent_head_and_idle_connection_time_out() {
        let address = served().await;
        let mut half = TcpStream::connect(address).await.unwrap();
        half.write_all(b"GET / HTTP/1.1\r\nHost: ").await.unwrap();
        let mut idle = TcpStream::connect(address).await.unwrap();
        assert!(ask(&mut idle).await);
        let begun = Instant::now();

        // The paused clock advances when all tasks are idle.
        half.read_to_end(&mut Vec::new()).await.unwrap();
        let half = begun.elapsed();
        idle.read_to_end(&mut Vec::new()).await.unwrap();

        assert!((4..=6).contains(&half.as_secs()), "{half:?}");
        assert!((29..=31).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    }

    #[tokio::test]
    async fn half_open_connections_leave_room_for_a_request() {
        let address = served().await;
        let mut half = Vec::new();
        for _ in 0..HALF_OPEN_EACH + 20 {
            half.push(TcpStream::connect(address).await.unwrap());
        }

        let mut first = half.remove(0);
        let closed = timeout(Duration::from_secs(20), first.read(&mut [0])).await.unwrap();
        let mut last = half.pop().unwrap();

        assert!(matches!(closed, Ok(0) | Err(_)), "{closed:?}");
        assert!(ask(&mut last).await);
    }

    #[tokio::test(start_paused = true)]
    async fn unread_bytes_break_the_connection() {
        let (server, mut peer) = duplex(10);
        let mut stream = Progressing::new(server);
        stream.write_all(b"0123456789").await.unwrap();
        let begun = Instant::now();

        let stuck = stream.write_all(b"more").await;
        let took = begun.elapsed();
        peer.read_exact(&mut [0; 10]).await.unwrap();

        assert_eq!(stuck.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(took >= UNREAD && took < UNREAD + HEAD, "{took:?}");
        let (server, _peer) = duplex(1);
        let mut slow = Progressing::new(server);
        assert!(timeout(UNREAD / 2, slow.write_all(b"xy")).await.is_err());
    }
}
