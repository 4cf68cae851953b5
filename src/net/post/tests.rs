use std::collections::VecDeque;
use std::net::TcpListener as StdListener;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::http::{HeaderMap as Headers, StatusCode};
use axum::response::Redirect;
use axum::routing::post;
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::net::testing::serve;

const LIMIT: Duration = Duration::from_secs(20);
/// 2d00::/8 is public but unassigned.
const NOWHERE: &str = "[2d00::1]:0";

struct Forbidden {
    port: u16,
    seen: Arc<AtomicUsize>,
}

impl Forbidden {
    fn listen() -> Self {
        let (first, second) = (0..50)
            .find_map(|_| {
                let first = StdListener::bind("127.0.0.1:0").ok()?;
                let port = first.local_addr().ok()?.port();
                match StdListener::bind(("::1", port)) {
                    Err(error) if error.kind() == io::ErrorKind::AddrInUse => None,
                    second => Some((first, second.ok())),
                }
            })
            .unwrap();
        let seen = Arc::new(AtomicUsize::new(0));
        let port = first.local_addr().unwrap().port();
        for listener in [Some(first), second].into_iter().flatten() {
            listener.set_nonblocking(true).unwrap();
            let (listener, seen) = (TcpListener::from_std(listener).unwrap(), Arc::clone(&seen));
            tokio::spawn(async move {
                while listener.accept().await.is_ok() {
                    seen.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        Self { port, seen }
    }

    /// Counts connections. Its own connection is accepted last and shows that earlier ones were counted.
    async fn seen(&self) -> usize {
        let before = self.seen.load(Ordering::SeqCst);
        let _own = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let counted = async {
            while self.seen.load(Ordering::SeqCst) <= before {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(LIMIT, counted).await.unwrap();
        self.seen.load(Ordering::SeqCst) - 1
    }
}

/// A lookup that returns the next answer for each query and repeats the last.
fn lookup(answers: &[&[&str]]) -> (Lookup, Arc<AtomicUsize>) {
    let answers = answers.iter().map(|it| it.iter().map(|text| text.parse().unwrap()).collect());
    let answers: Mutex<VecDeque<Vec<SocketAddr>>> = Mutex::new(answers.collect());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let lookup: Lookup = Arc::new(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        let mut answers = answers.lock().unwrap();
        let answer = if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0].clone() };
        Box::pin(async move { Ok(answer) })
    });
    (lookup, asked)
}

async fn send(targets: &Targets, url: &str, timeout: Duration) -> Result<(u16, Vec<u8>), HttpError> {
    targets.post(url, &[], "{}".to_owned(), timeout, 100).await
}

/// Spellings of this machine, and attempts to evade rules about the text. `P` is the listener's port.
const FORMS: &[&str] = &[
    "http://127.0.0.1:P/",
    "https://127.0.0.1:P/",
    "https://127.0.0.1.:P/",
    "https://127.1:P/",
    "https://127.0.1:P/",
    "https://127.1.2.3:P/",
    "https://127.255.255.254:P/",
    "https://2130706433:P/",
    "https://00000017700000001:P/",
    "https://0x7f000001:P/",
    "https://0x7F.1:P/",
    "https://0x7f.0x0.0x0.0x1:P/",
    "https://0177.0.0.1:P/",
    "https://017700000001:P/",
    "https://0177.0.1:P/",
    "https://127.0x0.0.01:P/",
    "https://%31%32%37.0.0.1:P/",
    "https://１２７.０.０.１:P/",
    "https://127。0。0。1:P/",
    "https://①②⑦.⓪.⓪.①:P/",
    "https://0:P/",
    "https://0.0.0.0:P/",
    "https://0x0:P/",
    "https://[::]:P/",
    "https://[::1]:P/",
    "http://[::1]:P/",
    "https://[0:0:0:0:0:0:0:1]:P/",
    "https://[0000::0001]:P/",
    "https://[::127.0.0.1]:P/",
    "https://[::ffff:127.0.0.1]:P/",
    "https://[::ffff:7f00:1]:P/",
    "https://[::FFFF:7F00:0001]:P/",
    "https://[0:0:0:0:0:ffff:7f00:1]:P/",
    "https://[64:ff9b::7f00:1]:P/",
    "https://[64:ff9b::127.0.0.1]:P/",
    "https://[64:ff9b:1::7f00:1]:P/",
    "https://[2002:7f00:1::1]:P/",
    "https://[2001:0:7f00:1::]:P/",
    "https://[fe80::1%25lo]:P/",
    "https://[fe80::1%lo]:P/",
    "https://[::1%25lo]:P/",
    "https://[::1%1]:P/",
    "https://[fc00::1]:P/",
    "https://[ff02::1]:P/",
    "https://[::1:P/",
    "https://::1:P/",
    "https://localhost:P/",
    "http://localhost:P/",
    "https://LOCALHOST:P/",
    "https://localhost.:P/",
    "https://LocalHost.:P/",
    "https://api.localhost:P/",
    "https://ｌｏｃａｌｈｏｓｔ:P/",
    "https://loc%61lhost:P/",
    "https://127.0.0.1.nip.io:P/",
    "https://rebound.example:P/",
    "https://rebound.example.:P/",
    "http://rebound.example:P/",
    "https://user@127.0.0.1:P/",
    "https://user:word@127.0.0.1:P/",
    "https://example.com@127.0.0.1:P/",
    "https://example.com%40127.0.0.1:P/",
    "https://example.com:443@127.0.0.1:P/",
    "https://@127.0.0.1:P/",
    "https://127.0.0.1:P@rebound.example/",
    "https://127.0.0.1:P\\@example.com/",
    "https://127.0.0.1:P#@example.com/",
    "https://127.0.0.1:P?@example.com/",
    "https:127.0.0.1:P/",
    "https:/127.0.0.1:P/",
    "https:///127.0.0.1:P/",
    "https:\\\\127.0.0.1:P\\",
    "\thttps://127.0.0.1:P/",
    "ht\ntps://127.0.0.1:P/",
    "HTTPS://127.0.0.1:P/",
    "https://169.254.169.254:P/latest/meta-data/",
    "https://metadata.google.internal:P/",
    "https://100.100.100.200:P/",
    "https://10.0.0.1:P/",
    "https://192.168.0.1:P/",
    "https://172.16.0.1:P/",
    "unix:///var/run/docker.sock",
    "unix:/var/run/docker.sock",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/",
    "file:///etc/passwd",
    "ftp://127.0.0.1:P/",
    "gopher://127.0.0.1:P/_x",
    "ws://127.0.0.1:P/",
    "data:text/plain,x",
    "//127.0.0.1:P/",
    "127.0.0.1:P",
    "",
];

#[tokio::test]
async fn g25_no_form_of_a_target_reaches_a_forbidden_listener() {
    assert!(FORMS.len() >= 60, "{}", FORMS.len());
    let forbidden = Forbidden::listen();
    for answer in [&["127.0.0.1:0"][..], &["[::1]:0"], &["[::ffff:127.0.0.1]:0"], &[NOWHERE, "127.0.0.1:0"]] {
        // Each name leads to this machine.
        let (lookup, _) = lookup(&[answer]);
        let targets = Targets::with_lookup(&["tickets.internal".to_owned()], lookup).unwrap();
        for form in FORMS {
            let url = form.replace('P', &forbidden.port.to_string());

            let sent = send(&targets, &url, LIMIT).await;

            assert!(matches!(sent, Err(HttpError::NotSent(_))), "{url} with {answer:?}: {sent:?}");
        }
    }
    assert_eq!(forbidden.seen().await, 0);
}

#[tokio::test]
async fn g25_a_forbidden_url_is_refused_before_sending() {
    let targets = Targets::new(&[]).unwrap();
    // Only these look like other hosts' names.
    let names = ["nip.io", "rebound.example", "metadata.google", "example.com%40"]
        .map(|name| format!("https://{name}"));
    for form in FORMS {
        let looks_fine =
            names.iter().any(|name| form.starts_with(name.as_str())) || form.contains("1.nip.io");
        let refused = targets.check(&form.replace('P', "9000")).is_err();
        assert!(refused || (looks_fine && !form.contains("http://")), "{form}");
    }
    assert_eq!(targets.check("https://tickets.example.com/api"), Ok(()));
    assert_eq!(targets.check("https://1.1.1.1/"), Ok(()));
}

#[tokio::test]
async fn g25_a_rebound_name_is_resolved_once() {
    let forbidden = Forbidden::listen();
    let (lookup, asked) = lookup(&[&[NOWHERE], &["127.0.0.1:0"]]);
    let targets = Targets::with_lookup(&[], lookup).unwrap();
    let url = format!("https://rebound.example:{}/", forbidden.port);

    let outside = send(&targets, &url, Duration::from_secs(2)).await;
    let questions = asked.load(Ordering::SeqCst);
    let inside = send(&targets, &url, LIMIT).await;

    assert!(outside.is_err(), "{outside:?}");
    assert_eq!(questions, 1, "the checked address must be used");
    let why = "the target's name leads to an address that is not public".to_owned();
    assert_eq!(inside, Err(HttpError::NotSent(why)));
    assert_eq!(forbidden.seen().await, 0);
}

#[tokio::test]
async fn g25_a_redirect_is_not_followed() {
    let forbidden = Forbidden::listen();
    for to in [format!("http://127.0.0.1:{}/", forbidden.port), format!("//[::1]:{}/", forbidden.port)] {
        let app = Router::new().route("/", post(async move || Redirect::temporary(&to)));
        let url = serve(app).await;
        let targets = Targets::new(&[url.strip_prefix("http://").unwrap().to_owned()]).unwrap();

        assert_eq!(send(&targets, &url, LIMIT).await.unwrap().0, 307);
    }
    assert_eq!(forbidden.seen().await, 0);
}

#[tokio::test]
async fn g25_only_a_listed_target_is_reached() {
    let url = serve(Router::new().route("/", post(async || "here"))).await;
    let port: u16 = url.rsplit_once(':').unwrap().1.parse().unwrap();
    let forbidden = Forbidden::listen();
    let allowed = ["tickets.internal".to_owned(), format!("127.0.0.1:{port}"), format!("[::1]:{port}")];
    let (lookup, _) = lookup(&[&["127.0.0.1:0"]]);
    let targets = Targets::with_lookup(&allowed, lookup).unwrap();

    for host in ["127.0.0.1", "2130706433", "tickets.internal", "TICKETS.internal"] {
        let sent = send(&targets, &format!("http://{host}:{port}/"), LIMIT).await;
        assert_eq!(sent, Ok((200, b"here".to_vec())), "{host}");
    }
    for host in ["127.0.0.1", "[::1]", "xtickets.internal", "tickets.internal.example", "127.0.0.2"] {
        let sent = send(&targets, &format!("http://{host}:{}/", forbidden.port), LIMIT).await;
        assert!(matches!(sent, Err(HttpError::NotSent(_))), "{host}: {sent:?}");
    }
    assert_eq!(forbidden.seen().await, 0);
}

#[test]
fn a_listed_target_is_a_host_with_optional_port() {
    let parsed = |entry: &str| Listed::parse(entry).map(|it| (it.host, it.port));
    for (entry, host, port) in [
        ("127.0.0.1:9000", "127.0.0.1", Some(9000)),
        ("tickets.internal", "tickets.internal", None),
        ("Tickets.Internal:443", "tickets.internal", Some(443)),
        ("[::1]:80", "[::1]", Some(80)),
        ("[::1]", "[::1]", None),
        ("::1", "[::1]", None),
        ("fd00::0001", "[fd00::1]", None),
    ] {
        assert_eq!(parsed(entry), Some((host.to_owned(), port)), "{entry}");
    }
    for entry in ["", "*", "*.internal", "http://x", "x:y", "x:99999", "u@x", "x/y", "a b", ":80", "x:"] {
        assert_eq!(parsed(entry), None, "{entry}");
    }
}

#[tokio::test]
async fn a_post_has_headers_and_a_reply_limit() {
    let app = Router::new().route(
        "/",
        post(async |headers: Headers, body: String| {
            format!("{}:{body}", headers.get("x-fence").unwrap().to_str().unwrap())
        }),
    );
    let url = serve(app).await;
    let targets = Targets::new(&["127.0.0.1".to_owned()]).unwrap();
    let send = async |cap| {
        let headers = [("x-fence", "7".to_owned())];
        targets.post(&url, &headers, "{}".to_owned(), LIMIT, cap).await
    };

    assert_eq!(send(4).await, Ok((200, b"7:{}".to_vec())));
    assert_eq!(send(3).await, Ok((200, b"7:{".to_vec())));
}

#[tokio::test]
async fn a_gzip_answer_is_unpacked_within_its_limit() {
    use std::io::Write as _;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&vec![b'x'; 1_000_000]).unwrap();
    let packed = gzip.finish().unwrap();
    let app = Router::new()
        .route("/", post(async move || ([("content-encoding", "gzip")], packed.clone())))
        .route("/broken", post(async || (StatusCode::CONFLICT, [("content-encoding", "x-gzip")], "no")));
    let url = serve(app).await;
    let targets = Targets::new(&["127.0.0.1".to_owned()]).unwrap();
    let send = async |path: &str| {
        let url = format!("{}/{path}", url.trim_end_matches('/'));
        targets.post(&url, &[], "{}".to_owned(), LIMIT, 10_000).await.unwrap()
    };

    assert_eq!(send("").await, (200, vec![b'x'; 10_000]));
    let (status, told) = send("broken").await;
    assert_eq!(status, 409, "the status is kept");
    assert!(String::from_utf8(told).unwrap().starts_with("the answer is gzip that cannot be unpacked"));
}

#[test]
fn a_listed_url_is_reported_without_its_password() {
    let told = Targets::new(&["https://u:hidden@tickets.internal".to_owned()]).unwrap_err();

    assert!(told.contains("tickets.internal") && !told.contains("hidden"), "{told}");
}
