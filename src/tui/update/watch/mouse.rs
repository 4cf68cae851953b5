//! The mouse over the watch view: the wheel and a click select a row, and nothing else.

use ratatui::layout::Position;

use crate::tui::layout::WatchLayout;
use crate::tui::model::{Model, Panel};
use crate::tui::update::list::Way;

/// Moves the cursor of what is under the pointer.
pub(in crate::tui::update) fn wheel(model: &mut Model, at: Position, way: Way, by: usize) {
    if let Some(panel) = under(&model.watch_layout(), at) {
        super::focus_on(model, panel);
        super::step(model, way, by);
    }
}

pub(in crate::tui::update) fn click(model: &mut Model, at: Position) {
    let layout = model.watch_layout();
    let Some(panel) = under(&layout, at) else { return };
    super::focus_on(model, panel);
    let rows = layout.rows(panel);
    let row = model.watch.top(panel) + usize::from(at.y.saturating_sub(rows.y));
    let shown = layout.room(panel, model.watch.len(panel));
    let on_row = rows.contains(at) && usize::from(at.y - rows.y) < shown;
    if on_row && row < model.watch.len(panel) {
        model.watch.go_to(row);
    }
}

/// The panel under the pointer, where it has rows.
fn under(layout: &WatchLayout, at: Position) -> Option<Panel> {
    let panes = layout.panes.iter().filter(|(panel, area)| panel.has_rows() && area.contains(at));
    panes.map(|(panel, _)| *panel).next()
}
