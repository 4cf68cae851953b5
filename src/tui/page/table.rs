//! A list of objects: a table of what is short, and below it the rest of each.

use std::collections::HashSet;

use crate::contract::tool::{Field, Unit};
use crate::domain::json::{self, Member};
use crate::text::{self, Shown};

use super::Kind;
use super::fields::{key_of, readable};
use super::units;
use super::value::Values;

/// Widest cell.
const WIDEST: usize = 40;
/// A column of text is not made narrower; a value that is cut stands below in full.
const NARROWEST: usize = 14;
/// So many columns of a list that nothing is known of.
const MOST: usize = 6;

type Objects<'m> = [Vec<Member<'m>>];

/// A column of a table.
struct Column<'a> {
    key: String,
    head: Shown,
    field: Option<&'a Field>,
    width: usize,
}

impl<'a> Values<'a, '_> {
    /// As a table where one fits, else one after the other.
    pub(super) fn objects(&mut self, indent: usize, objects: &Objects<'_>, known: Option<&'a [Field]>) {
        let fields = known.unwrap_or_default();
        let mut columns = match known {
            Some(fields) => fields.iter().map(|field| Column::known(field, objects)).collect(),
            None if objects.len() < 2 => Vec::new(),
            None => guessed(objects),
        };
        columns.retain(|column| objects.iter().any(|object| column.of(object).is_some()));
        let number = objects.len().to_string().len();
        fit(&mut columns, self.writer.width.saturating_sub(indent + number));
        if columns.is_empty() {
            let records = objects.iter().cloned().enumerate();
            return self.records(indent, objects.len(), records, fields);
        }
        self.rows(indent, number, objects, &columns);
        let rest = objects.iter().map(|object| rest(object, &columns)).enumerate();
        let rest = rest.filter(|(_, members)| !members.is_empty());
        self.records(indent, objects.len(), rest, fields);
    }

    fn rows(&mut self, indent: usize, number: usize, objects: &Objects<'_>, columns: &[Column<'_>]) {
        let before = " ".repeat(indent);
        let mut head = vec![(Kind::Dim, Shown::ours(format!("{before}{:>number$}", "#")))];
        for column in columns {
            cell(&mut head, Kind::Dim, &column.head, column.width);
        }
        self.writer.push(head);
        for (nth, object) in objects.iter().enumerate() {
            let mut row = vec![(Kind::Dim, Shown::ours(format!("{before}{:>number$}", nth + 1)))];
            for column in columns {
                let text = column.of(object).map(|member| column.text(member, object)).unwrap_or_default();
                cell(&mut row, Kind::Plain, &text, column.width);
            }
            self.writer.push(row);
        }
    }
}

impl<'a> Column<'a> {
    fn known(field: &'a Field, objects: &Objects<'_>) -> Self {
        let unit = match &field.unit {
            Some(Unit::Word(word))
                if field.label.as_deref().is_none_or(|label| !label.eq_ignore_ascii_case(word)) =>
            {
                format!(" ({word})")
            }
            _ => String::new(),
        };
        let name = field.label.clone().unwrap_or_else(|| field.key.clone());
        Self::new(field.key.clone(), Shown::ours(format!("{name}{unit}")), Some(field), objects)
    }

    fn new(key: String, head: Shown, field: Option<&'a Field>, objects: &Objects<'_>) -> Self {
        let mut column = Self { key, head, field, width: 0 };
        let widths =
            objects.iter().filter_map(|object| Some(column.text(column.of(object)?, object).width()));
        let widest = widths.chain([column.head.width()]).max().unwrap_or_default();
        column.width = widest.min(WIDEST);
        column
    }

    fn of<'o, 'm>(&self, object: &'o [Member<'m>]) -> Option<&'o Member<'m>> {
        object.iter().find(|member| member.key.text == self.key)
    }

    fn text(&self, member: &Member<'_>, object: &[Member<'_>]) -> Shown {
        let begins = |text: &str, most: usize| text.floor_char_boundary(most);
        // An escape is six times as long as what it stands for.
        let raw = member.value.get(..begins(member.value, 24 * WIDEST)).unwrap_or_default();
        let value = json::legible(raw);
        let start = value.get(..begins(&value, 4 * WIDEST)).unwrap_or_default();
        let whole = raw.len() == member.value.len() && start.len() == value.len();
        let readable = if whole { readable(&value) } else { start.to_owned() };
        let unit =
            self.field.and_then(|field| field.unit.as_ref()).filter(|unit| !matches!(unit, Unit::Word(_)));
        match unit.and_then(|unit| units::after(unit, member.value, object)) {
            Some(unit) => text::part(&format!("{readable} {}", unit.plain())),
            None => text::part(&readable),
        }
    }

    /// The cell says all of the value.
    fn holds(&self, member: &Member<'_>, object: &[Member<'_>]) -> bool {
        let plain = !member.value.starts_with(['{', '[']) || member.value.len() <= WIDEST;
        plain && member.value.len() <= 4 * WIDEST && self.text(member, object).width() <= self.width
    }
}

/// Short values that most elements have.
fn guessed<'a>(objects: &Objects<'_>) -> Vec<Column<'a>> {
    let mut known = HashSet::new();
    let keys = objects.iter().take(50).flatten().filter(|member| known.insert(member.key.text.clone()));
    let columns = keys.take(4 * MOST).filter_map(|first| {
        let column = Column::new(first.key.text.clone().into_owned(), key_of(first), None, objects);
        let found: Vec<_> = objects.iter().filter_map(|object| Some((column.of(object)?, object))).collect();
        let short = found.iter().filter(|(member, object)| column.holds(member, object)).count();
        let scalar = found.iter().all(|(member, _)| !member.value.starts_with(['{', '[']));
        (scalar && 2 * short > objects.len() && column.head.width() <= WIDEST).then_some(column)
    });
    columns.take(MOST).collect()
}

/// Makes columns narrower, the widest first, and leaves out the last ones, until they fit.
fn fit(columns: &mut Vec<Column<'_>>, width: usize) {
    loop {
        let wanted: usize = columns.iter().map(|column| column.width + 2).sum();
        let Some(over) = wanted.checked_sub(width).filter(|over| *over > 0) else { return };
        match columns.iter_mut().max_by_key(|column| column.width).filter(|column| column.width > NARROWEST) {
            Some(widest) => widest.width = widest.width.saturating_sub(over).max(NARROWEST),
            None => drop(columns.pop()),
        }
    }
}

/// What the table does not say of an element; a second value under the same key, too.
fn rest<'m>(object: &[Member<'m>], columns: &[Column<'_>]) -> Vec<Member<'m>> {
    let said = |member: &Member<'m>| {
        columns.iter().any(|column| {
            column.of(object).is_some_and(|of| std::ptr::eq(of, member)) && column.holds(member, object)
        })
    };
    object.iter().filter(|member| !said(member)).cloned().collect()
}

fn cell(row: &mut Vec<(Kind, Shown)>, kind: Kind, text: &Shown, width: usize) {
    let text = text.cut(width);
    let pad = width - text.width().min(width);
    row.extend([(Kind::Plain, Shown::ours("  ")), (kind, text), (Kind::Plain, Shown::ours(" ".repeat(pad)))]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_shrink_before_they_go() {
        let column = |width| Column { key: String::new(), head: Shown::default(), field: None, width };
        let fitted = |widths: &[usize], width| {
            let mut columns = widths.iter().copied().map(column).collect();
            fit(&mut columns, width);
            columns.iter().map(|column| column.width).collect::<Vec<_>>()
        };

        assert_eq!(fitted(&[40, 6, 6], 60), [40, 6, 6]);
        assert_eq!(fitted(&[40, 6, 6], 40), [22, 6, 6]);
        assert_eq!(fitted(&[40, 6, 6], 25), [14, 6]);
        assert_eq!(fitted(&[40, 6], 10), Vec::<usize>::new());
    }
}
