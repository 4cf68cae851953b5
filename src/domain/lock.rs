//! Locks: which actions must be read in full before approval.

use std::fmt;

use super::{Risk, Seen};

/// Bytes above which an unopened action counts as longer than a screen.
const LONG: u64 = 2_000;

/// Content to read before approval. High risks, flagged content and content longer than a screen are always included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReadFirst {
    #[default]
    Risky,
    Everything,
}

/// Properties of an action, and how much of its current content was seen.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    pub seen: Option<Seen>,
    pub risk: &'a Risk,
    /// Whether its content has something easily overlooked.
    pub flagged: bool,
    /// Bytes of input and note, or of the input alone if only the row is loaded.
    pub size: u64,
    pub read_first: ReadFirst,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    HighRisk,
    Critical,
    Flagged,
    Long,
    Unread,
}

impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HighRisk => "high risk",
            Self::Critical => "critical",
            Self::Flagged => "flagged",
            Self::Long => "longer than a screen",
            Self::Unread => "not read yet",
        })
    }
}

/// Returns the lock; `None` if the action may be approved. Short plain actions may be approved unopened; they count for
/// [`super::confirm_by`].
pub fn lock(of: Sight<'_>) -> Option<Lock> {
    match of.seen {
        Some(Seen::InFull) => None,
        _ if *of.risk == Risk::Critical => Some(Lock::Critical),
        _ if of.risk.is_high() => Some(Lock::HighRisk),
        _ if of.flagged => Some(Lock::Flagged),
        // Opened, but not seen to its end.
        Some(Seen::Opened) => Some(Lock::Long),
        None if of.size > LONG => Some(Lock::Long),
        None => (of.read_first == ReadFirst::Everything).then_some(Lock::Unread),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locked(seen: Option<Seen>, risk: &str, flagged: bool, size: u64) -> Option<Lock> {
        let read_first = ReadFirst::Risky;
        lock(Sight { seen, risk: &Risk::parse(risk), flagged, size, read_first })
    }

    #[test]
    fn an_action_read_in_full_is_not_locked() {
        assert_eq!(locked(Some(Seen::InFull), "critical", true, 1 << 20), None);
    }

    #[test]
    fn high_flagged_and_long_actions_are_locked() {
        for seen in [None, Some(Seen::Opened)] {
            assert_eq!(locked(seen, "high", false, 10), Some(Lock::HighRisk));
            assert_eq!(locked(seen, "critical", false, 10), Some(Lock::Critical));
            assert_eq!(locked(seen, "spicy", false, 10), Some(Lock::HighRisk), "an unknown risk");
            assert_eq!(locked(seen, "low", true, 10), Some(Lock::Flagged));
            assert_eq!(locked(seen, "medium", false, 2_001), Some(Lock::Long));
        }
        assert_eq!(locked(Some(Seen::Opened), "low", false, 10), Some(Lock::Long), "longer than the screen");
    }

    #[test]
    fn a_short_plain_action_may_be_approved_unopened() {
        assert_eq!(locked(None, "medium", false, 2_000), None);
        let plain = |seen, flagged| {
            let read_first = ReadFirst::Everything;
            lock(Sight { seen, risk: &Risk::Low, flagged, size: 10, read_first })
        };
        assert_eq!(plain(None, false), Some(Lock::Unread));
        assert_eq!(plain(None, true), Some(Lock::Flagged));
        assert_eq!(plain(Some(Seen::InFull), false), None);
    }
}
