//! dendrux with and without the bridge, for the shared scenarios.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;

use super::house::{Call, Kind, Run, Verdicts, gated};
use super::server::{House, router};
use crate::config::{self, SourceConfig, SourceKind};
use crate::domain::{ActionId, DecisionKind};
use crate::net::testing::serve;
use crate::sources::Source;
use crate::sources::dendrux::call_id::CallId;
use crate::sources::tests::{Faults, Place, Stand, World};

pub(in crate::sources) const WORLDS: &[Place] = &[
    Place { name: "dendrux, bridge", make: || Box::pin(world(Kind::Bridge)) },
    Place { name: "dendrux 0.2, bridge", make: || Box::pin(world(Kind::OldBridge)) },
    Place { name: "dendrux, plain", make: || Box::pin(world(Kind::Plain)) },
    Place { name: "dendrux 0.2, plain", make: || Box::pin(world(Kind::OldPlain)) },
];

async fn world(kind: Kind) -> Arc<dyn World> {
    Arc::new(Reached::of(kind).await)
}

pub(super) struct Reached {
    pub(super) house: Arc<House>,
    pub(super) url: String,
}

impl Reached {
    pub(super) async fn of(kind: Kind) -> Self {
        Self::with(kind, false).await
    }

    pub(super) async fn with(kind: Kind, unwritten: bool) -> Self {
        let (runs, seen, stream) = (Mutex::default(), Mutex::default(), Mutex::default());
        let (faults, blinding) = (Faults::default(), AtomicBool::new(false));
        let house = Arc::new(House { kind, faults, runs, seen, unwritten, stream, blinding });
        let url = serve(router(Arc::clone(&house))).await;
        Self { house, url }
    }

    pub(super) fn open(&self, limit: Duration) -> Arc<dyn Source> {
        self.open_as(Some("kim"), limit)
    }

    pub(super) fn open_as(&self, reviewer: Option<&str>, limit: Duration) -> Arc<dyn Source> {
        let kind = SourceKind::Dendrux(config::Dendrux::default());
        let reviewer = reviewer.map(str::to_owned);
        let config = SourceConfig { reviewer, ..SourceConfig::of("s", kind, &self.url) };
        crate::sources::open_in_a_hurry(&config, limit).unwrap()
    }

    /// Pauses a new run. Returns its calls' ids as the source lists them.
    pub(super) fn waits(&self, status: &str, calls: Vec<Call>) -> Vec<ActionId> {
        let mut runs = self.house.runs.lock().unwrap();
        let id = format!("R{}", runs.len());
        let mut run = Run { id: id.clone(), ..Run::default() };
        run.happens("run.started", None, serde_json::json!({"agent_name": "Storekeeper"}));
        run.happens("llm.completed", None, serde_json::json!({"has_tool_calls": true}));
        let name = |(n, call): (usize, Call)| Call { id: format!("{id}C{n}"), ..call };
        let calls: Vec<_> = calls.into_iter().enumerate().map(name).collect();
        run.waits(status, calls.clone());
        let place = |call: Option<&Call>| {
            CallId { run: id.clone(), pause: run.pause() as u64, call: call.map(|call| call.id.clone()) }.id()
        };
        let ids = if calls.is_empty() {
            vec![place(None)]
        } else {
            calls.iter().map(|it| place(Some(it))).collect()
        };
        runs.push(run);
        ids
    }

    pub(super) fn with_run<T>(&self, id: &ActionId, act: impl FnOnce(&mut Run) -> T) -> Option<T> {
        let place = CallId::of(id)?;
        self.house.runs.lock().unwrap().iter_mut().find(|run| run.id == place.run).map(act)
    }

    /// Approves a whole turn under a name that a bridge records.
    pub(super) fn approved_by(&self, id: &ActionId, name: Option<&str>) {
        let old = self.house.kind.old();
        self.with_run(id, |run| {
            run.decided.push(serde_json::json!({"pause": run.pause(), "decided_by": name, "at": null}));
            run.decide(&Verdicts::Whole(true, None), old);
        });
    }

    pub(super) fn seen(&self) -> Vec<String> {
        std::mem::take(&mut *self.house.seen.lock().unwrap())
    }

    fn put(&self, params: &str) -> ActionId {
        self.waits("waiting_approval", vec![gated("write_note", params)]).remove(0)
    }
}

#[async_trait]
impl World for Reached {
    fn kind(&self) -> &'static str {
        "dendrux"
    }

    fn source(&self, limit: Duration) -> Arc<dyn Source> {
        self.open(limit)
    }

    fn faults(&self) -> &Faults {
        &self.house.faults
    }

    async fn propose(&self, n: usize) -> ActionId {
        self.put(&format!(r#"{{"note": "number {n}", "n": 1.10}}"#))
    }

    async fn propose_broken(&self) {
        let id = self.put("{}");
        self.with_run(&id, |run| run.broken = true);
    }

    async fn propose_odd(&self) -> ActionId {
        let id = self.put(r#"{"note": "odd"}"#);
        self.with_run(&id, |run| run.odd = r#","frobnication":{"deep":[1]}"#);
        id
    }

    async fn turn_odd(&self, id: &ActionId) -> bool {
        self.with_run(id, |run| run.status = "simmering".to_owned());
        true
    }

    async fn expire(&self, _: &ActionId) -> bool {
        false
    }

    async fn settle_elsewhere(&self, id: &ActionId, kind: DecisionKind) {
        let old = self.house.kind.old();
        self.with_run(id, |run| run.decide(&Verdicts::Whole(kind.approves(), None), old));
    }

    async fn forget(&self, id: &ActionId) {
        let run = CallId::of(id).unwrap().run;
        self.house.runs.lock().unwrap().retain(|known| known.id != run);
    }

    async fn change(&self, id: &ActionId) -> bool {
        self.with_run(id, |run| {
            let call =
                Call { id: "other".to_owned(), ..gated("write_note", r#"{"note": "something else"}"#) };
            run.happens("run.resumed", None, serde_json::json!({}));
            run.waits("waiting_approval", vec![call]);
        });
        true
    }

    async fn stands(&self, id: &ActionId) -> Stand {
        let call = CallId::of(id).unwrap().call;
        let told = self.with_run(id, |run| {
            let row = run.rows.iter().find(|row| Some(&row.call) == call.as_ref());
            match row {
                Some(row) if row.success => Stand::Approved,
                Some(_) => Stand::Rejected,
                None => Stand::Pending,
            }
        });
        told.unwrap_or(Stand::Gone)
    }

    async fn runs(&self, id: &ActionId) -> String {
        self.with_run(id, |run| run.ran.join(" ")).unwrap_or_default()
    }

    async fn said(&self, id: &ActionId) -> Option<String> {
        self.with_run(id, |run| run.said.clone()).flatten()
    }

    async fn taken(&self, id: &ActionId) -> usize {
        self.with_run(id, |run| run.taken).unwrap_or_default()
    }
}
