//! Formats a JSON value: fields below each other, objects indented, lists of objects as tables, long text in full.
//! Values that are too large or too deeply nested are written as JSON, to leave no value out.

use std::collections::HashSet;

use crate::contract::tool::{self, Field, Form, Language, Unit};
use crate::domain::json::Member;
use crate::domain::{FieldChange, RawJson, json};
use crate::text;
use crate::text::Shown;

use super::line;
use super::line::{Kind, key_of, readable};
use super::preview_comparison::PreviewComparison;
use super::writer::Writer;
use crate::tui::preview::words;

/// Longest key column; longer keys push their value to the right or below.
const COLUMN: usize = 18;
/// Maximum number of fields to lay out; the rest is written as JSON.
const MOST: usize = 3_000;
/// Largest indent to lay out; deeper values are written as JSON. Columns.
const DEEPEST: usize = 12;
/// Longest list or object that is written on the line of its key.
const SHORT: usize = 40;

pub(crate) struct Values<'a, 'w> {
    pub(crate) writer: &'w mut Writer,
    said: &'a PreviewComparison<'a>,
    /// The whole input, shared because it may be megabytes long.
    of: &'a RawJson,
    pub(crate) changes: &'a [FieldChange],
    left: usize,
}

struct Entry<'m, 'a> {
    key: &'m str,
    label: Shown,
    value: &'m str,
    field: Option<&'a Field>,
    mark: Option<bool>,
}

impl<'a, 'w> Values<'a, 'w> {
    pub(crate) fn new(writer: &'w mut Writer, said: &'a PreviewComparison<'a>, of: &'a RawJson) -> Self {
        Self { writer, said, of, changes: &[], left: MOST }
    }

    /// Writes the whole input: known fields first, in their defined order.
    pub(crate) fn input(&mut self, members: &[Member<'_>], fields: &'a [Field]) {
        let outside: Vec<bool> =
            members.iter().map(|member| self.said.leaves_out(&member.key.text, member.value)).collect();
        let marks = outside.contains(&true);
        if marks {
            self.writer.ours(Kind::Dim, words::MISSING_FROM_PREVIEW);
        }
        let marked = outside.into_iter().map(|outside| marks.then_some(outside));
        self.members(0, members, fields, marked);
    }

    fn members(
        &mut self,
        indent: usize,
        members: &[Member<'_>],
        fields: &'a [Field],
        marks: impl Iterator<Item = Option<bool>>,
    ) {
        let mut entries: Vec<Entry<'_, 'a>> =
            members.iter().zip(marks).map(|(m, mark)| entry(m, fields, mark)).collect();
        let place = |entry: &Entry<'_, '_>| {
            let field = entry.field.map(|field| field.key.as_str());
            fields.iter().position(|other| Some(other.key.as_str()) == field).unwrap_or(fields.len())
        };
        entries.sort_by_key(place);
        let widths = entries.iter().map(|entry| entry.label.width() + 2);
        let column = widths.filter(|width| *width <= COLUMN).max().unwrap_or_default();
        for entry in &entries {
            self.entry(indent, column, entry, members);
        }
        if members.is_empty() {
            self.line(indent, Kind::Dim, &Shown::ours(words::NO_FIELDS));
        }
    }

    fn entry(&mut self, indent: usize, column: usize, entry: &Entry<'_, 'a>, beside: &[Member<'_>]) {
        self.left = self.left.saturating_sub(1);
        let value = entry.value.trim();
        let prose = entry.field.is_some_and(|field| field.form == Form::Text);
        let short = value.len() <= 3 * SHORT && json::compact(value).len() <= SHORT;
        let parts = value.starts_with(['{', '[']) && !short;
        let all = self.changes;
        let changes: Vec<&FieldChange> = all.iter().filter(|it| indent == 0 && it.key == entry.key).collect();
        if parts {
            self.head(indent, entry);
            let columns = entry.field.and_then(|field| match &field.form {
                Form::Table(columns) => Some(columns.as_slice()),
                Form::Value | Form::Text => None,
            });
            let indent = indent + mark_width(entry) + 2;
            self.nested(indent, value, columns);
            return self.changed(indent, &changes);
        }
        let text = readable(value);
        let kind = if text::is_link(&text) { Kind::Link } else { Kind::Plain };
        let written_in = |field: &Field| field.language.filter(|_| value.starts_with('"'));
        let language = json_of(value).or_else(|| entry.field.and_then(written_in));
        let mut after = Vec::new();
        if let Some(unit) = entry.field.and_then(|field| field.unit.as_ref()) {
            after.extend(line::after(unit, value, beside).map(|unit| (Kind::Dim, unit)));
        }
        let old = match changes.as_slice() {
            [FieldChange { path, old: Some(old), new: Some(_), .. }] if path == entry.key => {
                Some(readable(old))
            }
            _ => None,
        };
        for host in text::named_hosts(&text::misleading(&text)) {
            after.push((Kind::Warn, Shown::ours(words::LEADS_TO).followed_by(host)));
        }
        let beside = (old.as_deref(), after.as_slice());
        let fits = !prose && self.on_one_line(indent, column, entry, (&text, kind, language), beside);
        if !fits {
            self.head(indent, entry);
            let indent = indent + mark_width(entry) + 2;
            if let Some(old) = &old {
                self.writer.long(Kind::Dim, indent, format!("{old} →"));
            }
            match language.filter(|_| kind == Kind::Plain) {
                Some(language) => self.writer.source(Some(language), indent, text),
                None => match self.of.place_of(&text) {
                    Some((whole, part)) => self.writer.long_part(kind, indent, whole, part),
                    None => self.writer.long(kind, indent, text),
                },
            }
            for (kind, after) in after {
                self.line(indent, kind, &after);
            }
        }
        if old.is_none() {
            self.changed(indent + mark_width(entry) + 2, &changes);
        }
    }

    fn changed(&mut self, indent: usize, changes: &[&FieldChange]) {
        for change in changes {
            self.line(indent, Kind::Dim, &text::part(&tool::told(change, usize::MAX)));
        }
    }

    /// Writes `key  value unit` if it fits.
    fn on_one_line(
        &mut self,
        indent: usize,
        column: usize,
        entry: &Entry<'_, '_>,
        (text, kind, language): (&str, Kind, Option<Language>),
        (old, after): (Option<&str>, &[(Kind, Shown)]),
    ) -> bool {
        let is_long = |text: &str| text.contains('\n') || text.len() > 4 * self.writer.width;
        if is_long(text) || old.is_some_and(is_long) {
            return false;
        }
        let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let value = quoted.and_then(text::blank).unwrap_or_else(|| text::part(text));
        let gap = column.max(entry.label.width() + 2).saturating_sub(entry.label.width());
        let more: usize = after.iter().map(|(_, shown)| shown.width() + 1).sum();
        let old = old.map(|old| text::part(old).followed_by(Shown::ours(" → ")));
        let before = indent + mark_width(entry) + entry.label.width() + gap;
        let before = before + old.as_ref().map_or(0, Shown::width);
        if before + value.width() + more > self.writer.width {
            return false;
        }
        let mut parts = before_label(indent, entry);
        parts.push((Kind::Key, entry.label.clone()));
        parts.push((Kind::Plain, Shown::ours(" ".repeat(gap))));
        parts.extend(old.map(|old| (Kind::Dim, old)));
        parts.extend(self.writer.painted(language, kind, value));
        for (kind, shown) in after {
            parts.extend([(Kind::Plain, Shown::ours(" ")), (*kind, shown.clone())]);
        }
        self.writer.push(parts);
        true
    }

    fn head(&mut self, indent: usize, entry: &Entry<'_, '_>) {
        let width = self.writer.width.saturating_sub(indent + mark_width(entry));
        for row in entry.label.wrap(width.max(text::NARROWEST)) {
            let mut parts = before_label(indent, entry);
            parts.push((Kind::Key, row));
            self.writer.push(parts);
        }
    }

    pub(crate) fn nested(&mut self, indent: usize, value: &str, columns: Option<&'a [Field]>) {
        if indent > DEEPEST || self.left == 0 {
            return self.json(indent, value);
        }
        if let Some(members) = json::members(value) {
            if members.len() > self.left {
                return self.json(indent, value);
            }
            return self.members(indent, &members, &[], std::iter::repeat(None));
        }
        let Some(elements) = json::elements(value) else { return self.json(indent, value) };
        if elements.len() > self.left {
            return self.json(indent, value);
        }
        self.left -= elements.len();
        let objects: Option<Vec<_>> = elements.iter().map(|element| json::members(element)).collect();
        match objects {
            Some(objects) if !objects.is_empty() => self.objects(indent, &objects, columns),
            _ => self.list(indent, &elements),
        }
    }

    fn list(&mut self, indent: usize, elements: &[&str]) {
        let all = elements.len();
        for (nth, element) in elements.iter().enumerate() {
            if element.starts_with(['{', '[']) && element.len() > SHORT {
                self.line(indent, Kind::Key, &Shown::ours(format!("{} of {all}", nth + 1)));
                self.nested(indent + 2, element, None);
                continue;
            }
            let text = readable(element);
            let one = text::part(&text);
            if text.contains('\n') || indent + 2 + one.width() > self.writer.width {
                self.line(indent, Kind::Punct, &Shown::ours("-"));
                self.writer.long(Kind::Plain, indent + 2, text);
            } else {
                let dash = Shown::ours(format!("{}- ", " ".repeat(indent)));
                let mut parts = vec![(Kind::Punct, dash)];
                parts.extend(self.writer.painted(json_of(element), Kind::Plain, one));
                self.writer.push(parts);
            }
        }
    }

    pub(crate) fn records<'m>(
        &mut self,
        indent: usize,
        all: usize,
        records: impl Iterator<Item = (usize, Vec<Member<'m>>)>,
        fields: &'a [Field],
    ) {
        for (nth, members) in records {
            self.line(indent, Kind::Key, &Shown::ours(format!("{} of {all}", nth + 1)));
            self.left = self.left.saturating_sub(members.len());
            self.members(indent + 2, &members, fields, std::iter::repeat(None));
        }
    }

    fn json(&mut self, indent: usize, value: &str) {
        self.writer.json(indent.min(DEEPEST), json::pretty(&json::legible(value)));
    }

    pub(crate) fn line(&mut self, indent: usize, kind: Kind, text: &Shown) {
        self.writer.wrapped(kind, indent, text);
    }
}

fn entry<'m, 'a>(member: &'m Member<'m>, fields: &'a [Field], mark: Option<bool>) -> Entry<'m, 'a> {
    let field = fields.iter().find(|field| field.key == member.key.text);
    Entry { key: &member.key.text, label: label(member, field), value: member.value, field, mark }
}

/// Highlights objects and lists only: a scalar as JSON would look like a text.
fn json_of(value: &str) -> Option<Language> {
    value.starts_with(['{', '[']).then_some(Language::Json)
}

/// Returns the key, or its label with the key in parentheses.
fn label(member: &Member<'_>, field: Option<&Field>) -> Shown {
    match field.and_then(|field| field.label.as_deref()) {
        Some(label) => {
            Shown::ours(format!("{label} (")).followed_by(key_of(member)).followed_by(Shown::ours(")"))
        }
        None => key_of(member),
    }
}

fn mark_width(entry: &Entry<'_, '_>) -> usize {
    if entry.mark.is_some() { 2 } else { 0 }
}

fn before_label(indent: usize, entry: &Entry<'_, '_>) -> Vec<(Kind, Shown)> {
    let mark = match entry.mark {
        Some(true) => "+ ",
        Some(false) => "  ",
        None => "",
    };
    vec![(Kind::Plain, Shown::ours(" ".repeat(indent))), (Kind::Warn, Shown::ours(mark))]
}

// Lists of objects: a table of the short values, and below it the rest.

const WIDEST: usize = 40;
/// Narrowest text column; a cut value is repeated below in full.
const NARROWEST: usize = 14;
/// Maximum number of columns for a list of unknown objects.
const MOST_COLUMNS: usize = 6;

type Objects<'m> = [Vec<Member<'m>>];

struct Column<'a> {
    key: String,
    head: Shown,
    field: Option<&'a Field>,
    width: usize,
}

impl<'a> Values<'a, '_> {
    /// Writes a table if one fits, or else the objects one after the other.
    pub(crate) fn objects(&mut self, indent: usize, objects: &Objects<'_>, known: Option<&'a [Field]>) {
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
        // An escape can be six times as long as its character.
        let raw = member.value.get(..begins(member.value, 24 * WIDEST)).unwrap_or_default();
        let value = json::legible(raw);
        let start = value.get(..begins(&value, 4 * WIDEST)).unwrap_or_default();
        let whole = raw.len() == member.value.len() && start.len() == value.len();
        let readable = if whole { readable(&value) } else { start.into() };
        let unit =
            self.field.and_then(|field| field.unit.as_ref()).filter(|unit| !matches!(unit, Unit::Word(_)));
        match unit.and_then(|unit| line::after(unit, member.value, object)) {
            Some(unit) => text::part(&format!("{readable} {}", unit.plain())),
            None => text::part(&readable),
        }
    }

    fn holds(&self, member: &Member<'_>, object: &[Member<'_>]) -> bool {
        let plain = !member.value.starts_with(['{', '[']) || member.value.len() <= WIDEST;
        plain && member.value.len() <= 4 * WIDEST && self.text(member, object).width() <= self.width
    }
}

fn guessed<'a>(objects: &Objects<'_>) -> Vec<Column<'a>> {
    let mut known = HashSet::new();
    let keys = objects.iter().take(50).flatten().filter(|member| known.insert(member.key.text.clone()));
    let columns = keys.take(4 * MOST_COLUMNS).filter_map(|first| {
        let column = Column::new(first.key.text.clone().into_owned(), key_of(first), None, objects);
        let found: Vec<_> = objects.iter().filter_map(|object| Some((column.of(object)?, object))).collect();
        let short = found.iter().filter(|(member, object)| column.holds(member, object)).count();
        let scalar = found.iter().all(|(member, _)| !member.value.starts_with(['{', '[']));
        (scalar && 2 * short > objects.len() && column.head.width() <= WIDEST).then_some(column)
    });
    columns.take(MOST_COLUMNS).collect()
}

/// Narrows the widest columns, then drops the last ones, until the table fits.
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

/// Returns the members that the table does not show in full, including second values of a key.
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
