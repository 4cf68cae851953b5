//! Writes a hook's answer in each client's format.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::agent::clients::{HookClient, Protocol};

#[derive(Debug)]
pub(super) enum Reply<'a> {
    Allow {
        input: &'a RawValue,
        edited: bool,
    },
    /// The call does not run. Holds a full sentence for the model.
    Deny(&'a str),
    /// The turn ends and the session is resumed later. Only for clients that can defer.
    Defer,
}

const APPROVED: &str = "A human approved this call.";
/// For the model, because it would otherwise attribute the result to its own input.
const EDITED: &str =
    "A human changed the input of this call before it ran. The result is that of the changed input.";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Claude<'a> {
    hook_specific_output: ClaudeDecision<'a>,
}

/// Shared by Claude Code and Codex. `additionalContext` reaches the model, the reason of an `allow` does not.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeDecision<'a> {
    hook_event_name: &'static str,
    permission_decision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'static str>,
}

#[derive(Serialize)]
struct Gemini<'a> {
    decision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(rename = "hookSpecificOutput", skip_serializing_if = "Option::is_none")]
    output: Option<GeminiInput<'a>>,
}

#[derive(Serialize)]
struct GeminiInput<'a> {
    #[serde(rename = "hookEventName")]
    event: &'static str,
    tool_input: &'a RawValue,
}

impl Reply<'_> {
    /// Returns one line of JSON that holds the input byte for byte.
    pub(super) fn json(&self, client: &HookClient) -> Result<String, serde_json::Error> {
        match client.protocol {
            Protocol::Claude => serde_json::to_string(&Claude { hook_specific_output: self.for_claude() }),
            Protocol::Gemini => serde_json::to_string(&self.for_gemini()),
        }
    }

    fn for_claude(&self) -> ClaudeDecision<'_> {
        let blank = ClaudeDecision {
            hook_event_name: "PreToolUse",
            permission_decision: "deny",
            permission_decision_reason: None,
            updated_input: None,
            additional_context: None,
        };
        match *self {
            // The input is sent even if it is unchanged, to undo changes by other hooks.
            Self::Allow { input, edited } => ClaudeDecision {
                permission_decision: "allow",
                permission_decision_reason: Some(if edited { EDITED } else { APPROVED }),
                updated_input: Some(input),
                additional_context: edited.then_some(EDITED),
                ..blank
            },
            Self::Deny(why) => ClaudeDecision { permission_decision_reason: Some(why), ..blank },
            Self::Defer => ClaudeDecision { permission_decision: "defer", ..blank },
        }
    }

    fn for_gemini(&self) -> Gemini<'_> {
        match *self {
            // Gemini CLI reports any returned input to the model as changed, even an equal one.
            Self::Allow { input, edited } => Gemini {
                decision: "allow",
                reason: None,
                output: edited.then_some(GeminiInput { event: "BeforeTool", tool_input: input }),
            },
            Self::Deny(why) => Gemini { decision: "deny", reason: Some(why), output: None },
            // Unreachable; denies to be safe.
            Self::Defer => {
                Gemini { decision: "deny", reason: Some("Gemini CLI cannot defer."), output: None }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::clients::{CLAUDE_CODE_HOOK, CODEX_HOOK, GEMINI_HOOK};

    fn allow(client: &HookClient, edited: bool) -> String {
        let input: Box<RawValue> = serde_json::from_str(r#"{ "command": "x",  "n": 1.10 }"#).unwrap();
        Reply::Allow { input: &input, edited }.json(client).unwrap()
    }

    #[test]
    fn approved_input_goes_out_byte_for_byte() {
        for (client, edited) in [(&CLAUDE_CODE_HOOK, false), (&CODEX_HOOK, true), (&GEMINI_HOOK, true)] {
            assert!(allow(client, edited).contains(r#"put":{ "command": "x",  "n": 1.10 }"#), "{client:?}");
        }
        assert_eq!(allow(&GEMINI_HOOK, false), r#"{"decision":"allow"}"#);
    }

    #[test]
    fn model_is_told_of_an_edit_only() {
        assert!(allow(&CLAUDE_CODE_HOOK, true).contains(r#""additionalContext":"A human changed"#));
        assert!(!allow(&CLAUDE_CODE_HOOK, false).contains("additionalContext"));
    }

    #[test]
    fn denial_carries_the_sentence_and_no_input() {
        let deny = |client| Reply::Deny("Not \"now\".").json(client).unwrap();

        assert_eq!(
            deny(&CODEX_HOOK),
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Not \"now\"."}}"#
        );
        assert_eq!(deny(&GEMINI_HOOK), r#"{"decision":"deny","reason":"Not \"now\"."}"#);
    }

    #[test]
    fn only_claude_code_gets_a_defer() {
        let deferred = Reply::Defer.json(&CLAUDE_CODE_HOOK).unwrap();
        assert!(deferred.contains(r#""permissionDecision":"defer""#), "{deferred}");
        assert!(Reply::Defer.json(&GEMINI_HOOK).unwrap().contains(r#""decision":"deny""#));
    }
}
