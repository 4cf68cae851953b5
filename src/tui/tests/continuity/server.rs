//! A fake gate: list, changes and stream, with everything that can go wrong between it and an inbox.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::rounds::Random;

#[derive(Default)]
pub(crate) struct Server(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    rows: BTreeMap<String, Row>,
    purged: Vec<(u64, String)>,
    revision: u64,
    /// Revision up to which the changes are forgotten.
    forgotten: u64,
    streams: Vec<mpsc::UnboundedSender<String>>,
    /// Number of stream connections still to refuse.
    refuses: usize,
    fails: usize,
    /// Number of changes still to leave out of the stream.
    mute: usize,
}

struct Row {
    title: String,
    status: &'static str,
    revision: u64,
}

impl Server {
    pub(crate) async fn serve(self: Arc<Self>) -> String {
        let routes = Router::new()
            .route("/api/pending-actions", get(list))
            .route("/api/pending-actions/changes", get(changes))
            .route("/api/pending-actions/events", get(events))
            .with_state(self);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        url
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    pub(crate) fn pending(&self) -> BTreeMap<String, String> {
        let inner = self.inner();
        let open = inner.rows.iter().filter(|(_, row)| row.status == "pending");
        open.map(|(id, row)| (id.clone(), row.title.clone())).collect()
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.inner().streams.iter().any(|stream| !stream.is_closed())
    }

    pub(crate) fn recovers(&self) {
        let mut inner = self.inner();
        (inner.refuses, inner.fails, inner.mute) = (0, 0, 0);
        inner.streams.clear();
    }

    /// Does one random thing and returns its name, for the failure message.
    pub(crate) fn happens(&self, chance: &mut Random) -> &'static str {
        let inner = &mut *self.inner();
        match chance.below(20) {
            0..=4 => inner.propose(),
            5 | 6 => inner.change(chance, "settled", |row, _| row.status = "approved"),
            7 => inner.change(chance, "retitled", |row, n| row.title = format!("again {n}")),
            8 => inner.change(chance, "back to pending", |row, _| row.status = "pending"),
            9 => inner.purge(chance),
            10 | 11 => {
                inner.streams.clear();
                "streams closed"
            }
            12 => {
                inner.streams.clear();
                inner.refuses = 1 + chance.below(3);
                "streams refused"
            }
            13 => {
                inner.mute = 1 + chance.below(4);
                "changes not told"
            }
            14 => {
                inner.fails = 1 + chance.below(3);
                "requests fail"
            }
            15 => {
                inner.forgotten = inner.revision;
                "changes forgotten"
            }
            16 => inner.say(&"event: resync\ndata: {}\n\n".repeat(1 + chance.below(3)), "resync"),
            17 => {
                let old = inner.revision.saturating_sub(chance.below(5) as u64);
                let again = Inner::briefing(old).repeat(1 + chance.below(3));
                inner.say(&again, "old briefings")
            }
            18 => inner.say("event: tick\ndata: 1\n\nevent: briefing\ndata: \u{fffd}{{\n\n", "nonsense"),
            _ => {
                inner.say("event: briefing\ndata: {\"pend", "half an event");
                inner.streams.clear();
                "half an event"
            }
        }
    }
}

impl Inner {
    fn propose(&mut self) -> &'static str {
        let id = format!("a{}", self.revision + 1);
        let row = Row { title: format!("new {id}"), status: "pending", revision: 0 };
        self.rows.insert(id.clone(), row);
        self.bump(&id, "proposed")
    }

    fn change(&mut self, chance: &mut Random, name: &'static str, how: fn(&mut Row, u64)) -> &'static str {
        let Some(id) = self.pick(chance) else { return "nothing there" };
        how(self.rows.get_mut(&id).unwrap(), self.revision);
        self.bump(&id, name)
    }

    fn purge(&mut self, chance: &mut Random) -> &'static str {
        let Some(id) = self.pick(chance) else { return "nothing there" };
        self.rows.remove(&id);
        self.purged.push((self.revision + 1, id.clone()));
        self.bump(&id, "purged")
    }

    fn pick(&self, chance: &mut Random) -> Option<String> {
        let n = chance.below(self.rows.len().max(1));
        self.rows.keys().nth(n).cloned()
    }

    fn bump(&mut self, id: &str, name: &'static str) -> &'static str {
        self.revision += 1;
        if let Some(row) = self.rows.get_mut(id) {
            row.revision = self.revision;
        }
        if self.mute > 0 {
            self.mute -= 1;
            return name;
        }
        let briefing = Self::briefing(self.revision);
        self.say(&briefing, name)
    }

    fn briefing(revision: u64) -> String {
        format!("id: {revision}\nevent: briefing\ndata: {{\"pending\":1,\"revision\":{revision}}}\n\n")
    }

    fn say(&mut self, text: &str, name: &'static str) -> &'static str {
        self.streams.retain(|stream| stream.send(text.to_owned()).is_ok());
        name
    }

    fn fails(&mut self) -> bool {
        let fails = self.fails > 0;
        self.fails = self.fails.saturating_sub(1);
        fails
    }
}

fn row(id: &str, row: &Row) -> Value {
    json!({"id": id, "toolName": "t", "status": row.status, "title": row.title, "revision": row.revision})
}

fn reply(body: &Value) -> Response {
    ([("content-type", "application/json")], body.to_string()).into_response()
}

async fn list(State(server): State<Arc<Server>>) -> Response {
    let mut inner = server.inner();
    if inner.fails() {
        return StatusCode::BAD_GATEWAY.into_response();
    }
    let items: Vec<Value> =
        inner.rows.iter().filter(|(_, row)| row.status == "pending").map(|(id, it)| row(id, it)).collect();
    reply(&json!({"items": items, "revision": inner.revision}))
}

async fn changes(
    State(server): State<Arc<Server>>,
    Query(query): Query<BTreeMap<String, String>>,
) -> Response {
    let mut inner = server.inner();
    if inner.fails() {
        return StatusCode::BAD_GATEWAY.into_response();
    }
    let since: u64 = query["since"].parse().unwrap();
    if since < inner.forgotten || since > inner.revision {
        return reply(&json!({"changes": [], "revision": inner.revision, "more": false, "complete": false}));
    }
    let rows = inner.rows.iter().filter(|(_, it)| it.revision > since);
    let rows = rows.map(|(id, it)| json!({"revision": it.revision, "id": id, "row": row(id, it)}));
    let gone = inner.purged.iter().filter(|(revision, _)| *revision > since);
    let gone = gone.map(|(revision, id)| json!({"revision": revision, "id": id, "row": null}));
    let changes: Vec<Value> = rows.chain(gone).collect();
    reply(&json!({"changes": changes, "revision": inner.revision, "more": false, "complete": true}))
}

async fn events(State(server): State<Arc<Server>>, _: HeaderMap) -> Response {
    let mut inner = server.inner();
    if inner.refuses > 0 {
        inner.refuses -= 1;
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let (stream, mut said) = mpsc::unbounded_channel();
    // A real gate sends a briefing on connect.
    stream.send(Inner::briefing(inner.revision)).unwrap();
    inner.streams.push(stream);
    let body = async_stream::stream! {
        while let Some(text) = said.recv().await {
            yield Ok::<_, Infallible>(text);
        }
    };
    ([("content-type", "text/event-stream")], Body::from_stream(body)).into_response()
}
