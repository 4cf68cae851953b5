//! A proposed write waiting for a human.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use super::{
    Approval, Approvals, Capabilities, Digest, Edits, Effect, RawJson, Risk, Status, Timestamp, Untrusted,
    Via, merge,
};

/// Bytes of a row of text.
const ROW: usize = 80;

/// An id the source chose. As foreign as any other text.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ActionId(Untrusted);

/// A batch's id as the source writes it. Never built by us.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BatchId(Untrusted);

macro_rules! foreign_id {
    ($name:ident) => {
        impl $name {
            pub fn new(id: impl Into<Arc<str>>) -> Self {
                Self(Untrusted::new(id))
            }
            /// The id as it came: for wires, storage and comparison.
            pub fn as_raw(&self) -> &str {
                self.0.as_raw()
            }
            /// For the door to the screen.
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

/// The name the configuration gives a source: `[a-z0-9-]`, checked when the configuration is read.
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

/// An action among all sources. The cursor and the marks are keys, never row numbers.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ActionKey {
    pub source: SourceName,
    pub id: ActionId,
}

/// By action. A key for all rows looks up 100,000 of them, and hashing was most of it: this hash is quick, and seeded, because ids are
/// foreign.
pub type KeyMap<V> = HashMap<ActionKey, V, foldhash::fast::RandomState>;

/// The same among the actions of one source.
pub type IdMap<V> = HashMap<ActionId, V, foldhash::fast::RandomState>;
pub type IdSet = HashSet<ActionId, foldhash::fast::RandomState>;

/// A batch among all sources. An action without a batch stands alone, as a batch of one.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum BatchKey {
    Batch(SourceName, BatchId),
    Alone(ActionKey),
}

/// A position in a source's history of changes; grows by one with every change in a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(pub u64);

/// What a list shows of an action: light, so that 100,000 of them are cheap.
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
    /// One line saying what would happen. Written by the proposer's side: never a substitute for the input.
    pub title: Untrusted,
    pub risk: Risk,
    pub effect: Option<Effect>,
    pub status: Status,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub resolved_at: Option<Timestamp>,
    pub resolved_by: Option<Untrusted>,
    /// How it was decided, where the source says so.
    pub resolved_via: Option<Via>,
    /// Bytes of the input.
    pub size: u64,
    /// The source's own label for the content; compared with what we compute, never trusted.
    pub digest: Option<Digest>,
    pub revision: Revision,
    /// `None`: one person is enough.
    pub approvals: Option<Arc<Approvals>>,
    /// The source listed something that is no action; what there is of it stands in for one.
    pub unreadable: Option<Box<StandIn>>,
    /// What may be done with it, as its source says with the row.
    pub can: Capabilities,
}

/// Stands in a list for what could not be read. Its input is a JSON string: the bytes as they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandIn {
    /// Goes on after "it cannot be read:".
    pub what: &'static str,
    /// The id is the source's, so it can be rejected. Else the id is ours, and nothing can be decided.
    pub has_id: bool,
}

/// An action in full: everything a reviewer needs to decide.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PendingAction {
    pub row: Row,
    /// The arguments that will run, byte for byte.
    pub input: RawJson,
    /// What the proposer's side says of them; never what runs.
    pub preview: Option<RawJson>,
    /// The state of the target as the proposer read it. Shown, never checked; in no digest of what runs.
    pub before: Option<RawJson>,
    pub summary: Option<Untrusted>,
    pub requested_by: Option<Untrusted>,
    pub tool_call: Option<Untrusted>,
    /// Those that stand, where it takes more than one person; all of the same content.
    pub approvals: Vec<Approval>,
    pub user_edits: Option<Edits>,
    /// What ran, or will run, after the edits.
    pub effective_input: Option<RawJson>,
    /// Why it was decided so.
    pub reason: Option<Untrusted>,
    pub result: Option<RawJson>,
    pub error: Option<Untrusted>,
    pub executed_at: Option<Timestamp>,
    /// The source's label for everything else that was agreed to: expiry, effect, risk, preview, schema, executor. Opaque here,
    /// and sent back with the decision.
    pub terms: Option<Digest>,
    /// The whole reply, byte for byte, for the Raw tab.
    pub raw: RawJson,
}

impl Row {
    /// Whoever decided it, or approved it while more people must.
    pub fn deciders(&self) -> impl Iterator<Item = &Untrusted> {
        self.resolved_by.iter().chain(self.approvals.iter().flat_map(|approvals| &approvals.by))
    }

    /// It expired after a human approved it: nobody ran it in time. What expires undecided has nobody who resolved it.
    pub fn has_lapsed(&self) -> bool {
        self.status == Status::Expired && self.resolved_by.is_some()
    }

    /// A pending row of which nothing else is known; medium is the risk of what nobody called by one.
    pub fn new(id: ActionId, tool: Untrusted, title: Untrusted) -> Self {
        Self { id, tool, title, ..Self::default() }
    }

    /// Its time to be decided is over, as far as the clock that `now` is from can tell: sources say when an action expires,
    /// not what time they have it.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// Its source still lists it, and nothing can be decided any more.
    pub fn is_pending_and_expired(&self, now: Timestamp) -> bool {
        self.status.is_pending() && self.has_expired(now)
    }
}

impl PendingAction {
    /// An action of which nothing is known but what would run. `raw` is what it was read from; the row's size is the input's.
    pub fn new(row: Row, input: RawJson, raw: RawJson) -> Self {
        let row = Row { size: input.as_str().len() as u64, ..row };
        Self { row, input, raw, ..Self::default() }
    }

    /// Bytes of the input, of the agent's note and of what others changed. A line break counts as a row of text.
    pub fn bytes_to_read(&self) -> u64 {
        let note = self.summary.as_ref().map(Untrusted::as_raw);
        let edits = self.approved_edits().map(|edits| edits.as_json().as_str());
        let json = [Some(self.input.as_str()), self.preview.as_ref().map(RawJson::as_str), edits];
        let texts = json.into_iter().chain([note]).flatten();
        let breaks = |text: &str| text.matches('\n').count() + text.matches("\\n").count();
        texts.map(|text| (text.len() + breaks(text) * ROW) as u64).sum()
    }

    /// The edits of those who approved it already, where more people must. They approved one content: where one of them changed
    /// nothing, it is the proposed one.
    pub fn approved_edits(&self) -> Option<&Edits> {
        let first = self.approvals.first()?.edits.as_ref()?;
        self.approvals.iter().all(|approval| approval.edits.is_some()).then_some(first)
    }

    /// The digest of the input with [`Self::approved_edits`].
    pub fn approved_digest(&self) -> Option<Digest> {
        let input = merge(&self.input, self.approved_edits()?).ok()?;
        Some(self.digest_of(input.as_str()))
    }

    /// The digest of the proposed input, computed here from the bytes at hand.
    pub fn digest(&self) -> Digest {
        self.digest_of(self.input.as_str())
    }

    /// The digest an input would have as this action's.
    pub fn digest_of(&self, input: &str) -> Digest {
        let workspace = self.row.workspace.as_ref().map_or("", Untrusted::as_raw);
        Digest::of(self.row.tool.as_raw(), workspace, input)
    }
}

/// A row of the inbox: whose it is, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub key: ActionKey,
    pub row: Row,
}

impl Entry {
    /// The batch this action is decided with.
    pub fn batch(&self) -> BatchKey {
        match &self.row.batch {
            Some(batch) => BatchKey::Batch(self.key.source.clone(), batch.clone()),
            None => BatchKey::Alone(self.key.clone()),
        }
    }
}
