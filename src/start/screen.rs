//! The inbox on screen: opening, running and closing.

use std::path::PathBuf;

use anyhow::Context as _;
use tokio_util::sync::CancellationToken;

use crate::cli::{self, Exit};
use crate::config::Config;
use crate::config::paths::Paths;
use crate::domain::Via;
use crate::inbox::Inbox;
use crate::inbox::notify::Channels;
use crate::journal::Journal;
use crate::text;
use crate::tui;
use crate::tui::core::settings::{GatePlace, SessionInfo};
use crate::tui::{Left, LeftBy, NoTerminal, StartView, plain};

use super::embedded::{Embedded, OnGateEnd};
use super::{headless, logging};

#[derive(Clone, Copy, Debug)]
pub(super) enum Shell {
    Screen(StartView),
    Plain(plain::session::Why, StartView),
}

impl Shell {
    /// Checks that there is a terminal. Plain mode needs none.
    pub(super) fn check(self) -> Result<(), NoTerminal> {
        match self {
            Self::Screen(opens) => tui::check_terminal(opens),
            Self::Plain(..) => Ok(()),
        }
    }
}

/// `placet` without a command, and `placet watch`.
pub(super) async fn inbox(paths: &Paths, shell: Shell) -> anyhow::Result<Exit> {
    let config = Config::load(paths)?;
    let mistake = || format!("the configuration {} has a mistake", paths.config.display());
    tui::check_keys(&config).with_context(mistake)?;
    tui::check_theme(&config)?;
    tui::check_filters(&config).with_context(mistake)?;
    Channels::new(&config.notify).with_context(mistake)?;
    shell.check()?;
    let _log = logging::start(&paths.log)?;
    let embedded = Embedded::unless_configured(&config, OnGateEnd::Inbox).await?;
    show(paths, &config, embedded, None, shell).await
}

/// Shows the inbox until the reviewer quits, then closes everything, the journal before the gate.
pub(super) async fn show(
    paths: &Paths,
    config: &Config,
    embedded: Option<Embedded>,
    demo: Option<PathBuf>,
    shell: Shell,
) -> anyhow::Result<Exit> {
    let via = match shell {
        Shell::Screen(_) => Via::Screen,
        Shell::Plain(..) => Via::Plain,
    };
    let sources = headless::sources_of(config, embedded.as_ref(), via)?;
    let journal = Journal::open(&paths.journal()).await?;
    let inbox = Inbox::open(sources, journal, config.watch.targets.poll, config.reviewer.clone())
        .or_login(headless::login_name(), via)
        .with_risks(headless::risks(config));
    let durable = demo.is_none();
    let place = SessionInfo {
        reviewer: config.reviewer.clone().unwrap_or_default(),
        state: paths.state.clone(),
        login: headless::login_name().unwrap_or_default(),
        gate: embedded.as_ref().map(|embedded| GatePlace {
            url: embedded.note.url.clone(),
            serving: embedded.is_serving(),
            agent_token: embedded.note.agent_token_file.clone(),
            database: config.gate.database.clone(),
            other_port: embedded.note.other_port(&config.gate),
        }),
        demo,
    };
    let shutdown = CancellationToken::new();
    let shown = match shell {
        Shell::Screen(opens) => Box::pin(tui::run(inbox.clone(), config, place, opens, shutdown)).await,
        Shell::Plain(why, opens) => {
            Box::pin(plain::run::run(inbox.clone(), config, place, (why, opens), shutdown)).await
        }
    };
    inbox.close().await;
    if let Some(embedded) = embedded {
        let serving = embedded.is_serving();
        embedded.close().await;
        if serving && durable {
            cli::complain("Gate stopped. Agents can propose when placet runs again.");
        }
    }
    let left = shown?;
    // After a hangup the terminal is gone.
    if durable && left.by != LeftBy::Hangup {
        say_what_is_left(&left);
    }
    Ok(Exit::Done)
}

fn say_what_is_left(left: &Left) {
    if left.sending > 0 {
        let sending = text::count(left.sending, "decision");
        cli::complain(&format!(
            "sending was not finished for {sending}; the next start says what became of it"
        ));
    }
    if left.staged > 0 {
        let staged = text::count(left.staged, "staged decision");
        cli::complain(&format!("kept for the next start: {staged}, not sent"));
    }
    if left.unfinished && left.sending == 0 {
        cli::complain(
            "the journal could not be written in time; what was staged last may be missing at the next start",
        );
    }
}
