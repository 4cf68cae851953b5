//! The sheet in which a human says what became of an action whose outcome nobody knows.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::domain::Finding;
use crate::text;
use crate::tui::command::Command;
use crate::tui::model::{Model, SettleSheet, State};
use crate::tui::theme;

use super::edit::{area_of, title};
use super::frame::open;
use super::pen::Pen;
use super::words;

/// Command, what it says, and what follows from it.
const CHOICES: [(Command, Finding, &str, &str); 3] = [
    (Command::Landed, Finding::Landed, "it landed", "executed"),
    (Command::NotLanded, Finding::NotLanded, "it did not land", "failed; it is not run again"),
    (Command::RunAgain, Finding::RunAgain, "run it again", "only where twice does no harm"),
];

pub(super) fn draw(model: &Model, sheet: &SettleSheet, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let size = (76.min(area.width.saturating_sub(2)), 13);
    let body = open(model, area, size, "What became of it?", "look in the target first", buf);
    title(model, &sheet.key, &mut Pen::new(buf, body, 0));
    approved(model, sheet, &mut Pen::new(buf, body, 1));
    let keys = &model.settings.keymap;
    let ours = is_ours(model, sheet);
    // A decision is not sent a second time.
    let choices = CHOICES.into_iter().filter(|choice| !ours || choice.1 != Finding::RunAgain);
    for (nth, (command, finding, says, follows)) in (3..).zip(choices) {
        let picked = sheet.picked == Some(finding);
        let style = if picked { theme::BOLD } else { theme::PLAIN };
        Pen::new(buf, body, nth)
            .ours(if picked { "> " } else { "  " }, theme::BOLD)
            .ours(&keys.key(command), theme::KEY)
            .ours(&format!("  {says:<17}"), style)
            .ours(follows, theme::DIM);
    }
    let mut pen = Pen::new(buf, body, 7);
    let (label, hint) = ("reason > ", format!("   {} ends it", keys.key_in_text(Command::Accept)));
    pen.ours(label, if sheet.typing { theme::KEY } else { theme::DIM });
    if sheet.typing {
        pen.right(&hint, theme::DIM);
    }
    let taken = (label.len() + hint.len()) as u16;
    let field = Rect {
        x: body.x + label.len() as u16,
        y: body.y + 7,
        width: body.width.saturating_sub(taken),
        height: u16::from(body.height > 7),
    };
    let cursor = area_of(&sheet.area, field, sheet.typing, buf);
    let mut pen = Pen::new(buf, body, 9);
    match sheet.picked.and_then(|picked| CHOICES.iter().find(|choice| choice.1 == picked)) {
        _ if sheet.typing => {}
        Some((.., says, _)) => {
            let (confirm, back) = (keys.key(Command::Confirm), keys.key(Command::Back));
            pen.ours(&format!("Press {confirm} to say: {says}. {back} takes it back."), theme::BOLD);
        }
        None => {
            let line = format!(
                "{} adds a reason   {} closes",
                keys.key(Command::NextField),
                keys.key(Command::Back)
            );
            pen.ours(&line, theme::DIM);
        }
    }
    cursor
}

/// A decision from here that was lost sight of.
fn is_ours(model: &Model, sheet: &SettleSheet) -> bool {
    model.queue.get(&sheet.key).is_some_and(|slot| slot.state == State::Unknown)
}

/// `approved by kim at 14:02:11; nobody knows whether it landed`
fn approved(model: &Model, sheet: &SettleSheet, pen: &mut Pen<'_>) {
    let Some(row) = model.queue.get(&sheet.key).map(|slot| &slot.entry.row) else { return };
    if is_ours(model, sheet) {
        pen.ours("its decision was sent, and what became of it is not known", theme::DIM);
        return;
    }
    pen.ours("approved", theme::DIM);
    if let Some(by) = &row.resolved_by {
        pen.ours(" by ", theme::DIM).shown(&text::name(by).cut(24), theme::PLAIN);
    }
    if let Some(at) = row.resolved_at {
        pen.ours(&format!(" {} ago", words::age(at, model.now)), theme::DIM);
    }
    pen.ours("; nobody knows whether it landed", theme::DIM);
}
