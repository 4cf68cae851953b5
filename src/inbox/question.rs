//! What can be asked of one action beside its content: each question has an answer of its own, and a tab.

use super::core::Inbox;
use super::decided_before::DecidedBefore;
use super::decision_history::History;
use super::problem::Problem;
use super::timeouts::Wait;
use crate::domain::{ActionKey, ContextEntry, Row};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// What happened to it?
    History,
    /// What does its source know around it?
    Context,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    History(History),
    /// The second: how its tool was decided lately, of actions that are pending and of low or medium risk.
    Context(Vec<ContextEntry>, Option<DecidedBefore>),
}

impl Inbox {
    /// `listed` is the action and what it may be one of, as far as they are known.
    pub async fn ask(&self, key: &ActionKey, question: Question, listed: &[Row]) -> Result<Answer, Problem> {
        match question {
            Question::History => self.history(key).await.map(Answer::History),
            Question::Context => {
                let row = listed.iter().find(|row| row.id == key.id);
                let row = row.filter(|row| row.status.is_pending() && !row.risk.is_high());
                let before = async { self.decided_before(key, &row?.tool).await };
                let (told, before) = tokio::join!(self.context(key, listed), before);
                told.map(|told| Answer::Context(told, before))
            }
        }
    }

    /// What the source knows around an action; empty where it knows no more than the action says. `listed` as above.
    pub async fn context(&self, key: &ActionKey, listed: &[Row]) -> Result<Vec<ContextEntry>, Problem> {
        let source = self.source(&key.source)?;
        let told = source.ask_able(Wait::Look, |able| Some(able.context?.context(&key.id, listed))).await;
        told.map(Option::unwrap_or_default).map_err(|error| Problem::of(&key.source, &error))
    }
}
