//! Any JSON value for reading: fields below each other, objects indented, lists of objects as tables, long text in full.
//! Whatever is not laid out, because there is too much of it or it is nested too deep, is there as JSON: nothing is left out.

use crate::contract::tool::{Field, Form};
use crate::domain::json::{self, Member};
use crate::text::{self, Shown};

use super::fields::{key_of, readable};
use super::said::Said;
use super::{Kind, Writer, links, units};

/// Longest key column; longer keys push their value to the right or below.
const COLUMN: usize = 18;
/// So many fields are laid out; what comes after them is JSON.
const MOST: usize = 3_000;
/// Deeper is JSON, in columns.
const DEEPEST: usize = 12;
/// A list or object that fits here stands on the line of its key, as it is.
const SHORT: usize = 40;

/// Writes values.
pub(super) struct Values<'a, 'w> {
    pub(super) writer: &'w mut Writer,
    said: &'a Said<'a>,
    left: usize,
}

/// A field as it is shown.
struct Entry<'m, 'a> {
    label: Shown,
    value: &'m str,
    field: Option<&'a Field>,
    /// Before the key, where there is a column for marks.
    mark: Option<bool>,
}

impl<'a, 'w> Values<'a, 'w> {
    pub(super) fn new(writer: &'w mut Writer, said: &'a Said<'a>) -> Self {
        Self { writer, said, left: MOST }
    }

    /// The whole input: what is known of its fields first, in the order that is known.
    pub(super) fn input(&mut self, members: &[Member<'_>], fields: &'a [Field]) {
        let outside: Vec<bool> =
            members.iter().map(|member| self.said.leaves_out(&member.key.text, member.value)).collect();
        let marks = outside.contains(&true);
        if marks {
            self.writer.ours(Kind::Dim, "+ is not in the agent's preview");
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
            self.line(indent, Kind::Dim, &Shown::ours("(no fields)"));
        }
    }

    fn entry(&mut self, indent: usize, column: usize, entry: &Entry<'_, 'a>, beside: &[Member<'_>]) {
        self.left = self.left.saturating_sub(1);
        let value = entry.value.trim();
        let prose = entry.field.is_some_and(|field| field.form == Form::Text);
        let short = value.len() <= 3 * SHORT && json::compact(value).len() <= SHORT;
        let parts = value.starts_with(['{', '[']) && !short;
        if parts {
            self.head(indent, entry);
            let columns = entry.field.and_then(|field| match &field.form {
                Form::Table(columns) => Some(columns.as_slice()),
                Form::Value | Form::Text => None,
            });
            return self.nested(indent + mark_width(entry) + 2, value, columns);
        }
        let text = readable(value);
        let kind = if links::is_link(&text) { Kind::Link } else { Kind::Plain };
        let mut after = Vec::new();
        if let Some(unit) = entry.field.and_then(|field| field.unit.as_ref()) {
            after.extend(units::after(unit, value, beside).map(|unit| (Kind::Dim, unit)));
        }
        for host in links::misleading(&text) {
            after.push((Kind::Warn, Shown::ours("! leads to ").followed_by(text::identifier_part(host))));
        }
        if prose || !self.on_one_line(indent, column, entry, (&text, kind), &after) {
            self.head(indent, entry);
            let indent = indent + mark_width(entry) + 2;
            self.writer.long(kind, indent, text);
            for (kind, after) in after {
                self.line(indent, kind, &after);
            }
        }
    }

    /// `key  value unit`, where that fits.
    fn on_one_line(
        &mut self,
        indent: usize,
        column: usize,
        entry: &Entry<'_, '_>,
        (text, kind): (&str, Kind),
        after: &[(Kind, Shown)],
    ) -> bool {
        if text.contains('\n') || text.len() > 4 * self.writer.width {
            return false;
        }
        let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let value = quoted.and_then(text::blank).unwrap_or_else(|| text::part(text));
        let gap = column.max(entry.label.width() + 2).saturating_sub(entry.label.width());
        let more: usize = after.iter().map(|(_, shown)| shown.width() + 1).sum();
        let before = indent + mark_width(entry) + entry.label.width() + gap;
        if before + value.width() + more > self.writer.width {
            return false;
        }
        let mut parts = before_label(indent, entry);
        parts.push((Kind::Key, entry.label.clone()));
        parts.push((Kind::Plain, Shown::ours(" ".repeat(gap))));
        parts.push((kind, value));
        for (kind, shown) in after {
            parts.extend([(Kind::Plain, Shown::ours(" ")), (*kind, shown.clone())]);
        }
        self.writer.push(parts);
        true
    }

    /// The key on lines of its own; not cut, however long it is.
    fn head(&mut self, indent: usize, entry: &Entry<'_, '_>) {
        let width = self.writer.width.saturating_sub(indent + mark_width(entry));
        for row in entry.label.wrap(width.max(text::NARROWEST)) {
            let mut parts = before_label(indent, entry);
            parts.push((Kind::Key, row));
            self.writer.push(parts);
        }
    }

    /// An object or a list, below its key.
    pub(super) fn nested(&mut self, indent: usize, value: &str, columns: Option<&'a [Field]>) {
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
                self.writer.push(vec![(Kind::Punct, dash), (Kind::Plain, one)]);
            }
        }
    }

    /// One after the other, each with its fields.
    pub(super) fn records<'m>(
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

    pub(super) fn line(&mut self, indent: usize, kind: Kind, text: &Shown) {
        self.writer.wrapped(kind, indent, text);
    }
}

fn entry<'m, 'a>(member: &'m Member<'m>, fields: &'a [Field], mark: Option<bool>) -> Entry<'m, 'a> {
    let field = fields.iter().find(|field| field.key == member.key.text);
    Entry { label: label(member, field), value: member.value, field, mark }
}

/// The key, or the label that says more, with the key beside it.
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
