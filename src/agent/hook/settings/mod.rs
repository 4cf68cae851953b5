//! Finds clients' settings files, and installs and removes placet's hook in them.

pub mod judge;
mod splice;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::run::{GRACE, REPORT_LIMIT};
use crate::agent::client_files::{self, FileError};
use crate::agent::clients::{Env, HookClient};
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
    pub client: &'static HookClient,
    /// A regular expression for tool names.
    pub tools: String,
    /// The program and its arguments before `hook`.
    pub program: Vec<String>,
    pub wait: Duration,
    pub defer: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{path}, line {line}: {why}; correct it first, nothing was written")]
    NotJson { path: PathBuf, line: usize, why: &'static str },
    #[error("{path}: {what} is not what {} expects there; nothing was written", .client.title())]
    Shape { path: PathBuf, what: String, client: &'static HookClient },
    #[error("{path}: the hook shares a group with other commands; move it to a group of its own first")]
    Shared { path: PathBuf },
    #[error("the hook of {0} is installed for the user only; leave --project out")]
    NoProject(&'static str),
    #[error("no home folder is known; set HOME")]
    NoHome,
}

pub fn default_matcher(client: &HookClient) -> String {
    matcher(&client.changing.replace("any__tool", ".*").replace("any_tool", ".*"))
}

/// Anchors the names, because clients search a pattern anywhere in a name.
fn matcher(tools: &str) -> String {
    format!("^({tools})$")
}

pub fn path(
    client: &HookClient,
    scope: Scope,
    folder: &Path,
    env: Env<'_>,
) -> Result<PathBuf, SettingsError> {
    match scope {
        Scope::User => {
            client.home.folder(env).map(|home| home.join(client.user_file)).ok_or(SettingsError::NoHome)
        }
        Scope::Project => {
            let file = client.project_file.map(|file| folder.join(file));
            file.ok_or(SettingsError::NoProject(client.title()))
        }
    }
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
        let HookClient { events, reading, .. } = self.client;
        events.iter().enumerate().map(move |(nth, event)| {
            let limit = if nth == 0 { asks } else { reports };
            let mut groups = vec![self.group(&self.tools, &self.command(), limit)];
            if nth == 0 && !reading.is_empty() {
                groups.push(self.group(&matcher(reading), &self.words(&["--fence"]), MARGIN));
            }
            (*event, groups)
        })
    }

    fn group(&self, matcher: &str, command: &str, limit: Duration) -> String {
        let timeout = limit.as_millis() * u128::from(self.client.timeout_units) / 1_000;
        let timeout = u64::try_from(timeout).unwrap_or(u64::MAX);
        let (matcher, command) = (json::encode(matcher), json::encode(command));
        format!(
            r#"{{"matcher":{matcher},"hooks":[{{"type":"command","command":{command},"timeout":{timeout}}}]}}"#
        )
    }

    pub fn shown(&self) -> String {
        let members: Vec<String> =
            self.groups().map(|(event, groups)| format!("\"{event}\":[{}]", groups.join(","))).collect();
        json::pretty(&format!("{{\"hooks\":{{{}}}}}", members.join(",")))
    }
}

/// Returns whether `placet hook install` wrote the command, even if somebody changed it since.
fn is_ours(client: &HookClient, command: &str) -> bool {
    let Ok(words) = shell_words::split(command) else { return false };
    words.windows(3).any(|three| three == ["hook", "--client", client.word()])
}

/// Returns whether the commands of a group are ours. Fails for a group that mixes them with others.
fn has_ours(client: &HookClient, group: &str) -> Result<bool, SpliceError> {
    let group: Value = serde_json::from_str(group).unwrap_or_default();
    let hooks = group.get("hooks").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let is_ours = |hook: &&Value| hook["command"].as_str().is_some_and(|command| is_ours(client, command));
    match hooks.iter().filter(is_ours).count() {
        0 => Ok(false),
        n if n == hooks.len() => Ok(true),
        _ => Err(SpliceError::Shared),
    }
}

/// The text of a settings file; a missing file is empty.
#[derive(Debug)]
pub struct Settings {
    path: PathBuf,
    client: &'static HookClient,
    text: String,
}

impl Settings {
    pub fn read(path: &Path, client: &'static HookClient) -> Result<Self, SettingsError> {
        let text = client_files::read(path)?.unwrap_or_default();
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
            for event in self.client.events {
                text = self.event(&text, event, &[])?;
            }
        }
        Ok(text)
    }

    fn event(&self, text: &str, event: &str, groups: &[String]) -> Result<String, SettingsError> {
        splice::groups(text, event, groups, |one| has_ours(self.client, one)).map_err(|error| {
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
        Ok(client_files::write(&self.path, text)?)
    }
}

#[cfg(test)]
mod tests;
