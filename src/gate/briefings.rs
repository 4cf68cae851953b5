//! Briefings, put together once for everybody who is told the same: a team has many streams open on one workspace.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as Held, PoisonError, Weak};

use tokio::sync::Mutex;

use super::store::{Counts, Store, StoreError};
use crate::domain::Timestamp;

/// A briefing as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) revision: u64,
    pub(crate) paused_at: Option<Timestamp>,
    pub(crate) lapsing: u64,
    /// The JSON of a [`BriefingBody`](crate::contract::briefing::BriefingBody).
    pub(crate) body: Arc<str>,
}

/// The newest briefings of what streams are open on.
#[derive(Debug, Default)]
pub(crate) struct Briefings(Held<HashMap<Counts, Weak<Desk>>>);

/// The newest briefing of one subject. It lives as long as a stream holds it.
#[derive(Debug)]
pub(crate) struct Desk {
    counts: Counts,
    newest: Mutex<Option<Counted>>,
}

impl Briefings {
    /// The desk of these counts, shared with all streams on them.
    pub(crate) fn desk(&self, counts: Counts) -> Arc<Desk> {
        let mut desks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(desk) = desks.get(&counts).and_then(Weak::upgrade) {
            return desk;
        }
        // Whoever opens one clears away what nobody holds any more, so that the map cannot grow for ever.
        desks.retain(|_, desk| desk.strong_count() > 0);
        let desk = Arc::new(Desk { counts: counts.clone(), newest: Mutex::default() });
        desks.insert(counts, Arc::downgrade(&desk));
        desk
    }
}

impl Desk {
    /// The briefing as of now. The first who asks after a change counts, the others wait for that.
    pub(crate) async fn briefing(&self, store: &dyn Store) -> Result<Counted, StoreError> {
        let mut newest = self.newest.lock().await;
        // A pause of the whole gate is no revision of this workspace, and time passing is none either.
        let workspace = &self.counts.workspace;
        let (head, paused_at) = (store.revision(workspace).await?, store.paused(workspace).await?);
        let lapsing = store.lapsing(&self.counts).await?;
        let now = (head, paused_at, lapsing);
        let is_now = |counted: &&Counted| (counted.revision, counted.paused_at, counted.lapsing) == now;
        if let Some(counted) = newest.as_ref().filter(is_now) {
            return Ok(counted.clone());
        }
        let briefing = store.briefing(&self.counts).await?;
        let body = serde_json::to_string(&briefing);
        let body = body.map_err(|_| StoreError::Corrupt("a briefing that is no JSON"))?.into();
        let counted = Counted { revision: briefing.revision, paused_at, lapsing, body };
        *newest = Some(counted.clone());
        Ok(counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_listens_to_is_forgotten() {
        let briefings = Briefings::default();
        for n in 0..10 {
            drop(briefings.desk(Counts { session: Some(n.to_string()), ..Counts::all("w") }));
        }
        let kept = briefings.desk(Counts::all("w"));

        assert_eq!(briefings.0.lock().unwrap().len(), 1);
        drop(kept);
    }
}
