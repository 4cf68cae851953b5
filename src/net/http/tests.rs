use std::sync::Mutex;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap as Headers, Response as AxumResponse};
use axum::routing::get;
use axum::{Router, response::IntoResponse};

use super::*;
use crate::net::testing::{bearer, nobody, serve};

type Log = Arc<Mutex<Vec<Option<String>>>>;

fn ask(path: &str) -> Ask {
    Ask { path: path.to_owned(), body: None, key: None, limit: Duration::from_secs(20) }
}

fn token(headers: &Headers) -> Option<String> {
    Some(headers.get("authorization")?.to_str().unwrap().to_owned())
}

async fn guarded() -> (String, Log) {
    let log = Log::default();
    let app = Router::new()
        .route(
            "/",
            get(async |State(log): State<Log>, headers: Headers| {
                let token = token(&headers);
                log.lock().unwrap().push(token.clone());
                match token.as_deref() {
                    Some("Bearer good") => StatusCode::OK,
                    _ => StatusCode::UNAUTHORIZED,
                }
            }),
        )
        .with_state(Arc::clone(&log));
    (serve(app).await, log)
}

#[tokio::test]
async fn a_refused_token_is_read_again_once() {
    let (url, log) = guarded().await;
    let http = Http::new(&url, Some(bearer(&["old", "good"]))).unwrap();

    let statuses = [http.ask(&ask("/")).await.unwrap().status, http.ask(&ask("/")).await.unwrap().status];

    assert_eq!(statuses, [200, 200]);
    let shown = ["Bearer old", "Bearer good", "Bearer good"].map(|token| Some(token.to_owned()));
    assert_eq!(*log.lock().unwrap(), shown);
}

#[tokio::test]
async fn an_unchanged_refused_token_is_not_resent() {
    let (url, log) = guarded().await;

    let same = Http::new(&url, Some(bearer(&["bad"]))).unwrap().ask(&ask("/")).await.unwrap();
    let other =
        Http::new(&url, Some(bearer(&["bad", "worse", "worst"]))).unwrap().ask(&ask("/")).await.unwrap();

    assert_eq!((same.status, other.status), (401, 401));
    assert_eq!(log.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn a_token_that_cannot_be_read_sends_nothing() {
    let (url, log) = guarded().await;
    let unreadable = Bearer::new(Arc::new(|| Err("no such file".to_owned())));

    let error = Http::new(&url, Some(unreadable)).unwrap().ask(&ask("/")).await;

    assert_eq!(error, Err(HttpError::Token("no such file".to_owned())));
    assert!(log.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (other, log) = guarded().await;
    let app = Router::new().route("/", get(async move || axum::response::Redirect::temporary(&other)));
    let http = Http::new(&serve(app).await, Some(bearer(&["good"]))).unwrap();

    assert_eq!(http.ask(&ask("/")).await.unwrap().status, 307);
    assert!(log.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_reply_has_text_status_and_wait() {
    let app = Router::new().route(
        "/busy",
        get(async || {
            AxumResponse::builder()
                .status(429)
                .header("retry-after", "7")
                .body(Body::from(&b"a\xFFb"[..]))
                .unwrap()
                .into_response()
        }),
    );
    let http = Http::new(&format!("{}/", serve(app).await), None).unwrap();

    let reply = http.ask(&ask("/busy")).await.unwrap();

    let text = "a\u{1a}FFb".to_owned();
    assert_eq!(reply, Reply { status: 429, text, retry_after: Some(Duration::from_secs(7)) });
}

#[tokio::test]
async fn a_reply_in_another_encoding_is_explained() {
    type Form = (&'static str, &'static [u8]);
    let odd: [(Form, &str); 6] = [
        (("", b"\xEF\xBB\xBF{}"), "byte order mark"),
        (("", b"\xFF\xFE{\0}\0"), "UTF-16"),
        (("", b"\xFE\xFF\0{\0}"), "UTF-16"),
        (("gzip", b"\x1F\x8B\x08"), "compressed (gzip)"),
        (("br", b"{}"), "compressed (br)"),
        (("", b"\x1F\x8B\x08"), "compressed (gzip)"),
    ];
    let ask_for = async |(encoding, body): Form, status: u16| {
        let answer = get(async move || {
            let answer = AxumResponse::builder().status(status).header("content-encoding", encoding);
            answer.body(Body::from(body)).unwrap().into_response()
        });
        let http = Http::new(&serve(Router::new().route("/", answer)).await, None).unwrap();
        http.ask(&ask("/")).await
    };
    for (form, says) in odd {
        let Err(HttpError::Form(why)) = ask_for(form, 200).await else { panic!("{form:?}") };
        assert!(why.contains(says), "{form:?}: {why}");
        let refused = ask_for(form, 403).await.unwrap();
        assert_eq!((refused.status, refused.text.as_str()), (403, ""), "{form:?}");
    }
    for form in [("identity", &b"{}"[..]), ("", b"{}"), ("", b"\xEF\xBB"), ("", b"")] {
        assert!(ask_for(form, 200).await.is_ok(), "{form:?}");
    }
}

#[tokio::test]
async fn an_unconnected_request_counts_as_not_sent() {
    let silent = Router::new().route("/", get(std::future::pending::<()>));
    let silent = Http::new(&serve(silent).await, None).unwrap();
    let refused = Http::new(&nobody().await, None).unwrap();

    let hasty = Ask { limit: Duration::from_secs(2), ..ask("/") };
    assert!(matches!(silent.ask(&hasty).await, Err(HttpError::Lost(_))));
    assert!(matches!(refused.ask(&ask("/")).await, Err(HttpError::NotSent(_))));
}

#[test]
fn only_http_urls_are_taken() {
    for url in ["", "gate", "ftp://x", "file:///etc/passwd"] {
        assert_eq!(Http::new(url, None).unwrap_err(), SetupError::Url(url.to_owned()));
    }
}

#[test]
fn loopback_is_recognised_by_all_names() {
    for (url, loopback) in [
        ("http://localhost:1", true),
        ("http://gate.localhost", true),
        ("http://127.9.9.9", true),
        ("http://[::1]:80", true),
        ("http://localhost.example.org", false),
        ("http://10.0.0.1", false),
    ] {
        assert_eq!(is_loopback(&Url::parse(url).unwrap()), loopback, "{url}");
    }
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    let wait = |text: &str| {
        retry_after(&HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_str(text).unwrap())]))
    };

    assert_eq!(wait("30"), Some(Duration::from_secs(30)));
    assert_eq!(wait("999999"), Some(RETRY_AFTER_MAX));
    assert_eq!(wait("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
    assert_eq!(wait("Mon, 31 Dec 2998 23:59:59 GMT"), Some(RETRY_AFTER_MAX));
    assert_eq!(wait("Fri, 31 Dec 9999 23:59:59 GMT"), Some(RETRY_AFTER_MAX));
    assert_eq!(wait("soon"), None);
}

#[tokio::test]
async fn a_reply_is_read_up_to_its_cap() {
    let reply = || reqwest::Response::from(http::Response::new("12345"));

    assert_eq!(read(reply(), 5).await, Ok(b"12345".to_vec()));
    assert_eq!(read(reply(), 4).await, Err(HttpError::TooLarge));
}

#[tokio::test]
async fn a_token_is_masked_in_error_replies() {
    let echo = |status| get(async move |headers: Headers| (status, token(&headers).unwrap_or_default()));
    let app =
        Router::new().route("/error", echo(StatusCode::BAD_REQUEST)).route("/action", echo(StatusCode::OK));
    let http = Http::new(&serve(app).await, Some(bearer(&["s3cret"]))).unwrap();

    assert_eq!(http.ask(&ask("/error")).await.unwrap().text, "Bearer ***");
    assert_eq!(
        http.ask(&ask("/action")).await.unwrap().text,
        "Bearer s3cret",
        "bytes of an action are unchanged"
    );
}

#[tokio::test]
async fn a_token_is_masked_in_every_scheme() {
    let all = get(async |headers: Headers| {
        let of = |name: &str| headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or("-").to_owned();
        (StatusCode::BAD_REQUEST, format!("{} {} {}", of("authorization"), of("x-key"), of("x-who")))
    });
    let url = serve(Router::new().route("/", all)).await;
    let headers = [("x-who".to_owned(), "kim".to_owned())];
    let said = async |scheme, token: &'static [&'static str]| {
        let way = Way { scheme, headers: &headers, ..Way::default() };
        Http::by(&url, Some(bearer(token)), way).unwrap().ask(&ask("/")).await.unwrap().text
    };

    assert_eq!(said(Scheme::Bearer, &["s3cret"]).await, "Bearer *** - kim");
    assert_eq!(said(Scheme::Header("X-Key".to_owned()), &["s3cret"]).await, "- *** kim");
    // "kim:s3cret" is encoded as a2ltOnMzY3JldA==, which must be masked, too.
    assert_eq!(said(Scheme::Basic("kim".to_owned()), &["s3cret"]).await, "Basic *** - kim");
    // WordPress shows application passwords in groups and accepts the blanks.
    assert_eq!(said(Scheme::Basic("kim".to_owned()), &["abcd efgh"]).await, "Basic *** - kim");
}

#[test]
fn an_invalid_header_is_refused() {
    for (name, value) in [("a b", "c"), ("x", "two\nlines")] {
        let headers = [(name.to_owned(), value.to_owned())];
        let made = Http::by("http://127.0.0.1:1", None, Way { headers: &headers, ..Way::default() });
        assert!(matches!(made, Err(SetupError::Header(of)) if of == name), "{name:?}");
    }
    let way = Way { scheme: Scheme::Header("no header".to_owned()), ..Way::default() };
    assert!(matches!(Http::by("http://127.0.0.1:1", None, way), Err(SetupError::Header(_))));
}

#[tokio::test]
async fn an_endless_error_reply_keeps_only_its_status() {
    let long =
        |status: u16| async move { (StatusCode::from_u16(status).unwrap(), "x".repeat(ERROR_MAX + 1)) };
    let app = Router::new().route("/401", get(move || long(401))).route("/200", get(move || long(200)));
    let http = Http::new(&serve(app).await, None).unwrap();

    let (refused, taken) = (http.ask(&ask("/401")).await.unwrap(), http.ask(&ask("/200")).await.unwrap());

    assert_eq!((refused.status, refused.text.as_str()), (401, ""));
    assert_eq!((taken.status, taken.text.len()), (200, ERROR_MAX + 1));
}

/// A server that answers the first request with 503 and this wait, and counts requests.
async fn busy(wait: &'static str) -> (Http, Arc<Mutex<usize>>) {
    let asked = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&asked);
    let answer = move || {
        let nth = {
            let mut asked = counted.lock().unwrap();
            *asked += 1;
            *asked
        };
        async move {
            match nth {
                1 => (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", wait)], "busy").into_response(),
                _ => "there".into_response(),
            }
        }
    };
    let app = Router::new().route("/", get(answer.clone()).post(answer));
    (Http::new(&serve(app).await, None).unwrap(), asked)
}

#[tokio::test]
async fn a_get_waits_for_a_short_retry_after() {
    // The minimum is a second, to avoid a busy loop.
    let (http, asked) = busy("0").await;

    let reply = http.ask(&ask("/")).await.unwrap();

    assert_eq!((reply.text.as_str(), *asked.lock().unwrap()), ("there", 2));
}

#[tokio::test]
async fn a_long_retry_after_pauses_requests() {
    let (http, asked) = busy("600").await;
    let patient = ask("/");

    let first = http.ask(&patient).await.unwrap();
    let again = http.clone().ask(&patient).await.unwrap();

    assert_eq!((first.status, again.status, again.text.as_str()), (503, 503, "busy"));
    assert!(again.retry_after.is_some_and(|left| left <= Duration::from_mins(10)));
    assert_eq!(*asked.lock().unwrap(), 1);
}

#[tokio::test]
async fn a_post_is_not_repeated() {
    let (http, asked) = busy("1").await;
    let post = Ask { body: Some("{}".to_owned()), ..ask("/") };

    let reply = http.ask(&post).await.unwrap();

    assert_eq!((reply.status, *asked.lock().unwrap()), (503, 1));
}

#[test]
fn a_token_over_plain_http_needs_permission() {
    let open = |url: &str, insecure_http| {
        let way = Way { insecure_http, ..Way::default() };
        Http::by(url, Some(bearer(&["good"])), way).map(drop)
    };
    let refused = Err(SetupError::InTheClear("gate.example.com".to_owned()));

    assert_eq!(open("http://gate.example.com:7878", false), refused);
    assert_eq!(open("http://gate.example.com:7878", true), Ok(()));
    for url in ["https://gate.example.com", "http://127.0.0.1:7878", "http://localhost:7878"] {
        assert_eq!(open(url, false), Ok(()), "{url}");
    }
    assert!(Http::new("http://gate.example.com", None).is_ok(), "there is no token to read");
}

fn several(urls: &[String], token: Option<Bearer>) -> Http {
    let way = Way { more: &urls[1..], untouched: |reply| reply.text == "stopping", ..Way::default() };
    Http::by(&urls[0], token, way).unwrap()
}

async fn answering(status: u16) -> (String, Log) {
    let log = Log::default();
    let answer = async move |State(log): State<Log>, headers: Headers| {
        let key = headers.get("idempotency-key").map(|key| key.to_str().unwrap().to_owned());
        log.lock().unwrap().push(key);
        let text = if status == 503 { "stopping" } else { "" };
        (StatusCode::from_u16(status).unwrap(), [("retry-after", "600")], text)
    };
    let app = Router::new().route("/", get(answer).post(answer)).with_state(Arc::clone(&log));
    (serve(app).await, log)
}

#[tokio::test]
async fn a_request_moves_to_the_next_address() {
    let (there, log) = answering(200).await;
    let http = several(&[nobody().await, there], None);

    for key in [None, Some("k")] {
        let body = key.map(|_| "{}".to_owned());
        let ask = Ask { body, key: key.map(str::to_owned), ..ask("/") };
        assert_eq!(http.clone().ask(&ask).await.unwrap().status, 200);
    }

    assert_eq!(*log.lock().unwrap(), [None, Some("k".to_owned())]);
    assert_eq!(http.first(), 1, "clones share the first address");
}

#[tokio::test]
async fn a_stopping_server_with_another_address_is_skipped() {
    let ((stopping, asked), (there, _)) = (answering(503).await, answering(200).await);
    let http = several(&[stopping, there.clone()], None);
    let patient = ask("/");

    assert_eq!(http.ask(&patient).await.unwrap().status, 200);
    http.failed(1);
    assert_eq!(http.ask(&patient).await.unwrap().status, 200);

    assert_eq!(asked.lock().unwrap().len(), 1, "the pause is kept");
}

#[tokio::test]
async fn a_lost_write_is_resent_only_with_a_key() {
    // The server reads the request and closes the connection.
    let gone = async || -> StatusCode { std::panic::resume_unwind(Box::new(())) };
    let lost = serve(Router::new().route("/", axum::routing::post(gone))).await;
    let (there, log) = answering(200).await;
    let bare = Ask { body: Some("{}".to_owned()), ..ask("/") };
    let keyed = Ask { key: Some("k".to_owned()), ..bare.clone() };
    let urls = [lost, there];

    assert!(matches!(several(&urls, None).ask(&bare).await, Err(HttpError::Lost(_))));
    assert!(log.lock().unwrap().is_empty());
    assert_eq!(several(&urls, None).ask(&keyed).await.unwrap().status, 200);
    assert_eq!(*log.lock().unwrap(), [Some("k".to_owned())]);
}

#[tokio::test]
async fn a_round_without_an_answer_names_every_address() {
    let (first, second) = (nobody().await, nobody().await);

    let error = several(&[first.clone(), second.clone()], None).ask(&ask("/")).await.unwrap_err();

    let HttpError::NotSent(why) = error else { panic!("{error:?}") };
    assert!(why.contains(&format!("{first}: ")) && why.contains(&format!("; {second}: ")), "{why}");
}

#[tokio::test]
async fn token_rules_apply_to_every_address() {
    let way = Way { more: &["http://gate.example.com".to_owned()], ..Way::default() };
    let made = Http::by("https://gate.example.com", Some(bearer(&["good"])), way);

    assert_eq!(made.map(drop), Err(SetupError::InTheClear("gate.example.com".to_owned())));
}

#[test]
fn a_url_with_a_password_is_refused_and_not_repeated() {
    for url in ["http://u:hidden@127.0.0.1", "https://hidden@h", "ftp://u:hidden@h", "http://u:hid den@h"] {
        let error = Http::new(url, None).unwrap_err();
        assert!(error == SetupError::Login && !error.to_string().contains("hid"), "{error}");
    }
}
