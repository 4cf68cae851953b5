//! Memory for facts that a backend tells only once.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A map that forgets its oldest entry when it is full.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    most: usize,
    kept: Mutex<(HashMap<K, V>, VecDeque<K>)>,
}

impl<K: Clone + Eq + Hash, V: Clone> Recent<K, V> {
    pub(super) fn most(most: usize) -> Self {
        Self { most, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, (HashMap<K, V>, VecDeque<K>)> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn put(&self, key: K, value: V) {
        let (values, order) = &mut *self.kept();
        if values.insert(key.clone(), value).is_none() {
            order.push_back(key);
        }
        if order.len() > self.most
            && let Some(oldest) = order.pop_front()
        {
            values.remove(&oldest);
        }
    }

    pub(super) fn get(&self, key: &K) -> Option<V> {
        self.kept().0.get(key).cloned()
    }

    pub(super) fn remove(&self, key: &K) {
        let (values, order) = &mut *self.kept();
        values.remove(key);
        order.retain(|known| known != key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_is_forgotten_beyond_the_most() {
        let recent = Recent::most(2);
        for (key, value) in [(1, 'a'), (2, 'b'), (1, 'c'), (3, 'd')] {
            recent.put(key, value);
        }
        assert_eq!([1, 2, 3].map(|key| recent.get(&key)), [None, Some('b'), Some('d')]);
        recent.remove(&2);
        recent.put(4, 'e');
        assert_eq!([3, 4].map(|key| recent.get(&key)), [Some('d'), Some('e')]);
    }
}
