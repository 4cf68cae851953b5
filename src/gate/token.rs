//! Tokens: their subject and scopes. Only the hash of a secret is stored.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::domain::{self, Timestamp};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Also withdraw one's own.
    Propose,
    Read,
    /// Approve and reject other subjects' proposals.
    Decide,
    /// Claim approved actions and report their results.
    Execute,
    /// Pause the gate and export the audit.
    Admin,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no scope; there are propose, read, decide, execute and admin")]
pub struct UnknownScope(pub String);

/// A token without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub id: String,
    pub subject: String,
    pub name: Option<String>,
    /// Words without blanks.
    pub groups: Vec<String>,
    pub workspace: String,
    pub scopes: Vec<Scope>,
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
    /// `None` if it does not expire.
    pub expires_at: Option<Timestamp>,
    /// Accurate to a minute. `None` if it was never used, or before use was recorded.
    pub last_used_at: Option<Timestamp>,
}

#[derive(Clone, Debug, Default)]
pub struct NewToken {
    pub subject: String,
    pub name: Option<String>,
    pub groups: Vec<String>,
    pub workspace: String,
    pub scopes: Vec<Scope>,
    /// `None` if it does not expire.
    pub lifetime: Option<Duration>,
}

impl Scope {
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

    /// Ignores unknown words.
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
    /// The caller sets workspace and scopes.
    pub(crate) fn by_proxy(subject: String, name: Option<String>, groups: Vec<String>) -> Self {
        Self {
            id: String::new(),
            subject,
            name,
            groups,
            workspace: String::new(),
            scopes: Vec::new(),
            created_at: Timestamp::default(),
            revoked_at: None,
            expires_at: None,
            last_used_at: None,
        }
    }

    pub(crate) fn is_live(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| end > now)
    }

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
        // Two version 4 UUIDs have 244 random bits from the operating system.
        let secret = format!("placet_{role}_{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let token = Self {
            id: Uuid::new_v4().simple().to_string().chars().take(12).collect(),
            subject: subject.to_owned(),
            name: None,
            groups: Vec::new(),
            workspace: workspace.to_owned(),
            scopes,
            // Set by the store.
            created_at: Timestamp::default(),
            revoked_at: None,
            expires_at,
            last_used_at: None,
        };
        (token, SecretString::from(secret))
    }
}

/// Trims and checks a subject. The error is a sentence.
pub(super) fn subject(text: &str) -> Result<&str, String> {
    match text.trim() {
        "" => Err("a token needs a subject: who it is for".to_owned()),
        subject if subject.chars().count() > 200 => Err("a subject has at most 200 characters".to_owned()),
        subject => {
            domain::subject::check(subject).map(|()| subject).map_err(|why| format!("the subject {why}"))
        }
    }
}

/// Trims and checks a name. The error is a sentence.
pub(super) fn name(text: Option<&str>) -> Result<Option<&str>, &'static str> {
    let name = text.map(str::trim).filter(|name| !name.is_empty());
    if name.is_some_and(|name| name.chars().count() > 100 || name.contains(char::is_control)) {
        return Err("a name has at most 100 characters, on one line");
    }
    Ok(name)
}

/// Whether the text can be part of a list, such as a group.
pub(super) fn is_word(text: &str) -> bool {
    (1..=64).contains(&text.chars().count())
        && !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == ',')
}

/// Tokens used since the last write. Records each at most once a minute.
#[derive(Debug, Default)]
pub(crate) struct Uses(Mutex<HashMap<String, Timestamp>>);

impl Uses {
    const APART_MILLIS: i64 = 60_000;

    pub(crate) fn note(&self, token: &Token, now: Timestamp) {
        let is_noted =
            |last: Timestamp| now.as_millis().saturating_sub(last.as_millis()) < Self::APART_MILLIS;
        if !token.last_used_at.is_some_and(is_noted) {
            self.lock().insert(token.id.clone(), now);
        }
    }

    pub(crate) fn take(&self) -> Vec<(String, Timestamp)> {
        self.lock().drain().collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A plain hash is enough for 244 random bits.
pub(crate) fn hash(secret: &SecretString) -> Vec<u8> {
    Sha256::digest(secret.expose_secret().as_bytes()).to_vec()
}
