//! Screen state outside the features: the window, overlays, the message, the focus.

use ratatui::layout::Size;
use tui_textarea::TextArea;

use crate::domain::Timestamp;
use crate::journal::Learned;
use crate::text::Shown;
use crate::tui::chrome::theme::palette::Theme;
use crate::tui::core::keymap::Chord;

/// A click this soon after the window got the focus was meant for the window. Milliseconds.
const FOCUSING: i64 = 200;
/// Minimum time between two calls for attention. Milliseconds.
const APART: i64 = 60_000;
/// A reply about the background after this time is ignored, because the colours would change visibly. Milliseconds.
const BUDGET: i64 = 100;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    pub mouse: bool,
    /// The mouse was used once, and its effect on text selection was explained.
    pub clicked: bool,
    /// `None` until the terminal reports the focus, which some never do. Counts as not looking.
    in_front: Option<bool>,
    since: Option<Timestamp>,
    called: Option<Timestamp>,
    /// The waiting actions when last seen or announced.
    known: Option<Waiting>,
    /// A call is due as soon as the minimum time has passed.
    owed: bool,
    asked: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub pending: usize,
    pub high_risk: usize,
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

    pub(crate) fn is_in_front(&self) -> bool {
        self.in_front == Some(true)
    }

    pub(crate) fn is_behind(&self) -> bool {
        self.in_front == Some(false)
    }

    /// Returns true if a click only brought the window to the front.
    pub(crate) fn is_focusing(&self, now: Timestamp) -> bool {
        self.in_front == Some(false)
            || self.in_front == Some(true) && self.since.is_some_and(|at| now.since(at) < FOCUSING)
    }

    /// Compares the counts with the last ones. Returns true if the reviewer is to be called now.
    pub(crate) fn calls(&mut self, waiting: Waiting, now: Timestamp) -> bool {
        let Some(known) = self.known.replace(waiting) else { return false };
        self.owed |= waiting.is_news_after(known);
        // No action is waiting any more.
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

    pub(crate) fn calls_at(&self) -> Option<Timestamp> {
        self.called.filter(|_| self.owed).map(|at| at.plus_millis(APART))
    }

    pub(crate) fn asked(&mut self, now: Timestamp) {
        self.asked = Some(now);
    }

    /// Returns true for the first reply about the background, if it came in time.
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

// Overlays. The screen beneath stays unchanged and keeps updating.

#[derive(Clone, Debug)]
pub(crate) enum Overlay {
    /// `at` is the first line on screen.
    Help(Finder),
    /// `at` is the selected row.
    Palette(Finder),
}

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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Saved {
    /// Number of writes in progress or waiting for a retry.
    pub open: usize,
    pub last: Option<Timestamp>,
    /// Error of the last write: staged decisions would not survive a crash.
    pub failed: Option<String>,
}

impl Message {
    /// Returns true if the message was shown long enough; warnings stay longer.
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        now.since(self.at) > if self.tone == Tone::Bad { 30_000 } else { 5_000 }
    }
}

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
    /// The journal was read: staged decisions and seen contents are complete.
    pub restored: bool,
    /// Another inbox was using the journal when this one started.
    pub shared: bool,
    pub learned: Learned,
    pub dirty: bool,
    /// Quitting; keys are ignored.
    pub leaving: bool,
}

/// The pane that movement keys apply to.
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
