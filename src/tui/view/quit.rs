//! The question before quitting.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::command::Command;
use crate::tui::model::Model;
use crate::tui::theme;

use super::frame::open;
use super::pen::Pen;
use super::words;

/// Keep and quit is the default, and nothing is ever lost by it.
pub(super) fn draw(model: &Model, typed: Option<&str>, area: Rect, buf: &mut Buffer) {
    let staged = model.unsent();
    let mut lines = Vec::new();
    let demo = model.settings.place.demo.is_some();
    if staged > 0 {
        let then = if demo { "gone with the demo." } else { "kept for next time." };
        lines.push(format!("{} staged and not sent; {then}", words::count(staged, "decision")));
    }
    if model.held.is_some() {
        lines.push("Quitting now recalls what is about to be sent.".to_owned());
    }
    if model.is_sending() {
        lines.push("A submission is on its way; quitting waits a few seconds for it.".to_owned());
    }
    if let Some(gate) = model.settings.place.gate.as_ref().filter(|gate| gate.serving) {
        lines.push(format!("The gate at {} stops:", gate.url));
        let then =
            if demo { "the demo is thrown away." } else { "agents cannot propose until placet runs again." };
        lines.push(then.to_owned());
    }
    let size = (64.min(area.width), lines.len() as u16 + 6);
    let body = open(model, area, size, "Quit?", "", buf);
    for (nth, line) in lines.iter().enumerate() {
        Pen::new(buf, body, nth as u16 + 1).ours(line, theme::PLAIN);
    }
    let foot = Rect { y: body.bottom().saturating_sub(2), height: 1.min(body.height), ..body };
    let mut pen = Pen::new(buf, foot, 0);
    let keys = &model.settings.keymap;
    let (accept, back) = (keys.key(Command::Accept), keys.key(Command::Back));
    if let Some(typed) = typed {
        let ask = format!("type {staged} and {accept} to discard and quit: {typed}_   ");
        pen.ours(&ask, theme::BOLD).ours(&back, theme::KEY).ours(" stay", theme::PLAIN);
        return;
    }
    pen.ours(&accept, theme::KEY).ours(" keep and quit   ", theme::BOLD);
    if staged > 0 {
        for (command, what) in [(Command::ReviewInstead, " review   "), (Command::Discard, " discard   ")] {
            pen.ours(&model.settings.keymap.key(command), theme::KEY).ours(what, theme::PLAIN);
        }
    }
    pen.ours(&back, theme::KEY).ours(" stay", theme::PLAIN);
}
