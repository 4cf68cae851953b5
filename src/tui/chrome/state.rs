//! What is on the terminal that belongs to no feature: the window, what lies over everything, the message, the mode.

use ratatui::layout::Size;
use tui_textarea::TextArea;

use crate::domain::Timestamp;
use crate::journal::Learned;
use crate::text::Shown;
use crate::tui::chrome::theme::palette::Theme;
use crate::tui::core::keymap::Chord;

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

    /// Somebody looks elsewhere, as far as that is known.
    pub(crate) fn is_behind(&self) -> bool {
        self.in_front == Some(false)
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

    /// When somebody is called whom it is too soon to call now.
    pub(crate) fn calls_at(&self) -> Option<Timestamp> {
        self.called.filter(|_| self.owed).map(|at| at.plus_millis(APART))
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
    /// Read by now; a warning stays longer.
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        now.since(self.at) > if self.tone == Tone::Bad { 30_000 } else { 5_000 }
    }
}

/// The terminal as the inbox fills it: what is not part of one feature.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    pub size: Size,
    pub focus: Focus,
    pub zoom: bool,
    pub overlay: Option<Overlay>,
    pub message: Option<Message>,
    pub chords: Vec<Chord>,
    pub theme: Theme,
    pub window: Window,
    pub saved: Saved,
    /// The journal was read: what is staged and seen is complete.
    pub restored: bool,
    /// Another inbox was using the journal when this one started.
    pub shared: bool,
    /// How often what the hints speak of was used.
    pub learned: Learned,
    /// Something on screen may have changed.
    pub dirty: bool,
    /// Quitting: no more keys.
    pub leaving: bool,
}

/// Where movement keys go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    List,
    Preview,
}

impl Screen {
    pub(crate) fn of(size: Size) -> Self {
        Self {
            size,
            focus: Focus::List,
            zoom: false,
            overlay: None,
            message: None,
            chords: Vec::new(),
            theme: Theme::Names,
            window: Window::default(),
            saved: Saved::default(),
            restored: false,
            shared: false,
            learned: Learned::default(),
            dirty: true,
            leaving: false,
        }
    }
}
