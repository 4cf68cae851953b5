//! Reads a file's content before a call changes it, to show the reviewer a diff.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::event::HookCall;

/// Longer files are omitted, because a part would look like the whole file.
const FILE_MAX: u64 = 256 << 10;

/// Members shared by Claude Code (`Write`, `Edit`) and Gemini CLI (`write_file`, `replace`).
#[derive(Deserialize)]
struct FileInput {
    file_path: String,
    old_string: Option<String>,
}

#[derive(Serialize)]
struct Written<'a> {
    /// `null` if the file does not exist.
    content: Option<&'a str>,
}

#[derive(Serialize)]
struct Edited<'a> {
    new_string: &'a str,
    file: &'a str,
}

/// Returns the target's content under the input's keys. `None` for other tools, and for a file that is unreadable, not
/// UTF-8 or over 256 KiB.
pub(super) fn before(call: &HookCall) -> Option<Box<RawValue>> {
    let input: FileInput = serde_json::from_str(call.input.get()).ok()?;
    let path = call.path(&input.file_path);
    let state = match (call.tool.as_str(), input.old_string) {
        ("Write" | "write_file", _) => {
            let content = if path.symlink_metadata().is_ok() { Some(text_of(&path)?) } else { None };
            serde_json::to_string(&Written { content: content.as_deref() })
        }
        ("Edit" | "replace", Some(old)) => {
            let file = text_of(&path)?;
            // The edit will fail, so there is no state to compare with.
            if old.is_empty() || !file.contains(&old) {
                return None;
            }
            serde_json::to_string(&Edited { new_string: &old, file: &file })
        }
        _ => return None,
    };
    state.ok().and_then(|state| RawValue::from_string(state).ok())
}

fn text_of(path: &Path) -> Option<String> {
    // Reading a pipe or a device would not end.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let read = File::open(path).ok()?.take(FILE_MAX + 1).read_to_string(&mut text).ok()?;
    (read as u64 <= FILE_MAX).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::clients::CLAUDE_CODE_HOOK;

    fn told(folder: &Path, tool: &str, input: &str) -> Option<String> {
        let call = HookCall {
            client: &CLAUDE_CODE_HOOK,
            session: "s".to_owned(),
            id: Some("1".to_owned()),
            tool: tool.to_owned(),
            input: serde_json::from_str(input).unwrap(),
            folder: folder.to_owned(),
            transcript: None,
        };
        before(&call).map(|state| state.get().to_owned())
    }

    #[test]
    fn file_tools_show_the_content_before() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "one\ntwo\n").unwrap();
        let told = |tool: &str, input: &str| told(folder.path(), tool, input);

        let write = r#"{"file_path":"a.txt","content":"x"}"#;
        assert_eq!(told("Write", write).as_deref(), Some(r#"{"content":"one\ntwo\n"}"#));
        assert_eq!(
            told("write_file", &write.replace("a.txt", "new")).as_deref(),
            Some(r#"{"content":null}"#)
        );
        let edit = r#"{"file_path":"a.txt","old_string":"two","new_string":"2"}"#;
        let state = r#"{"new_string":"two","file":"one\ntwo\n"}"#;
        assert_eq!(told("Edit", edit).as_deref(), Some(state));
        assert_eq!(told("replace", edit).as_deref(), Some(state));
        assert_eq!(told("Edit", &edit.replace("two", "three")), None);
        assert_eq!(told("Bash", r#"{"command":"cat a.txt"}"#), None);
    }

    #[test]
    fn long_and_binary_files_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let long = "x".repeat(usize::try_from(FILE_MAX).unwrap());
        for (name, bytes) in [("long", format!("{long}x").into_bytes()), ("binary", vec![0xff, 0xfe])] {
            std::fs::write(folder.path().join(name), bytes).unwrap();
            let input = format!(r#"{{"file_path":"{name}","content":""}}"#);
            assert_eq!(told(folder.path(), "Write", &input), None, "{name}");
        }
        assert_eq!(told(folder.path(), "Write", r#"{"file_path":".","content":""}"#), None);
        std::fs::write(folder.path().join("fits"), long).unwrap();
        assert!(told(folder.path(), "Write", r#"{"file_path":"fits","content":""}"#).is_some());
    }
}
