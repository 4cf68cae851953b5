//! Health checks of rules that the service does not enforce.

use super::client::ConfusedAi;
use crate::clock;
use crate::domain::Check;
use crate::sources::{SourceError, Synced};

impl ConfusedAi {
    pub(super) fn check_reviewer(&self) -> Vec<Check> {
        let reviewer = match &self.reviewer {
            Some(name) => Check::good(
                "reviewer",
                format!("decisions go under the name {name:?}, which it does not verify"),
            ),
            None => Check::warn("reviewer", "decisions go without a name", "set `name` in [reviewer]"),
        };
        // The number of processes cannot be seen on the wire.
        let one = "its answers are believed: run one service process a database, for two overwrite each other's decisions";
        vec![reviewer, Check::good("processes", one)]
    }
}

/// Reports expired requests in the list, and an address without approvals.
pub(super) fn list(listed: &Result<Synced, SourceError>) -> Option<Check> {
    let (rows, unreadable) = match listed {
        Ok(Synced::All { rows, unreadable, .. } | Synced::Changes { rows, unreadable, .. }) => {
            (rows, unreadable.len())
        }
        Err(SourceError::Refused { why }) if why.as_raw().starts_with("HTTP 404") => {
            let advice =
                "check `url`; a service without an approval store has none: give it one where it is created";
            return Some(Check::bad("list", "it knows no approvals", advice).said(Some(why.clone())));
        }
        Err(_) => return None,
    };
    let now = clock::now();
    let (expired, pending): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.has_expired(now));
    let found = match expired.len() {
        0 => return None,
        n => format!(
            "{} pending, {n} expired, which are refused here: it would still approve them",
            pending.len()
        ),
    };
    if unreadable == 0 {
        return Some(Check::good("list", found));
    }
    let advice = "they are shown in the inbox; tell whoever runs the backend";
    Some(Check::warn("list", format!("{found}, and {unreadable} that cannot be read"), advice))
}
