//! The keys as a page to read, from the command table: what the manual says.

use crate::config::Preset;

use super::command::{ASKS, COMMANDS, Group};
use super::keymap;

/// One heading and its commands.
#[derive(Clone, Debug)]
pub struct KeysSection {
    pub title: &'static str,
    pub commands: Vec<KeysEntry>,
}

#[derive(Clone, Debug)]
pub struct KeysEntry {
    /// The name in `[keys]` and in the palette, with its argument where it takes one.
    pub name: String,
    pub keys: &'static [&'static str],
    pub help: &'static str,
}

/// Every command by its heading; those that only the palette has stand last.
pub fn keys_page() -> Vec<KeysSection> {
    let sections = Group::ALL.into_iter().map(|group| {
        let commands = COMMANDS.iter().filter(|spec| spec.group == group);
        let entry = |name: String, keys, help| KeysEntry { name, keys, help };
        let entries = commands.map(|spec| entry(spec.name.to_owned(), spec.keys, spec.help));
        KeysSection { title: group.title(), commands: entries.collect() }
    });
    let asks = ASKS.iter().map(|spec| KeysEntry {
        name: format!("{} {}", spec.name, spec.argument),
        keys: &[],
        help: spec.help,
    });
    let asks = KeysSection { title: "in the palette only", commands: asks.collect() };
    sections.filter(|section| !section.commands.is_empty()).chain([asks]).collect()
}

/// The presets' names, and what each has instead of the table's keys.
pub fn presets() -> Vec<(&'static str, Vec<keymap::Named>)> {
    let named = [("vim", Preset::Vim), ("web", Preset::Web)];
    named.map(|(name, preset)| (name, keymap::changes(preset))).to_vec()
}
