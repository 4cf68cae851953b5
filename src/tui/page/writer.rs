//! Puts a page together, line by line.

use std::sync::Arc;

use super::long::Long;
use super::{Block, Kind, PageLine};
use crate::text::{self, Shown};

/// Collects lines of at most `width` columns.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) width: usize,
    /// Since the last long text.
    pub(super) lines: Vec<PageLine>,
    pub(super) blocks: Vec<Block>,
    pub(super) needed: Option<usize>,
}

impl Writer {
    /// What comes is about what runs.
    pub(super) fn needed_until_here(&mut self) {
        self.flush();
        self.needed = Some(self.blocks.len());
    }

    pub(super) fn blank(&mut self) {
        self.lines.push(PageLine::default());
    }

    pub(super) fn push(&mut self, parts: Vec<(Kind, Shown)>) {
        self.lines.push(PageLine { parts });
    }

    pub(super) fn block(&mut self, block: Block) {
        self.flush();
        self.blocks.push(block);
    }

    pub(super) fn flush(&mut self) {
        if !self.lines.is_empty() {
            self.blocks.push(Block::Lines(std::mem::take(&mut self.lines)));
        }
    }

    /// Text of any length, each of its lines wrapped or not as the page is.
    pub(super) fn long(&mut self, kind: Kind, indent: usize, text: impl Into<Arc<str>>) {
        let text = text.into();
        let all = 0..text.len();
        self.block(Block::Long(Long::new(text, all, indent, kind)));
    }

    /// JSON that is laid out in lines.
    pub(super) fn json(&mut self, indent: usize, text: impl Into<Arc<str>>) {
        let text = text.into();
        let all = 0..text.len();
        self.block(Block::Long(Long::new(text, all, indent, Kind::Plain).json()));
    }

    /// Our own words, wrapped.
    pub(super) fn ours(&mut self, kind: Kind, text: impl Into<String>) {
        self.wrapped(kind, 0, &Shown::ours(text));
    }

    /// Text of several lines, each wrapped, each indented by `indent` columns.
    pub(super) fn text(&mut self, kind: Kind, indent: usize, text: &str) {
        for line in text::lines(text) {
            self.wrapped(kind, indent, &line);
        }
    }

    pub(super) fn wrapped(&mut self, kind: Kind, indent: usize, shown: &Shown) {
        for row in shown.wrap(self.width.saturating_sub(indent).max(2)) {
            self.push(vec![(Kind::Plain, Shown::ours(" ".repeat(indent))), (kind, row)]);
        }
    }
}
