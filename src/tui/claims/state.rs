//! The claims that the sources reported.

use std::collections::{HashMap, HashSet};

use crate::domain::{ActionKey, Claim, SourceName, Timestamp, Untrusted, subject};
use crate::inbox::filter::Claimant;
use crate::text::Shown;
use crate::tui::people::state::PeopleState;
use crate::tui::queue::list::SourceState;

use super::words;

pub(super) const ROOM: usize = 40;

#[derive(Clone, Debug, Default)]
pub(crate) struct ClaimsState {
    pub(super) of: HashMap<ActionKey, Claim>,
    pub(super) kept_at: HashSet<SourceName>,
    /// The action open in the inbox, and since when.
    pub(super) open: Option<(ActionKey, Timestamp)>,
    /// The action that was claimed because it stayed open, without a key press.
    pub(super) by_itself: Option<ActionKey>,
    /// When this client last sent its claim of an action.
    pub(super) said: HashMap<ActionKey, Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder<'a> {
    Me,
    Other(&'a Untrusted),
}

impl ClaimsState {
    /// Replaces the claims of a source. Returns true if they changed.
    pub(crate) fn told(&mut self, source: &SourceName, claims: Option<Vec<Claim>>) -> bool {
        let Some(claims) = claims else { return false };
        self.kept_at.insert(source.clone());
        let key = |claim: &Claim| ActionKey { source: source.clone(), id: claim.id.clone() };
        let now: HashMap<ActionKey, Claim> = claims.into_iter().map(|claim| (key(&claim), claim)).collect();
        let before = self.of.iter().filter(|(key, _)| key.source == *source);
        if before.clone().count() == now.len()
            && before.clone().all(|(key, claim)| now.get(key) == Some(claim))
        {
            return false;
        }
        self.of.retain(|key, _| key.source != *source);
        self.of.extend(now);
        true
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    pub(crate) fn holder(&self, key: &ActionKey, sources: &[SourceState]) -> Option<(Holder<'_>, Timestamp)> {
        let claim = self.of.get(key)?;
        let source = sources.iter().find(|source| source.name == key.source);
        let me = source.and_then(|source| source.subject.as_ref());
        let is_mine = me.is_some_and(|me| subject::is_same(me, &claim.by));
        let holder = if is_mine { Holder::Me } else { Holder::Other(&claim.by) };
        Some((holder, claim.since))
    }

    pub(crate) fn claimant(&self, key: &ActionKey, sources: &[SourceState]) -> Option<Claimant<'_>> {
        let by = &self.of.get(key)?.by;
        Some(match self.holder(key, sources)?.0 {
            Holder::Me => Claimant::Me(by),
            Holder::Other(_) => Claimant::Other(by),
        })
    }

    /// Returns the claimant's name in `room` columns and the time since the claim: `Kim Example` and `2 min`.
    pub(crate) fn named(
        &self,
        key: &ActionKey,
        (sources, people): (&[SourceState], &PeopleState),
        now: Timestamp,
        room: usize,
    ) -> Option<(Shown, String)> {
        let (holder, at) = self.holder(key, sources)?;
        let who = match holder {
            Holder::Me => Shown::ours(words::YOU),
            Holder::Other(subject) => people.called(&key.source, subject, room),
        };
        Some((who, words::since(now.since(at))))
    }

    /// Returns the preview's note about a claim by somebody else.
    pub(crate) fn note(
        &self,
        key: &ActionKey,
        (sources, people): (&[SourceState], &PeopleState),
        now: Timestamp,
    ) -> Option<String> {
        let is_theirs = matches!(self.holder(key, sources), Some((Holder::Other(_), _)));
        let (who, since) = self.named(key, (sources, people), now, ROOM).filter(|_| is_theirs)?;
        Some(words::note(&who.plain(), &since))
    }
}
