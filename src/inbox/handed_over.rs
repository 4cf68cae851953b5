//! The handover of a shift: claimed actions, actions snoozed here, and actions that need another approval.

use std::collections::HashMap;

use super::core::Inbox;
use super::list::Synced;
use super::pace::GRACE;
use super::problem::Problem;
use super::timeouts::in_time;
use crate::clock;
use crate::domain::{ActionKey, Entry, Timestamp, Untrusted};
use crate::journal::Snooze;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandedOver {
    pub at: Timestamp,
    /// Grouped by reason, oldest first.
    pub left: Vec<Left>,
    pub problems: Vec<Problem>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    pub key: ActionKey,
    /// `None` if its source did not answer.
    pub title: Option<Untrusted>,
    pub why: WhyLeft,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyLeft {
    Claimed {
        by: Untrusted,
        since: Timestamp,
    },
    /// On this machine only.
    Snoozed {
        until: Timestamp,
    },
    /// Some people have approved it, and more must.
    Approved {
        by: Vec<Untrusted>,
        needed: u64,
    },
}

impl Inbox {
    /// Collects what is left now. Requests the list of every source.
    pub async fn handed_over(&self) -> Result<HandedOver, Problem> {
        let mut snoozes = self.journal.snoozes().await?;
        let names = self.source_names();
        let asking = names.iter().map(|name| self.sync(name, None));
        let answers = in_time(asking, GRACE, Result::is_ok).await;
        let mut all = HandedOver { at: clock::now(), ..HandedOver::default() };
        for (name, answer) in names.iter().zip(answers) {
            match answer.unwrap_or_else(|| Err(Problem::silent(name, GRACE))) {
                Ok(synced) => {
                    let here = snoozes.extract_if(|key, _| key.source == *name).collect();
                    all.left.extend(left(synced, here, all.at));
                }
                Err(problem) => all.problems.push(problem),
            }
        }
        all.left.extend(snoozes.into_iter().filter_map(|(key, snooze)| snoozed(key, None, &snooze, all.at)));
        all.left.sort_by(|a, b| a.why.order().cmp(&b.why.order()).then_with(|| a.key.cmp(&b.key)));
        Ok(all)
    }
}

fn left(synced: Synced, snoozes: HashMap<ActionKey, Snooze>, now: Timestamp) -> Vec<Left> {
    let claims = synced.claims.unwrap_or_default();
    let entries = synced.rows.into_entries().into_iter().filter(|entry| entry.row.status.is_pending());
    let pending: HashMap<ActionKey, Entry> = entries.map(|entry| (entry.key.clone(), entry)).collect();
    let title = |key: &ActionKey| pending.get(key).map(|entry| entry.row.title.clone());
    let claimed = claims.into_iter().filter_map(|claim| {
        let key = ActionKey { source: synced.source.clone(), id: claim.id };
        let title = title(&key)?;
        Some(Left { key, title: Some(title), why: WhyLeft::Claimed { by: claim.by, since: claim.since } })
    });
    let hidden = snoozes.into_iter().filter_map(|(key, snooze)| {
        let title = title(&key)?;
        snoozed(key, Some(title), &snooze, now)
    });
    let waiting = pending.values().filter_map(|entry| {
        let approvals = entry.row.approvals.as_ref()?;
        let waits = approvals.given() > 0 && approvals.given() < approvals.needed;
        let why = WhyLeft::Approved { by: approvals.by.clone(), needed: approvals.needed };
        waits.then(|| Left { key: entry.key.clone(), title: Some(entry.row.title.clone()), why })
    });
    claimed.chain(hidden).chain(waiting).collect()
}

fn snoozed(key: ActionKey, title: Option<Untrusted>, snooze: &Snooze, now: Timestamp) -> Option<Left> {
    (snooze.until > now).then_some(Left { key, title, why: WhyLeft::Snoozed { until: snooze.until } })
}

impl WhyLeft {
    const fn order(&self) -> (u8, i64) {
        match self {
            Self::Claimed { since, .. } => (0, since.as_millis()),
            Self::Snoozed { until } => (1, until.as_millis()),
            Self::Approved { .. } => (2, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ActionId, Approvals, Claim, Digest, Row, SourceName, Status};
    use crate::inbox::Rows;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    fn key(id: &str) -> ActionKey {
        ActionKey { source: SourceName::new("gate"), id: ActionId::new(id) }
    }

    fn entry(id: &str, approvals: Option<(&[&str], u64)>) -> Entry {
        let approvals = approvals
            .map(|(by, needed)| Approvals { needed, by: by.iter().map(|by| (*by).into()).collect() }.into());
        let row = Row::new(ActionId::new(id), "t".into(), format!("title {id}").into());
        Entry { key: key(id), row: Row { approvals, ..row } }
    }

    #[test]
    fn pending_action_is_left_claimed_snoozed_or_half_approved() {
        let over = |id: &str| {
            let entry = entry(id, Some((&["kim"], 2)));
            Entry { row: Row { status: Status::Unknown, ..entry.row }, ..entry }
        };
        let entries = vec![
            entry("claimed", None),
            entry("snoozed", None),
            entry("back", None),
            entry("half", Some((&["kim"], 2))),
            entry("first", Some((&[], 2))),
            entry("plain", None),
            over("over"),
        ];
        let claim = |id: &str| Claim { id: ActionId::new(id), by: "lee".into(), since: NOW };
        let synced = Synced {
            source: SourceName::new("gate"),
            subject: None,
            claims: Some(vec![claim("claimed"), claim("over"), claim("gone")]),
            rows: Rows::All(entries),
            revision: None,
            unreadable: Vec::new(),
            at: NOW,
        };
        let snooze = |id: &str, later: i64| {
            (key(id), Snooze { until: NOW.plus_millis(later), label: Digest::of("t", "w", id), terms: None })
        };
        let snoozes = [snooze("snoozed", 1), snooze("back", 0), snooze("gone", 1)].into();

        let mut left = left(synced, snoozes, NOW);

        left.sort_by_key(|left| left.why.order());
        let left = left.iter().map(|left| (left.title.as_ref().unwrap().as_raw(), &left.why));
        let want = [
            ("title claimed", WhyLeft::Claimed { by: "lee".into(), since: NOW }),
            ("title snoozed", WhyLeft::Snoozed { until: NOW.plus_millis(1) }),
            ("title half", WhyLeft::Approved { by: vec!["kim".into()], needed: 2 }),
        ];
        assert_eq!(
            left.collect::<Vec<_>>(),
            want.iter().map(|(title, why)| (*title, why)).collect::<Vec<_>>()
        );
    }
}
