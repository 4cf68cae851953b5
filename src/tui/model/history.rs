//! What happened to the actions whose History tab was opened.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::domain::{ActionKey, Revision, Status};
use crate::inbox::{History, Problem};

/// So many are kept.
const KEPT: usize = 64;

/// Where an action stood when its history was asked for: another one, and there is more to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stood {
    pub revision: Revision,
    pub status: Status,
}

#[derive(Clone, Debug)]
pub struct Told {
    pub stood: Stood,
    pub answer: Arc<Result<History, Problem>>,
    /// Counts up with every answer, so that a page knows which one it shows.
    pub number: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Histories {
    told: HashMap<ActionKey, Told>,
    order: VecDeque<ActionKey>,
    asked: HashSet<ActionKey>,
    answers: u64,
}

impl Histories {
    pub fn get(&self, key: &ActionKey) -> Option<&Told> {
        self.told.get(key)
    }

    /// Notes that it is asked for; false when it is known as of then, or on the way.
    pub fn ask(&mut self, key: &ActionKey, stood: &Stood) -> bool {
        let known = self.told.get(key).is_some_and(|told| told.stood == *stood);
        !known && self.asked.insert(key.clone())
    }

    /// Keeps an answer, and lets go of the one kept longest.
    pub fn keep(&mut self, key: ActionKey, stood: Stood, answer: Result<History, Problem>) {
        self.asked.remove(&key);
        self.answers += 1;
        let told = Told { stood, answer: Arc::new(answer), number: self.answers };
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
