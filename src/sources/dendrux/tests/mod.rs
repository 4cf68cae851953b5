//! The source against a fake application, with and without the bridge, in both versions.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::domain::{
    ActionId, ActionKey, BatchKey, Decision, Edits, Outcome, PendingAction, RawJson, Refusal, Row, Staged,
    SubmissionBatch, SubmissionId, Timestamp, freeze,
};
use crate::sources::{Source, Synced};

mod bridge;
mod house;
mod plain;
mod server;
mod traps;
pub(in crate::sources) mod world;
mod writes;

/// Generous, so that a busy machine loses no answer.
const AT_EASE: Duration = Duration::from_secs(30);

async fn rows(source: &Arc<dyn Source>) -> Vec<Row> {
    let Synced::All { rows, unreadable, .. } = source.sync(None).await.unwrap() else {
        panic!("expected the whole list")
    };
    assert!(unreadable.is_empty(), "{unreadable:?}");
    rows
}

async fn get(source: &Arc<dyn Source>, id: &ActionId) -> PendingAction {
    let mut found = source.get(std::slice::from_ref(id)).await.unwrap();
    assert_eq!(found.len(), 1, "{id:?}: {found:?}");
    found.remove(0).unwrap()
}

/// Freezes decisions in a turn of `pending` calls, or returns why they are refused.
async fn frozen(
    source: &Arc<dyn Source>,
    pending: usize,
    decided: &[(&ActionId, Decision)],
) -> Result<SubmissionBatch, Refusal> {
    let (mut staged, mut loaded) = (Vec::new(), HashMap::new());
    for (id, decision) in decided {
        let action = get(source, id).await;
        let key = ActionKey { source: source.name().clone(), id: (*id).clone() };
        let batch = BatchKey::Batch(source.name().clone(), action.row.batch.clone().unwrap());
        let (digest, at) = (Some(action.digest()), Timestamp::default());
        staged.push((
            key.clone(),
            Staged { decision: decision.clone(), batch, digest, terms: action.terms, at },
        ));
        loaded.insert(key, action);
    }
    let staged = staged.iter().map(|(key, staged)| (key, staged));
    let frozen = freeze(SubmissionId::new("s"), staged, &loaded, |_| pending, Timestamp::default());
    frozen.map(|submission| submission.batches()[0].clone())
}

async fn decide(source: &Arc<dyn Source>, decided: &[(&ActionId, Decision)]) -> Vec<Outcome> {
    let batch = frozen(source, decided.len(), decided).await.unwrap();
    let mut told: HashMap<_, _> = source.submit(&batch, "s:0").await.unwrap().into_iter().collect();
    decided.iter().map(|(id, _)| told.remove(*id).unwrap()).collect()
}

fn reject(reason: &str) -> Decision {
    Decision::Reject { reason: Some(reason.to_owned()) }
}

fn filled_in(edits: &str) -> Decision {
    let edits = Edits::new(RawJson::parse(edits).unwrap()).unwrap();
    Decision::Approve { edits: Some(edits), comment: None }
}

fn told(row: &Row) -> String {
    let told = row.can.told();
    told.into_iter().map(|(_, words)| words.into_owned()).collect::<Vec<_>>().join("; ")
}
