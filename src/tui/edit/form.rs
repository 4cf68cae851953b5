//! The edit form: a draft, as fields or as JSON text. Only approving with these edits stages it.

use std::collections::HashMap;
use std::sync::Arc;

use crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use tui_textarea::{CursorMove, TextArea};

use crate::domain::json::Member;
use crate::domain::{
    ActionKey, Digest, EditError, Edits, RawJson, SourceName, Timestamp, Untrusted, changed_keys, json, merge,
};
use crate::inbox::Tool;
use crate::journal::EditText;
use crate::schema::{Property, Violation};
use crate::text;
use crate::tui::core::layout::{sheet, sheet_text, take_bottom, take_top};
use crate::tui::edit::words;
use crate::tui::preview::page::line;

use super::field::{Field, Kind};

/// Fields to start at, if one exists.
const TITLES: [&str; 4] = ["title", "subject", "name", "summary"];

#[derive(Clone, Debug)]
pub(crate) struct EditForm {
    pub key: ActionKey,
    pub digest: Digest,
    pub input: RawJson,
    /// Empty while the draft is edited as JSON text.
    pub fields: Vec<Field>,
    pub at: usize,
    pub element: usize,
    pub area: TextArea<'static>,
    pub field: EditField,
    /// The edits to send, or why the draft cannot be sent.
    pub check: Result<Option<Edits>, EditError>,
    pub violations: Vec<Violation>,
    /// The tool's description; `None` until the source sent it.
    pub tool: Option<Arc<Tool>>,
    /// Typed since the last save.
    pub unsaved: bool,
    /// Set if the change applies to several actions.
    pub bulk: Option<Bulk>,
}

/// The edit form, waiting for the content of its actions.
#[derive(Clone, Debug)]
pub(crate) struct EditSoon {
    pub keys: Vec<ActionKey>,
    /// Opens the reviewer's editor afterwards.
    pub outside: bool,
    /// Keys for the form's first field.
    pub typed: Vec<KeyEvent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditField {
    Text,
    Approve,
    Revert,
    Close,
}

impl EditForm {
    /// Returns true if the preview of a bulk edit is shown instead of the form.
    pub(crate) fn lists(&self) -> bool {
        self.bulk.as_ref().is_some_and(|bulk| bulk.rows.is_some())
    }

    /// Opens an input with the draft's text, as fields if possible.
    pub(crate) fn new(
        key: ActionKey,
        digest: Digest,
        input: RawJson,
        text: &str,
        tool: Option<Arc<Tool>>,
    ) -> Self {
        let mut form = Self {
            key,
            digest,
            input,
            fields: Vec::new(),
            at: 0,
            element: 0,
            area: area(text),
            field: EditField::Text,
            check: Ok(None),
            violations: Vec::new(),
            tool,
            unsaved: false,
            bulk: None,
        };
        if form.set_fields(text).is_ok() {
            form.at = form.first();
            form.select(form.at);
        }
        form.judge();
        form
    }

    pub(crate) fn is_raw(&self) -> bool {
        self.fields.is_empty()
    }

    pub(crate) fn here(&self) -> Option<&Field> {
        self.fields.get(self.at)
    }

    pub(crate) fn text(&self) -> String {
        if self.is_raw() {
            return self.area.lines().join("\n");
        }
        let text = composed(&self.fields, "");
        let wrong = self.fields.iter().any(|field| field.wrong.is_some());
        // An invalid value must not make the draft parse as several values.
        if wrong && RawJson::parse(text.as_str()).is_ok() { composed(&self.fields, " !") } else { text }
    }

    pub(crate) fn proposed(&self) -> String {
        json::pretty(self.input.as_str())
    }

    /// Takes a text as the whole draft: as fields if it parses, or else as JSON text.
    pub(crate) fn take(&mut self, text: &str) {
        let here = self.here().map(|field| field.key.clone());
        if self.set_fields(text).is_ok() {
            self.at = here.and_then(|key| self.position(&key)).unwrap_or_else(|| self.first());
            self.select(self.at);
        } else {
            self.set_raw(text);
        }
        self.judge();
    }

    pub(crate) fn set_raw(&mut self, text: &str) {
        self.fields.clear();
        self.area = area(text);
        if let Err(EditError::Json(error)) = changed_keys(&self.input, text) {
            let (line, column) = place_of(self.area.lines(), error.at);
            self.area.move_cursor(CursorMove::Jump((line - 1) as u16, (column - 1) as u16));
        }
    }

    fn set_fields(&mut self, text: &str) -> Result<(), EditError> {
        // Checks that keys are unique in both.
        match changed_keys(&self.input, text) {
            Ok(_) | Err(EditError::Removed(_) | EditError::IdentityKey(_)) => {}
            Err(error) => return Err(error),
        }
        let (old, new) = (self.proposed(), json::pretty(text));
        let properties = self.schema().map(|schema| schema.properties().to_vec()).unwrap_or_default();
        let fields = fields(&old, &new, &properties).filter(|fields| !fields.is_empty());
        self.fields = fields.ok_or(EditError::NotAnObject)?;
        Ok(())
    }

    /// Takes the tool's description and keeps what was typed.
    pub(crate) fn learn(&mut self, tool: Arc<Tool>) {
        let known = self.tool.as_ref().is_some_and(|known| Arc::ptr_eq(known, &tool));
        self.tool = Some(tool);
        let wrong = self.fields.iter().any(|field| field.wrong.is_some());
        if known || wrong || self.is_raw() {
            return self.judge();
        }
        let (text, cursor, before) = (self.text(), self.area.cursor(), self.here().map(|it| it.kind.clone()));
        let (part, element) = (self.field, self.element);
        self.take(&text);
        self.field = part;
        if self.here().map(|it| it.kind.clone()) == before {
            self.area.move_cursor(CursorMove::Jump(cursor.0 as u16, cursor.1 as u16));
            self.element = element;
        }
    }

    pub(crate) fn schema(&self) -> Option<&crate::schema::Schema> {
        self.tool.as_ref().and_then(|tool| tool.schema.as_ref())
    }

    /// Computes the edits to send and checks them against the schema.
    pub(crate) fn judge(&mut self) {
        self.check = changed_keys(&self.input, &self.text());
        let merged = match &self.check {
            Ok(Some(edits)) => merge(&self.input, edits).ok(),
            Ok(None) => Some(self.input.clone()),
            Err(_) => None,
        };
        let schema = self.schema();
        let judged = schema.zip(merged).map(|(schema, input)| schema.violations(input.as_str()));
        self.violations = judged.unwrap_or_default();
    }

    /// Returns why the draft cannot be approved; `None` if it can.
    pub(crate) fn refusal(&self) -> Option<String> {
        let named = |key: &str| text::line(&Untrusted::from(key)).plain();
        if let Some((field, wrong)) = self.fields.iter().find_map(|field| Some((field, field.wrong?))) {
            return Some(format!("{}: {wrong}", named(&field.key)));
        }
        if let Err(error) = &self.check {
            return Some(text::line(&Untrusted::from(error.to_string())).plain());
        }
        let violation = self.violations.first()?;
        let place = violation.key().map_or_else(|| words::THE_INPUT.to_owned(), |key| named(&key));
        let what = text::line(&Untrusted::from(violation.what.as_str())).plain();
        Some(words::not_allowed(&place, &what))
    }

    pub(crate) fn problem(&self, field: &Field) -> Option<String> {
        let gone = (field.proposed.is_some() && field.value.is_none()).then_some(words::KEY_REMOVED);
        let ours = field.wrong.or(gone).map(str::to_owned);
        let ours = ours
            .or_else(|| (field.is_locked() && field.is_changed()).then(|| words::OWNER_CHANGED.to_owned()));
        ours.or_else(|| {
            let about = |violation: &&Violation| violation.key().as_deref() == Some(field.key.as_str());
            self.violations.iter().find(about).map(|violation| violation.what.clone())
        })
    }

    /// Focuses a field, with the caret at the end of its text.
    pub(crate) fn select(&mut self, nth: usize) {
        self.at = nth.min(self.fields.len().saturating_sub(1));
        self.element = 0;
        self.field = EditField::Text;
        let text = self.here().map(Field::text).unwrap_or_default();
        self.area = area(&text);
        self.area.move_cursor(CursorMove::Bottom);
        self.area.move_cursor(CursorMove::End);
    }

    pub(crate) fn begin_at_answer(&mut self) {
        let empty = |field: &Field| {
            let proposed = field.proposed.as_deref().map_or("null", str::trim);
            !field.is_locked() && matches!(proposed, "null" | "\"\"")
        };
        if let Some(nth) = self.fields.iter().position(empty) {
            self.select(nth);
        }
    }

    pub(crate) fn typed(&mut self) {
        let text = self.area.lines().join("\n");
        if let Some(field) = self.fields.get_mut(self.at) {
            field.type_in(&text);
        }
        self.changed();
    }

    pub(crate) fn changed(&mut self) {
        self.unsaved = true;
        self.judge();
    }

    pub(crate) fn with_field(&mut self, change: impl FnOnce(&mut Field, usize)) {
        let element = self.element;
        if let Some(field) = self.fields.get_mut(self.at).filter(|field| !field.is_locked()) {
            change(field, element);
            self.changed();
        }
    }

    pub(crate) fn back_to_proposed(&mut self) {
        if let Some(field) = self.fields.get_mut(self.at) {
            field.back();
            let (at, part) = (self.at, self.field);
            self.select(at);
            self.field = part;
            self.changed();
        }
    }

    pub(crate) fn as_json(&mut self) {
        if let Some(field) = self.fields.get_mut(self.at).filter(|field| field.kind == Kind::List) {
            field.kind = Kind::Json;
            self.select(self.at);
        }
    }

    pub(crate) fn has_lines(&self) -> bool {
        self.is_raw() || self.here().is_some_and(|field| field.has_lines(self.area.lines()))
    }

    pub(crate) fn has_text(&self) -> bool {
        self.here().is_some_and(|field| {
            !field.is_locked() && matches!(field.kind, Kind::Text | Kind::Number | Kind::Json)
        })
    }

    fn first(&self) -> usize {
        let free = |field: &&Field| !field.is_locked() && field.value.is_some();
        let titled = TITLES.iter().find_map(|title| {
            self.fields
                .iter()
                .position(|field| field.key == *title && field.kind == Kind::Text && free(&field))
        });
        let text = || self.fields.iter().position(|field| field.kind == Kind::Text && free(&field));
        titled.or_else(text).or_else(|| self.fields.iter().position(|field| free(&field))).unwrap_or_default()
    }

    pub(crate) fn position(&self, key: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.key == key)
    }

    pub(crate) fn layout(&self, area: Rect) -> (Rect, Form) {
        let lines = if self.is_raw() {
            self.area.lines().len()
        } else {
            match self.here() {
                Some(field) if field.kind == Kind::List => field.elements().len(),
                Some(_) if self.has_text() => self.area.lines().len().max(self.long()),
                _ => 1,
            }
        };
        let widest = self.fields.iter().map(|field| shown_key(field).width()).max().unwrap_or_default();
        let outer = outer(area, self.fields.len(), lines);
        (outer, parts(sheet_text(outer), self.fields.len(), lines, widest))
    }

    fn long(&self) -> usize {
        self.area.lines().iter().map(|line| line.chars().count() / 60 + 1).sum::<usize>().min(6)
    }
}

/// Returns the fields: those of the proposal in its order, then those that the draft adds, then those of the schema.
fn fields(old: &str, new: &str, rules: &[Property]) -> Option<Vec<Field>> {
    let (old, new) = (json::members(old)?, json::members(new)?);
    let find = |members: &[Member<'_>], key: &str| members.iter().position(|it| it.key.text == key);
    let rule = |key: &str| rules.iter().find(|rule| rule.key == key);
    let mut keys: Vec<&str> = Vec::new();
    let known = old.iter().chain(&new).map(|member| member.key.text.as_ref());
    for key in known.chain(rules.iter().map(|rule| rule.key.as_str())) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let field = |key: &&str| {
        let proposed = find(&old, key).and_then(|nth| old.get(nth));
        let draft = find(&new, key).and_then(|nth| new.get(nth));
        Field::new(key, proposed, draft, rule(key))
    };
    let all = keys.iter().map(field);
    Some(all.filter(|it| it.proposed.is_some() || it.value.is_some() || !it.is_locked()).collect())
}

/// Returns the draft as text, formatted like [`json::pretty`].
fn composed(fields: &[Field], mark: &str) -> String {
    let mark_of = |field: &Field| if field.wrong.is_some() { mark } else { "" };
    let set = fields.iter().filter_map(|field| Some((field, field.value.as_deref()?)));
    let lines: Vec<String> =
        set.map(|(field, value)| format!("  {}: {value}{}", field.raw_key, mark_of(field))).collect();
    if lines.is_empty() { "{}".to_owned() } else { format!("{{\n{}\n}}", lines.join(",\n")) }
}

/// Returns line and column of a byte, counted from 1.
pub(crate) fn place_of(lines: &[String], at: usize) -> (usize, usize) {
    let mut rest = at;
    for (nth, line) in lines.iter().enumerate() {
        if rest <= line.len() {
            let head = line.char_indices().take_while(|(index, _)| *index < rest).count();
            return (nth + 1, head + 1);
        }
        rest -= line.len() + 1;
    }
    (lines.len().max(1), 1)
}

fn area(text: &str) -> TextArea<'static> {
    let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
    area.set_max_histories(1_000);
    area.set_tab_length(2);
    area
}

#[derive(Clone, Debug)]
pub(crate) struct Bulk {
    pub keys: Vec<ActionKey>,
    /// The result for each action; `None` while the form is being filled in.
    pub rows: Option<Vec<BulkRow>>,
    pub top: usize,
    pub since: Timestamp,
}

#[derive(Clone, Debug)]
pub(crate) struct BulkRow {
    pub key: ActionKey,
    pub fate: BulkOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BulkOutcome {
    /// `None` if the input has these values already; it is approved as proposed.
    Applies(Option<Edits>),
    /// The reason, which may quote foreign text.
    LeftOut(String),
}

impl Bulk {
    pub(crate) fn applies(&self) -> usize {
        let rows = self.rows.iter().flatten();
        rows.filter(|row| matches!(row.fate, BulkOutcome::Applies(_))).count()
    }
}

/// Applies the change that `edits` makes to `first` to another input.
///
/// A list or object is only replaced if both proposals have the same one. Otherwise elements of one action would get
/// into another.
pub(crate) fn applied(edits: &Edits, first: &RawJson, other: &RawJson) -> BulkOutcome {
    let left_out = |why: String| BulkOutcome::LeftOut(why);
    let (Some(changes), Some(old), Some(new)) = (edits.as_json().members(), first.members(), other.members())
    else {
        return left_out(words::NOT_AN_OBJECT.to_owned());
    };
    let values = |members: &[Member<'_>]| -> HashMap<String, String> {
        members.iter().map(|it| (it.key.text.clone().into_owned(), json::compact(it.value))).collect()
    };
    let (old, new) = (values(&old), values(&new));
    for change in &changes {
        let key = change.key.text.as_ref();
        let (before, there) = (old.get(key), new.get(key));
        let nested = |value: Option<&String>| value.is_some_and(|value| value.starts_with(['{', '[']));
        if before.is_some() && there.is_none() {
            return left_out(words::lacks(key));
        }
        if (nested(before) || nested(there)) && before != there {
            return left_out(words::other_nested(key));
        }
    }
    let merged = merge(other, edits).and_then(|merged| changed_keys(other, merged.as_str()));
    match merged {
        Ok(edits) => BulkOutcome::Applies(edits),
        Err(error) => left_out(error.to_string()),
    }
}

#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) shown: text::Shown,
    pub(crate) whole: bool,
    pub(crate) lines: usize,
}

pub(crate) fn cell(value: &str) -> Cell {
    let value = value.trim();
    let text =
        if value.starts_with(['{', '[']) { json::compact(value).into() } else { line::readable(value) };
    let shown = text::lines(&text);
    let (lines, first) = (shown.len(), shown.into_iter().next().unwrap_or_default());
    Cell { shown: first, whole: lines == 1, lines }
}

pub(crate) fn shown_key(field: &Field) -> text::Shown {
    text::line(&Untrusted::from(field.key.as_str()))
}

/// Height of the foot: problem, edits, schema, keys, buttons.
const FOOT: u16 = 5;
const SMALL_FOOT: u16 = 2;
const KEYS: usize = 24;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) head: Rect,
    pub(crate) columns: Rect,
    pub(crate) rows: Rect,
    pub(crate) says: Rect,
    pub(crate) editor: Rect,
    pub(crate) foot: Rect,
    pub(crate) key: usize,
    pub(crate) proposed: usize,
}

/// Returns the area of the form, sized to its content.
pub(crate) fn outer(area: Rect, fields: usize, lines: usize) -> Rect {
    let rows = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
    let height = if fields == 0 {
        rows(lines).saturating_add(14)
    } else {
        rows(fields).saturating_add(rows(lines)).saturating_add(FOOT + 6)
    };
    sheet(area, area.width.saturating_sub(4).min(120), height.min(area.height.saturating_sub(1)))
}

/// Returns the areas inside. Without fields, the editor takes all the space.
pub(crate) fn parts(body: Rect, fields: usize, lines: usize, widest: usize) -> Form {
    let mut rest = body;
    if fields == 0 {
        let head = take_top(&mut rest, 2);
        let foot = take_bottom(&mut rest, FOOT);
        return Form { head, foot, editor: rest, ..Form::default() };
    }
    // A small screen shows only the field, its text, the edits to send, and the buttons.
    let (small, tiny) = (body.height < 13, body.height < 8);
    let head = take_top(&mut rest, u16::from(!tiny));
    let columns = take_top(&mut rest, u16::from(!small));
    let foot = take_bottom(&mut rest, if small { SMALL_FOOT } else { FOOT });
    let below = rest.height.saturating_sub(2);
    let most = (below / 2).max(1);
    let editor = take_bottom(&mut rest, u16::try_from(lines).unwrap_or(u16::MAX).clamp(1, most));
    let says = take_bottom(&mut rest, u16::from(!tiny));
    let rows = take_top(&mut rest, u16::try_from(fields).unwrap_or(u16::MAX));
    // `> ` before the key, two columns between the others, one for the `*`.
    let width = usize::from(body.width).saturating_sub(2);
    let key = widest.clamp(5, KEYS.min(width / 3).max(5));
    let proposed = width.saturating_sub(key + 5) / 2;
    Form { head, columns, rows, says, editor, foot, key, proposed }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct EditState {
    pub texts: HashMap<ActionKey, EditText>,
    /// The edits that those texts would send, if known.
    pub drafted: HashMap<ActionKey, Edits>,
    /// Descriptions of tools requested so far.
    pub tools: HashMap<(SourceName, Untrusted), Arc<Tool>>,
}
