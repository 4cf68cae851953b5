//! Counts the open actions of a source in one pass.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::time::Duration;

use crate::config::{QueueTargets, Targets};
use crate::domain::{Queue, Risk, Timestamp, Untrusted};

use super::open::Open;
use super::{Standing, ToolLine};

/// Passes mission hashes through, because hashing them again would be most of the work.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

type Missions = HashSet<std::num::NonZero<u64>, BuildHasherDefault<Hashed>>;

#[derive(Debug, Default)]
pub(super) struct Sums {
    /// All queues, by number.
    pub(super) queues: Vec<Standing>,
    pub(super) tools: Vec<ToolLine>,
    /// Milliseconds, unordered.
    pub(super) ages: Vec<i64>,
    /// High-risk actions past the limit for high risk.
    pub(super) high_late: u64,
    pub(super) expiring: u64,
    pub(super) missions: u64,
    /// Missions with an action past its target.
    pub(super) blocked: u64,
}

impl Sums {
    pub(super) fn of(open: &Open, targets: &Targets, own: &QueueTargets, now: Timestamp) -> Self {
        let mut sums = Self { ages: Vec::with_capacity(open.ids().len()), ..Self::default() };
        let tool = |name: &Untrusted| ToolLine { tool: name.clone(), ..ToolLine::default() };
        sums.tools = open.tools().all().map(tool).collect();
        sums.queues = open.queues().all().map(|_| Standing::default()).collect();
        let ages: Vec<Duration> = open.queues().all().map(|queue| target(queue, targets, own)).collect();
        let (mut missions, mut blocked) = (Missions::default(), Missions::default());
        for known in open.all() {
            let Some(line) = sums.queues.get_mut(known.queue as usize) else { continue };
            if known.lost {
                line.unknown += 1;
                continue;
            }
            let age = now.since(known.created);
            let target = ages.get(known.queue as usize).copied().unwrap_or(targets.age);
            let (high, late) = (u64::from(Risk::is_high_rank(known.rank)), beyond(age, target));
            line.count(high, known.created);
            line.over_target += u64::from(late);
            if let Some(tool) = sums.tools.get_mut(known.tool as usize) {
                tool.pending += 1;
                tool.high += high;
                tool.oldest = Some(tool.oldest.map_or(known.created, |oldest| oldest.min(known.created)));
            }
            sums.high_late += u64::from(Risk::is_high_rank(known.rank) && beyond(age, targets.high_risk));
            let soon = |at: Timestamp| at > now && !beyond(at.since(now), targets.expiring);
            sums.expiring += u64::from(known.expires.is_some_and(soon));
            missions.extend(known.mission);
            blocked.extend(known.mission.filter(|_| late));
            sums.ages.push(age);
        }
        (sums.missions, sums.blocked) = (missions.len() as u64, blocked.len() as u64);
        sums.tools.retain(|tool| tool.pending > 0);
        sums
    }
}

impl Standing {
    fn count(&mut self, high: u64, created: Timestamp) {
        self.pending += 1;
        self.high += high;
        self.oldest = Some(self.oldest.map_or(created, |oldest| oldest.min(created)));
    }
}

pub(super) fn target(queue: &Queue, targets: &Targets, own: &QueueTargets) -> Duration {
    let own = match queue {
        Queue::Agent(name) | Queue::Tool(name) => own.get(name.as_raw()).copied(),
        Queue::Rest => None,
    };
    own.unwrap_or(targets.age)
}

/// Returns false for a time in the future, because clocks differ.
fn beyond(millis: i64, limit: Duration) -> bool {
    u128::from(millis.max(0).unsigned_abs()) > limit.as_millis()
}
