//! A strict Praxiom: expiring tokens, rate limits, and errors in every documented form.

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::IntoResponse as _;
use futures_util::StreamExt as _;

use super::*;
use crate::config::{Praxiom, TokenFrom};
use crate::domain::Verdict;
use crate::net::testing::serve;

const LIST: &str = "/api/pending-actions?workspace_id=w&status=pending";

fn write(file: &std::path::Path, token: &str) {
    let mut open = crate::private::options().create(true).truncate(true).write(true).open(file).unwrap();
    std::io::Write::write_all(&mut open, token.as_bytes()).unwrap();
}

/// Starts a backend that accepts the second token only; a request with the first one renews the token file.
async fn with_second_token(folder: &std::path::Path) -> (String, Arc<AtomicUsize>) {
    let file = folder.join("token");
    write(&file, "first");
    let refused = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&refused);
    let app = Router::new().fallback(move |headers: HeaderMap, request: Request| {
        let (file, count) = (file.clone(), Arc::clone(&count));
        async move {
            if headers.get("authorization").is_some_and(|it| it == "Bearer second") {
                let text = match request.method().as_str() {
                    "POST" => fake::text("1", "{}", "rejected"),
                    _ if request.uri().path().ends_with("/1") => fake::text("1", r#"{"n":1.10}"#, "pending"),
                    _ => format!(r#"{{"items":[{}]}}"#, fake::text("1", r#"{"n":1.10}"#, "pending")),
                };
                return text.into_response();
            }
            count.fetch_add(1, Ordering::SeqCst);
            write(&file, "second");
            (StatusCode::UNAUTHORIZED, r#"{"error":{"code":"UNAUTHORIZED","message":"expired"}}"#)
                .into_response()
        }
    });
    (serve(app).await, refused)
}

#[tokio::test]
async fn expired_token_is_read_again_once() {
    for by_command in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (url, refused) = with_second_token(folder.path()).await;
        let file = folder.path().join("token");
        let command = TokenFrom::Command(vec!["cat".to_owned(), file.display().to_string()]);
        let token = if by_command { command } else { TokenFrom::File(file) };
        let praxiom = SourceKind::Praxiom(Praxiom::default());
        let config = SourceConfig { token: Some(token), ..fake::config(praxiom, &url, Some("w")) };
        let source = crate::sources::open(&config).unwrap();

        let Synced::All { rows, .. } = source.sync(None).await.unwrap() else { panic!("expected a list") };
        let outcomes = source.submit(&reject("1"), "k").await.unwrap();

        assert_eq!((row_ids(&rows), outcomes), (vec!["1"], vec![(id("1"), Outcome::Rejected)]));
        assert_eq!(refused.load(Ordering::SeqCst), 1, "the new token is kept");
    }
}

#[tokio::test]
async fn rate_limit_reports_its_wait_and_resends_no_decision() {
    let counts = Arc::new(AtomicUsize::new(0));
    let posts = Arc::clone(&counts);
    let app = Router::new().fallback(move |request: Request| {
        let post = request.method() == "POST";
        posts.fetch_add(usize::from(post), Ordering::SeqCst);
        let one = request.uri().path().ends_with("/1");
        async move {
            if one {
                return fake::text("1", r#"{"n":1.10}"#, "pending").into_response();
            }
            (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "40")], "slow down").into_response()
        }
    });
    let url = serve(app).await;
    let praxiom = SourceKind::Praxiom(Praxiom::default());
    let source = crate::sources::open(&fake::config(praxiom, &url, Some("w"))).unwrap();
    let asked = SourceError::RateLimited { retry_after: Some(Duration::from_secs(40)) };

    assert_eq!(source.submit(&approve("1"), "k").await.unwrap_err(), asked, "deciding");
    assert_eq!(counts.load(Ordering::SeqCst), 1);
    assert_eq!(source.sync(None).await.unwrap_err(), asked, "listing");
    // Reads share the rate limit and wait without a request.
    assert!(matches!(source.get(&[id("1")]).await, Err(SourceError::RateLimited { retry_after: Some(_) })));
    assert_eq!(source.least_poll(), Duration::from_secs(10));
}

#[tokio::test]
async fn errors_are_read_in_every_documented_form() {
    for (status, body, want) in [
        (403, r#"{"error":{"code":"FORBIDDEN","message":"no member"}}"#, "HTTP 403: no member"),
        (403, r#"{"code":"FORBIDDEN","message":"no member"}"#, "HTTP 403: no member"),
        (403, r#"{"detail":{"code":"FORBIDDEN","message":"no member"}}"#, "HTTP 403: no member"),
        (400, r#"{"detail":"workspace_id is no uuid"}"#, "HTTP 400: workspace_id is no uuid"),
        (
            422,
            r#"{"detail":[{"loc":["query","workspace_id"],"msg":"field required","type":"missing"}]}"#,
            "HTTP 422: query.workspace_id: field required",
        ),
        (502, "<html>Bad Gateway", "HTTP 502: <html>Bad Gateway"),
        (500, "", "HTTP 500"),
    ] {
        let praxiom = Backend::default();
        praxiom.on("GET", LIST).reply(status, body);
        let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;

        let error = source.sync(None).await.unwrap_err();

        assert_eq!(error.why().map(Untrusted::as_raw), Some(want), "{error:?}");
    }
}

#[tokio::test]
async fn list_pages_are_followed_and_truncated_lists_are_reported() {
    let row = |id: &str| fake::text(id, "{}", "pending");
    let praxiom = Backend::default();
    praxiom
        .on("GET", LIST)
        .reply(200, format!(r#"{{"items":[{}],"hasMore":true,"next_cursor":"c"}}"#, row("1")));
    praxiom
        .on("GET", &format!("{LIST}&cursor=c"))
        .reply(200, format!(r#"{{"items":[{}],"hasMore":false,"total":2}}"#, row("2")));
    let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;

    let Synced::All { rows, unreadable, .. } = source.sync(None).await.unwrap() else {
        panic!("expected a list")
    };
    assert_eq!((row_ids(&rows), unreadable), (vec!["1", "2"], Vec::new()));

    for cut in [r#""hasMore":true"#, r#""total":7"#] {
        let praxiom = Backend::default();
        praxiom.on("GET", LIST).reply(200, format!(r#"{{"items":[{}],{cut}}}"#, row("1")));
        let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;

        let Synced::All { rows, unreadable, .. } = source.sync(None).await.unwrap() else { panic!("{cut}") };
        let what: Vec<_> = unreadable.iter().map(|bad| bad.what).collect();
        assert_eq!(
            (row_ids(&rows), what),
            (vec!["1"], vec!["the list says that there is more than it gave, and not where"])
        );
    }
}

#[tokio::test]
async fn unknown_batch_is_settled_by_reading_its_actions() {
    let praxiom = Backend::default();
    let get = |id: &str| format!("/api/pending-actions/{id}");
    let input = r#"{"n":1.10}"#;
    for id in ["1", "2", "3"] {
        praxiom.on("GET", &get(id)).reply(200, fake::text(id, input, "pending"));
    }
    praxiom.on("GET", &get("2")).reply(200, fake::text("2", input, "rejected"));
    praxiom.on("GET", &get("3")).reply(404, "");
    let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;
    let sent = batch(Some("None:t"), &["1", "2", "3"].map(|id| (id, Decision::APPROVE)));

    let outcomes = source.submit(&sent, "k").await.unwrap();

    let unknown = "the source does not know this batch any more, so nothing was decided";
    let want = [failed(unknown), skipped("rejected", None), failed(wire::GONE)];
    assert_eq!(outcomes, ["1", "2", "3"].map(id).into_iter().zip(want).collect::<Vec<_>>());
    assert!(praxiom.lines().contains(&"POST /api/pending-actions/batch/None%3At/approve".to_owned()));
}

fn with_events(pointer: Option<&str>) -> SourceKind {
    let briefing_pointer = pointer.map(str::to_owned);
    SourceKind::Praxiom(Praxiom { events_path: Some("/api/feed".to_owned()), briefing_pointer })
}

/// Returns the events of a stream until its end, at most `most`.
async fn signals(answers: &[(u16, &str)], most: usize) -> Vec<EventKind> {
    let praxiom = Backend::default();
    for (status, body) in answers {
        match *status {
            200 => praxiom.on("GET", "/api/feed").events(body),
            status => praxiom.on("GET", "/api/feed").reply(status, *body),
        };
    }
    let source = praxiom.source(with_events(Some("/open")), Some("w")).await;
    let told = source.watch().unwrap().take(most).collect::<Vec<_>>();
    tokio::time::timeout(Duration::from_mins(1), told).await.unwrap()
}

#[tokio::test]
async fn stream_reports_a_count_or_a_change() {
    let open = crate::domain::Briefing { pending: 3, ..crate::domain::Briefing::default() };
    for (data, want) in [(r#"{"open":3}"#, EventKind::Briefing(open)), ("{nothing", EventKind::Changed)] {
        let text = format!("event: token\ndata: {{}}\n\nevent: briefing\ndata: {data}\n\n");
        let told = signals(&[(200, &text)], 3).await;

        assert_eq!(told[0], EventKind::Connection(Connection::Live), "{told:?}");
        assert!(told.contains(&want), "{told:?}");
    }
}

#[tokio::test]
async fn missing_stream_does_not_stop_listing() {
    for status in [401, 403] {
        assert!(
            matches!(
                signals(&[(status, "")], 9).await.as_slice(),
                [EventKind::Connection(Connection::Refused { .. })]
            ),
            "{status}"
        );
    }
    for status in [204, 404] {
        assert!(
            matches!(
                signals(&[(status, "")], 9).await.as_slice(),
                [EventKind::Connection(Connection::Stopped { .. })]
            ),
            "{status}"
        );
    }
    let praxiom = Backend::default();
    praxiom.on("GET", LIST).reply(200, r#"{"items":[]}"#);
    let source = praxiom.source(with_events(None), Some("w")).await;
    assert!(source.sync(None).await.is_ok());
    let without = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;
    assert!(without.watch().is_none(), "Praxiom documents no stream");
}

#[tokio::test]
async fn doctor_distinguishes_token_membership_and_workspace_problems() {
    let mine = r#"{"items":[{"id":"w"}]}"#;
    let other = r#"{"items":[{"id":"x","name":"Other"}]}"#;
    for (status, body, workspaces, want) in [
        (200, r#"{"items":[]}"#, (200, mine), &[("list", Verdict::Good), ("workspace", Verdict::Good)][..]),
        (200, r#"{"items":[]}"#, (404, ""), &[("list", Verdict::Good)]),
        (200, r#"{"items":[]}"#, (200, other), &[("list", Verdict::Good), ("workspace", Verdict::Warn)]),
        (401, r#"{"code":"UNAUTHORIZED"}"#, (401, ""), &[("list", Verdict::Bad)]),
        (
            403,
            r#"{"error":{"code":"FORBIDDEN","message":"no"}}"#,
            (200, mine),
            &[("workspace", Verdict::Bad)],
        ),
        (200, "<html>", (200, ""), &[("list", Verdict::Bad)]),
    ] {
        let praxiom = Backend::default();
        praxiom.on("GET", LIST).reply(status, body);
        praxiom.on("GET", "/api/workspaces").reply(workspaces.0, workspaces.1);
        let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;

        let checks = source.checked().await;

        let told: Vec<_> = checks.iter().map(|check| (check.what, check.verdict)).collect();
        assert_eq!(told, want, "{checks:?}");
        assert!(checks.iter().all(|check| check.verdict == Verdict::Good || !check.advice.is_empty()));
    }
}

#[tokio::test]
async fn context_shows_batch_and_mission_without_a_request() {
    let text = |id: &str, batch: &str, mission: &str| {
        format!(
            r#"{{"id":"{id}","batchId":"{batch}","missionId":"{mission}","toolName":"t","title":"number {id}","status":"pending"}}"#
        )
    };
    let rows = [text("1", "b", "m"), text("2", "b", "m"), text("3", "c", "m"), text("4", "d", "n")];
    let praxiom = Backend::default();
    praxiom.on("GET", LIST).reply(200, format!(r#"{{"items":[{}]}}"#, rows.join(",")));
    let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;
    let Synced::All { rows, .. } = source.sync(None).await.unwrap() else { panic!("expected a list") };
    let context = source.abilities().context.unwrap();
    let asked = praxiom.lines().len();

    let passages = context.context(&id("1"), &rows).await.unwrap();

    let told: Vec<_> = passages.iter().map(|it| (it.title, it.facts.len())).collect();
    assert_eq!(told, [("Its batch", 3), ("Its mission", 4)], "{passages:?}");
    assert_eq!(context.context(&id("none"), &rows).await.unwrap(), []);
    assert_eq!(praxiom.lines().len(), asked);
}
