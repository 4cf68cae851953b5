//! Maps keys to commands: the defaults of the command table, and their replacements in `[keys]`.

#[cfg(test)]
mod tests;

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::config::{Keys, Preset};

use super::command::{ARGUMENT_COMMANDS, COMMANDS, Command, Group, KeyContext, Spec};

/// A key with its modifiers. Shift with a letter is the capital letter, however the terminal reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Chord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

#[derive(Clone, Debug)]
pub(crate) struct Keymap {
    bindings: Vec<Binding>,
}

#[derive(Clone, Debug)]
struct Binding {
    chords: Vec<Chord>,
    command: Command,
    places: &'static [KeyContext],
    name: &'static str,
    written: String,
    /// Line of the configuration file; 0 for a default.
    line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    Command(Command),
    /// The start of a longer sequence.
    Prefix,
    Nothing,
}

/// Why `[keys]` cannot be used. The message names the conflict and the line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeymapError {
    #[error("line {line}, [keys] names {name:?}, which is no command{}", did_you_mean(*nearest))]
    UnknownCommand { line: usize, name: String, nearest: Option<&'static str> },
    #[error(
        "line {line}, [keys] {name}: {key:?} is no key; write a character, or Ctrl-X, Shift-Down, Space, Enter, Tab, F1, PageDown"
    )]
    UnknownKey { line: usize, name: &'static str, key: String },
    #[error("line {line}, [keys] {name}: many terminals send {key:?} as {sent_as}; choose another key")]
    SentAs { line: usize, name: &'static str, key: String, sent_as: &'static str },
    #[error(
        "line {line}, [keys] {key:?} would both ask ({asks:?}) and confirm ({confirms:?}); give one of them another key"
    )]
    AsksAndConfirms { line: usize, key: String, asks: &'static str, confirms: &'static str },
    #[error("line {line}, [keys] {name:?} has no key, and nothing works without it; give it one")]
    NoKey { line: usize, name: &'static str },
    #[error(
        "line {line}, [keys] {name:?} needs a key that is no character, too: where text is typed, a character is text"
    )]
    OnlyCharacters { line: usize, name: &'static str },
    #[error("line {line}, [keys] {key:?} means both {first:?} and {second:?}; give one of them another key")]
    Conflict { line: usize, key: String, first: &'static str, second: &'static str },
}

/// Commands that ask for confirmation, and the commands that confirm them.
const CONFIRMED: [(Command, &[Command]); 5] = [
    (Command::ReviewBatch, &[Command::Confirm, Command::Accept]),
    (Command::ReviewAll, &[Command::Confirm, Command::Accept]),
    (Command::ResolveUnknown, &[Command::Confirm, Command::Landed, Command::NotLanded, Command::RunAgain]),
    (Command::Quit, &[Command::Accept, Command::Discard]),
    (Command::OpenLink, &[Command::Accept]),
];

/// Of each of these groups, at least one command must have a key, because the palette cannot replace it.
const NEEDED: [&[Command]; 12] = [
    &[Command::Down],
    &[Command::Up],
    &[Command::Approve],
    &[Command::Exclude],
    &[Command::Undo],
    &[Command::ReviewBatch, Command::ReviewAll],
    &[Command::Confirm],
    &[Command::Accept],
    &[Command::Back],
    &[Command::Help],
    &[Command::Quit],
    &[Command::Interrupt],
];

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}

impl Keymap {
    /// Builds the bindings from the table, the preset, and `[keys]`. An empty list removes a command's keys.
    pub(crate) fn new(keys: &Keys) -> Result<Self, KeymapError> {
        let unknown = keys.bound.iter().find(|(name, _)| COMMANDS.iter().all(|spec| spec.name != **name));
        if let Some((name, bound)) = unknown {
            let nearest = nearest(name);
            return Err(KeymapError::UnknownCommand { line: bound.line, name: name.clone(), nearest });
        }
        let (mut bindings, mut conflict) = (Vec::<Binding>::new(), None);
        for spec in COMMANDS {
            let bound = keys.bound.get(spec.name);
            let line = bound.map_or(0, |bound| bound.line);
            let written = match bound {
                Some(bound) => bound.keys.clone(),
                None => preset(keys.preset, spec).iter().map(|&key| key.to_owned()).collect(),
            };
            for written in written {
                let chords = parse(&written).ok_or_else(|| KeymapError::UnknownKey {
                    line,
                    name: spec.name,
                    key: written.clone(),
                })?;
                let (command, places, name) = (spec.command, spec.places, spec.name);
                if let Some(sent_as) = chords.iter().find_map(|chord| chord.sent_as()) {
                    return Err(KeymapError::SentAs { line, name, key: written, sent_as });
                }
                let new = Binding { chords, command, places, name, written, line };
                if let Some(old) = bindings.iter().find(|old| old.conflicts(&new)) {
                    let (line, key) = (old.line.max(new.line), new.written.clone());
                    let found = KeymapError::Conflict { line, key, first: old.name, second: new.name };
                    conflict.get_or_insert(found);
                }
                bindings.push(new);
            }
        }
        let keymap = Self { bindings };
        keymap.asks_and_confirms().or(conflict).map_or(Ok(()), Err)?;
        keymap.without(keys).map_or(Ok(keymap), Err)
    }

    /// Finds a key that both opens a question and confirms it: pressed twice, it would decide unread.
    fn asks_and_confirms(&self) -> Option<KeymapError> {
        CONFIRMED.iter().find_map(|(asks, confirms)| {
            let mut asking = self.bindings.iter().filter(|binding| binding.command == *asks);
            asking.find_map(|ask| {
                let answers =
                    |it: &&Binding| confirms.contains(&it.command) && it.chords.first() == ask.chords.last();
                let answer = self.bindings.iter().find(answers)?;
                let (line, key) = (ask.line.max(answer.line), answer.written.clone());
                Some(KeymapError::AsksAndConfirms { line, key, asks: ask.name, confirms: answer.name })
            })
        })
    }

    /// Finds a necessary command without keys, or without keys that work where text is typed.
    fn without(&self, keys: &Keys) -> Option<KeymapError> {
        let line = |name: &str| keys.bound.get(name).map_or(0, |bound| bound.line);
        let lost = NEEDED.iter().find(|any| any.iter().all(|command| self.keys(*command).is_empty()));
        if let Some(spec) = COMMANDS.iter().find(|spec| lost.is_some_and(|lost| lost.contains(&spec.command)))
        {
            return Some(KeymapError::NoKey { line: line(spec.name), name: spec.name });
        }
        let in_text = |spec: &&Spec| matches!(spec.command, Command::Accept | Command::Back);
        let mut needed = COMMANDS.iter().filter(in_text);
        let spec = needed.find(|spec| self.named_keys(spec.command).next().is_none())?;
        Some(KeymapError::OnlyCharacters { line: line(spec.name), name: spec.name })
    }

    /// Returns the bindings of a command that are not characters.
    fn named_keys(&self, command: Command) -> impl Iterator<Item = &Binding> {
        let bound = self.bindings.iter().filter(move |binding| binding.command == command);
        bound.filter(|binding| binding.chords.iter().all(|chord| chord.char().is_none()))
    }

    /// Returns a keymap without keys that names words in place of keys.
    pub(crate) fn of_words(word: impl Fn(Command) -> Option<&'static str>) -> Self {
        let bindings = COMMANDS.iter().filter_map(|spec| {
            let written = word(spec.command)?.to_owned();
            let (command, places, name) = (spec.command, spec.places, spec.name);
            Some(Binding { chords: Vec::new(), command, places, name, written, line: 0 })
        });
        Self { bindings: bindings.collect() }
    }

    /// Returns the meaning of a sequence in these contexts. Shift on a named key is ignored unless it is bound.
    pub(crate) fn lookup(&self, chords: &[Chord], places: &[KeyContext]) -> Lookup {
        match (self.find(chords, places), chords.split_last()) {
            (Lookup::Nothing, Some((last, before))) if last.modifiers.contains(KeyModifiers::SHIFT) => {
                let plain = Chord { modifiers: last.modifiers - KeyModifiers::SHIFT, ..*last };
                self.find(&[before, &[plain]].concat(), places)
            }
            (found, _) => found,
        }
    }

    fn find(&self, chords: &[Chord], places: &[KeyContext]) -> Lookup {
        let here = |binding: &&Binding| binding.places.iter().any(|place| places.contains(place));
        let mut fitting =
            self.bindings.iter().filter(here).filter(|binding| binding.chords.starts_with(chords));
        match fitting.next() {
            Some(binding) if binding.chords.len() == chords.len() => Lookup::Command(binding.command),
            Some(_) => Lookup::Prefix,
            None => Lookup::Nothing,
        }
    }

    /// Returns the keys that may follow this prefix, with their commands, in table order.
    pub(crate) fn following(&self, chords: &[Chord], places: &[KeyContext]) -> Vec<(String, Command)> {
        let here = |binding: &&Binding| binding.places.iter().any(|place| places.contains(place));
        let begun = self.bindings.iter().filter(here).filter(|binding| {
            !chords.is_empty() && binding.chords.len() > chords.len() && binding.chords.starts_with(chords)
        });
        let rest = |written: &str| written.split(' ').skip(chords.len()).collect::<Vec<_>>().join(" ");
        begun.map(|binding| (rest(&binding.written), binding.command)).collect()
    }

    /// Returns the keys that begin longer sequences in these contexts.
    #[cfg(test)]
    pub(crate) fn prefixes(&self, places: &[KeyContext]) -> Vec<Chord> {
        let here = |binding: &&Binding| binding.places.iter().any(|place| places.contains(place));
        let longer = self.bindings.iter().filter(here).filter(|binding| binding.chords.len() > 1);
        let mut firsts: Vec<Chord> = longer.filter_map(|binding| binding.chords.first().copied()).collect();
        firsts.dedup();
        firsts
    }

    /// Returns a command's keys as typed in the configuration, for hints and help.
    pub(crate) fn keys(&self, command: Command) -> Vec<&str> {
        let bound = self.bindings.iter().filter(|binding| binding.command == command);
        bound.map(|binding| binding.written.as_str()).collect()
    }

    /// Returns a command's first key that is not a character, for contexts in which characters are text.
    pub(crate) fn key_in_text(&self, command: Command) -> String {
        let named = self.named_keys(command).next();
        named.map_or_else(|| self.key(command), |binding| short(&binding.written))
    }

    pub(crate) fn key(&self, command: Command) -> String {
        self.keys(command).first().map_or_else(|| "(no key)".to_owned(), |key| short(key))
    }
}

impl Binding {
    fn conflicts(&self, other: &Self) -> bool {
        // Cheapest test first, because all pairs of keys are compared before the first screen.
        let hides = self.chords.starts_with(&other.chords) || other.chords.starts_with(&self.chords);
        let meet = || self.places.iter().any(|a| other.places.iter().any(|b| a.overlaps(*b)));
        hides && self.command != other.command && meet()
    }
}

/// Returns true if Cmd (or the Windows key), Hyper or Meta is held. These chords are never bound and type nothing.
pub(crate) fn is_foreign(key: KeyEvent) -> bool {
    key.modifiers.intersects(KeyModifiers::SUPER | KeyModifiers::HYPER | KeyModifiers::META)
}

/// Returns the key without Ctrl or Alt, or else `Null`, because an unbound chord does nothing.
pub(crate) fn bare(key: KeyEvent) -> KeyCode {
    if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) { KeyCode::Null } else { key.code }
}

impl From<KeyEvent> for Chord {
    fn from(key: KeyEvent) -> Self {
        Self::new(key.code, key.modifiers)
    }
}

impl Chord {
    fn new(code: KeyCode, modifiers: KeyModifiers) -> Self {
        let shift = modifiers.contains(KeyModifiers::SHIFT);
        let mut kept = modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT);
        let code = match code {
            KeyCode::Char(c) if shift && kept.is_empty() => KeyCode::Char(capital(c)),
            KeyCode::Char(c) if !kept.is_empty() => KeyCode::Char(c.to_ascii_lowercase()),
            KeyCode::Tab if shift => KeyCode::BackTab,
            other => other,
        };
        if shift && !matches!(code, KeyCode::Char(_) | KeyCode::BackTab) {
            kept |= KeyModifiers::SHIFT;
        }
        Self { code, modifiers: kept }
    }

    pub(crate) fn char(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.modifiers.is_empty() => Some(c),
            _ => None,
        }
    }

    /// Returns the key for which terminals without an extended keyboard protocol send the same byte.
    fn sent_as(self) -> Option<&'static str> {
        match self.code {
            _ if !self.modifiers.contains(KeyModifiers::CONTROL) => None,
            KeyCode::Char('i') | KeyCode::Tab => Some("Tab"),
            KeyCode::Char('m' | 'j') | KeyCode::Enter => Some("Enter"),
            KeyCode::Char('[' | '3') | KeyCode::Esc => Some("Esc"),
            KeyCode::Char('?' | '8' | 'h') | KeyCode::Backspace => Some("Backspace"),
            _ => None,
        }
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named =
            [(KeyModifiers::CONTROL, "Ctrl-"), (KeyModifiers::ALT, "Alt-"), (KeyModifiers::SHIFT, "Shift-")];
        for (_, name) in named.iter().filter(|(modifier, _)| self.modifiers.contains(*modifier)) {
            f.write_str(name)?;
        }
        match self.code {
            KeyCode::Char(' ') => f.write_str("Space"),
            KeyCode::Char(c) => write!(f, "{c}"),
            KeyCode::F(n) => write!(f, "F{n}"),
            other => write!(f, "{other:?}"),
        }
    }
}

fn capital(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// Shortens `g g` to `gg`.
pub(crate) fn short(written: &str) -> String {
    written.split(' ').collect()
}

fn parse(written: &str) -> Option<Vec<Chord>> {
    let chords: Option<Vec<Chord>> = written.split(' ').map(parse_chord).collect();
    chords.filter(|chords| !chords.is_empty())
}

fn parse_chord(written: &str) -> Option<Chord> {
    let (modifiers, name) = match written.split_once('-') {
        Some(("Ctrl", name)) => (KeyModifiers::CONTROL, name),
        Some(("Alt", name)) => (KeyModifiers::ALT, name),
        Some(("Shift", name)) if name.chars().count() > 1 => (KeyModifiers::SHIFT, name),
        Some(_) | None => (KeyModifiers::NONE, written),
    };
    let code = match name {
        "Space" => KeyCode::Char(' '),
        "Enter" => KeyCode::Enter,
        "Tab" => KeyCode::Tab,
        "BackTab" => KeyCode::BackTab,
        "Esc" => KeyCode::Esc,
        "Backspace" => KeyCode::Backspace,
        "Delete" => KeyCode::Delete,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "PageUp" => KeyCode::PageUp,
        "PageDown" => KeyCode::PageDown,
        name => named_otherwise(name)?,
    };
    Some(Chord::new(code, modifiers))
}

fn named_otherwise(name: &str) -> Option<KeyCode> {
    let mut chars = name.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return Some(KeyCode::Char(c));
    }
    let number = name.strip_prefix('F').and_then(|number| number.parse().ok());
    number.filter(|number| (1..=24).contains(number)).map(KeyCode::F)
}

/// Returns a command's keys before `[keys]`.
fn preset(preset: Preset, spec: &Spec) -> &'static [&'static str] {
    let changed = rows(preset).iter().find(|(command, _)| *command == spec.command);
    changed.map_or(spec.keys, |(_, keys)| keys)
}

pub(crate) type Named = (&'static str, &'static [&'static str]);

/// Returns the changes of a preset in table order.
pub(crate) fn changes(of: Preset) -> Vec<Named> {
    let changed = COMMANDS.iter().filter(|spec| preset(of, spec) != spec.keys);
    changed.map(|spec| (spec.name, preset(of, spec))).collect()
}

fn nearest(name: &str) -> Option<&'static str> {
    let scored = COMMANDS.iter().map(|spec| (strsim::jaro_winkler(name, spec.name), spec.name));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(score, _)| *score > 0.6).map(|(_, name)| name)
}

// Presets: replacements of the table's keys by `[ui] keymap`. `[keys]` takes precedence.

type Row = (Command, &'static [&'static str]);

/// vim's scrolling, folds and redo. `z` begins the folds, so zooming is `z z`.
#[rustfmt::skip]
const VIM: &[Row] = &[
    (Command::ScrollDown, &["J", "Ctrl-E"]),
    (Command::ScrollUp, &["K", "Ctrl-Y"]),
    (Command::PageDown, &["PageDown", "Ctrl-F"]),
    (Command::PageUp, &["PageUp", "Ctrl-B"]),
    (Command::Redo, &["Ctrl-R", "U"]),
    (Command::Zoom, &["z z"]),
    (Command::Unfold, &["l", "Right", "z o"]),
    (Command::Fold, &["h", "Left", "z c"]),
    (Command::UnfoldAll, &["=", "z R"]),
    (Command::FoldAll, &["-", "z M"]),
];

/// Keys of mail and issue trackers on the web: `x` marks, `#` excludes, `z` undoes.
#[rustfmt::skip]
const WEB: &[Row] = &[
    (Command::Mark, &["x", "Space"]),
    (Command::Exclude, &["#"]),
    (Command::ExcludeBecause, &["!"]),
    (Command::Undo, &["z", "u"]),
    (Command::Zoom, &["Z"]),
    (Command::Snooze, &["b"]),
];

pub(crate) const fn rows(preset: Preset) -> &'static [Row] {
    match preset {
        Preset::Default => &[],
        Preset::Vim => VIM,
        Preset::Web => WEB,
    }
}

#[derive(Clone, Debug)]
pub struct KeysSection {
    pub title: &'static str,
    pub commands: Vec<KeysEntry>,
}

#[derive(Clone, Debug)]
pub struct KeysEntry {
    /// The name in `[keys]` and the palette, with its argument if it takes one.
    pub name: String,
    pub keys: &'static [&'static str],
    pub help: &'static str,
}

/// Returns all commands by heading; those of the palette only come last.
pub fn keys_page() -> Vec<KeysSection> {
    let sections = Group::ALL.into_iter().map(|group| {
        let commands = COMMANDS.iter().filter(|spec| spec.group == group);
        let entry = |name: String, keys, help| KeysEntry { name, keys, help };
        let entries = commands.map(|spec| entry(spec.name.to_owned(), spec.keys, spec.help));
        KeysSection { title: group.title(), commands: entries.collect() }
    });
    let asks = ARGUMENT_COMMANDS.iter().map(|spec| KeysEntry {
        name: format!("{} {}", spec.name, spec.argument),
        keys: &[],
        help: spec.help,
    });
    let asks = KeysSection { title: "in the palette only", commands: asks.collect() };
    sections.filter(|section| !section.commands.is_empty()).chain([asks]).collect()
}

pub fn presets() -> Vec<(&'static str, Vec<Named>)> {
    let named = [("vim", Preset::Vim), ("web", Preset::Web)];
    named.map(|(name, preset)| (name, changes(preset))).to_vec()
}
