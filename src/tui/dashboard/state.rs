//! The watch view's state. Its numbers are a [`Board`] that `update` makes periodically.

use crate::tui::dashboard::words;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::domain::{Minute, Rate, SourceName, Timestamp, Trend, Untrusted};
use crate::inbox::figures::{self, Alert, AlertKind, Board, Figures, Happening, SourceBoard, Standing};
use crate::inbox::notices::Notices;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowId {
    Queue(SourceName, Option<crate::domain::Queue>),
    Tool(Untrusted),
    Reviewer(SourceName, Untrusted),
    Group(SourceName, Untrusted),
    Event(Box<Happening>),
    Alert(AlertKind, SourceName),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartView {
    #[default]
    Inbox,
    Watch,
}

/// A part of the view, in Tab order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Panel {
    Queues,
    Chart,
    Tools,
    Ages,
    Reviewers,
    Events,
    /// Replaces all others while only alerts are shown.
    Alerts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WatchSort {
    #[default]
    Pending,
    Oldest,
    Net,
    Name,
}

#[derive(Clone, Debug)]
pub(crate) struct Watch {
    pub open: bool,
    pub board: Board,
    /// Something happened that the board does not contain.
    pub news: bool,
    pub frozen: Option<Timestamp>,
    /// Minutes that the board covers.
    pub window: u32,
    pub sort: WatchSort,
    pub panel: Panel,
    /// The panel below the queues if only one fits.
    pub below: Panel,
    pub alerts_only: bool,
    pub alarms: Alarms,
    /// Gates that were asked for their counts.
    pub asking: HashSet<SourceName>,
    cursors: BTreeMap<Panel, Cursor>,
}

/// The cursor of a panel. It stays on its row, or on its line if the row is gone.
#[derive(Clone, Debug, Default)]
struct Cursor {
    on: Option<RowId>,
    at: usize,
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
            below: Panel::Chart,
            alerts_only: false,
            alarms: Alarms::default(),
            asking: HashSet::new(),
            cursors: BTreeMap::new(),
        }
    }
}

impl WatchSort {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Pending => words::MOST_PENDING_FIRST,
            Self::Oldest => words::OLDEST_FIRST,
            Self::Net => words::FASTEST_GROWING_FIRST,
            Self::Name => words::BY_NAME,
        }
    }

    #[must_use]
    pub(crate) const fn next(self) -> Self {
        match self {
            Self::Pending => Self::Oldest,
            Self::Oldest => Self::Net,
            Self::Net => Self::Name,
            Self::Name => Self::Pending,
        }
    }
}

impl Panel {
    pub(crate) const ALL: [Self; 6] =
        [Self::Queues, Self::Chart, Self::Tools, Self::Ages, Self::Reviewers, Self::Events];

    /// Returns true if the panel has rows with a cursor.
    pub(crate) const fn has_rows(self) -> bool {
        !matches!(self, Self::Ages | Self::Chart)
    }
}

impl Watch {
    pub(crate) const WINDOWS: [u32; 3] = [15, 60, 24 * 60];
    /// Maximum number of values in a sparkline.
    pub(crate) const COLUMNS: usize = 60;

    pub(crate) const fn focus(&self) -> Panel {
        if self.alerts_only { Panel::Alerts } else { self.panel }
    }

    pub(crate) fn here(&self) -> Option<RowId> {
        let panel = self.focus();
        self.nth(panel, self.at(panel))
    }

    pub(crate) fn at(&self, panel: Panel) -> usize {
        self.cursors.get(&panel).map_or(0, |cursor| cursor.at)
    }

    pub(crate) fn top(&self, panel: Panel) -> usize {
        self.cursors.get(&panel).map_or(0, |cursor| cursor.top)
    }

    pub(crate) fn go_to(&mut self, row: usize) {
        let panel = self.focus();
        let at = row.min(self.len(panel).saturating_sub(1));
        let on = self.nth(panel, at);
        let cursor = self.cursors.entry(panel).or_default();
        (cursor.at, cursor.on) = (at, on);
    }

    /// Keeps every cursor on its row after the rows changed.
    pub(crate) fn settle(&mut self) {
        for panel in [Panel::Queues, Panel::Tools, Panel::Reviewers, Panel::Events, Panel::Alerts] {
            let Some(cursor) = self.cursors.get(&panel) else { continue };
            // On the newest event, the cursor stays at the top.
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

    pub(crate) fn keep_in_view(&mut self, panel: Panel, room: usize) {
        let last_top = self.len(panel).saturating_sub(room);
        if let Some(cursor) = self.cursors.get_mut(&panel) {
            let least = (cursor.at + 1).saturating_sub(room.max(1));
            cursor.top = cursor.top.max(least).min(cursor.at).min(last_top.max(least));
        }
    }
}

type Which = (AlertKind, SourceName);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Alarms {
    /// The count when acknowledged, or the lowest since.
    acknowledged: HashMap<Which, u64>,
    muted: HashMap<Which, Timestamp>,
}

impl Alarms {
    /// In milliseconds.
    pub(crate) const MUTED_FOR: i64 = 3_600_000;

    /// Compares with the current alerts. An acknowledged alert that grew, or disappeared and came back, is shown again.
    /// Returns true if anything changed.
    pub(crate) fn look(&mut self, alerts: &[Alert], now: Timestamp) -> bool {
        let before = self.clone();
        self.muted.retain(|_, until| *until > now);
        self.acknowledged.retain(|which, count| {
            let Some(alert) = alerts.iter().find(|alert| key(alert) == *which) else { return false };
            // Counts of minutes grow by themselves.
            let is_time = matches!(alert.kind, AlertKind::Down | AlertKind::Growing);
            let stays = is_time || alert.count <= *count;
            *count = alert.count.min(*count);
            stays
        });
        *self != before
    }

    pub(crate) fn is_acknowledged(&self, alert: &Alert) -> bool {
        self.acknowledged.contains_key(&key(alert))
    }

    pub(crate) fn muted_until(&self, alert: &Alert) -> Option<Timestamp> {
        self.muted.get(&key(alert)).copied()
    }

    pub(crate) fn is_quiet(&self, alert: &Alert) -> bool {
        self.is_acknowledged(alert) || self.muted_until(alert).is_some()
    }

    pub(crate) fn acknowledge(&mut self, alert: &Alert) {
        self.acknowledged.insert(key(alert), alert.count);
    }

    pub(crate) fn recall(&mut self, alert: &Alert) {
        self.acknowledged.remove(&key(alert));
    }

    pub(crate) fn mute(&mut self, alert: &Alert, now: Timestamp) {
        self.muted.insert(key(alert), now.plus_millis(Self::MUTED_FOR));
    }

    pub(crate) fn unmute(&mut self, alert: &Alert) {
        self.muted.remove(&key(alert));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.acknowledged.is_empty() && self.muted.is_empty()
    }
}

fn key(alert: &Alert) -> Which {
    (alert.kind, alert.source.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alert(kind: AlertKind, count: u64) -> Alert {
        Alert { kind, source: SourceName::new("gate"), count }
    }

    const NOW: Timestamp = Timestamp::from_millis(1_000);

    #[test]
    fn acknowledged_alert_stays_quiet_until_it_grows() {
        let mut alarms = Alarms::default();
        let failed = |count| alert(AlertKind::Failed, count);
        alarms.acknowledge(&failed(3));

        assert!(!alarms.look(&[failed(3)], NOW) && alarms.is_quiet(&failed(3)));
        alarms.look(&[failed(1)], NOW);
        assert!(alarms.is_quiet(&failed(1)), "fewer are no news");
        assert!(alarms.look(&[failed(2)], NOW) && !alarms.is_quiet(&failed(2)), "one more than there were");
    }

    #[test]
    fn alert_that_returns_is_no_longer_acknowledged() {
        let mut alarms = Alarms::default();
        let down = alert(AlertKind::Down, 1);
        alarms.acknowledge(&down);

        alarms.look(&[alert(AlertKind::Down, 9)], NOW);
        assert!(alarms.is_quiet(&down), "it lasts longer, and that is all");
        alarms.look(&[], NOW);
        alarms.look(&[alert(AlertKind::Down, 0)], NOW);
        assert!(!alarms.is_quiet(&down));
    }

    #[test]
    fn muted_alert_is_quiet_for_an_hour() {
        let mut alarms = Alarms::default();
        alarms.mute(&alert(AlertKind::Growing, 15), NOW);

        alarms.look(&[], NOW);
        alarms.look(&[alert(AlertKind::Growing, 60)], NOW.plus_millis(Alarms::MUTED_FOR - 1));
        assert!(alarms.is_quiet(&alert(AlertKind::Growing, 60)));
        assert!(alarms.look(&[], NOW.plus_millis(Alarms::MUTED_FOR)) && alarms.is_empty());
    }
}

#[derive(Clone, Debug)]
pub(crate) struct DashboardState {
    /// Updated whether the watch view is open or not.
    pub figures: Figures,
    pub notices: Notices,
    pub kept_at: Option<Minute>,
    pub watch: Watch,
}

// Detects visible changes of the board, to redraw only then.

/// Returns the board reduced to its visible details. `still`: without texts that change every second.
pub(crate) fn visible_state(board: &Board, still: bool) -> (Board, Vec<String>) {
    let mut face = board.clone();
    let at = board.at;
    face.at = Minute::of(at).start();
    settle(&mut face.total, at);
    let states = face.sources.iter_mut().map(|source| source_face(source, at, still)).collect();
    for tool in &mut face.tools {
        tool.oldest = tool.oldest.map(|oldest| shown_age(oldest, at));
    }
    let minutes = |millis: i64| millis / Minute::MILLIS;
    face.ages.median = face.ages.median.map(minutes);
    face.ages.p90 = face.ages.p90.map(minutes);
    (face, states)
}

fn source_face(source: &mut SourceBoard, at: Timestamp, still: bool) -> String {
    let (state, _) = figures::words::state(source, at, still);
    source.heard = None;
    settle(&mut source.standing, at);
    source.queues.iter_mut().for_each(|line| settle(&mut line.standing, at));
    state
}

fn settle(standing: &mut Standing, at: Timestamp) {
    standing.oldest = standing.oldest.map(|oldest| shown_age(oldest, at));
    standing.rate = standing.rate.map(|rate| Rate {
        arrived: rate.arrivals(),
        resolved: rate.resolves(),
        over: rate.net(),
    });
    if let Trend::ClearsIn(millis) = standing.trend {
        standing.trend = Trend::ClearsIn(millis.saturating_add(Minute::MILLIS - 1) / Minute::MILLIS);
    }
}

/// Returns the age in minutes.
fn shown_age(from: Timestamp, at: Timestamp) -> Timestamp {
    Timestamp::from_millis(at.since(from) / Minute::MILLIS)
}
