//! Callbacks: content, retries, and delivery after a gate died.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use reqwest::Method;
use secrecy::SecretString;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{Mutex, mpsc};

use super::contract::{CONTRACT, validator};
use super::postgres;
use super::support::{LIMIT, TestGate, answer, config, script, start};
use crate::config::{CallbackConfig, Executor, GateConfig, TokenFrom, ToolConfig};
use crate::domain::Via;
use crate::gate::store::{Actor, Callback, Delivery, Ruling, Verdict};
use crate::gate::{Gate, reconcile};
use crate::net::testing::serve;
use crate::net::webhook::Key;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const DAY: i64 = 24 * 60 * 60 * 1_000;

#[derive(Debug)]
struct Got {
    headers: HeaderMap,
    body: String,
}

impl Got {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    fn status(&self) -> String {
        self.json()["data"]["status"].as_str().unwrap().to_owned()
    }

    fn is_signed(&self) -> bool {
        let key = Key::parse(&SecretString::from(SECRET)).unwrap();
        let seconds = self.header("webhook-timestamp").parse().unwrap();
        key.headers(self.header("webhook-id"), seconds, &self.body)
            .iter()
            .all(|(name, value)| self.header(name) == value)
    }
}

/// Answers with a status that the test sets.
struct Receiver {
    config: CallbackConfig,
    status: Arc<AtomicU16>,
    got: Mutex<mpsc::UnboundedReceiver<Got>>,
}

impl Receiver {
    async fn start() -> Self {
        let (tell, got) = mpsc::unbounded_channel();
        let status = Arc::new(AtomicU16::new(204));
        let now = Arc::clone(&status);
        let app = Router::new().fallback(move |headers: HeaderMap, body: String| {
            tell.send(Got { headers, body }).unwrap();
            let status = StatusCode::from_u16(now.load(Ordering::SeqCst)).unwrap();
            async move { (status, [("location", "/elsewhere")]) }
        });
        let config = at(&format!("{}/hook", serve(app).await));
        Self { config, status, got: Mutex::new(got) }
    }

    fn answers(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }

    async fn next(&self) -> Got {
        tokio::time::timeout(LIMIT, self.got.lock().await.recv()).await.unwrap().unwrap()
    }

    async fn has_nothing_more(&self) -> bool {
        self.got.lock().await.try_recv().is_err()
    }
}

fn at(url: &str) -> CallbackConfig {
    let secret = TokenFrom::Command(["printf", "%s", SECRET].map(str::to_owned).to_vec());
    CallbackConfig { line: 1, url: url.to_owned(), secret }
}

/// A configuration with the tool `t` and the callback `orchestrator`.
fn with(folder: &Path, callback: &CallbackConfig, tool: ToolConfig) -> GateConfig {
    let callbacks = [("orchestrator".to_owned(), callback.clone())].into();
    GateConfig { callbacks, tools: [("t".to_owned(), tool)].into(), ..config(folder) }
}

async fn propose(gate: &TestGate, tool: &str, more: &str) -> String {
    gate.propose_with(tool, r#"{"account":"HIDDEN"}"#, &format!(r#","callback":"orchestrator"{more}"#)).await
}

async fn listed(gate: &TestGate) -> Vec<Callback> {
    gate.gate.callbacks(100).await.unwrap()
}

/// Waits until the only callback satisfies `is_so`.
async fn until(gate: &TestGate, is_so: impl Fn(&Callback) -> bool) -> Callback {
    let waiting = async {
        let mut looks = tokio::time::interval(Duration::from_millis(5));
        loop {
            looks.tick().await;
            let [callback] = &listed(gate).await[..] else { panic!("not one callback") };
            if is_so(callback) {
                return callback.clone();
            }
        }
    };
    tokio::time::timeout(LIMIT, waiting).await.expect("the callback did not get there in time")
}

#[tokio::test]
async fn callbacks_are_signed_and_omit_the_input() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start().await;
    let gate = start(with(folder.path(), &receiver.config, script("echo HIDDEN"))).await;
    let id = propose(&gate, "t", "").await;
    let untold = gate.propose("t", "{}").await;

    gate.reject(&untold, "").await;
    gate.approve(&id, r#"{"userEdits":{"n":"HIDDEN"},"reason":"HIDDEN"}"#).await;
    let mut got = [receiver.next().await, receiver.next().await];

    got.sort_by_key(|got| got.json()["data"]["revision"].as_u64());
    let [approved, executed] = &got;
    assert_eq!([approved.status(), executed.status()], ["approved", "executed"]);
    assert_ne!(approved.header("webhook-id"), executed.header("webhook-id"));
    let schema = validator(&CONTRACT["components"]["schemas"]["Callback"]);
    for got in &got {
        assert!(got.is_signed(), "{got:?}");
        assert!(schema.is_valid(&got.json()), "{}", got.body);
        let data = &got.json()["data"];
        assert_eq!((&data["pendingActionId"], &data["resolvedBy"]), (&id.clone().into(), &"owner".into()));
        assert!(!got.body.contains("HIDDEN") && !got.headers.contains_key("authorization"));
    }
    gate.stop().await;
    assert!(receiver.has_nothing_more().await, "the start of a run is not reported");
}

#[tokio::test]
async fn every_final_status_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start().await;
    let gate = start(with(folder.path(), &receiver.config, ToolConfig::default())).await;
    let (rejected, withdrawn) = (propose(&gate, "t", "").await, propose(&gate, "t", "").await);
    let expired = propose(&gate, "t", r#","ttlSeconds":60"#).await;
    let replaced = propose(&gate, "t", "").await;

    gate.reject(&rejected, "").await;
    gate.post_as(&gate.agent, &format!("/api/pending-actions/{withdrawn}/withdraw"), "").await;
    gate.propose_with("t", "{}", &format!(r#","supersedes":"{replaced}""#)).await;
    gate.gate.inner.clock.pass(60_001);
    reconcile::sweep(&gate.gate).await.unwrap();
    let (mut told, mut ids) = (Vec::new(), HashSet::new());
    while ids.len() < 4 {
        let got = receiver.next().await;
        // The clock jump may have ended a delivery's lease, which repeats it.
        if !ids.insert(got.header("webhook-id").to_owned()) {
            continue;
        }
        let got = got.json();
        let by = got["data"]["resolvedBy"].as_str().unwrap_or("nobody").to_owned();
        told.push((
            got["data"]["pendingActionId"].as_str().unwrap().to_owned(),
            got["data"]["status"].clone(),
            by,
        ));
    }

    let mut expected = [
        (rejected, "rejected".into(), "owner".to_owned()),
        (withdrawn, "withdrawn".into(), "agent".to_owned()),
        (expired, "expired".into(), "nobody".to_owned()),
        (replaced, "superseded".into(), "agent".to_owned()),
    ];
    told.sort_by(|one, other| one.0.cmp(&other.0));
    expected.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(told, expected);
    gate.stop().await;
}

#[tokio::test]
async fn unknown_callback_is_refused_without_naming_others() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start().await;
    let gate = start(with(folder.path(), &receiver.config, ToolConfig::default())).await;

    for name in ["other", "", "https://evil.example/", "ORCHESTRATOR"] {
        let body = format!(r#"{{"toolName":"t","workspaceId":"w","toolInput":{{}},"callback":"{name}"}}"#);
        let refused = gate.post_as(&gate.agent, "/api/pending-actions", &body).await;
        assert_eq!(refused.code(), (422, "INVALID".to_owned()), "{name}");
        assert!(refused.at("/error/message").starts_with("callback names none of this gate's callbacks"));
        assert!(!refused.text.contains("orchestrator"));
    }
    assert_eq!(gate.list("").await.at("/items"), "[]");
    gate.stop().await;
}

#[tokio::test]
async fn failed_callback_is_retried_under_one_id() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start().await;
    let gate = start(with(folder.path(), &receiver.config, ToolConfig::default())).await;
    gate.gate.inner.clock.stop();
    let id = propose(&gate, "t", "").await;

    receiver.answers(503);
    gate.reject(&id, "").await;
    let first = receiver.next().await;
    let failed = until(&gate, |it| it.error.is_some()).await;
    assert_eq!((failed.tries, failed.ended_at), (1, None));
    assert_eq!(failed.error.as_deref(), Some("the receiver answered HTTP 503"));
    assert_eq!(failed.next_at, Some(gate.gate.inner.clock.now().plus_millis(5_000)));
    receiver.answers(307);
    gate.gate.inner.clock.pass(5_000);
    gate.gate.inner.events.called();
    let second = receiver.next().await;
    let moved = until(&gate, |it| it.error != failed.error).await;
    assert_eq!(moved.error.as_deref(), Some("the receiver answered HTTP 307; redirects are not followed"));
    receiver.answers(200);
    gate.gate.inner.clock.pass(20_000);
    gate.gate.inner.events.called();
    let third = receiver.next().await;
    let arrived = until(&gate, |it| it.ended_at.is_some()).await;

    assert_eq!((arrived.tries, arrived.error, arrived.next_at), (3, None, None));
    for got in [&second, &third] {
        assert_eq!(got.header("webhook-id"), first.header("webhook-id"));
        assert_eq!(got.body, first.body);
        assert!(got.is_signed());
    }
    gate.stop().await;
    assert!(receiver.has_nothing_more().await);
}

/// Rejects an action on a gate that is open but does not deliver, as if it died after its commit.
async fn rejected_by_a_gate_that_dies(config: &GateConfig, taken: bool) -> Callback {
    let gate = start(config.clone()).await;
    let id = propose(&gate, "t", "").await;
    gate.stop().await;
    let gate = Gate::open(config).await.unwrap();
    let ruling = Ruling {
        id,
        verdict: Verdict::Reject,
        expected_digest: None,
        expected_effective_digest: None,
        expected_terms: None,
        reason: None,
        via: Via::Http,
        judged: None,
    };
    let by = Actor { subject: "owner".to_owned(), workspace: "w".to_owned() };
    gate.store().decide(ruling, by, None).await.unwrap();
    if taken {
        let mine = gate.store().take_callbacks("orchestrator".to_owned(), 0, 16).await.unwrap();
        assert_eq!(mine.len(), 1);
    }
    let kept = gate.callbacks(1).await.unwrap().remove(0);
    gate.close().await;
    kept
}

#[tokio::test]
async fn next_gate_delivers_pending_callbacks_under_their_ids() {
    for taken in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let receiver = Receiver::start().await;
        let config = with(folder.path(), &receiver.config, ToolConfig::default());
        let kept = rejected_by_a_gate_that_dies(&config, taken).await;
        assert_eq!((kept.tries, kept.ended_at), (u64::from(taken), None));

        let gate = start(config).await;
        let got = receiver.next().await;
        until(&gate, |it| it.ended_at.is_some()).await;

        assert_eq!(got.header("webhook-id"), kept.id);
        gate.stop().await;
        assert!(receiver.has_nothing_more().await);
    }
}

#[tokio::test]
async fn one_gate_at_a_time_delivers_a_callback() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start().await;
    let config = with(folder.path(), &receiver.config, ToolConfig::default());
    rejected_by_a_gate_that_dies(&config, false).await;
    let gate = Gate::open(&config).await.unwrap();
    let other = gate.open_another(&config).await.ok();
    let other = other.as_ref().unwrap_or(&gate);
    gate.inner.clock.stop();
    let take =
        async |gate: &Gate| gate.store().take_callbacks("orchestrator".to_owned(), 1_000, 16).await.unwrap();

    let (mut mine, theirs) = tokio::join!(take(&gate), take(other));
    let mut first = if mine.is_empty() { theirs } else { std::mem::take(&mut mine) };
    assert_eq!((first.len(), take(other).await.len()), (1, 0));
    let first = first.remove(0);
    gate.inner.clock.pass(1_000);
    let second = take(other).await.remove(0);
    gate.store().end_callback(first.clone(), Delivery::Arrived).await.unwrap();
    let still = gate.callbacks(1).await.unwrap().remove(0);
    assert_eq!((still.ended_at, still.tries, &still.id), (None, 2, &first.id));
    let why = "the receiver answered HTTP 410".to_owned();
    gate.store().end_callback(second, Delivery::Refused { why: why.clone() }).await.unwrap();

    let ended = gate.callbacks(1).await.unwrap().remove(0);
    assert_eq!((ended.next_at, ended.error), (None, Some(why)));
    assert!(ended.ended_at.is_some());
    gate.close().await;
}

#[tokio::test]
async fn undelivered_callback_is_given_up_after_a_day() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start().await;
    let gate = start(with(folder.path(), &receiver.config, ToolConfig::default())).await;
    gate.gate.inner.clock.stop();
    receiver.answers(500);
    let id = propose(&gate, "t", "").await;
    gate.reject(&id, "").await;
    receiver.next().await;
    until(&gate, |it| it.error.is_some()).await;

    gate.gate.inner.clock.pass(DAY + 1);
    reconcile::tidy(&gate.gate).await.unwrap();
    let given_up = until(&gate, |it| it.ended_at.is_some()).await;
    assert_eq!(given_up.error.as_deref(), Some("the receiver answered HTTP 500"));
    let late = Delivery::Failed { why: "late".to_owned(), pause: 1, held: false };
    gate.gate.store().end_callback(given_up.clone(), late).await.unwrap();
    assert_eq!(listed(&gate).await, [given_up]);
    gate.gate.inner.clock.pass(7 * DAY + 1);
    reconcile::tidy(&gate.gate).await.unwrap();

    assert_eq!(listed(&gate).await, []);
    gate.stop().await;
}

#[tokio::test]
async fn callback_answered_with_410_is_not_retried() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start().await;
    receiver.answers(410);
    let gate = start(with(folder.path(), &receiver.config, ToolConfig::default())).await;
    let id = propose(&gate, "t", "").await;
    gate.reject(&id, "").await;
    let gone = until(&gate, |it| it.ended_at.is_some()).await;
    assert_eq!((gone.tries, gone.error.as_deref()), (1, Some("the receiver answered HTTP 410")));
    gate.stop().await;
}

#[tokio::test]
async fn gate_without_a_usable_callback_secret_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let prints = |text: &str| TokenFrom::Command(["printf", "%s", text].map(str::to_owned).to_vec());
    let unset = TokenFrom::Env("PLACET_TEST_NO_SUCH_SECRET".to_owned());
    for (secret, said, is_a_mistake) in [
        (prints("whsec_!hidden"), "no base64", true),
        (prints("whsec_"), "the secret is empty", true),
        (prints(""), "is empty", true),
        (TokenFrom::File(folder.path().join("none")), "cannot read", true),
        // The variable may be set only for the gate's process.
        (unset, "is not set", false),
    ] {
        let without = CallbackConfig { secret, ..at("http://127.0.0.1:9/") };
        let config = with(folder.path(), &without, ToolConfig::default());
        let error = match Gate::open(&config).await {
            Err(error) => error.to_string(),
            Ok(_) => panic!("it starts: {said}"),
        };
        assert!(error.contains("gate.callbacks.orchestrator: its secret: "), "{error}");
        assert!(error.contains(said) && !error.contains("hidden"), "{error}");
        let mistakes: Vec<String> = crate::gate::mistakes(&config).iter().map(ToString::to_string).collect();
        assert_eq!(mistakes, is_a_mistake.then_some(error).into_iter().collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn changed_callback_secret_applies_after_reload() {
    // A reload reaches one process.
    if postgres::gates() > 1 {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start().await;
    let file = folder.path().join("secret");
    let put = |secret: &str| {
        std::fs::remove_file(&file).ok();
        std::io::Write::write_all(
            &mut crate::private::options().write(true).create(true).open(&file).unwrap(),
            secret.as_bytes(),
        )
        .unwrap();
    };
    put("another secret");
    let secret = CallbackConfig { secret: TokenFrom::File(file.clone()), ..receiver.config.clone() };
    let gate = start(with(folder.path(), &secret, ToolConfig::default())).await;
    let told = async || {
        let id = propose(&gate, "t", "").await;
        gate.reject(&id, "").await;
        receiver.next().await
    };

    assert!(!told().await.is_signed());
    put("whsec_!");
    let problems = gate.gate.reload(folder.path()).await;
    assert!(problems.iter().any(|it| it.contains("gate.callbacks.orchestrator: its secret")), "{problems:?}");
    assert!(!told().await.is_signed());
    put(SECRET);
    assert_eq!(gate.gate.reload(folder.path()).await, Vec::<String>::new());
    assert!(told().await.is_signed());
    gate.stop().await;
}

/// A server that reads one request for each answer, then closes the connection.
async fn answers_raw(answers: &[&'static [u8]]) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let answers = answers.to_vec();
    tokio::spawn(async move {
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let (mut got, mut some) = (Vec::new(), [0; 4_096]);
            while !got.ends_with(b"}}") {
                let read = stream.read(&mut some).await.unwrap();
                got.extend_from_slice(&some[..read]);
            }
            stream.write_all(answer).await.unwrap();
        }
    });
    url
}

#[tokio::test]
async fn any_2xx_counts_as_delivered() {
    for answer in [
        &b"HTTP/1.1 202 Accepted\r\nContent-Length: 100\r\n\r\ncut"[..],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nnot",
        b"HTTP/1.1 299 Odd\r\nContent-Length: 99999999999\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\nand yet some",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let receiver = at(&answers_raw(&[answer]).await);
        let gate = start(with(folder.path(), &receiver, ToolConfig::default())).await;
        let id = propose(&gate, "t", "").await;
        gate.reject(&id, "").await;

        let told = until(&gate, |it| it.error.is_some() || it.ended_at.is_some()).await;

        assert_eq!((told.tries, told.error), (1, None), "{}", String::from_utf8_lossy(answer));
        gate.stop().await;
    }
}

#[tokio::test]
async fn retry_after_delays_all_messages() {
    let folder = tempfile::tempdir().unwrap();
    let url = answers_raw(&[b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7200\r\n\r\n"]).await;
    let gate = start(with(folder.path(), &at(&url), ToolConfig::default())).await;
    let id = propose(&gate, "t", "").await;
    gate.reject(&id, "").await;

    let busy = until(&gate, |it| it.error.is_some()).await;

    let left = busy.next_at.unwrap().since(gate.gate.inner.clock.now());
    assert!((7_100_000..=7_200_000).contains(&left), "{left}");
    let id = propose(&gate, "t", "").await;
    gate.reject(&id, "").await;
    // Another gate on the database would take it, too.
    let due = gate.gate.store().take_callbacks("orchestrator".to_owned(), 1_000, 9).await.unwrap();
    assert!(due.is_empty(), "{due:?}");
    let again = listed(&gate).await;
    assert_eq!(again.iter().map(|it| it.tries).sum::<u64>(), 1, "{again:?}");
    gate.stop().await;
}

#[tokio::test]
async fn hanging_receiver_does_not_delay_others() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start().await;
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hangs = at(&format!("http://{}/", silent.local_addr().unwrap()));
    let mut config = with(folder.path(), &receiver.config, ToolConfig::default());
    config.callbacks.insert("hangs".to_owned(), hangs);
    let gate = start(config).await;
    let stuck = gate.propose_with("t", "{}", r#","callback":"hangs""#).await;
    gate.reject(&stuck, "").await;
    // The receiver has the message and does not answer.
    let (_connection, _) = tokio::time::timeout(LIMIT, silent.accept()).await.unwrap().unwrap();

    let id = propose(&gate, "t", "").await;
    gate.reject(&id, "").await;

    assert_eq!(receiver.next().await.status(), "rejected");
    gate.stop.now.cancel();
    gate.stop().await;
}

/// Proposes under these traces.
async fn traced(gate: &TestGate, traces: &[&str], body: &str, key: &str) -> super::support::Answer {
    let mut request = gate
        .request(Method::POST, "/api/pending-actions", &gate.agent)
        .header("content-type", "application/json")
        .header("idempotency-key", key);
    for trace in traces {
        request = request.header("traceparent", *trace);
    }
    answer(request.body(body.to_owned())).await
}

fn call(tool: &str) -> String {
    format!(r#"{{"toolName":"{tool}","workspaceId":"w","toolInput":{{}},"callback":"orchestrator"}}"#)
}

#[tokio::test]
async fn trace_reaches_executor_callback_and_audit() {
    let folder = tempfile::tempdir().unwrap();
    let (receiver, service) = (Receiver::start().await, Receiver::start().await);
    let mut config = with(folder.path(), &receiver.config, script("printf %s \"$TRACEPARENT\""));
    let executor = Executor::Http { url: service.config.url.clone() };
    config.tools.insert("service".to_owned(), ToolConfig { executor, ..ToolConfig::default() });
    let gate = start(config).await;
    let propose =
        async |tool: &str| traced(&gate, &[TRACE], &call(tool), tool).await.at("/pending_action_id");

    let (command, posted, pulled) = (propose("t").await, propose("service").await, propose("pulled").await);
    for id in [&command, &posted, &pulled] {
        assert_eq!(gate.approve(id, "").await.status, 200);
    }
    let claimed = gate.post_as(&gate.agent, &format!("/api/pending-actions/{pulled}/claim"), "").await;

    assert_eq!(gate.until_final(&command).await.at("/result"), TRACE);
    assert_eq!(service.next().await.header("traceparent"), TRACE);
    assert_eq!(claimed.at("/traceparent"), TRACE);
    for _ in 0..5 {
        assert_eq!(receiver.next().await.header("traceparent"), TRACE);
    }
    let created = gate.gate.store().timeline(&command).await.unwrap().remove(0);
    let details: Value = serde_json::from_str(created.details.as_deref().unwrap()).unwrap();
    assert_eq!((&details["traceparent"], &details["callback"]), (&TRACE.into(), &"orchestrator".into()));
    assert_eq!(gate.gate.verify_audit(&[]).await.unwrap().problems, Vec::<String>::new());
    gate.stop().await;
}

#[tokio::test]
async fn trace_is_not_part_of_keys() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start().await;
    let gate = start(with(folder.path(), &receiver.config, ToolConfig::default())).await;
    let other = TRACE.replace("b7ad", "aaaa");

    let first = traced(&gate, &[TRACE], &call("t"), "k").await;
    let again = traced(&gate, &[&other], &call("t"), "k").await;
    let mut ignored = Vec::new();
    for (key, traces) in [("a", vec!["00-0af7"]), ("b", vec![TRACE, &other]), ("c", vec![])] {
        ignored.push(traced(&gate, &traces, &call("t"), key).await.at("/pending_action_id"));
    }

    assert_eq!((again.status, &again.text), (202, &first.text));
    let origin = async |id: &str| gate.gate.store().get(id).await.unwrap().unwrap().origin.traceparent;
    assert_eq!(origin(&first.at("/pending_action_id")).await.as_deref(), Some(TRACE));
    for id in ignored {
        assert_eq!(origin(&id).await, None);
    }
    gate.stop().await;
}
