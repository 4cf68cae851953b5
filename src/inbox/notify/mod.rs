//! Telling what is due where no screen is needed: to a command, or to a receiver of webhooks. Never on anybody's loop, and never for
//! long.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::{Config, NotifyRule, NotifyTo};
use crate::contract::time;
use crate::program::{self, How, Late};

use super::figures::Board;
use super::notices::{Notice, Notices, Wall};

mod check;
mod hook;
mod undelivered;

pub use check::{look, mistakes};
pub use undelivered::Undelivered;

use hook::Hook;

/// Whoever ends waits so long for what is being told.
const MOMENT: Duration = Duration::from_secs(1);

/// A rule that cannot work: its receiver is refused.
#[derive(Debug, thiserror::Error)]
#[error("line {line}, notify rule {number}: {what}")]
pub struct NotifyError {
    number: usize,
    line: usize,
    what: String,
}

/// The ways of all rules that need no screen. Cloning is cheap: every clone is the same.
#[derive(Clone, Debug, Default)]
pub struct Channels {
    /// By the number of the rule.
    by_rule: Arc<BTreeMap<usize, Channel>>,
    /// Where it is kept which of them failed.
    undelivered: Option<Undelivered>,
    telling: TaskTracker,
    ending: CancellationToken,
}

#[derive(Debug)]
struct Channel {
    /// As messages call the rule.
    name: String,
    to: To,
}

#[derive(Debug)]
enum To {
    Command { argv: Vec<String>, json: bool, limit: Duration },
    Hook(Box<Hook>),
}

impl Channels {
    /// Fails for a receiver that is refused by its address; where its name leads shows only when something is told.
    pub fn new(rules: &[NotifyRule]) -> Result<Self, NotifyError> {
        let mut ways = BTreeMap::new();
        for rule in rules {
            let to = match &rule.to {
                NotifyTo::Terminal | NotifyTo::Bell => continue,
                NotifyTo::Command { argv, json, limit } => {
                    To::Command { argv: argv.clone(), json: *json, limit: *limit }
                }
                NotifyTo::Webhook(webhook) => {
                    let wrong = |what| NotifyError { number: rule.number, line: rule.line, what };
                    To::Hook(Box::new(Hook::new(webhook).map_err(wrong)?))
                }
            };
            ways.insert(rule.number, Channel { name: rule.to_string(), to });
        }
        Ok(Self { by_rule: Arc::new(ways), ..Self::default() })
    }

    /// Keeps which rules fail, for `placet doctor`.
    #[must_use]
    pub fn remembering(self, undelivered: Undelivered) -> Self {
        Self { undelivered: Some(undelivered), ..self }
    }

    /// Tells it on a task of its own, and says there what became of it: an error is a sentence of ours that names the rule. Does nothing
    /// for a rule that needs a screen.
    pub fn tell<F>(&self, notice: Notice, and_then: impl FnOnce(Result<(), String>) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send,
    {
        if !self.by_rule.contains_key(&notice.rule) || self.ending.is_cancelled() {
            return;
        }
        let (ways, ending) = (Arc::clone(&self.by_rule), self.ending.clone());
        let undelivered = self.undelivered.clone();
        drop(self.telling.spawn(async move {
            let Some(way) = ways.get(&notice.rule) else { return };
            let told = tokio::select! {
                told = way.tell(&notice) => told,
                () = ending.cancelled() => Err("placet ended".to_owned()),
            };
            if let Err(why) = &told {
                tracing::warn!(why, rule = way.name, "a notification was not delivered");
            }
            if let Some(undelivered) = undelivered {
                let (rule, failed) = (way.name.clone(), told.as_ref().err().cloned());
                let note = move || undelivered.note(&rule, failed.as_deref(), time::now());
                // Whether it is kept or not: what became of the notice is told all the same.
                drop(tokio::task::spawn_blocking(note).await);
            }
            and_then(told.map_err(|why| format!("{}: {why}", way.name))).await;
        }));
    }

    /// Waits a moment for what is being told, and ends the rest with every program that it started.
    pub async fn finish(&self) {
        self.telling.close();
        if tokio::time::timeout(MOMENT, self.telling.wait()).await.is_err() {
            self.ending.cancel();
            // What is cancelled ends at its next turn.
            drop(tokio::time::timeout(MOMENT, self.telling.wait()).await);
        }
    }
}

impl Channel {
    async fn tell(&self, notice: &Notice) -> Result<(), String> {
        match &self.to {
            To::Command { argv, json, limit } => {
                let said = if *json { notice.json() } else { notice.text() };
                let how = How { limit: *limit, late: Late::Killed, bare: true };
                let told = program::run(argv, format!("{said}\n").as_bytes(), how).await;
                told.map_err(|error| format!("the command failed: {error}"))
            }
            To::Hook(hook) => hook.tell(notice).await,
        }
    }
}

/// Rules over the figures of somebody who watches without a screen: commands and webhooks only.
#[derive(Debug)]
pub struct Caller {
    notices: Notices,
    ways: Channels,
    zone: jiff::tz::TimeZone,
}

impl Caller {
    /// `None` where no rule goes to a command or a webhook.
    pub fn new(config: &Config, undelivered: Undelivered) -> Result<Option<Self>, NotifyError> {
        let rules: Vec<_> =
            config.notify.iter().filter(|rule| !rule.to.is_of_the_screen()).cloned().collect();
        if rules.is_empty() {
            return Ok(None);
        }
        let (notices, ways) =
            (Notices::new(&rules, config.watch.targets), Channels::new(&rules)?.remembering(undelivered));
        Ok(Some(Self { notices, ways, zone: jiff::tz::TimeZone::system() }))
    }

    /// Takes the figures of now, and tells what is due; to be given every board that is made, also when nothing changed. Looks at most
    /// once a second, and waits for nothing. What fails is in the log.
    pub fn look(&mut self, board: &Board) {
        if !self.notices.is_due(board.at) {
            return;
        }
        let wall = Wall::at(board.at, &self.zone);
        for notice in self.notices.look(board, wall, false) {
            self.ways.tell(notice, |_| async {});
        }
    }

    /// Before the program ends; takes a moment at most.
    pub async fn finish(self) {
        self.ways.finish().await;
    }
}

#[cfg(test)]
mod tests;
