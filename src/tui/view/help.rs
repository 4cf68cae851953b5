//! The help overlay, from the table of commands; and the question before quitting.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::command::COMMANDS;
use crate::tui::keymap::short;
use crate::tui::model::Model;
use crate::tui::theme;

use super::frame::open;
use super::pen::Pen;
use super::words;

const LETTERS: [&str; 3] = [
    "A approve   E approve with edits   X exclude   R retry   . undecided",
    "~ decided elsewhere   = sent from here   ^ on its way   ? nobody knows what became of it",
    "! high risk   * not opened yet   + marked   > the cursor",
];

pub(super) fn draw(model: &Model, top: usize, area: Rect, buf: &mut Buffer) {
    let keys_of = |spec: &crate::tui::command::Spec| {
        let keys: Vec<String> =
            model.settings.keymap.keys(spec.command).iter().map(|key| short(key)).collect();
        keys.join(" ")
    };
    let size = (92.min(area.width), area.height.saturating_sub(2).min(COMMANDS.len() as u16 + 8));
    let body = open(model, area, size, "Help", "j k scroll   Esc closes   keys are set in [keys]", buf);
    let legend = if body.height > 12 { LETTERS.len() as u16 + 1 } else { 0 };
    for (nth, line) in LETTERS.iter().take(usize::from(legend)).enumerate() {
        Pen::new(buf, body, nth as u16).ours(line, theme::DIM);
    }
    let list = Rect { y: body.y + legend, height: body.height - legend, ..body };
    let top = top.min(COMMANDS.len().saturating_sub(usize::from(list.height)));
    for (nth, spec) in COMMANDS.iter().skip(top).take(usize::from(list.height)).enumerate() {
        let mut pen = Pen::new(buf, list, nth as u16);
        pen.ours(&format!("{:<18}", keys_of(spec)), theme::KEY).ours(spec.help, theme::PLAIN);
    }
}

/// Keep and quit is the default, and nothing is ever lost by it.
pub(super) fn quit(model: &Model, area: Rect, buf: &mut Buffer) {
    let staged = model.unsent();
    let mut lines = Vec::new();
    if staged > 0 {
        lines.push(format!("{} staged and not sent; kept for next time.", words::count(staged, "decision")));
    }
    if model.sending.is_some() {
        lines.push("A submission is on its way; quitting waits a few seconds for it.".to_owned());
    }
    if let Some(gate) = model.settings.place.gate.as_ref().filter(|gate| gate.serving) {
        lines.push(format!("The gate at {} stops:", gate.url));
        lines.push("agents cannot propose until placet runs again.".to_owned());
    }
    let size = (64.min(area.width), lines.len() as u16 + 6);
    let body = open(model, area, size, "Quit?", "", buf);
    for (nth, line) in lines.iter().enumerate() {
        Pen::new(buf, body, nth as u16 + 1).ours(line, theme::PLAIN);
    }
    let foot = Rect { y: body.bottom().saturating_sub(2), height: 1.min(body.height), ..body };
    Pen::new(buf, foot, 0)
        .ours("Enter", theme::KEY)
        .ours(" keep and quit   ", theme::BOLD)
        .ours("Esc", theme::KEY)
        .ours(" stay", theme::PLAIN);
}
