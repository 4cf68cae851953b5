//! How one attempt at a run came out, and what the store is told of it.

use serde_json::value::RawValue;

use crate::config::Retry;
use crate::domain::RawJson;
use crate::domain::json::JsonError;
use crate::gate::store::Finished;

/// Most bytes of an error text that are kept.
const ERROR_MAX: usize = 4_096;

/// How one attempt came out.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// What it printed or answered.
    Done(Vec<u8>),
    /// It said no, or could not be started: nothing landed as far as anybody knows.
    Failed(String),
    /// It was stopped or lost on the way: it may have landed.
    Lost(String),
    /// It may still go on: nobody watches it any more.
    Vanished(String),
}

/// `None`: it may still go on, so that its lease has to run out first.
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

/// The output as it is when it is JSON, else as a JSON string.
fn result(output: &[u8]) -> Result<RawJson, JsonError> {
    let text = String::from_utf8_lossy(output);
    // Stricter than RawJson, which tolerates words like NaN: a reply of ours must be JSON to everybody.
    let strict = serde_json::from_str::<&RawValue>(&text).ok().and_then(|raw| RawJson::parse(raw.get()).ok());
    match strict {
        Some(json) => Ok(json),
        None => RawJson::parse(serde_json::to_string(&text).unwrap_or_default()),
    }
}

/// An error text, cut at a character to what is kept. No database keeps U+0000.
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
    fn a_long_error_is_cut_at_a_character() {
        assert_eq!(clip(&"é".repeat(4_000)).len(), ERROR_MAX);
        assert_eq!(clip("a\0b"), "a\u{fffd}b");
        assert_eq!(clip(&format!("a{}", "é".repeat(4_000))).len(), ERROR_MAX - 1);
    }
}
