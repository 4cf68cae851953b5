//! The terminal's window: its mouse, its focus, its background; and calling somebody who looks elsewhere. A mouse never decides.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use crate::config::NotifyTo;
use crate::inbox::figures::BoardRequest;
use crate::inbox::notices::{Notice, Wall};
use crate::text::count;
use crate::tui::chrome::theme::palette::{Rgb, Theme};
use crate::tui::chrome::words;
use crate::tui::core::command::{Command, Direction};
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Effect, What};
use crate::tui::queue::list::SourceState;
use crate::tui::{dashboard, preview, queue};

use super::overlay;
use super::state::{Focus, Waiting};

/// What failed in so many minutes is told of.
const WINDOW: u32 = 60;
/// Lines for each step of the wheel.
const WHEEL: usize = 3;

pub(crate) fn mouse(model: &mut Model, event: MouseEvent) {
    // A click that was under way when the mouse was switched off.
    if !model.screen.window.mouse || model.screen.leaving || model.is_blind() {
        return;
    }
    let at = Position::new(event.column, event.row);
    match event.kind {
        MouseEventKind::ScrollDown => wheel(model, at, Direction::Down),
        MouseEventKind::ScrollUp => wheel(model, at, Direction::Up),
        MouseEventKind::Down(MouseButton::Left) => click(model, at),
        _ => {}
    }
}

/// Scrolls what is under the pointer.
fn wheel(model: &mut Model, at: Position, way: Direction) {
    model.list.touched = true;
    let layout = model.layout();
    if model.screen.overlay.is_some() {
        overlay::go(model, way, WHEEL);
    } else if model.modal.is_some() {
        queue::update::scroll_sheet(model, way, WHEEL);
    } else if model.watches() {
        dashboard::update::wheel(model, at, way, WHEEL);
    } else if layout.preview.contains(at) {
        preview::update::scroll(model, way, WHEEL);
    } else if layout.rows.contains(at) {
        queue::update::step(model, way, WHEEL);
    }
}

/// Selects a row, or the pane. Never opens, folds or decides, and the click that brought the window to the front does nothing.
fn click(model: &mut Model, at: Position) {
    if model.screen.window.is_focusing(model.now) || model.modal.is_some() || model.screen.overlay.is_some() {
        return;
    }
    model.list.touched = true;
    model.screen.chords.clear();
    let layout = model.layout();
    if model.watches() {
        dashboard::update::click(model, at);
    } else if layout.rows.contains(at) {
        queue::update::select(model, usize::from(at.y - layout.rows.y));
        model.screen.focus = Focus::List;
    } else if layout.preview.contains(at) {
        model.screen.focus = Focus::Preview;
    }
    if !std::mem::replace(&mut model.screen.window.clicked, true) {
        let key = model.settings.keymap.key(Command::Mouse);
        model.say(words::hold_shift(&key));
    }
}

/// The mouse is the terminal's again, or ours.
pub(crate) fn toggle_mouse(model: &mut Model) {
    model.screen.window.mouse = !model.screen.window.mouse;
    model.say(if model.screen.window.mouse { words::MOUSE_ON } else { words::MOUSE_OFF });
    model.effects.push(Effect::Mouse(model.screen.window.mouse));
}

pub(crate) fn focus(model: &mut Model, in_front: bool) {
    model.screen.window.focus(in_front, model.now);
}

/// The terminal says which colour is behind the text.
pub(crate) fn background(model: &mut Model, colour: Rgb) {
    if model.screen.window.takes_answer(model.now) {
        model.screen.theme = Theme::on(colour, model.settings.depth);
    }
}

/// What can be news to somebody who looks elsewhere.
pub(crate) fn is_news(what: &What) -> bool {
    matches!(what, What::Synced(..) | What::Source(_) | What::Tick)
}

/// Calls whoever looks elsewhere. Counts only: anything foreign could fake a notification.
pub(crate) fn call(model: &mut Model) {
    if model.settings.rules.is_empty() {
        call_as_usual(model);
    } else {
        call_by_rules(model);
    }
}

/// The figures are made for it, so at most once a second.
fn call_by_rules(model: &mut Model) {
    if !model.dashboard.notices.is_due(model.now) {
        return;
    }
    // Who opens the watch view must not change who is called.
    let board = model.dashboard.figures.board_as_seen(BoardRequest { window: WINDOW, columns: 1 }, model.now);
    let wall = Wall::at(model.now, &model.settings.zone);
    let due = model.dashboard.notices.look(&board, wall, model.screen.window.is_in_front());
    let rules = &model.settings.rules;
    let effect = |notice: Notice| {
        let rule = rules.iter().find(|rule| rule.number == notice.rule)?;
        Some(match rule.to {
            NotifyTo::Terminal => Effect::Notify(notice.text()),
            NotifyTo::Bell => Effect::Ring,
            NotifyTo::Command { .. } | NotifyTo::Webhook(_) => Effect::Tell(Box::new(notice)),
        })
    };
    model.effects.extend(due.into_iter().filter_map(effect));
}

/// A rule that fails is told of once, until it gets through again.
pub(crate) fn noticed(model: &mut Model, rule: usize, answer: Result<(), String>) {
    let is_news = model.dashboard.notices.came_to(rule, answer.as_ref().err().map(String::as_str));
    if let Err(why) = answer
        && is_news
    {
        model.warn(words::not_notified(&why));
    }
}

/// Without rules: for the first action after an empty inbox, for high risks, and for sources that are down.
fn call_as_usual(model: &mut Model) {
    // What waits at the start is no news.
    if !model.list.sources.iter().any(|source| source.listed) {
        return;
    }
    let waiting = Waiting {
        pending: model.list.stats.pending,
        high_risk: model.list.stats.high_risk(),
        down: model.list.sources.iter().filter(|source| is_down(source, model)).count(),
    };
    if !model.screen.window.calls(waiting, model.now) {
        return;
    }
    let mut parts = vec![format!("{} pending", waiting.pending)];
    if waiting.high_risk > 0 {
        parts.push(format!("{} high", waiting.high_risk));
    }
    if waiting.down > 0 {
        parts.push(format!("{} down", count(waiting.down, "source")));
    }
    model.effects.push(Effect::Notify(format!("placet: {}", parts.join(", "))));
}

fn is_down(source: &SourceState, model: &Model) -> bool {
    source.connection.is_over() || source.is_stale(model.now)
}
