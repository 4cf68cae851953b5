//! Watches each source in a task: its pushed events, with polling as a fallback.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::event::Event;
use super::pace::Pace;
use super::timeouts::WithTimeouts;
use crate::domain::{SourceName, Timestamp};
use crate::net::backoff::{Backoff, dice};
use crate::sources::{Connection, EventKind};

/// Interval for comparing the wall clock with the clock that stops while the computer sleeps.
const GLANCE: Duration = Duration::from_secs(10);
/// Maximum difference between the clocks, because clocks are also set.
const NAP: Duration = Duration::from_secs(10);
/// Longest first wait before retrying a failed list.
const AGAIN: Duration = Duration::from_secs(2);
/// Longest such wait. Regular looks continue in parallel.
const AGAIN_MAX: Duration = Duration::from_secs(30);

/// Consecutive failed syncs of each source. A failed sync loses the event that caused it, so the watcher asks again.
#[derive(Debug)]
pub(super) struct SyncFailures(HashMap<SourceName, watch::Sender<u32>>);

impl SyncFailures {
    pub(super) fn of(sources: &[WithTimeouts]) -> Self {
        Self(sources.iter().map(|source| (source.name().clone(), watch::Sender::new(0))).collect())
    }

    pub(super) fn note(&self, source: &SourceName, failed: bool) {
        if let Some(misses) = self.0.get(source) {
            misses.send_if_modified(|count| {
                let before = *count;
                *count = if failed { before.saturating_add(1) } else { 0 };
                *count != before
            });
        }
    }
}

/// Starts a task per source and one that detects sleep. They end when the receiver is dropped.
pub(super) fn start(sources: &[WithTimeouts], misses: &SyncFailures, pace: Pace) -> mpsc::Receiver<Event> {
    let (events, receiver) = mpsc::channel(64);
    let (slept, sleeps) = watch::channel(());
    tokio::spawn(SuspendDetector::since(pace.clock).run(slept));
    for source in sources {
        let watcher = Watcher {
            source: source.clone(),
            signals: source.watch(),
            events: events.clone(),
            misses: misses.0.get(source.name()).map(watch::Sender::subscribe),
            again: Backoff::new(AGAIN, AGAIN_MAX),
            pace: Pace { poll: pace.poll.max(source.least_poll()), ..pace },
            live: false,
            sleeps: sleeps.clone(),
        };
        tokio::spawn(watcher.run());
    }
    receiver
}

struct Watcher {
    source: WithTimeouts,
    signals: Option<BoxStream<'static, EventKind>>,
    events: mpsc::Sender<Event>,
    misses: Option<watch::Receiver<u32>>,
    again: Backoff,
    pace: Pace,
    live: bool,
    sleeps: watch::Receiver<()>,
}

/// Detects that the computer has slept. The connection is then usually dead, but would only fail after its limits.
struct SuspendDetector {
    clock: fn() -> Timestamp,
    wall: Timestamp,
    at: Instant,
}

impl SuspendDetector {
    fn since(clock: fn() -> Timestamp) -> Self {
        Self { clock, wall: clock(), at: Instant::now() }
    }

    async fn run(mut self, slept: watch::Sender<()>) {
        loop {
            tokio::select! {
                () = slept.closed() => return,
                () = sleep_until(self.at + GLANCE) => {}
            }
            if self.slept() {
                slept.send_replace(());
            }
        }
    }

    /// Returns true once after each sleep.
    fn slept(&mut self) -> bool {
        let before = std::mem::replace(self, Self::since(self.clock));
        let wall = u64::try_from(self.wall.since(before.wall)).map(Duration::from_millis);
        wall.is_ok_and(|wall| wall > (self.at - before.at) + NAP)
    }
}

struct ReceiverClosed;

impl Watcher {
    async fn run(mut self) {
        let _ = self.watch().await;
    }

    async fn watch(&mut self) -> Result<(), ReceiverClosed> {
        self.tell(EventKind::Connection(Connection::Connecting)).await?;
        if self.signals.is_none() {
            self.tell(EventKind::Connection(Connection::Polling)).await?;
        }
        self.tell(EventKind::Changed).await?;
        let mut look_at = self.next_look();
        loop {
            let signal = tokio::select! {
                () = self.events.closed() => return Err(ReceiverClosed),
                signal = next(&mut self.signals) => Some(signal),
                () = sleep_until(look_at) => None,
                misses = missed(&mut self.misses) => {
                    look_at = look_at.min(self.look_again(misses).unwrap_or(look_at));
                    continue;
                }
                Ok(()) = self.sleeps.changed() => {
                    self.begin_again().await?;
                    look_at = self.next_look();
                    continue;
                }
            };
            match signal {
                None => self.tell(EventKind::Changed).await?,
                Some(Some(signal)) => {
                    let was_live = self.live;
                    self.pass_on(signal).await?;
                    if self.live == was_live {
                        continue;
                    }
                }
                // The source turned out to push nothing.
                Some(None) => self.over(Connection::Polling).await?,
            }
            look_at = self.next_look();
        }
    }

    async fn pass_on(&mut self, told: EventKind) -> Result<(), ReceiverClosed> {
        match told {
            EventKind::Connection(Connection::Live) => {
                self.live = true;
                self.tell(told).await?;
                // Earlier changes may have been missed.
                self.tell(EventKind::Changed).await
            }
            EventKind::Connection(connection) if connection.is_over() => self.over(connection).await,
            EventKind::Connection(_) => {
                self.live = false;
                self.tell(told).await
            }
            EventKind::Briefing(_) | EventKind::Changed | EventKind::Tick => self.tell(told).await,
        }
    }

    /// Reconnects and requests a sync. A stream that has ended stays ended.
    async fn begin_again(&mut self) -> Result<(), ReceiverClosed> {
        if self.signals.is_some() {
            self.signals = self.source.watch();
            self.live = false;
            self.tell(EventKind::Connection(Connection::Connecting)).await?;
        }
        self.tell(EventKind::Changed).await
    }

    async fn over(&mut self, connection: Connection) -> Result<(), ReceiverClosed> {
        self.live = false;
        self.signals = None;
        self.tell(EventKind::Connection(connection)).await
    }

    /// Returns when to ask again after failures; `None` without any.
    fn look_again(&mut self, misses: u32) -> Option<Instant> {
        if misses == 0 {
            self.again.reset();
            return None;
        }
        Some(Instant::now() + self.again.next(dice()))
    }

    /// Varies by a tenth, so that many inboxes do not ask in step.
    fn next_look(&self) -> Instant {
        let every = if self.live { self.pace.safety.max(self.pace.poll) } else { self.pace.poll };
        Instant::now() + every.mul_f64(0.9 + 0.2 * dice())
    }

    async fn tell(&mut self, kind: EventKind) -> Result<(), ReceiverClosed> {
        let event = Event { source: self.source.name().clone(), kind };
        self.events.send(event).await.map_err(|_| ReceiverClosed)
    }
}

/// Returns the next signal; pending for ever if the source pushes nothing.
async fn next(signals: &mut Option<BoxStream<'static, EventKind>>) -> Option<EventKind> {
    match signals {
        Some(signals) => signals.next().await,
        None => std::future::pending().await,
    }
}

/// Returns the next change of the count; pending for ever once it has no sender.
async fn missed(misses: &mut Option<watch::Receiver<u32>>) -> u32 {
    if let Some(counted) = misses
        && counted.changed().await.is_ok()
    {
        return *counted.borrow_and_update();
    }
    std::future::pending().await
}
