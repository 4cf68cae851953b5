//! Two fake backends with records: a gate, which compares digests and remembers names and keys, and a Praxiom, which does
//! not.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;

use super::fake;
use crate::clock;
use crate::config::{Praxiom, SourceKind};
use crate::contract::time;
use crate::domain::{ActionId, DecisionKind, Edits, RawJson, Timestamp, merge};
use crate::net::testing::serve;
use crate::sources::Source;
use crate::sources::pending_actions::Dialect;
use crate::sources::tests::{Faults, Place, Stand, World};

mod server;

pub(in crate::sources) const WORLDS: &[Place] = &[
    Place { name: "gate", make: || Box::pin(gate(false)) },
    Place { name: "gate, in a batch", make: || Box::pin(gate(true)) },
    Place { name: "praxiom", make: || Box::pin(praxiom(false)) },
    Place { name: "praxiom, in a batch", make: || Box::pin(praxiom(true)) },
];

/// Starts a gate; its proposals have no batch, or share one.
async fn gate(batched: bool) -> Arc<dyn World> {
    office(Dialect::Gate, batched).await
}

async fn praxiom(batched: bool) -> Arc<dyn World> {
    office(Dialect::Praxiom, batched).await
}

async fn office(dialect: Dialect, batched: bool) -> Arc<dyn World> {
    let office = Arc::new(Office { dialect, batched, faults: Faults::default(), books: Mutex::default() });
    let url = serve(server::router(Arc::clone(&office))).await;
    Arc::new(Reached { office, url })
}

struct Reached {
    office: Arc<Office>,
    url: String,
}

struct Office {
    dialect: Dialect,
    batched: bool,
    faults: Faults,
    books: Mutex<Books>,
}

#[derive(Default)]
struct Books {
    actions: Vec<Kept>,
    broken: Vec<String>,
    answered: HashMap<String, (u16, String)>,
}

struct Kept {
    id: String,
    batch: Option<&'static str>,
    input: String,
    status: String,
    by: Option<String>,
    at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
    said: Option<String>,
    effective: Option<String>,
    /// Unknown members, preceded by a comma.
    odd: &'static str,
    taken: usize,
}

impl Kept {
    fn text(&self, dialect: Dialect) -> String {
        let word = |text: &Option<String>| text.as_ref().map_or("null".to_owned(), |it| format!("\"{it}\""));
        let at = |at: Option<Timestamp>| word(&at.map(time::write));
        let batch = word(&self.batch.map(str::to_owned));
        let more = match dialect {
            Dialect::Gate => format!(
                r#","resolvedBy":{},"expiresAt":{},"reason":{},"effectiveInput":{}"#,
                word(&self.by),
                at(self.expires_at),
                word(&self.said),
                self.effective.as_deref().unwrap_or("null"),
            ),
            Dialect::Praxiom => String::new(),
        };
        format!(
            r#"{{"id":"{}","workspaceId":"w","missionId":"m","sessionId":null,"batchId":{batch},"toolName":"write_note","toolInput":{},"preview":null,"status":"{}","createdAt":"2026-04-21T18:02:11.420Z","resolvedAt":{}{more}{}}}"#,
            self.id,
            self.input,
            self.status,
            at(self.at),
            self.odd,
        )
    }

    /// Expires the action if its time has passed.
    fn settle_time(&mut self) {
        if self.status == "pending" && self.expires_at.is_some_and(|at| at <= clock::now()) {
            self.status = "expired".to_owned();
        }
    }

    fn decide(&mut self, approve: bool, edits: Option<&str>, said: Option<String>, by: &str) {
        self.status = if approve { "approved" } else { "rejected" }.to_owned();
        self.at = Some(clock::now());
        self.by = Some(by.to_owned());
        self.said = said;
        self.effective = approve.then(|| match edits {
            Some(edits) => merged(&self.input, edits),
            None => self.input.clone(),
        });
        self.taken += 1;
    }
}

fn merged(input: &str, edits: &str) -> String {
    let edits = Edits::new(RawJson::parse(edits).unwrap()).unwrap();
    merge(&RawJson::parse(input).unwrap(), &edits).unwrap().as_str().to_owned()
}

impl Office {
    fn books(&self) -> MutexGuard<'_, Books> {
        let mut books = self.books.lock().unwrap();
        books.actions.iter_mut().for_each(Kept::settle_time);
        books
    }

    fn put(&self, input: String, odd: &'static str) -> ActionId {
        let mut books = self.books();
        let id = format!("pa-{}", books.actions.len());
        let expires_at = (self.dialect == Dialect::Gate).then(|| clock::now().plus_millis(60 * 60 * 1_000));
        books.actions.push(Kept {
            id: id.clone(),
            batch: self.batched.then_some("m:write/note"),
            input,
            status: "pending".to_owned(),
            by: None,
            at: None,
            expires_at,
            said: None,
            effective: None,
            odd,
            taken: 0,
        });
        ActionId::new(id)
    }

    fn with<T>(&self, id: &ActionId, act: impl FnOnce(&mut Kept) -> T) -> Option<T> {
        self.books().actions.iter_mut().find(|kept| kept.id == id.as_raw()).map(act)
    }
}

#[async_trait]
impl World for Reached {
    fn kind(&self) -> &'static str {
        match self.office.dialect {
            Dialect::Gate => "gate",
            Dialect::Praxiom => "praxiom",
        }
    }

    fn source(&self, limit: Duration) -> Arc<dyn Source> {
        let kind = match self.office.dialect {
            Dialect::Gate => SourceKind::Gate,
            Dialect::Praxiom => SourceKind::Praxiom(Praxiom::default()),
        };
        crate::sources::open_in_a_hurry(&fake::config(kind, &self.url, Some("w")), limit).unwrap()
    }

    fn faults(&self) -> &Faults {
        &self.office.faults
    }

    async fn propose(&self, n: usize) -> ActionId {
        self.office.put(format!(r#"{{"note":"number {n}","n":1.10}}"#), "")
    }

    async fn propose_broken(&self) {
        let broken = r#"{"id":"pa-broken","workspaceId":"w","toolName":"write_note","toolInput":{"n":1,},"status":"pending"}"#;
        self.office.books().broken.push(broken.to_owned());
    }

    async fn propose_odd(&self) -> ActionId {
        self.office.put(r#"{"note":"odd"}"#.to_owned(), r#","risk":"spicy","frobnication":{"deep":[1]}"#)
    }

    async fn turn_odd(&self, id: &ActionId) -> bool {
        self.office.with(id, |kept| kept.status = "simmering".to_owned());
        true
    }

    async fn expire(&self, id: &ActionId) -> bool {
        let gate = self.office.dialect == Dialect::Gate;
        gate && self.office.with(id, |kept| kept.expires_at = Some(Timestamp::from_millis(1))).is_some()
    }

    async fn settle_elsewhere(&self, id: &ActionId, kind: DecisionKind) {
        self.office.with(id, |kept| kept.decide(kind.approves(), None, None, "bob"));
    }

    async fn forget(&self, id: &ActionId) {
        self.office.books().actions.retain(|kept| kept.id != id.as_raw());
    }

    async fn change(&self, id: &ActionId) -> bool {
        self.office.with(id, |kept| kept.input = r#"{"note":"something else"}"#.to_owned()).is_some()
    }

    async fn stands(&self, id: &ActionId) -> Stand {
        let word = self.office.with(id, |kept| kept.status.clone());
        match word.as_deref() {
            Some("pending") => Stand::Pending,
            Some("approved") => Stand::Approved,
            Some("rejected") => Stand::Rejected,
            _ => Stand::Gone,
        }
    }

    async fn runs(&self, id: &ActionId) -> String {
        let runs = |kept: &mut Kept| kept.effective.clone().unwrap_or_else(|| kept.input.clone());
        self.office.with(id, runs).unwrap_or_default()
    }

    async fn said(&self, id: &ActionId) -> Option<String> {
        self.office.with(id, |kept| kept.said.clone()).flatten()
    }

    async fn taken(&self, id: &ActionId) -> usize {
        self.office.with(id, |kept| kept.taken).unwrap_or_default()
    }
}
