//! What this gate knows of a workspace without asking: the head, as its own last write left it.
//!
//! Work that only adds something need not lock the head first. It is written in one statement, which keeps it only where the head is still
//! that one: nothing that such work reads changes without a new revision. The statement locks the head, too, for as long as its commit
//! takes. Where somebody else was there meanwhile, nothing is kept, and it is done again behind the lock. Where the connection breaks before
//! the answer, the audit says whether it was kept: the hash of its last row is in it, or not.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::domain::Timestamp;
use crate::gate::clock::Clock;
use crate::gate::store::ops::tx::Head;

/// For so long after a lock the head is foreseen: then the server is asked what time it is.
const FRESH: Duration = Duration::from_secs(1);
/// Where somebody else writes to the workspace, too, nothing is foreseen for so long.
const REST: Duration = Duration::from_millis(100);
/// In milliseconds.
const NEAR: i64 = 10;
/// When so many workspaces are known, old ones are forgotten.
const MANY: usize = 1_000;

#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) head: Head,
    pub(super) at: Moment,
}

/// What the server's clock said, and when that was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) server: Timestamp,
    pub(super) heard: Instant,
}

impl Moment {
    /// The time now. What was heard is late by the way of an answer, and so is this gate's clock: the later one is nearer. `None`: they are too
    /// far apart for that; this machine's clock was moved, or the machine slept.
    pub(super) fn now(&self, clock: &Clock) -> Option<Timestamp> {
        let passed = i64::try_from(self.heard.elapsed().as_millis()).unwrap_or(i64::MAX);
        let (heard, own) = (clock.of_server(self.server.plus_millis(passed)), clock.now());
        (own.since(heard).abs() < NEAR).then(|| own.max(heard))
    }
}

#[derive(Debug)]
pub(super) struct Foreseen {
    /// `None`: nothing is foreseen.
    known: Option<Mutex<HashMap<String, Known>>>,
}

#[derive(Debug)]
enum Known {
    Left(Seen),
    /// Somebody else was there at this moment.
    Shared(Instant),
}

impl Known {
    fn is_old(&self) -> bool {
        match self {
            Self::Left(seen) => seen.at.heard.elapsed() >= FRESH,
            Self::Shared(since) => since.elapsed() >= REST,
        }
    }
}

impl Foreseen {
    /// Behind a pooler nothing is: one statement alone would know nothing of this gate's settings.
    pub(super) fn new(pooler: bool) -> Self {
        Self { known: (!pooler).then(Mutex::default) }
    }

    /// To be used once: what came of it is told with [`Self::left`] or [`Self::was_wrong`], or is not known.
    pub(super) fn take(&self, workspace: &str) -> Option<Seen> {
        let mut known = self.known()?;
        match known.get(workspace)? {
            it if it.is_old() => drop(known.remove(workspace)),
            Known::Shared(_) => {}
            Known::Left(_) => {
                if let Some(Known::Left(seen)) = known.remove(workspace) {
                    return Some(seen);
                }
            }
        }
        None
    }

    /// A commit left it so.
    pub(super) fn left(&self, seen: Seen) {
        let Some(mut known) = self.known() else { return };
        if known.len() >= MANY {
            known.retain(|_, known| !known.is_old());
        }
        if known.get(&seen.head.workspace).is_none_or(Known::is_old) {
            known.insert(seen.head.workspace.clone(), Known::Left(seen));
        }
    }

    /// This gate wrote to it by another way.
    pub(super) fn forget(&self, workspace: &str) {
        if let Some(mut known) = self.known() {
            known.remove(workspace);
        }
    }

    pub(super) fn was_wrong(&self, workspace: &str) {
        if let Some(mut known) = self.known() {
            known.insert(workspace.to_owned(), Known::Shared(Instant::now()));
        }
    }

    fn known(&self) -> Option<MutexGuard<'_, HashMap<String, Known>>> {
        Some(self.known.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(workspace: &str) -> Seen {
        let at = Moment { server: Timestamp::from_millis(0), heard: Instant::now() };
        Seen { head: Head::new(workspace), at }
    }

    #[test]
    fn what_is_foreseen_is_foreseen_once_and_not_where_others_write() {
        let foreseen = Foreseen::new(false);
        assert!(foreseen.take("w").is_none());

        foreseen.left(seen("w"));
        foreseen.left(seen("v"));
        foreseen.forget("v");
        assert!(foreseen.take("w").is_some() && foreseen.take("w").is_none() && foreseen.take("v").is_none());

        foreseen.was_wrong("w");
        foreseen.left(seen("w"));
        assert!(foreseen.take("w").is_none());
    }

    #[test]
    fn behind_a_pooler_nothing_is_foreseen() {
        let foreseen = Foreseen::new(true);

        foreseen.left(seen("w"));

        assert!(foreseen.take("w").is_none());
    }
}
