//! The preview's state: cached actions, the page on screen, and the contents that the reviewer saw.

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

const KEPT: usize = 256;

#[derive(Clone, Debug)]
pub(crate) struct Preview {
    cache: KeyMap<Arc<Cached>>,
    order: VecDeque<ActionKey>,
    pub loading: HashSet<ActionKey>,
    pub problems: HashMap<ActionKey, Problem>,
    /// The action in the pane. It follows the cursor, with a delay while a key is held down.
    pub shown: Option<ActionKey>,
    pub target: Option<ActionKey>,
    pub moved: Option<Timestamp>,
    pub due: Option<Timestamp>,
    /// Frames before this time do not show that the action is still loading, because it usually arrives before.
    pub blank_from: Option<Timestamp>,
    pub tab: Tab,
    pub before_diff: Tab,
    pub top: usize,
    /// Scroll to the end as soon as all rows are counted.
    pub to_end: bool,
    /// The line of the Raw tab's text to put its cursor on, once the page is there.
    pub to_line: Option<usize>,
    /// Columns scrolled sideways, when lines do not wrap.
    pub left: usize,
    pub wrap: bool,
    /// Before and after are written below each other, for reading aloud.
    pub stacked: bool,
    pub place: PreviewPlace,
    /// Last place that was not hidden.
    pub shown_at: PreviewPlace,
    pub cursor: usize,
    pub folds: Option<(ActionKey, Digest, Arc<BTreeSet<usize>>)>,
    pub search: Option<Search>,
    pub page: Option<Page>,
    /// The long page that is being laid out in the background.
    pub laying: Option<Made>,
    /// The page of the Context tab when it is shown next to the others.
    pub context: Option<Page>,
}

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

    pub(crate) fn all_cached(&self) -> impl Iterator<Item = (&ActionKey, &Arc<Cached>)> {
        self.cache.iter()
    }

    /// Caches an action, and drops the oldest one when the cache is full.
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

#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    pub text: String,
    /// Key presses are typed into the search.
    pub typing: bool,
    pub from: usize,
    pub hits: Vec<Hit>,
    pub at: usize,
    pub of: Option<Made>,
}

impl Search {
    pub(crate) fn found(&self) -> Found<'_> {
        Found { hits: &self.hits, at: self.at }
    }

    /// Returns `match 2 of 9`, or nothing while the search text is empty.
    pub(crate) fn count(&self) -> String {
        match (self.text.is_empty(), self.hits.len()) {
            (true, _) => String::new(),
            (false, 0) => words::NO_MATCH.to_owned(),
            (false, all) => words::match_of(self.at + 1, all),
        }
    }
}

// Answers to questions about single actions, for the History and Context tabs. They are asked when a tab is opened.

const KEPT_ANSWERS: usize = 128;

/// The state of an action when it was asked about. Another state needs a new answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AskedState {
    pub revision: Revision,
    pub status: Status,
}

#[derive(Clone, Debug)]
pub(crate) struct Fetched {
    pub stood: AskedState,
    pub answer: Arc<Result<Answer, Problem>>,
    /// Identifies the answer, so that a page knows which one it shows.
    pub number: u64,
}

pub(crate) type Asked = (ActionKey, Question);

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

    /// Notes that this is being asked. Returns false if an answer for that state is cached or in flight.
    pub(crate) fn ask(&mut self, asked: &Asked, stood: &AskedState) -> bool {
        let known = self.told.get(asked).is_some_and(|told| told.stood == *stood);
        !known && self.asked.insert(asked.clone())
    }

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

    /// Drops all answers. Questions in flight stay valid.
    pub(crate) fn clear(&mut self) {
        self.told.clear();
        self.order.clear();
    }
}

/// The contents that the reviewer read, and the answers fetched for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReaderState {
    pub seen: SeenLog,
    pub time: ReadingTime,
    pub contents: SeenContents,
    pub answers: Answers,
    pub reading: Reading,
}

/// Formats warnings as lines of this width.
pub(crate) fn told_in(told: &[Cow<'static, str>], width: u16) -> Vec<Shown> {
    let lines = told.iter().map(|words| Shown::ours(format!("! {words}")));
    lines.flat_map(|line| line.wrap(usize::from(width.max(20)))).collect()
}

// Contents seen earlier, to show what changed since.

const KEPT_SIGHTS: usize = 1_000;

/// For each action: the content last on screen, the one before it, and the one with a staged decision.
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
    /// The decision was taken back, because the content changed at the source.
    taken_back: bool,
}

impl SeenContents {
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

    /// Notes a decision on this content. Earlier contents no longer matter.
    pub(crate) fn staged(&mut self, key: &ActionKey, cached: &Cached) {
        let sight = self.at(key);
        sight.staged = Some(Content::of(cached));
        sight.before = None;
        sight.taken_back = false;
    }

    /// Notes that the decision on this content was taken back, because the source has another one now.
    pub(crate) fn took_back(&mut self, key: &ActionKey, digest: Option<Digest>) {
        let known = digest.and_then(|digest| self.find(key, &digest).cloned());
        let sight = self.at(key);
        sight.staged = known.or(digest.map(|digest| Content { digest, input: None }));
        sight.taken_back = true;
    }

    pub(crate) fn decided(&self, key: &ActionKey) -> Option<&Content> {
        self.of.get(key).filter(|sight| sight.taken_back)?.staged.as_ref()
    }

    pub(crate) fn find(&self, key: &ActionKey, digest: &Digest) -> Option<&Content> {
        let sight = self.of.get(key)?;
        [&sight.staged, &sight.last, &sight.before]
            .into_iter()
            .flatten()
            .find(|content| content.digest == *digest)
    }

    /// Returns the last content on screen that differs from this one.
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
