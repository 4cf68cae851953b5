//! Reads server-sent events (WHATWG HTML, 9.2) and reconnects when the stream breaks. eventsource-client only parses.
//!
//! That crate would follow a redirect with the token, reconnect after 204 or 401, obey any `retry:`, forget the last id
//! and buffer an endless event. So [`live`] makes each connection and reports each loss and wait.

use std::sync::Arc;
use std::time::Duration;

use eventsource_client::{Client as _, ClientBuilder, ReconnectOptions, SSE};
use futures_util::stream::{self, BoxStream, Stream, StreamExt as _};
use secrecy::SecretString;
use tokio::time::Instant;

use super::backoff::{Backoff, dice};
use super::http::{Http, RETRY_AFTER_MAX};

mod clean;
#[cfg(any(test, fuzzing))]
pub mod stray;
mod transport;

use clean::StreamMeta;
use transport::{Broken, Transport};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Live {
    /// Connected. Events may have been missed.
    Up,
    Event {
        kind: String,
        data: String,
        id: Option<String>,
    },
    /// A comment, which shows that the server is alive.
    Ping,
    /// Disconnected or not connected; retried after the wait.
    Down {
        why: String,
        retry_in: Duration,
    },
    /// The server refuses the token. The stream ends.
    Refused {
        why: String,
    },
    /// The server said not to reconnect. The stream ends.
    Stopped {
        why: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest silence, also before the first byte.
    pub idle: Duration,
    /// Once an event of this name came, another event must follow within this time; comments and partial events do not
    /// count. If `None`, any bytes count.
    pub pulse: Option<(&'static str, Duration)>,
    /// The longest first wait before reconnecting, and the longest of all. The shortest is half the first.
    pub backoff: (Duration, Duration),
    /// A connection of at least this duration resets the backoff.
    pub healthy: Duration,
    pub max_event: usize,
}

impl Limits {
    pub const USUAL: Self = Self {
        idle: Duration::from_secs(45),
        pulse: None,
        backoff: (Duration::from_millis(500), Duration::from_secs(30)),
        healthy: Duration::from_mins(1),
        max_event: 1 << 20,
    };
}

/// Keeps an event stream open while it is polled; dropping it closes the socket. Ends only after [`Live::Refused`]
/// (403, or 401 with a renewed token) or [`Live::Stopped`] (204, 404, 410, a redirect).
///
/// After a status with `Retry-After` it waits at least that long, up to an hour. `id:` and `retry:` also count in a
/// block without data (WHATWG HTML, 9.2.6). An id of more than 1,024 bytes is dropped.
pub fn live(http: Http, path: String, limits: Limits) -> impl Stream<Item = Live> + Send + 'static {
    let (base, cap) = limits.backoff;
    let keeper = Keeper {
        http,
        path,
        limits,
        backoff: Backoff::new(base, cap),
        said: Arc::default(),
        token: None,
        address: 0,
        phase: Phase::Connect,
        renewed: false,
        pulsed: false,
    };
    stream::unfold(keeper, |mut keeper| async move {
        let live = keeper.next().await?;
        Some((live, keeper))
    })
}

struct Keeper {
    http: Http,
    path: String,
    limits: Limits,
    backoff: Backoff,
    said: Arc<StreamMeta>,
    token: Option<SecretString>,
    address: usize,
    phase: Phase,
    /// Whether the token was read again since the last successful connection.
    renewed: bool,
    pulsed: bool,
}

enum Phase {
    Wait(Duration),
    Connect,
    Reading(Reading),
    Over,
}

struct Reading {
    events: BoxStream<'static, Result<SSE, Broken>>,
    since: Option<Instant>,
    /// Time of the last event, or of the start of connecting.
    heard: Instant,
}

impl Reading {
    async fn next(&mut self, pulse: Option<Duration>) -> Option<Result<SSE, Broken>> {
        let Some(limit) = pulse else { return self.events.next().await };
        let next = tokio::time::timeout_at(self.heard + limit, self.events.next()).await;
        next.unwrap_or(Some(Err(Broken::NoPulse(limit))))
    }
}

impl Keeper {
    async fn next(&mut self) -> Option<Live> {
        loop {
            let pulse = self.limits.pulse.filter(|_| self.pulsed).map(|(_, limit)| limit);
            match &mut self.phase {
                Phase::Over => return None,
                Phase::Wait(wait) => {
                    tokio::time::sleep(*wait).await;
                    self.phase = Phase::Connect;
                }
                Phase::Connect => match self.connect().await {
                    Ok(events) => {
                        self.phase = Phase::Reading(Reading { events, since: None, heard: Instant::now() });
                    }
                    Err(broken) => return Some(self.down(&broken)),
                },
                Phase::Reading(reading) => match reading.next(pulse).await {
                    Some(Ok(SSE::Connected(_))) => {
                        reading.since = Some(Instant::now());
                        self.renewed = false;
                        return Some(Live::Up);
                    }
                    Some(Ok(SSE::Comment(_))) => return Some(Live::Ping),
                    Some(Ok(SSE::Event(event))) => {
                        reading.heard = Instant::now();
                        return Some(self.event(event));
                    }
                    Some(Err(broken)) => match self.broke(broken).await {
                        Some(live) => return Some(live),
                        None => self.phase = Phase::Connect,
                    },
                    None => return Some(self.down(&Broken::Ended)),
                },
            }
        }
    }

    async fn connect(&mut self) -> Result<BoxStream<'static, Result<SSE, Broken>>, Broken> {
        self.token = self.http.token().await.map_err(Broken::Http)?;
        self.address = self.http.first();
        let transport = Transport {
            http: self.http.clone(),
            address: self.address,
            path: self.path.clone(),
            token: self.token.clone(),
            said: Arc::clone(&self.said),
            idle: self.limits.idle,
            max_event: self.limits.max_event,
        };
        // The transport ignores this URL and builds its own request.
        let builder = ClientBuilder::for_url("http://transport.invalid").map_err(Broken::from)?;
        let once = ReconnectOptions::reconnect(false).retry_initial(false).build();
        let client = builder.reconnect(once).redirect_limit(0).build_with_transport(transport);
        Ok(client.stream().map(|event| event.map_err(Broken::from)).boxed())
    }

    fn event(&mut self, event: eventsource_client::Event) -> Live {
        self.pulsed |= self.limits.pulse.is_some_and(|(name, _)| name == event.event_type);
        let id = event.id.filter(|id| !id.is_empty());
        Live::Event { kind: event.event_type, data: event.data, id }
    }

    /// Handles a loss; `None` means: reconnect at once with another token.
    async fn broke(&mut self, broken: Broken) -> Option<Live> {
        match broken {
            Broken::Status { status: 401, .. } if !self.renewed => {
                self.renewed = true;
                match self.http.renewed(self.token.as_ref()).await {
                    Ok(Some(_)) => None,
                    Ok(None) => Some(self.refused(&broken)),
                    Err(error) => Some(self.down(&Broken::Http(error))),
                }
            }
            Broken::Status { status: 401 | 403, .. } => Some(self.refused(&broken)),
            Broken::Status { status: 204 | 300..=399 | 404 | 410, .. } => {
                self.phase = Phase::Over;
                Some(Live::Stopped { why: broken.to_string() })
            }
            other => Some(self.down(&other)),
        }
    }

    fn refused(&mut self, broken: &Broken) -> Live {
        self.phase = Phase::Over;
        Live::Refused { why: broken.to_string() }
    }

    fn down(&mut self, broken: &Broken) -> Live {
        let stood = match &self.phase {
            Phase::Reading(reading) => reading.since.map(|since| since.elapsed()),
            Phase::Wait(_) | Phase::Connect | Phase::Over => None,
        };
        if stood.is_some_and(|stood| stood >= self.limits.healthy) {
            self.backoff.reset();
        }
        if let Some(millis) = self.said.retry() {
            self.backoff.ask(Duration::from_millis(millis), self.limits.backoff.0);
        }
        let mut retry_in = self.backoff.next(dice());
        self.http.failed(self.address);
        // Only if there is no other address to use next.
        if let Broken::Status { retry_after: Some(asked), .. } = broken
            && self.http.first() == self.address
        {
            // Adds the random wait, because other clients got the same `Retry-After`.
            retry_in = (*asked + retry_in).min(RETRY_AFTER_MAX);
        }
        self.phase = Phase::Wait(retry_in);
        Live::Down { why: broken.to_string(), retry_in }
    }
}

#[cfg(test)]
mod tests;
