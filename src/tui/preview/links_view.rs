//! The links of an action, each with its whole target, before one is opened.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::domain::Untrusted;
use crate::text;
use crate::text::Shown;
use crate::tui::chrome::pen::{Pen, sheet_frame};
use crate::tui::chrome::theme;
use crate::tui::core::command::Command;
use crate::tui::core::modal::LinksSheet;
use crate::tui::core::model::Model;

/// Returns where the selected link begins.
pub(crate) fn draw(model: &Model, sheet: &LinksSheet, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let width = 90.min(area.width.saturating_sub(2));
    let room = usize::from(width.saturating_sub(10));
    let links: Vec<Vec<Shown>> =
        sheet.links.iter().map(|link| text::line(&Untrusted::from(link.as_str())).wrap(room)).collect();
    let rows: usize = links.iter().map(Vec::len).sum();
    let key = |command| model.settings.keymap.key(command);
    let note = format!(
        "{} opens it in the browser   {} copies it   {} closes",
        key(Command::Accept),
        key(Command::CopyThisLink),
        key(Command::Back)
    );
    let body = sheet_frame(model, area, (width, rows as u16 + 4), "Open which link?", &note, buf);
    // The selected link stands in full, also where not all fit.
    let before: usize = links.iter().take(sheet.at + 1).map(Vec::len).sum();
    let mut skip = (before + 1).saturating_sub(usize::from(body.height));
    let mut y = 1;
    let mut cursor = None;
    for (nth, rows) in links.iter().enumerate() {
        let here = nth == sheet.at;
        for (part, row) in rows.iter().enumerate() {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let mut pen = Pen::new(buf, body, y).base(if here { theme::SELECTED } else { theme::PLAIN });
            if here && part == 0 {
                cursor = (y < body.height).then(|| pen.position());
            }
            pen.ours(if here && part == 0 { "> " } else { "  " }, theme::BOLD).shown(row, theme::PLAIN);
            y += 1;
        }
    }
    cursor
}
