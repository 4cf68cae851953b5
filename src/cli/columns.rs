//! Tables as text for people, and as CSV for spreadsheets.

use std::collections::BTreeSet;
use std::io;
use std::ops::Bound;

use crate::domain::Untrusted;
use crate::text::{self, Shown, csv};

use super::output;

#[derive(Debug)]
pub(super) struct Column<T> {
    pub(super) name: &'static str,
    /// Maximum width in text. The last column is not cut.
    pub(super) most: usize,
    /// Returns the cell's text, made safe to show; empty if there is none.
    pub(super) cell: fn(&T) -> Shown,
}

/// A set of ids that shortens each to a prefix that no other has.
#[derive(Debug, Default)]
pub(super) struct ShortIds(BTreeSet<String>);

impl ShortIds {
    pub(super) fn of<'a>(ids: impl IntoIterator<Item = &'a Untrusted>) -> Self {
        let mut all = Self::default();
        all.add(ids);
        all
    }

    pub(super) fn add<'a>(&mut self, ids: impl IntoIterator<Item = &'a Untrusted>) {
        self.0.extend(ids.into_iter().map(|id| id.as_raw().to_owned()));
    }

    /// Shortens a UUID or a ULID to at least six characters, and those with a time to all of it, because other ids of
    /// the same hours share a part. Ids of other forms stay whole: they often differ at their end only.
    pub(super) fn short(&self, id: &Untrusted) -> Shown {
        let id = id.as_raw();
        let least = match (id.len(), id.as_bytes().get(14)) {
            (36, Some(b'7')) => 13,
            (36, Some(b'4')) => 6,
            (26, _) if id.bytes().all(|byte| byte.is_ascii_alphanumeric()) => 10,
            _ => id.len(),
        };
        let before = self.0.range::<str, _>((Bound::Unbounded, Bound::Excluded(id))).next_back();
        let after = self.0.range::<str, _>((Bound::Excluded(id), Bound::Unbounded)).next();
        let shared = |other: &String| id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        let shared = before.into_iter().chain(after).map(shared).max();
        let end = id.ceil_char_boundary(shared.map_or(0, |it| it + 1).max(least));
        text::identifier(&id.get(..end).unwrap_or(id).into())
    }
}

pub(super) fn foreign(text: Option<&Untrusted>) -> Shown {
    text.map(text::line).unwrap_or_default()
}

/// Returns the named columns in that order, or those of `or` if `names` is empty.
pub(super) fn chosen<T>(all: &[Column<T>], names: &[String], or: &[&str]) -> Vec<Column<T>> {
    let column = |name: &str| {
        let Column { name, most, cell } = all.iter().find(|column| column.name == name)?;
        Some(Column { name, most: *most, cell: *cell })
    };
    let names = names.iter().map(String::as_str).chain(or.iter().copied().filter(|_| names.is_empty()));
    names.filter_map(column).collect()
}

pub(super) fn table<T>(columns: &[Column<T>], rows: &[T]) -> io::Result<()> {
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

/// Prints CSV with a header. Text is as shown, so that the file is safe in a terminal; exact bytes are in
/// the JSON.
pub(super) fn csv<T>(columns: &[Column<T>], rows: &[T]) -> io::Result<()> {
    let names: Vec<String> = columns.iter().map(|column| column.name.to_owned()).collect();
    output::records(&csv::record(&names))?;
    for row in rows {
        let cells: Vec<String> = columns.iter().map(|column| (column.cell)(row).plain()).collect();
        output::records(&csv::record(&cells))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(ids: &[&str], of: &str) -> String {
        let ids: Vec<Untrusted> = ids.iter().map(|id| Untrusted::from(*id)).collect();
        ShortIds::of(&ids).short(&of.into()).plain()
    }

    #[test]
    fn ids_of_other_forms_stay_whole() {
        for id in ["act_0d11", "saga:1", "default/7", "abc", ""] {
            assert_eq!(short(&["act_0e", "saga:12"], id), id);
        }
    }

    #[test]
    fn id_that_begins_with_its_time_keeps_all_of_it() {
        let (one, other) = ("01a21e23-aaa7-77aa-84fb-1a7cbe62a572", "01a21e23-aaa7-77ab-84fb-1a7cbe62a572");
        assert_eq!(short(&[one], one), "01a21e23-aaa7");
        assert_eq!(short(&[one, other], one), "01a21e23-aaa7-77aa");
        assert_eq!(short(&[], "01M7ZX43P9623ENSQ7Z1P3C4ES"), "01M7ZX43P9");
        assert_eq!(short(&[], "7f5ba870-693e-403f-8913-c24a1614801b"), "7f5ba8", "a random one");
        let (one, other) = ("7f5ba870-693e-403f-8913-c24a1614801b", "7f5ba8e0-693e-403f-8913-c24a1614801b");
        assert_eq!(short(&[one, other], one), "7f5ba87");
    }
}
