//! Keys and values in one line of a table.

use crate::domain::{Untrusted, json};
use crate::text;

use super::Field;

/// A value in one line.
#[derive(Debug)]
pub(in crate::tui) struct Cell {
    pub(in crate::tui) shown: text::Shown,
    /// Nothing of it is left out.
    pub(in crate::tui) whole: bool,
    /// How many lines it has.
    pub(in crate::tui) lines: usize,
}

pub(in crate::tui) fn cell(value: &str) -> Cell {
    let value = value.trim();
    let text =
        if value.starts_with(['{', '[']) { json::compact(value) } else { crate::tui::page::readable(value) };
    let shown = text::lines(&text);
    let (lines, first) = (shown.len(), shown.into_iter().next().unwrap_or_default());
    Cell { shown: first, whole: lines == 1, lines }
}

pub(in crate::tui) fn shown_key(field: &Field) -> text::Shown {
    text::line(&Untrusted::from(field.key.as_str()))
}
