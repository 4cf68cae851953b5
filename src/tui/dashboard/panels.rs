//! The panels on screen, and the commands that apply to them.

use ratatui::layout::Rect;

use crate::tui::core::command::Command;
use crate::tui::core::model::Model;

use super::events_view;
use super::layout::{Wanted, WatchLayout, WatchShape};
use super::state::{Panel, RowId};

pub(crate) fn works(model: &Model, command: Command) -> bool {
    let watch = &model.dashboard.watch;
    match command {
        Command::WatchOpen => !matches!(watch.here(), Some(RowId::Reviewer(..) | RowId::Group(..)) | None),
        Command::WatchPanel => panels(model).len() > 1 || watch.alerts_only,
        Command::WatchWindow => watch.frozen.is_none(),
        Command::Acknowledge | Command::Mute => !watch.board.alerts.is_empty(),
        _ => true,
    }
}

/// Returns the panels that Tab visits; if all are on screen, only those with rows.
pub(crate) fn panels(model: &Model) -> Vec<Panel> {
    let all = layout_on_screen(model).shape == WatchShape::All;
    let told = model.dashboard.watch.board.decided_by().is_some();
    let is_there = |panel: &Panel| (!all || panel.has_rows()) && (told || *panel != Panel::Reviewers);
    Panel::ALL.into_iter().filter(is_there).collect()
}

pub(crate) fn layout_on_screen(model: &Model) -> WatchLayout {
    layout_in(model, Rect::new(0, 0, model.screen.size.width, model.screen.size.height))
}

pub(super) fn layout_in(model: &Model, area: Rect) -> WatchLayout {
    let watch = &model.dashboard.watch;
    let wanted = Wanted {
        focus: watch.focus(),
        below: watch.below,
        reviewers: watch.board.decided_by().is_some(),
        alerts: events_view::alert_lines(model, area.width, 2).len() as u16,
    };
    super::layout::watch(area, wanted)
}
