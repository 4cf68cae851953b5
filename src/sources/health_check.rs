//! Health checks for every kind of source.

use std::time::Duration;

use futures_util::StreamExt as _;

use super::setup::{self, Patience};
use super::{Connection, EventKind, Source, SourceError, Synced, answer};
use crate::clock;
use crate::config::SourceConfig;
use crate::domain::Check;
use crate::net::http::{Reply, is_about_certificate, needs_https};

const EVENTS_LIMIT: Duration = Duration::from_secs(5);
const CLOCK_LIMIT: Duration = Duration::from_secs(5);

/// Returns by how many milliseconds a backend's clock is ahead of this computer's, to the second; `None` if it does not
/// say. Sends no token.
pub async fn clock(config: &SourceConfig) -> Option<i64> {
    let stranger = SourceConfig { token: None, headers: Vec::new(), ..config.clone() };
    let theirs = setup::http(&stranger, Patience::USUAL).ok()?.date(CLOCK_LIMIT).await?;
    Some(theirs.as_millis() - clock::now().as_millis())
}

impl dyn Source {
    /// Checks the backend, from its address to the right to decide. Only reads. Reports an answer that takes longer
    /// than `limit`.
    pub async fn check(&self, limit: Duration) -> Vec<Check> {
        tokio::time::timeout(limit, self.steps()).await.unwrap_or_else(|_| {
            let found = format!("no answer within {} s", limit.as_secs());
            let advice = "look at the backend, at its log, and at the network in between";
            vec![Check::bad("answer", found, advice)]
        })
    }

    async fn steps(&self) -> Vec<Check> {
        let mut checks = match self.checks_before().await {
            Ok(checks) => checks,
            Err(checks) => return checks,
        };
        let listed = self.sync(None).await;
        checks.push(self.check_list(&listed).unwrap_or_else(|| list(&listed)));
        checks.extend(self.checks_after(&listed).await);
        if listed.is_ok() {
            checks.extend(self.check_events(EVENTS_LIMIT).await);
        }
        checks
    }

    /// Opens the event stream and waits for its first event. `None` if the source has no stream.
    pub(super) async fn check_events(&self, limit: Duration) -> Option<Check> {
        let mut events = self.watch()?;
        let mut is_open = false;
        let first = tokio::time::timeout(limit, async {
            loop {
                match events.next().await {
                    Some(EventKind::Connection(Connection::Live)) if self.pushes_at_once() => is_open = true,
                    Some(EventKind::Connection(Connection::Connecting | Connection::Polling)) => {}
                    other => break other,
                }
            }
        });
        Some(match first.await {
            Ok(None) => return None,
            Ok(Some(EventKind::Connection(Connection::Live))) => {
                let found =
                    "the stream opens; nothing is sent at its start that shows whether events come at once";
                Check::good("events", found)
            }
            Ok(Some(EventKind::Connection(
                Connection::Retrying { why, .. } | Connection::Refused { why } | Connection::Stopped { why },
            ))) => {
                let end = if is_open { "breaks off" } else { "does not open" };
                let found = format!("the event stream {end}, so the list is asked for every few seconds");
                let advice = "see what is said of it; a proxy in between must pass text/event-stream on";
                Check::warn("events", found, advice).said(Some(why))
            }
            Ok(Some(_)) => Check::good("events", "the stream opens, and events come at once"),
            Err(_) => {
                let end = if is_open { "opens, and then nothing comes" } else { "does not open" };
                let found = format!("events are held back (the stream {end} within {} s)", limit.as_secs());
                let advice = "a proxy in between collects them: switch that off for this path (nginx: proxy_buffering off)";
                Check::warn("events", found, advice)
            }
        })
    }
}

/// Checks the answer to a request. `read` returns `None` for an answer that counts as failed.
pub(super) fn asked(
    what: &'static str,
    answer: &Result<Reply, SourceError>,
    read: impl FnOnce(&Reply) -> Option<Check>,
) -> Check {
    match answer {
        Ok(reply) => read(reply).unwrap_or_else(|| failed(what, &answer::refusal(reply))),
        Err(error) => failed(what, error),
    }
}

fn list(answer: &Result<Synced, SourceError>) -> Check {
    match answer {
        Ok(Synced::All { rows, unreadable, .. } | Synced::Changes { rows, unreadable, .. }) => {
            let pending = rows.iter().filter(|row| row.status.is_pending()).count();
            match unreadable.len() {
                0 => Check::good("list", format!("{pending} pending")),
                n => Check::warn(
                    "list",
                    format!("{pending} pending, and {n} that cannot be read"),
                    "they are shown in the inbox; tell whoever runs the backend",
                ),
            }
        }
        Err(error) => failed("list", error),
    }
}

pub(super) fn failed(what: &'static str, error: &SourceError) -> Check {
    let advice = match error {
        SourceError::NotSent { why } if is_about_certificate(why.as_raw()) => {
            "the url is right, the certificate is not: see what is said of it, at the server or in `ca_file`"
        }
        SourceError::NotSent { .. } => {
            "check `url`, and that the backend runs there and can be reached from here"
        }
        SourceError::Unreachable { why } if needs_https(why.as_raw()) => {
            "correct `url`: begin it with https://"
        }
        SourceError::Unreachable { why } if why.as_raw().starts_with("HTTP ") => {
            "it answered with an error of its own: look at its log"
        }
        SourceError::Unreachable { .. } => {
            "no answer came: look at the log of the backend, and at the network"
        }
        SourceError::Protocol { .. } => {
            "see what is said of it; or check `url` and `kind`, if another program answers there"
        }
        SourceError::Unauthorized => "set a token, or a fresh one: token_env, token_file or token_command",
        SourceError::Forbidden { .. } => "ask whoever runs the backend for the rights that this token lacks",
        SourceError::RateLimited { .. } => "wait, or raise watch.poll_seconds",
        SourceError::Refused { .. } => "check `url` and the settings of this source",
        SourceError::Token(_) => "check token_env, token_file or token_command",
    };
    Check::bad(what, format!("it {error}"), advice).said(error.why().cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_certificate_is_not_told_as_a_wrong_url() {
        let advice = |why: &str| failed("list", &SourceError::NotSent { why: why.into() }).advice;

        assert!(advice("its certificate has expired: renew it").contains("certificate"));
        assert!(advice("connection refused").contains("check `url`"));
        let answered = failed("list", &SourceError::Unreachable { why: "HTTP 500: m".into() });
        assert!(answered.advice.contains("it answered"), "{answered:?}");
        let plain = "it does not speak plain HTTP there; is the url to begin with https://?";
        assert!(failed("list", &SourceError::Unreachable { why: plain.into() }).advice.contains("https://"));
    }
}
