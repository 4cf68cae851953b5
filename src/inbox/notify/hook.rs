//! A receiver of webhooks: what it is sent, how often that is tried, and what its answer means.

use std::time::Duration;

use crate::config::{TokenFrom, Webhook};
use crate::contract::time;
use crate::inbox::notices::Notice;
use crate::net::http::HttpError;
use crate::net::post::Targets;
use crate::net::webhook::Key;

/// For one exchange, and for reading the secret.
const LIMIT: Duration = Duration::from_secs(10);
/// Before the second and last try.
const PAUSE: Duration = Duration::from_secs(2);
/// Of the answer nothing is used but its status.
const CAP: usize = 1 << 10;

#[derive(Debug)]
pub(super) struct Hook {
    url: String,
    secret: TokenFrom,
    targets: Targets,
    pause: Duration,
}

/// Why a try failed.
struct Failed {
    why: String,
    /// Another try may end otherwise.
    again: bool,
}

impl Hook {
    /// Fails with a sentence for whoever configured it.
    pub(super) fn new(webhook: &Webhook) -> Result<Self, String> {
        let targets = Targets::of_hook(&webhook.url, webhook.private)?;
        Ok(Self { url: webhook.url.clone(), secret: webhook.secret.clone(), targets, pause: PAUSE })
    }

    #[cfg(test)]
    pub(super) fn at_once(self) -> Self {
        Self { pause: Duration::ZERO, ..self }
    }

    /// Twice at most, with the same id: whoever received both knows that they are one.
    pub(super) async fn tell(&self, notice: &Notice) -> Result<(), String> {
        let key = key(self.secret.clone()).await?;
        let (id, body) = (format!("msg_{}", uuid::Uuid::now_v7().simple()), notice.json());
        let Err(failed) = self.post(&key, &id, &body).await else { return Ok(()) };
        if !failed.again {
            return Err(failed.why);
        }
        tokio::time::sleep(self.pause).await;
        self.post(&key, &id, &body).await.map_err(|failed| failed.why)
    }

    async fn post(&self, key: &Key, id: &str, body: &str) -> Result<(), Failed> {
        let headers = key.headers(id, time::now().as_millis() / 1_000, body);
        match self.targets.post(&self.url, &headers, body.to_owned(), LIMIT, CAP).await {
            Ok((200..=299, _)) => Ok(()),
            Ok((status, _)) => {
                let moved = if matches!(status, 300..=399) { "; redirects are not followed" } else { "" };
                let again = matches!(status, 408 | 429 | 500..=599);
                Err(Failed { why: format!("the receiver answered HTTP {status}{moved}"), again })
            }
            Err(error) => {
                // In the words of libraries, and of whoever answered.
                tracing::warn!(%error, "a webhook was not sent, or not answered");
                let why = match error {
                    HttpError::NotSent(_) => "the receiver cannot be reached",
                    _ => "the receiver gave no answer",
                };
                Err(Failed { why: format!("{why}; the log says more"), again: true })
            }
        }
    }
}

/// Read each time: who changes a secret need not start anything again.
pub(super) async fn key(secret: TokenFrom) -> Result<Key, String> {
    let read = tokio::task::spawn_blocking(move || secret.read().map_err(|error| error.to_string()));
    let had = |why: String| format!("its secret cannot be had: {why}");
    match tokio::time::timeout(LIMIT, read).await {
        Ok(Ok(Ok(secret))) => Key::parse(&secret),
        Ok(Ok(Err(why))) => Err(had(why)),
        Ok(Err(error)) => Err(had(error.to_string())),
        Err(_) => Err(had(format!("it was not there within {} s", LIMIT.as_secs()))),
    }
}
