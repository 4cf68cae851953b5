//! The inbox's filter language, without a screen.

use std::collections::HashMap;

use crate::cli::args::ListArgs;
use crate::cli::exit::Usage;
use crate::config::NamedFilter;
use crate::domain::{
    ActionKey, Claim, DecisionKind, Entry, SourceName, Status, Timestamp, Untrusted, subject,
};
use crate::inbox::filter::{Claimant, Filter, Finder, Is, Subject};
use crate::text::People;

use super::columns::Known;

pub(super) struct Wanted {
    filter: Filter,
    finder: Finder,
    now: Timestamp,
    claims: HashMap<ActionKey, Claimed>,
    /// Our subjects at sources that named them.
    subjects: HashMap<SourceName, Untrusted>,
    people: HashMap<SourceName, People>,
}

pub(super) struct Claimed {
    pub(super) claim: Claim,
    is_mine: bool,
}

impl Wanted {
    /// Combines the saved filter with the written one. Mistakes, unknown names, and words that only a screen can answer
    /// are usage errors.
    pub(super) fn of(
        args: &ListArgs,
        saved: &[NamedFilter],
        sources: &[SourceName],
        now: Timestamp,
    ) -> Result<Self, Usage> {
        let mut text = args.filter.join(" ");
        if let Some(name) = &args.saved {
            let found =
                saved.iter().find(|filter| filter.name == *name).ok_or_else(|| unknown(name, saved))?;
            text = format!("{} {text}", found.text);
        }
        let wrong = |error| Usage(format!("the filter: {error}"));
        let filter = Filter::parse(&text).map_err(wrong)?;
        filter.check_sources(sources).map_err(wrong)?;
        if let Some(word) = filter.only_on_screen() {
            return Err(Usage(format!(
                "the filter: {word} is something that only a screen knows; without one there are is:high, is:unknown and \
                 is:settled"
            )));
        }
        Ok(Self {
            filter,
            finder: Finder::default(),
            now,
            claims: HashMap::new(),
            subjects: HashMap::new(),
            people: HashMap::new(),
        })
    }

    pub(super) fn holds(&mut self, entry: &Entry) -> bool {
        let claimed = self.claims.get(&entry.key);
        let (me, people) = (self.subjects.get(&entry.key.source), self.people.get(&entry.key.source));
        let listed = Listed { entry, now: self.now, claimed, me, people };
        self.filter.is_empty() || self.finder.holds(&self.filter, &listed, self.now)
    }

    /// `me` is our subject at the source.
    pub(super) fn learn(&mut self, source: &SourceName, me: Option<&Untrusted>, claims: Vec<Claim>) {
        self.subjects.extend(me.map(|me| (source.clone(), me.clone())));
        for claim in claims {
            let key = ActionKey { source: source.clone(), id: claim.id.clone() };
            let is_mine = me.is_some_and(|me| subject::is_same(me, &claim.by));
            self.claims.insert(key, Claimed { claim, is_mine });
        }
    }

    pub(super) fn learn_people(&mut self, source: &SourceName, people: Option<People>) {
        self.people.extend(people.map(|people| (source.clone(), people)));
    }

    /// Returns the claim on an action, and the names of its source's people.
    pub(super) fn known(&self, key: &ActionKey) -> Known<'_> {
        (self.claims.get(key).map(|claimed| &claimed.claim), self.people.get(&key.source))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.filter.is_empty()
    }

    pub(super) const fn now(&self) -> Timestamp {
        self.now
    }
}

fn unknown(name: &str, saved: &[NamedFilter]) -> Usage {
    let names: Vec<_> = saved.iter().map(|filter| format!("{:?}", filter.name)).collect();
    if names.is_empty() {
        return Usage(format!(
            "there is no saved filter {name:?}; + in the inbox or [[filter]] in the configuration makes one"
        ));
    }
    Usage(format!("there is no saved filter {name:?}; there are {}", names.join(", ")))
}

/// An action that no screen has shown.
struct Listed<'a> {
    entry: &'a Entry,
    now: Timestamp,
    claimed: Option<&'a Claimed>,
    me: Option<&'a Untrusted>,
    people: Option<&'a People>,
}

impl Subject for Listed<'_> {
    fn entry(&self) -> &Entry {
        self.entry
    }

    fn staged(&self) -> Option<DecisionKind> {
        None
    }

    fn claimed(&self) -> Option<Claimant<'_>> {
        let Claimed { claim, is_mine } = self.claimed?;
        let by = &claim.by;
        Some(if *is_mine { Claimant::Me(by) } else { Claimant::Other(by) })
    }

    fn me(&self) -> Option<&Untrusted> {
        self.me
    }

    fn name(&self, subject: &Untrusted) -> Option<&Untrusted> {
        self.people?.name(subject)
    }

    fn is(&self, state: Is) -> bool {
        let row = &self.entry.row;
        match state {
            Is::High => row.risk.is_high(),
            Is::Unknown => row.status == Status::Unknown,
            Is::Settled => {
                row.has_expired(self.now) || !(row.status.is_pending() || row.status == Status::Unknown)
            }
            Is::Unopened
            | Is::Opened
            | Is::Staged
            | Is::Undecided
            | Is::Marked
            | Is::Flagged
            | Is::New
            | Is::Snoozed
            | Is::Stale => false,
        }
    }
}
