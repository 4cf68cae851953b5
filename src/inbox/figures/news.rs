//! Events of one look at a source. Many of a kind become one.

use crate::domain::{SourceName, Status, Timestamp, Untrusted};

use super::stage::Stage;
use super::{About, Happening, HappeningKind, Queue};

/// Maximum number of events of a kind that are reported one by one.
const ONE_BY_ONE: usize = 3;
/// Maximum number of failures. They are always reported one by one.
const FAILURES: usize = 20;

#[derive(Debug, Default)]
pub(super) struct News {
    arrived: Vec<(Queue, u64, u64, About)>,
    decided: Vec<(Status, Option<Untrusted>, About)>,
    left: Vec<(Option<Status>, About)>,
    executed: Vec<About>,
    /// Failed, or with an unknown outcome.
    bad: Vec<HappeningKind>,
}

impl News {
    pub(super) fn arrived(&mut self, queue: Queue, about: About) {
        let high = u64::from(about.is_high());
        match self.arrived.iter_mut().find(|(known, ..)| *known == queue) {
            Some((_, count, risky, first)) => {
                *count += 1;
                *risky += high;
                // The most important one represents them all.
                if about.rank > first.rank {
                    *first = about;
                }
            }
            None => self.arrived.push((queue, 1, high, about)),
        }
    }

    /// Records that an action moved to this stage; `was_open`: it was pending at the last look.
    pub(super) fn moved(
        &mut self,
        stage: Stage,
        was_open: bool,
        status: Option<Status>,
        by: Option<Untrusted>,
        about: About,
    ) {
        let approved = |about| (Status::Approved, by.clone(), about);
        match stage {
            Stage::Pending => {}
            Stage::Left => self.left.push((status, about)),
            Stage::Rejected => self.decided.push((Status::Rejected, by, about)),
            Stage::Executed if !was_open => self.executed.push(about),
            Stage::Approved | Stage::Executed => self.decided.push(approved(about)),
            Stage::Failed | Stage::Unknown => {
                self.decided.extend(was_open.then(|| approved(about.clone())));
                let status = if stage == Stage::Failed { Status::Failed } else { Status::Unknown };
                self.bad.push(HappeningKind::Ended { status, about: Box::new(about) });
            }
        }
    }

    /// Returns the events with failures last, so that they are on top.
    pub(super) fn told(self, source: &SourceName, now: Timestamp) -> Vec<Happening> {
        let arrived = self.arrived.into_iter().map(|(queue, count, high, first)| HappeningKind::Arrived {
            queue,
            count,
            high,
            first: Box::new(first),
        });
        let mut kinds: Vec<HappeningKind> = arrived.collect();
        kinds.extend(decided(self.decided));
        if self.left.len() > ONE_BY_ONE {
            kinds.push(HappeningKind::LeftMany { count: self.left.len() as u64 });
        } else {
            let left = self.left.into_iter();
            kinds.extend(left.map(|(status, about)| HappeningKind::Left { status, about: Box::new(about) }));
        }
        // Many successes only show in the counts.
        if self.executed.len() <= ONE_BY_ONE {
            kinds.extend(
                self.executed
                    .into_iter()
                    .map(|about| HappeningKind::Ended { status: Status::Executed, about: Box::new(about) }),
            );
        }
        kinds.extend(self.bad.into_iter().take(FAILURES));
        kinds.into_iter().map(|what| Happening { at: now, source: source.clone(), what }).collect()
    }
}

fn decided(decided: Vec<(Status, Option<Untrusted>, About)>) -> Vec<HappeningKind> {
    if decided.len() <= ONE_BY_ONE {
        let one = |(status, by, about)| HappeningKind::Decided { status, by, about: Box::new(about) };
        return decided.into_iter().map(one).collect();
    }
    let mut groups: Vec<(Option<Untrusted>, u64, u64)> = Vec::new();
    for (status, by, _) in decided {
        let place = groups.iter().position(|(known, ..)| *known == by).unwrap_or_else(|| {
            groups.push((by, 0, 0));
            groups.len() - 1
        });
        if let Some((_, approved, rejected)) = groups.get_mut(place) {
            let count = if status == Status::Rejected { rejected } else { approved };
            *count += 1;
        }
    }
    let many = |(by, approved, rejected)| HappeningKind::DecidedMany { approved, rejected, by };
    groups.into_iter().map(many).collect()
}
