//! Locations of tokens, and reading them.

use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use secrecy::SecretString;

use crate::private::{self, ReadError};
use crate::program;

/// Location of a token. Never the token itself or a command line argument, which `ps` shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenFrom {
    Env(String),
    /// A file that only its owner can read.
    File(PathBuf),
    /// A command with arguments that prints the token.
    Command(Vec<String>),
}

#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("the environment variable {0} is not set; set it to the token")]
    NoVariable(String),
    #[error("cannot read the token file {path}: {error}")]
    File { path: PathBuf, error: io::Error },
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
    /// Takes one of `NAME_env`, `NAME_file` and `NAME_command`; `None` without any. The error is a sentence for the
    /// operator; `several` if more than one is set. Withholds the variable from programs started later.
    pub(super) fn one_of(
        name: &str,
        given: (Option<String>, Option<PathBuf>, Option<Vec<String>>),
        several: &str,
    ) -> Result<Option<Self>, String> {
        match given {
            (None, None, None) => Ok(None),
            (Some(variable), None, None) => {
                program::keep_secret(variable.clone());
                Ok(Some(Self::Env(variable)))
            }
            (None, Some(path), None) => Ok(Some(Self::File(path))),
            (None, None, Some(argv)) if !argv.is_empty() => Ok(Some(Self::Command(argv))),
            (None, None, Some(_)) => Err(format!("{name}_command is empty")),
            _ => Err(several.to_owned()),
        }
    }

    /// Reads the token within `limit`. The error does not repeat the token.
    pub async fn read_within(&self, limit: Duration) -> Result<SecretString, String> {
        let from = self.clone();
        let read = tokio::task::spawn_blocking(move || from.read().map_err(|error| error.to_string()));
        match tokio::time::timeout(limit, read).await {
            Ok(Ok(read)) => read,
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("it was not there within {} s", limit.as_secs())),
        }
    }

    /// Reads the token. Blocks on a file or command.
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
    let name = argv.first().cloned().unwrap_or_default();
    let failed = |why: String| SecretError::Command { program: name.clone(), why };
    let mut command = Command::new(&name);
    command.args(argv.iter().skip(1)).stdin(Stdio::null()).stderr(Stdio::null());
    program::without_secrets(&mut command);
    // A file, because a pipe would stay open while a child of the command holds it.
    let mut run = || {
        let mut output = program::unnamed()?;
        let status = command.stdout(output.try_clone()?).status()?;
        let mut bytes = Vec::new();
        output.rewind()?;
        output.read_to_end(&mut bytes)?;
        Ok((status, bytes))
    };
    let (status, bytes) = run().map_err(|error: io::Error| failed(error.to_string()))?;
    if !status.success() {
        return Err(failed(status.to_string()));
    }
    String::from_utf8(bytes).map_err(|_| failed("its output is not UTF-8".to_owned()))
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn a_token_command_does_not_wait_for_children() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        // The child would keep a pipe open.
        let script = format!("mkfifo {0}; cat {0} & echo token", pipe.display());

        let read = TokenFrom::Command(["sh", "-c", &script].map(str::to_owned).to_vec()).read();

        assert_eq!(read.unwrap().expose_secret(), "token");
        // Opening for reading and writing does not block, and lets the child end.
        drop(std::fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap());
    }

    #[test]
    fn token_variables_are_withheld_from_programs() {
        let given = (Some("CARGO_PKG_HOMEPAGE".to_owned()), None, None);
        TokenFrom::one_of("token", given, "").unwrap();

        let mut command = Command::new("env");
        program::without_secrets(&mut command);

        assert!(command.get_envs().any(|(name, value)| name == "CARGO_PKG_HOMEPAGE" && value.is_none()));
    }
}
