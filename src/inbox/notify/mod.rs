//! Sends notices that need no screen to commands and webhooks, in tasks of their own and with time limits.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock;
use crate::config::{Config, NotifyRule, NotifyTo};
use crate::program::{self, How, Late};

use super::figures::Board;
use super::notices::{Notice, Notices, Wall};

mod check;
mod hook;
mod undelivered;

pub use check::{look, mistakes};
pub use undelivered::Undelivered;

use hook::Hook;

/// Longest wait at the end of the program for notices in delivery.
const MOMENT: Duration = Duration::from_secs(1);

#[derive(Debug, thiserror::Error)]
#[error("line {line}, notify rule {number}: {what}")]
pub struct NotifyError {
    number: usize,
    line: usize,
    what: String,
}

/// The channels of all rules that need no screen. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Channels {
    by_rule: Arc<BTreeMap<usize, Channel>>,
    undelivered: Option<Undelivered>,
    telling: TaskTracker,
    ending: CancellationToken,
}

#[derive(Debug)]
struct Channel {
    name: String,
    to: To,
}

#[derive(Debug)]
enum To {
    Command { argv: Vec<String>, json: bool, limit: Duration },
    Hook(Box<Hook>),
}

impl Channels {
    /// Fails for a receiver whose address is refused. The addresses behind a host name are only checked on delivery.
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

    /// Records failing rules, for `placet doctor`.
    #[must_use]
    pub fn remembering(self, undelivered: Undelivered) -> Self {
        Self { undelivered: Some(undelivered), ..self }
    }

    /// Delivers a notice in a task and calls `and_then` there. An error is a sentence that names the rule. Ignores
    /// rules that need a screen.
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
                let note = move || undelivered.note(&rule, failed.as_deref(), clock::now());
                // A failure to record it does not change the result.
                drop(tokio::task::spawn_blocking(note).await);
            }
            and_then(told.map_err(|why| format!("{}: {why}", way.name))).await;
        }));
    }

    /// Waits briefly for notices in delivery, and cancels the rest with the programs that they started.
    pub async fn finish(&self) {
        self.telling.close();
        if tokio::time::timeout(MOMENT, self.telling.wait()).await.is_err() {
            self.ending.cancel();
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

/// Applies rules without a screen: commands and webhooks only.
#[derive(Debug)]
pub struct Caller {
    notices: Notices,
    ways: Channels,
    zone: jiff::tz::TimeZone,
}

impl Caller {
    /// Returns `None` if no rule has a command or a webhook.
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

    /// Takes every board, also an unchanged one, and delivers the notices that are due. Looks at most once a second and
    /// does not block. Failures are logged.
    pub fn look(&mut self, board: &Board) {
        if !self.notices.is_due(board.at) {
            return;
        }
        let wall = Wall::at(board.at, &self.zone);
        for notice in self.notices.look(board, wall, false) {
            self.ways.tell(notice, |_| async {});
        }
    }

    pub async fn finish(self) {
        self.ways.finish().await;
    }
}

#[cfg(test)]
mod tests;
