//! Closing and quitting. Esc never quits and never decides.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::tui::core::command::{Command, KeyContext};
use crate::tui::core::keymap::{Chord, bare};
use crate::tui::core::layout::Layout;
use crate::tui::core::model::{Keys, Model, Sheet};
use crate::tui::core::msg::Effect;
use crate::tui::decide::{confirm_guard, stage};
use crate::tui::queue::filter;
use crate::tui::submit::hold;
use crate::tui::{dashboard, history, preview, submit};

use super::pen::{Pen, sheet_frame};
use super::state::Focus;
use super::{theme, words};

#[derive(Clone, Debug)]
pub(crate) struct QuitQuestion {
    /// The count typed to discard the staged decisions; `None` until that was chosen.
    typed: Option<String>,
}

impl Sheet for QuitQuestion {
    fn keys(&self) -> Keys {
        Keys { typed, accept, ..Keys::of(&[KeyContext::Quit, KeyContext::Anywhere]) }
    }

    /// Draws the question. The default keeps everything.
    fn draw(&self, model: &Model, _: &Layout, area: Rect, buf: &mut Buffer) -> Option<Position> {
        let staged = model.unsent();
        let mut lines = Vec::new();
        let demo = model.settings.place.demo.is_some();
        if staged > 0 {
            let then = if demo { words::GONE_WITH_DEMO } else { words::KEPT };
            lines.push(words::staged_not_sent(&words::count(staged, "decision"), then));
        }
        if model.submit.held.is_some() {
            lines.push(words::QUITTING_RECALLS.to_owned());
        }
        if model.is_sending() {
            lines.push(words::QUITTING_WAITS.to_owned());
        }
        if let Some(gate) = model.settings.place.gate.as_ref().filter(|gate| gate.serving) {
            lines.push(words::gate_stops(&gate.url));
            let then = if demo { words::DEMO_ENDS } else { words::AGENTS_CANNOT_PROPOSE };
            lines.push(then.to_owned());
        }
        let size = (64.min(area.width), lines.len() as u16 + 6);
        let body = sheet_frame(model, area, size, "Quit?", "", buf);
        for (nth, line) in lines.iter().enumerate() {
            Pen::new(buf, body, nth as u16 + 1).ours(line, theme::PLAIN);
        }
        let foot = Rect { y: body.bottom().saturating_sub(2), height: 1.min(body.height), ..body };
        let mut pen = Pen::new(buf, foot, 0);
        let keys = &model.settings.keymap;
        let (accept, back) = (keys.key(Command::Accept), keys.key(Command::Back));
        if let Some(typed) = &self.typed {
            let ask = words::type_to_discard(staged, &accept, typed);
            pen.ours(&ask, theme::BOLD).ours(&back, theme::KEY).ours(" stay", theme::PLAIN);
            return None;
        }
        let keeps = staged > 0 && !demo;
        pen.ours(&accept, theme::KEY)
            .ours(if keeps { words::KEEP_AND_QUIT } else { words::QUIT }, theme::BOLD);
        let others = [(Command::ReviewInstead, " review   "), (Command::Discard, " discard   ")];
        for (command, what) in others.into_iter().take(usize::from(staged > 0) + usize::from(keeps)) {
            pen.ours(&keys.key(command), theme::KEY).ours(what, theme::PLAIN);
        }
        pen.ours(&back, theme::KEY).ours(" stay", theme::PLAIN);
        None
    }
}

fn typed(model: &mut Model, key: KeyEvent) {
    let Some(typed) = typed_in(model) else { return };
    match (Chord::from(key).char(), bare(key)) {
        (Some(digit), _) if digit.is_ascii_digit() && typed.len() < 7 => typed.push(digit),
        (_, KeyCode::Backspace) => drop(typed.pop()),
        _ => {}
    }
}

/// Quits and keeps everything. If the count was asked for, the right one discards and quits.
fn accept(model: &mut Model) {
    let count = model.unsent();
    let Some(typed) = typed_in(model) else { return now(model) };
    if *typed != count.to_string() {
        typed.clear();
        model.warn(words::not_discarded(count));
        return;
    }
    if confirm_guard::is_burst(model) {
        return;
    }
    stage::clear_unsent(model);
    now(model);
}

fn typed_in(model: &mut Model) -> Option<&mut String> {
    model.sheet.get_mut::<QuitQuestion>()?.typed.as_mut()
}

pub(crate) fn back(model: &mut Model) {
    if let Some(keys) = model.sheet.keys() {
        return (keys.back)(model);
    }
    match model.screen.focus {
        _ if model.preview.search.is_some() => preview::search::end(model),
        _ if model.screen.zoom => model.screen.zoom = false,
        Focus::Preview => model.screen.focus = Focus::List,
        _ if model.history.open.as_ref().is_some_and(|view| view.filter.is_some()) => filter::clear(model),
        _ if model.history.open.is_some() => history::update::close(model),
        _ if model.queue.has_range() => model.queue.drop_range(),
        _ if !model.queue.marks.is_empty() => model.queue.unmark_all(),
        _ if model.list.filtering.applied.is_some() => filter::clear(model),
        Focus::List => model.screen.message = None,
    }
}

/// Closes what is open. From the list it quits, after a question if decisions are staged.
pub(crate) fn quit(model: &mut Model) {
    let beneath = model.screen.zoom || model.screen.focus == Focus::Preview || model.history.open.is_some();
    // From the watch view it quits at once; what is open beneath does not matter.
    if model.sheet.is_some() || (beneath && !model.watches()) {
        return back(model);
    }
    if model.decide.draft.is_empty() && !model.is_sending() {
        return now(model);
    }
    model.sheet.open(QuitQuestion { typed: None });
}

pub(crate) fn review(model: &mut Model) {
    model.sheet.close();
    dashboard::update::close(model);
    submit::review::open_all(model);
}

pub(crate) fn discard(model: &mut Model) {
    if model.unsent() == 0 {
        model.say(words::NOTHING_IS_STAGED_TO_DISCARD);
    } else if model.settings.place.demo.is_some() {
        model.say(words::DEMO_KEEPS_NOTHING);
    } else if let Some(question) = model.sheet.get_mut::<QuitQuestion>() {
        question.typed = Some(String::new());
    }
}

/// Closes a sheet. The second interrupt within a second quits and keeps everything.
pub(crate) fn interrupt(model: &mut Model) {
    if model.decide.guard.interrupted(model.now) {
        return now(model);
    }
    if model.screen.overlay.is_some() {
        close_overlay(model);
    } else if model.sheet.is_some() {
        back(model);
    }
    let key = model.settings.keymap.key(Command::Interrupt);
    let demo = model.settings.place.demo.is_some();
    model.say(words::again_quits(&key, if demo { words::DEMO_KEEPS_NOTHING } else { words::STAGED_STAYS }));
}

/// Closes the overlay. The sheet beneath was covered, so its reading time restarts.
pub(crate) fn close_overlay(model: &mut Model) {
    model.screen.overlay = None;
    confirm_guard::absorbed(model);
}

/// Suspends the program. A held submission is recalled, because it could not be recalled from the shell.
pub(crate) fn suspend(model: &mut Model) {
    hold::recall(model);
    model.effects.push(Effect::Suspend);
}

/// Quits after saving an open form.
pub(crate) fn now(model: &mut Model) {
    hold::recall(model);
    close_form(model);
    model.screen.leaving = true;
    model.effects.push(Effect::Quit);
}

pub(crate) fn save_sheet(model: &mut Model) {
    if let Some(keys) = model.sheet.keys() {
        (keys.save)(model);
    }
}

pub(crate) fn close_form(model: &mut Model) {
    save_sheet(model);
    model.sheet.close();
}
