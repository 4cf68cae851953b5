//! Finding a text in a page.

use std::ops::Range;

use super::line::{Kind, PageLine};

/// What is looked for. Capitals count only where there are some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needle {
    chars: Vec<char>,
    exact: bool,
}

/// Where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) block: usize,
    /// Of a block of ready lines.
    pub(crate) line: usize,
    /// Bytes.
    pub(crate) range: Range<usize>,
}

impl Needle {
    /// `None` for nothing.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let exact = text.chars().any(char::is_uppercase);
        let chars: Vec<char> = text.chars().map(|c| if exact { c } else { lower(c) }).collect();
        (!chars.is_empty()).then_some(Self { chars, exact })
    }

    /// Tells every place in a text, none of which overlap.
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

/// One character to one: places in the text stay what they are.
fn lower(c: char) -> char {
    if c.is_ascii() { c.to_ascii_lowercase() } else { c.to_lowercase().next().unwrap_or(c) }
}

/// The hits of a page, and which of them the search is at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found<'a> {
    pub hits: &'a [Hit],
    pub at: usize,
}

impl<'a> Found<'a> {
    /// Those in a part of a block or line, each with its look.
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

/// Cuts a range where hits begin and end, and tells each part with the look of its hit.
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
    /// With what was found in it.
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
    fn small_letters_find_both_and_capitals_themselves() {
        assert_eq!(found("er", "ERrer"), [0..2, 3..5]);
        assert_eq!(found("Er", "erErEr"), [2..4, 4..6]);
        assert_eq!(found("ö", "Ö ö"), [0..2, 3..5]);
        assert_eq!(found("aa", "aaaa a"), [0..2, 2..4]);
        assert_eq!(found("x", ""), Vec::<Range<usize>>::new());
        assert_eq!(Needle::new(""), None);
    }
}
