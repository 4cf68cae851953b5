//! Help and palette: opens them, filters by typed text, runs the chosen command, draws them.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::widgets::{Clear, Widget as _};

use crate::text::Shown;
use crate::tui::chrome::words;
use crate::tui::core::command::{
    ARGUMENT_COMMANDS, ArgumentCommand, AskSpec, COMMANDS, Command, Direction, shift,
};
use crate::tui::core::keymap::{Chord, Lookup, short};
use crate::tui::core::layout::{Layout, above_message, sheet_text};
use crate::tui::core::model::Model;
use crate::tui::core::msg::Effect;
use crate::tui::edit::view::area_of;
use crate::tui::queue;
use crate::tui::queue::filter;
use crate::tui::snooze;

use super::find_command::{Entry, HelpLine, KEYS};
use super::pen::{Pen, frame};
use super::state::{Finder, Overlay};
use super::{find_command, leave, theme};

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

/// Runs a command of the open overlay; other commands are ignored. Returns the command chosen in the palette.
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

/// Clears the typed text of the help; without any, closes the overlay.
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

/// Returns true if a character is typed as text. In an empty help, the help key closes it instead.
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

/// Returns the last row of the palette, or the first line of the help's last page.
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

fn chosen(model: &Model) -> Option<Entry> {
    let Some(Overlay::Palette(finder)) = &model.screen.overlay else { return None };
    find_command::entries(model, &finder.text()).into_iter().nth(finder.at)
}

fn complete(model: &mut Model) {
    if let Some(entry) = chosen(model) {
        model.screen.overlay = Some(Overlay::Palette(Finder::with(&entry.completed())));
    }
}

/// Returns a chosen command, to be run like its key. Completes or runs a command with an argument.
fn accept(model: &mut Model) -> Option<Command> {
    match chosen(model) {
        Some(Entry::Command { spec, here: true }) => {
            model.screen.overlay = None;
            return Some(spec.command);
        }
        Some(Entry::Command { spec, here: false }) => {
            model.warn(words::does_nothing(spec.name));
        }
        Some(Entry::ArgumentCommand(_, argument)) if argument.is_empty() => complete(model),
        Some(Entry::ArgumentCommand(spec, argument)) => asked(model, spec, &argument),
        None => {
            if matches!(model.screen.overlay, Some(Overlay::Palette(_))) {
                model.warn(words::UNKNOWN_COMMAND);
            }
        }
    }
    None
}

fn asked(model: &mut Model, spec: &AskSpec, argument: &str) {
    if !spec.values.is_empty() && !spec.values.contains(&argument) {
        model.warn(words::takes_one_of(spec.name, &spec.values.join(", ")));
        return;
    }
    if !spec.places.iter().any(|place| model.places_beneath().contains(place)) {
        model.warn(words::does_nothing(spec.name));
        return;
    }
    model.screen.overlay = None;
    ask(model, spec.ask, argument);
}

fn ask(model: &mut Model, ask: ArgumentCommand, argument: &str) {
    match ask {
        ArgumentCommand::Filter => filter::write(model, argument),
        ArgumentCommand::Sort => queue::update::sort_word(model, argument),
        ArgumentCommand::Group => queue::update::group_word(model, argument),
        ArgumentCommand::Snooze => snooze::update::until(model, argument),
        ArgumentCommand::Help => {
            model.screen.overlay = Some(Overlay::Help(Finder::with(argument)));
        }
    }
}

const COLUMN: usize = 24;
const PALETTE: u16 = 13;
/// Columns for a command's keys; further keys are in the help.
const KEY_COLUMNS: usize = 14;

/// Draws help, palette, and the keys after a prefix. Returns the cursor's position in the typed line.
pub(crate) fn draw(model: &Model, layout: &Layout, screen: Rect, buf: &mut Buffer) -> Option<Position> {
    let typed = match &model.screen.overlay {
        Some(Overlay::Help(finder)) => draw_help(model, finder, screen, buf),
        Some(Overlay::Palette(finder)) => draw_palette(model, finder, above_message(layout, screen), buf),
        None => None,
    };
    if !model.screen.chords.is_empty() {
        following(model, layout, screen, buf);
    }
    typed
}

fn draw_help(model: &Model, finder: &Finder, screen: Rect, buf: &mut Buffer) -> Option<Position> {
    let (outer, query, list) = find_command::help_parts(model, screen);
    let lines = find_command::help(model, &finder.text(), usize::from(list.width));
    let height = usize::from(list.height);
    let top = finder.at.min(lines.len().saturating_sub(height));
    let keys = &model.settings.keymap;
    let (down, page) = (keys.key_in_text(Command::Down), keys.key_in_text(Command::PageDown));
    let back = keys.key_in_text(Command::Back);
    let note = words::help_note(
        (top + 1).min(lines.len()),
        (top + height).min(lines.len()),
        lines.len(),
        &down,
        &page,
        &back,
    );
    Clear.render(outer, buf);
    frame(model, outer, "Help", &note, theme::PLAIN, buf);
    let typed = field(finder, query, "find: ", buf);
    if finder.text().is_empty() {
        Pen::new(buf, query, 0).to(query.x + 8).ours(words::TYPE_A_WORD_OR_A, theme::DIM);
    }
    if lines.is_empty() {
        Pen::new(buf, list, 1).ours(words::NO_COMMAND_MATCHES, theme::PLAIN);
    }
    for (nth, line) in lines.iter().skip(top).take(height).enumerate() {
        let mut pen = Pen::new(buf, list, nth as u16);
        match line {
            HelpLine::Heading(text) => drop(pen.ours(text, theme::BOLD)),
            HelpLine::Legend(text) => drop(pen.ours(text, theme::DIM)),
            HelpLine::Key { keys, help, name } => {
                pen.ours(&format!("{keys:<KEYS$} "), theme::KEY).ours(help, theme::PLAIN);
                pen.right(name, theme::DIM);
            }
            HelpLine::More(text) => {
                pen.to(list.x + KEYS as u16 + 1).ours(text, theme::PLAIN);
            }
            HelpLine::Blank => {}
        }
    }
    typed
}

fn field(finder: &Finder, line: Rect, label: &str, buf: &mut Buffer) -> Option<Position> {
    Pen::new(buf, line, 0).ours(label, theme::KEY);
    let skip = (label.len() as u16).min(line.width);
    area_of(&finder.area, Rect { x: line.x + skip, width: line.width - skip, ..line }, true, buf)
}

fn draw_palette(model: &Model, finder: &Finder, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let height = PALETTE.min(area.height);
    let width = 100.min(area.width);
    let outer =
        Rect { x: area.x + (area.width - width) / 2, y: area.bottom().saturating_sub(height), width, height };
    let entries = find_command::entries(model, &finder.text());
    let all = COMMANDS.len() + ARGUMENT_COMMANDS.len();
    let keys = &model.settings.keymap;
    let (run, complete) = (keys.key_in_text(Command::Accept), keys.key_in_text(Command::NextField));
    let back = keys.key_in_text(Command::Back);
    let note = words::palette_note(entries.len(), all, &run, &complete, &back);
    Clear.render(outer, buf);
    frame(model, outer, "Command", &note, theme::PLAIN, buf);
    let body = sheet_text(outer);
    let typed = field(finder, Rect { height: 1.min(body.height), ..body }, ": ", buf);
    let list = Rect { y: body.y + 1.min(body.height), height: body.height.saturating_sub(1), ..body };
    if entries.is_empty() {
        Pen::new(buf, list, 0).ours(words::NO_COMMAND_MATCHES, theme::PLAIN);
    }
    let top = finder.at.saturating_sub(usize::from(list.height).saturating_sub(1));
    for (nth, entry) in entries.iter().enumerate().skip(top).take(usize::from(list.height)) {
        let base = if nth == finder.at { theme::SELECTED } else { theme::PLAIN };
        let mut pen = Pen::new(buf, list, (nth - top) as u16).base(base);
        pen.ours(if nth == finder.at { "> " } else { "  " }, theme::PLAIN);
        choice(model, entry, &mut pen);
    }
    typed
}

fn choice(model: &Model, entry: &Entry, pen: &mut Pen<'_>) {
    match entry {
        Entry::Command { spec, here } => {
            let keys = model.settings.keymap.keys(spec.command);
            let keys = keys.iter().map(|key| short(key)).reduce(|shown, key| {
                let both = format!("{shown} {key}");
                if both.len() > KEY_COLUMNS { shown } else { both }
            });
            let style = if *here { theme::PLAIN } else { theme::DIM };
            pen.ours(&format!("{:<20} ", spec.name), style)
                .ours(&format!("{:<KEY_COLUMNS$} ", keys.unwrap_or_default()), style);
            pen.ours(if *here { "" } else { words::NOT_HERE }, style);
            pen.shown(&Shown::ours(spec.help).cut(pen.left()), style);
        }
        Entry::ArgumentCommand(spec, argument) => {
            let word = if argument.is_empty() { spec.argument } else { argument };
            pen.ours(&format!("{:<35} ", format!("{} {word}", spec.name)), theme::PLAIN);
            pen.shown(&Shown::ours(spec.help).cut(pen.left()), theme::PLAIN);
        }
    }
}

/// Draws the keys that may follow a prefix, over the preview so that the list stays visible; without a preview, in one
/// line at the bottom.
fn following(model: &Model, layout: &Layout, screen: Rect, buf: &mut Buffer) {
    let places = model.places();
    let follows = model.settings.keymap.following(&model.screen.chords, places);
    let rows: Vec<(String, &str)> = follows
        .iter()
        .filter_map(|(key, command)| {
            let spec = COMMANDS.iter().find(|spec| spec.command == *command)?;
            Some((short(key), spec.help))
        })
        .collect();
    let leaves = format!("{} leaves", model.settings.keymap.key(Command::Back));
    let begun: String = model.screen.chords.iter().map(ToString::to_string).collect();
    let over = if layout.preview.is_empty() { above_message(layout, screen) } else { layout.preview };
    // Uses several columns if each is wide enough for a few words.
    let room = usize::from(over.height.saturating_sub(2));
    let columns = rows.len().div_ceil(room.max(1)).max(1);
    let width = usize::from(sheet_text(over).width) / columns;
    if layout.preview.is_empty() || room == 0 || width < COLUMN {
        let keys: Vec<&str> = rows.iter().map(|(key, _)| key.as_str()).collect();
        let row = layout.status;
        Clear.render(row, buf);
        Pen::new(buf, row, 0)
            .ours(&format!(" {begun} then {}   ", keys.join(" ")), theme::BOLD)
            .ours(&leaves, theme::DIM);
        return;
    }
    let tall = rows.len().div_ceil(columns);
    let height = tall as u16 + 2;
    let outer = Rect { y: over.bottom() - height, height, ..over };
    Clear.render(outer, buf);
    frame(model, outer, &format!("{begun} then"), &leaves, theme::PLAIN, buf);
    let body = sheet_text(outer);
    for (nth, (key, help)) in rows.iter().enumerate() {
        let x = body.x + ((nth / tall) * width) as u16;
        let cell = Rect { x, width: (width as u16).saturating_sub(1), ..body };
        Pen::new(buf, cell, (nth % tall) as u16)
            .ours(&format!("{key:<3} "), theme::KEY)
            .ours(help, theme::PLAIN);
    }
}
