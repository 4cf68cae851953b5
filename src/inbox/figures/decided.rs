//! Decisions as seen from here, for sources without counts of their own. In memory only, because they are about people.

use std::collections::{HashMap, VecDeque};

use crate::domain::{Decider, Timestamp, ToolDecided, Untrusted};

/// Maximum number of decisions to keep.
const MOST: usize = 20_000;

/// An action that was decided, or failed after its approval.
#[derive(Clone, Debug)]
pub(super) struct Deed {
    pub(super) at: Timestamp,
    pub(super) created: Timestamp,
    pub(super) tool: Untrusted,
    pub(super) by: Option<Untrusted>,
    pub(super) what: Did,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Did {
    Approve,
    Reject,
    Fail,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Decided(VecDeque<Deed>);

impl Decided {
    pub(super) fn add(&mut self, deed: Deed) {
        self.0.push_back(deed);
        if self.0.len() > MOST {
            self.0.pop_front();
        }
    }

    /// Returns whether decisions of that time were forgotten.
    pub(super) fn is_full_since(&self, since: Timestamp) -> bool {
        self.0.len() >= MOST && self.0.front().is_some_and(|oldest| oldest.at > since)
    }

    fn since(&self, since: Timestamp) -> impl Iterator<Item = &Deed> {
        self.0.iter().filter(move |deed| deed.at >= since)
    }

    pub(super) fn tools(&self, since: Timestamp) -> Vec<ToolDecided> {
        let mut tools: HashMap<&Untrusted, ToolDecided> = HashMap::new();
        for deed in self.since(since) {
            let none = || ToolDecided { tool: deed.tool.clone(), ..ToolDecided::default() };
            let tool = tools.entry(&deed.tool).or_insert_with(none);
            match deed.what {
                Did::Approve => tool.approved += 1,
                Did::Reject => tool.rejected += 1,
                Did::Fail => tool.failed += 1,
            }
        }
        tools.into_values().collect()
    }

    pub(super) fn reviewers(&self, since: Timestamp) -> Vec<Decider> {
        let mut known: HashMap<&Untrusted, (Decider, Vec<i64>)> = HashMap::new();
        for deed in self.since(since).filter(|deed| deed.what != Did::Fail) {
            let Some(name) = &deed.by else { continue };
            let none = || Decider { name: name.clone(), last: deed.at, ..Decider::default() };
            let (decider, waits) = known.entry(name).or_insert_with(|| (none(), Vec::new()));
            *(if deed.what == Did::Approve { &mut decider.approved } else { &mut decider.rejected }) += 1;
            decider.last = decider.last.max(deed.at);
            waits.push(deed.at.since(deed.created));
        }
        let with_median = |(mut decider, mut waits): (Decider, Vec<i64>)| {
            decider.median_wait = quantile(&mut waits, 50).unwrap_or_default();
            decider
        };
        known.into_values().map(with_median).collect()
    }
}

/// Returns the least value that is not exceeded by `percent` percent of the values.
pub(super) fn quantile(values: &mut [i64], percent: usize) -> Option<i64> {
    let nth = (values.len() * percent).div_ceil(100).checked_sub(1)?;
    let (_, value, _) = values.select_nth_unstable(nth);
    Some(*value)
}
