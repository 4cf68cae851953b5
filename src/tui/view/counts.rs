//! A screen too small for a list: counts only.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::model::Model;
use crate::tui::theme;

use super::pen::Pen;
use super::words;

pub(super) fn draw(model: &Model, area: Rect, buf: &mut Buffer) {
    let staged = model.tally.total().total();
    let states = model.sources.iter().map(|source| words::connection(source, model.now).0);
    let rows = [
        format!("{} pending", model.stats.pending),
        format!("{} undecided", model.undecided()),
        format!("{staged} staged"),
        format!("{} high-risk", model.stats.high_risk()),
        states.collect::<Vec<_>>().join(", "),
        "too small to decide:".to_owned(),
        "enlarge to 40x10".to_owned(),
    ];
    let unknown = model.stats.unknown;
    let unknown = (unknown > 0).then(|| format!("{unknown} outcome unknown"));
    for (nth, row) in unknown.iter().chain(&rows).enumerate() {
        let style = if nth == 0 { theme::BOLD } else { theme::PLAIN };
        Pen::new(buf, area, nth as u16).ours(row, style);
    }
}
