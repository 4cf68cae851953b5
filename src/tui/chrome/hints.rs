//! Hints for newcomers, one at a time. A hint disappears for good once its commands were used twice.

use crate::journal::Learned;
use crate::tui::chrome::words;
use crate::tui::core::command::{COMMANDS, Command};
use crate::tui::core::keymap::Keymap;
use crate::tui::core::model::Model;
use crate::tui::queue::slots::Slot;

const ENOUGH: u8 = 2;

struct Hint {
    commands: &'static [Command],
    fits: fn(&Model) -> bool,
    text: fn(&Keymap) -> String,
}

/// The first hint that fits and is not learned yet is shown.
const HINTS: [Hint; 3] = [
    Hint {
        commands: &[Command::ReviewBatch, Command::ReviewAll],
        fits: |model| model.unsent() > 0,
        text: |keys| words::review_then_send(&keys.key(Command::ReviewBatch)),
    },
    Hint {
        commands: &[Command::Approve, Command::Exclude],
        fits: |model| {
            model.here().is_some_and(|slot: &Slot| slot.is_pending() && slot.entry.row.can.can_decide())
        },
        text: |keys| {
            let key = |command| keys.key(command);
            let (approve, exclude) = (key(Command::Approve), key(Command::Exclude));
            words::first_keys(&approve, &exclude, &key(Command::Edit))
        },
    },
    Hint {
        commands: &[Command::Help, Command::Palette],
        fits: |_| true,
        text: |keys| words::more_keys(&keys.key(Command::Help), &keys.key(Command::Palette)),
    },
];

impl Model {
    pub(crate) fn hint(&self) -> Option<String> {
        if !self.settings.hints
            || !self.screen.restored
            || self.sheet.is_some()
            || self.screen.overlay.is_some()
            || self.watches()
        {
            return None;
        }
        let hint = HINTS.iter().find(|hint| !self.knows(hint) && (hint.fits)(self))?;
        Some((hint.text)(&self.settings.keymap))
    }

    fn knows(&self, hint: &Hint) -> bool {
        let used =
            hint.commands.iter().filter_map(|command| self.screen.learned.get(name(*command))).copied();
        used.fold(0, u8::saturating_add) >= ENOUGH
    }

    /// Counts the use of a command. Returns true if the count must be saved.
    pub(crate) fn uses(&mut self, command: Command) -> bool {
        let hint = HINTS.iter().find(|hint| hint.commands.contains(&command));
        if !self.settings.hints || !self.screen.restored || hint.is_none_or(|hint| self.knows(hint)) {
            return false;
        }
        let times: &mut u8 = self.screen.learned.entry(name(command).to_owned()).or_default();
        *times = times.saturating_add(1);
        true
    }

    pub(crate) fn remember(&mut self, learned: Learned) {
        self.screen.learned = learned;
    }
}

fn name(command: Command) -> &'static str {
    COMMANDS.iter().find(|spec| spec.command == command).map_or("", |spec| spec.name)
}
