//! The text of a preview: an action as lines that fit a width, every foreign character through [`crate::text`].
//!
//! Built once per content, tab and width, and kept: drawing takes a slice of it.

use crate::domain::{ActionKey, Digest, Edits, Row};
use crate::text::{self, Shown};

use super::model::{Cached, Tab};

mod context;
mod diff;
mod fields;

pub(in crate::tui) use fields::listed;

/// A page and what it was made from.
#[derive(Clone, Debug)]
pub struct Page {
    pub of: Made,
    pub lines: Vec<PageLine>,
}

/// Everything a page depends on; another one needs another page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub key: ActionKey,
    pub digest: Digest,
    pub tab: Tab,
    pub width: u16,
    pub edits: Option<Edits>,
    /// Where the action stands: the Context tab says so.
    pub status: crate::domain::Status,
    /// Its source runs nothing that is approved.
    pub paused: bool,
}

/// One line, in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageLine {
    pub parts: Vec<(Kind, Shown)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Plain,
    Key,
    Dim,
    Old,
    New,
    Warn,
    Good,
}

impl Page {
    pub fn new(of: Made, cached: &Cached, row: &Row, zone: &jiff::tz::TimeZone) -> Self {
        let mut writer = Writer { width: usize::from(of.width.max(8)), lines: Vec::new() };
        match of.tab {
            Tab::Rendered => fields::rendered(&mut writer, cached, &of, zone),
            Tab::Diff => diff::diff(&mut writer, cached, of.edits.as_ref()),
            Tab::Raw => fields::raw(&mut writer, cached),
            Tab::Context => context::context(&mut writer, cached, row, zone),
        }
        Self { of, lines: writer.lines }
    }
}

/// Collects lines of at most `width` columns.
#[derive(Debug)]
struct Writer {
    width: usize,
    lines: Vec<PageLine>,
}

impl Writer {
    fn blank(&mut self) {
        self.lines.push(PageLine::default());
    }

    fn push(&mut self, parts: Vec<(Kind, Shown)>) {
        self.lines.push(PageLine { parts });
    }

    /// Our own words, wrapped.
    fn ours(&mut self, kind: Kind, text: impl Into<String>) {
        self.wrapped(kind, 0, &Shown::ours(text));
    }

    /// Text of several lines, each wrapped, each indented by `indent` columns.
    fn text(&mut self, kind: Kind, indent: usize, text: &str) {
        for line in text::lines(text) {
            self.wrapped(kind, indent, &line);
        }
    }

    fn wrapped(&mut self, kind: Kind, indent: usize, shown: &Shown) {
        for row in shown.wrap(self.width.saturating_sub(indent).max(2)) {
            self.push(vec![(Kind::Plain, Shown::ours(" ".repeat(indent))), (kind, row)]);
        }
    }

    /// `key  value` on one line where both fit, else the value below, indented.
    fn field(&mut self, column: usize, key: &Shown, value: &str, kind: Kind) {
        let key = key.cut(self.width);
        let shown = text::lines(value);
        let gap = column.max(key.width() + 2).saturating_sub(key.width());
        match shown.as_slice() {
            [only] if key.width() + gap + only.width() <= self.width => {
                let gap = Shown::ours(" ".repeat(gap));
                self.push(vec![(Kind::Key, key), (Kind::Plain, gap), (kind, only.clone())]);
            }
            lines => {
                self.push(vec![(Kind::Key, key)]);
                for line in lines {
                    self.wrapped(kind, 2, line);
                }
            }
        }
    }
}
