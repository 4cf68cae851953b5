//! What a lead has said of alerts: seen, or not now.

use std::collections::HashMap;

use crate::domain::{SourceName, Timestamp};
use crate::inbox::figures::{Alert, AlertKind};

type Which = (AlertKind, SourceName);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alarms {
    /// With the count as of then, or the least since.
    acknowledged: HashMap<Which, u64>,
    /// Until when.
    muted: HashMap<Which, Timestamp>,
}

impl Alarms {
    /// Milliseconds.
    pub const MUTED_FOR: i64 = 3_600_000;

    /// These are the alerts now. An acknowledged one that grew, or went away and came back, counts again. True where anything
    /// is otherwise than before.
    pub fn look(&mut self, alerts: &[Alert], now: Timestamp) -> bool {
        let before = self.clone();
        self.muted.retain(|_, until| *until > now);
        self.acknowledged.retain(|which, count| {
            let Some(alert) = alerts.iter().find(|alert| key(alert) == *which) else { return false };
            // Minutes go on by themselves; that is no news.
            let is_time = matches!(alert.kind, AlertKind::Down | AlertKind::Growing);
            let stays = is_time || alert.count <= *count;
            *count = alert.count.min(*count);
            stays
        });
        *self != before
    }

    pub fn is_acknowledged(&self, alert: &Alert) -> bool {
        self.acknowledged.contains_key(&key(alert))
    }

    pub fn muted_until(&self, alert: &Alert) -> Option<Timestamp> {
        self.muted.get(&key(alert)).copied()
    }

    /// Nobody needs to be told of it.
    pub fn is_quiet(&self, alert: &Alert) -> bool {
        self.is_acknowledged(alert) || self.muted_until(alert).is_some()
    }

    pub fn acknowledge(&mut self, alert: &Alert) {
        self.acknowledged.insert(key(alert), alert.count);
    }

    pub fn recall(&mut self, alert: &Alert) {
        self.acknowledged.remove(&key(alert));
    }

    pub fn mute(&mut self, alert: &Alert, now: Timestamp) {
        self.muted.insert(key(alert), now.plus_millis(Self::MUTED_FOR));
    }

    pub fn unmute(&mut self, alert: &Alert) {
        self.muted.remove(&key(alert));
    }

    /// Nothing was said of any.
    pub fn is_empty(&self) -> bool {
        self.acknowledged.is_empty() && self.muted.is_empty()
    }
}

fn key(alert: &Alert) -> Which {
    (alert.kind, alert.source.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alert(kind: AlertKind, count: u64) -> Alert {
        Alert { kind, source: SourceName::new("gate"), count }
    }

    const NOW: Timestamp = Timestamp::from_millis(1_000);

    #[test]
    fn what_was_acknowledged_stays_so_until_it_grows() {
        let mut alarms = Alarms::default();
        let failed = |count| alert(AlertKind::Failed, count);
        alarms.acknowledge(&failed(3));

        assert!(!alarms.look(&[failed(3)], NOW) && alarms.is_quiet(&failed(3)));
        alarms.look(&[failed(1)], NOW);
        assert!(alarms.is_quiet(&failed(1)), "fewer are no news");
        assert!(alarms.look(&[failed(2)], NOW) && !alarms.is_quiet(&failed(2)), "one more than there were");
    }

    #[test]
    fn what_went_away_and_came_back_counts_again() {
        let mut alarms = Alarms::default();
        let down = alert(AlertKind::Down, 1);
        alarms.acknowledge(&down);

        alarms.look(&[alert(AlertKind::Down, 9)], NOW);
        assert!(alarms.is_quiet(&down), "it lasts longer, and that is all");
        alarms.look(&[], NOW);
        alarms.look(&[alert(AlertKind::Down, 0)], NOW);
        assert!(!alarms.is_quiet(&down));
    }

    #[test]
    fn what_is_muted_is_quiet_for_an_hour_whatever_happens() {
        let mut alarms = Alarms::default();
        alarms.mute(&alert(AlertKind::Growing, 15), NOW);

        alarms.look(&[], NOW);
        alarms.look(&[alert(AlertKind::Growing, 60)], NOW.plus_millis(Alarms::MUTED_FOR - 1));
        assert!(alarms.is_quiet(&alert(AlertKind::Growing, 60)));
        assert!(alarms.look(&[], NOW.plus_millis(Alarms::MUTED_FOR)) && alarms.is_empty());
    }
}
