//! `AgentsApi`, the source for one site, and what its user may do there.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::ended_actions::EndedActions;
use super::site::{self, Site};
use crate::config::AgentsApi as Settings;
use crate::contract::fields::Fields;
use crate::domain::{Capabilities, Note, Notes, On, PendingAction, ReasonRule, Row, SourceName, Untrusted};
use crate::sources::source::permit;
use crate::sources::{Full, SourceError, answer};

pub(super) const READ_LIMIT: Duration = Duration::from_secs(30);
/// Time limit of a decision; an approved call runs before the answer.
pub(super) const RESOLVE_LIMIT: Duration = Duration::from_mins(2);
const RESUMES_NOT: Note =
    Note { on: On::Approve, words: "whether the run goes on after it is up to the site" };
const RUNS: Note = Note { on: On::Approve, words: "it runs at once, and its answer is waited for" };
const REASON: Note = Note { on: On::Reject, words: "a reason may not be kept there; it is kept here" };
const REFUSED: Note = Note {
    on: On::Any,
    words: "the site refused a decision on it: it lists more than this user may decide, or nothing there runs this kind",
};
/// A rule of Data Machine. Other hosts have their own, and a site can change this one.
pub(super) const NOT_OURS: Note = Note {
    on: On::Any,
    words: "another user created it: on Data Machine only its creator can decide it (Context names the creator)",
};
const WHO: Note = Note {
    on: On::Any,
    words: "the site does not say who this user is, and takes no decision without it (see placet doctor)",
};
const NOTES: [Note; 5] = [REFUSED, NOT_OURS, RESUMES_NOT, RUNS, REASON];

#[derive(Debug)]
pub(super) struct AgentsApi {
    pub(super) name: SourceName,
    pub(super) site: Site,
    pub(super) settings: Settings,
    /// `user:ID`, as reported by the site.
    pub(super) resolver: Mutex<Option<Untrusted>>,
    pub(super) known: EndedActions,
}

impl AgentsApi {
    pub(super) fn subject(&self) -> Option<Untrusted> {
        self.resolver.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn permitted(&self, mut full: Full) -> Full {
        match &mut full {
            Ok(action) => {
                let foreign = self.is_foreign(action);
                permit([&mut action.row], [], |row| self.can(row, foreign));
            }
            Err(bad) => permit([], [bad], |row| self.can(row, false)),
        }
        full
    }

    fn can(&self, row: &Row, foreign: bool) -> Capabilities {
        if row.unreadable.as_ref().is_some_and(|stand_in| !stand_in.has_id) {
            return Capabilities::READ_ONLY;
        }
        if self.subject().is_none() {
            return Capabilities { notes: Notes::of(&[WHO]), ..Capabilities::READ_ONLY };
        }
        let refused = self.known.was_refused(&row.id);
        let notes = Notes::that_hold(&NOTES, [refused, !refused && foreign, true, true, true]);
        Capabilities { reason: ReasonRule::Optional, titled: true, notes, ..Capabilities::PLAIN }
    }

    /// Returns whether another user created the action; false if either name is unknown.
    fn is_foreign(&self, action: &PendingAction) -> bool {
        let creator = action.requested_by.as_ref().map_or("", Untrusted::as_raw);
        creator.starts_with("user:") && self.subject().is_some_and(|us| us.as_raw() != creator)
    }

    /// Returns the user whose password this is. The site must be asked, because it accepts any resolver in a decision.
    pub(super) async fn ask_resolver(&self) -> Result<Untrusted, SourceError> {
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

    /// Ignores failures, because reading works without a resolver.
    pub(super) async fn learn_resolver(&self) {
        if let Err(error) = self.ask_resolver().await {
            tracing::debug!(%error, "a site does not say who this reviewer is");
        }
    }
}
