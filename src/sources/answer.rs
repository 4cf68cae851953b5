//! What a failed request means. The HTTP status decides first, the error's code second.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Full, SourceError};
use crate::contract::action::Unreadable;
use crate::contract::error;
use crate::domain::{Item, Outcome, Row, Status, Untrusted};
use crate::net::http::{HttpError, Reply};

/// There was no answer.
pub(super) fn none(error: HttpError) -> SourceError {
    let why = Untrusted::from(error.to_string());
    match error {
        HttpError::NotSent(_) => SourceError::NotSent { why },
        HttpError::Lost(_) => SourceError::Unreachable { why },
        HttpError::TooLarge | HttpError::Form(_) => SourceError::Protocol { why },
        HttpError::Token(what) => SourceError::Token(what),
    }
}

/// The answer is no success.
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

/// Our gate is busy or stopping: it says so before it does anything, and when to come back. Of other systems that is not known.
pub(super) fn nothing_was_done(reply: &Reply) -> bool {
    let says_when = reply.status == 503 && reply.retry_after.is_some();
    says_when && error::read(&reply.text).code == Some("UNAVAILABLE".into())
}

/// The text of a success.
pub(super) fn success(reply: Reply) -> Result<String, SourceError> {
    match reply.status {
        200..=299 => Ok(reply.text),
        _ => Err(refusal(&reply)),
    }
}

/// Reads a text on a thread of its own: megabytes of JSON take longer than other tasks should wait.
pub(super) async fn parsed<T: Send + 'static>(
    text: String,
    otherwise: &str,
    read: impl FnOnce(&str) -> Option<T> + Send + 'static,
) -> Result<T, SourceError> {
    parsed_to_keep(text, otherwise, |text| read(text)).await
}

/// The same, where what is read may keep the text.
pub(super) async fn parsed_to_keep<T: Send + 'static>(
    text: String,
    otherwise: &str,
    read: impl FnOnce(&Arc<String>) -> Option<T> + Send + 'static,
) -> Result<T, SourceError> {
    let parsed = tokio::task::spawn_blocking(move || read(&Arc::new(text))).await;
    parsed.ok().flatten().ok_or_else(|| nonsense(otherwise))
}

/// The answer is a success, but not what was asked for.
pub(super) fn nonsense(what: &str) -> SourceError {
    SourceError::Protocol { why: Untrusted::from(what) }
}

/// Notes a cursor of a list before it is followed. Fails if it was followed already: the list would never end.
pub(super) fn follow(followed: &mut HashSet<String>, cursor: &str) -> Result<(), SourceError> {
    if followed.insert(cursor.to_owned()) { Ok(()) } else { Err(in_a_circle()) }
}

/// Reports an item of a list of pending actions whose status placet does not know.
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

/// The pages of a list repeat what was read already.
pub(super) fn in_a_circle() -> SourceError {
    nonsense("its pages go in a circle, so its list cannot be read to the end; report this to its developers")
}

/// An error met while nothing was sent yet: reading before sending lost sight of nothing.
pub(super) fn before_sending(error: SourceError) -> SourceError {
    match error {
        SourceError::Unreachable { why } | SourceError::Protocol { why } => SourceError::NotSent { why },
        other => other,
    }
}

/// What a request that failed as a whole means for the decision in it.
pub(super) fn outcome(error: &SourceError) -> Outcome {
    let said = error.why().map(Untrusted::as_raw).unwrap_or_default();
    let why = Untrusted::from(format!("the source {error}: {said}").trim_end_matches(": ").to_owned());
    if error.lost_sight() { Outcome::Unknown { why } } else { Outcome::Failed { why } }
}

/// The action as it stands was decided before, by somebody else.
pub(super) fn skipped(row: &Row) -> Outcome {
    Outcome::Skipped { status: Some(row.status.clone()), by: row.resolved_by.clone() }
}

/// The decision did not land.
pub(super) fn failed(why: &str) -> Outcome {
    Outcome::Failed { why: why.into() }
}

/// A kind of decision that this source never takes. Freezing refuses it before it comes here.
pub(super) fn untaken(item: &Item) -> Outcome {
    failed(&format!("this source cannot {}", item.kind().words().cannot))
}

/// The status and what the backend said about it.
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
