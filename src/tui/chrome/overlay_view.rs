//! The help overlay, the palette, and what may follow a prefix.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::widgets::{Clear, Widget as _};

use crate::tui::core::command::{ARGUMENT_COMMANDS, COMMANDS, Command};
use crate::tui::core::keymap::short;
use crate::tui::core::layout::{Layout, above_message, sheet_text};
use crate::tui::core::model::Model;
use crate::tui::edit::view::area_of;

use super::find_command::{Entry, HelpLine, KEYS};
use super::pen::{Pen, frame};
use super::state::{Finder, Overlay};
use super::{find_command, theme};

/// What may follow a prefix is not told in less columns than this.
const COLUMN: usize = 24;
/// Rows of the palette with its frame.
const PALETTE: u16 = 13;

/// Returns where the terminal's cursor is to stand: in the line that is typed in.
pub(crate) fn draw(model: &Model, layout: &Layout, screen: Rect, buf: &mut Buffer) -> Option<Position> {
    let typed = match &model.screen.overlay {
        Some(Overlay::Help(finder)) => help(model, finder, screen, buf),
        Some(Overlay::Palette(finder)) => palette(model, finder, above_message(layout, screen), buf),
        None => None,
    };
    if !model.screen.chords.is_empty() {
        following(model, layout, screen, buf);
    }
    typed
}

fn help(model: &Model, finder: &Finder, screen: Rect, buf: &mut Buffer) -> Option<Position> {
    let (outer, query, list) = find_command::help_parts(model, screen);
    let lines = find_command::help(model, &finder.text(), usize::from(list.width));
    let height = usize::from(list.height);
    let top = finder.at.min(lines.len().saturating_sub(height));
    let keys = &model.settings.keymap;
    let (down, page) = (keys.key_in_text(Command::Down), keys.key_in_text(Command::PageDown));
    let back = keys.key_in_text(Command::Back);
    let note = format!(
        "{}-{} of {}   {down} {page} scroll   {back} closes",
        (top + 1).min(lines.len()),
        (top + height).min(lines.len()),
        lines.len()
    );
    Clear.render(outer, buf);
    frame(model, outer, "Help", &note, theme::PLAIN, buf);
    let typed = field(finder, query, "find: ", buf);
    if finder.text().is_empty() {
        Pen::new(buf, query, 0).to(query.x + 8).ours("type a word or a key", theme::DIM);
    }
    if lines.is_empty() {
        Pen::new(buf, list, 1).ours("No command is found by that.", theme::PLAIN);
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

/// The line that is typed in.
fn field(finder: &Finder, line: Rect, label: &str, buf: &mut Buffer) -> Option<Position> {
    Pen::new(buf, line, 0).ours(label, theme::KEY);
    let skip = (label.len() as u16).min(line.width);
    area_of(&finder.area, Rect { x: line.x + skip, width: line.width - skip, ..line }, true, buf)
}

fn palette(model: &Model, finder: &Finder, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let height = PALETTE.min(area.height);
    let width = 100.min(area.width);
    let outer =
        Rect { x: area.x + (area.width - width) / 2, y: area.bottom().saturating_sub(height), width, height };
    let entries = find_command::entries(model, &finder.text());
    let all = COMMANDS.len() + ARGUMENT_COMMANDS.len();
    let keys = &model.settings.keymap;
    let (run, complete) = (keys.key_in_text(Command::Accept), keys.key_in_text(Command::NextField));
    let back = keys.key_in_text(Command::Back);
    let note = format!("{} of {all}   {run} runs   {complete} completes   {back} closes", entries.len());
    Clear.render(outer, buf);
    frame(model, outer, "Command", &note, theme::PLAIN, buf);
    let body = sheet_text(outer);
    let typed = field(finder, Rect { height: 1.min(body.height), ..body }, ": ", buf);
    let list = Rect { y: body.y + 1.min(body.height), height: body.height.saturating_sub(1), ..body };
    if entries.is_empty() {
        Pen::new(buf, list, 0).ours("There is no such command.", theme::PLAIN);
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
            let keys: Vec<String> =
                model.settings.keymap.keys(spec.command).iter().map(|key| short(key)).collect();
            let style = if *here { theme::PLAIN } else { theme::DIM };
            pen.ours(&format!("{:<20} ", spec.name), style).ours(&format!("{:<14} ", keys.join(" ")), style);
            pen.ours(if *here { "" } else { "(not here) " }, style).ours(spec.help, style);
        }
        Entry::ArgumentCommand(spec, argument) => {
            let word = if argument.is_empty() { spec.argument } else { argument };
            pen.ours(&format!("{:<35} ", format!("{} {word}", spec.name)), theme::PLAIN);
            pen.ours(spec.help, theme::PLAIN);
        }
    }
}

/// What may follow the keys so far. It stands over the preview, so that the cursor's row stays in sight; where there is no
/// preview, in one line at the foot.
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
    // As many columns as it takes, where each has room for a few words.
    let room = usize::from(over.height.saturating_sub(2));
    let columns = rows.len().div_ceil(room.max(1)).max(1);
    let width = usize::from(sheet_text(over).width) / columns;
    if layout.preview.is_empty() || room == 0 || width < COLUMN {
        let keys: Vec<&str> = rows.iter().map(|(key, _)| key.as_str()).collect();
        let row = Rect { height: layout.message.height.min(1), ..layout.message };
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
