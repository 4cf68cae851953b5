//! Closing things, helping, and quitting. Esc never quits and never decides.

use crossterm::event::{KeyCode, KeyEvent};

use crate::tui::command::Command;
use crate::tui::keymap::Chord;
use crate::tui::model::{Focus, Modal, Model};
use crate::tui::msg::Effect;

use super::{edit, find, hold, reason, settle, stage};

/// One level back.
pub(super) fn back(model: &mut Model) -> Vec<Effect> {
    match &model.modal {
        Some(Modal::Edit(_)) => return edit::close(model),
        Some(Modal::Reason(_)) => return reason::close(model),
        Some(Modal::Review(_)) => {
            model.modal = None;
            model.say("nothing was sent");
        }
        Some(Modal::Settle(_)) => settle::back(model),
        Some(Modal::Filter(_)) => return super::filter::put_back(model),
        Some(Modal::EditSoon { .. } | Modal::Saved | Modal::Report(_) | Modal::Links(_) | Modal::Quit(_)) => {
            model.modal = None;
        }
        None if model.preview.search.is_some() => return find::end(model),
        None if model.zoom => model.zoom = false,
        None if model.focus == Focus::Preview => model.focus = Focus::List,
        None if model.view.is_some() => return super::views::close(model),
        None if model.queue.has_range() => model.queue.drop_range(),
        None if !model.queue.marks.is_empty() => model.queue.unmark_all(),
        None if model.filtering.applied.is_some() => super::filter::clear(model),
        None => model.message = None,
    }
    Vec::new()
}

/// Closes what is open; from the list it quits, and asks first when something would be left behind.
pub(super) fn quit(model: &mut Model) -> Vec<Effect> {
    let beneath = model.zoom || model.focus == Focus::Preview || model.view.is_some();
    // From the watch view, what is beneath it closes nothing.
    if model.modal.is_some() || (beneath && !model.watches()) {
        return back(model);
    }
    if model.draft.is_empty() && !model.is_sending() {
        return now(model);
    }
    model.modal = Some(Modal::Quit(None));
    Vec::new()
}

/// Everything that is staged, before leaving.
pub(super) fn review(model: &mut Model) -> Vec<Effect> {
    model.modal = None;
    super::watch::close(model);
    super::review::open_all(model)
}

/// Asks for the count of what would be discarded; nothing is yet.
pub(super) fn discard(model: &mut Model) -> Vec<Effect> {
    if model.unsent() == 0 {
        model.say("nothing is staged that could be discarded");
    } else if let Some(Modal::Quit(typed)) = &mut model.modal {
        *typed = Some(String::new());
    }
    Vec::new()
}

/// Digits of the count.
pub(super) fn typed(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Some(Modal::Quit(Some(typed))) = &mut model.modal else { return Vec::new() };
    match (Chord::from(key).char(), key.code) {
        (Some(digit), _) if digit.is_ascii_digit() && typed.len() < 7 => typed.push(digit),
        (_, KeyCode::Backspace) => drop(typed.pop()),
        _ => {}
    }
    Vec::new()
}

/// Keeps everything and quits; where the count was asked for, only the right one discards and quits.
pub(super) fn enter(model: &mut Model) -> Vec<Effect> {
    let count = model.unsent();
    let Some(Modal::Quit(Some(typed))) = &mut model.modal else { return now(model) };
    if *typed != count.to_string() {
        typed.clear();
        model.warn(format!("that is not {count}; nothing was discarded"));
        return Vec::new();
    }
    if super::decide::is_burst(model) {
        return Vec::new();
    }
    let mut effects = stage::clear_unsent(model);
    effects.extend(now(model));
    effects
}

/// Closes a sheet; twice within a second keeps everything and quits.
pub(super) fn interrupt(model: &mut Model) -> Vec<Effect> {
    if model.guard.interrupted(model.now) {
        return now(model);
    }
    let mut effects = Vec::new();
    if model.overlay.take().is_none() && model.modal.is_some() {
        effects = back(model);
    }
    let key = model.settings.keymap.key(Command::Interrupt);
    model.say(format!("{key} again quits and keeps what is staged"));
    effects
}

/// Back to the shell. Nobody could recall what is held from there.
pub(super) fn suspend(model: &mut Model) -> Vec<Effect> {
    let mut effects = hold::recall(model).unwrap_or_default();
    effects.push(Effect::Suspend);
    effects
}

/// Quits. What is staged is on disk; an open form is kept first.
pub(super) fn now(model: &mut Model) -> Vec<Effect> {
    let mut effects = hold::recall(model).unwrap_or_default();
    effects.extend(close_form(model));
    model.leaving = true;
    effects.push(Effect::Quit);
    effects
}

/// Closes what is open; an edit form's text is kept.
pub(super) fn close_form(model: &mut Model) -> Vec<Effect> {
    let effects = match &model.modal {
        Some(Modal::Edit(_)) => edit::close(model),
        Some(Modal::Reason(_)) => reason::close(model),
        _ => Vec::new(),
    };
    model.modal = None;
    effects
}
