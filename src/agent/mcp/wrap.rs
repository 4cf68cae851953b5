//! Puts `placet mcp` before a server's command in a client's settings, and removes it.
//!
//! Describes Claude Code 2.1.197, Codex CLI 0.169.0, opencode 1.18.33 and Gemini CLI 0.61.0.

mod entry;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::agent::client_files;
use crate::domain::json;

use super::wait::Wait;

use entry::Entry;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpClient {
    ClaudeCode,
    Codex,
    Opencode,
    Gemini,
}

impl McpClient {
    pub const fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Opencode => "opencode",
            Self::Gemini => "Gemini CLI",
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum WrapError {
    #[error("no home folder is known; set HOME")]
    NoHome,
    #[error("{client} has no MCP server {name:?} in {}", list(.looked))]
    NoServer { client: &'static str, name: String, looked: Vec<PathBuf> },
    #[error("cannot read {path}: {error}")]
    Read { path: PathBuf, error: io::Error },
    #[error("cannot write {path}: {error}")]
    Write { path: PathBuf, error: io::Error },
    #[error("{path}: {why}; nothing was written")]
    Malformed { path: PathBuf, why: String },
    #[error("{name:?} is reached over HTTP; only a server with a command can be wrapped")]
    Http { name: String },
    #[error(
        "the client gives a call of {name:?} only {seconds} seconds; set its limit to a minute or more, for people need time"
    )]
    NoTime { name: String, seconds: f64 },
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// A settings file, and the keys of its table of servers.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    path: PathBuf,
    keys: Vec<String>,
}

/// Returns the places where a client looks for servers, in descending precedence.
fn places(
    client: McpClient,
    folder: &Path,
    env: impl Fn(&str) -> Option<PathBuf>,
) -> Result<Vec<Place>, WrapError> {
    let set = |name: &str| env(name).filter(|value| !value.as_os_str().is_empty());
    let home = set("HOME").ok_or(WrapError::NoHome)?;
    let place = |path: PathBuf, keys: &[&str]| Place {
        path,
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
    };
    Ok(match client {
        McpClient::ClaudeCode => {
            let own = set("CLAUDE_CONFIG_DIR").unwrap_or(home).join(".claude.json");
            let here = folder.to_string_lossy();
            vec![
                place(own.clone(), &["projects", &here, "mcpServers"]),
                place(folder.join(".mcp.json"), &["mcpServers"]),
                place(own, &["mcpServers"]),
            ]
        }
        McpClient::Codex => {
            let own = set("CODEX_HOME").unwrap_or_else(|| home.join(".codex"));
            vec![place(own.join("config.toml"), &["mcp_servers"])]
        }
        McpClient::Opencode => {
            let own = set("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
            let folders = [folder.join(".opencode"), folder.to_owned(), own.join("opencode")];
            let names = ["opencode.json", "opencode.jsonc"];
            let files = folders.iter().flat_map(|folder| names.map(|name| folder.join(name)));
            files.map(|path| place(path, &["mcp"])).collect()
        }
        McpClient::Gemini => {
            let own = set("GEMINI_CLI_HOME").unwrap_or(home);
            [folder, own.as_path()]
                .map(|folder| place(folder.join(".gemini/settings.json"), &["mcpServers"]))
                .into()
        }
    })
}

#[derive(Debug)]
pub struct Server {
    client: McpClient,
    path: PathBuf,
    text: String,
    name: String,
    entry: Entry,
}

#[derive(Debug)]
pub struct Change {
    path: PathBuf,
    text: String,
    pub before: Vec<String>,
    pub after: Vec<String>,
}

pub fn find(
    client: McpClient,
    name: &str,
    folder: &Path,
    env: impl Fn(&str) -> Option<PathBuf>,
) -> Result<Server, WrapError> {
    let mut looked = Vec::new();
    for Place { path, keys } in places(client, folder, env)? {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                looked.push(path);
                continue;
            }
            Err(error) => return Err(WrapError::Read { path, error }),
        };
        let malformed = |why: String| WrapError::Malformed { path: path.clone(), why };
        match Entry::find(client, &text, &keys, name).map_err(malformed)? {
            None if looked.contains(&path) => {}
            None => looked.push(path),
            Some(entry) if entry.is_remote => return Err(WrapError::Http { name: name.to_owned() }),
            Some(entry) if entry.words.is_empty() => {
                return Err(malformed(format!("{name:?} has no command as {} expects it", client.title())));
            }
            Some(entry) => return Ok(Server { client, path, text, name: name.to_owned(), entry }),
        }
    }
    Err(WrapError::NoServer { client: client.title(), name: name.to_owned(), looked })
}

impl Server {
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn is_wrapped(&self) -> bool {
        self.entry.wrapped_at().is_some()
    }

    /// Returns the settings with `program` before the server's command. `None` if it is wrapped already.
    pub fn wrapped(&self, program: &[String]) -> Option<Result<Change, WrapError>> {
        let mut words = program.to_vec();
        words.push("mcp".to_owned());
        if let Some(name) = super::tools::word(&self.name) {
            words.extend(["--name".to_owned(), name]);
        }
        (!self.is_wrapped()).then(|| {
            words.extend(self.wait()?);
            words.push("--".to_owned());
            let after = words.iter().chain(&self.entry.words).cloned().collect();
            self.change(self.entry.wrapped(&self.text, &words), after)
        })
    }

    /// Returns the option that parks calls in time, if the user gave the client less time than placet needs.
    fn wait(&self) -> Result<Vec<String>, WrapError> {
        let Some(seconds) = self.entry.patience else { return Ok(Vec::new()) };
        if seconds.is_nan() {
            let why = format!("the time limit of {:?} is no number; write it without quotes", self.name);
            return Err(WrapError::Malformed { path: self.path.clone(), why });
        }
        let usual = Wait::Auto.limit(&self.client.title().to_lowercase(), true);
        let wait = Duration::try_from_secs_f64(seconds * 0.8).unwrap_or(Duration::MAX).as_secs();
        match wait {
            0 => Err(WrapError::NoTime { name: self.name.clone(), seconds }),
            wait if wait >= usual.as_secs() => Ok(Vec::new()),
            wait => Ok(vec!["--wait".to_owned(), wait.to_string()]),
        }
    }

    /// Returns a sentence for the user if the client hides placet's own tool from the model.
    pub fn hides_result(&self) -> Option<String> {
        if let Some(list) = self.entry.hidden_by {
            let said = "hides placet_result, which tells of parked calls. Take it out of that list.";
            return Some(format!("`{list}` of {:?} {said}", self.name));
        }
        let plain = client_files::plain_json(&self.text);
        let settings = json::members(&plain).filter(|_| self.client == McpClient::Opencode)?;
        let tools = settings.into_iter().rfind(|member| member.key.text == "tools")?;
        let tool = format!("{}_placet_result", self.name);
        let covers = |pattern: &str| match pattern.split_once('*') {
            Some((start, end)) => tool.starts_with(start) && tool.ends_with(end),
            None => pattern == tool,
        };
        let last = json::members(tools.value)?.into_iter().rfind(|member| covers(&member.key.text))?;
        let said = || format!("`tools` hides {tool}, which tells of parked calls. Set it to true there.");
        (last.value == "false").then(said)
    }

    /// Returns the settings without placet, with their original bytes. `None` if it is not wrapped.
    pub fn unwrapped(&self) -> Option<Result<Change, WrapError>> {
        let own = self.entry.wrapped_at()?;
        let after = self.entry.words.iter().skip(own).cloned().collect();
        Some(self.change(self.entry.unwrapped(&self.text, own), after))
    }

    fn change(&self, text: Option<String>, after: Vec<String>) -> Result<Change, WrapError> {
        let why =
            || format!("{:?} is written in a way that placet cannot change; change it by hand", self.name);
        let text = text.ok_or_else(|| WrapError::Malformed { path: self.path.clone(), why: why() })?;
        Ok(Change { path: self.path.clone(), text, before: self.entry.words.clone(), after })
    }
}

impl Change {
    pub fn write(&self) -> Result<(), WrapError> {
        let path = self.path.clone();
        client_files::write(&self.path, &self.text).map_err(|error| WrapError::Write { path, error })
    }
}

#[cfg(test)]
mod tests;
