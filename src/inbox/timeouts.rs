//! No source is waited for without an end: whatever its adapter does, each answer has a limit here, so that what hangs is an
//! error of that source and of no other.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::{BoxStream, FuturesUnordered};
use tokio::time::Instant;

use crate::contract::action::Unreadable;
use crate::domain::{
    ActionId, Capabilities, Check, ContextEntry, Decision, Flows, FlowsAsked, HistoryEvent, KnownTool,
    ListQuery, Outcome, Outstanding, PendingAction, Records, Resolution, Resolved, Revision, Row, SourceName,
    SubmissionBatch, Untrusted,
};
use crate::sources::{Listed, Signal, Source, SourceError, Synced};

/// How long an answer may take. Adapters have shorter limits for each request; these are for what no request explains.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// A list, of any length.
    list: Duration,
    /// What somebody waits for at one action.
    look: Duration,
    /// Reading or sending, and more for each action of it.
    many: Duration,
    each: Duration,
    /// Looking a source over.
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

/// A source, and how long it is waited for.
#[derive(Debug)]
pub(super) struct WithTimeouts {
    source: Arc<dyn Source>,
    limits: Limits,
}

impl WithTimeouts {
    pub(super) fn over(source: Arc<dyn Source>, limits: Limits) -> Arc<dyn Source> {
        Arc::new(Self { source, limits })
    }
}

/// All that is answered in time, in the order of the questions: once one answer is `good`, the others have so long. `None` was
/// silent.
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

/// What was asked may have been done all the same: nobody knows.
async fn within<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, SourceError>> + Send,
) -> Result<T, SourceError> {
    tokio::time::timeout(limit, answer).await.unwrap_or_else(|_| {
        let why = format!("no answer within {} s", limit.as_secs());
        Err(SourceError::Unreachable { why: why.into() })
    })
}

#[async_trait]
impl Source for WithTimeouts {
    fn name(&self) -> &SourceName {
        self.source.name()
    }

    fn subject(&self) -> Option<Untrusted> {
        self.source.subject()
    }

    fn capabilities(&self, row: &Row) -> Capabilities {
        self.source.capabilities(row)
    }

    fn records(&self) -> Records {
        self.source.records()
    }

    async fn listed(&self, query: &ListQuery) -> Result<Listed, SourceError> {
        within(self.limits.look, self.source.listed(query)).await
    }

    async fn history(&self, id: &ActionId) -> Result<Vec<HistoryEvent>, SourceError> {
        within(self.limits.look, self.source.history(id)).await
    }

    async fn flows(&self, asked: &FlowsAsked) -> Result<Flows, SourceError> {
        within(self.limits.look, self.source.flows(asked)).await
    }

    async fn outstanding(&self) -> Result<Outstanding, SourceError> {
        within(self.limits.look, self.source.outstanding()).await
    }

    async fn context(&self, id: &ActionId) -> Result<Vec<ContextEntry>, SourceError> {
        within(self.limits.look, self.source.context(id)).await
    }

    async fn check(&self) -> Vec<Check> {
        let limit = self.limits.check;
        tokio::time::timeout(limit, self.source.check()).await.unwrap_or_else(|_| {
            let found = format!("no answer within {} s", limit.as_secs());
            vec![Check::bad(
                "answer",
                found,
                "look at the backend, at its log, and at the network in between",
            )]
        })
    }

    fn least_poll(&self) -> Duration {
        self.source.least_poll()
    }

    async fn sync(&self, since: Option<Revision>) -> Result<Synced, SourceError> {
        within(self.limits.list, self.source.sync(since)).await
    }

    async fn get(&self, ids: &[ActionId]) -> Result<Vec<Result<PendingAction, Unreadable>>, SourceError> {
        within(self.limits.of(ids.len()), self.source.get(ids)).await
    }

    async fn beginning(&self, prefix: &str) -> Result<Vec<ActionId>, SourceError> {
        within(self.limits.look, self.source.beginning(prefix)).await
    }

    async fn submit(
        &self,
        batch: &SubmissionBatch,
        key: &str,
    ) -> Result<Vec<(ActionId, Outcome)>, SourceError> {
        let actions = batch.items().len();
        let runs = self.source.runs_for() * u32::try_from(actions).unwrap_or(u32::MAX);
        within(self.limits.of(actions) + runs, self.source.submit(batch, key)).await
    }

    fn ours(&self, action: &PendingAction, decision: &Decision, key: &str) -> Option<bool> {
        self.source.ours(action, decision, key)
    }

    fn at_once(&self) -> usize {
        self.source.at_once()
    }

    fn one_by_one(&self) -> bool {
        self.source.one_by_one()
    }

    fn runs_for(&self) -> Duration {
        self.source.runs_for()
    }

    fn ended(&self, id: &ActionId) -> Option<PendingAction> {
        self.source.ended(id)
    }

    async fn settle(
        &self,
        id: &ActionId,
        finding: Resolution,
        reason: Option<String>,
    ) -> Result<Resolved, SourceError> {
        within(self.limits.many, self.source.settle(id, finding, reason)).await
    }

    async fn tools(&self) -> Result<Vec<KnownTool>, SourceError> {
        within(self.limits.look, self.source.tools()).await
    }

    fn watch(&self) -> Option<BoxStream<'static, Signal>> {
        self.source.watch()
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

    /// What is not passed on is answered by the trait's default, and nobody would notice.
    #[test]
    fn every_question_is_passed_on() {
        let questions = |text: &'static str| {
            let lines = text.lines().map(str::trim);
            let of =
                |line: &'static str| line.trim_start_matches("async ").strip_prefix("fn ")?.split('(').next();
            lines.filter_map(of).collect::<Vec<_>>()
        };
        let source = include_str!("../sources/mod.rs");
        let (_, asked) = source.split_once("pub trait Source:").unwrap();
        let (asked, _) = asked.split_once("\n}\n").unwrap();
        let (_, passed_on) = include_str!("timeouts.rs").split_once("impl Source for WithTimeouts").unwrap();

        let asked = questions(asked);
        assert!(asked.len() > 10, "{asked:?}");
        for question in asked {
            assert!(questions(passed_on).contains(&question), "{question} is not passed on");
        }
    }
}
