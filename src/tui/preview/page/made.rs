//! The inputs of a page.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use crate::contract::tool::Totals;
use crate::domain::{ActionKey, Capabilities, Digest, Edits, PendingAction, RawJson, Untrusted};
use crate::inbox::Question;
use crate::text::{self, Flags, Shown};

#[derive(Clone, Debug)]
pub(crate) struct Cached {
    pub action: PendingAction,
    /// Computed from the bytes that are shown.
    pub digest: Digest,
    /// The digest with the edits of earlier approvers.
    pub approved: Option<Digest>,
    /// See [`PendingAction::bytes_to_read`]; cached, because an input may be long.
    pub to_read: u64,
    pub flags: Flags,
    /// Computed on demand, because few actions need it and an input may be long.
    totals: OnceLock<Totals>,
}

impl Cached {
    pub(crate) fn new(action: PendingAction) -> Self {
        let (digest, flags) = (action.digest(), Flags::of(&action));
        Self::of(action, digest, flags)
    }

    pub(crate) fn of(action: PendingAction, digest: Digest, flags: Flags) -> Self {
        let (approved, to_read) = (action.approved_digest(), action.bytes_to_read());
        Self { action, digest, approved, to_read, flags, totals: OnceLock::new() }
    }

    pub(crate) fn totals(&self) -> &Totals {
        self.totals.get_or_init(|| {
            let mut totals = Totals::default();
            totals.add(&self.action.row.tool, &self.action.input, self.action.preview.as_ref());
            totals
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    Rendered,
    Diff,
    Raw,
    Context,
    History,
}

impl Tab {
    pub(crate) const ALL: [Self; 5] = [Self::Rendered, Self::Diff, Self::Raw, Self::Context, Self::History];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Rendered => "Rendered",
            Self::Diff => "Diff",
            Self::Raw => "Raw",
            Self::Context => "Context",
            Self::History => "History",
        }
    }

    pub(crate) const fn question(self) -> Option<Question> {
        match self {
            Self::Rendered | Self::Diff | Self::Raw => None,
            Self::Context => Some(Question::Context),
            Self::History => Some(Question::History),
        }
    }
}

/// Longest input to keep; of longer ones only the digest is kept. Bytes.
const LONGEST: usize = 256 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub digest: Digest,
    /// `None` if it was too long to keep.
    pub input: Option<RawJson>,
}

impl Content {
    pub(crate) fn of(cached: &Cached) -> Self {
        // A copy, because the input may be a slice of a much longer text.
        let input = cached.action.input.as_str();
        let input = (input.len() <= LONGEST).then(|| RawJson::scanned(input));
        Self { digest: cached.digest, input }
    }
}

/// All inputs of a page; if one differs, the page must be laid out again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Made {
    pub key: ActionKey,
    pub digest: Digest,
    /// The digest of the content to read: with the edits of others if approving sends them.
    pub reads: Digest,
    pub tab: Tab,
    pub width: u16,
    /// Long lines wrap; otherwise they extend to the right.
    pub wrap: bool,
    /// The folds of the Raw tab: starts of the lines that open them.
    pub folds: Arc<BTreeSet<usize>>,
    pub edits: Option<Edits>,
    /// The content last on screen, if it differs.
    pub seen: Option<Content>,
    /// Texts are written below each other, for reading aloud.
    pub stacked: bool,
    pub colours: bool,
    pub status: crate::domain::Status,
    pub paused: bool,
    pub told: Option<u64>,
    pub can: Option<Capabilities>,
    pub called: Vec<(Untrusted, Shown)>,
}

impl Made {
    #[cfg(test)]
    pub(crate) fn pending(key: ActionKey, digest: Digest, tab: Tab, width: u16) -> Self {
        Self {
            key,
            digest,
            reads: digest,
            tab,
            width,
            wrap: true,
            folds: Arc::default(),
            edits: None,
            seen: None,
            stacked: false,
            colours: true,
            status: crate::domain::Status::Pending,
            paused: false,
            told: None,
            can: None,
            called: Vec::new(),
        }
    }

    pub(crate) fn is_other_width(&self, other: &Self) -> bool {
        let Self {
            key,
            digest,
            reads,
            tab,
            width: _,
            wrap: _,
            folds,
            edits,
            seen,
            stacked,
            colours,
            status,
            paused,
            told,
            can,
            called,
        } = self;
        (key, digest, reads) == (&other.key, &other.digest, &other.reads)
            && (tab, folds) == (&other.tab, &other.folds)
            && (edits, seen, status, *paused, *told)
                == (&other.edits, &other.seen, &other.status, other.paused, other.told)
            && (*stacked, *colours, *can) == (other.stacked, other.colours, other.can)
            && *called == other.called
    }

    /// Returns true if the page shows all that approving sends. Raw shows the proposal, without the edits of others.
    pub(crate) fn is_read(&self) -> bool {
        self.tab == Tab::Rendered || self.tab == Tab::Raw && self.reads == self.digest
    }

    pub(crate) fn who(&self, subject: &Untrusted) -> Shown {
        let called = self.called.iter().find(|(known, _)| known == subject);
        called.map_or_else(|| text::name(subject), |(_, shown)| shown.clone())
    }
}
