//! Commands without a screen, on the same sources and journal as the inbox.

use std::sync::Arc;

use crate::cli::Exit;
use crate::cli::list::{self, ListArgs};
use crate::cli::log::{self, LogArgs};
use crate::cli::propose::{self, ProposeArgs, Queue};
use crate::cli::whoami::{self, WhoamiArgs};
use crate::clock;
use crate::config::paths::Paths;
use crate::config::{Config, NamedFilter, SourceConfig, SourceKind, TokenFrom};
use crate::domain::{Risks, SourceName, Via};
use crate::inbox::Inbox;
use crate::journal::{self, Journal, JournalError};
use crate::sources::{self, AgentClient, Source};

use super::agents::{self, GateArgs};
use super::embedded::{self, Embedded, OnGateEnd};
use super::logging;

pub(super) struct Open {
    inbox: Inbox,
    config: Config,
    embedded: Option<Embedded>,
    _log: tracing_appender::non_blocking::WorkerGuard,
}

pub(super) async fn open(paths: &Paths) -> anyhow::Result<Open> {
    open_with(paths, Journal::open(&paths.journal())).await
}

/// `placet whoami`, which needs no journal.
pub(super) async fn whoami(paths: &Paths, args: &WhoamiArgs) -> anyhow::Result<Exit> {
    let config = Config::load(paths)?;
    let _log = logging::start(&paths.log)?;
    let embedded = Embedded::unless_configured(&config, OnGateEnd::Nobody).await?;
    let end = whoami::run(&named(&config, embedded.as_ref()), args).await;
    if let Some(embedded) = embedded {
        embedded.close().await;
    }
    end
}

/// `placet list`. A status line is requested every few seconds and does not send, so it skips the check of the journal.
pub(super) async fn list(paths: &Paths, args: &ListArgs) -> anyhow::Result<Exit> {
    let open = if args.line {
        open_with(paths, Journal::open_unchecked(&paths.journal())).await?
    } else {
        open(paths).await?
    };
    let saved = saved_filters(&open.config, paths);
    let end = list::run(open.inbox(), args, &saved, clock::now()).await;
    open.close(end).await
}

async fn open_with(
    paths: &Paths,
    journal: impl Future<Output = Result<Journal, JournalError>>,
) -> anyhow::Result<Open> {
    let config = Config::load(paths)?;
    let log = logging::start(&paths.log)?;
    let embedded = Embedded::unless_configured(&config, OnGateEnd::Nobody).await?;
    let sources = sources_of(&config, embedded.as_ref(), Via::Shell)?;
    let journal = journal.await?;
    let inbox = Inbox::open(sources, journal, config.watch.targets.poll, config.reviewer.clone())
        .or_login(login_name(), Via::Shell)
        .with_risks(risks(&config));
    Ok(Open { inbox, config, embedded, _log: log })
}

pub(super) fn saved_filters(config: &Config, paths: &Paths) -> Vec<NamedFilter> {
    let kept = journal::kept_filters(&paths.journal()).into_iter();
    config.filters.iter().cloned().chain(kept.map(|(name, text)| NamedFilter { name, text })).collect()
}

pub(super) fn risks(config: &Config) -> impl Iterator<Item = (SourceName, Risks)> {
    config.sources.iter().map(|source| (source.name.clone(), source.risks.clone()))
}

pub(super) fn sources_of(
    config: &Config,
    embedded: Option<&Embedded>,
    via: Via,
) -> anyhow::Result<Vec<Arc<dyn Source>>> {
    let named = named(config, embedded).into_iter().map(|source| SourceConfig { via, ..source });
    named.map(|source| Ok(sources::open(&source)?)).collect()
}

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

    pub(super) async fn close(self, end: anyhow::Result<Exit>) -> anyhow::Result<Exit> {
        self.inbox.close().await;
        if let Some(embedded) = self.embedded {
            embedded.close().await;
        }
        end
    }
}

/// `placet log`: shows the journal. Asks sources only about open decisions.
pub(super) async fn log(paths: &Paths, args: &LogArgs) -> anyhow::Result<Exit> {
    let _log = logging::start(&paths.log)?;
    let path = paths.journal();
    // Does not create a journal.
    let journal = if path.exists() { Some(Journal::open(&path).await?) } else { None };
    let inbox = match &journal {
        Some(journal) if !args.reads_receipts() => asked_for_news(paths, journal).await,
        _ => None,
    };
    let end = log::run(journal.as_ref(), inbox.as_ref(), args, clock::now()).await;
    if let Some(journal) = journal {
        journal.close().await;
    }
    end
}

/// Reads open decisions again and returns the inbox. Errors are ignored, so that the journal can be shown.
async fn asked_for_news(paths: &Paths, journal: &Journal) -> Option<Inbox> {
    let config = Config::load(paths).ok()?;
    let mut sources = sources_of(&config, None, Via::Shell).ok()?;
    // Includes the gate on this machine if it runs, without starting it.
    let running = embedded::running(&config.gate).filter(|_| config.sources.is_empty());
    sources.extend(running.and_then(|gate| sources::open(&gate).ok()));
    let inbox = Inbox::open(sources, journal.clone(), config.watch.targets.poll, config.reviewer.clone());
    if !journal.open_ones().await.is_ok_and(|open| open.is_empty()) {
        list::settle(&inbox).await;
    }
    Some(inbox)
}

pub(super) async fn propose(paths: &Paths, args: ProposeArgs) -> anyhow::Result<Exit> {
    let config = Config::load(paths)?;
    let _log = logging::start(&paths.log)?;
    let given = GateArgs { url: args.url.as_deref(), token_file: args.token_file.as_deref() };
    let token = agents::token(given, agents::variable);
    let opens_here = config.sources.is_empty() && config.gate.tls.is_none() && config.gate.server.is_none();
    let named = agents::named(&config, given, agents::variable)?;
    let named = named.or_else(|| if opens_here { None } else { agents::local(&config, token.clone()) });
    if let Some(gate) = named {
        let urls = gate.source.urls().collect::<Vec<_>>().join(" or ");
        let ca_file = args.ca_file.clone().or_else(|| gate.source.ca_file.clone());
        let client = gate.client(ca_file)?;
        return propose::run(&client, &args, &Queue::Url(urls)).await;
    }
    if !config.sources.is_empty() {
        anyhow::bail!(
            "none of the configured sources is a gate, and none runs here; name one with --url and --token-file"
        );
    }
    let embedded = Embedded::open(&config.gate, OnGateEnd::Nobody).await?;
    let note = &embedded.note;
    let (queue, token) = if embedded.is_serving() {
        // The environment's token belongs to a served gate and is unknown to this database.
        (Queue::Database(config.gate.database.clone()), args.token_file.clone().map(TokenFrom::File))
    } else {
        (Queue::Url(note.url.clone()), token)
    };
    let target = SourceConfig {
        token: token.or_else(|| Some(TokenFrom::File(note.agent_token_file.clone()))),
        ..SourceConfig::of("gate", SourceKind::Gate, note.url.clone())
    };
    let end = match AgentClient::open(&target) {
        Ok(proposer) => propose::run(&proposer, &args, &queue).await,
        Err(error) => Err(error.into()),
    };
    embedded.close().await;
    end
}

pub(super) fn login_name() -> Option<String> {
    ["USER", "LOGNAME", "USERNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|it| !it.is_empty()))
}
