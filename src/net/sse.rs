//! Reads server-sent events (WHATWG HTML, 9.2) and opens the stream again when it breaks. eventsource-client only parses.
//!
//! The crate alone would follow a redirect with the token, reconnect for ever after a 204 or a 401, sleep as long as
//! `retry:` says, forget the last id, and keep an endless event in memory. So it never reconnects here: every connection is
//! made by [`live`], which tells each loss and each wait.

use std::sync::Arc;
use std::time::Duration;

use eventsource_client::{Client as _, ClientBuilder, ReconnectOptions, SSE};
use futures_util::stream::{self, BoxStream, Stream, StreamExt as _};
use secrecy::SecretString;
use tokio::time::Instant;

use super::backoff::{Backoff, dice};
use super::http::{Http, RETRY_AFTER_MAX};

mod clean;
/// For tests and fuzzers alone.
#[cfg(any(test, fuzzing))]
pub mod stray;
mod transport;

use clean::StreamMeta;
use transport::{Broken, Transport};

/// What happens on a stream that is kept open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Live {
    /// A connection stands. What was missed meanwhile is not known.
    Up,
    Event {
        kind: String,
        data: String,
        id: Option<String>,
    },
    /// A comment: the server is there.
    Ping,
    /// The connection is lost, or did not come about; the next one is tried after the wait.
    Down {
        why: String,
        retry_in: Duration,
    },
    /// The server does not take the token. Nothing follows.
    Refused {
        why: String,
    },
    /// The server said not to come back. Nothing follows.
    Stopped {
        why: String,
    },
}

/// Limits of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest silence, also before the first byte.
    pub idle: Duration,
    /// An event of this name that came once must be followed by any event within so long, for ever after: comments and half
    /// events are no sign of life. `None`: bytes are.
    pub pulse: Option<(&'static str, Duration)>,
    /// The longest first wait before connecting again, and the longest at all; none is shorter than half the first.
    pub backoff: (Duration, Duration),
    /// A connection that stood for so long starts the waits anew.
    pub healthy: Duration,
    /// Largest event, in bytes.
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

/// Keeps an event stream open for as long as somebody polls; dropping it closes the socket. Ends only after
/// [`Live::Refused`] (401 once the token was read again, 403) or [`Live::Stopped`] (204, 404, 410, a redirect).
///
/// After a 429 or any other status with `Retry-After` it waits at least so long, up to an hour. `id:` and `retry:` count also in
/// a block without data (WHATWG HTML, 9.2.6); an id of more than 1,024 bytes is forgotten.
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
    /// The token of the present connection.
    token: Option<SecretString>,
    /// The number of its address.
    address: usize,
    phase: Phase,
    /// The token was read again since a connection last stood.
    renewed: bool,
    /// The server has a pulse.
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
    /// When the connection stood.
    since: Option<Instant>,
    /// When the last event came, or it began to be opened.
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
        // The transport builds the request: address and headers are its own.
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

    /// What a loss means; `None`: connect again at once, with another token.
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
        // Where there is a choice, the next one goes elsewhere.
        if let Broken::Status { retry_after: Some(asked), .. } = broken
            && self.http.first() == self.address
        {
            // On top, because others were told the same.
            retry_in = (*asked + retry_in).min(RETRY_AFTER_MAX);
        }
        self.phase = Phase::Wait(retry_in);
        Live::Down { why: broken.to_string(), retry_in }
    }
}

#[cfg(test)]
mod tests;
