//! Where a token is, and reading it from there.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use secrecy::SecretString;

use crate::private::{self, ReadError};

/// Where a token comes from. Never the token itself, and never the command line, where `ps` would show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenFrom {
    Env(String),
    /// A file that only its owner can read.
    File(PathBuf),
    /// A command and its arguments; the token is its standard output.
    Command(Vec<String>),
}

/// A token could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("the environment variable {0} is not set; set it to the token")]
    NoVariable(String),
    #[error("cannot read the token file {path}: {error}")]
    File { path: PathBuf, error: std::io::Error },
    #[error("the token file {0} can be read by others; run: chmod 600 {0}")]
    Exposed(PathBuf),
    #[error("the token file {0} is a symbolic link; name the file itself")]
    Link(PathBuf),
    #[error("the token command {program:?} failed: {why}")]
    Command { program: String, why: String },
    #[error("the token from {0} is empty")]
    Empty(String),
}

impl TokenFrom {
    /// One of `NAME_env`, `NAME_file` and `NAME_command`, or none of them. Fails with a sentence for the operator: `several` where there is
    /// more than one.
    pub(super) fn one_of(
        name: &str,
        given: (Option<String>, Option<PathBuf>, Option<Vec<String>>),
        several: &str,
    ) -> Result<Option<Self>, String> {
        match given {
            (None, None, None) => Ok(None),
            (Some(variable), None, None) => Ok(Some(Self::Env(variable))),
            (None, Some(path), None) => Ok(Some(Self::File(path))),
            (None, None, Some(argv)) if !argv.is_empty() => Ok(Some(Self::Command(argv))),
            (None, None, Some(_)) => Err(format!("{name}_command is empty")),
            _ => Err(several.to_owned()),
        }
    }

    /// Reads it, and gives up after `limit`. Fails with a sentence that does not repeat it.
    pub async fn read_within(&self, limit: Duration) -> Result<SecretString, String> {
        let from = self.clone();
        let read = tokio::task::spawn_blocking(move || from.read().map_err(|error| error.to_string()));
        match tokio::time::timeout(limit, read).await {
            Ok(Ok(read)) => read,
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("it was not there within {} s", limit.as_secs())),
        }
    }

    /// Reads the token now. Blocks: a file, or a command that may take a while.
    pub fn read(&self) -> Result<SecretString, SecretError> {
        let (token, place) = match self {
            Self::Env(name) => {
                (std::env::var(name).map_err(|_| SecretError::NoVariable(name.clone()))?, format!("${name}"))
            }
            Self::File(path) => (read_file(path)?, path.display().to_string()),
            Self::Command(argv) => (run(argv)?, argv.join(" ")),
        };
        match token.trim() {
            "" => Err(SecretError::Empty(place)),
            token => Ok(SecretString::from(token)),
        }
    }
}

fn read_file(path: &Path) -> Result<String, SecretError> {
    private::read(path).map_err(|error| match error {
        ReadError::Link => SecretError::Link(path.to_owned()),
        ReadError::Exposed => SecretError::Exposed(path.to_owned()),
        ReadError::File(error) => SecretError::File { path: path.to_owned(), error },
    })
}

fn run(argv: &[String]) -> Result<String, SecretError> {
    let program = argv.first().cloned().unwrap_or_default();
    let failed = |why: String| SecretError::Command { program: program.clone(), why };
    let output = Command::new(&program)
        .args(argv.iter().skip(1))
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(output.status.to_string()));
    }
    String::from_utf8(output.stdout).map_err(|_| failed("its output is not UTF-8".to_owned()))
}
