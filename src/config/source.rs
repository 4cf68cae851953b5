//! The tables `[[source]]`. A source refuses keys of other kinds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::check::{authority, misplaced};
use super::secret::TokenFrom;
use crate::domain::{Risk, Risks, SourceName, Via, workspace};

#[derive(Clone, Debug, PartialEq)]
pub struct SourceConfig {
    pub name: SourceName,
    pub kind: SourceKind,
    /// Base URL without trailing slash and without user information.
    pub url: String,
    pub more_urls: Vec<String>,
    pub workspace: Option<String>,
    pub token: Option<TokenFrom>,
    /// Name of the reviewer, for backends that accept any name.
    pub reviewer: Option<String>,
    /// How decisions are made, for backends that record it.
    pub via: Via,
    pub auth: Auth,
    /// Headers for a proxy in front of the backend. Must not contain secrets.
    pub headers: Vec<(String, String)>,
    pub ca_file: Option<PathBuf>,
    pub env_proxy: bool,
    /// Allows sending the token to another machine over plain http.
    pub insecure_http: bool,
    /// Risks of tools for which the backend reports none or a wrong one.
    pub risks: Risks,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    #[default]
    Bearer,
    /// The token is the password of this user.
    Basic { user: String },
    /// The token in this header.
    Header { name: String },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceKind {
    Gate,
    Praxiom(Praxiom),
    Warden(Warden),
    Dendrux(Dendrux),
    AgentsApi(AgentsApi),
    ConfusedAi,
}

impl SourceKind {
    /// Returns every kind, parsed from serde's error message.
    #[cfg(test)]
    pub(crate) fn words() -> Vec<String> {
        let none = serde::de::value::StrDeserializer::<serde::de::value::Error>::new("");
        let error = RawKind::deserialize(none).err().map(|error| error.to_string()).unwrap_or_default();
        error.split('`').skip(3).step_by(2).map(str::to_owned).collect()
    }

    pub const fn word(&self) -> &'static str {
        match self {
            Self::Gate => "gate",
            Self::Praxiom(_) => "praxiom",
            Self::Warden(_) => "warden",
            Self::Dendrux(_) => "dendrux",
            Self::AgentsApi(_) => "agents-api",
            Self::ConfusedAi => "confused-ai",
        }
    }
}

/// Praxiom AI, and other backends with its pending-actions contract.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Praxiom {
    /// Path of an event stream whose events only signal a change. Praxiom does not document one.
    pub events_path: Option<String>,
    /// JSON pointer to the pending count of a briefing.
    pub briefing_pointer: Option<String>,
}

/// Warden, a saga engine that pauses steps for review. Each field filters its review list; `None` does not filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warden {
    pub namespace: Option<String>,
    pub trace_id: Option<String>,
    pub review: Option<ReviewKind>,
}

/// Held for review: the output of a reason step, or the arguments of a commit step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewKind {
    Reason,
    Commit,
}

/// dendrux, a Python agent framework, through placet's bridge, or else its read router and documented write routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dendrux {
    pub prefix: String,
    /// Last part of the write route, which each application implements: `/runs/{id}/approval`.
    pub approval_path: String,
    pub agent: Option<String>,
    pub tenant: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentsApi {
    pub agent: Option<String>,
    /// JSON pointers to the tool's name and the session of an action.
    pub tool_pointer: Option<String>,
    pub session_pointer: Option<String>,
}

impl SourceConfig {
    pub fn of(name: &str, kind: SourceKind, url: impl Into<String>) -> Self {
        Self {
            name: SourceName::new(name),
            kind,
            url: url.into(),
            more_urls: Vec::new(),
            workspace: None,
            via: Via::Shell,
            token: None,
            reviewer: None,
            auth: Auth::Bearer,
            headers: Vec::new(),
            ca_file: None,
            env_proxy: false,
            insecure_http: false,
            risks: Risks::default(),
        }
    }

    pub fn urls(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.url).chain(&self.more_urls).map(String::as_str)
    }

    /// Returns the source at these URLs; unchanged if empty.
    #[must_use]
    pub fn at(self, urls: &[String]) -> Self {
        let Some((url, more)) = urls.split_first() else { return self };
        Self { url: url.clone(), more_urls: more.to_vec(), ..self }
    }
}

/// Splits URLs at blanks and commas, and removes trailing slashes.
pub fn urls_in(text: &str) -> Vec<String> {
    let urls = text.split([' ', '\t', '\n', ',']).filter(|url| !url.is_empty());
    urls.map(|url| url.trim_end_matches('/').to_owned()).collect()
}

impl Default for Dendrux {
    fn default() -> Self {
        let (prefix, approval_path) = ("/dendrux".to_owned(), "approval".to_owned());
        Self { prefix, approval_path, agent: None, tenant: None }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSource {
    name: String,
    kind: RawKind,
    url: RawUrl,
    workspace: Option<String>,
    token_env: Option<String>,
    token_file: Option<PathBuf>,
    token_command: Option<Vec<String>>,
    user: Option<String>,
    token_header: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    ca_file: Option<PathBuf>,
    #[serde(default)]
    env_proxy: bool,
    #[serde(default)]
    insecure_http: bool,
    #[serde(default)]
    risk: BTreeMap<String, String>,
    // praxiom
    events_path: Option<String>,
    briefing_pointer: Option<String>,
    // warden
    namespace: Option<String>,
    trace_id: Option<String>,
    review: Option<ReviewKind>,
    // dendrux
    prefix: Option<String>,
    approval_path: Option<String>,
    agent: Option<String>,
    tenant: Option<String>,
    // agents-api
    tool_pointer: Option<String>,
    session_pointer: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "url is a text, or for a gate a list of texts")]
enum RawUrl {
    One(String),
    Several(Vec<String>),
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum RawKind {
    Gate,
    Praxiom,
    Warden,
    Dendrux,
    AgentsApi,
    ConfusedAi,
}

impl RawSource {
    pub(super) fn validate(mut self, folder: &Path) -> Result<SourceConfig, String> {
        let name = self.name.clone();
        let wrong = |what: &str| format!("source {name:?}: {what}");
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        {
            return Err(wrong("a name is made of a-z, 0-9 and -"));
        }
        let mut urls = self.urls().map_err(|what| wrong(&what))?.into_iter();
        let (url, more_urls) = (urls.next().unwrap_or_default(), urls.collect());
        self.check_keys().map_err(|what| wrong(&what))?;
        let token = self.token().map_err(|what| wrong(&what))?;
        let auth = self.auth(token.is_some()).map_err(|what| wrong(&what))?;
        if self.kind == RawKind::Praxiom && self.workspace.is_none() {
            return Err(wrong("kind \"praxiom\" needs a workspace: its list is asked for one workspace"));
        }
        self.workspace.as_deref().map_or(Ok(()), workspace::check_name).map_err(wrong)?;
        Ok(SourceConfig {
            name: SourceName::new(name.as_str()),
            url,
            more_urls,
            workspace: self.workspace.take(),
            via: Via::Shell,
            token,
            reviewer: None,
            auth,
            headers: std::mem::take(&mut self.headers).into_iter().collect(),
            ca_file: self.ca_file.take().map(|path| folder.join(path)),
            env_proxy: self.env_proxy,
            insecure_http: self.insecure_http,
            risks: self.risks().map_err(|what| wrong(&what))?,
            kind: self.kind(),
        })
    }

    fn urls(&self) -> Result<Vec<String>, String> {
        let given = match &self.url {
            RawUrl::One(url) => std::slice::from_ref(url),
            RawUrl::Several(_) if self.kind != RawKind::Gate => {
                return Err("only a gate can have several URLs".to_owned());
            }
            RawUrl::Several(urls) if urls.is_empty() => return Err("url is an empty list".to_owned()),
            RawUrl::Several(urls) => urls,
        };
        let mut urls: Vec<String> = Vec::new();
        for url in given {
            let url = url.trim_end_matches('/').to_owned();
            let authority =
                authority(&url).ok_or("url must start with http:// or https:// and name a host")?;
            if authority.contains('@') {
                return Err("url must not carry a user or password; use token_env, token_file or \
                            token_command"
                    .to_owned());
            }
            if urls.contains(&url) {
                return Err(format!("url has {url:?} twice"));
            }
            urls.push(url);
        }
        Ok(urls)
    }

    fn risks(&mut self) -> Result<Risks, String> {
        let risk = |(tool, word): (String, String)| match Risk::parse(&word) {
            Risk::Other(_) => {
                Err(format!("risk of {tool:?} is {word:?}; it is low, medium, high or critical"))
            }
            risk => Ok((tool, risk)),
        };
        std::mem::take(&mut self.risk).into_iter().map(risk).collect::<Result<Vec<_>, _>>().map(Risks::new)
    }

    fn token(&mut self) -> Result<Option<TokenFrom>, String> {
        let given = (self.token_env.take(), self.token_file.take(), self.token_command.take());
        TokenFrom::one_of("token", given, "give one of token_env, token_file and token_command")
    }

    fn auth(&mut self, has_token: bool) -> Result<Auth, String> {
        match (self.user.take(), self.token_header.take()) {
            (None, None) => Ok(Auth::Bearer),
            (Some(_), Some(_)) => Err("give one of user and token_header".to_owned()),
            _ if !has_token => {
                Err("user and token_header say how a token travels; give one of token_env, token_file and \
                                    token_command with it"
                    .to_owned())
            }
            (Some(user), None) if user.is_empty() || user.contains(':') => {
                Err("user is empty or holds a colon".to_owned())
            }
            (Some(user), None) => Ok(Auth::Basic { user }),
            (None, Some(name)) => Ok(Auth::Header { name }),
        }
    }

    fn check_keys(&self) -> Result<(), String> {
        use RawKind as K;
        let of: [(&str, bool, &[RawKind], &str); 12] = [
            ("workspace", self.workspace.is_some(), &[K::Gate, K::Praxiom], "gate and praxiom"),
            ("events_path", self.events_path.is_some(), &[K::Praxiom], "praxiom"),
            ("briefing_pointer", self.briefing_pointer.is_some(), &[K::Praxiom], "praxiom"),
            ("namespace", self.namespace.is_some(), &[K::Warden], "warden"),
            ("trace_id", self.trace_id.is_some(), &[K::Warden], "warden"),
            ("review", self.review.is_some(), &[K::Warden], "warden"),
            ("prefix", self.prefix.is_some(), &[K::Dendrux], "dendrux"),
            ("approval_path", self.approval_path.is_some(), &[K::Dendrux], "dendrux"),
            ("tool_pointer", self.tool_pointer.is_some(), &[K::AgentsApi], "agents-api"),
            ("session_pointer", self.session_pointer.is_some(), &[K::AgentsApi], "agents-api"),
            ("agent", self.agent.is_some(), &[K::Dendrux, K::AgentsApi], "dendrux and agents-api"),
            ("tenant", self.tenant.is_some(), &[K::Dendrux], "dendrux"),
        ];
        match misplaced(&of, &self.kind) {
            Some((key, kinds)) => Err(format!("{key} belongs to sources of kind {kinds}")),
            None => Ok(()),
        }
    }

    fn kind(self) -> SourceKind {
        match self.kind {
            RawKind::Gate => SourceKind::Gate,
            RawKind::Praxiom => SourceKind::Praxiom(Praxiom {
                events_path: self.events_path,
                briefing_pointer: self.briefing_pointer,
            }),
            RawKind::Warden => SourceKind::Warden(Warden {
                namespace: self.namespace,
                trace_id: self.trace_id,
                review: self.review,
            }),
            RawKind::Dendrux => {
                let Dendrux { prefix, approval_path, .. } = Dendrux::default();
                SourceKind::Dendrux(Dendrux {
                    prefix: self.prefix.unwrap_or(prefix),
                    approval_path: self.approval_path.unwrap_or(approval_path),
                    agent: self.agent,
                    tenant: self.tenant,
                })
            }
            RawKind::AgentsApi => SourceKind::AgentsApi(AgentsApi {
                agent: self.agent,
                tool_pointer: self.tool_pointer,
                session_pointer: self.session_pointer,
            }),
            RawKind::ConfusedAi => SourceKind::ConfusedAi,
        }
    }
}
