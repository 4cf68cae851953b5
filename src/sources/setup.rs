//! Connection settings of every kind of source.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::answer;
use crate::config::{Auth, SourceConfig, SourceKind, TokenFrom};
use crate::domain::SourceName;
use crate::net::Bearer;
use crate::net::http::{Http, Scheme, SetupError, Way};

const WORKSPACE: &str = "x-gate-workspace";

#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Upper bound for the limit of every request.
    pub(super) request: Duration,
    /// First and longest wait before a stream is reopened; `None` for the default.
    pub(super) backoff: Option<(Duration, Duration)>,
}

impl Patience {
    pub(super) const USUAL: Self = Self { request: Duration::MAX, backoff: None };
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    #[error("source \"{0}\": set `workspace` to the id of the one to watch")]
    NoWorkspace(SourceName),
    #[error("source \"{0}\": ca_file {path} cannot be read: {2}", path = .1.display())]
    CaFile(SourceName, PathBuf, String),
    #[error("source \"{0}\": {1}")]
    Setup(SourceName, SetupError),
}

pub(super) fn http(config: &SourceConfig, patience: Patience) -> Result<Http, OpenError> {
    let bearer =
        |from: TokenFrom| Bearer::new(Arc::new(move || from.read().map_err(|error| error.to_string())));
    let ca = config.ca_file.as_deref().map(|path| (path, std::fs::read(path)));
    let ca = match ca {
        Some((path, Err(error))) => {
            return Err(OpenError::CaFile(config.name.clone(), path.to_owned(), error.to_string()));
        }
        Some((_, Ok(ca))) => Some(ca),
        None => None,
    };
    let scheme = match &config.auth {
        Auth::Bearer => Scheme::Bearer,
        Auth::Basic { user } => Scheme::Basic(user.clone()),
        Auth::Header { name } => Scheme::Header(name.clone()),
    };
    let mut headers = config.headers.clone();
    // A login at a proxy may have several workspaces. Only gates take the header.
    if let Some(workspace) = config.workspace.as_ref().filter(|_| config.kind == SourceKind::Gate)
        && workspace.bytes().all(|byte| byte.is_ascii_graphic())
        && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(WORKSPACE))
    {
        headers.push((WORKSPACE.to_owned(), workspace.clone()));
    }
    let way = Way {
        ca: ca.as_deref(),
        env_proxy: config.env_proxy,
        insecure_http: config.insecure_http,
        scheme,
        headers: &headers,
        longest: patience.request,
        more: &config.more_urls,
        untouched: if config.kind == SourceKind::Gate { answer::nothing_was_done } else { |_| false },
    };
    Http::by(&config.url, config.token.clone().map(bearer), way)
        .map_err(|error| OpenError::Setup(config.name.clone(), error))
}
