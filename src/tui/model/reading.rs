//! Which lines of a page were on screen so far: being at the end is not having read what is before it.

use std::collections::HashMap;
use std::ops::Range;

use crate::domain::ActionKey;
use crate::tui::page::Made;

/// Per page, the lines that were on screen.
#[derive(Clone, Debug, Default)]
pub struct Reading(HashMap<ActionKey, Vec<(Made, Lines)>>);

/// In order, apart from each other.
type Lines = Vec<Range<usize>>;

impl Reading {
    /// Notes that these lines are on screen.
    pub fn note(&mut self, of: &Made, lines: Range<usize>) {
        if self.covered(of).iter().any(|range| range.start <= lines.start && lines.end <= range.end) {
            return;
        }
        let pages = self.0.entry(of.key.clone()).or_default();
        match pages.iter_mut().find(|(page, _)| page == of) {
            Some((_, ranges)) => *ranges = merged(std::mem::take(ranges), lines),
            None => pages.push((of.clone(), vec![lines])),
        }
    }

    /// The first line of so many that was not on screen yet.
    pub fn unread(&self, of: &Made, total: usize) -> Option<usize> {
        let first = self.covered(of).first().filter(|range| range.start == 0).map_or(0, |range| range.end);
        (first < total).then_some(first)
    }

    /// Nothing more needs to be known of its pages.
    pub fn forget(&mut self, key: &ActionKey) {
        self.0.remove(key);
    }

    fn covered(&self, of: &Made) -> &[Range<usize>] {
        let page = self.0.get(&of.key).and_then(|pages| pages.iter().find(|(page, _)| page == of));
        page.map_or(&[], |(_, ranges)| ranges)
    }
}

fn merged(mut ranges: Lines, new: Range<usize>) -> Lines {
    ranges.push(new);
    ranges.sort_by_key(|range| range.start);
    let mut all: Lines = Vec::with_capacity(ranges.len());
    for range in ranges {
        match all.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => all.push(range),
        }
    }
    all
}
