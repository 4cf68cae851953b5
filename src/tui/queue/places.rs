//! The left pane: saved filters, sources, agents and tools. Moving the cursor in it filters the list.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::domain::{SourceName, Untrusted};
use crate::inbox::filter::Filter;
use crate::text;
use crate::tui::chrome;
use crate::tui::chrome::pen::{self, Pen};
use crate::tui::chrome::state::Focus;
use crate::tui::chrome::theme;
use crate::tui::core::command::{Command, KeyContext, shift};
use crate::tui::core::job::Job as _;
use crate::tui::core::layout::Layout;
use crate::tui::core::model::{Keys, Model, Sheet};
use crate::tui::history;
use crate::tui::queue::words;

use super::filter;
use super::filter_state::{NameLine, Place, PlacesPane, Scan};

enum Row {
    Blank,
    Heading(&'static str),
    Place(Place, Option<usize>),
    Unreadable(usize),
}

impl Sheet for PlacesPane {
    fn keys(&self) -> Keys {
        Keys {
            accept: |model| keep(model, Focus::List),
            back,
            scroll: |model, way, by| go(model, |at| shift(at, way, by)),
            ..Keys::of(&[KeyContext::Places, KeyContext::Anywhere])
        }
    }

    fn covers(&self) -> bool {
        false
    }

    fn shows_places(&self) -> bool {
        true
    }

    /// Draws nothing, because the pane is a part of the inbox. Returns the position of the row under the cursor.
    fn draw(&self, model: &Model, layout: &Layout, _: Rect, _: &mut Buffer) -> Option<Position> {
        let Rect { x, y, height, .. } = layout.places;
        let line = line_of(&rows(model), Some(&self.at)).min(usize::from(height.saturating_sub(1)));
        (height > 0).then(|| Position::new(x, y + line as u16))
    }
}

fn back(model: &mut Model) {
    if let Some(pane) = model.sheet.take::<PlacesPane>() {
        filter::put_back_to(model, pane.before);
    }
}

/// Returns the filter of a place; `None` shows everything.
fn filter_of(model: &Model, place: &Place) -> Option<Filter> {
    match place {
        Place::All => None,
        Place::Written(filter) => Some(filter.clone()),
        Place::Saved(nth) => model.settings.triage.filters.get(*nth).map(|saved| saved.filter.clone()),
        Place::Source(name) => Some(Filter::of_source(name)),
        Place::Agent(name) => Some(Filter::of_agent(name)),
        Place::Tool(name) => Some(Filter::of_tool(name)),
    }
}

/// Moves the focus to the pane. On a narrow screen the pane replaces the preview.
pub(crate) fn open(model: &mut Model) {
    if model.history.open.is_some() {
        return history::update::refuse(model);
    }
    model.screen.zoom = false;
    model.screen.focus = Focus::List;
    let written = || model.list.filtering.applied.clone().map_or(Place::All, Place::Written);
    let at = standing(model).unwrap_or_else(written);
    model.sheet.open(PlacesPane { at, before: filter::before(model) });
}

fn go(model: &mut Model, to: impl FnOnce(usize) -> usize) {
    let Some(pane) = model.sheet.get::<PlacesPane>() else { return };
    let mut places = places(model);
    let now = places.iter().position(|place| *place == pane.at).unwrap_or_default();
    let next = to(now).min(places.len().saturating_sub(1));
    if next >= places.len() || next == now {
        return;
    }
    let place = places.swap_remove(next);
    let shows = filter_of(model, &place);
    if let Some(pane) = model.sheet.get_mut::<PlacesPane>() {
        pane.at = place;
    }
    filter::show(model, shows);
}

pub(crate) fn keep(model: &mut Model, focus: Focus) {
    Scan::finish(model);
    model.sheet.close();
    model.screen.focus = focus;
}

pub(crate) fn is_open(model: &Model) -> bool {
    model.sheet.is::<PlacesPane>()
}

fn pane(model: &Model) -> Option<&PlacesPane> {
    model.sheet.get().or_else(|| model.sheet.get::<NameLine>()?.pane.as_ref())
}

pub(crate) fn hints(model: &Model) -> Vec<(Command, &'static str)> {
    let mut hints = vec![(Command::Accept, words::TO_THE_LIST), (Command::Back, "undo")];
    match pane(model).map(|pane| &pane.at) {
        Some(Place::Saved(nth)) if model.settings.triage.filters.get(*nth).is_some_and(|it| it.made_here) => {
            hints.extend([(Command::RenameFilter, "rename"), (Command::RemoveFilter, "remove")]);
        }
        Some(Place::Saved(_) | Place::All) | None => {}
        Some(_) => hints.push((Command::SaveFilter, "save")),
    }
    hints
}

fn places(model: &Model) -> Vec<Place> {
    let place = |row| if let Row::Place(place, _) = row { Some(place) } else { None };
    rows(model).into_iter().filter_map(place).collect()
}

fn standing(model: &Model) -> Option<Place> {
    let applied = model.list.filtering.applied.as_ref();
    places(model).into_iter().find(|place| filter_of(model, place).as_ref() == applied)
}

fn rows(model: &Model) -> Vec<Row> {
    let stats = &model.list.stats;
    let mut rows = vec![Row::Place(Place::All, Some(stats.pending))];
    let saved = (0..model.settings.triage.filters.len()).map(|nth| Row::Place(Place::Saved(nth), None));
    section(&mut rows, words::SAVED_FILTERS, 1, saved.collect());
    section(&mut rows, "Sources", 2, sources(model));
    let of = |names: &[(Untrusted, usize)], place: fn(Untrusted) -> Place| {
        names.iter().map(|(name, count)| Row::Place(place(name.clone()), Some(*count))).collect()
    };
    section(&mut rows, "Agents", 2, of(&stats.by_agent, Place::Agent));
    section(&mut rows, "Tools", 2, of(&stats.by_tool, Place::Tool));
    if let Some(written) = written(model, &rows) {
        rows.insert(1, Row::Place(Place::Written(written), None));
    }
    rows
}

/// Returns the filter that was set when the pane got the focus, unless a place has the same one. It is listed
/// so that the reviewer can return to it.
fn written(model: &Model, rows: &[Row]) -> Option<Filter> {
    let before = pane(model)?.before.filter.as_ref()?;
    let has_it =
        |row: &Row| matches!(row, Row::Place(place, _) if filter_of(model, place).as_ref() == Some(before));
    (!rows.iter().any(has_it)).then(|| before.clone())
}

/// Adds a section, unless it has fewer than `least` rows.
fn section(rows: &mut Vec<Row>, heading: &'static str, least: usize, of: Vec<Row>) {
    if of.len() >= least {
        rows.extend([Row::Blank, Row::Heading(heading)]);
        rows.extend(of);
    }
}

fn sources(model: &Model) -> Vec<Row> {
    let counts = &model.list.stats.by_source;
    let of = |source: &crate::tui::queue::list::SourceState| {
        let count = counts.iter().find(|(name, _)| *name == source.name).map_or(0, |(_, n)| *n);
        let place = Row::Place(Place::Source(source.name.clone()), Some(count));
        let unreadable = source.unreadable.len();
        std::iter::once(place).chain((unreadable > 0).then_some(Row::Unreadable(unreadable)))
    };
    model.list.sources.iter().flat_map(of).collect()
}

pub(crate) fn draw(model: &Model, layout: &Layout, buf: &mut Buffer) {
    if layout.places.is_empty() {
        return;
    }
    let rows = rows(model);
    let (at, focused) = match pane(model) {
        Some(pane) => (Some(pane.at.clone()), true),
        // A list of ended actions is not a place.
        None if model.history.open.is_some() => (None, false),
        None => (standing(model), false),
    };
    let area = layout.places;
    let line = line_of(&rows, at.as_ref());
    let top = (line + 1).saturating_sub(usize::from(area.height));
    for (nth, row) in (0..area.height).zip(rows.iter().skip(top)) {
        match row {
            Row::Blank => {}
            Row::Heading(heading) => {
                Pen::new(buf, area, nth).ours(" ", theme::PLAIN).ours(heading, theme::DIM);
            }
            Row::Unreadable(count) => {
                Pen::new(buf, area, nth).ours(&format!("   {count} unreadable"), theme::WARN);
            }
            Row::Place(place, count) => {
                let here = at.as_ref() == Some(place);
                // Only one bar on the screen, at the row that has the focus.
                let pen = pen::row(model, area, nth, (here && focused).then_some(true), buf);
                let ground = if here && !focused { theme::RAISED } else { theme::PLAIN };
                draw_place(model, place, *count, here, pen.base(ground));
            }
        }
    }
}

fn draw_place(model: &Model, place: &Place, count: Option<usize>, here: bool, mut pen: Pen<'_>) {
    let style = if here { theme::BOLD } else { theme::PLAIN };
    let count = count.map(|count| format!("{count} ")).unwrap_or_default();
    pen.before(count.len() + 1, |pen| {
        match place {
            Place::All => pen.ours("All", style),
            Place::Written(filter) => pen.shown(&text::line(&Untrusted::from(filter.text())), style),
            Place::Saved(nth) => {
                let filters = &model.settings.triage.filters;
                let name = filters.get(*nth).map(|saved| saved.name.as_str()).unwrap_or_default();
                let key = model.settings.keymap.key(Command::SavedFilters);
                pen.ours(&format!("{key}{} ", nth + 1), theme::KEY);
                pen.shown(&text::line(&Untrusted::from(name)), style)
            }
            Place::Source(name) => {
                pen.ours(name.as_str(), if is_well(model, name) { style } else { theme::WARN })
            }
            Place::Agent(name) | Place::Tool(name) => pen.shown(&text::line(name), style),
        };
    });
    pen.right(&count, style);
}

fn is_well(model: &Model, name: &SourceName) -> bool {
    let source = model.list.sources.iter().find(|source| source.name == *name);
    source.is_none_or(|source| chrome::words::connection(source, model.now).1)
}

fn line_of(rows: &[Row], at: Option<&Place>) -> usize {
    let is_here = |row: &Row| matches!(row, Row::Place(place, _) if Some(place) == at);
    rows.iter().position(is_here).unwrap_or_default()
}
