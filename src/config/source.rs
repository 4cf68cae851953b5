//! The configuration of one source.

use std::path::PathBuf;

use super::TokenFrom;
use crate::domain::{Risks, SourceName};

/// A backend to work against.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceConfig {
    pub name: SourceName,
    pub kind: SourceKind,
    /// Base URL without a trailing slash; never with user information in it.
    pub url: String,
    pub workspace: Option<String>,
    pub token: Option<TokenFrom>,
    /// Who decides, for a backend that keeps whatever name it is told.
    pub reviewer: Option<String>,
    pub auth: Auth,
    /// Sent with every request, for a proxy in front of the backend. No place for secrets.
    pub headers: Vec<(String, String)>,
    /// Certificates in PEM that are trusted besides the system's.
    pub ca_file: Option<PathBuf>,
    /// Through the proxy that the environment names.
    pub env_proxy: bool,
    /// The token may go to another machine over plain http.
    pub insecure_http: bool,
    /// What its tools can do, where it says nothing of that, or too little.
    pub risks: Risks,
}

/// How a token travels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    #[default]
    Bearer,
    /// With this user; the token is the password.
    Basic { user: String },
    /// Alone, in a header of this name.
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
    /// As the configuration has it.
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

/// Praxiom AI, and whatever else speaks its pending-actions contract.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Praxiom {
    /// An event stream whose events mean "look again"; it has none that is documented.
    pub events_path: Option<String>,
    /// Where a briefing has its count of pending actions: a JSON pointer.
    pub briefing_pointer: Option<String>,
}

/// Warden, a saga engine that pauses steps for a human. Each field narrows its review list; `None` is everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warden {
    pub namespace: Option<String>,
    pub trace_id: Option<String>,
    pub review: Option<ReviewKind>,
}

/// What is held: the output of a reason step, or the arguments of a commit step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewKind {
    Reason,
    Commit,
}

/// dendrux, a Python agent framework: through placet's bridge where it is mounted, else through the read router and the documented write routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dendrux {
    /// Where the routers are mounted.
    pub prefix: String,
    /// The last part of the write route, which every owner writes: `/runs/{id}/approval`.
    pub approval_path: String,
    pub agent: Option<String>,
    pub tenant: Option<String>,
}

/// WordPress with Automattic's agents-api.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentsApi {
    pub agent: Option<String>,
    /// Where an action of this host has its tool's name, and its session: JSON pointers.
    pub tool_pointer: Option<String>,
    pub session_pointer: Option<String>,
}

impl SourceConfig {
    /// Without a token, a workspace or anything else that has to be said.
    pub fn of(name: &str, kind: SourceKind, url: impl Into<String>) -> Self {
        Self {
            name: SourceName::new(name),
            kind,
            url: url.into(),
            workspace: None,
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
}

impl Default for Dendrux {
    fn default() -> Self {
        let (prefix, approval_path) = ("/dendrux".to_owned(), "approval".to_owned());
        Self { prefix, approval_path, agent: None, tenant: None }
    }
}
