use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use bytes::Bytes;
use tokio::sync::mpsc;

use super::*;
use crate::net::Bearer;
use crate::net::testing::{bearer, nobody, serve};

mod hostile;
mod raw;
mod whatwg;

const QUICK: Limits = Limits {
    idle: Duration::from_secs(2),
    pulse: None,
    backoff: (Duration::from_millis(2), Duration::from_millis(40)),
    healthy: Duration::from_mins(1),
    max_event: 4_096,
};

#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    last_id: Option<String>,
    token: Option<String>,
}

#[derive(Clone, Default)]
struct Server {
    seen: Arc<Mutex<Vec<Seen>>>,
    elsewhere: String,
    dropped: Option<mpsc::Sender<()>>,
}

impl Server {
    async fn start(self) -> String {
        serve(Router::new().route("/{case}", get(answer)).with_state(self)).await
    }

    fn last_ids(&self) -> Vec<Option<String>> {
        self.seen.lock().unwrap().iter().map(|seen| seen.last_id.clone()).collect()
    }
}

async fn answer(State(server): State<Server>, Path(case): Path<String>, headers: HeaderMap) -> Response {
    let text = |name: &str| Some(String::from_utf8(headers.get(name)?.as_bytes().to_vec()).unwrap());
    let nth = {
        let mut seen = server.seen.lock().unwrap();
        seen.push(Seen { last_id: text("last-event-id"), token: text("authorization") });
        seen.len()
    };
    match case.as_str() {
        "ids" if nth == 1 => events(&[b"id: 41\ndata: a\n\n"]),
        "odd-id" if nth == 1 => events(&["id: é\ndata: a\n\n".as_bytes()]),
        "ids" | "odd-id" => events(&[b"event: tick\ndata: 1\n\n"]),
        "unknown" => events(&[b"foo: bar\n\n", b"data: after\n\n"]),
        "bom" => events(&[b"\xEF", b"\xBB\xBFdata: a\n\n"]),
        "utf8" => events(&[b"data: 1\n\ndata: \xFF\xC3", b"\x28\n\n", b"data: 3\n\n"]),
        "retry" => events(&[b"retry: 18446744073709551615\ndata: a\n\n"]),
        "big-line" => hanging(&[b"data: ", &[b'x'; 4_096], b"y"], server.dropped),
        "big-event" => hanging(&[&b"data: x\n".repeat(1_000)], server.dropped),
        "silent" => std::future::pending().await,
        "goes-silent" => hanging(&[b": hello\n\ndata: a\n\n"], server.dropped),
        "html" => ([("content-type", "text/html")], "data: a\n\n").into_response(),
        "busy" => (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "7")]).into_response(),
        "guarded" if text("authorization").as_deref() != Some("Bearer new") => {
            StatusCode::UNAUTHORIZED.into_response()
        }
        "guarded" => hanging(&[b"data: a\n\n"], None),
        "moved" => Redirect::permanent(&server.elsewhere).into_response(),
        "see-other" => Redirect::to(&server.elsewhere).into_response(),
        status => StatusCode::from_u16(status.parse().unwrap()).unwrap().into_response(),
    }
}

fn events(chunks: &[&[u8]]) -> Response {
    reply(stream::iter(copied(chunks)))
}

fn hanging(chunks: &[&[u8]], dropped: Option<mpsc::Sender<()>>) -> Response {
    let guard = dropped.map(OnDrop);
    let silence = stream::once(async move {
        let _guard = guard;
        std::future::pending().await
    });
    reply(stream::iter(copied(chunks)).chain(silence))
}

fn copied(chunks: &[&[u8]]) -> Vec<Bytes> {
    chunks.iter().map(|chunk| Bytes::copy_from_slice(chunk)).collect()
}

fn reply(chunks: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let body = chunks.then(async |chunk| {
        tokio::task::yield_now().await;
        Ok::<_, Infallible>(chunk)
    });
    ([("content-type", "Text/Event-Stream; charset=utf-8")], Body::from_stream(body)).into_response()
}

struct OnDrop(mpsc::Sender<()>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        let _ = self.0.try_send(());
    }
}

fn open(url: &str, case: &str, bearer: Option<Bearer>) -> BoxStream<'static, Live> {
    live(Http::new(url, bearer).unwrap(), format!("/{case}"), QUICK).boxed()
}

async fn first(stream: impl Stream<Item = Live>, count: usize) -> Vec<Live> {
    let all = stream.take(count).collect();
    tokio::time::timeout(Duration::from_mins(1), all).await.expect("the stream must come so far")
}

async fn run(case: &str, count: usize) -> (Vec<Live>, Server) {
    let server = Server::default();
    let url = server.clone().start().await;
    (first(open(&url, case, Some(bearer(&["t"]))), count).await, server)
}

fn data(lives: &[Live]) -> Vec<&str> {
    lives
        .iter()
        .filter_map(|live| match live {
            Live::Event { data, .. } => Some(data.as_str()),
            _ => None,
        })
        .collect()
}

fn down(live: &Live, why: &str) -> bool {
    matches!(live, Live::Down { why: said, .. } if said.contains(why))
}

#[tokio::test]
async fn final_answers_end_the_stream_after_one_request() {
    for case in ["204", "401", "403", "404", "410"] {
        let (lives, server) = run(case, 9).await;

        let why = format!("the server answered {case}");
        let refused = matches!(case, "401" | "403");
        assert_eq!(lives, [if refused { Live::Refused { why } } else { Live::Stopped { why } }]);
        assert_eq!(server.last_ids().len(), 1, "{case}");
    }
}

#[tokio::test]
async fn a_redirect_ends_the_stream() {
    for case in ["moved", "see-other"] {
        let other = Server::default();
        let elsewhere = format!("{}/ids", other.clone().start().await);
        let server = Server { elsewhere, ..Server::default() };

        let lives = first(open(&server.start().await, case, Some(bearer(&["t"]))), 9).await;

        assert!(matches!(lives.as_slice(), [Live::Stopped { .. }]), "{lives:?}");
        assert!(other.last_ids().is_empty(), "{case}");
    }
}

#[tokio::test]
async fn a_new_token_is_tried_once() {
    let server = Server::default();
    let url = server.clone().start().await;

    let lives = first(open(&url, "guarded", Some(bearer(&["old", "new"]))), 2).await;
    let refused = first(open(&url, "guarded", Some(bearer(&["old", "older", "oldest"]))), 9).await;

    assert_eq!((lives[0].clone(), data(&lives)), (Live::Up, vec!["a"]));
    assert!(matches!(refused.as_slice(), [Live::Refused { .. }]), "{refused:?}");
    let tokens: Vec<_> = server.seen.lock().unwrap().iter().map(|seen| seen.token.clone().unwrap()).collect();
    assert_eq!(tokens, ["Bearer old", "Bearer new", "Bearer old", "Bearer older"]);
    let (html, _) = run("html", 2).await;
    assert!(html.iter().all(|live| down(live, "text/event-stream")), "{html:?}");
}

#[tokio::test]
async fn the_last_id_survives_reconnects() {
    let (_, server) = run("ids", 12).await;
    let (_, odd) = run("odd-id", 6).await;

    let ids = server.last_ids();
    assert!(ids.len() >= 4, "{ids:?}");
    assert_eq!(ids[0], None);
    assert!(ids[1..].iter().all(|id| id.as_deref() == Some("41")), "{ids:?}");
    assert_eq!(odd.last_ids()[1].as_deref(), Some("é"));
}

#[tokio::test]
async fn invalid_bytes_lose_no_event() {
    let (utf8, server) = run("utf8", 4).await;
    let (bom, _) = run("bom", 2).await;
    let (unknown, _) = run("unknown", 2).await;

    assert_eq!(data(&utf8), ["1", "\u{fffd}\u{fffd}(", "3"]);
    assert_eq!(server.last_ids().len(), 1);
    assert_eq!(data(&bom), ["a"]);
    assert_eq!(data(&unknown), ["after"]);
}

#[tokio::test]
async fn an_endless_event_is_cut() {
    for case in ["big-line", "big-event"] {
        let (lives, _) = run(case, 2).await;

        assert_eq!(lives[0], Live::Up);
        assert!(down(&lives[1], "larger than 4096 bytes"), "{lives:?}");
    }
}

#[tokio::test]
async fn silence_is_detected_before_and_after_the_first_byte() {
    let (before, _) = run("silent", 1).await;
    let (after, _) = run("goes-silent", 4).await;

    assert!(down(&before[0], "nothing came for 2s"), "{before:?}");
    assert_eq!((after[1].clone(), data(&after)), (Live::Ping, vec!["a"]));
    assert!(down(&after[3], "nothing came for 2s"), "{after:?}");
}

#[tokio::test]
async fn a_requested_wait_is_clamped() {
    let (retry, server) = run("retry", 7).await;
    let (busy, _) = run("busy", 1).await;

    assert!(server.last_ids().len() >= 2, "{retry:?}");
    assert!(matches!(busy[0], Live::Down { retry_in, .. } if retry_in.as_secs() == 7), "{busy:?}");
}

#[tokio::test]
async fn a_server_that_keeps_closing_is_retried_less_often() {
    let (lives, _) = run("ids", 30).await;

    let longest = lives.iter().filter_map(|live| match live {
        Live::Down { retry_in, .. } => Some(*retry_in),
        _ => None,
    });
    assert!(longest.max().unwrap() > QUICK.backoff.0, "{lives:?}");
}

#[tokio::test]
async fn each_refused_connection_is_reported() {
    let lives = first(open(&nobody().await, "ids", None), 3).await;

    assert!(lives.iter().all(|live| matches!(live, Live::Down { .. })), "{lives:?}");
}

#[tokio::test]
async fn a_dropped_stream_closes_its_connection() {
    let (dropped, mut closed) = mpsc::channel(1);
    let server = Server { dropped: Some(dropped), ..Server::default() };
    let mut stream = live(
        Http::new(&server.start().await, None).unwrap(),
        "/goes-silent".to_owned(),
        Limits { idle: Duration::from_mins(1), ..QUICK },
    )
    .boxed();
    assert_eq!(stream.next().await, Some(Live::Up));

    drop(stream);

    let gone = tokio::time::timeout(Duration::from_mins(1), closed.recv()).await;
    assert_eq!(gone, Ok(Some(())));
}

#[tokio::test]
async fn a_broken_stream_continues_at_the_next_address() {
    let (first_one, second) = (Server::default(), Server::default());
    let urls = [first_one.clone().start().await, second.clone().start().await];
    let way = crate::net::http::Way { more: &urls[1..], ..crate::net::http::Way::default() };
    let http = Http::by(&urls[0], None, way).unwrap();

    let lives = first(live(http, "/ids".to_owned(), QUICK), 4).await;

    assert_eq!((&lives[0], &lives[3]), (&Live::Up, &Live::Up), "{lives:?}");
    assert!(down(&lives[2], "ended"), "{lives:?}");
    let ids = [first_one.last_ids(), second.last_ids()];
    assert_eq!(ids, [vec![None], vec![Some("41".to_owned())]], "it sends its last id");
}

#[tokio::test]
async fn a_retry_after_applies_only_to_its_address() {
    let (busy, there) = (Server::default(), Server::default());
    let busy = format!("{}/busy", busy.start().await);
    let urls = [busy, there.start().await];
    let way = crate::net::http::Way { more: &urls[1..], ..crate::net::http::Way::default() };
    let http = Http::by(&urls[0], None, way).unwrap();

    let lives = first(live(http, String::new(), QUICK), 1).await;

    assert!(
        matches!(&lives[0], Live::Down { retry_in, .. } if *retry_in < Duration::from_secs(1)),
        "{lives:?}"
    );
}
