//! Decides which actions must have been seen in full before they can be approved.

use std::fmt;

use super::{Risk, Seen};

/// An action that was never opened and is longer than this is longer than a screen. Bytes.
const LONG: u64 = 2_000;

/// What must be read to its end before it can be approved. High risks, flagged content and what is longer than a screen always
/// must: there is no less than that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReadFirst {
    #[default]
    Risky,
    Everything,
}

/// What is known of an action, and how much of its present content was seen.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    pub seen: Option<Seen>,
    pub risk: &'a Risk,
    /// Its content holds something that a reader could overlook.
    pub flagged: bool,
    /// Bytes of its input and of the agent's note, or of the input alone where only the row is known.
    pub size: u64,
    pub read_first: ReadFirst,
}

/// Why an action must be seen in full first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    HighRisk,
    Flagged,
    Long,
    /// Only because the configuration asks for it.
    Unread,
}

impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HighRisk => "high-risk",
            Self::Flagged => "flagged",
            Self::Long => "longer than a screen",
            Self::Unread => "not read yet",
        })
    }
}

/// `None` when it may be approved. What is short and plain may be approved unopened: it is counted, and asks for more when
/// it is sent ([`super::confirm_by`]).
pub fn lock(of: Sight<'_>) -> Option<Lock> {
    match of.seen {
        Some(Seen::InFull) => None,
        _ if of.risk.is_high() => Some(Lock::HighRisk),
        _ if of.flagged => Some(Lock::Flagged),
        // It was opened, and did not fit.
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
    fn what_was_read_to_the_end_is_never_locked() {
        assert_eq!(locked(Some(Seen::InFull), "critical", true, 1 << 20), None);
    }

    #[test]
    fn high_flagged_and_long_ones_are_until_then() {
        for seen in [None, Some(Seen::Opened)] {
            assert_eq!(locked(seen, "high", false, 10), Some(Lock::HighRisk));
            assert_eq!(locked(seen, "spicy", false, 10), Some(Lock::HighRisk), "an unknown risk");
            assert_eq!(locked(seen, "low", true, 10), Some(Lock::Flagged));
            assert_eq!(locked(seen, "medium", false, 2_001), Some(Lock::Long));
        }
        assert_eq!(locked(Some(Seen::Opened), "low", false, 10), Some(Lock::Long), "it did not fit");
    }

    #[test]
    fn a_short_plain_one_may_be_approved_unopened_unless_everything_is_to_be_read() {
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
