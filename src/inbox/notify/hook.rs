//! Sends notices to a webhook.

use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};

use crate::clock;
use crate::config::{TokenFrom, Webhook, WebhookForm};
use crate::inbox::notices::Notice;
use crate::net::http::HttpError;
use crate::net::post::Targets;
use crate::net::webhook::Key;

/// Time limit of a request, and of reading the secret.
const LIMIT: Duration = Duration::from_secs(10);
/// Pause before the second and last try.
const PAUSE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Hook {
    form: WebhookForm,
    /// `None` if the URL is a secret, which is checked when it is read.
    targets: Option<Targets>,
    private: bool,
    pause: Duration,
}

/// One message, which may be sent twice.
struct Message<'a> {
    url: &'a str,
    targets: &'a Targets,
    /// `None` if the receiver does not check signatures.
    signed: Option<(Key, String)>,
    body: String,
}

struct Failed {
    why: String,
    again: bool,
}

impl Hook {
    /// Fails with a sentence for the operator.
    pub(super) fn new(webhook: &Webhook) -> Result<Self, String> {
        let targets = match &webhook.form {
            WebhookForm::Signed { url, .. } => Some(Targets::of_hook(url, webhook.private)?),
            WebhookForm::Slack { .. } => None,
        };
        Ok(Self { form: webhook.form.clone(), targets, private: webhook.private, pause: PAUSE })
    }

    #[cfg(test)]
    pub(super) fn at_once(self) -> Self {
        Self { pause: Duration::ZERO, ..self }
    }

    /// Returns whether its secret can be read and has the right form.
    pub(super) async fn check(&self) -> Result<(), String> {
        match &self.form {
            WebhookForm::Signed { secret, .. } => key(secret).await.map(drop),
            WebhookForm::Slack { url, .. } => self.secret_url(url).await.map(drop),
        }
    }

    /// Sends a notice at most twice, under one id, so that the receiver can recognise a duplicate. Slack has no ids.
    pub(super) async fn tell(&self, notice: &Notice) -> Result<(), String> {
        match &self.form {
            WebhookForm::Signed { url, secret } => {
                let Some(targets) = &self.targets else { return Ok(()) };
                let signed = Some((key(secret).await?, format!("msg_{}", uuid::Uuid::now_v7().simple())));
                self.send(&Message { url, targets, signed, body: notice.json() }).await
            }
            WebhookForm::Slack { url, link } => {
                let (url, targets) = self.secret_url(url).await?;
                let body = notice.slack(link.as_deref());
                self.send(&Message { url: url.expose_secret(), targets: &targets, signed: None, body }).await
            }
        }
    }

    async fn secret_url(&self, from: &TokenFrom) -> Result<(SecretString, Targets), String> {
        let url = read(from).await?;
        let targets = Targets::of_hook(url.expose_secret(), self.private)?;
        Ok((url, targets))
    }

    async fn send(&self, message: &Message<'_>) -> Result<(), String> {
        let Err(failed) = message.post().await else { return Ok(()) };
        if !failed.again {
            return Err(failed.why);
        }
        tokio::time::sleep(self.pause).await;
        message.post().await.map_err(|failed| failed.why)
    }
}

impl Message<'_> {
    async fn post(&self) -> Result<(), Failed> {
        let headers = match &self.signed {
            Some((key, id)) => key.headers(id, clock::now().as_millis() / 1_000, &self.body).to_vec(),
            None => vec![("content-type", "application/json".to_owned())],
        };
        match self.targets.notify(self.url, &headers, self.body.clone(), LIMIT).await {
            Ok((200..=299, _)) => Ok(()),
            Ok((status, _)) => {
                let moved = if matches!(status, 300..=399) { "; redirects are not followed" } else { "" };
                let again = matches!(status, 408 | 429 | 500..=599);
                Err(Failed { why: format!("the receiver answered HTTP {status}{moved}"), again })
            }
            Err(error) => {
                // The error contains foreign text, so it goes to the log only.
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

async fn key(secret: &TokenFrom) -> Result<Key, String> {
    Key::parse(&read(secret).await?)
}

/// Reads the secret each time, so that a changed secret needs no restart.
async fn read(secret: &TokenFrom) -> Result<SecretString, String> {
    secret.read_within(LIMIT).await.map_err(|why| format!("its secret cannot be had: {why}"))
}
