//! `GET .../events`: pushes counts of pending actions.
//!
//! A briefing is a snapshot, or the difference to the previous briefing of this stream, so a slow client only misses
//! intermediate states. `resync` tells the client to list again, because its rows are too old or from another history.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use async_stream::stream;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName};
use axum::response::{IntoResponse as _, Response};
use futures_util::Stream;
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until};

use crate::gate::auth::Caller;
use crate::gate::briefings::{Counted, Desk};
use crate::gate::error::ApiError;
use crate::gate::limits::OpenStream;
use crate::gate::state::Gate;
use crate::gate::store::{Batches, Counts};

/// Limits a stream to four briefings per second.
const BETWEEN_BRIEFINGS: Duration = Duration::from_millis(250);
const TICK: Duration = Duration::from_secs(15);
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

#[derive(Debug, Deserialize)]
pub(crate) struct StreamQuery {
    #[serde(rename = "workspace_id", alias = "workspaceId")]
    workspace: Option<String>,
    #[serde(rename = "session_id", alias = "sessionId")]
    session: Option<String>,
    #[serde(rename = "mission_id", alias = "missionId")]
    mission: Option<String>,
    #[serde(default)]
    batches: Batches,
    changes: Option<Changes>,
}

/// The content of briefings after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Changes {
    /// Only batches that changed.
    Only,
}

pub(crate) async fn stream(
    State(gate): State<Gate>,
    caller: Caller,
    Query(query): Query<StreamQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let workspace = caller.reads(query.workspace.as_deref())?.to_owned();
    let open = gate.inner.streams.open(&caller.token.id, &gate.inner.limits)?;
    let seen = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()).and_then(|id| id.parse().ok());
    let (revisions, claims) =
        (gate.inner.events.watch(&workspace), gate.inner.events.watch_claims(&workspace));
    let counts = Counts { workspace, session: query.session, mission: query.mission };
    let briefings = Briefings {
        revisions,
        claims,
        desk: gate.inner.briefings.desk(counts, query.batches),
        // Differences exist only for batches.
        only_changes: query.changes.is_some() && query.batches != Batches::None,
        seen,
        told: None,
        ticks: 0,
        caller,
        _open: open,
        gate,
    };
    let headers =
        [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-cache"), (X_ACCEL_BUFFERING, "no")];
    Ok((headers, Body::from_stream(briefings.run())).into_response())
}

struct Briefings {
    gate: Gate,
    caller: Caller,
    desk: Arc<Desk>,
    revisions: watch::Receiver<u64>,
    claims: watch::Receiver<()>,
    only_changes: bool,
    /// The newest revision that the client received.
    seen: Option<u64>,
    /// The last briefing sent.
    told: Option<Arc<Counted>>,
    ticks: u64,
    /// Counts the stream as open until it is dropped.
    _open: OpenStream,
}

impl Briefings {
    /// The stream ends when the gate stops, the token ends or the store fails. The client then reconnects.
    fn run(mut self) -> impl Stream<Item = Result<Bytes, Infallible>> {
        stream! {
            let stopping = self.gate.inner.stopping.clone();
            let mut ticks = interval_at(Instant::now() + TICK, TICK);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            let mut claims_due = None;
            loop {
                self.revisions.mark_unchanged();
                // Claims that are due now are part of this briefing.
                claims_due = claims_due.filter(|due| *due > Instant::now());
                let began = Instant::now();
                let Some(events) = self.brief().await else { return };
                let took = began.elapsed();
                for event in events {
                    yield Ok(event);
                }
                // Counting a long queue is slow. A stream spends at most a fifth of its time on it.
                let earliest = Instant::now() + BETWEEN_BRIEFINGS.max(took * 4);
                loop {
                    tokio::select! {
                        () = stopping.cancelled() => return,
                        changed = self.revisions.changed() => {
                            if changed.is_err() { return }
                            break;
                        }
                        changed = self.claims.changed() => {
                            if changed.is_err() { return }
                            claims_due = Some(self.desk.claims_due().await);
                        }
                        () = sleep_until(claims_due.unwrap_or(began)), if claims_due.is_some() => break,
                        _ = ticks.tick() => {
                            let Some(tick) = self.tick().await else { return };
                            yield Ok(format!("event: tick\ndata: {{\"tick\":{tick}}}\n\n").into());
                            // A claim expires without an event.
                            let Ok(claims) = self.desk.claims(self.gate.store()).await else { return };
                            if self.told.as_ref().is_some_and(|told| told.claims != claims) { break }
                        }
                    }
                }
                tokio::select! {
                    () = stopping.cancelled() => return,
                    () = sleep_until(earliest) => {}
                }
            }
        }
    }

    /// Returns the current counts, preceded by `resync` if the client's rows are too old. Empty if they were sent
    /// before.
    async fn brief(&mut self) -> Option<Vec<Bytes>> {
        let counted = self.desk.briefing(self.gate.store()).await.ok()?;
        if self.told.as_ref().is_some_and(|told| Arc::ptr_eq(told, &counted)) {
            return Some(Vec::new());
        }
        let revision = counted.revision();
        let too_far = u64::from(self.gate.inner.limits.page_rows);
        let behind = self.seen.is_some_and(|seen| seen > revision || revision - seen > too_far);
        self.seen = Some(revision);
        let mut events = Vec::new();
        if behind {
            self.gate.inner.metrics.resynced();
            events.push(format!("event: resync\ndata: {{\"revision\":{revision}}}\n\n").into());
        }
        let earlier = self.told.as_deref().filter(|_| self.only_changes);
        events.push(counted.event(earlier).ok()?);
        self.told = Some(counted);
        Some(events)
    }

    /// Returns the number of the next tick, `None` if the token ended.
    async fn tick(&mut self) -> Option<u64> {
        if !self.caller.is_live(&self.gate).await.ok()? {
            return None;
        }
        self.ticks += 1;
        Some(self.ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::auth::Proof;
    use crate::gate::token::{Scope, Token, hash};

    #[tokio::test]
    async fn ticks_are_numbered_and_end_with_the_token() {
        let folder = tempfile::tempdir().unwrap();
        let gate = crate::gate::tests::open(folder.path()).await;
        let (token, secret) = Token::issue("owner", "w", &[Scope::Read], None);
        gate.store().add_token(token.clone(), hash(&secret)).await.unwrap();
        let mut briefings = Briefings {
            revisions: gate.inner.events.watch("w"),
            claims: gate.inner.events.watch_claims("w"),
            desk: gate.inner.briefings.desk(Counts::all("w"), Batches::All),
            only_changes: false,
            seen: None,
            told: None,
            ticks: 0,
            caller: Caller { proof: Proof::Token(hash(&secret)), token: token.clone() },
            _open: gate.inner.streams.open(&token.id, &gate.inner.limits).unwrap(),
            gate: gate.clone(),
        };

        let ticks = [briefings.tick().await, briefings.tick().await];
        gate.revoke_token(&token.id).await.unwrap();

        assert_eq!(ticks, [Some(1), Some(2)]);
        assert_eq!(briefings.tick().await, None);
    }
}
