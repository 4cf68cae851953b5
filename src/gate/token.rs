//! Tokens: whose they are, and what they open. Of a secret only the hash is kept.

use std::fmt;
use std::str::FromStr;

use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::domain::Timestamp;

/// What a token opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Propose actions, and withdraw one's own.
    Propose,
    /// Read actions, changes and events.
    Read,
    /// Approve and reject what others proposed.
    Decide,
    /// Claim approved actions and report what became of them.
    Execute,
    /// What only the gate's owner may do.
    Admin,
}

/// No such scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no scope; there are propose, read, decide, execute and admin")]
pub struct UnknownScope(pub String);

/// A token without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Names the token where it is revoked.
    pub id: String,
    pub subject: String,
    pub workspace: String,
    pub scopes: Vec<Scope>,
    pub created_at: Timestamp,
    /// `None` while it is good.
    pub revoked_at: Option<Timestamp>,
    /// `None`: it does not end by itself.
    pub expires_at: Option<Timestamp>,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 5] = [Self::Propose, Self::Read, Self::Decide, Self::Execute, Self::Admin];

    /// The word on the command line and in storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Propose => "propose",
            Self::Read => "read",
            Self::Decide => "decide",
            Self::Execute => "execute",
            Self::Admin => "admin",
        }
    }

    pub(crate) fn write(scopes: &[Self]) -> String {
        scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// A word that is no scope opens nothing.
    pub(crate) fn read(text: &str) -> Vec<Self> {
        text.split(' ').filter_map(|word| word.parse().ok()).collect()
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|scope| scope.as_str() == word.trim());
        known.ok_or_else(|| UnknownScope(word.to_owned()))
    }
}

impl Token {
    /// A new token and its secret, which is shown once and of which only the hash is kept.
    pub(crate) fn issue(
        subject: &str,
        workspace: &str,
        scopes: &[Scope],
        expires_at: Option<Timestamp>,
    ) -> (Self, SecretString) {
        let mut scopes = scopes.to_vec();
        scopes.sort_unstable();
        scopes.dedup();
        let role = match scopes.as_slice() {
            _ if scopes.contains(&Scope::Decide) => "owner",
            _ if scopes.contains(&Scope::Propose) => "agent",
            _ => "token",
        };
        // Two version 4 UUIDs are 244 random bits from the operating system.
        let secret = format!("placet_{role}_{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let token = Self {
            id: Uuid::new_v4().simple().to_string().chars().take(12).collect(),
            subject: subject.to_owned(),
            workspace: workspace.to_owned(),
            scopes,
            // The store keeps when it was recorded.
            created_at: Timestamp::default(),
            revoked_at: None,
            expires_at,
        };
        (token, SecretString::from(secret))
    }
}

/// What is stored of a secret. It has 244 random bits, so a plain hash is enough.
pub(crate) fn hash(secret: &SecretString) -> Vec<u8> {
    Sha256::digest(secret.expose_secret().as_bytes()).to_vec()
}
