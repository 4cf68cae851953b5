//! Limits every wait for a source. Sources are reached through this file only, and each request names its limit.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use crate::domain::{ActionId, Check, Records};
use crate::sources::{Abilities, Full, Source, SourceError, SourceInfo};

/// Limits for answers. Adapters have shorter limits for single requests; these cover everything else.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    list: Duration,
    /// A read that a person waits for.
    look: Duration,
    /// Reading or sending actions, plus `each` per action.
    many: Duration,
    each: Duration,
    check: Duration,
}

impl Limits {
    pub(super) const USUAL: Self = Self {
        list: Duration::from_mins(2),
        look: Duration::from_secs(15),
        many: Duration::from_mins(1),
        each: Duration::from_secs(1),
        check: Duration::from_secs(30),
    };

    #[cfg(test)]
    pub(super) const fn all(limit: Duration) -> Self {
        Self { list: limit, look: limit, many: limit, each: Duration::ZERO, check: limit }
    }

    fn of(&self, actions: usize) -> Duration {
        self.many + self.each * u32::try_from(actions).unwrap_or(u32::MAX)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    List,
    Look,
    Actions(usize),
    /// Approved calls may run before the answer.
    Decisions(usize),
}

/// A source whose requests have time limits. [`SourceInfo`] needs no requests, so it is directly accessible.
#[derive(Clone, Debug)]
pub(super) struct WithTimeouts {
    source: Arc<dyn Source>,
    limits: Limits,
}

impl Deref for WithTimeouts {
    type Target = dyn SourceInfo;

    fn deref(&self) -> &Self::Target {
        self.source.as_ref()
    }
}

pub(super) type Answer<'a, T> = BoxFuture<'a, Result<T, SourceError>>;

impl WithTimeouts {
    pub(super) const fn over(source: Arc<dyn Source>, limits: Limits) -> Self {
        Self { source, limits }
    }

    #[cfg(test)]
    pub(super) fn holders(&self) -> usize {
        Arc::strong_count(&self.source)
    }

    #[cfg(test)]
    pub(super) fn in_a_hurry(&self, limit: Duration) -> Self {
        Self { source: Arc::clone(&self.source), limits: Limits::all(limit) }
    }

    /// Sends a request. After a timeout, it may still take effect.
    pub(super) async fn ask<'a, T>(
        &'a self,
        wait: Wait,
        question: impl FnOnce(&'a dyn Source) -> Answer<'a, T>,
    ) -> Result<T, SourceError> {
        let limit = match wait {
            Wait::List => self.limits.list,
            Wait::Look => self.limits.look,
            Wait::Actions(actions) => self.limits.of(actions),
            Wait::Decisions(actions) => {
                self.limits.of(actions) + self.runs_for() * u32::try_from(actions).unwrap_or(u32::MAX)
            }
        };
        let answer = question(self.source.as_ref());
        tokio::time::timeout(limit, answer).await.unwrap_or_else(|_| {
            let why = format!("no answer within {} s", limit.as_secs());
            Err(SourceError::Unreachable { why: why.into() })
        })
    }

    /// Uses an optional ability; `None` if the source does not have it.
    pub(super) async fn ask_able<'a, T>(
        &'a self,
        wait: Wait,
        question: impl FnOnce(Abilities<'a>) -> Option<Answer<'a, T>>,
    ) -> Result<Option<T>, SourceError> {
        match question(self.source.abilities()) {
            Some(answer) => self.ask(wait, |_| answer).await.map(Some),
            None => Ok(None),
        }
    }

    pub(super) async fn get(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        self.ask(Wait::Actions(ids.len()), |source| source.get(ids)).await
    }

    pub(super) async fn check(&self) -> Vec<Check> {
        self.source.check(self.limits.check).await
    }

    pub(super) fn has_context(&self) -> bool {
        self.source.abilities().context.is_some()
    }

    pub(super) fn records(&self) -> Records {
        self.source.abilities().records()
    }
}

/// Returns the answers in the order of the questions. Once one answer is `good`, waits `grace` for the others. `None`
/// marks a question without an answer.
pub(crate) async fn in_time<T>(
    questions: impl IntoIterator<Item = impl Future<Output = T>>,
    grace: Duration,
    good: impl Fn(&T) -> bool,
) -> Vec<Option<T>> {
    let ask = |(nth, question)| async move { (nth, question.await) };
    let mut asked: FuturesUnordered<_> = questions.into_iter().enumerate().map(ask).collect();
    let mut answers: Vec<Option<T>> = std::iter::repeat_with(|| None).take(asked.len()).collect();
    let mut until: Option<Instant> = None;
    loop {
        let next = match until {
            Some(until) => tokio::time::timeout_at(until, asked.next()).await.unwrap_or(None),
            None => asked.next().await,
        };
        let Some((nth, answer)) = next else { return answers };
        if until.is_none() && good(&answer) {
            until = Some(Instant::now() + grace);
        }
        if let Some(place) = answers.get_mut(nth) {
            *place = Some(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::in_time;

    #[tokio::test(start_paused = true)]
    async fn who_is_silent_holds_up_no_answer_of_another() {
        let answers = |seconds: [u64; 3]| async move {
            let begun = tokio::time::Instant::now();
            let asked = seconds.map(|after| async move {
                tokio::time::sleep(Duration::from_secs(after)).await;
                after
            });
            let answers = in_time(asked, Duration::from_secs(5), |after| *after > 1).await;
            (answers, begun.elapsed().as_secs())
        };

        assert_eq!(answers([600, 2, 6]).await, (vec![None, Some(2), Some(6)], 7));
        assert_eq!(
            answers([1, 30, 34]).await,
            (vec![Some(1), Some(30), Some(34)], 34),
            "one that is no good"
        );
        assert_eq!(answers([1, 1, 1]).await.1, 1);
    }
}
