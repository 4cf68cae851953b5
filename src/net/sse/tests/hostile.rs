//! Hostile and broken servers are reported and bounded.

use std::sync::atomic::Ordering;

use super::raw::{OK, Then, ok, serve_raw, sockets_hold};
use super::*;

#[derive(Clone, Copy, Debug)]
enum End {
    /// Lost with this message, and retried.
    Down(&'static str),
    Stopped,
    Refused,
}

struct Hostile {
    name: &'static str,
    says: Vec<u8>,
    then: Then,
    data: &'static [&'static str],
    end: End,
}

fn status(line: &str) -> Vec<u8> {
    format!("HTTP/1.1 {line}\r\ncontent-length: 0\r\n\r\n").into_bytes()
}

fn typed(content_type: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{content_type}\r\n\r\ndata: fake\n\n").into_bytes()
}

fn on(
    name: &'static str,
    says: impl Into<Vec<u8>>,
    then: Then,
    data: &'static [&'static str],
    end: End,
) -> Hostile {
    Hostile { name, says: says.into(), then, data, end }
}

fn statuses() -> Vec<Hostile> {
    let closed = |name, line: &str, end| on(name, status(line), Then::Close, &[], end);
    let moved = |name, line: &str| {
        let says = format!("HTTP/1.1 {line}\r\ncontent-length: 0\r\n\r\n");
        on(name, says, Then::Close, &[], End::Stopped)
    };
    vec![
        closed("204", "204 No Content", End::Stopped),
        closed("401", "401 Unauthorized", End::Refused),
        closed("403", "403 Forbidden", End::Refused),
        closed("404", "404 Not Found", End::Stopped),
        closed("410", "410 Gone", End::Stopped),
        closed("201", "201 Created", End::Down("answered 201")),
        closed("206", "206 Partial Content", End::Down("answered 206")),
        closed("400", "400 Bad Request", End::Down("answered 400")),
        closed("408", "408 Request Timeout", End::Down("answered 408")),
        closed("429", "429 Too Many Requests", End::Down("answered 429")),
        closed("500", "500 Oops", End::Down("answered 500")),
        closed("502", "502 Bad Gateway", End::Down("answered 502")),
        closed("503", "503 Service Unavailable", End::Down("answered 503")),
        closed("599", "599 ???", End::Down("answered 599")),
        moved("301 without a place", "301 Moved"),
        moved("302 with an empty place", "302 Found\r\nlocation:"),
        moved("307 to here", "307 Moved\r\nlocation: /"),
        moved("308 to another scheme", "308 Moved\r\nlocation: file:///etc/passwd"),
        moved("303 to nonsense", "303 Other\r\nlocation: \u{fffd}\u{fffd}"),
        moved("304", "304 Not Modified"),
        moved("300", "300 Choices"),
    ]
}

fn contents() -> Vec<Hostile> {
    let not = |name, content_type: &str| {
        on(name, typed(content_type), Then::Close, &[], End::Down("not answer with text/event-stream"))
    };
    let ended = End::Down("the stream ended");
    vec![
        not("a login page", "content-type: text/html; charset=utf-8"),
        not("JSON", "content-type: application/json"),
        not("plain text", "content-type: text/plain"),
        not("no type", "x-nothing: 1"),
        not("an empty type", "content-type:"),
        not("a longer type", "content-type: text/event-streams"),
        not("the type as a parameter", "content-type: text/html; x=text/event-stream"),
        not("the right type second", "content-type: text/html\r\ncontent-type: text/event-stream"),
        on(
            "compressed",
            ok("content-encoding: gzip\r\n", b"\x1f\x8b\x08"),
            Then::Hold,
            &[],
            End::Down("compressed"),
        ),
        on(
            "compressed twice",
            ok("content-encoding: br, gzip\r\n", ""),
            Then::Hold,
            &[],
            End::Down("compressed"),
        ),
        on("HTTP/1.0", ok("", "data: a\n\n").as_slice().to_vec(), Then::Close, &["a"], ended),
        on(
            "an older HTTP",
            b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\n".to_vec(),
            Then::Close,
            &["a"],
            ended,
        ),
        on(
            "more than it said",
            ok("content-length: 9\r\n", "data: a\n\ndata: b\n\n"),
            Then::Close,
            &["a"],
            ended,
        ),
        on(
            "less than it said",
            ok("content-length: 90\r\n", "data: a\n\n"),
            Then::Close,
            &["a"],
            End::Down(""),
        ),
        on(
            "an end, then more",
            ok("transfer-encoding: chunked\r\n", "9\r\ndata: a\n\n\r\n0\r\n\r\nGARBAGE\0\n"),
            Then::Close,
            &["a"],
            ended,
        ),
    ]
}

fn chunks() -> Vec<Hostile> {
    let chunked = |name, body: &str, data| {
        on(name, ok("transfer-encoding: chunked\r\n", body), Then::Close, data, End::Down(""))
    };
    vec![
        chunked("a chunk of no size", "zz\r\ndata: a\n\n\r\n", &[]),
        chunked("a chunk of every size", "FFFFFFFFFFFFFFFFF\r\ndata: a\n\n", &[]),
        chunked("a chunk of a negative size", "-9\r\ndata: a\n\n\r\n", &[]),
        chunked("a chunk that ends too early", "99\r\ndata: a\n\n", &["a"]),
        chunked("a chunk without its end", "9\r\ndata: a\n\nXX9\r\ndata: b\n\n", &["a"]),
    ]
}

fn silences() -> Vec<Hostile> {
    vec![
        on("no HTTP", b"SSH-2.0-OpenSSH_9.9\r\n".to_vec(), Then::Close, &[], End::Down("")),
        on("no answer", Vec::new(), Then::Close, &[], End::Down("")),
        on(
            "TLS where none was asked for",
            b"\x15\x03\x01\x00\x02\x02\x28".to_vec(),
            Then::Close,
            &[],
            End::Down(""),
        ),
        on("half a status line", b"HTTP/1.1 20".to_vec(), Then::Close, &[], End::Down("")),
        on("a head without an end", OK.as_bytes(), Then::Close, &[], End::Down("")),
        on("never an answer", Vec::new(), Then::Hold, &[], End::Down("nothing came for 2s")),
        on("never the end of a head", OK.as_bytes(), Then::Hold, &[], End::Down("nothing came for 2s")),
        on(
            "half an event, then silence",
            ok("", "data: a\n\ndata: b\n"),
            Then::Hold,
            &["a"],
            End::Down("nothing came"),
        ),
        on(
            "a head of too many lines",
            [OK.as_bytes(), &b"a: b\r\n".repeat(500)].concat(),
            Then::Hold,
            &[],
            End::Down(""),
        ),
    ]
}

fn floods() -> Vec<Hostile> {
    vec![
        on("a head without end", OK, Then::Repeat(b"x-header: value\r\n"), &[], End::Down("")),
        on(
            "a line of a head without end",
            format!("{OK}x: "),
            Then::Repeat(&[b'x'; 4_096]),
            &[],
            End::Down(""),
        ),
        on(
            "a line without end",
            ok("", "data: "),
            Then::Repeat(&[b'x'; 65_536]),
            &[],
            End::Down("larger than 4096"),
        ),
        on(
            "an event without end",
            ok("", ""),
            Then::Repeat(b"data: xxxxxxxx\n"),
            &[],
            End::Down("larger than 4096"),
        ),
        on(
            "empty lines of data without end",
            ok("", ""),
            Then::Repeat(b"data\n"),
            &[],
            End::Down("larger than 4096"),
        ),
        on("an id without end", ok("", "id: "), Then::Repeat(b"9999"), &[], End::Down("larger than 4096")),
        on(
            "a comment without end",
            ok("", ":"),
            Then::Repeat(&[b' '; 4_096]),
            &[],
            End::Down("larger than 4096"),
        ),
        on(
            "bytes that are no text without end",
            ok("", ""),
            Then::Repeat(&[0xFF; 4_096]),
            &[],
            End::Down("larger than 4096"),
        ),
        on("NUL without end", ok("", ""), Then::Repeat(&[0; 4_096]), &[], End::Down("larger than 4096")),
    ]
}

async fn holds(hostile: Hostile) {
    let name = hostile.name;
    let written = ends(hostile).await;
    // The client stopped reading, so only the socket buffers were filled.
    assert!(written < sockets_hold(), "{name}: {written}");
}

/// Returns the number of bytes that the server wrote.
async fn ends(hostile: Hostile) -> usize {
    let Hostile { name, says, then, data: want, end } = hostile;
    let (url, written, heads) = serve_raw(says, then).await;
    let mut stream = open(&url, "stream", Some(bearer(&["t"])));

    let over = |live: &Live| matches!(live, Live::Down { .. } | Live::Refused { .. } | Live::Stopped { .. });
    let mut lives = Vec::new();
    while !lives.last().is_some_and(over) {
        lives.extend(first(&mut stream, 1).await);
    }

    assert_eq!(data(&lives), want, "{name}: {lives:?}");
    match (end, lives.last().unwrap()) {
        (End::Down(words), Live::Down { why, .. }) => {
            assert!(why.contains(words), "{name}: {why}");
            let again = first(&mut stream, 1).await;
            assert!(!again.is_empty(), "{name}: it must be tried again");
        }
        (End::Stopped, Live::Stopped { .. }) | (End::Refused, Live::Refused { .. }) => {
            assert_eq!(first(&mut stream, 1).await, [], "{name}");
            assert_eq!(heads.lock().unwrap().len(), 1, "{name}: one request");
        }
        _ => panic!("{name}: {lives:?}"),
    }
    written.load(Ordering::Relaxed)
}

/// The HTTP library skips interim answers, so only the time limit ends them, and the bytes depend on the machine.
#[tokio::test]
async fn g28_endless_interim_answers_end_at_the_time_limit() {
    let then = Then::Repeat(b"HTTP/1.1 100 Continue\r\n\r\n");
    ends(on("always go on", Vec::new(), then, &[], End::Down(""))).await;
}

#[tokio::test]
async fn g28_no_status_causes_endless_or_redirected_requests() {
    for hostile in statuses() {
        holds(hostile).await;
    }
}

#[tokio::test]
async fn g28_other_content_is_not_read_as_events() {
    for hostile in contents() {
        holds(hostile).await;
    }
}

#[tokio::test]
async fn g28_broken_and_endless_streams_are_cut() {
    for hostile in [chunks(), silences(), floods()].into_iter().flatten() {
        holds(hostile).await;
    }
}

#[tokio::test]
async fn a_stream_obeys_retry_after_up_to_an_hour() {
    let hour = Duration::from_hours(1);
    let cases =
        [("7", 7), ("0", 0), ("3600", 3_600), ("99999999", 3_600), ("Wed, 21 Oct 2015 07:28:00 GMT", 0)];
    let odd = [("-1", 0), ("soon", 0), ("1e9", 0), ("Tue, 31 Dec 2999 23:59:59 GMT", 3_600)];

    for (asked, seconds) in cases.into_iter().chain(odd) {
        for code in ["429", "503"] {
            let says = format!("HTTP/1.1 {code} x\r\nretry-after: {asked}\r\ncontent-length: 0\r\n\r\n");
            let (url, ..) = serve_raw(says.into_bytes(), Then::Close).await;
            let lives = first(open(&url, "stream", None), 1).await;

            let Live::Down { retry_in, .. } = lives[0] else { panic!("{asked}: {lives:?}") };
            let least = Duration::from_secs(seconds);
            assert!(
                (least..=(least + QUICK.backoff.1).min(hour)).contains(&retry_in),
                "{asked}: {retry_in:?}"
            );
        }
    }
}

#[tokio::test]
async fn comments_do_not_count_as_pulse() {
    let limits = Limits { pulse: Some(("tick", Duration::from_secs(1))), ..QUICK };
    let watch = async |says: &str| {
        let (url, ..) = serve_raw(ok("", says), Then::Repeat(b":\n\n")).await;
        let stream = live(Http::new(&url, None).unwrap(), "/".to_owned(), limits);
        first(stream.filter(|live| std::future::ready(*live != Live::Ping)).take(3), 3).await
    };

    let lives = watch("event: tick\ndata: 1\n\n").await;

    assert!(matches!(&lives[..2], [Live::Up, Live::Event { .. }]), "{lives:?}");
    assert!(down(&lives[2], "nothing but comments came for 1s"), "{lives:?}");
}

#[tokio::test]
async fn a_slow_reader_is_not_flooded() {
    const EVENT: &[u8] = b"data: 0123456789012345678901234567890123456789012345678901234567\n\n";
    let (url, written, _) = serve_raw(ok("", ""), Then::Repeat(EVENT)).await;

    let lives = first(open(&url, "stream", None), 1_000).await;

    assert_eq!(data(&lives).len(), 999);
    assert!(written.load(Ordering::Relaxed) < sockets_hold(), "{written:?}");
}

#[tokio::test]
async fn a_huge_id_is_not_sent_back() {
    let says = format!("id: {}\nevent: {}\ndata: a\n\n", "i".repeat(100_000), "e".repeat(100_000));
    let (url, _, heads) = serve_raw(ok("", says), Then::Close).await;
    let limits = Limits { max_event: 1 << 20, ..QUICK };

    let lives = first(live(Http::new(&url, None).unwrap(), "/".to_owned(), limits), 6).await;

    assert_eq!(data(&lives), ["a", "a"]);
    assert!(heads.lock().unwrap().iter().all(|head| head.len() < 1_000));
}
