//! Text search in a page.

use std::ops::Range;

use super::line::{Kind, PageLine};

/// A search text. Upper and lower case differ only if it contains a capital.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needle {
    chars: Vec<char>,
    exact: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) block: usize,
    /// For a block of finished lines.
    pub(crate) line: usize,
    /// In bytes.
    pub(crate) range: Range<usize>,
}

impl Needle {
    pub(crate) fn new(text: &str) -> Option<Self> {
        let exact = text.chars().any(char::is_uppercase);
        let chars: Vec<char> = text.chars().map(|c| if exact { c } else { lower(c) }).collect();
        (!chars.is_empty()).then_some(Self { chars, exact })
    }

    /// Reports all matches in a text, without overlaps.
    pub(crate) fn find(&self, text: &str, mut told: impl FnMut(Range<usize>)) {
        let Some((&first, rest)) = self.chars.split_first() else { return };
        let same = |c: char, wanted: char| c == wanted || (!self.exact && lower(c) == wanted);
        let mut free = 0;
        for (at, c) in text.char_indices() {
            if at < free || !same(c, first) {
                continue;
            }
            let after = at + c.len_utf8();
            let mut tail = text.get(after..).unwrap_or_default().char_indices();
            let mut end = after;
            let whole = rest.iter().all(|&wanted| {
                tail.next().is_some_and(|(offset, c)| {
                    end = after + offset + c.len_utf8();
                    same(c, wanted)
                })
            });
            if whole {
                told(at..end);
                free = end;
            }
        }
    }
}

/// Maps one character to one character, so that positions do not shift.
fn lower(c: char) -> char {
    if c.is_ascii() { c.to_ascii_lowercase() } else { c.to_lowercase().next().unwrap_or(c) }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found<'a> {
    pub hits: &'a [Hit],
    pub at: usize,
}

impl<'a> Found<'a> {
    pub(crate) fn within(
        self,
        block: usize,
        line: usize,
        range: Range<usize>,
    ) -> impl Iterator<Item = (Kind, Range<usize>)> + use<'a> {
        let first = self.hits.partition_point(|hit| {
            (hit.block, hit.line) < (block, line)
                || ((hit.block, hit.line) == (block, line) && hit.range.end <= range.start)
        });
        let hits = self.hits.iter().enumerate().skip(first);
        hits.take_while(move |(_, hit)| (hit.block, hit.line) == (block, line) && hit.range.start < range.end)
            .map(move |(nth, hit)| (if nth == self.at { Kind::Here } else { Kind::Match }, hit.range.clone()))
    }
}

/// Splits a range at the start and end of each hit, and reports each part with the look of its hit.
pub(crate) fn mark(
    range: Range<usize>,
    hits: impl Iterator<Item = (Kind, Range<usize>)>,
    mut told: impl FnMut(Range<usize>, Option<Kind>),
) {
    let mut at = range.start;
    for (kind, hit) in hits {
        let (start, end) = (hit.start.max(at), hit.end.min(range.end));
        if at < start {
            told(at..start, None);
        }
        if start < end {
            told(start..end, Some(kind));
        }
        at = end.max(at);
    }
    if at < range.end {
        told(at..range.end, None);
    }
}

impl PageLine {
    pub(crate) fn marked(self, found: Found<'_>, block: usize, line: usize) -> Self {
        let length = self.parts.iter().map(|(_, shown)| shown.plain().len()).sum();
        let mut hits = found.within(block, line, 0..length).peekable();
        if hits.peek().is_none() {
            return self;
        }
        let (mut parts, mut at) = (Vec::new(), 0);
        for (kind, shown) in self.parts {
            let length = shown.plain().len();
            let (mut rest, mut gone) = (shown, at);
            mark(at..at + length, found.within(block, line, at..at + length), |range, hit| {
                let (head, tail) = rest.split_at(range.end - gone);
                (rest, gone) = (tail, range.end);
                parts.push((hit.unwrap_or(kind), head));
            });
            at += length;
        }
        Self { parts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(needle: &str, text: &str) -> Vec<Range<usize>> {
        let mut all = Vec::new();
        Needle::new(needle).unwrap().find(text, |range| all.push(range));
        all
    }

    #[test]
    fn lowercase_needle_matches_both_cases() {
        assert_eq!(found("er", "ERrer"), [0..2, 3..5]);
        assert_eq!(found("Er", "erErEr"), [2..4, 4..6]);
        assert_eq!(found("ö", "Ö ö"), [0..2, 3..5]);
        assert_eq!(found("aa", "aaaa a"), [0..2, 2..4]);
        assert_eq!(found("x", ""), Vec::<Range<usize>>::new());
        assert_eq!(Needle::new(""), None);
    }
}
