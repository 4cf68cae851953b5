//! Builds a page line by line.

use std::ops::Range;
use std::sync::Arc;

use crate::contract::tool::Language;
use crate::text;
use crate::text::Shown;

use super::colours;
use super::line::{Kind, PageLine};
use super::long_text::Long;

#[derive(Clone, Debug)]
pub(crate) enum Block {
    Lines(Vec<PageLine>),
    Long(Long),
    /// A folded object or array, and the start of its first line in the text.
    Fold(usize, PageLine),
}

impl Block {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Lines(lines) => lines.len(),
            Self::Long(long) => long.len(),
            Self::Fold(..) => 1,
        }
    }

    pub(crate) fn line(&self, nth: usize) -> Option<&PageLine> {
        match self {
            Self::Lines(lines) => lines.get(nth),
            Self::Fold(_, line) => Some(line),
            Self::Long(_) => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) width: usize,
    pub(crate) colours: bool,
    /// Lines since the last long text.
    pub(crate) lines: Vec<PageLine>,
    pub(crate) blocks: Vec<Block>,
}

impl Writer {
    pub(crate) const fn new(width: usize, colours: bool) -> Self {
        Self { width, colours, lines: Vec::new(), blocks: Vec::new() }
    }

    pub(crate) fn blank(&mut self) {
        self.lines.push(PageLine::default());
    }

    pub(crate) fn push(&mut self, parts: Vec<(Kind, Shown)>) {
        self.lines.push(PageLine { parts });
    }

    pub(crate) fn block(&mut self, block: Block) {
        self.flush();
        self.blocks.push(block);
    }

    pub(crate) fn flush(&mut self) {
        if !self.lines.is_empty() {
            self.blocks.push(Block::Lines(std::mem::take(&mut self.lines)));
        }
    }

    /// Writes a text of any length; the page decides whether its lines wrap.
    pub(crate) fn long(&mut self, kind: Kind, indent: usize, text: impl Into<String>) {
        let text = text.into();
        let all = 0..text.len();
        self.block(Block::Long(Long::new(Arc::new(text), all, indent, kind)));
    }

    pub(crate) fn long_part(&mut self, kind: Kind, indent: usize, text: Arc<String>, part: Range<usize>) {
        self.block(Block::Long(Long::new(text, part, indent, kind)));
    }

    pub(crate) fn source(&mut self, language: Option<Language>, indent: usize, text: impl Into<String>) {
        let text = text.into();
        let all = 0..text.len();
        let language = language.filter(|_| self.colours);
        self.block(Block::Long(Long::new(Arc::new(text), all, indent, Kind::Plain).painted(language)));
    }

    pub(crate) fn json(&mut self, indent: usize, text: impl Into<String>) {
        let text = text.into();
        let all = 0..text.len();
        self.block(Block::Long(Long::new(Arc::new(text), all, indent, Kind::Plain).json(self.colours)));
    }

    pub(crate) fn painted(&self, language: Option<Language>, kind: Kind, shown: Shown) -> Vec<(Kind, Shown)> {
        match language.filter(|_| self.colours && kind == Kind::Plain) {
            Some(language) => colours::painted(language, shown),
            None => vec![(kind, shown)],
        }
    }

    /// Writes placet's own words, wrapped.
    pub(crate) fn ours(&mut self, kind: Kind, text: impl Into<String>) {
        self.wrapped(kind, 0, &Shown::ours(text));
    }

    pub(crate) fn text(&mut self, kind: Kind, indent: usize, text: &str) {
        for line in text::lines(text) {
            self.wrapped(kind, indent, &line);
        }
    }

    pub(crate) fn wrapped(&mut self, kind: Kind, indent: usize, shown: &Shown) {
        for row in shown.wrap(self.width.saturating_sub(indent).max(2)) {
            self.push(vec![(Kind::Plain, Shown::ours(" ".repeat(indent))), (kind, row)]);
        }
    }
}
