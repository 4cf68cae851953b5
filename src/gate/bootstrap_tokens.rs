//! The first tokens: one for the agent and one for the owner, in files that only their owner can read.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret as _, SecretString};

use super::error::GateError;
use super::state::Gate;
use super::token::{self, Scope};
use crate::config::TokenFrom;
use crate::config::secret::SecretError;
use crate::private;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstTokens {
    /// Subject `owner`, scopes `read`, `decide`, `execute` and `admin`.
    pub owner: PathBuf,
    /// Subject `agent`, scopes `propose`, `read` and `execute`.
    pub agent: PathBuf,
}

const OWNER: [Scope; 4] = [Scope::Read, Scope::Decide, Scope::Execute, Scope::Admin];
const AGENT: [Scope; 3] = [Scope::Propose, Scope::Read, Scope::Execute];

impl Gate {
    /// Writes `owner.token` and `agent.token` for the configured workspace into `folder`, created with mode 0700. A
    /// database not called `gate` adds its name (`b.db`: `b.owner.token`). Keeps files with a valid token; reissues
    /// missing, unreadable or dead ones. Revokes and reissues one that others could read.
    pub async fn first_tokens(&self, folder: &Path) -> Result<FirstTokens, GateError> {
        let owner = folder.join(format!("{}owner.token", self.inner.token_prefix));
        let agent = folder.join(format!("{}agent.token", self.inner.token_prefix));
        make_folder(folder)?;
        self.first(&owner, "owner", &OWNER).await?;
        self.first(&agent, "agent", &AGENT).await?;
        Ok(FirstTokens { owner, agent })
    }

    async fn first(&self, path: &Path, subject: &str, scopes: &[Scope]) -> Result<(), GateError> {
        let kept = TokenFrom::File(path.to_owned()).read();
        if let Ok(secret) = &kept
            && let Some(token) = self.store().token(&token::hash(secret), self.inner.clock.now()).await?
            && token.workspace == self.inner.workspace
        {
            return Ok(());
        }
        if matches!(kept, Err(SecretError::Exposed(_))) {
            self.revoke_exposed(path).await?;
        }
        let secret = self.create_token(subject, &self.inner.workspace, scopes, None).await?;
        write(path, &secret).map_err(|error| GateError::TokenFile { path: path.to_owned(), error })
    }
}

impl Gate {
    async fn revoke_exposed(&self, path: &Path) -> Result<(), GateError> {
        let Ok(text) = std::fs::read_to_string(path) else { return Ok(()) };
        let secret = SecretString::from(text.trim());
        if let Some(token) = self.store().token(&token::hash(&secret), self.inner.clock.now()).await? {
            self.revoke_token(&token.id).await?;
            tracing::warn!(path = %path.display(), "others could read this token; it was revoked and replaced");
        }
        Ok(())
    }
}

pub(super) fn prefix(database: &Path) -> String {
    match database.file_stem().map(|stem| stem.to_string_lossy()) {
        Some(stem) if stem != "gate" => format!("{stem}."),
        _ => String::new(),
    }
}

fn make_folder(folder: &Path) -> Result<(), GateError> {
    private::folder(folder).map_err(|error| GateError::TokenFile { path: folder.to_owned(), error })
}

/// Replaces the file by a rename: a reader sees the old or the new token, and a link at `path` is not followed.
fn write(path: &Path, secret: &SecretString) -> std::io::Result<()> {
    let new = path.with_extension("new");
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private::options().write(true).create_new(true).open(&new)?;
    writeln!(file, "{}", secret.expose_secret())?;
    file.sync_all()?;
    std::fs::rename(&new, path)
}
