//! Finds clients' settings files, and installs and removes placet's hook in them.
//!
//! Describes Claude Code 2.1.197, Codex CLI 0.169.0 and Gemini CLI 0.61.0.

pub mod judge;
mod splice;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::event::HookClient;
use super::run::{GRACE, REPORT_LIMIT};
use crate::agent::client_files;
use crate::domain::json;
use splice::SpliceError;

/// Time for a client to start a hook and read its answer.
const MARGIN: Duration = Duration::from_mins(1);
/// Exit code 2 blocks the tool in every client, even if the hook cannot start.
const OR_BLOCK: &str = " || exit 2";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    User,
    Project,
}

#[derive(Clone, Debug)]
pub struct Block {
    pub client: HookClient,
    /// A regular expression for tool names.
    pub tools: String,
    /// The program and its arguments before `hook`.
    pub program: Vec<String>,
    pub wait: Duration,
    pub defer: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("cannot read {path}: {error}")]
    Read { path: PathBuf, error: io::Error },
    #[error("cannot write {path}: {error}")]
    Write { path: PathBuf, error: io::Error },
    #[error("{path}, line {line}: {why}; correct it first, nothing was written")]
    NotJson { path: PathBuf, line: usize, why: &'static str },
    #[error("{path}: {what} is not what {} expects there; nothing was written", .client.title())]
    Shape { path: PathBuf, what: String, client: HookClient },
    #[error("{path}: the hook shares a group with other commands; move it to a group of its own first")]
    Shared { path: PathBuf },
    #[error("the hook of Codex is installed for the user only; leave --project out")]
    NoProject,
    #[error("no home folder is known; set HOME")]
    NoHome,
}

/// Events and tools of a client. Tool names are separated by `|`; one of them stands for all MCP tools.
struct Known {
    /// The event before a call, then those after it.
    events: &'static [&'static str],
    /// Tools in the default matcher.
    changing: &'static str,
    acting: &'static str,
    /// Tools that take file paths. Empty for Codex, which reads files in its shell.
    reading: &'static str,
}

const fn known(client: HookClient) -> Known {
    match client {
        HookClient::ClaudeCode => Known {
            events: &["PreToolUse", "PostToolUse", "PostToolUseFailure"],
            changing: "Bash|Edit|Write|NotebookEdit|mcp__any__tool",
            acting: "WebFetch|WebSearch|Agent",
            reading: "Read|Grep|Glob",
        },
        HookClient::Codex => Known {
            events: &["PreToolUse", "PostToolUse"],
            changing: "Bash|apply_patch|mcp__any__tool",
            acting: "web_search",
            reading: "",
        },
        HookClient::Gemini => Known {
            events: &["BeforeTool", "AfterTool"],
            changing: "run_shell_command|replace|write_file|mcp_any_tool",
            acting: "web_fetch|google_web_search",
            reading: "read_file|read_many_files|list_directory|grep_search|search_file_content|glob",
        },
    }
}

/// Returns the default matcher.
pub fn usual_tools(client: HookClient) -> String {
    matcher(&known(client).changing.replace("any__tool", ".*").replace("any_tool", ".*"))
}

/// Anchors the names, because clients search a pattern anywhere in a name.
fn matcher(tools: &str) -> String {
    format!("^({tools})$")
}

/// Returns the path of the settings file. `CLAUDE_CONFIG_DIR`, `CODEX_HOME` and `GEMINI_CLI_HOME` override it.
pub fn path(
    client: HookClient,
    scope: Scope,
    folder: &Path,
    env: impl Fn(&str) -> Option<PathBuf>,
) -> Result<PathBuf, SettingsError> {
    let set = |name: &str| env(name).filter(|value| !value.as_os_str().is_empty());
    let home = |below: &str| set("HOME").map(|home| home.join(below)).ok_or(SettingsError::NoHome);
    Ok(match (client, scope) {
        (HookClient::ClaudeCode, Scope::Project) => folder.join(".claude/settings.json"),
        (HookClient::ClaudeCode, Scope::User) => {
            set("CLAUDE_CONFIG_DIR").map_or_else(|| home(".claude"), Ok)?.join("settings.json")
        }
        (HookClient::Codex, Scope::Project) => return Err(SettingsError::NoProject),
        (HookClient::Codex, Scope::User) => {
            set("CODEX_HOME").map_or_else(|| home(".codex"), Ok)?.join("hooks.json")
        }
        (HookClient::Gemini, Scope::Project) => folder.join(".gemini/settings.json"),
        (HookClient::Gemini, Scope::User) => {
            set("GEMINI_CLI_HOME").map_or_else(|| home(""), Ok)?.join(".gemini/settings.json")
        }
    })
}

#[derive(Serialize)]
struct Group {
    matcher: String,
    hooks: Vec<Handler>,
}

#[derive(Serialize)]
struct Handler {
    #[serde(rename = "type")]
    kind: String,
    command: String,
    /// In seconds for Claude Code and Codex, in milliseconds for Gemini CLI.
    timeout: u64,
}

impl Block {
    pub fn command(&self) -> String {
        let wait = match self.wait.as_secs() {
            seconds if seconds % 60 == 0 => format!("{}m", seconds / 60),
            seconds => format!("{seconds}s"),
        };
        let more: &[&str] = if self.defer { &["--wait", &wait, "--defer"] } else { &["--wait", &wait] };
        self.words(more)
    }

    fn words(&self, more: &[&str]) -> String {
        let own = self.program.iter().map(String::as_str);
        shell_words::join(own.chain(["hook", "--client", self.client.word()]).chain(more.iter().copied()))
            + OR_BLOCK
    }

    /// Returns the groups to write, by event. Reading tools call the hook only for its fence.
    fn groups(&self) -> impl Iterator<Item = (&'static str, Vec<String>)> {
        let asks = self.wait.saturating_add(GRACE).saturating_add(MARGIN);
        let reports = REPORT_LIMIT.saturating_add(GRACE).saturating_add(MARGIN);
        let Known { events, reading, .. } = known(self.client);
        events.iter().enumerate().map(move |(nth, event)| {
            let limit = if nth == 0 { asks } else { reports };
            let mut groups = vec![self.group(&self.tools, self.command(), limit)];
            if nth == 0 && !reading.is_empty() {
                groups.push(self.group(&matcher(reading), self.words(&["--fence"]), MARGIN));
            }
            (*event, groups)
        })
    }

    fn group(&self, matcher: &str, command: String, limit: Duration) -> String {
        let timeout = match self.client {
            HookClient::ClaudeCode | HookClient::Codex => limit.as_secs(),
            HookClient::Gemini => u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
        };
        let handler = Handler { kind: "command".to_owned(), command, timeout };
        let group = Group { matcher: matcher.to_owned(), hooks: vec![handler] };
        // Serializing strings and numbers does not fail.
        serde_json::to_string(&group).unwrap_or_default()
    }

    pub fn shown(&self) -> String {
        let members: Vec<String> =
            self.groups().map(|(event, groups)| format!("\"{event}\":[{}]", groups.join(","))).collect();
        json::pretty(&format!("{{\"hooks\":{{{}}}}}", members.join(",")))
    }
}

/// Returns whether `placet hook install` wrote the command, even if somebody changed it since.
fn is_ours(client: HookClient, command: &str) -> bool {
    let Ok(words) = shell_words::split(command) else { return false };
    words.windows(3).any(|three| three == ["hook", "--client", client.word()])
}

enum Whose {
    Ours,
    Others,
    Both,
}

fn whose(client: HookClient, group: &str) -> Whose {
    let group: Value = serde_json::from_str(group).unwrap_or_default();
    let hooks = group.get("hooks").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let is_ours = |hook: &&Value| hook["command"].as_str().is_some_and(|command| is_ours(client, command));
    match hooks.iter().filter(is_ours).count() {
        0 => Whose::Others,
        n if n == hooks.len() => Whose::Ours,
        _ => Whose::Both,
    }
}

/// The text of a settings file; a missing file is empty.
#[derive(Debug)]
pub struct Settings {
    path: PathBuf,
    client: HookClient,
    text: String,
}

impl Settings {
    pub fn read(path: &Path, client: HookClient) -> Result<Self, SettingsError> {
        let failed = |error| SettingsError::Read { path: path.to_owned(), error };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        if !text.trim().is_empty()
            && let Err(error) = json::Scanner::new(&text).check()
        {
            let line = text.bytes().take(error.at).filter(|byte| *byte == b'\n').count() + 1;
            return Err(SettingsError::NotJson { path: path.to_owned(), line, why: error.what });
        }
        Ok(Self { path: path.to_owned(), client, text })
    }

    /// Returns the file with the hook. Keeps all other bytes.
    pub fn with(&self, block: &Block) -> Result<String, SettingsError> {
        let text = if self.text.trim().is_empty() { "{}\n" } else { &self.text };
        let mut text = text.to_owned();
        for (event, groups) in block.groups() {
            text = self.event(&text, event, &groups)?;
        }
        Ok(text)
    }

    pub fn without(&self) -> Result<String, SettingsError> {
        let mut text = self.text.clone();
        if !text.trim().is_empty() {
            for event in known(self.client).events {
                text = self.event(&text, event, &[])?;
            }
        }
        Ok(text)
    }

    fn event(&self, text: &str, event: &str, groups: &[String]) -> Result<String, SettingsError> {
        let ours = |one: &str| match whose(self.client, one) {
            Whose::Ours => Ok(true),
            Whose::Others => Ok(false),
            Whose::Both => Err(SpliceError::Shared),
        };
        splice::groups(text, event, groups, ours).map_err(|error| {
            let path = self.path.clone();
            match error {
                SpliceError::Shared => SettingsError::Shared { path },
                SpliceError::Shape(what) => SettingsError::Shape { path, what, client: self.client },
            }
        })
    }

    pub fn is(&self, text: &str) -> bool {
        self.text == text
    }

    pub fn write(&self, text: &str) -> Result<(), SettingsError> {
        let written = client_files::write(&self.path, text);
        written.map_err(|error| SettingsError::Write { path: self.path.clone(), error })
    }
}

#[cfg(test)]
mod tests;
