//! Closing and quitting. Esc never quits and never decides.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::core::command::Command;
use crate::tui::core::keymap::{Chord, bare};
use crate::tui::core::modal::Modal;
use crate::tui::core::model::Model;
use crate::tui::core::msg::Effect;
use crate::tui::decide::{confirm_guard, reason, stage};
use crate::tui::queue::{filter, places, saved_filters};
use crate::tui::submit::{hold, resolve_unknown};
use crate::tui::{dashboard, edit, history, preview, submit};

use super::pen::{Pen, sheet_frame};
use super::state::Focus;
use super::{theme, words};

pub(crate) fn back(model: &mut Model) {
    match &model.modal {
        Some(Modal::Edit(_)) => edit::update::close(model),
        Some(Modal::Reason(_)) => reason::close(model),
        Some(Modal::Review(_)) => {
            model.modal = None;
            model.say(words::NOTHING_WAS_SENT);
        }
        Some(Modal::ResolveUnknown(_)) => resolve_unknown::back(model),
        Some(Modal::Filter(_)) => filter::put_back(model),
        Some(Modal::Places(_)) => places::put_back(model),
        Some(Modal::NameFilter(_)) => saved_filters::close(model),
        Some(Modal::EditSoon { .. } | Modal::Saved | Modal::Report(_) | Modal::Links(_) | Modal::Quit(_)) => {
            model.modal = None;
        }
        None if model.preview.search.is_some() => preview::search::end(model),
        None if model.screen.zoom => model.screen.zoom = false,
        None if model.screen.focus == Focus::Preview => model.screen.focus = Focus::List,
        None if model.history.open.as_ref().is_some_and(|view| view.filter.is_some()) => filter::clear(model),
        None if model.history.open.is_some() => history::update::close(model),
        None if model.queue.has_range() => model.queue.drop_range(),
        None if !model.queue.marks.is_empty() => model.queue.unmark_all(),
        None if model.list.filtering.applied.is_some() => filter::clear(model),
        None => model.screen.message = None,
    }
}

/// Closes what is open. From the list it quits, after a question if decisions are staged.
pub(crate) fn quit(model: &mut Model) {
    let beneath = model.screen.zoom || model.screen.focus == Focus::Preview || model.history.open.is_some();
    // From the watch view it quits at once; what is open beneath does not matter.
    if model.modal.is_some() || (beneath && !model.watches()) {
        return back(model);
    }
    if model.decide.draft.is_empty() && !model.is_sending() {
        return now(model);
    }
    model.modal = Some(Modal::Quit(None));
}

pub(crate) fn review(model: &mut Model) {
    model.modal = None;
    dashboard::update::close(model);
    submit::review::open_all(model);
}

pub(crate) fn discard(model: &mut Model) {
    if model.unsent() == 0 {
        model.say(words::NOTHING_IS_STAGED_TO_DISCARD);
    } else if model.settings.place.demo.is_some() {
        model.say(words::DEMO_KEEPS_NOTHING);
    } else if let Some(Modal::Quit(typed)) = &mut model.modal {
        *typed = Some(String::new());
    }
}

pub(crate) fn typed(model: &mut Model, key: KeyEvent) {
    let Some(Modal::Quit(Some(typed))) = &mut model.modal else { return };
    match (Chord::from(key).char(), bare(key)) {
        (Some(digit), _) if digit.is_ascii_digit() && typed.len() < 7 => typed.push(digit),
        (_, KeyCode::Backspace) => drop(typed.pop()),
        _ => {}
    }
}

/// Quits and keeps everything. If the count was asked for, the right one discards and quits.
pub(crate) fn enter(model: &mut Model) {
    let count = model.unsent();
    let Some(Modal::Quit(Some(typed))) = &mut model.modal else { return now(model) };
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

/// Closes a sheet. The second interrupt within a second quits and keeps everything.
pub(crate) fn interrupt(model: &mut Model) {
    if model.decide.guard.interrupted(model.now) {
        return now(model);
    }
    if model.screen.overlay.is_some() {
        close_overlay(model);
    } else if model.modal.is_some() {
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

pub(crate) fn close_form(model: &mut Model) {
    match &model.modal {
        Some(Modal::Edit(_)) => edit::update::close(model),
        Some(Modal::Reason(_)) => reason::close(model),
        _ => {}
    }
    model.modal = None;
}

/// Draws the question. The default keeps everything.
pub(crate) fn draw(model: &Model, typed: Option<&str>, area: Rect, buf: &mut Buffer) {
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
    if let Some(typed) = typed {
        let ask = words::type_to_discard(staged, &accept, typed);
        pen.ours(&ask, theme::BOLD).ours(&back, theme::KEY).ours(" stay", theme::PLAIN);
        return;
    }
    let keeps = staged > 0 && !demo;
    pen.ours(&accept, theme::KEY).ours(if keeps { words::KEEP_AND_QUIT } else { words::QUIT }, theme::BOLD);
    let others = [(Command::ReviewInstead, " review   "), (Command::Discard, " discard   ")];
    for (command, what) in others.into_iter().take(usize::from(staged > 0) + usize::from(keeps)) {
        pen.ours(&keys.key(command), theme::KEY).ours(what, theme::PLAIN);
    }
    pen.ours(&back, theme::KEY).ours(" stay", theme::PLAIN);
}
