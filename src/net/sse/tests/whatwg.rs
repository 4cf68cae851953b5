//! Conformance of the event stream format (WHATWG HTML, 9.2.5 and 9.2.6), each case in chunks of several sizes.
//!
//! Covers the public contract tests of event stream clients, and `retry:`, invalid UTF-8, blocks without data and
//! `Last-Event-ID`.

use futures_util::future::join_all;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;

mod fields;
mod ids;
mod lines;

/// Chunk sizes in bytes. The last is everything at once.
const CUTS: [usize; 4] = [1, 2, 3, usize::MAX];
/// A long idle limit, because a server pauses on a busy machine.
const STEADY: Limits = Limits { idle: Duration::from_mins(1), ..QUICK };
/// The `retry:` of the cases, in milliseconds: between the first wait and the cap.
const ASKED: &str = "30";

#[derive(Clone, Debug)]
struct Case {
    name: &'static str,
    sent: Vec<u8>,
    events: Vec<(String, String, String)>,
    /// `Last-Event-ID` of the next request; by default the last event's id.
    resumes: Option<String>,
    asks: bool,
}

fn on(name: &'static str, sent: impl AsRef<[u8]>) -> Case {
    Case { name, sent: sent.as_ref().to_vec(), events: Vec::new(), resumes: None, asks: false }
}

impl Case {
    fn event(mut self, kind: &str, data: &str, id: &str) -> Self {
        self.events.push((kind.to_owned(), data.to_owned(), id.to_owned()));
        self
    }

    fn message(self, data: &str) -> Self {
        self.event("message", data, "")
    }

    fn messages(self, all: &[&str]) -> Self {
        all.iter().fold(self, |case, data| case.message(data))
    }

    fn resumes(self, id: &str) -> Self {
        Self { resumes: Some(id.to_owned()), ..self }
    }

    fn asks(self) -> Self {
        Self { asks: true, ..self }
    }

    fn last_id(&self) -> &str {
        let of_event = || self.events.last().map_or("", |(.., id)| id.as_str());
        self.resumes.as_deref().unwrap_or_else(of_event)
    }
}

/// Answers the first request with the bytes and the next with 204. Returns their last ids.
async fn serve_once(listener: Arc<TcpListener>, sent: Vec<u8>, cut: usize) -> [String; 2] {
    let (mut first, _) = listener.accept().await.unwrap();
    let before = last_id(&mut first).await;
    let mut reply = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\
          transfer-encoding: chunked\r\n\r\n"
        .to_vec();
    for chunk in sent.chunks(cut) {
        reply.extend(format!("{:x}\r\n", chunk.len()).bytes());
        reply.extend(chunk);
        reply.extend(b"\r\n");
    }
    reply.extend(b"0\r\n\r\n");
    first.write_all(&reply).await.unwrap();
    drop(first);
    let (mut second, _) = listener.accept().await.unwrap();
    let after = last_id(&mut second).await;
    second.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").await.unwrap();
    [before, after]
}

async fn last_id(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    let id = head.lines().find_map(|line| line.strip_prefix("last-event-id: "));
    id.unwrap_or_default().to_owned()
}

/// A server and its only client, because creating a client takes longer than a case.
async fn pair() -> (Arc<TcpListener>, Http) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let http = Http::new(&format!("http://{}", listener.local_addr().unwrap()), None).unwrap();
    (Arc::new(listener), http)
}

async fn holds(case: &Case, cut: usize, (listener, http): &(Arc<TcpListener>, Http)) {
    let server = tokio::spawn(serve_once(Arc::clone(listener), case.sent.clone(), cut));

    let lives = first(live(http.clone(), "/stream".to_owned(), STEADY), usize::MAX).await;

    let name = format!("{}, cut every {cut}: {:?}", case.name, String::from_utf8_lossy(&case.sent));
    let events: Vec<_> = lives
        .iter()
        .filter_map(|live| match live.clone() {
            Live::Event { kind, data, id } => Some((kind, data, id.unwrap_or_default())),
            _ => None,
        })
        .collect();
    assert_eq!(events, case.events, "{name}");
    assert_eq!(server.await.unwrap(), [String::new(), case.last_id().to_owned()], "{name}");
    let [.., Live::Down { why, retry_in }, Live::Stopped { .. }] = lives.as_slice() else {
        panic!("{name}: {lives:?}")
    };
    assert_eq!(why, "the stream ended", "{name}");
    assert_eq!(*retry_in > QUICK.backoff.0, case.asks, "{name}: {retry_in:?}");
}

#[tokio::test]
async fn g28_event_streams_follow_the_standard() {
    let cases = [lines::cases(), fields::cases(), ids::cases()].concat();
    assert!(cases.len() >= 110, "{}", cases.len());

    // Each chunk size has its own server, so they run concurrently.
    join_all(CUTS.map(async |cut| {
        let pair = pair().await;
        for case in &cases {
            holds(case, cut, &pair).await;
        }
    }))
    .await;
}

#[tokio::test]
async fn g28_a_ten_megabyte_event_is_read_if_allowed() {
    for size in [5_000_000, 10_000_000] {
        let (listener, http) = pair().await;
        let sent = format!("data: {}\n\n", "x".repeat(size)).into_bytes();
        let server = tokio::spawn(serve_once(listener, sent, 60_000));
        let limits = Limits { max_event: 16 << 20, ..STEADY };
        let stream = live(http, "/".to_owned(), limits);

        let lives = first(stream, usize::MAX).await;

        assert_eq!(data(&lives).iter().map(|data| data.len()).collect::<Vec<_>>(), [size]);
        server.await.unwrap();
    }
}
