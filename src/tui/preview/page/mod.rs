//! The pages of a preview: an action as lines that fit a width. Foreign text is written through [`crate::text`].
//!
//! A page is built once per content, tab and width. Long texts are counted in parts, one per message, and laid out only
//! when visible, so that a text of ten megabytes can be read to the end and never delays a key.

pub(crate) mod before_after;
pub(crate) mod colours;
pub(crate) mod context;
pub(crate) mod fields;
pub(crate) mod json_rows;
pub(crate) mod line;
pub(crate) mod links;
pub(crate) mod long_text;
pub(crate) mod made;
pub(crate) mod preview_comparison;
pub(crate) mod search;
#[cfg(test)]
mod tests;
pub(crate) mod timeline;
pub(crate) mod value;
pub(crate) mod writer;

use std::sync::Arc;

use crate::domain::Row;
use crate::inbox::{Answer, Problem};
use crate::text;
use crate::tui::preview::page::line::{PageLine, Window};
use crate::tui::preview::page::made::{Cached, Made, Tab};
use crate::tui::preview::page::search::{Found, Hit, Needle};
use crate::tui::preview::page::writer::{Block, Writer};

#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub of: Made,
    blocks: Vec<Block>,
    /// First row of each block whose counting has begun.
    firsts: Vec<usize>,
    rows: usize,
}

/// All inputs of a page, for laying it out in the background.
#[derive(Clone, Debug)]
pub(crate) struct ToLayOut {
    pub of: Made,
    pub cached: Arc<Cached>,
    pub row: Row,
    pub told: Option<Arc<Result<Answer, Problem>>>,
    pub zone: jiff::tz::TimeZone,
}

/// Compares by `of`, which identifies the inputs.
impl PartialEq for ToLayOut {
    fn eq(&self, other: &Self) -> bool {
        self.of == other.of
    }
}

impl Eq for ToLayOut {}

impl ToLayOut {
    pub(crate) fn lay_out(self) -> Page {
        let Self { of, cached, row, told, zone } = self;
        Page::new(of, &cached, &row, told.as_deref(), &zone)
    }
}

impl Page {
    pub(crate) fn new(
        of: Made,
        cached: &Cached,
        row: &Row,
        told: Option<&Result<Answer, Problem>>,
        zone: &jiff::tz::TimeZone,
    ) -> Self {
        let width = usize::from(of.width).max(text::NARROWEST);
        let mut writer = Writer::new(width, of.colours);
        match of.tab {
            Tab::Rendered => fields::rendered(&mut writer, cached, &of, zone),
            Tab::Diff => before_after::compared(&mut writer, cached, &of, zone),
            Tab::Raw => fields::raw(&mut writer, cached, &of.folds),
            Tab::Context => context::context(&mut writer, cached, row, (&of, told), zone),
            Tab::History => timeline::history(&mut writer, cached, (&of, told), zone),
        }
        writer.flush();
        Self { of, blocks: writer.blocks, firsts: vec![0], rows: 0 }
    }

    /// Counts rows, reading about `budget` bytes. [`Self::is_counted`] tells whether all are counted.
    pub(crate) fn count(&mut self, mut budget: usize) {
        let width = usize::from(self.of.width).max(text::NARROWEST);
        while budget > 0 {
            let nth = self.firsts.len() - 1;
            let first = self.firsts.last().copied().unwrap_or_default();
            let Some(block) = self.blocks.get_mut(nth) else { return };
            if let Block::Long(long) = block {
                long.count(width, self.of.wrap, &mut budget);
            }
            self.rows = first + block.len();
            if matches!(block, Block::Long(long) if !long.is_counted()) {
                return;
            }
            self.firsts.push(self.rows);
        }
    }

    /// Returns true if all rows are counted. Until then there are more than [`Self::len`].
    pub(crate) fn is_counted(&self) -> bool {
        self.firsts.len() > self.blocks.len()
    }

    pub(crate) const fn len(&self) -> usize {
        self.rows
    }

    /// Returns all rows, to be written elsewhere than on the screen.
    pub(crate) fn lines(&mut self) -> impl Iterator<Item = PageLine> {
        self.count(usize::MAX);
        let window = Window { left: 0, width: usize::MAX / 2 };
        (0..self.len()).map(move |nth| self.row(nth, window, Found::default()))
    }

    pub(crate) fn row(&self, nth: usize, window: Window, found: Found<'_>) -> PageLine {
        let Some((index, line)) = self.place(nth) else { return PageLine::default() };
        match self.blocks.get(index) {
            Some(Block::Long(long)) => long.row(line, window, |bytes| found.within(index, 0, bytes)),
            Some(block) => {
                let row = block.line(line).cloned().unwrap_or_default();
                row.marked(found, index, line).right_of(window.left)
            }
            None => PageLine::default(),
        }
    }

    /// Returns true if a row contains foreign text, which is marked by the gutter.
    pub(crate) fn is_foreign(&self, nth: usize) -> bool {
        let Some((index, line)) = self.place(nth) else { return false };
        match self.blocks.get(index) {
            Some(Block::Long(_)) => true,
            Some(block) => block.line(line).is_some_and(PageLine::is_foreign),
            None => false,
        }
    }

    pub(crate) fn fits(&self, nth: usize) -> bool {
        self.of.wrap || !self.reaches(nth, usize::from(self.of.width))
    }

    pub(crate) fn reaches(&self, nth: usize, columns: usize) -> bool {
        let Some((index, line)) = self.place(nth) else { return false };
        match self.blocks.get(index) {
            Some(Block::Long(long)) => long.reaches(line, columns),
            Some(block) => block
                .line(line)
                .is_some_and(|line| line.parts.iter().map(|(_, part)| part.width()).sum::<usize>() > columns),
            None => false,
        }
    }

    /// Returns the position of a row's text, which stays the same at another width.
    pub(crate) fn anchor(&self, nth: usize) -> Hit {
        let (block, line) = self.place(nth).unwrap_or_default();
        let at = match self.blocks.get(block) {
            Some(Block::Long(long)) => long.start(line),
            _ => 0,
        };
        Hit { block, line, range: at..at }
    }

    pub(crate) fn find(&self, needle: &Needle) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (block, content) in self.blocks.iter().enumerate() {
            match content {
                Block::Long(long) => long.find(needle, |range| hits.push(Hit { block, line: 0, range })),
                content => {
                    for line in 0..content.len() {
                        let plain = content.line(line).map(PageLine::plain).unwrap_or_default();
                        needle.find(&plain, |range| hits.push(Hit { block, line, range }));
                    }
                }
            }
        }
        hits
    }

    /// Returns the row in which a hit begins. Counts as many rows as needed.
    pub(crate) fn row_of(&mut self, hit: &Hit) -> usize {
        while !self.is_counted() && !self.has_counted(hit) {
            self.count(1 << 20);
        }
        let within = match self.blocks.get(hit.block) {
            Some(Block::Long(long)) => long.row_of(hit.range.start),
            Some(block) => hit.line.min(block.len().saturating_sub(1)),
            None => 0,
        };
        self.firsts.get(hit.block).map_or(0, |first| first + within)
    }

    fn has_counted(&self, hit: &Hit) -> bool {
        let block = self.blocks.get(hit.block).filter(|_| hit.block < self.firsts.len());
        block.is_some_and(|block| match block {
            Block::Long(long) => long.has_counted(hit.range.start),
            _ => hit.block + 1 < self.firsts.len(),
        })
    }

    /// Returns the start of the line of the Raw tab's text that a row is in.
    pub(crate) fn line_of_json(&self, nth: usize) -> Option<usize> {
        let (index, line) = self.place(nth)?;
        match self.blocks.get(index)? {
            Block::Long(long) if long.is_json() => Some(long.line_start(line)),
            Block::Fold(at, _) => Some(*at),
            _ => None,
        }
    }

    /// Returns the row in which that line begins, or the fold that contains it.
    pub(crate) fn row_of_json(&mut self, at: usize) -> Option<usize> {
        self.count(usize::MAX);
        let holds = |block: &Block| match block {
            Block::Long(long) => long.is_json() && long.begin() <= at,
            Block::Fold(start, _) => *start <= at,
            Block::Lines(_) => false,
        };
        let index = self.blocks.iter().rposition(holds)?;
        let within = match self.blocks.get(index)? {
            Block::Long(long) => long.row_of(at.saturating_sub(long.begin())),
            _ => 0,
        };
        Some(self.firsts.get(index)? + within)
    }

    fn place(&self, nth: usize) -> Option<(usize, usize)> {
        let index = self.firsts.partition_point(|first| *first <= nth).checked_sub(1)?;
        let first = self.firsts.get(index)?;
        (nth < self.rows).then_some((index, nth - first))
    }
}
