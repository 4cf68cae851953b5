//! The layout of the watch view.

use ratatui::layout::Rect;

use crate::tui::core::layout::{Body, Layout, layout, take_left, take_top};

use super::state::Panel;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatchShape {
    Table,
    Two,
    All,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WatchLayout {
    pub shape: WatchShape,
    pub header: Rect,
    /// Areas include the titles.
    pub panes: Vec<(Panel, Rect)>,
    pub alerts: Rect,
    pub outcomes: Rect,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub focus: Panel,
    /// The panel below the queues if only one fits.
    pub below: Panel,
    pub reviewers: bool,
    pub alerts: u16,
}

/// Rows of the panels in the middle, titles included.
const MIDDLE: u16 = 9;
const CHART: u16 = 10;
/// Width from which the chart is shown next to another panel. Columns.
const WITH_CHART: u16 = 120;

pub(crate) fn watch(area: Rect, wanted: Wanted) -> WatchLayout {
    let base = layout(area, Body::ListOnly);
    let mut body = Rect { y: base.header.bottom(), height: base.rows.height + base.trusted.height, ..area };
    let alerts = take_top(&mut body, wanted.alerts.clamp(1, if area.height >= 28 { 2 } else { 1 }));
    let shape = match (area.width, area.height) {
        (..90, _) | (_, ..24) => WatchShape::Table,
        (140.., 36..) => WatchShape::All,
        _ => WatchShape::Two,
    };
    let panes = match (shape, wanted.focus) {
        (WatchShape::Table, focus) => vec![(focus, body)],
        (_, Panel::Alerts) => vec![(Panel::Alerts, body)],
        (WatchShape::Two, _) => {
            let mut rest = body;
            let queues = take_top(&mut rest, body.height.div_ceil(2));
            let both = area.width >= WITH_CHART && wanted.below != Panel::Chart;
            let below = take_left(&mut rest, if both { area.width / 2 } else { area.width });
            let chart = both.then_some((Panel::Chart, rest));
            [(Panel::Queues, queues), (wanted.below, below)].into_iter().chain(chart).collect()
        }
        (WatchShape::All, _) => all(body, wanted.reviewers),
    };
    WatchLayout::of(&base, alerts, shape, panes)
}

fn all(body: Rect, with_reviewers: bool) -> Vec<(Panel, Rect)> {
    let mut rest = body;
    let lists = body.height.saturating_sub(MIDDLE + CHART);
    let queues = take_top(&mut rest, (lists * 6).div_ceil(10));
    let chart = take_top(&mut rest, CHART);
    let mut middle = take_top(&mut rest, MIDDLE);
    let width = middle.width;
    let mut panes = vec![(Panel::Queues, queues), (Panel::Chart, chart)];
    if with_reviewers {
        panes.push((Panel::Tools, take_left(&mut middle, width * 39 / 100)));
        panes.push((Panel::Ages, take_left(&mut middle, width * 27 / 100)));
        panes.push((Panel::Reviewers, middle));
    } else {
        panes.push((Panel::Tools, take_left(&mut middle, width / 2)));
        panes.push((Panel::Ages, middle));
    }
    panes.push((Panel::Events, rest));
    panes
}

impl WatchLayout {
    const fn of(base: &Layout, alerts: Rect, shape: WatchShape, panes: Vec<(Panel, Rect)>) -> Self {
        Self { shape, header: base.header, panes, alerts, outcomes: base.status }
    }

    /// Returns the area for a panel's text; empty if the panel is not on screen.
    pub(crate) fn text(&self, panel: Panel) -> Rect {
        let pane = self.panes.iter().find(|(shown, _)| *shown == panel);
        let Some((_, area)) = pane else { return Rect::ZERO };
        // A single table has a title only if it is high enough.
        let title =
            if self.shape == WatchShape::Table { u16::from(area.height >= 6) } else { area.height.min(1) };
        // A gap to the panel on the right.
        let margin = u16::from(self.shape != WatchShape::Table && area.width > 4);
        Rect { y: area.y + title, height: area.height - title, width: area.width - margin, ..*area }
    }

    pub(crate) fn rows(&self, panel: Panel) -> Rect {
        let text = self.text(panel);
        let named = matches!(panel, Panel::Queues | Panel::Tools | Panel::Reviewers);
        let named = u16::from(named).min(text.height);
        Rect { y: text.y + named, height: text.height - named, ..text }
    }

    /// Returns how many of `rows` fit. If not all do, one line is kept free to say how many more there are.
    pub(crate) fn room(&self, panel: Panel, rows: usize) -> usize {
        let height = usize::from(self.rows(panel).height);
        if rows <= height { height } else { height.saturating_sub(1) }
    }
}

#[cfg(test)]
mod tests {
    use crate::tui::core::layout::Shape;

    use super::*;

    fn wanted(focus: Panel) -> Wanted {
        Wanted { focus, below: Panel::Events, reviewers: true, alerts: 2 }
    }

    #[test]
    fn watch_panels_stay_inside_the_screen_without_overlaps() {
        let panels = Panel::ALL.into_iter().chain([Panel::Alerts]);
        let focused: Vec<Panel> = panels.collect();
        let sizes = (1..=200).flat_map(|w| (1..=60).map(move |h| (w, h))).chain([(300, 100)]);
        for (width, height) in sizes {
            let area = Rect::new(0, 0, width, height);
            let base = layout(area, Body::ListOnly);
            for focus in &focused {
                let l = watch(area, wanted(*focus));
                let framed = l.panes.iter().map(|(_, area)| *area);
                let parts: Vec<Rect> = framed.chain([l.header, l.alerts, l.outcomes, base.hints]).collect();
                let told = |part: &Rect| base.shape != Shape::Counts && !part.is_empty();
                for (nth, part) in parts.iter().enumerate().filter(|(_, part)| told(part)) {
                    assert!(area.intersection(*part) == *part, "{width}x{height}: {part:?}");
                    let apart = parts.iter().skip(nth + 1).all(|other| part.intersection(*other).is_empty());
                    assert!(apart, "{width}x{height} {focus:?}: {parts:?}");
                }
                for (panel, pane) in &l.panes {
                    let (text, rows) = (l.text(*panel), l.rows(*panel));
                    assert!(text.is_empty() || pane.intersection(text) == text, "{width}x{height}");
                    assert!(rows.is_empty() || text.intersection(rows) == rows, "{width}x{height}");
                }
                assert!(
                    base.shape == Shape::Counts
                        || l.panes.iter().any(|(panel, _)| panel == focus)
                        || l.shape == WatchShape::Two
                );
            }
        }
    }

    #[test]
    fn the_watch_view_has_the_breakpoints_of_the_design() {
        let shape = |width, height| watch(Rect::new(0, 0, width, height), wanted(Panel::Queues)).shape;

        assert_eq!(shape(160, 45), WatchShape::All);
        assert_eq!(shape(100, 30), WatchShape::Two);
        assert_eq!(shape(80, 24), WatchShape::Table);
        assert_eq!(shape(160, 30), WatchShape::Two);
        assert_eq!(shape(160, 20), WatchShape::Table);
    }
}
