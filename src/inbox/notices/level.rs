//! The levels of the conditions that a rule watches.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{NotifyOn, NotifyRule, Targets};
use crate::domain::{AlertKind, Queue, SourceName, Timestamp};
use crate::inbox::figures::{Board, SourceBoard, Standing};

/// A condition of a rule: one kind of event at one source, or at all of the rule's sources if `None`.
pub(super) type Topic = (NotifyOn, Option<SourceName>);

/// Levels by topic, without zeros.
pub(super) type Levels = BTreeMap<Topic, u64>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) pending: u64,
    pub(super) high: u64,
    pub(super) oldest: Option<Timestamp>,
}

impl Sum {
    fn plus(self, standing: &Standing) -> Self {
        Self {
            pending: self.pending + standing.pending,
            high: self.high + standing.high,
            oldest: [self.oldest, standing.oldest].into_iter().flatten().min(),
        }
    }
}

/// Compares the raw name with the configured one.
fn is_named(queue: &Queue, name: &str) -> bool {
    match queue {
        Queue::Agent(of) | Queue::Tool(of) => of.as_raw() == name,
        Queue::Rest => false,
    }
}

fn sources<'a>(rule: &'a NotifyRule, board: &'a Board) -> impl Iterator<Item = &'a SourceBoard> {
    board.sources.iter().filter(|source| rule.source.as_ref().is_none_or(|name| *name == source.name))
}

/// Returns the figures of a source that the rule covers. An agent's queue and a tool's queue may share the name.
fn standings<'a>(rule: &'a NotifyRule, source: &'a SourceBoard) -> impl Iterator<Item = &'a Standing> {
    let whole = rule.queue.is_none().then_some(&source.standing);
    let queues = rule.queue.iter().flat_map(|name| {
        source.queues.iter().filter(move |line| is_named(&line.queue, name)).map(|line| &line.standing)
    });
    whole.into_iter().chain(queues)
}

pub(super) fn sum(rule: &NotifyRule, board: &Board) -> Sum {
    let all = sources(rule, board).flat_map(|source| standings(rule, source));
    all.fold(Sum::default(), Sum::plus)
}

/// Returns the current levels. Conditions counted in minutes, and the first action, have level 1, because they do not
/// grow.
pub(super) fn of(
    rule: &NotifyRule,
    board: &Board,
    heard: &BTreeMap<SourceName, Timestamp>,
    targets: &Targets,
) -> Levels {
    let mut levels = Levels::new();
    for on in &rule.on {
        match on {
            NotifyOn::First => {
                if sum(rule, board).pending > 0 {
                    levels.insert((*on, rule.source.clone()), 1);
                }
            }
            NotifyOn::Alert(kind) => {
                for (source, count) in counts(rule, *kind, board, targets) {
                    let is_known = heard.contains_key(&source) || *kind == AlertKind::Down;
                    if is_known && count >= rule.at_least {
                        let level = if is_in_minutes(*kind) { 1 } else { count };
                        levels.insert((*on, Some(source)), level);
                    }
                }
            }
        }
    }
    levels
}

/// Returns the levels found at the first look at a source, which are not news. That a source is down is reported
/// anyway.
pub(super) fn before(rule: &NotifyRule, board: &Board, fresh: &BTreeSet<SourceName>) -> Levels {
    let mut levels = Levels::new();
    for source in sources(rule, board).filter(|source| fresh.contains(&source.name)) {
        let was_empty = standings(rule, source).all(|standing| standing.pending == 0);
        for on in &rule.on {
            match on {
                NotifyOn::First if was_empty => {}
                NotifyOn::First => drop(levels.insert((*on, rule.source.clone()), 1)),
                NotifyOn::Alert(AlertKind::Down) => {}
                NotifyOn::Alert(_) => drop(levels.insert((*on, Some(source.name.clone())), u64::MAX)),
            }
        }
    }
    levels
}

pub(super) fn count(rule: &NotifyRule, (on, source): &Topic, board: &Board, targets: &Targets) -> u64 {
    match on {
        NotifyOn::First => sum(rule, board).pending,
        NotifyOn::Alert(kind) => counts(rule, *kind, board, targets)
            .find(|(name, _)| Some(name) == source.as_ref())
            .map_or(0, |it| it.1),
    }
}

fn is_in_minutes(kind: AlertKind) -> bool {
    matches!(kind, AlertKind::Down | AlertKind::Growing)
}

/// Returns the count of each source that has one: actions, missions, or minutes.
fn counts<'a>(
    rule: &'a NotifyRule,
    kind: AlertKind,
    board: &'a Board,
    targets: &'a Targets,
) -> impl Iterator<Item = (SourceName, u64)> + 'a {
    sources(rule, board).filter_map(move |source| {
        let count = match &rule.queue {
            None => alert(board, &source.name, kind),
            Some(_) => in_queue(rule, source, kind, targets),
        };
        count.map(|count| (source.name.clone(), count))
    })
}

fn alert(board: &Board, source: &SourceName, kind: AlertKind) -> Option<u64> {
    let alerts = board.alerts.iter().filter(|alert| alert.kind == kind && alert.source == *source);
    alerts.map(|alert| alert.count).reduce(|a, b| if is_in_minutes(kind) { a.max(b) } else { a + b })
}

/// Derives a queue's count from its figures, because alerts exist only for sources.
fn in_queue(rule: &NotifyRule, source: &SourceBoard, kind: AlertKind, targets: &Targets) -> Option<u64> {
    let all = || standings(rule, source);
    let count: u64 = match kind {
        AlertKind::HighRisk => all().map(|standing| standing.high).sum(),
        AlertKind::OverTarget => all().map(|standing| standing.over_target).sum(),
        AlertKind::Unknown => all().map(|standing| standing.unknown).sum(),
        AlertKind::Growing => {
            let limit = targets.growing.as_secs() / 60;
            all().map(|standing| u64::from(standing.growing_for)).filter(|minutes| *minutes > limit).max()?
        }
        // The configuration refuses these.
        AlertKind::Down
        | AlertKind::RanOther
        | AlertKind::Failed
        | AlertKind::Expiring
        | AlertKind::Lapsing
        | AlertKind::Blocked => 0,
    };
    (count > 0).then_some(count)
}
