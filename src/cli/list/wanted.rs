//! Arguments of `placet list`, and the filter that they make.

use std::collections::HashMap;

use clap::Args as ClapArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::cli::args::{Completed, one_of};
use crate::cli::exit::Usage;
use crate::config::{NamedFilter, SortBy};
use crate::domain::{
    ActionKey, Claim, DecisionKind, Entry, SourceName, Status, Timestamp, Untrusted, subject,
};
use crate::inbox::filter::{Claimant, Filter, Finder, Is, Subject};
use crate::text::People;

use super::columns::{Known, columns};

/// List actions: pending, unresolved or ended
#[derive(Debug, ClapArgs)]
pub struct ListArgs {
    /// The inbox's own filter, all of which must hold: 'risk:>=high age:>1h tool:refund*'
    #[arg(value_name = "FILTER")]
    pub filter: Vec<String>,
    /// A saved filter, by its name; with FILTER, both must hold
    #[arg(long = "filter", value_name = "NAME", add = Completed::Filters)]
    pub saved: Option<String>,
    /// Which actions, by status; separate several with commas
    #[arg(long, value_parser = statuses(), value_delimiter = ',', default_value = "pending", value_name = "STATUS")]
    pub status: Vec<Status>,
    /// Sort order [default: the sources' order]
    #[arg(long, value_parser = orders(), value_name = "BY")]
    pub sort: Option<SortBy>,
    /// At most this many
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Only this source. Without it, a source still silent 5 s after another answered is named and left out
    #[arg(long, value_name = "NAME", add = Completed::Sources)]
    pub source: Option<String>,
    /// Which columns, in which order, for the table and CSV
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = PossibleValuesParser::new(columns().map(|it| it.name)))]
    pub columns: Vec<String>,
    /// CSV for spreadsheets (with a header, lines end with LF); text as shown, never a formula
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Counts in one line, for tmux and status bars; waits at most 3 s for a source
    #[arg(long, conflicts_with_all = ["json", "csv", "columns", "sort", "limit", "status"])]
    pub line: bool,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

fn statuses() -> impl TypedValueParser<Value = Status> {
    one_of([
        ("pending", Status::Pending, ""),
        ("unknown", Status::Unknown, "It ran, or was decided from here, and its outcome is unknown"),
        ("approved", Status::Approved, "It was approved and has not ended"),
        ("executed", Status::Executed, ""),
        ("failed", Status::Failed, ""),
        ("rejected", Status::Rejected, ""),
        ("expired", Status::Expired, ""),
        ("withdrawn", Status::Withdrawn, ""),
        ("superseded", Status::Superseded, ""),
    ])
}

fn orders() -> impl TypedValueParser<Value = SortBy> {
    one_of([
        ("age", SortBy::Age, "The oldest"),
        ("risk", SortBy::Risk, "The most harmful"),
        ("expiry", SortBy::Expiry, "What expires first"),
        ("tool", SortBy::Tool, "By the tool's name"),
        ("source", SortBy::Source, "By the source's name"),
    ])
}

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
