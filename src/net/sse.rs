//! Server-sent events (WHATWG HTML, 9.2), guarded: eventsource-client parses, everything else is ours.
//!
//! The crate alone would follow a redirect with the token, reconnect for ever after a 204 or a 401, sleep as long as
//! `retry:` says, forget the last id, and keep an endless event in memory. So it never reconnects here: every connection is
//! made by [`live`], which tells each loss and each wait.

use std::time::Duration;

use eventsource_client::{Client as _, ClientBuilder, ReconnectOptions, SSE};
use futures_util::stream::{self, BoxStream, Stream, StreamExt as _};
use secrecy::SecretString;
use tokio::time::Instant;

use super::backoff::{Backoff, dice};
use super::http::{Http, RETRY_AFTER_MAX};

mod clean;
mod transport;

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
    /// The longest first wait before connecting again, and the longest at all.
    pub backoff: (Duration, Duration),
    /// A connection that stood for so long starts the waits anew.
    pub healthy: Duration,
    /// Largest event, in bytes.
    pub max_event: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(45),
            backoff: (Duration::from_millis(500), Duration::from_secs(30)),
            healthy: Duration::from_mins(1),
            max_event: 1 << 20,
        }
    }
}

/// Keeps an event stream open for as long as somebody polls; dropping it closes the socket. Ends only after
/// [`Live::Stopped`]: after 204, 401 (once the token was read again), 403, 404, 410 or a redirect.
pub fn live(http: Http, path: String, limits: Limits) -> impl Stream<Item = Live> + Send + 'static {
    let (base, cap) = limits.backoff;
    let keeper = Keeper {
        http,
        path,
        limits,
        backoff: Backoff::new(base, cap),
        last_id: String::new(),
        token: None,
        phase: Phase::Connect,
        renewed: false,
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
    last_id: String,
    /// The token of the present connection.
    token: Option<SecretString>,
    phase: Phase,
    /// The token was read again since a connection last stood.
    renewed: bool,
}

enum Phase {
    Wait(Duration),
    Connect,
    Reading { events: BoxStream<'static, Result<SSE, Broken>>, since: Option<Instant> },
    Over,
}

impl Keeper {
    async fn next(&mut self) -> Option<Live> {
        loop {
            match &mut self.phase {
                Phase::Over => return None,
                Phase::Wait(wait) => {
                    tokio::time::sleep(*wait).await;
                    self.phase = Phase::Connect;
                }
                Phase::Connect => match self.connect().await {
                    Ok(events) => self.phase = Phase::Reading { events, since: None },
                    Err(broken) => return Some(self.down(&broken)),
                },
                Phase::Reading { events, since } => match events.next().await {
                    Some(Ok(SSE::Connected(_))) => {
                        *since = Some(Instant::now());
                        self.renewed = false;
                        return Some(Live::Up);
                    }
                    Some(Ok(SSE::Comment(_))) => return Some(Live::Ping),
                    Some(Ok(SSE::Event(event))) => return Some(self.event(event)),
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
        let transport = Transport {
            http: self.http.clone(),
            path: self.path.clone(),
            token: self.token.clone(),
            last_id: self.last_id.clone(),
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
        if let Some(millis) = event.retry {
            self.backoff.ask(Duration::from_millis(millis), self.limits.backoff.0);
        }
        if let Some(id) = &event.id {
            self.last_id.clone_from(id);
        }
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
                    Ok(None) => Some(self.stopped(&broken)),
                    Err(error) => Some(self.down(&Broken::Http(error))),
                }
            }
            Broken::Status { status: 204 | 300..=399 | 401 | 403 | 404 | 410, .. } => {
                Some(self.stopped(&broken))
            }
            other => Some(self.down(&other)),
        }
    }

    fn stopped(&mut self, broken: &Broken) -> Live {
        self.phase = Phase::Over;
        Live::Stopped { why: broken.to_string() }
    }

    fn down(&mut self, broken: &Broken) -> Live {
        let stood = match &self.phase {
            Phase::Reading { since: Some(since), .. } => since.elapsed(),
            Phase::Reading { since: None, .. } | Phase::Wait(_) | Phase::Connect | Phase::Over => {
                Duration::ZERO
            }
        };
        if stood >= self.limits.healthy {
            self.backoff.reset();
        }
        let mut retry_in = self.backoff.next(dice());
        if let Broken::Status { retry_after: Some(asked), .. } = broken {
            retry_in = retry_in.max(*asked).min(RETRY_AFTER_MAX);
        }
        self.phase = Phase::Wait(retry_in);
        Live::Down { why: broken.to_string(), retry_in }
    }
}

#[cfg(test)]
mod tests;
