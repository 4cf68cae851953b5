//! What was asked of a source about single actions, once its tab was opened: what happened to them, and what is around them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::domain::{ActionKey, Passage, Revision, Status};
use crate::inbox::{History, Problem};

/// So many are kept.
const KEPT: usize = 64;

/// Where an action stood when it was asked about: another one, and there is more to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stood {
    pub revision: Revision,
    pub status: Status,
}

#[derive(Debug)]
pub struct Told<T> {
    pub stood: Stood,
    pub answer: Arc<Result<T, Problem>>,
    /// Counts up with every answer, so that a page knows which one it shows.
    pub number: u64,
}

/// Answers of one kind, by action.
#[derive(Debug)]
pub struct Answers<T> {
    told: HashMap<ActionKey, Told<T>>,
    order: VecDeque<ActionKey>,
    asked: HashSet<ActionKey>,
    count: u64,
}

/// What happened to them.
pub type Histories = Answers<History>;
/// What their sources know around them.
pub type Contexts = Answers<Vec<Passage>>;

impl<T> Default for Answers<T> {
    fn default() -> Self {
        Self { told: HashMap::new(), order: VecDeque::new(), asked: HashSet::new(), count: 0 }
    }
}

// By hand, because an answer is shared and need not be cloned itself.
impl<T> Clone for Told<T> {
    fn clone(&self) -> Self {
        Self { stood: self.stood.clone(), answer: Arc::clone(&self.answer), number: self.number }
    }
}

impl<T> Clone for Answers<T> {
    fn clone(&self) -> Self {
        Self {
            told: self.told.clone(),
            order: self.order.clone(),
            asked: self.asked.clone(),
            count: self.count,
        }
    }
}

impl<T> Answers<T> {
    pub fn get(&self, key: &ActionKey) -> Option<&Told<T>> {
        self.told.get(key)
    }

    /// Notes that it is asked for; false when it is known as of then, or on the way.
    pub fn ask(&mut self, key: &ActionKey, stood: &Stood) -> bool {
        let known = self.told.get(key).is_some_and(|told| told.stood == *stood);
        !known && self.asked.insert(key.clone())
    }

    /// Keeps an answer, and lets go of the one kept longest.
    pub fn keep(&mut self, key: ActionKey, stood: Stood, answer: Result<T, Problem>) {
        self.asked.remove(&key);
        self.count += 1;
        let told = Told { stood, answer: Arc::new(answer), number: self.count };
        if self.told.insert(key.clone(), told).is_none() {
            self.order.push_back(key);
        }
        while self.order.len() > KEPT {
            if let Some(oldest) = self.order.pop_front() {
                self.told.remove(&oldest);
            }
        }
    }

    /// All is asked for again when it is looked at. What is on the way is kept when it comes.
    pub fn clear(&mut self) {
        self.told.clear();
        self.order.clear();
    }
}
