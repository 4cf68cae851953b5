//! A fake service like the measured one, with either store, and its faults.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use crate::clock;
use crate::config::{SourceConfig, SourceKind};
use crate::contract::fields::Fields;
use crate::contract::time;
use crate::domain::{ActionId, DecisionKind, Timestamp, json};
use crate::net::testing::serve;
use crate::sources::Source;
use crate::sources::tests::{Faults, Place, Stand, World};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Store {
    /// Leaves out absent members and lists expired requests.
    Memory,
    /// Writes absent members as null and hides expired requests.
    Sqlite,
}

pub(in crate::sources) const WORLDS: &[Place] = &[
    Place { name: "confused-ai, in memory", make: || Box::pin(memory()) },
    Place { name: "confused-ai, in SQLite", make: || Box::pin(sqlite()) },
];

async fn memory() -> Arc<dyn World> {
    Arc::new(Service::start(Store::Memory).await)
}

async fn sqlite() -> Arc<dyn World> {
    Arc::new(Service::start(Store::Sqlite).await)
}

/// A service process. Several can share a store.
#[derive(Clone)]
pub(super) struct Service {
    pub(super) office: Arc<Office>,
    pub(super) url: String,
}

pub(super) struct Office {
    store: Store,
    faults: Faults,
    credential: Option<(&'static str, &'static str)>,
    /// Whether internal errors are described.
    exposes: bool,
    books: Arc<Mutex<Books>>,
}

/// An answer of 200 that does not match the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Twist {
    Contrary,
    OtherArguments,
    Nonsense,
}

#[derive(Default)]
pub(super) struct Books {
    twist: Option<Twist>,
    kept: Vec<Kept>,
    broken: Vec<&'static str>,
    /// Each process decides on its stale read, and the last write wins.
    torn: bool,
    /// A request that another reviewer decides just before our next decision on it.
    overtaken: Option<String>,
}

struct Kept {
    id: String,
    run: String,
    arguments: String,
    odd: bool,
    status: &'static str,
    expires_at: Timestamp,
    comment: Option<String>,
    by: Option<String>,
    at: Option<Timestamp>,
    taken: usize,
}

impl Kept {
    fn text(&self, store: Store, listed: bool) -> String {
        let word = |name: &str, value: Option<String>, null: bool| match value {
            Some(value) => format!(r#","{name}":{}"#, json::encode(&value)),
            None if null => format!(r#","{name}":null"#),
            None => String::new(),
        };
        let sqlite = store == Store::Sqlite;
        let risk = if self.odd { "spicy" } else { "medium" };
        let odd = if self.odd { r#","frobnication":{"deep":[1]}"# } else { "" };
        // The answer to a decision leaves out absent members in both stores.
        let said = word("comment", self.comment.clone(), sqlite && listed)
            + &word("decidedBy", self.by.clone(), sqlite && listed)
            + &word("decidedAt", self.at.map(time::write), sqlite)
            + &word("requestedBy", None, sqlite)
            + if sqlite { "" } else { r#","ttlMs":1800000"# };
        format!(
            r#"{{"id":"{}","runId":"{}","agentName":"Clerk","toolName":"write_note","toolArguments":{},"riskLevel":"{risk}","description":"Write a note","status":"{}","createdAt":"2026-11-21T20:32:20.516Z","expiresAt":"{}"{said}{odd}}}"#,
            self.id,
            self.run,
            self.arguments,
            if listed { "pending" } else { self.status },
            time::write(self.expires_at),
        )
    }

    fn decide(&mut self, approve: bool, comment: Option<String>, by: Option<String>) {
        self.status = if approve { "approved" } else { "rejected" };
        (self.comment, self.by, self.at) = (comment, by, Some(clock::now()));
        self.taken += 1;
    }
}

impl Service {
    pub(super) async fn start(store: Store) -> Self {
        Self::with(store, None, false, Arc::default()).await
    }

    pub(super) async fn with(
        store: Store,
        credential: Option<(&'static str, &'static str)>,
        exposes: bool,
        books: Arc<Mutex<Books>>,
    ) -> Self {
        let office = Arc::new(Office { store, faults: Faults::default(), credential, exposes, books });
        let app = Router::new()
            .route("/v1/approvals", get(list))
            .route("/v1/approvals/{id}", axum::routing::post(decide))
            .fallback(|| async { error(404, r#"{"error":"Not found"}"#.to_owned()) })
            .layer(middleware::from_fn_with_state(Arc::clone(&office), meet))
            .with_state(Arc::clone(&office));
        Self { office, url: serve(app).await }
    }

    /// Starts another process on the same store. From then on each decides on stale reads.
    pub(super) async fn second_process(&self) -> Self {
        self.office.books().torn = true;
        Self::with(self.office.store, None, false, Arc::clone(&self.office.books)).await
    }

    pub(super) fn config(&self) -> SourceConfig {
        let config = SourceConfig::of("shop", SourceKind::ConfusedAi, &self.url);
        SourceConfig { reviewer: Some("kim".to_owned()), ..config }
    }

    pub(super) fn put(&self, arguments: &str, odd: bool) -> ActionId {
        let mut books = self.office.books();
        let n = books.kept.len();
        let expires_at = clock::now().plus_millis(30 * 60 * 1_000);
        let (id, run) = (format!("req-{n}"), format!("run-{}", n / 3));
        let (arguments, status) = (arguments.to_owned(), "pending");
        let (comment, by, at, taken) = (None, None, None, 0);
        books.kept.push(Kept {
            id: id.clone(),
            run,
            arguments,
            odd,
            status,
            expires_at,
            comment,
            by,
            at,
            taken,
        });
        ActionId::new(id)
    }

    fn with_kept<T>(&self, id: &ActionId, act: impl FnOnce(&mut Kept) -> T) -> Option<T> {
        self.office.books().kept.iter_mut().find(|kept| kept.id == id.as_raw()).map(act)
    }

    pub(super) fn expires_in(&self, id: &ActionId, millis: i64) {
        self.with_kept(id, |kept| kept.expires_at = clock::now().plus_millis(millis));
    }

    pub(super) fn twist(&self, twist: Twist) {
        self.office.books().twist = Some(twist);
    }

    pub(super) fn overtake(&self, id: &ActionId) {
        self.office.books().overtaken = Some(id.as_raw().to_owned());
    }

    pub(super) fn by(&self, id: &ActionId) -> Option<String> {
        self.with_kept(id, |kept| kept.by.clone()).flatten()
    }
}

impl Office {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }
}

fn error(status: u16, body: String) -> Response {
    let mut answer =
        (StatusCode::from_u16(status).unwrap(), [("content-type", "application/json")], body).into_response();
    if status == 401 {
        answer.headers_mut().insert("www-authenticate", r#"Bearer realm="confused-ai""#.parse().unwrap());
    }
    answer
}

fn refusal(status: u16) -> Response {
    let body = match status {
        401 => r#"{"error":"Unauthorized","reason":"Missing API key"}"#,
        404 => r#"{"error":"Approval request 'x' not found"}"#,
        422 | 400 => r#"{"error":"Missing required field: approved (boolean)"}"#,
        500 => r#"{"error":"Internal server error"}"#,
        _ => r#"{"error":"no"}"#,
    };
    let mut refusal = error(status, body.to_owned());
    if status == 429 {
        refusal.headers_mut().insert("retry-after", "1".parse().unwrap());
    }
    refusal
}

async fn meet(State(office): State<Arc<Office>>, request: Request, next: Next) -> Response {
    let decides = request.method() == Method::POST;
    let welcome = office
        .credential
        .is_none_or(|(name, value)| request.headers().get(name).is_some_and(|given| given == value));
    if !welcome {
        return refusal(401);
    }
    office.faults.meet(decides, refusal, next.run(request)).await
}

async fn list(State(office): State<Arc<Office>>) -> Response {
    let books = office.books();
    let now = clock::now();
    let shown = |kept: &&Kept| {
        (kept.status == "pending" || books.torn) && (office.store == Store::Memory || kept.expires_at > now)
    };
    let mut items: Vec<String> =
        books.kept.iter().filter(shown).map(|kept| kept.text(office.store, true)).collect();
    let middle = items.len() / 2;
    items.splice(middle..middle, books.broken.iter().map(|it| (*it).to_owned()));
    error(200, format!(r#"{{"approvals":[{}]}}"#, items.join(",")))
}

async fn decide(
    State(office): State<Arc<Office>>,
    Path(id): Path<String>,
    _: HeaderMap,
    body: Bytes,
) -> Response {
    let body = String::from_utf8(body.to_vec()).unwrap();
    let Some(fields) = Fields::of(&body) else { return refusal(400) };
    let Some(approve) = fields.flag("approved") else { return refusal(400) };
    let text = |name| fields.text(name).map(|text| text.as_raw().to_owned());
    let mut books = office.books();
    let (torn, twist) = (books.torn, books.twist);
    let overtaken = books.overtaken.take_if(|overtaken| *overtaken == id).is_some();
    let Some(kept) = books.kept.iter_mut().find(|kept| kept.id == id) else {
        return error(404, format!(r#"{{"error":"Approval request '{id}' not found"}}"#));
    };
    if overtaken {
        kept.decide(false, None, Some("bob".to_owned()));
    }
    // The service decides expired requests, too.
    if kept.status != "pending" && !torn {
        let told = error(500, format!(r#"{{"error":"Approval {id} is already {}"}}"#, kept.status));
        return if office.exposes { told } else { refusal(500) };
    }
    kept.decide(approve != (twist == Some(Twist::Contrary)), text("comment"), text("decidedBy"));
    match twist {
        Some(Twist::OtherArguments) => kept.arguments = r#"{"note":"something else"}"#.to_owned(),
        Some(Twist::Nonsense) => return error(200, "<html>thank you".to_owned()),
        Some(Twist::Contrary) | None => {}
    }
    error(200, kept.text(office.store, false))
}

#[async_trait]
impl World for Service {
    fn kind(&self) -> &'static str {
        "confused-ai"
    }

    fn source(&self, limit: Duration) -> Arc<dyn Source> {
        crate::sources::open_in_a_hurry(&self.config(), limit).unwrap()
    }

    fn faults(&self) -> &Faults {
        &self.office.faults
    }

    async fn propose(&self, n: usize) -> ActionId {
        self.put(&format!(r#"{{"note":"number {n}","n":1.10}}"#), false)
    }

    async fn propose_broken(&self) {
        self.office
            .books()
            .broken
            .push(r#"{"id":"req-broken","runId":"run-0","toolName":"write_note","status":"pending"}"#);
    }

    async fn propose_odd(&self) -> ActionId {
        self.put(r#"{"note":"odd"}"#, true)
    }

    async fn turn_odd(&self, _: &ActionId) -> bool {
        false
    }

    async fn expire(&self, id: &ActionId) -> bool {
        self.with_kept(id, |kept| kept.expires_at = Timestamp::from_millis(1)).is_some()
    }

    async fn settle_elsewhere(&self, id: &ActionId, kind: DecisionKind) {
        self.with_kept(id, |kept| kept.decide(kind.approves(), None, Some("bob".to_owned())));
    }

    async fn forget(&self, id: &ActionId) {
        self.office.books().kept.retain(|kept| kept.id != id.as_raw());
    }

    /// The API cannot change it, but another user of the database can.
    async fn change(&self, id: &ActionId) -> bool {
        self.with_kept(id, |kept| kept.arguments = r#"{"note":"something else"}"#.to_owned()).is_some()
    }

    async fn stands(&self, id: &ActionId) -> Stand {
        match self.with_kept(id, |kept| kept.status) {
            Some("pending") => Stand::Pending,
            Some("approved") => Stand::Approved,
            Some(_) => Stand::Rejected,
            None => Stand::Gone,
        }
    }

    async fn runs(&self, id: &ActionId) -> String {
        self.with_kept(id, |kept| kept.arguments.clone()).unwrap_or_default()
    }

    async fn said(&self, id: &ActionId) -> Option<String> {
        self.with_kept(id, |kept| kept.comment.clone()).flatten()
    }

    async fn taken(&self, id: &ActionId) -> usize {
        self.with_kept(id, |kept| kept.taken).unwrap_or_default()
    }
}
