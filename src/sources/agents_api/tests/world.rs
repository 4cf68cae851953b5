//! Two sites for the shared scenarios.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::books::{Host, Setup, Site};
use super::config;
use super::server;
use crate::contract::pointer;
use crate::domain::{ActionId, DecisionKind, json};
use crate::net::testing::serve;
use crate::sources::Source;
use crate::sources::tests::{Faults, Place, Stand, World};

pub(in crate::sources) const WORLDS: &[Place] = &[
    Place { name: "agents-api", make: || Box::pin(site(true)) },
    Place { name: "agents-api, a host of its own", make: || Box::pin(site(false)) },
];

/// Starts a site with Data Machine, or with a host that distinguishes statuses, without pretty permalinks.
async fn site(data_machine: bool) -> Arc<dyn World> {
    let own = Setup { host: Host::OfItsOwn, pretty_permalinks: false, ..Setup::DATA_MACHINE };
    let site = Site::new(if data_machine { Setup::DATA_MACHINE } else { own });
    let url = serve(server::router(Arc::clone(&site))).await;
    Arc::new(Reached { site, url })
}

struct Reached {
    site: Arc<Site>,
    url: String,
}

#[async_trait]
impl World for Reached {
    fn kind(&self) -> &'static str {
        "agents-api"
    }

    fn source(&self, limit: Duration) -> Arc<dyn Source> {
        crate::sources::open_in_a_hurry(&config(&self.url), limit).unwrap()
    }

    fn faults(&self) -> &Faults {
        &self.site.faults
    }

    async fn propose(&self, n: usize) -> ActionId {
        self.site.put(|kept| kept.input = format!(r#"{{"title":"number {n}","n":1.10}}"#))
    }

    async fn propose_broken(&self) {
        self.site.put(|kept| {
            kept.broken = Some(r#"{"action_id":"act_broken","kind":"publish_post","status":"pending"}"#);
        });
    }

    async fn propose_odd(&self) -> ActionId {
        self.site.put(|kept| {
            kept.odd = r#","frobnication":{"deep":[1]}"#;
            kept.metadata = r#"{"effect":"spicy"}"#.to_owned();
        })
    }

    async fn turn_odd(&self, id: &ActionId) -> bool {
        self.site.with(id, |kept| kept.status = "simmering".to_owned());
        true
    }

    async fn expire(&self, id: &ActionId) -> bool {
        self.site.with(id, |kept| kept.expires_at = r#""2026-11-21T20:37:36+00:00""#.to_owned());
        true
    }

    async fn settle_elsewhere(&self, id: &ActionId, kind: DecisionKind) {
        self.site.with(id, |kept| {
            kept.status = if kind.approves() { "accepted" } else { "rejected" }.to_owned();
            kept.resolver = Some("user:9".to_owned());
            kept.taken += 1;
        });
    }

    async fn forget(&self, id: &ActionId) {
        self.site.books().actions.retain(|kept| kept.id != id.as_raw());
    }

    async fn change(&self, id: &ActionId) -> bool {
        self.site.with(id, |kept| kept.input = r#"{"title":"something else"}"#.to_owned()).is_some()
    }

    async fn stands(&self, id: &ActionId) -> Stand {
        match self.site.with(id, |kept| kept.status.clone()).as_deref() {
            Some("pending") => Stand::Pending,
            Some("accepted") => Stand::Approved,
            Some("rejected") => Stand::Rejected,
            _ => Stand::Gone,
        }
    }

    async fn runs(&self, id: &ActionId) -> String {
        self.site.with(id, |kept| kept.input.clone()).unwrap_or_default()
    }

    async fn said(&self, id: &ActionId) -> Option<String> {
        let payload = self.site.with(id, |kept| kept.payload.clone()).flatten()?;
        pointer::find(&payload, "/reason").map(|reason| json::decode(reason).text.into_owned())
    }

    async fn taken(&self, id: &ActionId) -> usize {
        self.site.with(id, |kept| kept.taken).unwrap_or_default()
    }
}
