//! Where the parts of the watch view stand.

use ratatui::layout::Rect;

use crate::tui::core::layout::{Body, layout, take_bottom, take_left, take_top};

use super::state::Panel;

/// How much of it there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatchShape {
    /// One table.
    Table,
    /// The queues, and one other panel.
    Two,
    All,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WatchLayout {
    pub shape: WatchShape,
    pub header: Rect,
    /// With their titles.
    pub panes: Vec<(Panel, Rect)>,
    pub rule: Rect,
    pub alerts: Rect,
}

/// Rows of the panels in the middle, and of the rates, with their titles.
const MIDDLE: u16 = 10;
const RATES: u16 = 5;

/// `focus` is where keys go, `beside` what stands beside the queues where there is room for one.
pub(crate) fn watch(area: Rect, focus: Panel, beside: Panel) -> WatchLayout {
    let base = layout(area, Body::ListOnly);
    let mut body = Rect { y: base.header.bottom(), height: base.rows.height + base.trusted.height, ..area };
    let mut header = base.header;
    // A second line of what can be believed, and one of alerts, where the body can spare them.
    if area.height >= 28 && area.width >= 90 {
        header.height += take_top(&mut body, 1).height;
    }
    let mut alerts = base.status;
    if area.height >= 28 {
        alerts = Rect { y: alerts.y - take_bottom(&mut body, 1).height, height: 2, ..alerts };
    }
    let rule = take_bottom(&mut body, u16::from(area.height >= 16));
    let shape = match (area.width, area.height) {
        (..90, _) | (_, ..24) => WatchShape::Table,
        (140.., 36..) => WatchShape::All,
        _ => WatchShape::Two,
    };
    let panes = match (shape, focus) {
        (WatchShape::Table, focus) => vec![(focus, body)],
        (_, Panel::Alerts) => vec![(Panel::Alerts, body)],
        (WatchShape::Two, _) => {
            let mut rest = body;
            let queues = take_top(&mut rest, body.height.div_ceil(2));
            vec![(Panel::Queues, queues), (beside, rest)]
        }
        (WatchShape::All, _) => all(body),
    };
    WatchLayout { shape, header, panes, rule, alerts }
}

fn all(body: Rect) -> Vec<(Panel, Rect)> {
    let mut rest = body;
    let lists = body.height.saturating_sub(MIDDLE + RATES);
    let queues = take_top(&mut rest, (lists * 6).div_ceil(10));
    let mut middle = take_top(&mut rest, MIDDLE);
    let rates = take_top(&mut rest, RATES);
    let width = middle.width;
    let tools = take_left(&mut middle, width * 39 / 100);
    let ages = take_left(&mut middle, width * 27 / 100);
    vec![
        (Panel::Queues, queues),
        (Panel::Tools, tools),
        (Panel::Ages, ages),
        (Panel::Reviewers, middle),
        (Panel::Rates, rates),
        (Panel::Events, rest),
    ]
}

impl WatchLayout {
    /// The room for a panel's text; empty where it is not on screen.
    pub(crate) fn text(&self, panel: Panel) -> Rect {
        let pane = self.panes.iter().find(|(shown, _)| *shown == panel);
        let Some((_, area)) = pane else { return Rect::ZERO };
        // A title, where there is a line for it.
        let title =
            if self.shape == WatchShape::Table { u16::from(area.height >= 6) } else { area.height.min(1) };
        // What stands beside another panel keeps away from it.
        let margin = u16::from(self.shape == WatchShape::All && area.width > 4);
        Rect { y: area.y + title, height: area.height - title, width: area.width - margin, ..*area }
    }

    /// The room for a panel's rows, below what names the columns.
    pub(crate) fn rows(&self, panel: Panel) -> Rect {
        let text = self.text(panel);
        let named = matches!(panel, Panel::Queues | Panel::Tools | Panel::Reviewers);
        let named = u16::from(named).min(text.height);
        Rect { y: text.y + named, height: text.height - named, ..text }
    }

    /// So many of so many rows are on screen: where not all are, one line says how many more there are.
    pub(crate) fn room(&self, panel: Panel, rows: usize) -> usize {
        let height = usize::from(self.rows(panel).height);
        if rows <= height { height } else { height.saturating_sub(1) }
    }
}
