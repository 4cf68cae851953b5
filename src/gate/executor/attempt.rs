//! The result of one attempt to run an action, and the outcome to store.

use serde_json::value::RawValue;

use crate::config::Retry;
use crate::domain::RawJson;
use crate::domain::json::JsonError;
use crate::gate::store::Finished;

/// Longest stored error, in bytes.
const ERROR_MAX: usize = 4_096;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// The output or the response.
    Done(Vec<u8>),
    /// The executor refused or did not start, so the write probably did not happen.
    Failed(String),
    /// The executor was stopped or lost; the write may have happened.
    Lost(String),
    /// The executor may still run, without a supervisor.
    Vanished(String),
}

/// Returns the outcome to store. `None` if the executor may still run, so that the lease must expire first.
pub(super) fn how_it_ended(ran: Attempt, retry: Retry) -> Option<Finished> {
    Some(match (ran, retry) {
        (Attempt::Done(output), _) => match result(&output) {
            Ok(result) => Finished::Executed(result),
            Err(error) => Finished::Lost(format!("it ran, but its output cannot be kept: {error}")),
        },
        (Attempt::Failed(error), _) => Finished::Failed(clip(&error)),
        (Attempt::Lost(error), Retry::Safe) => Finished::Again(clip(&error)),
        (Attempt::Lost(error), Retry::Manual) => Finished::Lost(clip(&error)),
        (Attempt::Vanished(error), _) => {
            tracing::warn!(error, "nobody knows how a run ended; its lease runs out first");
            return None;
        }
    })
}

/// Keeps JSON output byte for byte and other output as a JSON string.
fn result(output: &[u8]) -> Result<RawJson, JsonError> {
    let text = String::from_utf8_lossy(output);
    // Stricter than `RawJson`, which accepts words like NaN, because clients must be able to read it.
    let strict = serde_json::from_str::<&RawValue>(&text).ok().and_then(|raw| RawJson::parse(raw.get()).ok());
    match strict {
        Some(json) => Ok(json),
        None => RawJson::parse(serde_json::to_string(&text).unwrap_or_default()),
    }
}

/// Cuts an error at a character boundary. Replaces U+0000, which PostgreSQL cannot store.
pub(crate) fn clip(text: &str) -> String {
    let text = text.replace('\0', "\u{fffd}");
    let mut end = text.len().min(ERROR_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_kept_as_json_or_as_a_string() {
        assert_eq!(result(b" {\"n\": 1.10}\n").unwrap().as_str(), "{\"n\": 1.10}");
        assert_eq!(result(b"done\n").unwrap().as_str(), "\"done\\n\"");
        assert_eq!(result(b"NaN").unwrap().as_str(), "\"NaN\"");
        assert_eq!(result(b"").unwrap().as_str(), "\"\"");
        assert_eq!(result(b"\xff").unwrap().as_str(), "\"\u{fffd}\"");
    }

    #[test]
    fn long_error_is_cut_at_a_character() {
        assert_eq!(clip(&"é".repeat(4_000)).len(), ERROR_MAX);
        assert_eq!(clip("a\0b"), "a\u{fffd}b");
        assert_eq!(clip(&format!("a{}", "é".repeat(4_000))).len(), ERROR_MAX - 1);
    }
}
