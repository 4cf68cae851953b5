//! Groups of the list, orders, and the shapes of near-identical actions. A new order or grouping is applied once it is
//! complete.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Arc;

use crate::config::{GroupBy, SortBy};
use crate::domain::{BatchKey, Entry, SourceName, Timestamp, Untrusted};

use super::slots::{NOWHERE, Slot};
use super::tally::Kinds;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum GroupKey {
    /// Actions with unknown outcomes, of all batches. Always first.
    ToResolve,
    Batch(BatchKey),
    /// `None` for actions without a mission.
    Mission(SourceName, Option<Untrusted>),
    Checkpoint(SourceName, Option<Untrusted>),
    Agent(SourceName, Option<Untrusted>),
    Source(SourceName),
    Shape(Arc<Shape>),
}

#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub key: GroupKey,
    pub slots: Vec<u32>,
    pub folded: bool,
    /// Number of actions that are neither decided nor settled.
    pub open: usize,
    pub batches: usize,
    pub(crate) line: usize,
}

impl GroupBy {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Mission => "mission",
            Self::Checkpoint => "checkpoint",
            Self::Agent => "agent",
            Self::Source => "source",
            Self::Shape => "shape",
        }
    }
}

impl SortBy {
    pub const fn first(self) -> &'static str {
        match self {
            Self::Age => "oldest",
            Self::Risk => "risk",
            Self::Expiry => "expiry",
            Self::Tool => "tool",
            Self::Source => "source",
        }
    }

    /// Compares two actions like [`Sorting`].
    pub(crate) fn compare_slots(self, a: &Slot, b: &Slot) -> Ordering {
        let waits = |slot: &Slot| !slot.is_lost();
        let by = self.compare(&a.entry, &b.entry);
        waits(a).cmp(&waits(b)).then(by).then_with(|| a.entry.key.cmp(&b.entry.key))
    }

    fn key(self, slots: &[Slot], places: &[u64], index: u32) -> Keyed {
        let slot = slots.get(index as usize);
        let kind = slot.map_or(NOWHERE, |slot| slot.kind);
        let place = places.get(kind as usize).copied().unwrap_or_default();
        let expires = slot.and_then(|slot| slot.entry.row.expires_at).filter(|_| self == Self::Expiry);
        Keyed {
            waits: slot.is_some_and(|slot| !slot.is_lost()),
            // Actions without expiry come last.
            place: if self == Self::Expiry { (u64::from(expires.is_none()), expires) } else { (place, None) },
            created: slot.map(|slot| slot.entry.row.created_at).unwrap_or_default(),
        }
    }

    fn places(self, kinds: &Kinds) -> Vec<u64> {
        match self {
            Self::Age | Self::Expiry => vec![0; kinds.all().len()],
            Self::Risk => kinds.all().map(|kind| u64::from(u8::MAX - kind.risk.rank())).collect(),
            Self::Tool => in_order(kinds.all().map(|kind| &kind.tool)),
            Self::Source => in_order(kinds.all().map(|kind| &kind.source)),
        }
    }
}

fn in_order<'a, T: Ord + 'a>(names: impl Iterator<Item = &'a T>) -> Vec<u64> {
    let names: Vec<&T> = names.collect();
    let sorted: BTreeSet<&T> = names.iter().copied().collect();
    let places: BTreeMap<&T, u64> = sorted.into_iter().zip(0..).collect();
    names.iter().filter_map(|name| places.get(name).copied()).collect()
}

/// Sort key of a row, extracted once because rows are large and scattered. Unknown outcomes come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Keyed {
    waits: bool,
    place: (u64, Option<Timestamp>),
    created: Timestamp,
}

/// A sort in progress. The list keeps its order until all rows are processed.
#[derive(Clone, Debug)]
pub(crate) struct Sorting {
    by: SortBy,
    /// State of the list that is sorted; if it changes, sorting restarts.
    stood: (u64, u32),
    from: Vec<u32>,
    places: Vec<u64>,
    /// Keys with row indices; each part is sorted.
    keyed: Vec<(Keyed, u32)>,
}

impl Sorting {
    /// Fast if `from` is nearly in this order.
    pub(crate) fn new(by: SortBy, from: &[u32], kinds: &Kinds, stood: (u64, u32)) -> Self {
        Self { by, stood, from: from.to_vec(), places: by.places(kinds), keyed: Vec::new() }
    }

    pub(crate) fn is_late(&self, rows: usize, stands: (u64, u32)) -> bool {
        self.stood != stands || self.from.len() != rows
    }

    pub(crate) const fn by(&self) -> SortBy {
        self.by
    }

    /// Processes at most `most` rows. Returns the order once complete.
    pub(crate) fn look(mut self, slots: &[Slot], most: usize) -> Result<(SortBy, Vec<u32>), Self> {
        let done = self.keyed.len();
        let rest = self.from.get(done..).unwrap_or_default();
        let keyed = |index: &u32| (self.by.key(slots, &self.places, *index), *index);
        self.keyed.extend(rest.iter().take(most).map(keyed));
        let key = |index: u32| slots.get(index as usize).map(|slot| &slot.entry.key);
        let compare = |(a, one): &(Keyed, u32), (b, other): &(Keyed, u32)| {
            a.cmp(b).then_with(|| key(*one).cmp(&key(*other)))
        };
        self.keyed.get_mut(done..).unwrap_or_default().sort_by(compare);
        if self.keyed.len() < self.from.len() {
            return Err(self);
        }
        self.keyed.sort_by(compare);
        Ok((self.by, self.keyed.into_iter().map(|(_, index)| index).collect()))
    }
}

impl GroupKey {
    /// Returns the batch that one key decides, if the group is one.
    pub(crate) fn batch(&self) -> Option<&BatchKey> {
        match self {
            Self::Batch(batch) => Some(batch),
            _ => None,
        }
    }

    pub(crate) fn of(slot: &Slot, by: GroupBy) -> Self {
        if slot.is_lost() {
            return Self::ToResolve;
        }
        let (entry, row) = (&slot.entry, &slot.entry.row);
        let source = || entry.key.source.clone();
        match by {
            GroupBy::Batch => Self::Batch(entry.batch()),
            GroupBy::Mission => Self::Mission(source(), row.mission.clone()),
            GroupBy::Checkpoint => Self::Checkpoint(source(), row.checkpoint.clone()),
            GroupBy::Agent => Self::Agent(source(), row.agent.clone()),
            GroupBy::Source => Self::Source(source()),
            GroupBy::Shape => Self::Shape(Arc::new(Shape::of(entry))),
        }
    }

    /// Returns true if [`Self::of`] would return this key, without building it.
    fn is_of(&self, slot: &Slot, by: GroupBy) -> bool {
        let (key, row) = (&slot.entry.key, &slot.entry.row);
        if slot.is_lost() {
            return *self == Self::ToResolve;
        }
        match (self, by) {
            (Self::Batch(BatchKey::Batch(source, batch)), GroupBy::Batch) => {
                row.batch.as_ref() == Some(batch) && *source == key.source
            }
            (Self::Mission(source, mission), GroupBy::Mission) => {
                *mission == row.mission && *source == key.source
            }
            (Self::Checkpoint(source, checkpoint), GroupBy::Checkpoint) => {
                *checkpoint == row.checkpoint && *source == key.source
            }
            (Self::Agent(source, agent), GroupBy::Agent) => *agent == row.agent && *source == key.source,
            (Self::Source(source), GroupBy::Source) => *source == key.source,
            (Self::Shape(shape), GroupBy::Shape) => shape.is_of(&slot.entry),
            _ => false,
        }
    }

    /// Returns true if the action counts as open in this group.
    pub(crate) fn counts(&self, slot: &Slot) -> bool {
        match self {
            Self::ToResolve => slot.is_lost(),
            _ => slot.is_open(),
        }
    }
}

/// All groups, as if there were no filter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buckets {
    keys: Vec<GroupKey>,
    by_key: HashMap<GroupKey, u32>,
    last: u32,
}

impl Buckets {
    /// Returns the number of a row's group, adding it if it is new.
    pub(crate) fn place(&mut self, slot: &Slot, by: GroupBy) -> u32 {
        // Consecutive rows usually belong to the same group.
        if self.get(self.last).is_some_and(|last| last.is_of(slot, by)) {
            return self.last;
        }
        let key = GroupKey::of(slot, by);
        let fresh = self.keys.len() as u32;
        self.last = *self.by_key.entry(key).or_insert_with_key(|key| {
            self.keys.push(key.clone());
            fresh
        });
        self.last
    }

    pub(crate) fn get(&self, number: u32) -> Option<&GroupKey> {
        self.keys.get(number as usize)
    }

    pub(crate) fn number(&self, key: &GroupKey) -> Option<u32> {
        self.by_key.get(key).copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }
}

/// A grouping in progress. The list keeps its groups until all rows are processed.
#[derive(Clone, Debug)]
pub(crate) struct Regrouping {
    by: GroupBy,
    /// The arrangement of the list; if it changes, grouping restarts.
    arrangement: u64,
    buckets: Buckets,
    of: Vec<u32>,
}

impl Regrouping {
    pub(crate) fn new(by: GroupBy, arrangement: u64) -> Self {
        Self { by, arrangement, buckets: Buckets::default(), of: Vec::new() }
    }

    /// Processes at most `most` rows. Returns the grouping once complete.
    pub(crate) fn look(mut self, slots: &[Slot], arrangement: u64, most: usize) -> Result<Regrouped, Self> {
        if self.arrangement != arrangement {
            self = Self::new(self.by, arrangement);
        }
        let rest = slots.get(self.of.len()..).unwrap_or_default();
        self.of.extend(rest.iter().take(most).map(|slot| self.buckets.place(slot, self.by)));
        if self.of.len() < slots.len() {
            return Err(self);
        }
        Ok(Regrouped { by: self.by, buckets: self.buckets, of: self.of })
    }
}

pub(crate) struct Regrouped {
    pub(crate) by: GroupBy,
    pub(crate) buckets: Buckets,
    pub(crate) of: Vec<u32>,
}

impl Group {
    /// Returns true for a single action, which has no header and does not fold.
    pub(crate) fn is_single(&self) -> bool {
        self.slots.len() == 1 && self.key != GroupKey::ToResolve
    }
}

// Shapes of near-identical actions, computed from the list row: source, tool, agent, and the title without variable
// words. Words with a digit, `@` or `/` and quoted texts are variable.

/// The common part of near-identical actions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub source: SourceName,
    pub tool: Untrusted,
    pub agent: Option<Untrusted>,
    /// The title with [`VARIES`] for each variable part.
    pub title: Untrusted,
}

pub(crate) const VARIES: &str = "…";

impl Shape {
    pub(crate) fn of(entry: &Entry) -> Self {
        let row = &entry.row;
        let mut title = String::with_capacity(row.title.as_raw().len());
        for part in parts(row.title.as_raw()) {
            title.push_str(if part.varies { VARIES } else { part.text });
        }
        Self {
            source: entry.key.source.clone(),
            tool: row.tool.clone(),
            agent: row.agent.clone(),
            title: title.into(),
        }
    }
}

impl Shape {
    /// Returns true if [`Self::of`] would return this shape.
    fn is_of(&self, entry: &Entry) -> bool {
        let row = &entry.row;
        let mut pattern = Some(self.title.as_raw());
        for part in parts(row.title.as_raw()) {
            let text = if part.varies { VARIES } else { part.text };
            pattern = pattern.and_then(|rest| rest.strip_prefix(text));
        }
        pattern == Some("")
            && self.source == entry.key.source
            && self.tool == row.tool
            && self.agent == row.agent
    }
}

pub(crate) fn varying(title: &Untrusted) -> Vec<Untrusted> {
    parts(title.as_raw()).filter(|part| part.varies).map(|part| part.text.into()).collect()
}

struct Part<'a> {
    text: &'a str,
    varies: bool,
}

/// Splits a title into fixed and variable parts, without losing any text.
fn parts(title: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = title;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let (end, varies) = if first.is_whitespace() {
            (rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()), false)
        } else if let Some(end) = quoted(rest, first) {
            (end, true)
        } else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let word = rest.get(..end)?;
            let own = word.contains(|c: char| c.is_numeric() || c == '@' || c == '/');
            // Trailing punctuation does not belong to the word.
            let bare = word.trim_end_matches([',', '.', ';', ':', ')', '!', '?']);
            (if own { bare.len().max(1) } else { end }, own)
        };
        let (text, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(Part { text, varies })
    })
}

fn quoted(text: &str, first: char) -> Option<usize> {
    let close = match first {
        '"' | '\'' | '`' => first,
        '“' | '„' => '”',
        '«' => '»',
        _ => return None,
    };
    let open = first.len_utf8();
    let length = text.get(open..)?.find(close)?;
    Some(open + length + close.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(title: &str) -> String {
        parts(title).map(|part| if part.varies { VARIES } else { part.text }).collect()
    }

    #[test]
    fn numbers_addresses_paths_and_quotations_vary() {
        assert_eq!(pattern("Close stale ticket #1182"), "Close stale ticket …");
        assert_eq!(pattern("Refund 1.10 EUR to ilka@example.com"), "Refund … EUR to …");
        assert_eq!(pattern("Overwrite 'Q plan.docx', again"), "Overwrite …, again");
        assert_eq!(pattern("Comment on SUP-12: done."), "Comment on …: done.");
        assert_eq!(pattern("Write drive/notes.md"), "Write …");
        assert_eq!(pattern("It's fine, isn't it"), "It's fine, isn't it");
        assert_eq!(pattern(""), "");
        assert_eq!(pattern("3."), "….");
    }

    #[test]
    fn nothing_of_a_title_is_lost() {
        for title in ["Refund 1.10 EUR to a@b.c, now", "  two  spaces ", "退款 申请 7 号", "'open", "1 2 3"]
        {
            assert_eq!(parts(title).map(|part| part.text).collect::<String>(), title);
        }
    }

    #[test]
    fn variable_parts_keep_their_order() {
        let found = varying(&"Refund 1.10 EUR to ilka@example.com".into());

        assert_eq!(found, ["1.10".into(), "ilka@example.com".into()]);
    }
}
