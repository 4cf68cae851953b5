//! Checks the token of a request: whose it is, its workspace, and its scopes.
//!
//! A token belongs to a subject and a workspace. Its workspace is the wall, its scopes are the doors. Deciders and
//! proposers are named by their token, never by a body.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use axum::extract::{FromRequestParts, Request, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::Gate;
use super::error::ApiError;
use super::store::{Actor, StoreError};
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

/// A token without its secret, for lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenInfo {
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

/// A live token, as it is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) id: String,
    pub(crate) subject: String,
    pub(crate) workspace: String,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) expires_at: Option<Timestamp>,
}

/// Whoever sent this request, proved by their token.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) token: Token,
    /// To look the token up again while a stream is open.
    pub(crate) hash: Vec<u8>,
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
            expires_at,
        };
        (token, SecretString::from(secret))
    }
}

/// What is stored of a secret. It has 244 random bits, so a plain hash is enough.
pub(crate) fn hash(secret: &SecretString) -> Vec<u8> {
    Sha256::digest(secret.expose_secret().as_bytes()).to_vec()
}

impl Caller {
    /// Refuses a caller without the scope.
    fn may(&self, scope: Scope) -> Result<(), ApiError> {
        if self.token.scopes.contains(&scope) {
            return Ok(());
        }
        Err(ApiError::Forbidden(format!("this token lacks the scope `{scope}`; use one that has it")))
    }

    /// The workspace that is read: the token's, and when one is named it must be that.
    pub(crate) fn reads<'a>(&'a self, named: Option<&'a str>) -> Result<&'a str, ApiError> {
        self.workspace(named.filter(|named| !named.is_empty()).or(Some(&self.token.workspace)))
    }

    /// The workspace a proposal is for. The contract demands that it is named, and it must be the token's.
    pub(crate) fn workspace<'a>(&self, named: Option<&'a str>) -> Result<&'a str, ApiError> {
        match named {
            None | Some("") => {
                Err(ApiError::Invalid("workspace_id is missing; name the workspace".to_owned()))
            }
            Some(named) if named == self.token.workspace => Ok(named),
            Some(_) => Err(ApiError::Forbidden("this token belongs to another workspace".to_owned())),
        }
    }

    pub(crate) fn actor(&self) -> Actor {
        Actor { subject: self.token.subject.clone(), workspace: self.token.workspace.clone() }
    }

    /// Is the token still good? Asked again and again while a stream is open.
    pub(crate) async fn is_live(&self, gate: &Gate) -> Result<bool, StoreError> {
        Ok(gate.store().token(&self.hash, gate.inner.clock.now()).await?.is_some())
    }
}

/// What a route asks of whoever calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing: it says no more than that the gate is there.
    Open,
    /// Any live token.
    AnyToken,
    Scope(Scope),
}

/// Who called, for whoever stands further outside and has the log to write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named(pub(crate) Arc<OnceLock<String>>);

/// Stands before every route of the table: proves who calls, and that they may.
pub(crate) async fn guard(
    State((gate, access)): State<(Gate, Access)>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    if access != Access::Open {
        let caller = Caller::prove(request.headers(), &gate).await?;
        if let Some(named) = request.extensions().get::<Named>() {
            named.0.set(caller.token.subject.clone()).ok();
        }
        if let Access::Scope(scope) = access {
            caller.may(scope)?;
        }
        request.extensions_mut().insert(caller);
    }
    Ok(next.run(request).await)
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // Only an open route has none, and it must not ask for one.
        parts.extensions.get().cloned().ok_or(ApiError::Unauthorized(MISSING))
    }
}

const MISSING: &str = "a token is missing; send it as `Authorization: Bearer TOKEN`";

impl Caller {
    async fn prove(headers: &HeaderMap, gate: &Gate) -> Result<Self, ApiError> {
        let header = headers.get(AUTHORIZATION).ok_or(ApiError::Unauthorized(MISSING))?;
        let secret = header
            .to_str()
            .ok()
            .and_then(|text| text.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, secret)| SecretString::from(secret.trim()))
            .ok_or(ApiError::Unauthorized("the Authorization header is not `Bearer TOKEN`"))?;
        let hash = hash(&secret);
        match gate.store().token(&hash, gate.inner.clock.now()).await? {
            Some(token) => Ok(Self { token, hash }),
            None => Err(ApiError::Unauthorized("this token is not known, was revoked, or has expired")),
        }
    }
}
