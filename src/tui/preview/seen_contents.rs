//! What contents were: for showing what changed since they were on screen.

use crate::tui::preview::page::made::Content;
use std::collections::{HashMap, VecDeque};

use crate::domain::{ActionKey, Digest};

use crate::tui::preview::page::made::Cached;

/// So many actions are remembered.
const KEPT: usize = 1_000;

/// Per action, the content on screen last, the one before it, and the one that a decision is staged on.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeenContents {
    of: HashMap<ActionKey, Sight>,
    order: VecDeque<ActionKey>,
}

#[derive(Clone, Debug, Default)]
struct Sight {
    last: Option<Content>,
    before: Option<Content>,
    staged: Option<Content>,
    /// The decision on it was taken back, because the source has another content now.
    taken_back: bool,
}

impl SeenContents {
    /// It is on screen.
    pub(crate) fn note(&mut self, key: &ActionKey, cached: &Cached) {
        let sight = self.at(key);
        if sight.last.as_ref().is_some_and(|last| last.digest == cached.digest) {
            return;
        }
        let last = sight.last.replace(Content::of(cached));
        if last.is_some() {
            sight.before = last;
        }
    }

    /// A decision is staged on it: what was before does not matter any more.
    pub(crate) fn staged(&mut self, key: &ActionKey, cached: &Cached) {
        let sight = self.at(key);
        sight.staged = Some(Content::of(cached));
        sight.before = None;
        sight.taken_back = false;
    }

    /// The decision on this content was taken back, because the source has another one now.
    pub(crate) fn took_back(&mut self, key: &ActionKey, digest: Option<Digest>) {
        let known = digest.and_then(|digest| self.find(key, &digest).cloned());
        let sight = self.at(key);
        sight.staged = known.or(digest.map(|digest| Content { digest, input: None }));
        sight.taken_back = true;
    }

    /// The content of the decision that was taken back.
    pub(crate) fn decided(&self, key: &ActionKey) -> Option<&Content> {
        self.of.get(key).filter(|sight| sight.taken_back)?.staged.as_ref()
    }

    /// The content with this digest, where it was kept.
    pub(crate) fn find(&self, key: &ActionKey, digest: &Digest) -> Option<&Content> {
        let sight = self.of.get(key)?;
        [&sight.staged, &sight.last, &sight.before]
            .into_iter()
            .flatten()
            .find(|content| content.digest == *digest)
    }

    /// What was on screen last that is not this content.
    pub(crate) fn other_than(&self, key: &ActionKey, digest: &Digest) -> Option<&Content> {
        let sight = self.of.get(key)?;
        [&sight.last, &sight.before].into_iter().flatten().find(|content| content.digest != *digest)
    }

    pub(crate) fn forget(&mut self, key: &ActionKey) {
        if self.of.remove(key).is_some() {
            self.order.retain(|other| other != key);
        }
    }

    fn at(&mut self, key: &ActionKey) -> &mut Sight {
        if !self.of.contains_key(key) {
            self.order.push_back(key.clone());
            if self.order.len() > KEPT
                && let Some(oldest) = self.order.pop_front()
            {
                self.of.remove(&oldest);
            }
        }
        self.of.entry(key.clone()).or_default()
    }
}
