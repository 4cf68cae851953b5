//! Questions about an action beyond its content, each with a tab.

use super::core::Inbox;
use super::decided_before::DecidedBefore;
use super::decision_history::History;
use super::problem::Problem;
use super::timeouts::Wait;
use crate::domain::{ActionKey, ContextEntry, Row};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    History,
    Context,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    History(History),
    /// With recent decisions on its tool, if the action is pending and of low or medium risk.
    Context(Vec<ContextEntry>, Option<DecidedBefore>),
}

impl Inbox {
    /// `listed` holds the action and the known rows that share its batch, mission or session.
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

    /// Returns the source's facts around an action; empty if it has none. `listed` as for [`ask`](Self::ask).
    pub async fn context(&self, key: &ActionKey, listed: &[Row]) -> Result<Vec<ContextEntry>, Problem> {
        let source = self.source(&key.source)?;
        let told = source.ask_able(Wait::Look, |able| Some(able.context?.context(&key.id, listed))).await;
        told.map(Option::unwrap_or_default).map_err(|error| Problem::of(&key.source, &error))
    }
}
