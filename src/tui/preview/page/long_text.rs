//! A long text in a page. Its rows are counted in parts, one per message, and laid out only when visible.

use std::ops::Range;
use std::sync::Arc;

use crate::contract::tool::Language;
use crate::text;
use crate::text::Shown;

use super::colours;
use super::colours::Lex;
use super::line::{Kind, PageLine, Window};
use super::search::{Needle, mark};

#[derive(Clone, Debug)]
pub(crate) struct Long {
    text: Arc<String>,
    range: Range<usize>,
    indent: usize,
    kind: Kind,
    json: bool,
    language: Option<Language>,
    /// Start of each row counted so far, in bytes, with the lexer's state.
    starts: Vec<(u32, Lex)>,
    counting: Option<Counting>,
}

/// Progress of counting, continued in a later message.
#[derive(Clone, Copy, Debug)]
struct Counting {
    at: usize,
    /// End of the line that `at` is in, without its line break.
    line: usize,
    lex: Lex,
}

impl Long {
    pub(crate) fn new(text: Arc<String>, range: Range<usize>, indent: usize, kind: Kind) -> Self {
        let (json, language) = (false, None);
        let mut long = Self { text, range, indent, kind, json, language, starts: Vec::new(), counting: None };
        long.counting = Some(long.line_at(long.range.start, Lex::default()));
        long
    }

    pub(crate) fn json(self, colours: bool) -> Self {
        Self { json: true, ..self }.painted(colours.then_some(Language::Json))
    }

    pub(crate) fn painted(self, language: Option<Language>) -> Self {
        Self { language, ..self }
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(crate) const fn is_counted(&self) -> bool {
        self.counting.is_none()
    }

    /// Counts rows and subtracts the bytes it read from the budget.
    pub(crate) fn count(&mut self, width: usize, wrap: bool, budget: &mut usize) {
        let width = self.columns(width);
        while let Some(now) = self.counting.filter(|_| *budget > 0) {
            let rest = now.at..now.line;
            let blank = self.blank_lines(now);
            let length = match blank {
                0 if wrap => text::row(&self.text, rest, width),
                0 => rest.len(),
                folded => folded,
            };
            let end = now.at + length;
            self.starts.push((u32::try_from(now.at).unwrap_or(u32::MAX), now.lex));
            *budget = budget.saturating_sub(length.max(64));
            let lex = match self.language.filter(|_| blank == 0) {
                Some(language) => colours::lex(language, now.lex, &self.text, now.at..end, &mut |_, _| ()),
                None => now.lex,
            };
            self.counting = if blank > 0 {
                Some(self.line_at(end, lex.next_line()))
            } else if end < now.line {
                Some(Counting { at: end, lex, ..now })
            } else {
                let line = self.text.get(end..self.range.end).unwrap_or_default();
                line.find('\n').map(|lf| self.line_at(end + lf + 1, lex.next_line()))
            };
        }
    }

    /// Returns the bytes of the empty lines that begin here if they are folded into one row. Many empty lines could
    /// push the rest of the text out of sight.
    fn blank_lines(&self, now: Counting) -> usize {
        let rest = self.text.get(now.at..self.range.end).unwrap_or_default();
        let feed = if rest.starts_with('\r') { "\r\n" } else { "\n" };
        if self.json || now.at != now.line || !rest.starts_with(feed) {
            return 0;
        }
        let bytes = rest.len() - rest.trim_start_matches(feed).len();
        if bytes / feed.len() >= text::BLANK_LINES { bytes } else { 0 }
    }

    fn folded(&self, nth: usize) -> usize {
        let bytes = self.bytes(nth);
        if self.text.as_bytes().get(bytes.start).is_none_or(|byte| !byte.is_ascii_control()) {
            return 0;
        }
        let next = self.starts.get(nth + 1).map(|(at, _)| *at as usize);
        let end = next.or(self.counting.map(|counting| counting.at)).unwrap_or(self.range.end);
        let row = self.text.get(bytes.start..end).unwrap_or_default();
        if row.starts_with(['\n', '\r']) { row.matches('\n').count() } else { 0 }
    }

    fn line_at(&self, at: usize, lex: Lex) -> Counting {
        let rest = self.text.get(at..self.range.end).unwrap_or_default();
        let line = rest.split_inclusive('\n').next().map_or(0, |line| text::line_of(line).len());
        Counting { at, line: at + line, lex }
    }

    fn columns(&self, width: usize) -> usize {
        width.saturating_sub(self.indent).max(text::NARROWEST)
    }

    fn bytes(&self, nth: usize) -> Range<usize> {
        let start = self.starts.get(nth).map_or(self.range.end, |(at, _)| *at as usize);
        let next = self.starts.get(nth + 1).map(|(at, _)| *at as usize);
        let end = next.or(self.counting.map(|counting| counting.at)).unwrap_or(self.range.end);
        let row = self.text.get(start..end).unwrap_or_default();
        start..start + text::line_of(row).len()
    }

    pub(crate) fn line_start(&self, nth: usize) -> usize {
        let start = self.bytes(nth).start;
        let before = self.text.get(self.range.start..start).unwrap_or_default();
        before.rfind('\n').map_or(self.range.start, |lf| self.range.start + lf + 1)
    }

    /// Returns the row that contains a byte, counted from the start of the part.
    pub(crate) fn row_of(&self, byte: usize) -> usize {
        let byte = self.range.start + byte;
        self.starts.partition_point(|(at, _)| *at as usize <= byte).saturating_sub(1)
    }

    pub(crate) const fn begin(&self) -> usize {
        self.range.start
    }

    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// Returns true if a row extends beyond that many columns.
    pub(crate) fn reaches(&self, nth: usize, columns: usize) -> bool {
        if self.folded(nth) > 1 {
            return false;
        }
        let row = self.bytes(nth);
        text::column(&self.text, row.clone(), columns.saturating_sub(self.indent)) < row.len()
    }

    pub(crate) fn has_counted(&self, byte: usize) -> bool {
        self.counting.is_none_or(|counting| self.range.start + byte < counting.at)
    }

    /// Returns the start of a row in bytes from the start of the part, which stays valid if the part moves to another
    /// text.
    pub(crate) fn start(&self, nth: usize) -> usize {
        self.bytes(nth).start - self.range.start
    }

    /// Returns a row ready to be drawn. `hits` returns the search hits between two bytes of the part.
    pub(crate) fn row<I>(&self, nth: usize, window: Window, hits: impl Fn(Range<usize>) -> I) -> PageLine
    where
        I: Iterator<Item = (Kind, Range<usize>)>,
    {
        let bytes = self.bytes(nth);
        let folded = self.folded(nth);
        if folded > 1 {
            let parts = vec![
                (Kind::Plain, Shown::ours(" ".repeat(self.indent))),
                (self.kind, text::blank_lines(folded)),
            ];
            return PageLine { parts }.right_of(window.left);
        }
        // The text to the right of the window may be megabytes long.
        let columns = window.left.saturating_add(window.width).saturating_add(1);
        let row = bytes.start..bytes.start + text::column(&self.text, bytes.clone(), columns);
        let mut kinds = Vec::new();
        let first = self.range.start;
        let mut told = |kind, range: Range<usize>| {
            let hits = hits(range.start - first..range.end - first);
            let hits = hits.map(|(kind, hit)| (kind, first + hit.start..first + hit.end));
            mark(range, hits, |range, hit| kinds.push((hit.unwrap_or(kind), range)));
        };
        match self.language {
            Some(language) => {
                let state = self.starts.get(nth).map_or(Lex::default(), |(_, lex)| *lex);
                colours::lex(language, state, &self.text, row.clone(), &mut told);
            }
            None => told(self.kind, row.clone()),
        }
        let mut parts = vec![(Kind::Plain, Shown::ours(" ".repeat(self.indent)))];
        parts.extend(text::styled(&self.text, row, &kinds));
        PageLine { parts }.right_of(window.left)
    }

    pub(crate) fn find(&self, needle: &Needle, told: impl FnMut(Range<usize>)) {
        needle.find(self.text.get(self.range.clone()).unwrap_or_default(), told);
    }
}
