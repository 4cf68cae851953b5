//! The filter line: filters the list while it is typed, then keeps the filter or restores the previous one.

use std::collections::HashSet;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::{Clear, Widget as _};
use tui_textarea::TextArea;

use crate::domain::{ActionKey, DecisionKind, Entry, SourceName, Untrusted};
use crate::inbox::filter::{Claimant, Filter, Finder, Is, Subject};
use crate::text;
use crate::text::Shown;
use crate::tui::chrome;
use crate::tui::chrome::pen::Pen;
use crate::tui::chrome::theme;
use crate::tui::core::command::{Command, KeyContext};
use crate::tui::core::job::Job;
use crate::tui::core::keymap::bare;
use crate::tui::core::layout::Layout;
use crate::tui::core::model::{Keys, Model, Sheet};
use crate::tui::edit::view::area_of;
use crate::tui::queue::words;

use super::filter_state::{Before, FilterLine, Scan};
use super::slots::{Slot, State};
use super::state::Cursor;

pub(super) const CONTEXTS: &[KeyContext] = &[KeyContext::Filter, KeyContext::Anywhere];

impl Sheet for FilterLine {
    fn keys(&self) -> Keys {
        Keys { takes_text: true, typed, pasted, accept, back, ..Keys::of(CONTEXTS) }
    }

    fn covers(&self) -> bool {
        false
    }

    /// Draws the line in place of the message: `/ tool:linear risk:high      12 of 340`.
    fn draw(&self, model: &Model, layout: &Layout, _: Rect, buf: &mut Buffer) -> Option<Position> {
        let row = layout.status;
        let said = match model.list.filtering.scan {
            Some(_) => "  looking… ".to_owned(),
            None => format!("  {} ", counted(model)),
        };
        let style = if self.error.is_some() { theme::WARN } else { theme::DIM };
        let caret = draw_line(&self.area, (" / ", &said, style), row, buf);
        Clear.render(layout.hints, buf);
        let mut pen = Pen::new(buf, layout.hints, 0);
        match &self.error {
            Some(error) => {
                pen.ours(" ", theme::PLAIN)
                    .shown(&text::line(&Untrusted::from(error.to_string())), theme::WARN);
            }
            None => {
                let keys = &model.settings.keymap;
                let (keep, back) = (keys.key(Command::Accept), keys.key(Command::Back));
                pen.ours(" ", theme::PLAIN).ours(&keep, theme::KEY).ours(" keep   ", theme::PLAIN);
                pen.ours(&back, theme::KEY).ours(" undo   ", theme::PLAIN);
                let fields = words::FILTER_FIELDS;
                pen.ours(fields, theme::DIM);
            }
        }
        caret
    }
}

fn typed(model: &mut Model, key: KeyEvent) {
    let step = match bare(key) {
        KeyCode::Down => Some(1),
        KeyCode::Up => Some(-1),
        _ => None,
    };
    match (step, &mut model.history.open) {
        (Some(step), Some(view)) => view.go_to(view.at().saturating_add_signed(step)),
        (Some(step), None) => model.queue.go_to(model.queue.at.saturating_add_signed(step)),
        _ => {
            let Some(line) = model.sheet.get_mut::<FilterLine>() else { return };
            let before = line.text();
            line.area.input(key);
            if line.text() != before {
                changed(model);
            }
        }
    }
}

fn pasted(model: &mut Model, text: &str) -> bool {
    let Some(line) = model.sheet.get_mut::<FilterLine>() else { return false };
    line.area.insert_str(chrome::words::one_line(text));
    changed(model);
    true
}

/// Keeps the filter. If the text is invalid, says why and keeps the line open.
fn accept(model: &mut Model) {
    Scan::finish(model);
    let Some(line) = model.sheet.take::<FilterLine>() else { return };
    if let Some(error) = &line.error {
        model.warn(error.to_string());
        model.sheet.open(line);
        return;
    }
    if model.history.open.is_some() {
        return;
    }
    if model.list.filtering.applied.as_ref().is_some_and(|filter| !filter.is_empty()) {
        model.screen.message = None;
        return;
    }
    clear(model);
}

fn back(model: &mut Model) {
    if let Some(line) = model.sheet.take::<FilterLine>() {
        put_back_to(model, line.before);
    }
}

pub(crate) fn open(model: &mut Model) {
    let line = FilterLine::new(before(model));
    model.sheet.open(line);
}

pub(crate) fn write(model: &mut Model, text: &str) {
    open(model);
    if let Some(line) = model.sheet.get_mut::<FilterLine>() {
        line.area = TextArea::new(vec![text.to_owned()]);
        line.area.move_cursor(tui_textarea::CursorMove::End);
        changed(model);
    }
    accept(model);
}

fn changed(model: &mut Model) {
    let Some(line) = model.sheet.get_mut::<FilterLine>() else { return };
    let names: Vec<SourceName> = model.list.sources.iter().map(|source| source.name.clone()).collect();
    let read = Filter::parse(&line.text());
    match read.and_then(|filter| filter.check_sources(&names).map(|()| filter)) {
        Ok(filter) if model.history.open.is_some() => {
            line.error = None;
            show_in_history(model, Some(filter));
        }
        Ok(filter) => {
            line.error = None;
            let narrows = line.narrows;
            begin(model, filter, narrows, None);
        }
        Err(error) => {
            line.error = Some(error);
        }
    }
}

pub(crate) fn before(model: &Model) -> Before {
    if let Some(view) = &model.history.open {
        return Before { filter: view.filter.clone(), cursor: None, top: 0 };
    }
    let filter = model.list.filtering.applied.clone();
    Before { filter, cursor: model.queue.cursor().cloned(), top: model.queue.top }
}

pub(crate) fn put_back_to(model: &mut Model, before: Before) {
    if model.history.open.is_some() {
        return show_in_history(model, before.filter);
    }
    let then = before.cursor.map(|cursor| (cursor, before.top));
    if model.list.filtering.applied == before.filter {
        model.list.filtering.scan = None;
    } else if let Some(filter) = before.filter {
        return begin(model, filter, false, then);
    } else {
        show_all(model);
    }
    restore(model, then);
}

fn restore(model: &mut Model, then: Option<(Cursor, usize)>) {
    let Some((cursor, top)) = then else { return };
    model.queue.go_to_identity(&cursor);
    model.queue.top = top;
}

fn show_all(model: &mut Model) {
    model.list.filtering.scan = None;
    model.list.filtering.applied = None;
    model.queue.shows_away = false;
    model.queue.filter(None);
}

pub(crate) fn show(model: &mut Model, filter: Option<Filter>) {
    let Some(filter) = filter else { return show_all(model) };
    begin(model, filter, false, None);
}

pub(crate) fn clear(model: &mut Model) {
    if model.history.open.is_some() {
        return show_in_history(model, None);
    }
    show_all(model);
    model.say(words::FILTER_CLEARED);
}

/// Begins a search. `narrows` limits it to the visible rows if the filter can only match fewer than the applied one.
fn begin(model: &mut Model, filter: Filter, narrows: bool, then: Option<(Cursor, usize)>) {
    let applied = model.list.filtering.applied.as_ref().filter(|_| narrows);
    let scan = Scan::new(filter, applied, &model.queue, model.now);
    Scan { then, ..scan }.start(model);
}

/// Searches again because rows are new; the list keeps its rows until then.
pub(crate) fn renew(model: &mut Model) {
    let searched = Scan::cancel(model).map(|scan| scan.filter);
    if let Some(filter) = searched.or_else(|| model.list.filtering.applied.clone()) {
        begin(model, filter, false, None);
    }
}

/// Searches again at once because the rows changed.
pub(crate) fn again(model: &mut Model) {
    renew(model);
    Scan::finish(model);
}

/// Filters the open list of ended actions, or shows all of it. More pages are read until the screen is full.
pub(crate) fn show_in_history(model: &mut Model, filter: Option<Filter>) {
    if let Some(view) = &mut model.history.open {
        view.filter = filter.filter(|filter| !filter.is_empty());
    }
    narrow_history(model);
}

/// Runs the filter over all rows of the open list of ended actions.
pub(crate) fn narrow_history(model: &mut Model) {
    let Some(mut view) = model.history.open.take() else { return };
    let filter = view.filter.take();
    let mut finder = Finder::default();
    view.show(|slot, own| {
        let row = FilteredRow { model, slot, own: own.map(|own| own.decision) };
        filter.as_ref().is_none_or(|filter| finder.holds(filter, &row, model.now))
    });
    view.filter = filter;
    model.history.open = Some(view);
    model.screen.dirty = true;
}

pub(crate) fn hidden(model: &Model) -> HashSet<ActionKey> {
    let Some(filter) = &model.list.filtering.applied else { return HashSet::new() };
    let mut finder = Finder::default();
    let waiting = model.queue.held.values().map(|entry| Slot::arrived(entry.clone()));
    let hides =
        waiting.filter(|slot| !finder.holds(filter, &FilteredRow { model, slot, own: None }, model.now));
    hides.map(|slot| slot.entry.key).collect()
}

impl Job for Scan {
    const SLICE: usize = 5_000;

    fn place(model: &mut Model) -> &mut Option<Self> {
        &mut model.list.filtering.scan
    }

    fn step(mut self, model: &mut Model, most: usize) -> Option<Self> {
        if self.arrangement != model.queue.arrangement {
            self = Self { then: self.then, ..Self::new(self.filter, None, &model.queue, self.now) };
        }
        let end = self.next.saturating_add(most).min(self.rows.len());
        for id in self.rows.get(self.next..end).unwrap_or_default() {
            let Some(slot) = model.queue.slot(*id) else { continue };
            if self.finder.holds(&self.filter, &FilteredRow { model, slot, own: None }, self.now) {
                self.found.push(*id);
            }
        }
        self.next = end;
        if end < self.rows.len() {
            return Some(self);
        }
        model.queue.shows_away = self.filter.shows_snoozed();
        model.queue.filter(Some(&self.found));
        model.list.filtering.applied = Some(self.filter);
        if let Some(line) = model.sheet.get_mut::<FilterLine>() {
            line.narrows = true;
        }
        restore(model, self.then);
        model.screen.dirty = true;
        None
    }
}

struct FilteredRow<'a> {
    model: &'a Model,
    slot: &'a Slot,
    /// This machine's decision, in a list of ended actions.
    own: Option<DecisionKind>,
}

impl Subject for FilteredRow<'_> {
    fn entry(&self) -> &Entry {
        &self.slot.entry
    }

    fn staged(&self) -> Option<DecisionKind> {
        let staged = self.model.decide.draft.get(&self.slot.entry.key).map(|staged| staged.decision.kind());
        self.own.or(staged)
    }

    fn claimed(&self) -> Option<Claimant<'_>> {
        self.model.claims.claimant(&self.slot.entry.key, &self.model.list.sources)
    }

    fn me(&self) -> Option<&Untrusted> {
        let sources = &self.model.list.sources;
        sources.iter().find(|source| source.name == self.slot.entry.key.source)?.subject.as_ref()
    }

    fn name(&self, subject: &Untrusted) -> Option<&Untrusted> {
        self.model.people.name(&self.slot.entry.key.source, subject)
    }

    fn is(&self, state: Is) -> bool {
        let (model, slot, key) = (self.model, self.slot, &self.slot.entry.key);
        match state {
            Is::Unopened => slot.counts_as_pending() && model.seen_of(slot).is_none(),
            Is::Opened => model.seen_of(slot).is_some(),
            Is::Staged => self.staged().is_some(),
            Is::Undecided => slot.is_pending() && model.decide.draft.get(key).is_none(),
            Is::Marked => slot.marked,
            Is::Flagged => model.flags_of(slot).any(),
            Is::High => slot.entry.row.risk.is_high(),
            Is::New => model.queue.is_fresh(slot),
            Is::Unknown => matches!(slot.state, State::ToResolve | State::Unknown),
            Is::Stale => model
                .list
                .sources
                .iter()
                .any(|source| source.name == key.source && source.is_stale(model.now)),
            Is::Settled => matches!(slot.state, State::Settled(_)),
            Is::Snoozed => slot.away,
        }
    }
}

pub(super) fn draw_line(
    area: &TextArea<'static>,
    (label, said, style): (&str, &str, Style),
    row: Rect,
    buf: &mut Buffer,
) -> Option<Position> {
    Clear.render(row, buf);
    Pen::new(buf, row, 0).keep(said.chars().count()).ours(said, style);
    let before = (label.len() as u16).min(row.width);
    let room = row.width.saturating_sub(said.chars().count() as u16 + before);
    Pen::new(buf, row, 0).ours(label, theme::KEY);
    let place = Rect { x: row.x + before, width: room, height: row.height.min(1), ..row };
    let caret = area_of(area, place, true, buf);
    let text = area.lines().join(" ");
    if area.is_selecting() && !text.is_empty() {
        let width = text::line(&Untrusted::from(text)).width().min(usize::from(room)) as u16;
        buf.set_style(Rect { width, ..place }.intersection(row), theme::SELECTED);
    }
    caret
}

fn counted(model: &Model) -> String {
    match &model.history.open {
        Some(view) => format!("{} of {}", view.len(), view.n_read()),
        None => format!("{} of {}", model.queue.n_shown(), model.queue.slots.len()),
    }
}

/// Returns the number of visible rows and the filter, if one is set.
pub(crate) fn stands(model: &Model) -> Option<(String, Shown)> {
    let filter = match &model.history.open {
        Some(view) => view.filter.as_ref()?,
        None => model.list.filtering.applied.as_ref()?,
    };
    Some((format!("{} shown", counted(model)), text::line(&Untrusted::from(filter.text()))))
}
