//! Converts answers and failed requests into errors and outcomes: by HTTP status first, then by error code.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Full, SourceError};
use crate::contract::action::Unreadable;
use crate::contract::error;
use crate::domain::{Item, Outcome, Row, Status, Untrusted};
use crate::net::http::{HttpError, Reply};

pub(super) fn none(error: HttpError) -> SourceError {
    let why = Untrusted::from(error.to_string());
    match error {
        HttpError::NotSent(_) => SourceError::NotSent { why },
        HttpError::Lost(_) => SourceError::Unreachable { why },
        HttpError::TooLarge | HttpError::Form(_) => SourceError::Protocol { why },
        HttpError::Token(what) => SourceError::Token(what),
    }
}

pub(super) fn refusal(reply: &Reply) -> SourceError {
    let why = message(reply);
    match reply.status {
        401 => SourceError::Unauthorized,
        403 => SourceError::Forbidden { why },
        429 => SourceError::RateLimited { retry_after: reply.retry_after },
        408 | 500.. => SourceError::Unreachable { why },
        300..=399 => {
            SourceError::Refused { why: "it redirects: set `url` to the address that it leads to".into() }
        }
        100..=299 => SourceError::Protocol { why },
        _ => SourceError::Refused { why },
    }
}

/// Returns whether our gate said that it is busy or stopping, which it does before any work. A 503 of another system
/// does not prove that.
pub(super) fn nothing_was_done(reply: &Reply) -> bool {
    let says_when = reply.status == 503 && reply.retry_after.is_some();
    says_when && error::read(&reply.text).code == Some("UNAVAILABLE".into())
}

pub(super) fn success(reply: Reply) -> Result<String, SourceError> {
    match reply.status {
        200..=299 => Ok(reply.text),
        _ => Err(refusal(&reply)),
    }
}

/// Parses on a blocking thread, because megabytes of JSON would hold up other tasks.
pub(super) async fn parsed<T: Send + 'static>(
    text: String,
    otherwise: &str,
    read: impl FnOnce(&str) -> Option<T> + Send + 'static,
) -> Result<T, SourceError> {
    parsed_to_keep(text, otherwise, |text| read(text)).await
}

/// Like [`parsed`], for a result that keeps the text.
pub(super) async fn parsed_to_keep<T: Send + 'static>(
    text: String,
    otherwise: &str,
    read: impl FnOnce(&Arc<String>) -> Option<T> + Send + 'static,
) -> Result<T, SourceError> {
    let parsed = tokio::task::spawn_blocking(move || read(&Arc::new(text))).await;
    parsed.ok().flatten().ok_or_else(|| nonsense(otherwise))
}

/// Longest cursor of a list, in bytes. Servers limit a request's line to 8 KiB or more.
const CURSOR_MAX: usize = 32 << 10;

/// Reports a successful answer that is not what was asked for.
pub(super) fn nonsense(what: &str) -> SourceError {
    SourceError::Protocol { why: Untrusted::from(what) }
}

/// Records a list's cursor before it is followed. Fails if it was followed already, because the list would never end,
/// or if it is too long for a URL.
pub(super) fn follow(followed: &mut HashSet<String>, cursor: &str) -> Result<(), SourceError> {
    if cursor.len() > CURSOR_MAX {
        return Err(nonsense("its cursor is too long for a URL; report this to its developers"));
    }
    if followed.insert(cursor.to_owned()) { Ok(()) } else { Err(in_a_circle()) }
}

/// Reports an item with an unknown status as unreadable.
pub(super) fn known_status(item: Full) -> Full {
    let action = item?;
    match action.row.status {
        Status::Other(_) => {
            let id = Some(action.row.id.clone());
            Err(Unreadable::under(id, Unreadable::UNKNOWN_STATUS, action.raw.as_str().into()))
        }
        _ => Ok(action),
    }
}

pub(super) fn in_a_circle() -> SourceError {
    nonsense("its pages go in a circle, so its list cannot be read to the end; report this to its developers")
}

/// Converts an error from before anything was sent, when no decision can have landed.
pub(super) fn before_sending(error: SourceError) -> SourceError {
    match error {
        SourceError::Unreachable { why } | SourceError::Protocol { why } => SourceError::NotSent { why },
        other => other,
    }
}

/// Returns the outcome of a decision whose request failed as a whole.
pub(super) fn outcome(error: &SourceError) -> Outcome {
    let said = error.why().map(Untrusted::as_raw).unwrap_or_default();
    let why = Untrusted::from(format!("the source {error}: {said}").trim_end_matches(": ").to_owned());
    if error.lost_sight() { Outcome::Unknown { why } } else { Outcome::Failed { why } }
}

pub(super) fn skipped(row: &Row) -> Outcome {
    Outcome::Skipped { status: Some(row.status.clone()), by: row.resolved_by.clone() }
}

pub(super) fn failed(why: &str) -> Outcome {
    Outcome::Failed { why: why.into() }
}

/// Reports a kind of decision that this source never takes. Freezing refuses it earlier.
pub(super) fn untaken(item: &Item) -> Outcome {
    failed(&format!("this source cannot {}", item.kind().words().cannot))
}

pub(super) fn message(reply: &Reply) -> Untrusted {
    let said = error::read(&reply.text).message;
    if said.is_empty() {
        return Untrusted::from(format!("HTTP {}", reply.status));
    }
    Untrusted::from(format!("HTTP {}: {}", reply.status, said.as_raw()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16) -> Reply {
        Reply { status, text: r#"{"detail":"m"}"#.to_owned(), retry_after: None }
    }

    #[test]
    fn only_an_answer_that_may_follow_the_deed_loses_sight() {
        let lost: Vec<u16> = (200..600).filter(|&status| refusal(&reply(status)).lost_sight()).collect();

        let want: Vec<u16> = (200..300).chain([408]).chain(500..600).collect();
        assert_eq!(lost, want);
    }

    #[test]
    fn a_refusal_says_what_the_backend_said() {
        assert_eq!(refusal(&reply(422)), SourceError::Refused { why: "HTTP 422: m".into() });
        assert_eq!(refusal(&reply(403)), SourceError::Forbidden { why: "HTTP 403: m".into() });
        assert_eq!(refusal(&reply(401)), SourceError::Unauthorized);
        assert_eq!(refusal(&reply(429)), SourceError::RateLimited { retry_after: None });
    }
}
