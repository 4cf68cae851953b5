//! The action under the cursor in full, and those near it.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::domain::{ActionKey, Digest, PendingAction, Timestamp};
use crate::inbox::Problem;
use crate::text::Flags;
use crate::tui::page::Page;

use super::{Search, Slot};

/// So many actions are kept.
const KEPT: usize = 256;

/// An action in full, with what was found out about it.
#[derive(Clone, Debug)]
pub struct Cached {
    pub action: PendingAction,
    /// Computed here, from the bytes that are shown.
    pub digest: Digest,
    pub flags: Flags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    Rendered,
    Diff,
    Raw,
    Context,
    History,
}

#[derive(Clone, Debug)]
pub struct Preview {
    cache: HashMap<ActionKey, Arc<Cached>>,
    order: VecDeque<ActionKey>,
    pub loading: HashSet<ActionKey>,
    pub problems: HashMap<ActionKey, Problem>,
    /// What the pane shows. Follows the cursor, a moment later while a key is held.
    pub shown: Option<ActionKey>,
    /// What the cursor was on last.
    pub target: Option<ActionKey>,
    pub moved: Option<Timestamp>,
    pub due: Option<Timestamp>,
    pub tab: Tab,
    /// The tab that `Diff` returns to.
    pub before_diff: Tab,
    pub top: usize,
    /// Columns that are left of the screen, where lines do not wrap.
    pub left: usize,
    pub wrap: bool,
    /// Texts stand below each other, never beside: they are read out.
    pub stacked: bool,
    pub place: Place,
    /// Where it was last that was not hidden.
    pub shown_at: Place,
    /// The row of the Raw tab that folding is about.
    pub cursor: usize,
    /// What is folded, and of which content.
    pub folds: Option<(ActionKey, Digest, Arc<BTreeSet<usize>>)>,
    pub search: Option<Search>,
    /// The text of the tab.
    pub page: Option<Page>,
}

/// Where the preview stands beside a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Beside,
    Below,
    Hidden,
}

impl Default for Preview {
    fn default() -> Self {
        Self {
            cache: HashMap::new(),
            order: VecDeque::new(),
            loading: HashSet::new(),
            problems: HashMap::new(),
            shown: None,
            target: None,
            moved: None,
            due: None,
            tab: Tab::Rendered,
            before_diff: Tab::Rendered,
            top: 0,
            left: 0,
            wrap: true,
            stacked: false,
            place: Place::Beside,
            shown_at: Place::Beside,
            cursor: 0,
            folds: None,
            search: None,
            page: None,
        }
    }
}

impl Preview {
    pub fn cached(&self, key: &ActionKey) -> Option<&Arc<Cached>> {
        self.cache.get(key)
    }

    /// Keeps an action, and lets go of the one kept longest.
    pub fn keep(&mut self, key: &ActionKey, action: PendingAction) {
        let digest = action.digest();
        let flags = Flags::of(&action);
        self.problems.remove(key);
        if self.cache.insert(key.clone(), Arc::new(Cached { action, digest, flags })).is_none() {
            self.order.push_back(key.clone());
        }
        while self.order.len() > KEPT {
            if let Some(oldest) = self.order.pop_front() {
                self.cache.remove(&oldest);
            }
        }
    }

    /// What is folded of this content.
    pub fn folds(&self, key: &ActionKey, digest: &Digest) -> Arc<BTreeSet<usize>> {
        let of = self.folds.as_ref().filter(|(folded, content, _)| folded == key && content == digest);
        of.map(|(.., folds)| Arc::clone(folds)).unwrap_or_default()
    }

    pub fn forget(&mut self, key: &ActionKey) {
        if self.cache.remove(key).is_some() {
            self.order.retain(|other| other != key);
        }
    }
}

impl super::Model {
    /// What could be overlooked in an action, as far as it is known here.
    pub fn flags_of(&self, slot: &Slot) -> Flags {
        let cached = self.preview.cached(&slot.entry.key);
        cached.map_or_else(|| Flags::of_row(&slot.entry.row), |cached| cached.flags.clone())
    }
}

impl Tab {
    pub const ALL: [Self; 5] = [Self::Rendered, Self::Diff, Self::Raw, Self::Context, Self::History];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Rendered => "Rendered",
            Self::Diff => "Diff",
            Self::Raw => "Raw",
            Self::Context => "Context",
            Self::History => "History",
        }
    }
}
