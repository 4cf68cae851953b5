//! The watch view: what it shows of the sources, and where its cursors stand. Its numbers are a board, which `update` makes every
//! so often; nothing here decides anything.

use crate::tui::dashboard::words;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::domain::{Minute, Rate, SourceName, Timestamp, Trend, Untrusted};
use crate::inbox::figures::{self, Alert, AlertKind, Board, Figures, Happening, SourceBoard, Standing};
use crate::inbox::notices::Notices;

/// What a row is, wherever it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowId {
    /// A source, or one of its queues.
    Queue(SourceName, Option<crate::domain::Queue>),
    Tool(Untrusted),
    Reviewer(SourceName, Untrusted),
    Group(SourceName, Untrusted),
    Event(Box<Happening>),
    Alert(AlertKind, SourceName),
}

/// What placet shows first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartView {
    #[default]
    Inbox,
    Watch,
}

/// A part of the view, in the order of Tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Panel {
    Queues,
    /// Of the selected queue.
    Chart,
    Tools,
    Ages,
    Reviewers,
    Events,
    /// In the place of all others, when only alerts are asked for.
    Alerts,
}

/// In which order the queues stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WatchSort {
    #[default]
    Pending,
    Oldest,
    /// What grows fastest is first.
    Net,
    Name,
}

#[derive(Clone, Debug)]
pub(crate) struct Watch {
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
    /// What stands below the queues, where there is room for one.
    pub below: Panel,
    pub alerts_only: bool,
    pub alarms: Alarms,
    /// What was asked of the sources that count by themselves.
    pub asking: HashSet<SourceName>,
    cursors: BTreeMap<Panel, Cursor>,
}

/// The cursor of one panel. It stays on what it is on; where that is gone, on its line.
#[derive(Clone, Debug, Default)]
struct Cursor {
    on: Option<RowId>,
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
    /// Those that Tab goes through.
    pub(crate) const ALL: [Self; 6] =
        [Self::Queues, Self::Chart, Self::Tools, Self::Ages, Self::Reviewers, Self::Events];

    /// It has rows that a cursor stands on.
    pub(crate) const fn has_rows(self) -> bool {
        !matches!(self, Self::Ages | Self::Chart)
    }
}

impl Watch {
    /// Minutes that the sparklines and counts go back.
    pub(crate) const WINDOWS: [u32; 3] = [15, 60, 24 * 60];
    /// Values in a sparkline, at most.
    pub(crate) const COLUMNS: usize = 60;

    /// The panel that keys are for.
    pub(crate) const fn focus(&self) -> Panel {
        if self.alerts_only { Panel::Alerts } else { self.panel }
    }

    /// What the cursor is on.
    pub(crate) fn here(&self) -> Option<RowId> {
        let panel = self.focus();
        self.nth(panel, self.at(panel))
    }

    pub(crate) fn at(&self, panel: Panel) -> usize {
        self.cursors.get(&panel).map_or(0, |cursor| cursor.at)
    }

    /// The first row on screen.
    pub(crate) fn top(&self, panel: Panel) -> usize {
        self.cursors.get(&panel).map_or(0, |cursor| cursor.top)
    }

    /// Puts the cursor on a row; past the end is the last one.
    pub(crate) fn go_to(&mut self, row: usize) {
        let panel = self.focus();
        let at = row.min(self.len(panel).saturating_sub(1));
        let on = self.nth(panel, at);
        let cursor = self.cursors.entry(panel).or_default();
        (cursor.at, cursor.on) = (at, on);
    }

    /// The rows are others: every cursor stays on what it was on.
    pub(crate) fn settle(&mut self) {
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
    pub(crate) fn keep_in_view(&mut self, panel: Panel, room: usize) {
        let last_top = self.len(panel).saturating_sub(room);
        if let Some(cursor) = self.cursors.get_mut(&panel) {
            let least = (cursor.at + 1).saturating_sub(room.max(1));
            cursor.top = cursor.top.max(least).min(cursor.at).min(last_top.max(least));
        }
    }
}

// What a lead has said of alerts: seen, or not now.

type Which = (AlertKind, SourceName);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Alarms {
    /// With the count as of then, or the least since.
    acknowledged: HashMap<Which, u64>,
    /// Until when.
    muted: HashMap<Which, Timestamp>,
}

impl Alarms {
    /// Milliseconds.
    pub(crate) const MUTED_FOR: i64 = 3_600_000;

    /// These are the alerts now. An acknowledged one that grew, or went away and came back, counts again. True where anything
    /// is otherwise than before.
    pub(crate) fn look(&mut self, alerts: &[Alert], now: Timestamp) -> bool {
        let before = self.clone();
        self.muted.retain(|_, until| *until > now);
        self.acknowledged.retain(|which, count| {
            let Some(alert) = alerts.iter().find(|alert| key(alert) == *which) else { return false };
            // Minutes go on by themselves; that is no news.
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

    /// Nobody needs to be told of it.
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

    /// Nothing was said of any.
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
    fn what_was_acknowledged_stays_so_until_it_grows() {
        let mut alarms = Alarms::default();
        let failed = |count| alert(AlertKind::Failed, count);
        alarms.acknowledge(&failed(3));

        assert!(!alarms.look(&[failed(3)], NOW) && alarms.is_quiet(&failed(3)));
        alarms.look(&[failed(1)], NOW);
        assert!(alarms.is_quiet(&failed(1)), "fewer are no news");
        assert!(alarms.look(&[failed(2)], NOW) && !alarms.is_quiet(&failed(2)), "one more than there were");
    }

    #[test]
    fn what_went_away_and_came_back_counts_again() {
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
    fn what_is_muted_is_quiet_for_an_hour_whatever_happens() {
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
    /// How actions come and go: fed whether the watch view is open or not.
    pub figures: Figures,
    /// What the rules know by now.
    pub notices: Notices,
    /// The minute in which figures were kept last.
    pub kept_at: Option<Minute>,
    pub watch: Watch,
}

// Whether another board would look otherwise: what is not said in full may differ in silence.

/// A board without what nobody can see of it. `still`: words that no second changes.
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

/// The minutes that it is old.
fn shown_age(from: Timestamp, at: Timestamp) -> Timestamp {
    Timestamp::from_millis(at.since(from) / Minute::MILLIS)
}
