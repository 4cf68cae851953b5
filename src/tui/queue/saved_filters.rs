//! Named filters: applied by number, saved from the current filter, renamed and removed in the places pane. Filters of
//! the configuration come first and are read-only here.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::widgets::{Clear, Widget as _};
use tui_textarea::{CursorMove, TextArea};

use crate::domain::Untrusted;
use crate::inbox::Problem;
use crate::inbox::filter::Filter;
use crate::journal::KeptFilter;
use crate::text;
use crate::tui::chrome;
use crate::tui::chrome::pen::{Pen, sheet_frame};
use crate::tui::chrome::theme;
use crate::tui::core::command::Command;
use crate::tui::core::job::Job as _;
use crate::tui::core::keymap::bare;
use crate::tui::core::layout::Layout;
use crate::tui::core::model::{Keys, Model, Sheet};
use crate::tui::core::msg::Effect;
use crate::tui::queue::filter_state::PlacesPane;
use crate::tui::queue::words;

use super::filter;
use super::filter_state::{NameLine, Place, SavedFilter, Scan};

/// Longest name that fits into the places pane. Characters.
const LONGEST: usize = 40;

/// The list of saved filters, applied by number.
#[derive(Clone, Debug)]
pub(crate) struct SavedFilters;

impl Sheet for SavedFilters {
    fn keys(&self) -> Keys {
        Keys { typed: digit, ..Keys::of(filter::CONTEXTS) }
    }

    fn draw(&self, model: &Model, _: &Layout, area: Rect, buf: &mut Buffer) -> Option<Position> {
        let filters = &model.settings.triage.filters;
        let height = filters.len().min(9) as u16 + 4;
        let key = |command| model.settings.keymap.key(command);
        let (clears, back) = (key(Command::SavedFilters), key(Command::Back));
        let note = words::saved_filters_note(&clears, &back);
        let body =
            sheet_frame(model, area, (64.min(area.width), height.max(6)), words::SAVED_FILTERS, &note, buf);
        if filters.is_empty() {
            let (filter, save) = (key(Command::Filter), key(Command::SaveFilter));
            let words = words::no_saved_filters(&filter, &save);
            Pen::new(buf, body, 1).ours(&words, theme::PLAIN);
        }
        for (nth, saved) in filters.iter().take(9).enumerate() {
            let mut pen = Pen::new(buf, body, nth as u16 + 1);
            pen.ours(&format!("{}  ", nth + 1), theme::KEY);
            pen.column(&text::line(&Untrusted::from(saved.name.as_str())), 20, theme::BOLD)
                .ours("  ", theme::PLAIN);
            pen.shown(&text::line(&Untrusted::from(saved.filter.text())), theme::DIM);
        }
        None
    }
}

/// A digit applies a filter; `'` and `0` clear the filter.
fn digit(model: &mut Model, key: KeyEvent) {
    match bare(key) {
        KeyCode::Char(digit @ '1'..='9') => {
            apply(model, digit.to_digit(10).map_or(0, |digit| digit as usize));
        }
        KeyCode::Char('\'' | '0') => {
            model.sheet.close();
            if model.list.filtering.applied.is_some() {
                filter::clear(model);
            }
        }
        _ => {}
    }
}

impl Sheet for NameLine {
    fn keys(&self) -> Keys {
        Keys { takes_text: true, typed, pasted, accept, back, ..Keys::of(filter::CONTEXTS) }
    }

    fn covers(&self) -> bool {
        false
    }

    fn shows_places(&self) -> bool {
        self.pane.is_some()
    }

    fn draw(&self, model: &Model, layout: &Layout, _: Rect, buf: &mut Buffer) -> Option<Position> {
        let caret = filter::draw_line(&self.area, (" name: ", "", theme::DIM), layout.status, buf);
        Clear.render(layout.hints, buf);
        if model.screen.message.is_some() {
            // The error replaces the hints.
            chrome::status::message(model, layout.hints, buf);
            return caret;
        }
        let key = |command| model.settings.keymap.key(command);
        let mut pen = Pen::new(buf, layout.hints, 0);
        pen.ours(" ", theme::PLAIN).ours(&key(Command::Accept), theme::KEY).ours(" save   ", theme::PLAIN);
        pen.ours(&key(Command::Back), theme::KEY).ours(" back   ", theme::PLAIN);
        pen.shown(&text::line(&Untrusted::from(self.filter.text())), theme::DIM);
        caret
    }
}

fn typed(model: &mut Model, key: KeyEvent) {
    if let Some(line) = model.sheet.get_mut::<NameLine>() {
        line.area.input(key);
    }
}

fn pasted(model: &mut Model, text: &str) -> bool {
    let Some(line) = model.sheet.get_mut::<NameLine>() else { return false };
    line.area.insert_str(chrome::words::one_line(text));
    true
}

/// Saves the filter under this name. If the name is invalid, the line stays open and says why.
fn accept(model: &mut Model) {
    let Some(line) = model.sheet.get::<NameLine>() else { return };
    let name = line.area.lines().join(" ").trim().replace('\t', " ");
    let (filter, renames) = (line.filter.clone(), line.renames.clone());
    let filters = &model.settings.triage.filters;
    let used = filters.iter().any(|saved| saved.name == name && renames.as_ref() != Some(&name));
    let why = match name.chars().count() {
        0 => Some(words::NAME_MISSING.to_owned()),
        1..=LONGEST if used => Some(words::NAME_TAKEN.to_owned()),
        1..=LONGEST => None,
        _ => Some(words::name_too_long(LONGEST)),
    };
    if let Some(why) = why {
        return model.warn(why);
    }
    let saved = SavedFilter { name, filter, made_here: true };
    let filters = &mut model.settings.triage.filters;
    match filters.iter_mut().find(|old| renames.as_ref() == Some(&old.name)) {
        Some(old) => *old = saved,
        None => filters.push(saved),
    }
    back(model);
    if renames.is_none()
        && let Some(pane) = model.sheet.get_mut::<PlacesPane>()
    {
        pane.at = Place::Saved(model.settings.triage.filters.len() - 1);
    }
    model.screen.message = None;
    write(model);
}

fn back(model: &mut Model) {
    if let Some(pane) = model.sheet.take::<NameLine>().and_then(|line| line.pane) {
        model.sheet.open(pane);
    }
}

pub(crate) fn restored(model: &mut Model, kept: Vec<KeptFilter>) {
    for (name, text) in kept {
        match Filter::parse(&text) {
            Ok(filter) => {
                model.settings.triage.filters.push(SavedFilter { name, filter, made_here: true });
            }
            Err(error) => {
                let said = words::saved_filter_left_out(&name, &error);
                model.tell(chrome::state::Tone::Bad, vec![text::line(&said.into())]);
            }
        }
    }
}

/// Applies a saved filter by its number, counted from 1.
pub(crate) fn apply(model: &mut Model, number: usize) {
    let saved = number.checked_sub(1).and_then(|nth| model.settings.triage.filters.get(nth)).cloned();
    let Some(saved) = saved else {
        let key = model.settings.keymap.key(Command::SaveFilter);
        model.say(words::no_saved_filter(number, &key));
        return;
    };
    model.sheet.close();
    filter::show(model, Some(saved.filter));
}

pub(crate) fn name_new(model: &mut Model) {
    Scan::finish(model);
    let Some(filter) = model.list.filtering.applied.clone().filter(|filter| !filter.is_empty()) else {
        let key = model.settings.keymap.key(Command::Filter);
        model.say(words::no_filter_to_save(&key));
        return;
    };
    if let Some(known) = model.settings.triage.filters.iter().find(|saved| saved.filter == filter) {
        let said = words::saved_already(&known.name);
        model.tell(chrome::state::Tone::Plain, vec![text::line(&said.into())]);
        return;
    }
    open(model, String::new(), filter, None);
}

/// Asks for a new name for the saved filter under the cursor.
pub(crate) fn rename(model: &mut Model) {
    if let Some(saved) = here(model, "renamed") {
        open(model, saved.name.clone(), saved.filter, Some(saved.name));
    }
}

pub(crate) fn remove(model: &mut Model) {
    let Some(saved) = here(model, "removed") else { return };
    model.settings.triage.filters.retain(|other| other.name != saved.name);
    if let Some(pane) = model.sheet.get_mut::<PlacesPane>() {
        pane.at = Place::All;
    }
    filter::show(model, None);
    let said = words::removed(&saved.name, saved.filter.text());
    model.tell(chrome::state::Tone::Plain, vec![text::line(&said.into())]);
    write(model);
}

/// Returns the saved filter under the cursor if it can be changed here; `done` is the verb of the refusal.
fn here(model: &mut Model, done: &str) -> Option<SavedFilter> {
    let pane = model.sheet.get::<PlacesPane>()?;
    let saved = match pane.at {
        Place::Saved(nth) => model.settings.triage.filters.get(nth).cloned(),
        _ => None,
    };
    match saved {
        Some(saved) if saved.made_here => return Some(saved),
        Some(_) => model.say(words::filter_is_configured(done)),
        None => model.say(words::only_saved_filters(done)),
    }
    None
}

fn open(model: &mut Model, name: String, filter: Filter, renames: Option<String>) {
    let mut area = TextArea::new(vec![name]);
    area.move_cursor(CursorMove::End);
    area.select_all();
    let pane = model.sheet.take::<PlacesPane>();
    model.screen.message = None;
    model.sheet.open(NameLine { area, filter, renames, pane });
}

fn write(model: &mut Model) {
    let made = model.settings.triage.filters.iter().filter(|saved| saved.made_here);
    let kept = made.map(|saved| (saved.name.clone(), saved.filter.text().to_owned())).collect();
    model.effects.push(Effect::KeepFilters(kept));
}

/// Handles the journal's answer. Filters that could not be saved last until the end of this run.
pub(crate) fn kept(model: &mut Model, answer: Result<(), Problem>) {
    if let Err(problem) = answer {
        model.tell_problem(words::SAVED_FILTERS_ARE_LOST, &problem);
    }
}

pub(crate) fn open_sheet(model: &mut Model) {
    model.sheet.open(SavedFilters);
}
