//! The rows of the watch view's panels, in display order.

use std::cmp::Reverse;

use ratatui::buffer::Buffer;

use crate::config::Targets;
use crate::domain::{Queue, Timestamp};
use crate::inbox::figures::{self, DecidedBy, QueueLine, SourceBoard, Standing};
use crate::tui::chrome::pen::Pen;
use crate::tui::chrome::theme;
use crate::tui::core::model::Model;
use crate::tui::dashboard::words;

use super::layout::WatchLayout;
use super::state::{Panel, RowId, Watch, WatchSort};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Row<'a> {
    Source(&'a SourceBoard),
    Queue(&'a SourceBoard, &'a QueueLine),
}

impl Row<'_> {
    pub(crate) const fn source(&self) -> &SourceBoard {
        match self {
            Self::Source(source) | Self::Queue(source, _) => source,
        }
    }

    pub(crate) const fn standing(&self) -> &Standing {
        match self {
            Self::Source(source) => &source.standing,
            Self::Queue(_, line) => &line.standing,
        }
    }

    pub(crate) fn target(&self, targets: &Targets) -> String {
        match self {
            Self::Source(_) => figures::words::target(targets),
            Self::Queue(_, line) => figures::words::span(line.target),
        }
    }

    fn at(&self) -> RowId {
        let queue = match self {
            Self::Source(_) => None,
            Self::Queue(_, line) => Some(line.queue.clone()),
        };
        RowId::Queue(self.source().name.clone(), queue)
    }
}

impl Watch {
    pub(crate) fn rows(&self) -> Vec<Row<'_>> {
        let mut sources: Vec<&SourceBoard> = self.board.sources.iter().collect();
        sources.sort_by_cached_key(|source| self.rank(source.name.as_str(), &source.standing));
        let mut rows = Vec::new();
        for source in sources {
            rows.push(Row::Source(source));
            let mut queues: Vec<&QueueLine> = source.queues.iter().collect();
            queues.sort_by_cached_key(|line| self.rank(name(&line.queue), &line.standing));
            rows.extend(queues.into_iter().map(|line| Row::Queue(source, line)));
        }
        rows
    }

    /// Sort key. Equal rows keep the board's order.
    fn rank(&self, name: &str, standing: &Standing) -> (Reverse<i64>, i64, String) {
        let pending = i64::try_from(standing.pending).unwrap_or(i64::MAX);
        match self.sort {
            WatchSort::Pending => (Reverse(pending), 0, String::new()),
            WatchSort::Net => (Reverse(standing.rate.map_or(i64::MIN, |rate| rate.net())), 0, String::new()),
            WatchSort::Oldest => {
                (Reverse(0), standing.oldest.map_or(i64::MAX, Timestamp::as_millis), String::new())
            }
            WatchSort::Name => (Reverse(0), 0, name.to_lowercase()),
        }
    }

    pub(crate) fn len(&self, panel: Panel) -> usize {
        let board = &self.board;
        match panel {
            Panel::Queues => board.sources.iter().map(|source| 1 + source.queues.len()).sum(),
            Panel::Tools => board.tools.len(),
            Panel::Reviewers => board.decided_by().map_or(0, |lines| lines.len()),
            Panel::Events => board.events.len(),
            Panel::Alerts => board.alerts.len(),
            Panel::Ages | Panel::Chart => 0,
        }
    }

    pub(crate) fn nth(&self, panel: Panel, nth: usize) -> Option<RowId> {
        let board = &self.board;
        Some(match panel {
            Panel::Queues => self.rows().get(nth)?.at(),
            Panel::Tools => RowId::Tool(board.tools.get(nth)?.tool.clone()),
            Panel::Reviewers => {
                let of = *board.decided_by()?.get(nth)?;
                let (source, name) = (of.line().source.clone(), of.line().decider.name.clone());
                match of {
                    DecidedBy::Reviewer(_) => RowId::Reviewer(source, name),
                    DecidedBy::Group(_) => RowId::Group(source, name),
                }
            }
            Panel::Events => RowId::Event(Box::new(board.events.get(nth)?.clone())),
            Panel::Alerts => {
                let alert = board.alerts.get(nth)?;
                RowId::Alert(alert.kind, alert.source.clone())
            }
            Panel::Ages | Panel::Chart => return None,
        })
    }

    pub(crate) fn position(&self, panel: Panel, on: &RowId) -> Option<usize> {
        if panel == Panel::Queues {
            return self.rows().iter().position(|row| row.at() == *on);
        }
        (0..self.len(panel)).find(|nth| self.nth(panel, *nth).as_ref() == Some(on))
    }
}

fn name(queue: &Queue) -> &str {
    match queue {
        Queue::Agent(name) | Queue::Tool(name) => name.as_raw(),
        // Sorts after all names.
        Queue::Rest => "\u{10ffff}",
    }
}

/// Returns the visible rows of a panel with their lines, and under the cursor whether the panel has the focus. Draws
/// how many more rows there are.
pub(crate) fn on_screen(
    model: &Model,
    layout: &WatchLayout,
    panel: Panel,
    buf: &mut Buffer,
) -> impl Iterator<Item = (usize, u16, Option<bool>)> + use<> {
    let watch = &model.dashboard.watch;
    let (rows, all, top) = (layout.rows(panel), watch.len(panel), watch.top(panel));
    let room = layout.room(panel, all);
    let last = all.min(top + room);
    if room < all {
        let (above, below) = (top, all - last);
        let said = match (above, below) {
            (0, below) => words::more_below(below),
            (above, 0) => words::more_above(above),
            (above, below) => words::more_both(below, above),
        };
        Pen::new(buf, rows, room as u16).ours(&said, theme::DIM);
    }
    // The queue of the chart stays marked without the focus.
    let (focused, at) = (watch.focus() == panel, watch.at(panel));
    let here = move |nth| (nth == at && (focused || panel == Panel::Queues)).then_some(focused);
    (top..last).map(move |nth| (nth, (nth - top) as u16, here(nth)))
}
