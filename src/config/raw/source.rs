//! Reads and validates the tables `[[source]]`. Keys that belong to one kind of source are refused at the others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::config::{
    AgentsApi, Auth, Dendrux, Praxiom, ReviewKind, SourceConfig, SourceKind, TokenFrom, Warden,
};
use crate::domain::{Risk, Risks, SourceName};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSource {
    name: String,
    kind: RawKind,
    url: String,
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
    review: Option<RawReview>,
    // dendrux
    prefix: Option<String>,
    approval_path: Option<String>,
    agent: Option<String>,
    tenant: Option<String>,
    // agents-api
    tool_pointer: Option<String>,
    session_pointer: Option<String>,
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

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum RawReview {
    Reason,
    Commit,
}

impl RawSource {
    pub(super) fn validate(mut self, folder: &Path) -> Result<SourceConfig, String> {
        let name = self.name.clone();
        let wrong = |what: &str| format!("source {name:?}: {what}");
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        {
            return Err(wrong("a name is made of a-z, 0-9 and -"));
        }
        let url = self.url.trim_end_matches('/').to_owned();
        let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
        let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
        if authority.is_empty() {
            return Err(wrong("url must start with http:// or https:// and name a host"));
        }
        if authority.contains('@') {
            return Err(wrong(
                "url must not carry a user or password; use token_env, token_file or token_command",
            ));
        }
        self.check_keys().map_err(|what| wrong(&what))?;
        let token = self.token().map_err(|what| wrong(&what))?;
        let auth = self.auth(token.is_some()).map_err(|what| wrong(&what))?;
        if self.kind == RawKind::Praxiom && self.workspace.is_none() {
            return Err(wrong("kind \"praxiom\" needs a workspace: its list is asked for one workspace"));
        }
        Ok(SourceConfig {
            name: SourceName::new(name.as_str()),
            url,
            workspace: self.workspace.take(),
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
        match (self.token_env.take(), self.token_file.take(), self.token_command.take()) {
            (None, None, None) => Ok(None),
            (Some(name), None, None) => Ok(Some(TokenFrom::Env(name))),
            (None, Some(path), None) => Ok(Some(TokenFrom::File(path))),
            (None, None, Some(argv)) if !argv.is_empty() => Ok(Some(TokenFrom::Command(argv))),
            (None, None, Some(_)) => Err("token_command is empty".to_owned()),
            _ => Err("give one of token_env, token_file and token_command".to_owned()),
        }
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

    /// What is set for another kind is a mistake, not a wish.
    fn check_keys(&self) -> Result<(), String> {
        use RawKind as K;
        let of: [(&str, bool, &[RawKind], &str); 10] = [
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
        ];
        let shared: [(&str, bool, &[RawKind], &str); 2] = [
            ("agent", self.agent.is_some(), &[K::Dendrux, K::AgentsApi], "dendrux and agents-api"),
            ("tenant", self.tenant.is_some(), &[K::Dendrux], "dendrux"),
        ];
        let misplaced =
            of.iter().chain(&shared).find(|(_, set, kinds, _)| *set && !kinds.contains(&self.kind));
        match misplaced {
            Some((key, _, _, kinds)) => Err(format!("{key} belongs to sources of kind {kinds}")),
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
                review: self.review.map(|review| match review {
                    RawReview::Reason => ReviewKind::Reason,
                    RawReview::Commit => ReviewKind::Commit,
                }),
            }),
            RawKind::Dendrux => SourceKind::Dendrux(Dendrux {
                prefix: self.prefix.unwrap_or_else(|| "/dendrux".to_owned()),
                approval_path: self.approval_path.unwrap_or_else(|| "approval".to_owned()),
                agent: self.agent,
                tenant: self.tenant,
            }),
            RawKind::AgentsApi => SourceKind::AgentsApi(AgentsApi {
                agent: self.agent,
                tool_pointer: self.tool_pointer,
                session_pointer: self.session_pointer,
            }),
            RawKind::ConfusedAi => SourceKind::ConfusedAi,
        }
    }
}
