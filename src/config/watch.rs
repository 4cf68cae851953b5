//! The table `[watch]`: when data is old, and what a lead wants to be told of.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use super::check::{DAY, Mistakes, seconds};

#[derive(Clone, Debug, PartialEq)]
pub struct Watch {
    pub targets: Targets,
    pub queue_targets: QueueTargets,
    /// Who decided, and how fast, is shown where the source tells.
    pub reviewers: bool,
}

/// What a lead wants to be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Targets {
    /// Nothing should wait for longer.
    pub age: Duration,
    /// Nothing of high risk should wait for longer.
    pub high_risk: Duration,
    /// What expires within this is told of.
    pub expiring: Duration,
    /// A queue that grew for so long is told of.
    pub growing: Duration,
    /// How often a source is polled where it pushes nothing, or while its stream is down.
    pub poll: Duration,
    /// No event and no tick for so long: the counts are called stale.
    pub stale_after: Duration,
    /// Some queue has a target of its own.
    pub by_queue: bool,
}

/// How long an action may wait, by the name of its agent, else of its tool.
pub type QueueTargets = BTreeMap<String, Duration>;

impl Default for Targets {
    fn default() -> Self {
        Self {
            age: Duration::from_hours(1),
            high_risk: Duration::from_mins(15),
            expiring: Duration::from_mins(10),
            growing: Duration::from_mins(15),
            poll: Duration::from_secs(10),
            stale_after: Duration::from_secs(45),
            by_queue: false,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawWatch {
    poll_seconds: u64,
    stale_seconds: u64,
    target_minutes: u64,
    high_risk_minutes: u64,
    expiring_minutes: u64,
    growing_minutes: u64,
    reviewers: bool,
    queue: BTreeMap<String, RawQueue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawQueue {
    target_minutes: u64,
}

impl Default for RawWatch {
    fn default() -> Self {
        let usual = Targets::default();
        let minutes = |time: Duration| time.as_secs() / 60;
        Self {
            poll_seconds: usual.poll.as_secs(),
            stale_seconds: usual.stale_after.as_secs(),
            target_minutes: minutes(usual.age),
            high_risk_minutes: minutes(usual.high_risk),
            expiring_minutes: minutes(usual.expiring),
            growing_minutes: minutes(usual.growing),
            reviewers: false,
            queue: BTreeMap::new(),
        }
    }
}

impl RawWatch {
    pub(super) fn validate(self, mistakes: &mut Mistakes) -> Watch {
        const WEEK: u64 = 7 * DAY / 60;
        let mut seconds =
            |key: &str, given, most| mistakes.take(seconds(key, given, most)).unwrap_or_default();
        let poll = seconds("watch.poll_seconds", self.poll_seconds, 3_600);
        let stale_after = seconds("watch.stale_seconds", self.stale_seconds, DAY);
        let mut minutes = |key: &str, given| seconds(key, given, WEEK) * 60;
        let targets = Targets {
            age: minutes("watch.target_minutes", self.target_minutes),
            high_risk: minutes("watch.high_risk_minutes", self.high_risk_minutes),
            expiring: minutes("watch.expiring_minutes", self.expiring_minutes),
            growing: minutes("watch.growing_minutes", self.growing_minutes),
            poll,
            stale_after,
            by_queue: !self.queue.is_empty(),
        };
        let target = |(name, queue): (String, RawQueue)| {
            let age = minutes(&format!("watch.queue.{name:?}.target_minutes"), queue.target_minutes);
            (name, age)
        };
        let queue_targets = self.queue.into_iter().map(target).collect();
        Watch { targets, queue_targets, reviewers: self.reviewers }
    }
}
