//! Draws the rows of a panel: which are on screen, and where the cursor is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::chrome::pen::Pen;
use crate::tui::chrome::theme;
use crate::tui::core::model::Model;

use super::layout::WatchLayout;
use super::state::Panel;

/// The rows of a panel that are on screen, each with its line and whether the cursor is on it. Says how many more there are.
pub(crate) fn on_screen(
    model: &Model,
    layout: &WatchLayout,
    panel: Panel,
    buf: &mut Buffer,
) -> impl Iterator<Item = (usize, u16, bool)> + use<> {
    let watch = &model.dashboard.watch;
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
pub(crate) fn row(area: Rect, line: u16, here: bool, buf: &mut Buffer) -> Pen<'_> {
    let base = if here { theme::SELECTED } else { theme::PLAIN };
    let mut pen = Pen::new(buf, area, line).base(base);
    pen.ours(if here { ">" } else { " " }, theme::BOLD);
    pen
}
