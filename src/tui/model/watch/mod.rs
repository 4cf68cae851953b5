//! The watch view: what it shows of the sources, and where its cursors stand. Its numbers are a board, which `update` makes every
//! so often; nothing here decides anything.

use std::collections::{BTreeMap, HashSet};

use crate::domain::{SourceName, Timestamp};
use crate::inbox::figures::Board;

use super::Model;

mod alarms;
pub(in crate::tui) mod face;
mod rows;

pub use alarms::Alarms;
pub use rows::{At, Row};

/// What placet shows first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Opens {
    #[default]
    Inbox,
    Watch,
}

/// A part of the view, in the order of Tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Panel {
    Queues,
    Tools,
    Ages,
    Reviewers,
    Rates,
    Events,
    /// In the place of all others, when only alerts are asked for.
    Alerts,
}

/// In which order the queues stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WatchSort {
    #[default]
    Pending,
    Oldest,
    /// What grows fastest is first.
    Net,
    Name,
}

#[derive(Clone, Debug)]
pub struct Watch {
    pub open: bool,
    /// As it is on screen.
    pub board: Board,
    /// Something happened that the board does not know.
    pub news: bool,
    /// Since when the numbers stand still.
    pub frozen: Option<Timestamp>,
    /// Minutes back.
    pub window: u32,
    pub sort: WatchSort,
    /// Where keys go.
    pub panel: Panel,
    /// What stands beside the queues, where there is room for one.
    pub beside: Panel,
    pub alerts_only: bool,
    pub alarms: Alarms,
    /// What was asked of the sources that count by themselves.
    pub asking: HashSet<SourceName>,
    cursors: BTreeMap<Panel, Cursor>,
}

/// The cursor of one panel. It stays on what it is on; where that is gone, on its line.
#[derive(Clone, Debug, Default)]
struct Cursor {
    on: Option<At>,
    at: usize,
    /// The first row on screen.
    top: usize,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            open: false,
            board: Board::default(),
            news: false,
            frozen: None,
            window: Self::WINDOWS[1],
            sort: WatchSort::default(),
            panel: Panel::Queues,
            beside: Panel::Ages,
            alerts_only: false,
            alarms: Alarms::default(),
            asking: HashSet::new(),
            cursors: BTreeMap::new(),
        }
    }
}

impl WatchSort {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "most pending first",
            Self::Oldest => "oldest first",
            Self::Net => "fastest growing first",
            Self::Name => "by name",
        }
    }

    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Pending => Self::Oldest,
            Self::Oldest => Self::Net,
            Self::Net => Self::Name,
            Self::Name => Self::Pending,
        }
    }
}

impl Panel {
    /// Those that Tab goes through.
    pub const ALL: [Self; 6] =
        [Self::Queues, Self::Tools, Self::Ages, Self::Reviewers, Self::Rates, Self::Events];

    /// It has rows that a cursor stands on.
    pub const fn has_rows(self) -> bool {
        !matches!(self, Self::Ages | Self::Rates)
    }
}

impl Watch {
    /// Minutes that the sparklines and counts go back.
    pub const WINDOWS: [u32; 3] = [15, 60, 24 * 60];
    /// Values in a sparkline, at most.
    pub const COLUMNS: usize = 60;

    /// The panel that keys are for.
    pub const fn focus(&self) -> Panel {
        if self.alerts_only { Panel::Alerts } else { self.panel }
    }

    /// What the cursor is on.
    pub fn here(&self) -> Option<At> {
        let panel = self.focus();
        self.nth(panel, self.at(panel))
    }

    pub fn at(&self, panel: Panel) -> usize {
        self.cursors.get(&panel).map_or(0, |cursor| cursor.at)
    }

    /// The first row on screen.
    pub fn top(&self, panel: Panel) -> usize {
        self.cursors.get(&panel).map_or(0, |cursor| cursor.top)
    }

    /// Puts the cursor on a row; past the end is the last one.
    pub fn go_to(&mut self, row: usize) {
        let panel = self.focus();
        let at = row.min(self.len(panel).saturating_sub(1));
        let on = self.nth(panel, at);
        let cursor = self.cursors.entry(panel).or_default();
        (cursor.at, cursor.on) = (at, on);
    }

    /// The rows are others: every cursor stays on what it was on.
    pub fn settle(&mut self) {
        for panel in [Panel::Queues, Panel::Tools, Panel::Reviewers, Panel::Events, Panel::Alerts] {
            let Some(cursor) = self.cursors.get(&panel) else { continue };
            // At the head of what is newest it stays there, to follow.
            let follows = panel == Panel::Events && cursor.at == 0;
            let on = cursor.on.as_ref().filter(|_| !follows);
            let found = on.and_then(|on| self.position(panel, on));
            let at = found.unwrap_or(cursor.at).min(self.len(panel).saturating_sub(1));
            let on = self.nth(panel, at);
            if let Some(cursor) = self.cursors.get_mut(&panel) {
                (cursor.at, cursor.on) = (at, on);
            }
        }
    }

    /// Scrolls a panel with room for so many rows until its cursor is in sight.
    pub fn keep_in_view(&mut self, panel: Panel, room: usize) {
        let last_top = self.len(panel).saturating_sub(room);
        if let Some(cursor) = self.cursors.get_mut(&panel) {
            let least = (cursor.at + 1).saturating_sub(room.max(1));
            cursor.top = cursor.top.max(least).min(cursor.at).min(last_top.max(least));
        }
    }
}

impl Model {
    /// The watch view is on screen, or beneath what lies over it.
    pub const fn watches(&self) -> bool {
        self.watch.open && self.view.is_none()
    }
}
