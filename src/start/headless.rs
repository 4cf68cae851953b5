//! Commands without a screen: the same sources and the same journal as the inbox.

use std::sync::Arc;

use crate::cli::args::{ListArgs, LogArgs, ProposeArgs, WhoamiArgs};
use crate::cli::{self, Exit};
use crate::config::paths::Paths;
use crate::config::{Config, NamedFilter, SourceConfig, SourceKind, TokenFrom, urls_in};
use crate::contract::time;
use crate::domain::{Risks, SourceName};
use crate::inbox::Inbox;
use crate::journal::{self, Journal, JournalError};
use crate::sources::{self, AgentClient, Source};

use super::embedded::{self, Embedded, OnGateEnd};
use super::logging;

/// An inbox that is open, with the gate that it may stand on.
pub(super) struct Open {
    inbox: Inbox,
    config: Config,
    embedded: Option<Embedded>,
    _log: tracing_appender::non_blocking::WorkerGuard,
}

/// Opens the configured sources, or the gate on this machine.
pub(super) async fn open(paths: &Paths) -> anyhow::Result<Open> {
    open_with(paths, Journal::open(&paths.journal())).await
}

/// `placet whoami`. It needs no journal.
pub(super) async fn whoami(paths: &Paths, args: &WhoamiArgs) -> anyhow::Result<Exit> {
    let config = Config::load(paths)?;
    let _log = logging::start(&paths.log)?;
    let embedded = Embedded::unless_configured(&config, OnGateEnd::Nobody).await?;
    let end = cli::whoami(&named(&config, embedded.as_ref()), args).await;
    if let Some(embedded) = embedded {
        embedded.close().await;
    }
    end
}

/// `placet list`. A status line is asked for every few seconds and sends nothing: a long journal is not checked first.
pub(super) async fn list(paths: &Paths, args: &ListArgs) -> anyhow::Result<Exit> {
    let open = if args.line {
        open_with(paths, Journal::open_unchecked(&paths.journal())).await?
    } else {
        open(paths).await?
    };
    let saved = saved_filters(&open.config, paths);
    let end = cli::list(open.inbox(), args, &saved, time::now()).await;
    open.close(end).await
}

async fn open_with(
    paths: &Paths,
    journal: impl Future<Output = Result<Journal, JournalError>>,
) -> anyhow::Result<Open> {
    let config = Config::load(paths)?;
    let log = logging::start(&paths.log)?;
    let embedded = Embedded::unless_configured(&config, OnGateEnd::Nobody).await?;
    let sources = sources_of(&config, embedded.as_ref())?;
    let journal = journal.await?;
    let inbox = Inbox::open(sources, journal, config.watch.targets.poll, config.reviewer.clone())
        .or_login(login_name())
        .with_risks(risks(&config));
    Ok(Open { inbox, config, embedded, _log: log })
}

/// The filters of the configuration, then those that were saved in the inbox.
pub(super) fn saved_filters(config: &Config, paths: &Paths) -> Vec<NamedFilter> {
    let kept = journal::kept_filters(&paths.journal()).into_iter();
    config.filters.iter().cloned().chain(kept.map(|(name, text)| NamedFilter { name, text })).collect()
}

/// What the configuration says of each source's tools.
pub(super) fn risks(config: &Config) -> impl Iterator<Item = (SourceName, Risks)> {
    config.sources.iter().map(|source| (source.name.clone(), source.risks.clone()))
}

/// The configured sources, else the embedded gate.
pub(super) fn sources_of(
    config: &Config,
    embedded: Option<&Embedded>,
) -> anyhow::Result<Vec<Arc<dyn Source>>> {
    named(config, embedded).iter().map(|source| Ok(sources::open(source)?)).collect()
}

/// The same as they are configured, with the name that decisions go under: the configured one, else the login name.
pub(super) fn named(config: &Config, embedded: Option<&Embedded>) -> Vec<SourceConfig> {
    let own = embedded.map(Embedded::source);
    let reviewer = config.reviewer.clone().or_else(login_name);
    let named = |source: SourceConfig| SourceConfig { reviewer: reviewer.clone(), ..source };
    config.sources.iter().cloned().chain(own).map(named).collect()
}

impl Open {
    pub(super) fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// Closes everything in order, and passes the command's end on.
    pub(super) async fn close(self, end: anyhow::Result<Exit>) -> anyhow::Result<Exit> {
        self.inbox.close().await;
        if let Some(embedded) = self.embedded {
            embedded.close().await;
        }
        end
    }
}

/// `placet log`: the journal. Sources are asked only for what became of decisions that are open in it.
pub(super) async fn log(paths: &Paths, args: &LogArgs) -> anyhow::Result<Exit> {
    let _log = logging::start(&paths.log)?;
    let path = paths.journal();
    // Looking makes none.
    let journal = if path.exists() { Some(Journal::open(&path).await?) } else { None };
    let inbox = match &journal {
        Some(journal) if !args.reads_receipts() => asked_for_news(paths, journal).await,
        _ => None,
    };
    let end = cli::log(journal.as_ref(), inbox.as_ref(), args, time::now()).await;
    if let Some(journal) = journal {
        journal.close().await;
    }
    end
}

/// Reads again what is open in the journal, and gives the inbox for more. What stands in the way of that keeps nobody from reading
/// the journal.
async fn asked_for_news(paths: &Paths, journal: &Journal) -> Option<Inbox> {
    let config = Config::load(paths).ok()?;
    let mut sources = sources_of(&config, None).ok()?;
    // The gate on this machine is asked where it runs, and not started for it.
    let running = embedded::running(&config.gate).filter(|_| config.sources.is_empty());
    sources.extend(running.and_then(|gate| sources::open(&gate).ok()));
    let inbox = Inbox::open(sources, journal.clone(), config.watch.targets.poll, config.reviewer.clone());
    if !journal.open_ones().await.is_ok_and(|open| open.is_empty()) {
        cli::settle(&inbox).await;
    }
    Some(inbox)
}

/// `placet propose`: to the gate that was named, the first configured gate, or the one on this machine.
pub(super) async fn propose(paths: &Paths, args: ProposeArgs) -> anyhow::Result<Exit> {
    let config = Config::load(paths)?;
    let _log = logging::start(&paths.log)?;
    if let (Some(url), Some(token)) = (&args.url, &args.token_file) {
        let urls = urls_in(url);
        let given = gate(url.clone(), TokenFrom::File(token.clone()));
        // How a gate is reached that is configured, too, stands there.
        let target = match config.source_at(&urls) {
            Some(known) => SourceConfig { token: given.token, workspace: None, ..known.clone() },
            None => given,
        };
        let mut target = target.at(&urls);
        target.ca_file = args.ca_file.clone().or(target.ca_file);
        return cli::propose(&AgentClient::open(&target)?, &args).await;
    }
    if let Some(source) = config.sources.iter().find(|source| source.kind == SourceKind::Gate) {
        let mut source = source.clone();
        if let Some(token) = &args.token_file {
            source.token = Some(TokenFrom::File(token.clone()));
        }
        return cli::propose(&AgentClient::open(&source)?, &args).await;
    }
    if !config.sources.is_empty() {
        anyhow::bail!("none of the configured sources is a gate; name one with --url and --token-file");
    }
    let embedded = Embedded::open(&config.gate, OnGateEnd::Nobody).await?;
    let target = gate(embedded.note.url.clone(), TokenFrom::File(embedded.note.agent_token_file.clone()));
    let end = match AgentClient::open(&target) {
        Ok(proposer) => cli::propose(&proposer, &args).await,
        Err(error) => Err(error.into()),
    };
    embedded.close().await;
    end
}

fn gate(url: String, token: TokenFrom) -> SourceConfig {
    SourceConfig { token: Some(token), ..SourceConfig::of("gate", SourceKind::Gate, url) }
}

pub(super) fn login_name() -> Option<String> {
    ["USER", "LOGNAME", "USERNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|it| !it.is_empty()))
}
