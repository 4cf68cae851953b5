//! The action under the cursor in full and those near it, and which content of each was on screen.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::domain::{ActionKey, Digest, KeyMap, Revision, SeenLog, Status, Timestamp};
use crate::inbox::{Answer, Problem, Question};
use crate::text::Shown;
use crate::tui::preview::page::made::{Cached, Content, Made, Tab};
use crate::tui::preview::page::search::{Found, Hit};
use crate::tui::preview::words;

use super::page::Page;
use super::reading_time::{Reading, ReadingTime};

/// So many actions are kept.
const KEPT: usize = 256;

#[derive(Clone, Debug)]
pub(crate) struct Preview {
    cache: KeyMap<Arc<Cached>>,
    order: VecDeque<ActionKey>,
    pub loading: HashSet<ActionKey>,
    pub problems: HashMap<ActionKey, Problem>,
    /// What the pane shows. Follows the cursor, a moment later while a key is held.
    pub shown: Option<ActionKey>,
    /// What the cursor was on last.
    pub target: Option<ActionKey>,
    pub moved: Option<Timestamp>,
    pub due: Option<Timestamp>,
    /// Until then no frame shows that the action under the cursor is not here yet: mostly it comes before.
    pub blank_from: Option<Timestamp>,
    pub tab: Tab,
    /// The tab that `Diff` returns to.
    pub before_diff: Tab,
    pub top: usize,
    /// The end is where it goes, once it is known how far that is.
    pub to_end: bool,
    /// The line of the Raw tab's text where its cursor goes, once its page is there.
    pub to_line: Option<usize>,
    /// Columns that are left of the screen, where lines do not wrap.
    pub left: usize,
    pub wrap: bool,
    /// Texts stand below each other, never beside: they are read out.
    pub stacked: bool,
    pub place: PreviewPlace,
    /// Where it was last that was not hidden.
    pub shown_at: PreviewPlace,
    /// The row of the Raw tab that folding is about.
    pub cursor: usize,
    /// What is folded, and of which content.
    pub folds: Option<(ActionKey, Digest, Arc<BTreeSet<usize>>)>,
    pub search: Option<Search>,
    /// The text of the tab.
    pub page: Option<Page>,
    /// The page that is being laid out elsewhere, because it is long.
    pub laying: Option<Made>,
    /// The text of the Context tab, where it stands beside the others.
    pub context: Option<Page>,
}

/// Where the preview stands beside a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PreviewPlace {
    Beside,
    Below,
    Hidden,
}

impl Default for Preview {
    fn default() -> Self {
        Self {
            cache: KeyMap::default(),
            order: VecDeque::new(),
            loading: HashSet::new(),
            problems: HashMap::new(),
            shown: None,
            target: None,
            moved: None,
            due: None,
            blank_from: None,
            tab: Tab::Rendered,
            before_diff: Tab::Rendered,
            top: 0,
            to_end: false,
            to_line: None,
            left: 0,
            wrap: true,
            stacked: false,
            place: PreviewPlace::Beside,
            shown_at: PreviewPlace::Beside,
            cursor: 0,
            folds: None,
            search: None,
            page: None,
            laying: None,
            context: None,
        }
    }
}

impl Preview {
    pub(crate) fn cached(&self, key: &ActionKey) -> Option<&Arc<Cached>> {
        self.cache.get(key)
    }

    /// All that is kept.
    pub(crate) fn all_cached(&self) -> impl Iterator<Item = (&ActionKey, &Arc<Cached>)> {
        self.cache.iter()
    }

    /// Keeps an action, and lets go of the one kept longest.
    pub(crate) fn keep(&mut self, key: &ActionKey, cached: Arc<Cached>) {
        self.problems.remove(key);
        if self.cache.insert(key.clone(), cached).is_none() {
            self.order.push_back(key.clone());
        }
        while self.order.len() > KEPT {
            if let Some(oldest) = self.order.pop_front() {
                self.cache.remove(&oldest);
            }
        }
    }

    /// What is folded of this content.
    pub(crate) fn folds(&self, key: &ActionKey, digest: &Digest) -> Arc<BTreeSet<usize>> {
        let of = self.folds.as_ref().filter(|(folded, content, _)| folded == key && content == digest);
        of.map(|(.., folds)| Arc::clone(folds)).unwrap_or_default()
    }

    pub(crate) fn forget(&mut self, key: &ActionKey) {
        if self.cache.remove(key).is_some() {
            self.order.retain(|other| other != key);
        }
    }
}

// Looking for something in the preview.

/// A search in the text of the preview.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    pub text: String,
    /// Keys are text.
    pub typing: bool,
    /// Where the preview stood when the search began.
    pub from: usize,
    pub hits: Vec<Hit>,
    pub at: usize,
    /// The page that the hits are in.
    pub of: Option<Made>,
}

impl Search {
    pub(crate) fn found(&self) -> Found<'_> {
        Found { hits: &self.hits, at: self.at }
    }

    /// `match 2 of 9`; empty while nothing is looked for.
    pub(crate) fn count(&self) -> String {
        match (self.text.is_empty(), self.hits.len()) {
            (true, _) => String::new(),
            (false, 0) => words::NO_MATCH.to_owned(),
            (false, all) => words::match_of(self.at + 1, all),
        }
    }
}

// What was asked of a source about single actions, once its tab was opened: what happened to them, and what is around them.

/// So many are kept.
const KEPT_ANSWERS: usize = 128;

/// Where an action stood when it was asked about: another one, and there is more to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AskedState {
    pub revision: Revision,
    pub status: Status,
}

#[derive(Clone, Debug)]
pub(crate) struct Fetched {
    pub stood: AskedState,
    pub answer: Arc<Result<Answer, Problem>>,
    /// Counts up with every answer, so that a page knows which one it shows.
    pub number: u64,
}

/// A question about an action.
pub(crate) type Asked = (ActionKey, Question);

/// What was asked, and answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers {
    told: HashMap<Asked, Fetched>,
    order: VecDeque<Asked>,
    asked: HashSet<Asked>,
    count: u64,
}

impl Answers {
    pub(crate) fn get(&self, key: &ActionKey, tab: Tab) -> Option<&Fetched> {
        self.told.get(&(key.clone(), tab.question()?))
    }

    /// Notes that it is asked for; false when it is known as of then, or on the way.
    pub(crate) fn ask(&mut self, asked: &Asked, stood: &AskedState) -> bool {
        let known = self.told.get(asked).is_some_and(|told| told.stood == *stood);
        !known && self.asked.insert(asked.clone())
    }

    /// Keeps an answer, and lets go of the one kept longest.
    pub(crate) fn keep(&mut self, asked: Asked, stood: AskedState, answer: Result<Answer, Problem>) {
        self.asked.remove(&asked);
        self.count += 1;
        let told = Fetched { stood, answer: Arc::new(answer), number: self.count };
        if self.told.insert(asked.clone(), told).is_none() {
            self.order.push_back(asked);
        }
        while self.order.len() > KEPT_ANSWERS {
            if let Some(oldest) = self.order.pop_front() {
                self.told.remove(&oldest);
            }
        }
    }

    /// All is asked for again when it is looked at. What is on the way is kept when it comes.
    pub(crate) fn clear(&mut self) {
        self.told.clear();
        self.order.clear();
    }
}

/// What the reviewer has read, and what was read for them beside the action itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReaderState {
    pub seen: SeenLog,
    pub time: ReadingTime,
    pub contents: SeenContents,
    pub answers: Answers,
    pub reading: Reading,
}

/// What is told of an action, as lines of this width.
pub(crate) fn told_in(told: &[Cow<'static, str>], width: u16) -> Vec<Shown> {
    let lines = told.iter().map(|words| Shown::ours(format!("! {words}")));
    lines.flat_map(|line| line.wrap(usize::from(width.max(20)))).collect()
}

// What contents were: for showing what changed since they were on screen.

/// So many actions are remembered.
const KEPT_SIGHTS: usize = 1_000;

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
            if self.order.len() > KEPT_SIGHTS
                && let Some(oldest) = self.order.pop_front()
            {
                self.of.remove(&oldest);
            }
        }
        self.of.entry(key.clone()).or_default()
    }
}
