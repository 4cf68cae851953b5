//! Adds up decisions by person and by group.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::columns::Columns;
use super::{AskedFlows, StoreError};
use crate::domain::subject::folded;
use crate::domain::{Decider, Timestamp};

/// Maximum number of decisions counted, newest first.
pub(super) const MOST: usize = 20_000;

pub(super) struct Deciders<'a> {
    asked: &'a AskedFlows,
    people: BTreeMap<String, Sum>,
    /// People without a group are under the empty name, which is no group's name.
    groups: BTreeMap<String, Sum>,
}

struct Sum {
    decider: Decider,
    waits: Vec<i64>,
}

/// One decision: subject, time, milliseconds the action had waited, and kind.
struct Decision {
    by: String,
    at: Timestamp,
    waited: i64,
    rejects: bool,
    edited: bool,
}

impl<'a> Deciders<'a> {
    pub(super) const fn new(asked: &'a AskedFlows) -> Self {
        Self { asked, people: BTreeMap::new(), groups: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, row: &dyn Columns) -> Result<(), StoreError> {
        let decision = Decision {
            by: row.text("subject")?,
            at: Timestamp::from_millis(row.int("at")?),
            waited: row.int("waited")?,
            rejects: row.int("rejected")? != 0,
            edited: row.int("edited")? != 0,
        };
        if self.asked.reviewers {
            count(&mut self.people, folded(&decision.by), &decision.by, &decision);
        }
        let Some(groups) = &self.asked.groups else { return Ok(()) };
        match groups.get(&folded(&decision.by)).filter(|groups| !groups.is_empty()) {
            Some(groups) => {
                for group in groups {
                    count(&mut self.groups, group.clone(), group, &decision);
                }
            }
            None => count(&mut self.groups, String::new(), "", &decision),
        }
        Ok(())
    }

    /// Returns people and groups, those with the most decisions first.
    pub(super) fn told(self) -> (Vec<Decider>, Vec<Decider>) {
        (told(self.people), told(self.groups))
    }
}

fn count(sums: &mut BTreeMap<String, Sum>, key: String, name: &str, decision: &Decision) {
    let last = Timestamp::from_millis(i64::MIN);
    let none =
        || Decider { name: name.into(), approved: 0, edited: Some(0), rejected: 0, median_wait: 0, last };
    let sum = sums.entry(key).or_insert_with(|| Sum { decider: none(), waits: Vec::new() });
    let decider = &mut sum.decider;
    decider.last = decider.last.max(decision.at);
    if decision.rejects {
        decider.rejected += 1;
    } else {
        decider.approved += 1;
        decider.edited = decider.edited.map(|count| count + u64::from(decision.edited));
    }
    sum.waits.push(decision.waited);
}

fn told(sums: BTreeMap<String, Sum>) -> Vec<Decider> {
    let with_median = |Sum { decider, mut waits }: Sum| {
        waits.sort_unstable();
        let middle = waits.get(waits.len().saturating_sub(1) / 2);
        Decider { median_wait: middle.copied().unwrap_or_default().max(0), ..decider }
    };
    let mut told: Vec<Decider> = sums.into_values().map(with_median).collect();
    told.sort_by_key(|decider| Reverse(decider.approved + decider.rejected));
    told
}
