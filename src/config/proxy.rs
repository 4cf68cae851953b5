//! The table `[gate.proxy]`: a proxy in front of the gate that identifies people.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::check::Mistakes;
use super::network::Network;
use super::secret::TokenFrom;
use crate::domain::workspace;

/// Scopes that a group can have. `admin` requires a token.
pub const GRANTED: [&str; 4] = ["propose", "read", "decide", "execute"];
/// The group of everybody whom the proxy identifies.
pub const EVERYBODY: &str = "*";
/// Headers with another meaning, which must not identify people.
const TAKEN: [&str; 10] = [
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "idempotency-key",
    "origin",
    "transfer-encoding",
    "x-gate-workspace",
];

/// Headers in which a proxy identifies people. They count only from `gate.trusted_proxies` and with the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyConfig {
    /// Header names are in lower case.
    pub identity_header: String,
    pub name_header: Option<String>,
    /// Groups are separated by `,` or `|`.
    pub groups_header: Option<String>,
    pub secret_header: String,
    /// Shared between proxy and gate.
    pub secret: TokenFrom,
    pub groups: BTreeMap<String, GroupRights>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupRights {
    pub workspaces: Vec<String>,
    pub scopes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawProxy {
    identity_header: Option<String>,
    name_header: Option<String>,
    groups_header: Option<String>,
    secret_header: Option<String>,
    secret_env: Option<String>,
    secret_file: Option<PathBuf>,
    secret_command: Option<Vec<String>>,
    #[serde(default)]
    groups: BTreeMap<String, GroupRights>,
}

const NO_PROXIES: &str =
    "gate.proxy: identity_header counts only from your own proxy; name its address in gate.trusted_proxies";
const NO_SECRET: &str = "gate.proxy: give secret_header and one of secret_env, secret_file and secret_command; without a secret that only \
                         the proxy sends, every program at its address could say that it is anybody";
const NO_GROUPS: &str = "gate.proxy.groups: nobody could do anything; give a group its workspaces and scopes, and name groups_header, or \
                         give them to everybody as the group \"*\"";

impl RawProxy {
    /// Relative files are in `folder`; `trusted` are the gate's proxies.
    pub(super) fn validate(
        self,
        folder: &Path,
        trusted: &[Network],
        mistakes: &mut Mistakes,
    ) -> Option<ProxyConfig> {
        let before = mistakes.0.len();
        if trusted.is_empty() {
            mistakes.0.push(NO_PROXIES.to_owned());
        }
        let file = self.secret_file.map(|path| folder.join(path));
        let given = (self.secret_env, file, self.secret_command);
        let secret = mistakes.take(TokenFrom::one_of("gate.proxy.secret", given, NO_SECRET)).flatten();
        if secret.is_none() || self.secret_header.is_none() {
            mistakes.0.push(NO_SECRET.to_owned());
        }
        if self.identity_header.is_none() {
            mistakes.0.push("gate.proxy: identity_header is missing; name the header in which the proxy says who somebody is".to_owned());
        }
        let mut known = BTreeSet::new();
        let mut header = |key: &str, name: Option<String>| {
            let name = mistakes.take(header(key, &name?))?;
            if !known.insert(name.clone()) {
                mistakes
                    .0
                    .push(format!("gate.proxy.{key}: {name:?} is named twice; each header says one thing"));
            }
            Some(name)
        };
        let identity_header = header("identity_header", self.identity_header);
        let name_header = header("name_header", self.name_header);
        let groups_header = header("groups_header", self.groups_header);
        let secret_header = header("secret_header", self.secret_header);
        if !self.groups.keys().any(|group| group == EVERYBODY || groups_header.is_some()) {
            mistakes.0.push(NO_GROUPS.to_owned());
        }
        for (group, rights) in &self.groups {
            mistakes.take(rights.check(group).map_err(|what| format!("gate.proxy.groups.{group}: {what}")));
        }
        mistakes.0.dedup();
        if mistakes.0.len() > before {
            return None;
        }
        Some(ProxyConfig {
            identity_header: identity_header?,
            name_header,
            groups_header,
            secret_header: secret_header?,
            secret: secret?,
            groups: self.groups,
        })
    }
}

impl GroupRights {
    fn check(&self, group: &str) -> Result<(), String> {
        if group.trim() != group || group.is_empty() || group.contains(|c: char| c.is_control() || c == '|') {
            return Err(
                "a group is written as the proxy names it, without `|` and blanks around it".to_owned()
            );
        }
        if group.contains(',') && !group.contains('=') {
            return Err("give each group a table of its own; only LDAP names have commas".to_owned());
        }
        if self.workspaces.is_empty() || self.workspaces.iter().any(|name| name == "*") {
            return Err("name its workspaces one by one, each as it is called".to_owned());
        }
        self.workspaces.iter().try_for_each(|name| workspace::check_name(name))?;
        if self.scopes.iter().any(|scope| scope == "admin") {
            return Err(
                "the scope admin is given to nobody by a proxy; make a token with it (placet gate token create)".to_owned()
            );
        }
        if self.scopes.is_empty() {
            return Err(format!("name its scopes, of {}", GRANTED.join(", ")));
        }
        match self.scopes.iter().find(|scope| !GRANTED.contains(&scope.as_str())) {
            Some(unknown) => Err(format!("{unknown:?} is no scope; there are {}", GRANTED.join(", "))),
            None => Ok(()),
        }
    }
}

fn header(key: &str, name: &str) -> Result<String, String> {
    let name = name.to_ascii_lowercase();
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Err(format!(
            "gate.proxy.{key}: {name:?} is no name of a header, as in \"X-Auth-Request-User\""
        ));
    }
    if TAKEN.contains(&name.as_str()) {
        return Err(format!(
            "gate.proxy.{key}: {name} means something else; let the proxy use a header of its own"
        ));
    }
    Ok(name)
}
