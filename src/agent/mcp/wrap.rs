//! Puts `placet mcp` in front of a server's command in a client's own settings, and takes it off again.
//!
//! As Claude Code 2.1.197, Codex CLI 0.169.0, opencode 1.18.33 and Gemini CLI 0.61.0 read them.

mod entry;

use std::io;
use std::path::{Path, PathBuf};

use crate::agent::client_files;

use entry::Entry;

/// A client whose servers can be wrapped.
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

/// Why settings are left as they are.
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
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Where a client has servers: a file, and the keys of the table in it.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    path: PathBuf,
    keys: Vec<String>,
}

/// The places of a client, the one that it prefers first. `env` looks a variable up.
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
            folders.map(|folder| place(folder.join("opencode.json"), &["mcp"])).into()
        }
        McpClient::Gemini => {
            let own = set("GEMINI_CLI_HOME").unwrap_or(home);
            [folder, own.as_path()]
                .map(|folder| place(folder.join(".gemini/settings.json"), &["mcpServers"]))
                .into()
        }
    })
}

/// A server in a client's settings.
#[derive(Debug)]
pub struct Server {
    path: PathBuf,
    text: String,
    name: String,
    entry: Entry,
}

/// Settings as they would be.
#[derive(Debug)]
pub struct Change {
    path: PathBuf,
    text: String,
    /// The server's command before and after.
    pub before: Vec<String>,
    pub after: Vec<String>,
}

/// Finds a server where its client does.
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
            Some(entry) => return Ok(Server { path, text, name: name.to_owned(), entry }),
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

    /// The settings with `program` in front of the server's command; `None` where placet is there already. Nothing else changes.
    pub fn wrapped(&self, program: &[String]) -> Option<Result<Change, WrapError>> {
        let mut words = program.to_vec();
        words.push("mcp".to_owned());
        if let Some(name) = super::tools::word(&self.name) {
            words.extend(["--name".to_owned(), name]);
        }
        words.push("--".to_owned());
        (!self.is_wrapped()).then(|| {
            let after = words.iter().chain(&self.entry.words).cloned().collect();
            self.change(self.entry.wrapped(&self.text, &words), after)
        })
    }

    /// The settings without placet, as they were before; `None` where it is not there.
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
