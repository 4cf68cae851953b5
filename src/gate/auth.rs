//! Authentication of requests, by token or by a trusted proxy.
//!
//! Deciders and proposers are named by their token, never by a body.

use axum::extract::{FromRequestParts, Request, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use secrecy::SecretString;

use super::error::{ApiError, BAD_REQUEST, FORBIDDEN, INVALID, UNAUTHORIZED};
use super::metrics::Named;
use super::proxy::{FromProxy, WORKSPACE};
use super::state::Gate;
use super::store::{Actor, StoreError};
use super::token::{Scope, Token, hash};
use crate::domain::{Timestamp, subject};

/// Maximum duration of a stream for a person named by a proxy, in milliseconds. The client then reconnects, and the
/// proxy names the person again.
const STREAM: i64 = 15 * 60 * 1_000;

#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// Synthetic if a proxy named the person.
    pub(crate) token: Token,
    pub(crate) proof: Proof,
}

#[derive(Clone, Debug)]
pub(crate) enum Proof {
    /// Hash of the token, to check it again while a stream is open.
    Token(Vec<u8>),
    /// Valid until this time, because a proxy proves only one request.
    Proxy { until: Timestamp },
}

impl Caller {
    fn may(&self, scope: Scope) -> Result<(), ApiError> {
        if self.token.scopes.contains(&scope) {
            return Ok(());
        }
        Err(ApiError::new(
            FORBIDDEN,
            match self.proof {
                Proof::Token(_) => format!("this token lacks the scope `{scope}`; use one that has it"),
                Proof::Proxy { .. } => {
                    format!("your groups lack the scope `{scope}`; gate.proxy.groups can give it")
                }
            },
        ))
    }

    /// Returns the workspace to read: the token's. A named workspace must equal it.
    pub(crate) fn reads<'a>(&'a self, named: Option<&'a str>) -> Result<&'a str, ApiError> {
        self.workspace(named.filter(|named| !named.is_empty()).or(Some(&self.token.workspace)))
    }

    /// Returns the workspace of a proposal, which must be named and be the token's.
    pub(crate) fn workspace<'a>(&self, named: Option<&'a str>) -> Result<&'a str, ApiError> {
        match named {
            None | Some("") => Err(ApiError::new(INVALID, "workspace_id is missing; name the workspace")),
            Some(named) if named == self.token.workspace => Ok(named),
            Some(_) => Err(ApiError::new(
                FORBIDDEN,
                match self.proof {
                    Proof::Token(_) => "this token belongs to another workspace".to_owned(),
                    Proof::Proxy { .. } => {
                        format!(
                            "this request is for another workspace; name the same one in the header `{WORKSPACE}`"
                        )
                    }
                },
            )),
        }
    }

    pub(crate) fn actor(&self) -> Actor {
        Actor { subject: self.token.subject.clone(), workspace: self.token.workspace.clone() }
    }

    /// Whether the proof is still valid. Called repeatedly while a stream is open.
    pub(crate) async fn is_live(&self, gate: &Gate) -> Result<bool, StoreError> {
        let now = gate.inner.clock.now();
        match &self.proof {
            Proof::Token(hash) => Ok(gate.store().token(hash, now).await?.is_some()),
            Proof::Proxy { until } => Ok(now < *until),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// No token: the route reveals only that the gate is running.
    Open,
    AnyToken,
    Scope(Scope),
}

/// Authenticates the caller of a route and checks its scope.
pub(crate) async fn guard(
    State((gate, access)): State<(Gate, Access)>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    if access != Access::Open {
        let caller = match Caller::by_proxy(&mut request, &gate).await? {
            Some(caller) => caller,
            None => Caller::prove(request.headers(), &gate).await?,
        };
        if let Some(named) = request.extensions().get::<Named>() {
            named.0.set(caller.token.subject.clone()).ok();
        }
        if let Access::Scope(scope) = access {
            caller.may(scope)?;
            // Subjects matter only for writes: a reader never counts as a second person.
            if scope != Scope::Read {
                subject::check(&caller.token.subject).map_err(|why| {
                    ApiError::new(FORBIDDEN, format!("your subject {why}; get a token with another subject"))
                })?;
            }
        }
        request.extensions_mut().insert(caller);
    }
    // PostgreSQL rejects U+0000 in stored text and in query parameters.
    if request.uri().path_and_query().is_some_and(|asked| asked.as_str().contains("%00")) {
        return Err(ApiError::new(
            BAD_REQUEST,
            "the address holds U+0000 (%00), which nothing here is called",
        ));
    }
    Ok(next.run(request).await)
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // Only open routes have no caller; their handlers must not extract one.
        parts.extensions.get().cloned().ok_or_else(|| ApiError::new(UNAUTHORIZED, MISSING))
    }
}

const MISSING: &str = "a token is missing; send it as `Authorization: Bearer TOKEN`";

impl Caller {
    /// Returns the person named by a trusted proxy, or `None` if a token is needed.
    pub(crate) async fn by_proxy(request: &mut Request, gate: &Gate) -> Result<Option<Self>, ApiError> {
        let Some(proxy) = &gate.inner.proxy else { return Ok(None) };
        let from_proxy = request.extensions().get::<FromProxy>().is_some_and(|from| from.0);
        let person = proxy.person(request.headers(), from_proxy);
        proxy.strip(request.headers_mut());
        let Some(token) = person? else { return Ok(None) };
        let now = gate.inner.clock.now();
        if proxy.is_news(&token, now)
            && let Err(error) = gate.store().note_proxied(token.clone(), now).await
        {
            // A failed write only hides the person's name from others.
            tracing::warn!(%error, "somebody whom the proxy names is not written down");
            proxy.forget(&token);
        }
        Ok(Some(Self { token, proof: Proof::Proxy { until: now.plus_millis(STREAM) } }))
    }

    async fn prove(headers: &HeaderMap, gate: &Gate) -> Result<Self, ApiError> {
        let header = headers.get(AUTHORIZATION).ok_or_else(|| ApiError::new(UNAUTHORIZED, MISSING))?;
        let secret = header
            .to_str()
            .ok()
            .and_then(|text| text.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, secret)| SecretString::from(secret.trim()))
            .ok_or_else(|| ApiError::new(UNAUTHORIZED, "the Authorization header is not `Bearer TOKEN`"))?;
        let hash = hash(&secret);
        let now = gate.inner.clock.now();
        match gate.store().token(&hash, now).await? {
            Some(token) => {
                gate.inner.uses.note(&token, now);
                Ok(Self { token, proof: Proof::Token(hash) })
            }
            None => Err(ApiError::new(UNAUTHORIZED, "this token is not known, was revoked, or has expired")),
        }
    }
}
