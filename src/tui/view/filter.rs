//! The filter: the line in which it is written, and that it stands, wherever the list is seen.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::domain::Untrusted;
use crate::text;
use crate::tui::command::Command;
use crate::tui::layout::Layout;
use crate::tui::model::{Modal, Model};
use crate::tui::theme;

use super::edit::area_of;
use super::frame::open;
use super::pen::Pen;
use super::words;

/// The line at the foot, where the message is otherwise: `/ tool:linear risk:high      12 of 340`. Returns where its text is
/// typed.
pub(super) fn draw(model: &Model, layout: &Layout, buf: &mut Buffer) -> Option<Position> {
    let Some(Modal::Filter(line)) = &model.modal else { return None };
    let row = layout.message;
    Pen::new(buf, row, 0).ours(&" ".repeat(usize::from(row.width)), theme::PLAIN);
    let apart = layout.message != layout.hints;
    let said = match &line.error {
        Some(_) if !apart => "  not a filter yet ".to_owned(),
        _ if model.filtering.scan.is_some() => "  looking… ".to_owned(),
        _ => format!("  {} ", counted(model)),
    };
    let style = if line.error.is_some() { theme::WARN } else { theme::DIM };
    Pen::new(buf, row, 0).keep(said.chars().count()).ours(&said, style);
    let room = row.width.saturating_sub(said.chars().count() as u16 + 3);
    Pen::new(buf, row, 0).ours(" / ", theme::KEY);
    let caret = area_of(
        &line.area,
        Rect { x: row.x + 3.min(row.width), width: room, height: row.height.min(1), ..row },
        true,
        buf,
    );
    if line.area.is_selecting() && !line.text().is_empty() {
        let width = text::line(&Untrusted::from(line.text())).width().min(usize::from(room)) as u16;
        buf.set_style(Rect { x: row.x + 3, width, height: 1, ..row }.intersection(row), theme::SELECTED);
    }
    if !apart {
        return caret;
    }
    let mut pen = Pen::new(buf, layout.hints, 0);
    pen.ours(&" ".repeat(usize::from(layout.hints.width)), theme::PLAIN);
    let mut pen = Pen::new(buf, layout.hints, 0);
    match &line.error {
        Some(error) => {
            pen.ours(" ", theme::PLAIN).shown(&text::line(&Untrusted::from(error.to_string())), theme::WARN);
        }
        None => {
            let keys = &model.settings.keymap;
            let (keep, back) = (keys.key(Command::Accept), keys.key(Command::Back));
            pen.ours(" ", theme::PLAIN).ours(&keep, theme::KEY).ours(" keeps   ", theme::PLAIN);
            pen.ours(&back, theme::KEY).ours(" puts back   ", theme::PLAIN);
            let fields = "words  'exact  -not  tool: agent: risk:>=high age:>1h expires:<30m is:unopened";
            pen.ours(fields, theme::DIM);
        }
    }
    caret
}

/// `12 of 340`
fn counted(model: &Model) -> String {
    format!("{} of {}", model.queue.n_shown(), model.queue.slots().len())
}

/// Where one line is all there is: ` /12 of 340`.
pub(super) fn short(model: &Model, gap: &str, pen: &mut Pen<'_>) {
    if model.frozen.is_some() {
        pen.ours(gap, theme::PLAIN).ours("FROZEN", theme::WARN);
    }
    if model.filtering.applied.is_some() {
        pen.ours(gap, theme::PLAIN).ours(&format!("/{}", counted(model)), theme::WARN);
    }
}

/// The second line of the header.
pub(super) fn long(model: &Model, pen: &mut Pen<'_>) {
    if let Some(later) = &model.frozen {
        let key = model.settings.keymap.key(Command::Freeze);
        pen.ours(" ", theme::PLAIN);
        let words = match later.len() {
            0 => format!("FROZEN ({key} follows)  "),
            n => format!("FROZEN: {} not shown ({key} follows)  ", words::count(n, "change")),
        };
        pen.ours(&words, theme::WARN);
    }
    let Some(filter) = &model.filtering.applied else { return };
    let back = model.settings.keymap.key(Command::Back);
    pen.ours(" filter: ", theme::DIM);
    pen.shown(&text::line(&Untrusted::from(filter.text())).cut(48), theme::BOLD);
    pen.ours(&format!("   {} shown ({back} clears)  ", counted(model)), theme::WARN);
}

/// On the rule above a list without a frame.
pub(super) fn above(model: &Model, row: Rect, buf: &mut Buffer) {
    let Some(filter) = &model.filtering.applied else { return };
    let row = Rect { x: row.x + 2.min(row.width), width: row.width.saturating_sub(4), ..row };
    let mut pen = Pen::new(buf, row, 0);
    pen.ours(" filter: ", theme::DIM);
    pen.shown(&text::line(&Untrusted::from(filter.text())).cut(40), theme::BOLD).ours(" ", theme::PLAIN);
}

/// Which saved filter?
pub(super) fn saved(model: &Model, area: Rect, buf: &mut Buffer) {
    let filters = &model.settings.triage.filters;
    let height = filters.len().min(9) as u16 + 4;
    let key = model.settings.keymap.key(Command::SavedFilters);
    let back = model.settings.keymap.key(Command::Back);
    let note = format!("1 to 9 applies   {key} clears   {back} closes");
    let body = open(model, area, (64.min(area.width), height.max(6)), "Saved filters", &note, buf);
    if filters.is_empty() {
        Pen::new(buf, body, 1).ours("None yet. [[filter]] in the configuration makes one.", theme::PLAIN);
    }
    for (nth, saved) in filters.iter().take(9).enumerate() {
        let mut pen = Pen::new(buf, body, nth as u16 + 1);
        pen.ours(&format!("{}  ", nth + 1), theme::KEY);
        pen.column(&text::line(&Untrusted::from(saved.name.as_str())), 20, theme::BOLD)
            .ours("  ", theme::PLAIN);
        pen.shown(&text::line(&Untrusted::from(saved.filter.text())), theme::DIM);
    }
}
