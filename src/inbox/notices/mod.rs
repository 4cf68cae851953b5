//! Applies the rules of `[[notify]]` to the figures and returns the notices that are due. Pure: figures, time and wall
//! clock are arguments.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{NotifyOn, NotifyRule, Targets};
use crate::domain::{AlertKind, SourceName, Timestamp};

use super::figures::Board;

mod level;
mod notice;
mod wall;

use level::{Levels, Topic};
#[cfg(test)]
pub use notice::CurrentEvent;
pub use notice::Notice;
pub use wall::Wall;

/// Milliseconds after its first list in which a source may still report earlier failures and growth.
const SETTLING: i64 = 10_000;

#[derive(Clone, Debug)]
pub struct Notices {
    watched: Vec<Watched>,
    targets: Targets,
    /// Sources with figures, and since when.
    heard: BTreeMap<SourceName, Timestamp>,
    looked: Option<Timestamp>,
    /// Rules whose last notice was not delivered, with the reason.
    failing: BTreeMap<usize, String>,
}

#[derive(Clone, Debug)]
struct Watched {
    rule: NotifyRule,
    /// At the last look.
    known: Levels,
    /// News that was not reported yet.
    owed: BTreeSet<Topic>,
    told: Option<Timestamp>,
}

impl Notices {
    /// Shortest interval between looks, in milliseconds.
    pub const APART: i64 = 1_000;

    pub fn new(rules: &[NotifyRule], targets: Targets) -> Self {
        let watched = rules.iter().map(|rule| Watched {
            rule: rule.clone(),
            known: Levels::new(),
            owed: BTreeSet::new(),
            told: None,
        });
        let (watched, heard, failing) = (watched.collect(), BTreeMap::new(), BTreeMap::new());
        Self { watched, targets, heard, looked: None, failing }
    }

    pub fn is_empty(&self) -> bool {
        self.watched.is_empty()
    }

    pub fn is_due(&self, now: Timestamp) -> bool {
        !self.is_empty() && self.looked.is_none_or(|at| !is_within(at, Self::APART, now))
    }

    /// Takes the figures and returns the notices that are due. `in_front`: the window has the focus; false if unknown.
    pub fn look(&mut self, board: &Board, wall: Wall, in_front: bool) -> Vec<Notice> {
        self.looked = Some(board.at);
        let fresh = self.hear(board);
        let mut due = Vec::new();
        for watched in &mut self.watched {
            let levels = level::of(&watched.rule, board, &self.heard, &self.targets);
            let before = level::before(&watched.rule, board, &fresh);
            watched.take(levels, &before, |topic| is_settling(topic, &self.heard, board.at));
            if watched.is_due(board.at, wall, in_front) {
                let owed = std::mem::take(&mut watched.owed);
                watched.told = Some(board.at);
                due.push(notice::of(&watched.rule, &owed, &watched.known, board, &self.targets));
            }
        }
        due
    }

    /// Records whether a notice of this rule was delivered. Returns true if the failure is news; later ones are not,
    /// until a notice is delivered.
    pub fn came_to(&mut self, rule: usize, failed: Option<&str>) -> bool {
        match failed {
            Some(why) => self.failing.insert(rule, why.to_owned()).is_none(),
            None => {
                self.failing.remove(&rule);
                false
            }
        }
    }

    /// Returns why notices are not delivered, one sentence per rule, with its name.
    pub fn failing(&self) -> impl ExactSizeIterator<Item = &str> {
        self.failing.values().map(String::as_str)
    }

    fn hear(&mut self, board: &Board) -> BTreeSet<SourceName> {
        let heard = board.sources.iter().filter(|source| source.heard.is_some());
        let fresh: BTreeSet<_> =
            heard.map(|source| source.name.clone()).filter(|name| !self.heard.contains_key(name)).collect();
        self.heard.extend(fresh.iter().map(|name| (name.clone(), board.at)));
        fresh
    }
}

/// Returns whether `now` is within `millis` after `from`. False if the clock was set back, so that it delays nothing.
fn is_within(from: Timestamp, millis: i64, now: Timestamp) -> bool {
    (from..from.plus_millis(millis)).contains(&now)
}

/// Returns whether the event may be from before the source was watched.
fn is_settling((on, source): &Topic, heard: &BTreeMap<SourceName, Timestamp>, now: Timestamp) -> bool {
    let of_the_past =
        matches!(on, NotifyOn::Alert(AlertKind::RanOther | AlertKind::Failed | AlertKind::Growing));
    let since = source.as_ref().and_then(|source| heard.get(source));
    of_the_past && since.is_some_and(|at| is_within(*at, SETTLING, now))
}

impl Watched {
    /// Adds levels that are new or have grown to the news, and removes those that are gone. `before` are levels from
    /// before the first look.
    fn take(&mut self, levels: Levels, before: &Levels, is_settling: impl Fn(&Topic) -> bool) {
        self.owed.retain(|topic| levels.contains_key(topic));
        for (topic, level) in &levels {
            let known = self.known.get(topic).max(before.get(topic)).copied().unwrap_or(0);
            if *level > known && !is_settling(topic) {
                self.owed.insert(topic.clone());
            }
        }
        self.known = levels;
    }

    fn is_due(&mut self, now: Timestamp, wall: Wall, in_front: bool) -> bool {
        if self.rule.unfocused_only && in_front {
            // Alerts on a focused screen count as seen.
            self.owed.clear();
        }
        let is_quiet = self.rule.quiet.as_ref().is_some_and(|quiet| quiet.holds(wall.day, wall.minute));
        let every = i64::try_from(self.rule.every.as_millis()).unwrap_or(i64::MAX);
        let is_soon = self.told.is_some_and(|at| is_within(at, every, now));
        !self.owed.is_empty() && !is_quiet && !is_soon
    }
}

#[cfg(test)]
mod tests;
