//! The snoozed actions.

use std::collections::HashMap;

use crate::domain::{ActionKey, Digest, Effect, Row, Timestamp};
use crate::journal::Snooze;

#[derive(Clone, Debug, Default)]
pub(crate) struct SnoozeState {
    pub(super) of: HashMap<ActionKey, Snooze>,
}

impl SnoozeState {
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.of.values().map(|snooze| snooze.until).min()
    }
}

/// Returns a digest of the content, risk and terms in a list row. A snooze ends when it changes.
pub(super) fn label(row: &Row) -> Digest {
    let digest = row.digest.map(|digest| digest.to_string());
    let (size, expires) = (row.size.to_string(), row.expires_at.map(|at| at.as_millis().to_string()));
    let fields = [
        digest.as_deref(),
        Some(row.title.as_raw()),
        Some(row.risk.as_raw()),
        row.effect.as_ref().map(Effect::as_raw),
        expires.as_deref(),
        Some(size.as_str()),
    ];
    Digest::of_fields("snooze", fields)
}
