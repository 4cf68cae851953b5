//! The watch view: every figure of the board, as many panels of it as there is room for.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::tui::command::Command;
use crate::tui::layout::{Layout, WatchLayout, WatchShape};
use crate::tui::model::{Model, Panel, Watch};
use crate::tui::theme;

use super::frame::{frame, rule};
use super::pen::Pen;
use super::status;

mod alerts;
mod events;
mod figure;
mod header;
mod panels;
mod queues;
mod rates;
mod spark;

/// Returns the row under the cursor.
pub(super) fn draw(model: &Model, base: &Layout, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let layout = model.watch_layout_in(area);
    header::draw(model, &layout, buf);
    for (panel, pane) in &layout.panes {
        title(model, &layout, *panel, *pane, buf);
        let text = layout.text(*panel);
        match panel {
            Panel::Queues => queues::draw(model, &layout, buf),
            Panel::Tools => panels::tools(model, &layout, buf),
            Panel::Ages => panels::ages(model, text, buf),
            Panel::Reviewers => panels::reviewers(model, &layout, buf),
            Panel::Rates => rates::draw(model, text, buf),
            Panel::Events => events::draw(model, &layout, buf),
            Panel::Alerts => alerts::list(model, &layout, buf),
        }
    }
    rule(model, layout.rule, buf);
    alerts::line(model, &layout, buf);
    status::foot(model, base, buf);
    cursor(model, &layout)
}

/// A frame around it, or a line above where frames cost too much.
fn title(model: &Model, layout: &WatchLayout, panel: Panel, pane: Rect, buf: &mut Buffer) {
    let focused = model.watch.focus() == panel;
    let style = if focused { theme::PLAIN } else { theme::DIM };
    let name = name(&model.watch, panel);
    if layout.shape == WatchShape::Table {
        if layout.text(panel).y > pane.y {
            let line = Rect { height: 1, ..pane };
            rule(model, line, buf);
            let inside = Rect { x: line.x + 2, width: line.width.saturating_sub(4), ..line };
            Pen::new(buf, inside, 0).ours(&format!(" {name} "), theme::BOLD);
            let note = format!(" {} ", note(model, layout, panel));
            if name.len() + note.len() + 4 <= usize::from(inside.width) && note.len() > 2 {
                Pen::new(buf, inside, 0).right(&note, theme::DIM);
            }
        }
        return;
    }
    frame(model, pane, &name, &note(model, layout, panel), style, buf);
}

fn name(watch: &Watch, panel: Panel) -> String {
    let frozen = if watch.frozen.is_some() { " (frozen)" } else { "" };
    let window = watch.window;
    let truncated = watch.board.sources.iter().any(|source| source.truncated);
    let part = if truncated { ", not all" } else { "" };
    let name = match panel {
        Panel::Queues => format!("Queues, {}", watch.sort.word()),
        Panel::Tools => format!("By tool, {window} min{part}"),
        Panel::Ages => "By age".to_owned(),
        Panel::Reviewers => format!("By reviewer, {window} min{part}"),
        Panel::Rates => format!("Rates and outcomes, {window} min"),
        Panel::Events => "Events, newest first".to_owned(),
        Panel::Alerts => "Alerts".to_owned(),
    };
    format!("{name}{frozen}")
}

/// Which keys do what in the panel that keys are for.
fn note(model: &Model, layout: &WatchLayout, panel: Panel) -> String {
    let keys = &model.settings.keymap;
    let watch = &model.watch;
    let next =
        (layout.shape != WatchShape::All).then(|| format!("{} next panel", keys.key(Command::WatchPanel)));
    if watch.focus() != panel {
        return String::new();
    }
    let rows = watch.len(panel);
    let at = (panel.has_rows() && rows > 0).then(|| format!("{} of {rows}", watch.at(panel) + 1));
    [at, next].into_iter().flatten().collect::<Vec<_>>().join("   ")
}

/// Where screen readers and input methods look: the row, or where the panel begins.
fn cursor(model: &Model, layout: &WatchLayout) -> Option<Position> {
    let focus = model.watch.focus();
    let (rows, text) = (layout.rows(focus), layout.text(focus));
    let nth = model.watch.at(focus).checked_sub(model.watch.top(focus))?;
    let nth = u16::try_from(nth).ok()?;
    if model.watch.len(focus) > 0 && nth < rows.height {
        return Some(Position::new(rows.x, rows.y + nth));
    }
    (!text.is_empty()).then(|| Position::new(text.x, text.y))
}

/// The rows of a panel that are on screen, each with its line and whether the cursor is on it. Says how many more there are.
fn on_screen(
    model: &Model,
    layout: &WatchLayout,
    panel: Panel,
    buf: &mut Buffer,
) -> impl Iterator<Item = (usize, u16, bool)> + use<> {
    let watch = &model.watch;
    let (rows, all, top) = (layout.rows(panel), watch.len(panel), watch.top(panel));
    let room = layout.room(panel, all);
    let last = all.min(top + room);
    if room < all {
        let (above, below) = (top, all - last);
        let said = match (above, below) {
            (0, below) => format!(" and {below} more"),
            (above, 0) => format!(" and {above} more above"),
            (above, below) => format!(" and {below} more, {above} above"),
        };
        Pen::new(buf, rows, room as u16).ours(&said, theme::DIM);
    }
    let here = (watch.focus() == panel).then(|| watch.at(panel));
    (top..last).map(move |nth| (nth, (nth - top) as u16, here == Some(nth)))
}

/// A row, with the mark of the cursor.
fn row(area: Rect, line: u16, here: bool, buf: &mut Buffer) -> Pen<'_> {
    let base = if here { theme::SELECTED } else { theme::PLAIN };
    let mut pen = Pen::new(buf, area, line).base(base);
    pen.ours(if here { ">" } else { " " }, theme::BOLD);
    pen
}
