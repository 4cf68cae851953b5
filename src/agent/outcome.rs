//! Decides what to report of a finished call. A result that cannot be kept is replaced and a long error is cut; neither
//! changes the outcome. The Python package has the same rule.

use serde_json::value::RawValue;

use crate::domain::json::{self, JsonError, ODD_WORDS, Scanner, TokenKind};
use crate::sources::RunOutcome;

/// Largest reported result, in bytes. The gate accepts bodies of 16 MiB; the difference is for the rest of the body.
const RESULT_MAX: usize = (16 << 20) - (4 << 10);
/// Longest reported error, in bytes; the gate keeps no more.
const ERROR_MAX: usize = 4 << 10;

/// Returns the report of a call that ran. JSON is kept byte for byte, except that `NaN` and infinities become strings
/// and half surrogate pairs U+FFFD. A sentence replaces anything else and results over 16 MiB.
pub(super) fn ran(result: &str) -> RunOutcome {
    let kept = match result.len() {
        0..=RESULT_MAX => plain(result).unwrap_or_else(|error| {
            instead(if error.what == JsonError::TOO_DEEP { error.what } else { "it is not JSON" })
        }),
        _ => instead("it is longer than 16 MiB"),
    };
    RunOutcome::Result(RawValue::from_string(kept).unwrap_or_default())
}

pub(super) fn failed(why: &str) -> RunOutcome {
    RunOutcome::Error(why.get(..why.floor_char_boundary(ERROR_MAX)).unwrap_or_default().to_owned())
}

pub(super) fn instead(why: &str) -> String {
    json::encode(&format!("The call ran. Its result is not kept: {why}."))
}

/// Returns standard JSON for `text`, which may hold `NaN`, infinities and half surrogate pairs.
pub(super) fn plain(text: &str) -> Result<String, JsonError> {
    let (mut out, mut copied, mut scanner) = (String::with_capacity(text.len()), 0, Scanner::new(text));
    while let Some(token) = scanner.next_token()? {
        let instead = match token.kind {
            TokenKind::Scalar if ODD_WORDS.contains(&token.text) => json::encode(token.text),
            TokenKind::Key | TokenKind::String => match json::decode(token.text) {
                meant if meant.lossy => json::encode(&meant.text),
                _ => continue,
            },
            _ => continue,
        };
        out.push_str(text.get(copied..token.at).unwrap_or_default());
        out.push_str(&instead);
        copied = token.at + token.text.len();
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(text: &str) -> String {
        match ran(text) {
            RunOutcome::Result(kept) => kept.get().to_owned(),
            RunOutcome::Error(why) => panic!("{why}"),
        }
    }

    #[test]
    fn json_is_kept_byte_for_byte() {
        for text in [r#"{ "a": 1.10, "b":"é\u00e9\ud83d\ude00" }"#, "null", "7", r#""\/""#] {
            assert_eq!(result(text), text);
        }
    }

    #[test]
    fn values_that_json_lacks_are_replaced_in_place() {
        let odd = r#"{"a": NaN, "b":[-Infinity,1.0,"NaN"],"\udc00":"x\ud800y"}"#;

        let kept = result(odd);

        assert_eq!(kept, "{\"a\": \"NaN\", \"b\":[\"-Infinity\",1.0,\"NaN\"],\"\u{fffd}\":\"x\u{fffd}y\"}");
        assert!(serde_json::from_str::<serde_json::Value>(&kept).is_ok());
    }

    #[test]
    fn results_that_cannot_be_kept_stay_results() {
        let long = format!("\"{}\"", "x".repeat(16 << 20));

        assert!(result(&long).contains("longer than 16 MiB"));
        assert!(result(&"[".repeat(600)).contains("more than 512 levels deep"));
        for broken in ["", "{", "ok"] {
            assert!(result(broken).contains("not JSON"), "{broken}");
        }
    }

    #[test]
    fn errors_are_cut_at_a_character() {
        let RunOutcome::Error(cut) = failed(&format!("a{}", "é".repeat(20 << 20))) else { panic!() };

        assert_eq!(cut.len(), ERROR_MAX - 1);
        assert!(matches!(failed("no"), RunOutcome::Error(why) if why == "no"));
    }
}
