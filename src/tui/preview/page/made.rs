//! What a page is made from.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use crate::contract::tool::Totals;
use crate::domain::{ActionKey, Capabilities, Digest, Edits, PendingAction, RawJson, Untrusted};
use crate::inbox::Question;
use crate::text::{self, Flags, Shown};

/// An action in full, with what was found out about it.
#[derive(Clone, Debug)]
pub(crate) struct Cached {
    pub action: PendingAction,
    /// Computed here, from the bytes that are shown.
    pub digest: Digest,
    /// The digest with the edits of those who approved it already.
    pub approved: Option<Digest>,
    /// See [`PendingAction::bytes_to_read`]; counted once, because an input may be long.
    pub to_read: u64,
    pub flags: Flags,
    /// What it comes to, once it was asked for: few are, and an input may be long.
    totals: OnceLock<Totals>,
}

impl Cached {
    pub(crate) fn new(action: PendingAction) -> Self {
        let (digest, flags) = (action.digest(), Flags::of(&action));
        Self::of(action, digest, flags)
    }

    /// Of an action whose digest and flags were made elsewhere.
    pub(crate) fn of(action: PendingAction, digest: Digest, flags: Flags) -> Self {
        let (approved, to_read) = (action.approved_digest(), action.bytes_to_read());
        Self { action, digest, approved, to_read, flags, totals: OnceLock::new() }
    }

    /// What it comes to, for sums of several.
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

    /// What it asks when it is opened, and again when its action moved on.
    pub(crate) const fn question(self) -> Option<Question> {
        match self {
            Self::Rendered | Self::Diff | Self::Raw => None,
            Self::Context => Some(Question::Context),
            Self::History => Some(Question::History),
        }
    }
}

/// A longer input is remembered by its digest only. Bytes.
const LONGEST: usize = 256 << 10;

/// One content that was on screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub digest: Digest,
    /// `None` when it was too long to keep.
    pub input: Option<RawJson>,
}

impl Content {
    pub(crate) fn of(cached: &Cached) -> Self {
        // A copy: the input may be a part of a text that is much longer.
        let input = cached.action.input.as_str();
        let input = (input.len() <= LONGEST).then(|| RawJson::scanned(input));
        Self { digest: cached.digest, input }
    }
}

/// Everything a page depends on; another one needs another page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Made {
    pub key: ActionKey,
    pub digest: Digest,
    /// The digest of the content to read: with the edits of others if approving sends them.
    pub reads: Digest,
    pub tab: Tab,
    pub width: u16,
    /// Long lines go on in the next row; else they go on to the right.
    pub wrap: bool,
    /// What is folded in the Raw tab: where the lines of the text begin that open it.
    pub folds: Arc<BTreeSet<usize>>,
    pub edits: Option<Edits>,
    /// What was on screen before, when that was another content.
    pub seen: Option<Content>,
    /// Nothing stands beside each other: it is read out.
    pub stacked: bool,
    /// Source texts are in colours.
    pub colours: bool,
    /// Where the action stands: the Context tab says so.
    pub status: crate::domain::Status,
    /// Its source runs nothing that is approved.
    pub paused: bool,
    /// Which answer the tab shows.
    pub told: Option<u64>,
    /// What may be done with it, where the Context tab says so.
    pub can: Option<Capabilities>,
    /// What those on it are called who are called otherwise than their subject.
    pub called: Vec<(Untrusted, Shown)>,
}

impl Made {
    /// The page of a pending action, wrapped.
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

    /// The same text at another width.
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

    /// The page shows all of what approving sends. Raw shows the proposal, without the edits of others.
    pub(crate) fn is_read(&self) -> bool {
        self.tab == Tab::Rendered || self.tab == Tab::Raw && self.reads == self.digest
    }

    /// Who a subject is.
    pub(crate) fn who(&self, subject: &Untrusted) -> Shown {
        let called = self.called.iter().find(|(known, _)| known == subject);
        called.map_or_else(|| text::name(subject), |(_, shown)| shown.clone())
    }
}
