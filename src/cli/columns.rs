//! Tables: the same columns in text, for people, and in CSV, for spreadsheets.

use std::io;

use crate::text::{Shown, csv};

use super::output;

/// One column of a table of `T`.
#[derive(Debug)]
pub(super) struct Column<T> {
    pub(super) name: &'static str,
    /// The widest that it gets in text; the last column is never cut.
    pub(super) most: usize,
    /// What stands in it; nothing where there is none. Foreign text has come through the door.
    pub(super) cell: fn(&T) -> Shown,
}

/// The columns with these names, in their order; without names, those of `or`.
pub(super) fn chosen<T>(all: &[Column<T>], names: &[String], or: &[&str]) -> Vec<Column<T>> {
    let column = |name: &str| {
        let Column { name, most, cell } = all.iter().find(|column| column.name == name)?;
        Some(Column { name, most: *most, cell: *cell })
    };
    let names = names.iter().map(String::as_str).chain(or.iter().copied().filter(|_| names.is_empty()));
    names.filter_map(column).collect()
}

/// Prints a table with a head. Columns are as wide as what stands in them.
pub(super) fn text<T>(columns: &[Column<T>], rows: &[T]) -> io::Result<()> {
    let cells: Vec<Vec<Shown>> =
        rows.iter().map(|row| columns.iter().map(|column| (column.cell)(row)).collect()).collect();
    let widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(nth, column)| {
            let widest =
                cells.iter().filter_map(|row| row.get(nth)).map(Shown::width).max().unwrap_or_default();
            widest.min(column.most).max(column.name.len())
        })
        .collect();
    let last = columns.len().saturating_sub(1);
    let heads: Vec<Shown> = columns.iter().map(|column| Shown::ours(column.name.to_uppercase())).collect();
    for row in std::iter::once(&heads).chain(&cells) {
        let mut line = String::new();
        for (nth, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if nth == last {
                line.push_str(&cell.plain());
            } else {
                line.push_str(&output::padded(cell, *width));
                line.push_str("  ");
            }
        }
        output::line(line.trim_end())?;
    }
    Ok(())
}

/// Prints the same as CSV (RFC 4180), names first. Text is as it is shown, so that a file of it can be looked at in a terminal;
/// whoever needs exact bytes takes JSON.
pub(super) fn csv<T>(columns: &[Column<T>], rows: &[T]) -> io::Result<()> {
    let names: Vec<String> = columns.iter().map(|column| column.name.to_owned()).collect();
    output::records(&csv::record(&names))?;
    for row in rows {
        let cells: Vec<String> = columns.iter().map(|column| (column.cell)(row).plain()).collect();
        output::records(&csv::record(&cells))?;
    }
    Ok(())
}
