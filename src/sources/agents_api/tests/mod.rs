use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::clock;
use crate::config::{AgentsApi as Settings, Auth, SourceConfig, SourceKind, TokenFrom};
use crate::contract::action::Unreadable;
use crate::domain::{
    ActionId, ActionKey, BatchKey, Decision, Outcome, PendingAction, Refusal, Row, Staged, Status,
    SubmissionBatch, SubmissionId, Untrusted, freeze,
};
use crate::net::testing::serve;
use crate::sources::{Source, SourceError, Synced};

mod books;
mod checking;
mod deciding;
mod reading;
mod server;
mod traps;
mod wire;
pub(in crate::sources) mod world;

use books::{Host, Setup, Site};

/// A command prints the password, because tests share the environment.
fn config(url: &str) -> SourceConfig {
    let command = vec!["printf".to_owned(), "%s".to_owned(), server::PASSWORD.to_owned()];
    SourceConfig {
        token: Some(TokenFrom::Command(command)),
        auth: Auth::Basic { user: server::USER.to_owned() },
        ..SourceConfig::of("site", SourceKind::AgentsApi(Settings::default()), url)
    }
}

struct Desk {
    site: Arc<Site>,
    url: String,
    source: Arc<dyn Source>,
}

impl Desk {
    async fn at(setup: Setup) -> Self {
        Self::with(setup, Settings::default()).await
    }

    async fn with(setup: Setup, settings: Settings) -> Self {
        let site = Site::new(setup);
        let url = serve(server::router(Arc::clone(&site))).await;
        let config = SourceConfig { kind: SourceKind::AgentsApi(settings), ..config(&url) };
        let source = crate::sources::open_in_a_hurry(&config, Duration::from_secs(20)).unwrap();
        Self { site, url, source }
    }

    async fn at_data_machine() -> Self {
        Self::at(Setup::DATA_MACHINE).await
    }

    async fn listed(&self) -> Result<(Vec<Row>, Vec<Unreadable>), SourceError> {
        match self.source.sync(None).await? {
            Synced::All { rows, unreadable, .. } => Ok((rows, unreadable)),
            Synced::Changes { .. } => panic!("unexpected changes"),
        }
    }

    /// Returns the action as the site reports it, or as it ended here.
    async fn get(&self, id: &ActionId) -> Option<PendingAction> {
        self.source.get(std::slice::from_ref(id)).await.unwrap().pop().map(Result::unwrap)
    }

    async fn freeze(&self, ids: &[&ActionId], decision: &Decision) -> Result<Vec<SubmissionBatch>, Refusal> {
        let (mut staged, mut loaded) = (Vec::new(), HashMap::new());
        for id in ids {
            let action = self.get(id).await.unwrap();
            let source = self.source.name().clone();
            let key = ActionKey { source: source.clone(), id: (*id).clone() };
            let batch = BatchKey::Batch(source, action.row.batch.clone().unwrap());
            let (digest, terms, at) = (Some(action.digest()), action.terms, clock::now());
            staged.push((key.clone(), Staged { decision: decision.clone(), batch, digest, terms, at }));
            loaded.insert(key, action);
        }
        let staged = staged.iter().map(|(key, staged)| (key, staged));
        let frozen = freeze(SubmissionId::new("sub"), staged, &loaded, |_| 0, clock::now());
        frozen.map(|submission| submission.batches().to_vec())
    }

    async fn approve(&self, id: &ActionId) -> Outcome {
        self.decide(id, &Decision::APPROVE).await.unwrap()
    }

    async fn decide(&self, id: &ActionId, decision: &Decision) -> Result<Outcome, SourceError> {
        let batches = self.freeze(&[id], decision).await.unwrap();
        let mut outcomes = self.source.submit(&batches[0], "key").await?;
        assert_eq!(outcomes.len(), 1);
        Ok(outcomes.remove(0).1)
    }

    fn resolves(&self) -> Vec<String> {
        self.site.books().resolves.clone()
    }
}

fn why(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Failed { why } | Outcome::Unknown { why } => why.as_raw(),
        other => panic!("{other:?}"),
    }
}
