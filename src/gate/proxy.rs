//! Identity from a proxy in front of the gate, which has authenticated the person and names them in headers.
//!
//! The headers count only from a trusted address with a secret that proxy and gate share. Otherwise a request with the
//! identity header is refused, never treated as one without it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret as _;
use sha2::{Digest as _, Sha256};

use super::error::{ApiError, FORBIDDEN, UNAUTHORIZED};
use super::token::{self, Scope, Token};
use crate::config::{ConfigError, EVERYBODY, GateConfig};
use crate::domain::Timestamp;

/// Selects the workspace, for people who have several.
pub(crate) const WORKSPACE: HeaderName = HeaderName::from_static("x-gate-workspace");
/// Minimum length of the secret, against guessing.
const SHORTEST: usize = 16;
const READ: Duration = Duration::from_secs(10);
/// Interval of recording a person again, in milliseconds.
const NOTED: i64 = 60_000;
/// Maximum number of people in `noted`, which is then cleared.
const MOST: usize = 10_000;

/// Whether the connection came from a trusted proxy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FromProxy(pub(crate) bool);

#[derive(Debug)]
pub(crate) struct Proxy {
    identity: HeaderName,
    name: Option<HeaderName>,
    groups: Option<HeaderName>,
    secret_header: HeaderName,
    /// SHA-256 of the secret.
    secret: [u8; 32],
    rights: BTreeMap<String, (Vec<String>, Vec<Scope>)>,
    /// People by workspace and subject, and when they were recorded.
    noted: Mutex<HashMap<(String, String), (Token, Timestamp)>>,
}

impl Proxy {
    /// Returns `None` if no proxy is configured.
    pub(super) async fn open(config: &GateConfig) -> Result<Option<Self>, ConfigError> {
        let Some(proxy) = &config.proxy else { return Ok(None) };
        let wrong = |what: String| config.error(format!("gate.proxy: {what}"));
        let secret =
            proxy.secret.read_within(READ).await.map_err(|why| wrong(format!("its secret: {why}")))?;
        if secret.expose_secret().chars().count() < SHORTEST {
            return Err(wrong(format!("its secret has fewer than {SHORTEST} characters; take a random one")));
        }
        let header =
            |name: &String| name.parse::<HeaderName>().map_err(|error| wrong(format!("{name}: {error}")));
        let rights = proxy.groups.iter().map(|(group, rights)| {
            // The configuration already refuses unknown scopes.
            let scopes =
                rights.scopes.iter().filter_map(|word| word.parse().ok()).filter(|it| *it != Scope::Admin);
            (spaced(group), (rights.workspaces.clone(), scopes.collect()))
        });
        Ok(Some(Self {
            identity: header(&proxy.identity_header)?,
            name: proxy.name_header.as_ref().map(header).transpose()?,
            groups: proxy.groups_header.as_ref().map(header).transpose()?,
            secret_header: header(&proxy.secret_header)?,
            secret: Sha256::digest(secret.expose_secret().trim().as_bytes()).into(),
            rights: rights.collect(),
            noted: Mutex::default(),
        }))
    }

    /// Returns `None` if the request names no person and needs a token.
    pub(super) fn person(&self, headers: &HeaderMap, from_proxy: bool) -> Result<Option<Token>, ApiError> {
        if !headers.contains_key(&self.identity) {
            return Ok(None);
        }
        let refused = |why: String| ApiError::new(UNAUTHORIZED, why);
        // One message for both, so that an attacker does not learn which part was missing.
        let proof = || {
            format!(
                "`{}` counts only from the gate's own proxy, with its secret; send a token instead",
                self.identity
            )
        };
        let secret = one(headers, &self.secret_header).map_err(|_| refused(proof()))?;
        let is_proved = secret.is_some_and(|secret| self.is_secret(secret));
        if !from_proxy || !is_proved {
            return Err(refused(proof()));
        }
        if headers.contains_key(AUTHORIZATION) {
            return Err(refused(format!(
                "this request has a token and `{}`, and may be of two; send one of them (a proxy that names people must drop Authorization)",
                self.identity
            )));
        }
        let subject = text(headers, &self.identity)?.unwrap_or_default();
        let subject = token::subject(subject)
            .map_err(|why| refused(format!("`{}` cannot be taken: {why}", self.identity)))?;
        let name = match &self.name {
            // Drops a name that is invalid or not UTF-8.
            Some(name) => {
                let name = one(headers, name)?.and_then(|name| std::str::from_utf8(name.as_bytes()).ok());
                token::name(name).unwrap_or_default()
            }
            None => None,
        };
        let groups = self.groups.as_ref().map(|groups| one(headers, groups)).transpose()?.flatten();
        let groups = groups.map(|groups| String::from_utf8_lossy(groups.as_bytes())).unwrap_or_default();
        // Keeps only configured groups, because a directory may send hundreds.
        let groups = groups_in(&groups);
        let is_listed =
            |listed: &&String| *listed != EVERYBODY && groups.iter().any(|it| is_same_group(it, listed));
        let groups = self.rights.keys().filter(is_listed).cloned().collect();
        let person = Token::by_proxy(subject.to_owned(), name.map(str::to_owned), groups);
        self.in_workspace(person, headers).map(Some)
    }

    fn in_workspace(&self, person: Token, headers: &HeaderMap) -> Result<Token, ApiError> {
        let mut opened: BTreeMap<&str, BTreeSet<Scope>> = BTreeMap::new();
        for group in person.groups.iter().map(String::as_str).chain([EVERYBODY]) {
            let Some((workspaces, scopes)) = self.rights.get(group) else { continue };
            for workspace in workspaces {
                opened.entry(workspace).or_default().extend(scopes);
            }
        }
        let wanted = text(headers, &WORKSPACE)?;
        let found = match (wanted, opened.len()) {
            (_, 0) => Err(ApiError::new(
                FORBIDDEN,
                "none of your groups may do anything at this gate; ask whoever runs it to list one in gate.proxy.groups",
            )),
            (Some(wanted), _) => opened.get_key_value(wanted).ok_or_else(|| {
                ApiError::new(
                    FORBIDDEN,
                    format!("none of your groups opens the workspace that `{WORKSPACE}` names"),
                )
            }),
            (None, count) => opened.iter().next().filter(|_| count == 1).ok_or_else(|| {
                let all = opened.keys().copied().collect::<Vec<_>>().join(", ");
                let why = format!(
                    "you may work in several workspaces: {all}; name one in the header `{WORKSPACE}`"
                );
                ApiError::new(FORBIDDEN, why)
            }),
        };
        let (workspace, scopes) = found?;
        // Key for rate limits. The line break makes it different from every token's id.
        let id = format!("{workspace}\n{}", crate::domain::subject::folded(&person.subject));
        let (workspace, scopes) = ((*workspace).to_owned(), scopes.iter().copied().collect());
        Ok(Token { id, workspace, scopes, ..person })
    }

    /// Removes the headers that only this module reads, so that other code cannot leak them.
    pub(super) fn strip(&self, headers: &mut HeaderMap) {
        let all = [Some(&self.identity), self.name.as_ref(), self.groups.as_ref(), Some(&self.secret_header)];
        for name in all.into_iter().flatten() {
            headers.remove(name);
        }
    }

    /// Whether to record this person now.
    pub(super) fn is_news(&self, person: &Token, now: Timestamp) -> bool {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (person.workspace.clone(), person.subject.clone());
        if noted.get(&key).is_some_and(|(known, at)| known == person && now.since(*at) < NOTED) {
            return false;
        }
        if noted.len() >= MOST {
            noted.clear();
        }
        noted.insert(key, (person.clone(), now));
        true
    }

    /// Retries a failed record at the next request.
    pub(super) fn forget(&self, person: &Token) {
        let key = (person.workspace.clone(), person.subject.clone());
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }

    /// Compares digests in constant time, so that timing reveals nothing about the secret.
    fn is_secret(&self, given: &HeaderValue) -> bool {
        let given: [u8; 32] = Sha256::digest(given.as_bytes()).into();
        let differ = given.iter().zip(&self.secret).fold(0, |differ, (one, other)| differ | (one ^ other));
        std::hint::black_box(differ) == 0
    }
}

/// Attributes of LDAP group names. A name ends with one of the first three.
const ATTRIBUTES: [&str; 9] = ["dc", "o", "c", "cn", "ou", "l", "st", "street", "uid"];

/// Splits groups at `|` or, if there is none, at commas. An LDAP name keeps its commas: it continues while parts have
/// attributes, and ends with its `dc`, `o` or `c`.
fn groups_in(text: &str) -> Vec<String> {
    if text.contains('|') {
        return text.split('|').map(spaced).collect();
    }
    let mut groups: Vec<String> = Vec::new();
    let mut before = None;
    for part in parts(text) {
        let attribute = part.split_once('=').map(|(name, _)| name.trim());
        let place = attribute.and_then(|name| ATTRIBUTES.iter().position(|it| it.eq_ignore_ascii_case(name)));
        match (groups.last_mut(), before, place) {
            (Some(last), Some(before), Some(place)) if before > 2 || place <= 2 => {
                last.extend([",", part]);
            }
            _ => groups.push(part.to_owned()),
        }
        before = place;
    }
    groups
}

fn spaced(group: &str) -> String {
    parts(group).collect::<Vec<_>>().join(",")
}

/// The case of LDAP names is ignored, as in directories.
fn is_same_group(one: &str, other: &str) -> bool {
    one == other || (one.contains('=') && one.eq_ignore_ascii_case(other))
}

/// Splits at commas that no backslash escapes.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut escaped = false;
    let split = text.split(move |c| {
        let splits = c == ',' && !escaped;
        escaped = c == '\\' && !escaped;
        splits
    });
    split.map(str::trim)
}

/// Refuses a repeated header, because the first may not be the proxy's.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a HeaderValue>, ApiError> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (value, None) => Ok(value),
        (_, Some(_)) => Err(ApiError::new(
            UNAUTHORIZED,
            format!("`{name}` stands more than once; the proxy must replace what came from outside"),
        )),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, ApiError> {
    let Some(value) = one(headers, name)? else { return Ok(None) };
    let text = std::str::from_utf8(value.as_bytes());
    text.map(Some).map_err(|_| ApiError::new(UNAUTHORIZED, format!("`{name}` is not UTF-8")))
}
