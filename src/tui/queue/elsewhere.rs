//! Decisions under this reviewer's name that this inbox did not send. An agent that runs as the reviewer's user can
//! make them.

use std::collections::{HashMap, HashSet};

use crate::domain::subject::is_same;
use crate::domain::{ActionKey, Entry, Row, Status, Timestamp, Untrusted, Via};

use super::slots::State;
use super::state::Queue;
use super::words;

/// Milliseconds for which a decision is shown.
const SHOWN: i64 = 2 * 60 * 1_000;

#[derive(Clone, Debug, Default)]
pub(crate) struct Elsewhere {
    /// The start of this inbox. Earlier decisions are ignored.
    began: Timestamp,
    pub sent: HashSet<ActionKey>,
    heard: HashMap<ActionKey, Heard>,
}

#[derive(Clone, Copy, Debug)]
struct Heard {
    at: Timestamp,
    approved: bool,
    via: Option<Via>,
}

impl Elsewhere {
    pub(crate) fn since(began: Timestamp) -> Self {
        Self { began, ..Self::default() }
    }

    /// Notes such decisions of `me` among changes, before the list takes the changes in. Returns whether there are any.
    pub(crate) fn look(&mut self, queue: &Queue, changes: &[Entry], me: &Untrusted, now: Timestamp) -> bool {
        let heard = |entry: &Entry| Some((entry.key.clone(), self.heard(queue, entry, me, now)?));
        let news: Vec<_> = changes.iter().filter_map(heard).collect();
        let is_news = !news.is_empty();
        self.heard.extend(news);
        is_news
    }

    fn heard(
        &self,
        queue: &Queue,
        Entry { key, row }: &Entry,
        me: &Untrusted,
        now: Timestamp,
    ) -> Option<Heard> {
        let slot = queue.get(key);
        let waited = slot.is_none_or(|slot| matches!(slot.state, State::Pending | State::Held));
        if !waited || self.sent.contains(key) || self.heard.contains_key(key) {
            return None;
        }
        let has_mine =
            |row: &Row| row.approvals.as_ref().is_some_and(|it| it.by.iter().any(|by| is_same(by, me)));
        let (is_news, approved) = match row.status {
            // One of several approvals.
            Status::Pending => (slot.is_some_and(|slot| !has_mine(&slot.entry.row)) && has_mine(row), true),
            Status::Approved
            | Status::Running
            | Status::Executed
            | Status::Failed
            | Status::Unknown
            | Status::Rejected => {
                // Without a slot, it came and went between two looks.
                let is_new = slot.is_some() || row.resolved_at.is_some_and(|at| at >= self.began);
                let is_mine = row.resolved_by.as_ref().is_some_and(|by| is_same(by, me));
                (is_new && is_mine, row.status != Status::Rejected)
            }
            _ => return None,
        };
        is_news.then_some(Heard { at: now, approved, via: row.resolved_via })
    }

    /// The next moment at which a decision stops being shown.
    pub(crate) fn until(&self) -> Option<Timestamp> {
        self.heard.values().map(|heard| heard.at.plus_millis(SHOWN)).min()
    }

    /// Drops decisions that were shown long enough. Returns whether there were any.
    pub(crate) fn forget(&mut self, now: Timestamp) -> bool {
        let before = self.heard.len();
        self.heard.retain(|_, heard| now.since(heard.at) < SHOWN);
        self.heard.len() < before
    }

    /// `3 approved from a shell`; `None` if there is nothing to show.
    pub(crate) fn told(&self) -> Option<String> {
        let mut kinds = self.heard.values().map(|it| (it.approved, it.via));
        let first = kinds.next()?;
        let (decided, place) = match first {
            _ if !kinds.all(|kind| kind == first) => (words::DECIDED, words::ELSEWHERE),
            (true, via) => (words::APPROVED, place(via)),
            (false, via) => (words::REJECTED, place(via)),
        };
        Some(words::decided_elsewhere(self.heard.len(), decided, place))
    }
}

const fn place(via: Option<Via>) -> &'static str {
    match via {
        Some(Via::Screen) => words::FROM_ANOTHER_SCREEN,
        Some(Via::Plain) => words::IN_PLAIN_MODE,
        Some(Via::Shell) => words::FROM_A_SHELL,
        Some(Via::Http) => words::OVER_HTTP,
        None => words::ELSEWHERE,
    }
}
