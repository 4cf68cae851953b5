//! One line of a page, in parts.

use crate::text::Shown;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Key,
    Dim,
    Old,
    New,
    /// Words of a changed line that differ.
    OldWord,
    NewWord,
    Warn,
    Good,
    Link,
    /// In JSON: a string.
    Text,
    Number,
    /// `true`, `false`, `null`, and whatever else stands for itself.
    Literal,
    Punct,
    /// Found by a search.
    Match,
    /// The one of them that the search is at.
    Here,
}

/// One line, in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageLine {
    pub parts: Vec<(Kind, Shown)>,
}

impl PageLine {
    pub(crate) fn is_foreign(&self) -> bool {
        self.parts.iter().any(|(_, shown)| shown.is_foreign())
    }

    pub(crate) fn plain(&self) -> String {
        self.parts.iter().map(|(_, shown)| shown.plain()).collect()
    }

    /// What is right of so many columns.
    pub(crate) fn right_of(self, columns: usize) -> Self {
        let mut left = columns;
        let parts = self.parts.into_iter().filter_map(|(kind, shown)| {
            let width = shown.width();
            let skip = left.min(width);
            left -= skip;
            (skip == 0 || skip < width).then(|| (kind, if skip == 0 { shown } else { shown.right_of(skip) }))
        });
        Self { parts: parts.collect() }
    }
}

/// Which columns of a page are on screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub left: usize,
    pub width: usize,
}
