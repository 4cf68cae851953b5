//! What a page is made from.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::domain::{ActionKey, Capabilities, Digest, Edits};
use crate::tui::model::{Content, Tab};

/// Everything a page depends on; another one needs another page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub key: ActionKey,
    pub digest: Digest,
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
    /// Where the action stands: the Context tab says so.
    pub status: crate::domain::Status,
    /// Its source runs nothing that is approved.
    pub paused: bool,
    /// Which answer the History or the Context tab shows.
    pub told: Option<u64>,
    /// What may be done with it, where the Context tab says so.
    pub can: Option<Capabilities>,
}

impl Made {
    /// The same text at another width.
    pub fn is_other_width(&self, other: &Self) -> bool {
        let Self {
            key,
            digest,
            tab,
            width: _,
            wrap: _,
            folds,
            edits,
            seen,
            stacked,
            status,
            paused,
            told,
            can,
        } = self;
        (key, digest, tab, folds) == (&other.key, &other.digest, &other.tab, &other.folds)
            && (edits, seen, status, *paused, *told)
                == (&other.edits, &other.seen, &other.status, other.paused, other.told)
            && (*stacked, *can) == (other.stacked, other.can)
    }
}
