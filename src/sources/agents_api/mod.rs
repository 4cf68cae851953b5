//! WordPress with Automattic's agents-api, and a host beside it that keeps what is pending and runs what is accepted, such as Data
//! Machine.
//!
//! Four abilities over REST, one decision a request, and what is approved runs inside of that request: its answer is the only
//! notice of a run that failed, because the site then knows the action no more. So what an answer told is kept here, and told
//! again by [`Source::get`] and [`Source::ended`].

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::{OpenError, Outcomes, Patience, Source, SourceError, Synced, answer};
use crate::config::{AgentsApi as Settings, SourceConfig, SourceKind};
use crate::contract::action::Unreadable;
use crate::contract::fields::Fields;
use crate::domain::{
    ActionId, Capabilities, Check, ContextEntry, Note, On, PendingAction, ReasonRule, Revision, Row,
    SourceName, SubmissionBatch, Untrusted,
};

mod context;
mod ended_actions;
mod health_check;
mod read;
mod site;
mod submit;
#[cfg(test)]
pub(in crate::sources) mod tests;
mod wire;

use ended_actions::EndedActions;
use site::Site;

/// Longest wait for a read.
const READ_LIMIT: Duration = Duration::from_secs(30);
/// Longest wait for a decision: what is approved runs before the answer comes.
const RESOLVE_LIMIT: Duration = Duration::from_mins(2);
/// Every look starts a PHP process or two.
const LEAST_POLL: Duration = Duration::from_secs(5);

const RESUMES_NOT: Note = Note { on: On::Approve, words: "approve does not resume the run" };
const RUNS: Note = Note { on: On::Approve, words: "it runs at once, and its answer is waited for" };
const REASON: Note = Note { on: On::Reject, words: "a reason may not be kept there; it is kept here" };
const REFUSED: Note = Note {
    on: On::Any,
    words: "the site refused a decision on it: it lists more than this user may decide, or nothing there runs this kind",
};
/// Other hosts have rules of their own, and a site can change this one.
const NOT_OURS: Note = Note {
    on: On::Any,
    words: "another user created it: on Data Machine only its creator can decide it (Context names the creator)",
};
const WHO: Note = Note {
    on: On::Any,
    words: "the site does not say who this user is, and takes no decision without it (see placet doctor)",
};
const NOTES: [Note; 3] = [RESUMES_NOT, RUNS, REASON];
const NOTES_REFUSED: [Note; 4] = [REFUSED, RESUMES_NOT, RUNS, REASON];
const NOTES_NOT_OURS: [Note; 4] = [NOT_OURS, RESUMES_NOT, RUNS, REASON];
const NOTES_WHO: [Note; 1] = [WHO];

#[derive(Debug)]
struct AgentsApi {
    name: SourceName,
    site: Site,
    settings: Settings,
    /// `user:ID`, as the site itself says.
    resolver: Mutex<Option<Untrusted>>,
    known: EndedActions,
}

/// Opens the source; see [`super::open`].
pub(super) fn open(config: &SourceConfig, patience: Patience) -> Result<Arc<dyn Source>, OpenError> {
    let settings = match &config.kind {
        SourceKind::AgentsApi(settings) => settings.clone(),
        _ => Settings::default(),
    };
    let config = &SourceConfig { url: site::address(&config.url).to_owned(), ..config.clone() };
    Ok(Arc::new(AgentsApi {
        name: config.name.clone(),
        site: Site::new(super::http(config, patience)?),
        settings,
        resolver: Mutex::default(),
        known: EndedActions::default(),
    }))
}

#[async_trait]
impl Source for AgentsApi {
    fn name(&self) -> &SourceName {
        &self.name
    }

    fn subject(&self) -> Option<Untrusted> {
        self.resolver.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn capabilities(&self, row: &Row) -> Capabilities {
        if row.unreadable.is_some_and(|stand_in| !stand_in.has_id) {
            return Capabilities::READ_ONLY;
        }
        if self.subject().is_none() {
            return Capabilities { notes: &NOTES_WHO, ..Capabilities::READ_ONLY };
        }
        let notes: &[Note] = if self.known.was_refused(&row.id) {
            &NOTES_REFUSED
        } else if self.known.is_foreign(&row.id) {
            &NOTES_NOT_OURS
        } else {
            &NOTES
        };
        Capabilities { reason: ReasonRule::Optional, notes, ..Capabilities::PLAIN }
    }

    async fn context(&self, id: &ActionId) -> Result<Vec<ContextEntry>, SourceError> {
        let found = self.one(id).await?;
        Ok(found.and_then(Result::ok).map(|action| context::passages(&action)).unwrap_or_default())
    }

    async fn check(&self) -> Vec<Check> {
        self.look_over().await
    }

    fn least_poll(&self) -> Duration {
        LEAST_POLL
    }

    async fn sync(&self, _: Option<Revision>) -> Result<Synced, SourceError> {
        self.learn_resolver().await;
        self.list().await
    }

    async fn get(&self, ids: &[ActionId]) -> Result<Vec<Result<PendingAction, Unreadable>>, SourceError> {
        // Whose decision it was can only be told by who knows who we are.
        self.learn_resolver().await;
        self.read(ids).await
    }

    async fn submit(&self, batch: &SubmissionBatch, _: &str) -> Result<Outcomes, SourceError> {
        self.send(batch).await
    }

    fn at_once(&self) -> usize {
        1
    }

    fn runs_for(&self) -> Duration {
        RESOLVE_LIMIT
    }

    fn ended(&self, id: &ActionId) -> Option<PendingAction> {
        self.known.ended(id)
    }
}

impl AgentsApi {
    /// Who decides is the user whose password this is; the site is asked, because it believes whatever it is told.
    async fn ask_resolver(&self) -> Result<Untrusted, SourceError> {
        if let Some(known) = self.subject() {
            return Ok(known);
        }
        let pairs = [("context", "edit"), ("_fields", "id,slug,name")];
        let text = site::success(self.site.read("/wp/v2/users/me", &pairs, READ_LIMIT).await?)?;
        let id = Fields::of(&text).and_then(|fields| fields.number("id")).filter(|id| *id > 0);
        let id = id.ok_or_else(|| answer::nonsense("it does not say who this user is"))?;
        let resolver = Untrusted::from(format!("user:{id}"));
        *self.resolver.lock().unwrap_or_else(PoisonError::into_inner) = Some(resolver.clone());
        Ok(resolver)
    }

    /// No condition for reading.
    async fn learn_resolver(&self) {
        if let Err(error) = self.ask_resolver().await {
            tracing::debug!(%error, "a site does not say who this reviewer is");
        }
    }
}
