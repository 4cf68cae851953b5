//! Decides whether Claude Code will obey a `defer`. If it ignores one, it acts as if there were no hook and may run the
//! tool.
//!
//! Claude Code 2.1.197 ignores `defer` in interactive sessions and for messages with several calls.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde_json::Value;

use super::event::HookCall;

/// Bytes read from the end of a transcript. The call is in one of the last lines.
const TAIL: u64 = 4 << 20;

/// Prefix of `CLAUDE_CODE_ENTRYPOINT` in sessions without a user; `claude -p` sets `sdk-cli`.
const HEADLESS: &str = "sdk-";

pub fn is_headless(entrypoint: Option<&str>) -> bool {
    entrypoint.is_some_and(|entrypoint| entrypoint.starts_with(HEADLESS))
}

/// Returns whether the call is the only one of its message. `None` if the transcript lacks it; Claude Code writes it
/// shortly after calling the hook.
pub(super) fn is_alone(call: &HookCall) -> Option<bool> {
    let text = tail(call.transcript.as_deref()?)?;
    let is_only = |line: &str| -> Option<bool> {
        let line: Value = serde_json::from_str(line).ok()?;
        let mut ids = Vec::new();
        for block in line.pointer("/message/content")?.as_array()? {
            if block.get("type")?.as_str()? == "tool_use" {
                ids.push(block.get("id").and_then(Value::as_str));
            }
        }
        ids.contains(&call.id.as_deref()).then_some(ids.len() == 1)
    };
    text.lines().rev().find_map(is_only)
}

fn tail(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::clients::CLAUDE_CODE_HOOK;

    #[test]
    fn single_call_of_a_headless_session_is_deferred() {
        assert!(is_headless(Some("sdk-cli")) && !is_headless(Some("cli")) && !is_headless(None));

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let line = |blocks: &str| format!(r#"{{"message":{{"role":"assistant","content":[{blocks}]}}}}"#);
        let used = |id: &str| format!(r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{}}}}"#);
        let text = r#"{"type":"text","text":"I do."}"#;
        let lines = [
            r#"{"message":{"role":"user","content":"go"}}"#.to_owned(),
            line(&[text, &used("1")].join(",")),
            line(&[used("2"), used("3")].join(",")),
            r#"{"attachment":{}}"#.to_owned(),
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let alone = |id: &str, transcript: &Path| {
            is_alone(&HookCall {
                client: &CLAUDE_CODE_HOOK,
                session: "s".to_owned(),
                id: Some(id.to_owned()),
                tool: "Bash".to_owned(),
                input: serde_json::from_str("{}").unwrap(),
                folder: "/".into(),
                transcript: Some(transcript.to_owned()),
            })
        };

        assert_eq!(alone("1", &path), Some(true));
        assert_eq!(alone("2", &path), Some(false));
        assert_eq!(alone("4", &path), None);
        assert_eq!(alone("1", &folder.path().join("none")), None);
    }
}
