//! Briefings, built and encoded once for all streams on one subject: a team has many streams open on one workspace.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as Held, PoisonError, Weak};
use std::time::Instant;

use axum::body::Bytes;
use tokio::sync::Mutex;
use tokio::time::{self, Duration};

use super::store::{Batches, Briefed, Counts, OpenBatch, Store, StoreError};
use crate::contract::briefing::{BatchBody, BriefingBody};
use crate::contract::{claim, time as wire_time};
use crate::domain::{Claim, Timestamp};

#[derive(Debug)]
pub(crate) struct Counted {
    /// Unique within a desk.
    number: u64,
    paused_at: Option<Timestamp>,
    lapsing: u64,
    pub(crate) claims: Arc<[Claim]>,
    body: BriefingBody,
    /// Encoded events, by the number of the briefing they differ from; `None` for the whole briefing.
    encoded: Held<Vec<(Option<u64>, Bytes)>>,
}

impl Counted {
    pub(crate) const fn revision(&self) -> u64 {
        self.body.revision
    }

    /// Returns the whole briefing, or its difference from an earlier one of the same desk.
    pub(crate) fn event(&self, earlier: Option<&Self>) -> Result<Bytes, StoreError> {
        let from = earlier.map(|earlier| earlier.number);
        let mut encoded = self.encoded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, event)) = encoded.iter().find(|(known, _)| *known == from) {
            return Ok(event.clone());
        }
        let data = match earlier {
            Some(earlier) => serde_json::to_string(&self.body.difference(&earlier.body)),
            None => serde_json::to_string(&self.body),
        };
        let data = data.map_err(|_| StoreError::Corrupt("a briefing that is no JSON"))?;
        let event = Bytes::from(format!("event: briefing\nid: {}\ndata: {data}\n\n", self.revision()));
        encoded.push((from, event.clone()));
        Ok(event)
    }
}

type Subject = (Counts, Batches);

#[derive(Debug, Default)]
pub(crate) struct Briefings(Held<HashMap<Subject, Weak<Desk>>>);

/// The newest briefing of one subject. Streams own it.
#[derive(Debug)]
pub(crate) struct Desk {
    subject: Subject,
    newest: Mutex<Option<Newest>>,
    claims: Mutex<Option<(time::Instant, Arc<[Claim]>)>>,
}

#[derive(Debug)]
struct Newest {
    /// The moment before the briefing was read.
    asked: Instant,
    counted: Arc<Counted>,
}

const BETWEEN_CLAIMS: Duration = Duration::from_secs(1);

impl Briefings {
    pub(crate) fn desk(&self, counts: Counts, batches: Batches) -> Arc<Desk> {
        let subject = (counts, batches);
        let mut desks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(desk) = desks.get(&subject).and_then(Weak::upgrade) {
            return desk;
        }
        // Removes desks without streams, so that the map stays bounded.
        desks.retain(|_, desk| desk.strong_count() > 0);
        let desk =
            Arc::new(Desk { subject: subject.clone(), newest: Mutex::default(), claims: Mutex::default() });
        desks.insert(subject, Arc::downgrade(&desk));
        desk
    }
}

impl Desk {
    /// Returns the current briefing. Callers that arrive while one is being read share the next one.
    pub(crate) async fn briefing(&self, store: &dyn Store) -> Result<Arc<Counted>, StoreError> {
        let came = Instant::now();
        let mut newest = self.newest.lock().await;
        // Another caller read it after this call began.
        if let Some(newest) = newest.as_ref().filter(|newest| newest.asked >= came) {
            return Ok(Arc::clone(&newest.counted));
        }
        let asked = Instant::now();
        let (counts, batches) = &self.subject;
        // A pause of the whole gate and an approval near its end change the briefing without a new revision.
        let workspace = &counts.workspace;
        let (head, paused_at) = (store.revision(workspace).await?, store.paused(workspace).await?);
        let lapsing = store.lapsing(counts).await?;
        let claims = self.claims(store).await?;
        let now = (head, paused_at, lapsing, &claims);
        let is_now =
            |known: &Counted| (known.revision(), known.paused_at, known.lapsing, &known.claims) == now;
        let known = newest.as_ref().map(|newest| &newest.counted);
        let counted = match known.filter(|known| is_now(known)) {
            Some(known) => Arc::clone(known),
            None => {
                let counted = store.briefing(counts, *batches).await?;
                let body = body(workspace, counted, &claims);
                let number = known.map_or(0, |known| known.number + 1);
                Arc::new(Counted { number, paused_at, lapsing, claims, body, encoded: Held::default() })
            }
        };
        *newest = Some(Newest { asked, counted: Arc::clone(&counted) });
        Ok(counted)
    }

    pub(crate) async fn claims(&self, store: &dyn Store) -> Result<Arc<[Claim]>, StoreError> {
        let mut known = self.claims.lock().await;
        if let Some((read_at, claims)) = known.as_ref()
            && read_at.elapsed() < BETWEEN_CLAIMS
        {
            return Ok(Arc::clone(claims));
        }
        let read_at = time::Instant::now();
        let claims: Arc<[Claim]> = store.claims(&self.subject.0.workspace).await?.into();
        *known = Some((read_at, Arc::clone(&claims)));
        Ok(claims)
    }

    pub(crate) async fn claims_due(&self) -> time::Instant {
        let known = self.claims.lock().await;
        known.as_ref().map_or_else(time::Instant::now, |(read_at, _)| *read_at + BETWEEN_CLAIMS)
    }
}

fn body(workspace: &str, counted: Briefed, claims: &[Claim]) -> BriefingBody {
    let (batches, truncated) = counted.batches.unzip();
    BriefingBody {
        workspace_id: workspace.to_owned(),
        pending: counted.pending,
        blocked_missions: counted.blocked_missions,
        unknown: counted.unknown,
        lapsing: counted.lapsing,
        ran_other: counted.ran_other,
        paused_at: counted.paused_at.map(wire_time::write),
        batches: batches.map(|batches| batches.iter().map(batch_body).collect()),
        truncated,
        gone: None,
        since: None,
        claims: claim::write(claims),
        revision: counted.revision,
    }
}

pub(crate) fn batch_body(batch: &OpenBatch) -> BatchBody {
    BatchBody {
        batch_id: batch.id.clone(),
        tool_name: batch.tool.clone(),
        mission_id: batch.mission.clone(),
        pending: batch.pending,
        oldest_at: wire_time::write(batch.oldest),
        highest_risk: batch.highest_risk.as_raw().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn desk_without_streams_is_removed() {
        let briefings = Briefings::default();
        for n in 0..10 {
            drop(briefings.desk(Counts { session: Some(n.to_string()), ..Counts::all("w") }, Batches::All));
        }
        let kept = briefings.desk(Counts::all("w"), Batches::All);

        assert_eq!(briefings.0.lock().unwrap().len(), 1);
        drop(kept);
    }
}
