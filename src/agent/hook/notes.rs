//! Notes that one run of the hook leaves for the next: claims, to report results, and deferred calls. Each is a private
//! file in the state folder.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::event::HookCall;
use crate::domain::{Digest, json};
use crate::private::{self, ReadError};

/// Age at which a claim is deleted. The gate accepts a report after the lease ended, unless something else ran.
const CLAIM_KEPT: Duration = Duration::from_hours(24);
const DEFERRED_KEPT: Duration = Duration::from_hours(30 * 24);

const CLAIMED: &str = "claimed";
const DEFERRED: &str = "deferred";

#[derive(Clone, Debug)]
pub struct Notes(PathBuf);

#[derive(Debug, Serialize, Deserialize)]
pub struct Claimed {
    pub action: String,
    pub fence: u64,
    /// The approved input. It identifies the call for a client without call ids.
    pub input: Box<RawValue>,
}

/// A call whose session ended until somebody decides.
#[derive(Debug, Serialize, Deserialize)]
pub struct Deferred {
    pub session: String,
    /// The agent's working folder, where the session is resumed.
    pub folder: PathBuf,
    pub action: String,
    pub tool: String,
    /// As first proposed, so that the resumed call is proposed with the same state.
    pub before: Option<Box<RawValue>>,
}

impl Claimed {
    /// Returns the input that ran if it is not the claimed one. A report without an input counts as the claimed one.
    pub fn other<'a>(&self, call: &'a HookCall) -> Option<&'a RawValue> {
        let ran = &*call.input;
        (ran.get() != "null" && !json::is_same(self.input.get(), ran.get())).then_some(ran)
    }
}

impl Notes {
    pub fn within(state: &Path) -> Self {
        Self(state.join("hook"))
    }

    /// Stores a claim. Must precede the answer that lets the client run the call.
    pub fn claim(&self, call: &HookCall, claimed: &Claimed) -> io::Result<()> {
        let one = match call.id {
            Some(_) => String::new(),
            None => format!("-{}", Uuid::new_v4()),
        };
        self.write(&format!("{CLAIMED}-{}{one}", name(call)), claimed)
    }

    /// Returns the claim of a call that ran, and its file. For a client without call ids it matches session, tool and
    /// input; any of several equal claims will do. If no input matches, the only claim is returned, and the caller
    /// reports the difference.
    pub fn claimed(&self, call: &HookCall) -> Option<(PathBuf, Claimed)> {
        let mut claims: Vec<_> = self.all::<Claimed>(&format!("{CLAIMED}-{}", name(call))).collect();
        let fits =
            claims.iter().position(|(_, claimed)| json::is_same(claimed.input.get(), call.input.get()));
        let only = (claims.len() == 1).then_some(0);
        fits.or(only).map(|nth| claims.swap_remove(nth))
    }

    pub fn defer(&self, call: &HookCall, deferred: &Deferred) -> io::Result<()> {
        self.write(&format!("{DEFERRED}-{}", name(call)), deferred)
    }

    pub fn deferred(&self, call: &HookCall) -> Option<(PathBuf, Deferred)> {
        self.all(&format!("{DEFERRED}-{}", name(call))).next()
    }

    pub fn all_deferred(&self) -> Vec<Deferred> {
        self.all(DEFERRED).map(|(_, deferred)| deferred).collect()
    }

    pub fn sweep(&self, now: SystemTime) {
        for (begins, kept) in [(CLAIMED, CLAIM_KEPT), (DEFERRED, DEFERRED_KEPT)] {
            for path in self.files(begins) {
                let age = path.metadata().and_then(|file| file.modified());
                if age.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > kept)) {
                    // Another hook may have deleted it.
                    drop(fs::remove_file(&path));
                }
            }
        }
    }

    fn files(&self, begins: &str) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(begins))
            .map(|entry| entry.path())
            .collect();
        paths.sort();
        paths.into_iter()
    }

    /// Skips files that are unreadable, or readable or writable by others.
    fn all<T: DeserializeOwned>(&self, begins: &str) -> impl Iterator<Item = (PathBuf, T)> {
        self.files(begins).filter_map(|path| {
            let text = match private::read(&path) {
                Ok(text) => text,
                Err(ReadError::Link | ReadError::Exposed | ReadError::File(_)) => return None,
            };
            serde_json::from_str(&text).ok().map(|note| (path, note))
        })
    }

    fn write(&self, name: &str, note: &impl Serialize) -> io::Result<()> {
        private::folder(&self.0)?;
        let text = serde_json::to_string(note)?;
        let path = self.0.join(format!("{name}.json"));
        let mut file = private::options().create(true).truncate(true).write(true).open(path)?;
        file.write_all(text.as_bytes())
    }
}

/// Identifies a call, or all calls of a tool in a session if the client gives no ids.
fn name(call: &HookCall) -> String {
    let fields = [call.client.agent, &call.session, call.id.as_deref().unwrap_or(&call.tool)];
    let digest = Digest::of_fields("placet-hook/v1", fields.map(Some)).to_string();
    digest.trim_start_matches("sha256:").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::clients::{CLAUDE_CODE_HOOK, CODEX_HOOK, GEMINI_HOOK, HookClient};

    fn call(client: &'static HookClient, id: Option<&str>, input: &str) -> HookCall {
        HookCall {
            client,
            session: "s".to_owned(),
            id: id.map(str::to_owned),
            tool: "run_shell_command".to_owned(),
            input: raw(input),
            folder: "/".into(),
            transcript: None,
        }
    }

    fn raw(json: &str) -> Box<RawValue> {
        serde_json::from_str(json).unwrap()
    }

    fn claimed(action: &str, input: &str) -> Claimed {
        Claimed { action: action.to_owned(), fence: 7, input: raw(input) }
    }

    #[test]
    fn claim_is_found_by_the_id_of_its_call() {
        let folder = tempfile::tempdir().unwrap();
        let notes = Notes::within(folder.path());
        let one = call(&CLAUDE_CODE_HOOK, Some("1"), "{}");
        notes.claim(&one, &claimed("a", r#"{"x":1}"#)).unwrap();

        let (path, found) = notes.claimed(&one).unwrap();

        assert_eq!((found.action.as_str(), found.fence), ("a", 7));
        assert!(notes.claimed(&call(&CLAUDE_CODE_HOOK, Some("2"), "{}")).is_none());
        assert!(notes.claimed(&call(&CODEX_HOOK, Some("1"), "{}")).is_none());
        fs::remove_file(path).unwrap();
        assert!(notes.claimed(&one).is_none());
    }

    #[test]
    fn claim_without_an_id_is_found_by_its_input() {
        let folder = tempfile::tempdir().unwrap();
        let notes = Notes::within(folder.path());
        let gemini = |input: &str| call(&GEMINI_HOOK, None, input);
        notes.claim(&gemini("{}"), &claimed("a", r#"{ "command": "x", "n": 1.0 }"#)).unwrap();
        notes.claim(&gemini("{}"), &claimed("b", r#"{"command":"y"}"#)).unwrap();

        let found = |input: &str| notes.claimed(&gemini(input)).map(|(_, claimed)| claimed.action);

        assert_eq!(found(r#"{"n":1,"command":"x"}"#).as_deref(), Some("a"));
        assert_eq!(found(r#"{"command":"y"}"#).as_deref(), Some("b"));
        assert_eq!(found(r#"{"command":"z"}"#), None);
        assert_eq!(found(r#"{"command":"y","dir":"/"}"#), None);
        fs::remove_file(notes.claimed(&gemini(r#"{"command":"y"}"#)).unwrap().0).unwrap();
        assert_eq!(found(r#"{"command":"z"}"#).as_deref(), Some("a"), "the only claim");
    }

    #[test]
    fn report_without_an_input_counts_as_the_claimed_one() {
        let claim = claimed("a", r#"{"x":1}"#);
        let other = |input: &str| {
            claim.other(&call(&CODEX_HOOK, Some("1"), input)).map(RawValue::get).map(str::to_owned)
        };

        assert_eq!(other("null"), None);
        assert_eq!(other(r#"{ "x": 1 }"#), None);
        assert_eq!(other(r#"{"x":2}"#).as_deref(), Some(r#"{"x":2}"#));
    }

    #[cfg(unix)]
    #[test]
    fn notes_are_private_and_exposed_ones_are_ignored() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let notes = Notes::within(folder.path());
        let one = call(&CLAUDE_CODE_HOOK, Some("1"), "{}");
        notes.claim(&one, &claimed("a", "{}")).unwrap();
        let (path, _) = notes.claimed(&one).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o077, 0);

        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();

        assert!(notes.claimed(&one).is_none());
    }

    #[test]
    fn old_notes_are_swept() {
        let folder = tempfile::tempdir().unwrap();
        let notes = Notes::within(folder.path());
        let one = call(&CLAUDE_CODE_HOOK, Some("1"), "{}");
        let deferred = Deferred {
            session: "s".to_owned(),
            folder: "/".into(),
            action: "a".to_owned(),
            tool: "t".to_owned(),
            before: None,
        };
        let written = SystemTime::UNIX_EPOCH + Duration::from_hours(24);
        notes.claim(&one, &claimed("a", "{}")).unwrap();
        notes.defer(&one, &deferred).unwrap();
        for path in [notes.claimed(&one).unwrap().0, notes.deferred(&one).unwrap().0] {
            fs::File::options().write(true).open(path).unwrap().set_modified(written).unwrap();
        }

        notes.sweep(written + CLAIM_KEPT);
        assert!(notes.claimed(&one).is_some());
        notes.sweep(written + CLAIM_KEPT + Duration::from_secs(1));
        assert!(notes.claimed(&one).is_none() && notes.deferred(&one).is_some());
        notes.sweep(written + DEFERRED_KEPT + Duration::from_secs(1));
        assert!(notes.all_deferred().is_empty());
    }
}
