//! The terminal window: mouse, focus, background, and calling a reviewer who looks elsewhere. The mouse never decides.

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

/// Minutes of figures that the notify rules look at.
const WINDOW: u32 = 60;
const WHEEL: usize = 3;

pub(crate) fn mouse(model: &mut Model, event: MouseEvent) {
    // The event may have been in transit when mouse reporting was turned off.
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

fn wheel(model: &mut Model, at: Position, way: Direction) {
    model.list.touched = true;
    let layout = model.layout();
    if model.screen.overlay.is_some() {
        overlay::go(model, way, WHEEL);
    } else if model.sheet.is_some() {
        model.scroll_sheet(way, WHEEL);
    } else if model.watches() {
        dashboard::update::wheel(model, at, way, WHEEL);
    } else if layout.preview.contains(at) {
        preview::update::scroll(model, way, WHEEL);
    } else if layout.rows.contains(at) {
        queue::update::step(model, way, WHEEL);
    }
}

/// Selects a row or a pane. Ignores the click that brought the window to the front.
fn click(model: &mut Model, at: Position) {
    if model.screen.window.is_focusing(model.now) || model.sheet.is_some() || model.screen.overlay.is_some() {
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

pub(crate) fn toggle_mouse(model: &mut Model) {
    model.screen.window.mouse = !model.screen.window.mouse;
    model.say(if model.screen.window.mouse { words::MOUSE_ON } else { words::MOUSE_OFF });
    model.effects.push(Effect::Mouse(model.screen.window.mouse));
}

pub(crate) fn focus(model: &mut Model, in_front: bool) {
    model.screen.window.focus(in_front, model.now);
}

pub(crate) fn background(model: &mut Model, colour: Rgb) {
    if model.screen.window.takes_answer(model.now) {
        model.screen.theme = Theme::on(colour, model.settings.depth);
    }
}

pub(crate) fn is_news(what: &What) -> bool {
    matches!(what, What::Synced(..) | What::Source(_) | What::Tick)
}

/// Calls a reviewer who looks elsewhere. Sends counts only, because foreign text could fake a notification.
pub(crate) fn call(model: &mut Model) {
    if model.settings.rules.is_empty() {
        call_as_usual(model);
    } else {
        call_by_rules(model);
    }
}

/// At most once a second, because the figures are computed for it.
fn call_by_rules(model: &mut Model) {
    if !model.dashboard.notices.is_due(model.now) {
        return;
    }
    // Independent of what the watch view shows.
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

/// Handles a rule's result. A failing rule is reported once, until it succeeds again.
pub(crate) fn noticed(model: &mut Model, rule: usize, answer: Result<(), String>) {
    let is_news = model.dashboard.notices.came_to(rule, answer.as_ref().err().map(String::as_str));
    if let Err(why) = answer
        && is_news
    {
        model.warn(words::not_notified(&why));
    }
}

/// Without rules: calls for the first pending action, for high risks, and for unreachable sources.
fn call_as_usual(model: &mut Model) {
    // Actions that were pending at the start are not news.
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
