//! The table `[watch]`: targets for alerts, and when data is stale.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use super::check::{DAY, Mistakes, seconds};

#[derive(Clone, Debug, PartialEq)]
pub struct Watch {
    pub targets: Targets,
    pub queue_targets: QueueTargets,
    /// Shows reviewers and their speed, if the source reports them.
    pub reviewers: bool,
    pub groups: bool,
}

/// Limits that raise alerts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Targets {
    pub age: Duration,
    pub high_risk: Duration,
    /// Remaining time below which expiry is reported.
    pub expiring: Duration,
    /// Duration of growth after which a queue is reported.
    pub growing: Duration,
    /// Polling interval of a source without push, or while its stream is down.
    pub poll: Duration,
    /// Time without event or poll after which counts are stale.
    pub stale_after: Duration,
    pub by_queue: bool,
}

/// Maximum waiting times by the name of an agent, or else a tool.
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

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawWatch {
    poll_seconds: Option<u64>,
    stale_seconds: Option<u64>,
    target_minutes: Option<u64>,
    high_risk_minutes: Option<u64>,
    expiring_minutes: Option<u64>,
    growing_minutes: Option<u64>,
    reviewers: bool,
    groups: bool,
    queue: BTreeMap<String, RawQueue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawQueue {
    target_minutes: u64,
}

impl RawWatch {
    pub(super) fn validate(self, mistakes: &mut Mistakes) -> Watch {
        const WEEK: u64 = 7 * DAY / 60;
        let usual = Targets::default();
        let mut time = |key: &str, given: Option<u64>, unit: u32, most: u64, usual: Duration| match given {
            Some(given) => mistakes.take(seconds(key, given, most)).unwrap_or_default() * unit,
            None => usual,
        };
        let poll = time("watch.poll_seconds", self.poll_seconds, 1, 3_600, usual.poll);
        let stale_after = time("watch.stale_seconds", self.stale_seconds, 1, DAY, usual.stale_after);
        let mut minutes = |key: &str, given, usual| time(key, given, 60, WEEK, usual);
        let targets = Targets {
            age: minutes("watch.target_minutes", self.target_minutes, usual.age),
            high_risk: minutes("watch.high_risk_minutes", self.high_risk_minutes, usual.high_risk),
            expiring: minutes("watch.expiring_minutes", self.expiring_minutes, usual.expiring),
            growing: minutes("watch.growing_minutes", self.growing_minutes, usual.growing),
            poll,
            stale_after,
            by_queue: !self.queue.is_empty(),
        };
        let target = |(name, queue): (String, RawQueue)| {
            let key = format!("watch.queue.{name:?}.target_minutes");
            let age = minutes(&key, Some(queue.target_minutes), usual.age);
            (name, age)
        };
        let queue_targets = self.queue.into_iter().map(target).collect();
        Watch { targets, queue_targets, reviewers: self.reviewers, groups: self.groups }
    }
}
