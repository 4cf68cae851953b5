//! Puts `placet mcp` before a server's command in a client's settings, and removes it.

mod entry;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::agent::client_files::{self, FileError};
use crate::agent::clients::{Client, Env, Servers};
use crate::domain::json;

use entry::Entry;

#[derive(Debug, thiserror::Error)]
pub enum WrapError {
    #[error("no home folder is known; set HOME")]
    NoHome,
    #[error("{client} has no MCP server {name:?} in {}", list(.looked))]
    NoServer { client: &'static str, name: String, looked: Vec<PathBuf> },
    #[error(transparent)]
    File(#[from] FileError),
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

#[derive(Debug)]
pub struct Server {
    client: &'static Client,
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
    /// Other changes with their signs: a time limit, and placet's tool in a list of tools.
    pub more: Vec<String>,
}

pub fn find(client: &'static Client, name: &str, folder: &Path, env: Env<'_>) -> Result<Server, WrapError> {
    let mut looked = Vec::new();
    let home = client.home.folder(env).ok_or(WrapError::NoHome)?;
    for (path, keys) in (client.places)(&home, folder) {
        let Some(text) = client_files::read(&path)? else {
            looked.push(path);
            continue;
        };
        let malformed = |why: String| WrapError::Malformed { path: path.clone(), why };
        match Entry::find(client, &text, &keys, name).map_err(malformed)? {
            None if looked.contains(&path) => {}
            None => looked.push(path),
            Some(entry) if entry.is_remote => return Err(WrapError::Http { name: name.to_owned() }),
            Some(entry) if entry.words.is_empty() => {
                return Err(malformed(format!("{name:?} has no command as {} expects it", client.title)));
            }
            Some(entry) => return Ok(Server { client, path, text, name: name.to_owned(), entry }),
        }
    }
    Err(WrapError::NoServer { client: client.title, name: name.to_owned(), looked })
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
        if !seconds.is_finite() || seconds < 0.0 {
            let why = format!("the time limit of {:?} is {seconds} s; set a minute or more", self.name);
            return Err(WrapError::Malformed { path: self.path.clone(), why });
        }
        let usual = self.client.patience.unwrap_or(Duration::MAX);
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
        let settings = json::members(&plain).filter(|_| self.client.servers == Servers::JsonList)?;
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
        let more = self.entry.more(&self.text, &text);
        Ok(Change { path: self.path.clone(), text, before: self.entry.words.clone(), after, more })
    }
}

impl Change {
    pub fn write(&self) -> Result<(), WrapError> {
        Ok(client_files::write(&self.path, &self.text)?)
    }
}

#[cfg(test)]
mod tests;
