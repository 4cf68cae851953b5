//! The window that the terminal is in: whether somebody looks at it, and what they are told when nobody does.

use tui_textarea::TextArea;

use crate::domain::Timestamp;
use crate::journal::Learned;
use crate::text::Shown;
use crate::tui::core::command::{COMMANDS, Command};
use crate::tui::core::keymap::Keymap;
use crate::tui::core::model::Model;
use crate::tui::queue::slots::Slot;

/// A click this soon after the window came to the front was meant for the window.
const FOCUSING: i64 = 200;
/// Nobody is called more often.
const APART: i64 = 60_000;
/// An answer about the background that takes longer would change the colours under the reader's eyes.
const BUDGET: i64 = 100;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    /// The terminal reports its mouse to us.
    pub mouse: bool,
    /// The mouse was used: what it takes from the terminal was said.
    pub clicked: bool,
    /// Unknown until the terminal says so, and some never do: unknown counts as not looking.
    in_front: Option<bool>,
    since: Option<Timestamp>,
    called: Option<Timestamp>,
    /// What is waiting has been looked at, or called out: later news is compared with it.
    known: Option<Waiting>,
    /// There was news, and it is too soon to call again.
    owed: bool,
    /// The terminal was asked for its background.
    asked: Option<Timestamp>,
}

/// What somebody would be called for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub pending: usize,
    pub high_risk: usize,
    /// Sources that say nothing.
    pub down: usize,
}

impl Window {
    pub(crate) fn focus(&mut self, in_front: bool, now: Timestamp) {
        self.in_front = Some(in_front);
        self.since = Some(now);
        if in_front {
            self.owed = false;
        }
    }

    /// Somebody looks at it, as far as that is known.
    pub(crate) fn is_in_front(&self) -> bool {
        self.in_front == Some(true)
    }

    /// A click now only brought the window to the front.
    pub(crate) fn is_focusing(&self, now: Timestamp) -> bool {
        self.in_front == Some(false)
            || self.in_front == Some(true) && self.since.is_some_and(|at| now.since(at) < FOCUSING)
    }

    /// Takes how things stand; true when whoever looks elsewhere is to be called now.
    pub(crate) fn calls(&mut self, waiting: Waiting, now: Timestamp) -> bool {
        let Some(known) = self.known.replace(waiting) else { return false };
        self.owed |= waiting.is_news_after(known);
        // What was to be told is gone again.
        self.owed &= waiting != Waiting::default();
        if self.in_front == Some(true) {
            self.owed = false;
        }
        let soon = self.called.is_some_and(|at| now.since(at) < APART);
        if !self.owed || soon {
            return false;
        }
        self.owed = false;
        self.called = Some(now);
        true
    }

    pub(crate) fn asked(&mut self, now: Timestamp) {
        self.asked = Some(now);
    }

    /// The terminal says its background: true for the first answer, when it comes in time.
    pub(crate) fn takes_answer(&mut self, now: Timestamp) -> bool {
        self.asked.take().is_some_and(|at| now.since(at) <= BUDGET)
    }
}

impl Waiting {
    fn is_news_after(self, known: Self) -> bool {
        let first = known.pending == 0 && self.pending > 0;
        first || self.high_risk > known.high_risk || self.down > known.down
    }
}

// What lies over everything else for a moment. What is beneath stays as it is, and goes on being answered.

#[derive(Clone, Debug)]
pub(crate) enum Overlay {
    /// `at` is the first line on screen.
    Help(Finder),
    /// `at` is the chosen row.
    Palette(Finder),
}

/// Something that is narrowed by typing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finder {
    pub area: TextArea<'static>,
    pub at: usize,
}

impl Finder {
    pub(crate) fn with(text: &str) -> Self {
        let mut finder = Self::default();
        finder.area.insert_str(text);
        finder
    }

    /// What is typed, on one line.
    pub(crate) fn text(&self) -> String {
        self.area.lines().join(" ")
    }
}

impl Overlay {
    pub(crate) fn finder_mut(&mut self) -> &mut Finder {
        match self {
            Self::Help(finder) | Self::Palette(finder) => finder,
        }
    }
}

// Hints for newcomers: one short line at a time, each gone for good once its commands were used twice.

const ENOUGH: u8 = 2;

struct Hint {
    /// What it teaches.
    commands: &'static [Command],
    fits: fn(&Model) -> bool,
    text: fn(&Keymap) -> String,
}

/// The first that fits and is not learned is shown.
const HINTS: [Hint; 4] = [
    Hint {
        commands: &[Command::ReviewBatch, Command::ReviewAll],
        fits: |model| model.unsent() > 0,
        text: |keys| {
            let (batch, undo) = (keys.key(Command::ReviewBatch), keys.key(Command::Undo));
            format!("{batch} shows what would be sent, and asks; {undo} takes the last step back")
        },
    },
    Hint {
        commands: &[Command::Approve, Command::Exclude],
        fits: |model| {
            model.here().is_some_and(|slot: &Slot| slot.is_pending() && slot.entry.row.can.can_decide())
        },
        text: |keys| {
            let (approve, exclude) = (keys.key(Command::Approve), keys.key(Command::Exclude));
            format!(
                "{approve} approves, {exclude} excludes; nothing is sent before {}",
                keys.key(Command::ReviewBatch)
            )
        },
    },
    Hint {
        commands: &[Command::NextUndecided, Command::Mark],
        fits: |model| model.undecided() > 1,
        text: |keys| {
            let (next, mark) = (keys.key(Command::NextUndecided), keys.key(Command::Mark));
            format!("{next} goes to the next undecided action; {mark} marks several for one decision")
        },
    },
    Hint {
        commands: &[Command::Help, Command::Palette],
        fits: |_| true,
        text: |keys| {
            let (help, palette) = (keys.key(Command::Help), keys.key(Command::Palette));
            format!("{help} says what every key does here; {palette} gives any command by its name")
        },
    },
];

impl Model {
    /// What a newcomer may want to know now.
    pub(crate) fn hint(&self) -> Option<String> {
        if !self.settings.hints
            || !self.restored
            || self.modal.is_some()
            || self.overlay.is_some()
            || self.watches()
        {
            return None;
        }
        let hint = HINTS.iter().find(|hint| !self.knows(hint) && (hint.fits)(self))?;
        Some((hint.text)(&self.settings.keymap))
    }

    fn knows(&self, hint: &Hint) -> bool {
        let used = hint.commands.iter().filter_map(|command| self.learned.get(name(*command))).copied();
        used.fold(0, u8::saturating_add) >= ENOUGH
    }

    /// Notes that a command was used; true when that is to be kept.
    pub(crate) fn uses(&mut self, command: Command) -> bool {
        let hint = HINTS.iter().find(|hint| hint.commands.contains(&command));
        if !self.settings.hints || !self.restored || hint.is_none_or(|hint| self.knows(hint)) {
            return false;
        }
        let times: &mut u8 = self.learned.entry(name(command).to_owned()).or_default();
        *times = times.saturating_add(1);
        true
    }

    /// What earlier runs know.
    pub(crate) fn remember(&mut self, learned: Learned) {
        self.learned = learned;
    }
}

fn name(command: Command) -> &'static str {
    COMMANDS.iter().find(|spec| spec.command == command).map_or("", |spec| spec.name)
}

// The line that says what happened last, and whether what was decided is on disk.

/// One line that says what happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub parts: Vec<Shown>,
    pub tone: Tone,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Good,
    Bad,
}

/// Whether what was decided is on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Saved {
    /// Writes under way, or waiting to be tried again.
    pub open: usize,
    pub last: Option<Timestamp>,
    /// The last write failed: what is staged would not survive a crash.
    pub failed: Option<String>,
}

impl Message {
    /// Read by now; what was good news goes sooner.
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        now.since(self.at) > if self.tone == Tone::Bad { 30_000 } else { 10_000 }
    }
}

impl Model {
    /// Puts one line of our own on the screen.
    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.tell(Tone::Plain, vec![Shown::ours(text)]);
    }

    /// Says that something was not done, or went wrong.
    pub(crate) fn warn(&mut self, text: impl Into<String>) {
        self.tell(Tone::Bad, vec![Shown::ours(text)]);
    }

    /// Puts one line on the screen, foreign parts and all.
    pub(crate) fn tell(&mut self, tone: Tone, parts: Vec<Shown>) {
        self.message = Some(Message { parts, tone, at: self.now });
    }
}
