//! Watching: what the sources push, with polling beneath it.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::{Connection, Event, EventKind, Pace};
use crate::net::backoff::dice;
use crate::sources::{Signal, Source};

/// A task a source; each ends when nobody listens any more.
pub(super) fn start(sources: &[Arc<dyn Source>], pace: Pace) -> mpsc::Receiver<Event> {
    let (events, receiver) = mpsc::channel(64);
    for source in sources {
        let watcher = Watcher {
            source: Arc::clone(source),
            signals: source.watch(),
            events: events.clone(),
            pace,
            live: false,
        };
        tokio::spawn(watcher.run());
    }
    receiver
}

struct Watcher {
    source: Arc<dyn Source>,
    signals: Option<BoxStream<'static, Signal>>,
    events: mpsc::Sender<Event>,
    pace: Pace,
    live: bool,
}

/// Nobody listens any more.
struct Deaf;

impl Watcher {
    async fn run(mut self) {
        // The only way out is that nobody listens, which is no error.
        let _ = self.watch().await;
    }

    async fn watch(&mut self) -> Result<(), Deaf> {
        self.tell(EventKind::Connection(Connection::Connecting)).await?;
        if self.signals.is_none() {
            self.tell(EventKind::Connection(Connection::Polling)).await?;
        }
        self.tell(EventKind::Changed).await?;
        let mut look_at = self.next_look();
        loop {
            let signal = tokio::select! {
                () = self.events.closed() => return Err(Deaf),
                signal = next(&mut self.signals) => Some(signal),
                () = sleep_until(look_at) => None,
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
                Some(None) => {
                    self.signals = None;
                    self.live = false;
                }
            }
            look_at = self.next_look();
        }
    }

    async fn pass_on(&mut self, signal: Signal) -> Result<(), Deaf> {
        match signal {
            Signal::Up => {
                self.live = true;
                self.tell(EventKind::Connection(Connection::Live)).await?;
                // What was missed before is not known.
                self.tell(EventKind::Changed).await
            }
            Signal::Briefing(briefing) => self.tell(EventKind::Briefing(briefing)).await,
            Signal::Changed => self.tell(EventKind::Changed).await,
            Signal::Tick => self.tell(EventKind::Tick).await,
            Signal::Down { why, retry_in } => {
                self.live = false;
                self.tell(EventKind::Connection(Connection::Retrying { why, retry_in })).await
            }
            Signal::Stopped { why } => {
                self.live = false;
                self.signals = None;
                self.tell(EventKind::Connection(Connection::Stopped { why })).await
            }
        }
    }

    /// Spread by a tenth, so that many inboxes do not ask in step.
    fn next_look(&self) -> Instant {
        let every = if self.live { self.pace.safety.max(self.pace.poll) } else { self.pace.poll };
        Instant::now() + every.mul_f64(0.9 + 0.2 * dice())
    }

    async fn tell(&mut self, kind: EventKind) -> Result<(), Deaf> {
        let event = Event { source: self.source.name().clone(), kind };
        self.events.send(event).await.map_err(|_| Deaf)
    }
}

/// The next signal; never, where nothing is pushed.
async fn next(signals: &mut Option<BoxStream<'static, Signal>>) -> Option<Signal> {
    match signals {
        Some(signals) => signals.next().await,
        None => std::future::pending().await,
    }
}
