//! Pending actions: proposed writes that wait for a person.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use super::{
    Approval, Approvals, Capabilities, Digest, Edits, Effect, RawJson, Risk, Status, Timestamp, Untrusted,
    Via, merge,
};

const ROW: usize = 80;

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ActionId(Untrusted);

/// A batch's id, chosen by the source.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BatchId(Untrusted);

macro_rules! foreign_id {
    ($name:ident) => {
        impl $name {
            pub fn new(id: impl Into<Arc<str>>) -> Self {
                Self(Untrusted::new(id))
            }
            /// The original id, for wires, storage and comparison.
            pub fn as_raw(&self) -> &str {
                self.0.as_raw()
            }
            pub fn untrusted(&self) -> &Untrusted {
                &self.0
            }
        }
        impl From<Untrusted> for $name {
            fn from(id: Untrusted) -> Self {
                Self(id)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}
foreign_id!(ActionId);
foreign_id!(BatchId);

/// The configured name of a source: `[a-z0-9-]`, checked when the configuration is read.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SourceName(Arc<str>);

impl SourceName {
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An action among all sources. Cursor and marks are keys, never row numbers.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ActionKey {
    pub source: SourceName,
    pub id: ActionId,
}

/// A map by action. Uses a fast hash because 100,000 rows are looked up, seeded because ids are foreign.
pub type KeyMap<V> = HashMap<ActionKey, V, foldhash::fast::RandomState>;

pub type IdMap<V> = HashMap<ActionId, V, foldhash::fast::RandomState>;
pub type IdSet = HashSet<ActionId, foldhash::fast::RandomState>;

/// A batch among all sources. An action without a batch is its own batch.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum BatchKey {
    Batch(SourceName, BatchId),
    Alone(ActionKey),
}

/// A position in a source's changes. Grows by one with each change in a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(pub u64);

/// The short form of an action for lists of 100,000.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Row {
    pub id: ActionId,
    pub batch: Option<BatchId>,
    pub checkpoint: Option<Untrusted>,
    pub workspace: Option<Untrusted>,
    pub mission: Option<Untrusted>,
    pub session: Option<Untrusted>,
    pub run: Option<Untrusted>,
    pub agent: Option<Untrusted>,
    pub tool: Untrusted,
    /// One line about what would happen, written by the proposer's side; not a substitute for the input.
    pub title: Untrusted,
    /// The title with the edits that ran or will run. `None` without edits, while it is pending, and if the source does
    /// not say so.
    pub edited: Option<Untrusted>,
    /// The short fields of the input, in the order of a list's columns. `None` if the title says it better.
    pub brief: Option<RawJson>,
    pub risk: Risk,
    pub effect: Option<Effect>,
    pub status: Status,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub resolved_at: Option<Timestamp>,
    pub resolved_by: Option<Untrusted>,
    pub resolved_via: Option<Via>,
    pub size: u64,
    /// The source's digest of the content; compared with our own, never trusted.
    pub digest: Option<Digest>,
    pub revision: Revision,
    /// `None` if one person is enough.
    pub approvals: Option<Arc<Approvals>>,
    /// Set for the placeholder of an unreadable item.
    pub unreadable: Option<Box<StandIn>>,
    pub can: Capabilities,
}

/// A placeholder for an unreadable item. Its input is a JSON string with the original bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandIn {
    /// Continues "it cannot be read:".
    pub what: &'static str,
    /// Whether the id is the source's, so that the item can be rejected. Otherwise it cannot be decided.
    pub has_id: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PendingAction {
    pub row: Row,
    /// The arguments to run, byte for byte.
    pub input: RawJson,
    /// The proposer's description of the input; never runs.
    pub preview: Option<RawJson>,
    /// State of the target as read by the proposer. Shown, but not checked and not part of any digest.
    pub before: Option<RawJson>,
    pub summary: Option<Untrusted>,
    pub requested_by: Option<Untrusted>,
    pub tool_call: Option<Untrusted>,
    /// Valid approvals, if several people must approve; all of the same content.
    pub approvals: Vec<Approval>,
    pub user_edits: Option<Edits>,
    /// The input after edits, which ran or will run.
    pub effective_input: Option<RawJson>,
    pub reason: Option<Untrusted>,
    pub result: Option<RawJson>,
    pub error: Option<Untrusted>,
    pub executed_at: Option<Timestamp>,
    /// Whether more follows a final status, because its undo still runs.
    pub goes_on: bool,
    /// The source's digest of everything else agreed to: expiry, effect, risk, preview, schema, executor. Opaque;
    /// returned with the decision.
    pub terms: Option<Digest>,
    /// The whole reply, byte for byte, for the Raw tab.
    pub raw: RawJson,
}

impl Row {
    /// People who decided it, or approved it while more people must.
    pub fn deciders(&self) -> impl Iterator<Item = &Untrusted> {
        self.resolved_by.iter().chain(self.approvals.iter().flat_map(|approvals| &approvals.by))
    }

    /// Returns the title for people: with the edits that ran or will run.
    pub fn shown_title(&self) -> &Untrusted {
        self.edited.as_ref().unwrap_or(&self.title)
    }

    /// Whether it expired after its approval, because no agent ran it in time. Without approval there is no
    /// `resolved_by`.
    pub fn has_lapsed(&self) -> bool {
        self.status == Status::Expired && self.resolved_by.is_some()
    }

    /// A pending row with defaults and medium risk.
    pub fn new(id: ActionId, tool: Untrusted, title: Untrusted) -> Self {
        Self { id, tool, title, ..Self::default() }
    }

    /// Whether its expiry has passed by the caller's clock, which may differ from the source's.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// Whether its source still lists it although it expired.
    pub fn is_pending_and_expired(&self, now: Timestamp) -> bool {
        self.status.is_pending() && self.has_expired(now)
    }
}

impl PendingAction {
    /// An action with input only. `raw` is the text it was read from.
    pub fn new(row: Row, input: RawJson, raw: RawJson) -> Self {
        let row = Row { size: input.as_str().len() as u64, ..row };
        Self { row, input, raw, ..Self::default() }
    }

    /// Short texts of the proposer, besides those of the row.
    pub fn names(&self) -> impl Iterator<Item = &Untrusted> {
        [&self.requested_by, &self.tool_call].into_iter().flatten()
    }

    /// Bytes of input, note and others' edits. A line break counts as a row of text.
    pub fn bytes_to_read(&self) -> u64 {
        let json = [Some(&self.input), self.preview.as_ref(), self.approved_edits().map(Edits::as_json)];
        let note = self.summary.as_ref().map(Untrusted::as_raw);
        let texts = json.into_iter().flatten().map(RawJson::as_str).chain(note);
        let breaks = |text: &str| text.matches('\n').count() + text.matches("\\n").count();
        texts.map(|text| (text.len() + breaks(text) * ROW) as u64).sum()
    }

    /// Returns the edits that all approvers agreed on; `None` if one of them approved the proposed input.
    pub fn approved_edits(&self) -> Option<&Edits> {
        let first = self.approvals.first()?.edits.as_ref()?;
        self.approvals.iter().all(|approval| approval.edits.is_some()).then_some(first)
    }

    pub fn approved_digest(&self) -> Option<Digest> {
        merge(&self.input, self.approved_edits()?).ok().map(|input| self.digest_of(input.as_str()))
    }

    /// Returns the digest of the proposed input, computed from its bytes.
    pub fn digest(&self) -> Digest {
        self.digest_of(self.input.as_str())
    }

    /// Returns the digest of `input` as this action's input.
    pub fn digest_of(&self, input: &str) -> Digest {
        let workspace = self.row.workspace.as_ref().map_or("", Untrusted::as_raw);
        Digest::of(self.row.tool.as_raw(), workspace, input)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub key: ActionKey,
    pub row: Row,
}

impl Entry {
    /// Returns the batch that this action is decided with.
    pub fn batch(&self) -> BatchKey {
        match &self.row.batch {
            Some(batch) => BatchKey::Batch(self.key.source.clone(), batch.clone()),
            None => BatchKey::Alone(self.key.clone()),
        }
    }
}
