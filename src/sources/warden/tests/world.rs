//! The engine for the shared scenarios, with reason or commit steps. It processes its queue before every answer.

use std::time::Duration;

use async_trait::async_trait;

use super::engine::Engine;
use super::{opened_for, serve_engine};
use crate::config;
use crate::domain::{ActionId, DecisionKind};
use crate::sources::tests::{Faults, Place, Stand, World};
use crate::sources::{Arc, Source};

pub(in crate::sources) const WORLDS: &[Place] = &[
    Place { name: "warden, reason steps", make: || Box::pin(warden("reason")) },
    Place { name: "warden, commit steps", make: || Box::pin(warden("commit")) },
];

async fn warden(kind: &'static str) -> Arc<dyn World> {
    let engine = Engine::new();
    engine.books().quick = true;
    let url = serve_engine(&engine).await;
    Arc::new(Sagas { engine, url, kind })
}

struct Sagas {
    engine: Engine,
    url: String,
    kind: &'static str,
}

impl Sagas {
    fn payload(&self, n: usize) -> String {
        let data = format!(r#"{{"note":"hello {n}","amount":1.10}}"#);
        if self.kind == "commit" { data } else { format!(r#"{{"data":{data},"facts":{{"n":{n}}}}}"#) }
    }
}

#[async_trait]
impl World for Sagas {
    fn kind(&self) -> &'static str {
        "warden"
    }

    fn source(&self, limit: Duration) -> Arc<dyn Source> {
        opened_for(&self.engine, &self.url, config::Warden::default(), limit)
    }

    fn faults(&self) -> &Faults {
        &self.engine.faults
    }

    async fn propose(&self, n: usize) -> ActionId {
        self.engine.hold(self.kind, &self.payload(n))
    }

    async fn propose_broken(&self) {
        let id = self.engine.hold(self.kind, "{}");
        let broken = r#"{"saga_trace_id":17,"review_payload":NaN}"#;
        self.engine.with(&id, |step| step.broken = Some(broken.to_owned()));
    }

    async fn propose_odd(&self) -> ActionId {
        let id = self.engine.hold(self.kind, &self.payload(7));
        self.engine.with(&id, |step| step.more = r#","frobnication":{"deep":[1]},"risk":"spicy""#);
        id
    }

    async fn turn_odd(&self, id: &ActionId) -> bool {
        self.engine.with(id, |step| step.status = "simmering".to_owned());
        true
    }

    async fn expire(&self, _: &ActionId) -> bool {
        false
    }

    async fn settle_elsewhere(&self, id: &ActionId, kind: DecisionKind) {
        let path = id.as_raw().split('/').collect::<Vec<_>>();
        let path = format!("/v1/sagas/{}/steps/{}/decision", path[1], path[2]);
        let word = if kind.approves() { "APPROVE" } else { "REJECT" };
        let (status, said) =
            self.engine.answer("POST", &path, "namespace=default", &format!(r#"{{"decision":"{word}"}}"#));
        assert!(status == 202 && said.contains(r#""queued""#), "{status} {said}");
        self.engine.work();
    }

    async fn forget(&self, id: &ActionId) {
        self.engine.books().steps.retain(|step| step.id() != *id);
    }

    async fn change(&self, id: &ActionId) -> bool {
        self.engine.with(id, |step| step.payload = step.payload.replace("hello", "good bye"));
        true
    }

    async fn stands(&self, id: &ActionId) -> Stand {
        self.engine.work();
        let books = self.engine.books();
        match books.steps.iter().find(|step| step.id() == *id).map(|step| step.status.as_str()) {
            None => Stand::Gone,
            Some("COMPLETED") => Stand::Approved,
            Some("FAILED") => Stand::Rejected,
            Some(_) => Stand::Pending,
        }
    }

    async fn runs(&self, id: &ActionId) -> String {
        self.engine.work();
        let reason = self.kind == "reason";
        self.engine
            .with(id, |step| step.output.clone().filter(|_| reason).unwrap_or_else(|| step.payload.clone()))
    }

    async fn said(&self, id: &ActionId) -> Option<String> {
        let failure = self.engine.with(id, |step| step.failure.clone())?;
        let fields = crate::contract::fields::Fields::of(&failure)?;
        fields.text("message").map(|message| message.as_raw().to_owned())
    }

    async fn taken(&self, id: &ActionId) -> usize {
        self.engine.books().taken.get(id).copied().unwrap_or_default()
    }
}
