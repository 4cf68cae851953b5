//! Handles the help overlay and the palette: opens them over anything, narrows them by typing, runs what is chosen.

use crossterm::event::KeyEvent;
use ratatui::layout::Rect;

use crate::tui::core::command::{ArgumentCommand, AskSpec, Command};
use crate::tui::core::command::{Direction, shift};
use crate::tui::core::keymap::{Chord, Lookup};
use crate::tui::core::model::Model;
use crate::tui::core::msg::Effect;
use crate::tui::queue;
use crate::tui::queue::filter;

use super::find_command::Entry;
use super::state::{Finder, Overlay};
use super::{find_command, leave};

/// Rows of the palette that a page is.
const PAGE: usize = 8;

pub(crate) fn help(model: &mut Model) {
    model.screen.overlay = match model.screen.overlay {
        Some(Overlay::Help(_)) => None,
        _ => Some(Overlay::Help(Finder::default())),
    };
}

pub(crate) fn palette(model: &mut Model) {
    model.screen.overlay = Some(Overlay::Palette(Finder::default()));
}

/// The commands of what is open; the others mean nothing here.
/// Returns the command that was chosen in the palette.
pub(crate) fn run(model: &mut Model, command: Command) -> Option<Command> {
    match command {
        Command::Down => go(model, Direction::Down, 1),
        Command::Up => go(model, Direction::Up, 1),
        Command::PageDown => go(model, Direction::Down, page(model)),
        Command::PageUp => go(model, Direction::Up, page(model)),
        Command::Top => go(model, Direction::Up, usize::MAX),
        Command::Bottom => go(model, Direction::Down, usize::MAX),
        Command::NextField => complete(model),
        Command::Accept => return accept(model),
        Command::Help => help(model),
        Command::Back => back(model),
        Command::Interrupt => leave::interrupt(model),
        Command::Repaint => model.effects.push(Effect::Repaint),
        Command::Suspend => model.effects.push(Effect::Suspend),
        _ => {}
    }
    None
}

/// Clears what is typed, then closes.
fn back(model: &mut Model) {
    match &mut model.screen.overlay {
        Some(Overlay::Help(finder)) if !finder.text().is_empty() => *finder = Finder::default(),
        _ => leave::close_overlay(model),
    }
}

pub(crate) fn typed(model: &mut Model, key: KeyEvent) {
    if let Some(overlay) = &mut model.screen.overlay {
        let finder = overlay.finder_mut();
        finder.area.input(key);
        finder.at = 0;
    }
}

pub(crate) fn pasted(model: &mut Model, text: &str) {
    if let Some(overlay) = &mut model.screen.overlay {
        let finder = overlay.finder_mut();
        finder.area.insert_str(text.split_whitespace().collect::<Vec<_>>().join(" "));
        finder.at = 0;
    }
}

/// A character is text here, but for the help key in an empty help, which closes it.
pub(crate) fn takes(model: &Model, chord: Chord) -> bool {
    let places = model.places();
    match &model.screen.overlay {
        Some(Overlay::Palette(_)) => true,
        Some(Overlay::Help(finder)) => {
            let closes = Lookup::Command(Command::Help);
            !finder.text().is_empty() || model.settings.keymap.lookup(&[chord], places) != closes
        }
        None => false,
    }
}

pub(crate) fn go(model: &mut Model, way: Direction, by: usize) {
    let last = last(model);
    if let Some(overlay) = &mut model.screen.overlay {
        let finder = overlay.finder_mut();
        finder.at = shift(finder.at, way, by).min(last);
    }
}

/// The last row that can be chosen, or the first line of the last page.
fn last(model: &Model) -> usize {
    match &model.screen.overlay {
        Some(Overlay::Help(finder)) => {
            let list = help_list(model);
            let lines = find_command::help(model, &finder.text(), usize::from(list.width)).len();
            lines.saturating_sub(usize::from(list.height))
        }
        Some(Overlay::Palette(finder)) => {
            find_command::entries(model, &finder.text()).len().saturating_sub(1)
        }
        None => 0,
    }
}

fn help_list(model: &Model) -> Rect {
    let (_, _, list) =
        find_command::help_parts(model, Rect::new(0, 0, model.screen.size.width, model.screen.size.height));
    list
}

fn page(model: &Model) -> usize {
    match &model.screen.overlay {
        Some(Overlay::Help(_)) => usize::from(help_list(model).height).saturating_sub(1).max(1),
        _ => PAGE,
    }
}

/// The palette's chosen row.
fn chosen(model: &Model) -> Option<Entry> {
    let Some(Overlay::Palette(finder)) = &model.screen.overlay else { return None };
    find_command::entries(model, &finder.text()).into_iter().nth(finder.at)
}

fn complete(model: &mut Model) {
    if let Some(entry) = chosen(model) {
        model.screen.overlay = Some(Overlay::Palette(Finder::with(&entry.completed())));
    }
}

/// A command without an argument is given where the palette was opened, through everything that its key would go through.
fn accept(model: &mut Model) -> Option<Command> {
    match chosen(model) {
        Some(Entry::Command { spec, here: true }) => {
            model.screen.overlay = None;
            return Some(spec.command);
        }
        Some(Entry::Command { spec, here: false }) => {
            model.warn(format!("{} means nothing here", spec.name));
        }
        Some(Entry::ArgumentCommand(_, argument)) if argument.is_empty() => complete(model),
        Some(Entry::ArgumentCommand(spec, argument)) => asked(model, spec, &argument),
        None => {
            if matches!(model.screen.overlay, Some(Overlay::Palette(_))) {
                model.warn("there is no such command");
            }
        }
    }
    None
}

fn asked(model: &mut Model, spec: &AskSpec, argument: &str) {
    if !spec.values.is_empty() && !spec.values.contains(&argument) {
        model.warn(format!("{} takes one of: {}", spec.name, spec.values.join(", ")));
        return;
    }
    if !spec.places.iter().any(|place| model.places_beneath().contains(place)) {
        model.warn(format!("{} means nothing here", spec.name));
        return;
    }
    model.screen.overlay = None;
    ask(model, spec.ask, argument);
}

/// The router of commands that take an argument: one line each, exhaustive.
fn ask(model: &mut Model, ask: ArgumentCommand, argument: &str) {
    match ask {
        ArgumentCommand::Filter => filter::write(model, argument),
        ArgumentCommand::Sort => queue::update::sort_word(model, argument),
        ArgumentCommand::Group => queue::update::group_word(model, argument),
        ArgumentCommand::Help => {
            model.screen.overlay = Some(Overlay::Help(Finder::with(argument)));
        }
    }
}
