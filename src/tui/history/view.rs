//! The rows of ended actions: status, who decided, when, and the first line of an error.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::domain::{Look, Outcome, PendingAction, Row, Status};
use crate::text;
use crate::text::Shown;
use crate::tui::chrome;
use crate::tui::chrome::pen;
use crate::tui::chrome::pen::Pen;
use crate::tui::chrome::state::Focus;
use crate::tui::chrome::theme::{self, Mark};
use crate::tui::core::command::Command;
use crate::tui::core::layout::Layout;
use crate::tui::core::model::Model;
use crate::tui::history::words;
use crate::tui::queue::slots::Slot;

use super::state::{More, OwnDecision, View, ViewKind};

const AGE: usize = 7;
/// Width of `Nov 19 14:22`.
const MOMENT: usize = 13;
const STATUS: usize = 11;

pub(crate) fn draw(model: &Model, view: &View, layout: &Layout, buf: &mut Buffer) {
    if layout.rows.is_empty() {
        return;
    }
    let mut pen = Pen::new(buf, layout.title, 0);
    pen.ours(" ", theme::PLAIN).ours(&title(model, view), theme::BOLD);
    pen.right(&format!("{} ", note(view)), theme::DIM);
    let area = layout.rows;
    let told = problems(view, area, buf);
    if view.len() == 0 {
        Pen::new(buf, area, told).ours(empty(view), theme::DIM);
        return;
    }
    let room = usize::from(area.height.saturating_sub(told));
    // Lines about problems take space from the rows; the cursor must stay visible.
    let top = view.top.max((view.at() + 1).saturating_sub(room));
    let rows = (top..top + room).map_while(|nth| Some((nth, view.slot(nth)?)));
    for (line, row) in (told..).zip(rows) {
        action(model, view, row, area, line, buf);
    }
}

/// Returns `Failed   as of 14:22, 3 m ago`.
fn title(model: &Model, view: &View) -> String {
    let name = view.kind.name();
    match view.read_at {
        None => name.to_owned(),
        Some(at) if model.now.since(at) < 60_000 => words::as_of(name, &chrome::words::moment(model, at)),
        Some(at) => {
            let key = model.settings.keymap.key(Command::Reload);
            let age = chrome::words::age(at, model.now);
            words::as_of_old(name, &chrome::words::moment(model, at), &age, &key)
        }
    }
}

fn note(view: &View) -> String {
    let (at, all) = (view.at() + 1, view.len());
    match (&view.more, all) {
        (More::UnderWay, _) if view.filter.is_some() && view.n_read() > 0 => {
            words::found_so_far(all, view.n_read())
        }
        (More::UnderWay, _) => "reading…".to_owned(),
        (_, 0) => String::new(),
        (More::At(_), _) => words::row_and_more(at, all),
        (More::End, _) => words::row_of(at, all),
    }
}

fn empty(view: &View) -> &'static str {
    match (&view.more, view.kind) {
        (More::UnderWay, _) => " reading…",
        _ if view.filter.is_some() => words::NOTHING_FOUND,
        _ if !view.problems.is_empty() => words::NOTHING_ELSE_IS_KNOWN,
        (_, ViewKind::Mine) => words::NOTHING_DECIDED_HERE,
        (_, ViewKind::Decided) => words::NOTHING_WAS_DECIDED_YET,
        (_, ViewKind::Approved) => words::NOTHING_IS_APPROVED_OR_RUNNING,
        (_, ViewKind::Executed) => words::NOTHING_WAS_EXECUTED_YET,
        (_, ViewKind::Failed) => words::NOTHING_HAS_FAILED,
        (_, ViewKind::Unknown) => words::NO_OUTCOME_IS_UNKNOWN,
        (_, ViewKind::Rejected) => words::NOTHING_WAS_REJECTED_YET,
        (_, ViewKind::Expired) => words::NOTHING_ENDED_OTHERWISE,
    }
}

/// Draws what is missing from the list, at its top, so that it does not look complete.
fn problems(view: &View, area: Rect, buf: &mut Buffer) -> u16 {
    let mut nth = 0;
    for problem in &view.problems {
        let name = problem.source.as_ref().map_or_else(String::new, |source| format!("{source} "));
        let mut pen = Pen::new(buf, area, nth);
        pen.ours(&format!(" ! {name}{}", problem.what), theme::WARN);
        if let Some(why) = &problem.why {
            pen.ours(": ", theme::PLAIN).shown(&text::line(why), theme::PLAIN);
        }
        nth += 1;
    }
    if view.unreadable > 0 {
        let line = words::unreadable(&chrome::words::count(view.unreadable, "action"));
        Pen::new(buf, area, nth).ours(&line, theme::WARN);
        nth += 1;
    }
    nth.min(area.height / 2)
}

fn action(model: &Model, view: &View, (nth, slot): (usize, &Slot), area: Rect, line: u16, buf: &mut Buffer) {
    let here = nth == view.at();
    let mut pen = pen::row(model, area, line, here.then_some(model.screen.focus == Focus::List), buf);
    pen.ours(" ", theme::PLAIN);
    let own = view.own(nth);
    if let Some(own) = own {
        let mark = Mark::Decided(own.decision);
        pen.ours(&format!("{} ", mark.glyph(model.settings.glyphs)), mark.style());
    }
    let row = &slot.entry.row;
    if own.is_some() {
        pen.column(&chrome::words::risk(&row.risk), 4, theme::risk(&row.risk)).ours(" ", theme::PLAIN);
    }
    let read = model.preview.cached(&slot.entry.key).map(|cached| &cached.action);
    // On a narrow screen the error takes the space of who decided; the preview shows both.
    let who = match (area.width, view.kind) {
        (..60, ViewKind::Failed | ViewKind::Mine) => 0,
        (..60, _) => 9,
        (..100, _) => 14,
        _ => 20,
    };
    let status = if view.kind.is_mixed() { STATUS } else { 0 };
    let when = when(model, (row, own, read), area.width < 60);
    let time = if own.is_some() && area.width >= 60 { MOMENT } else { AGE };
    let room = pen.left().saturating_sub(status + who + time + 1);
    let title = text::line(&model.title_of(slot));
    match read.and_then(why) {
        Some((why, style)) => {
            let width = title.width().min(room / 2);
            pen.column(&title, width, theme::PLAIN).ours("  ", theme::PLAIN);
            pen.column(&why, room.saturating_sub(width + 2), style);
        }
        None => drop(pen.column(&title, room, theme::PLAIN)),
    }
    pen.ours(" ", theme::PLAIN);
    if status > 0 {
        let (word, style) = match own {
            Some(own) if read.is_none() || !says_it(own, &row.status) => said(own),
            _ => of_status(&row.status),
        };
        pen.column(&word, status - 1, style).ours(" ", theme::PLAIN);
    }
    if who > 0 {
        let source = &slot.entry.key.source;
        let by =
            row.resolved_by.as_ref().map(|by| model.people.called(source, by, who - 1)).unwrap_or_default();
        pen.column(&by, who - 1, theme::DIM).ours(" ", theme::PLAIN);
    }
    pen.ours(&format!("{when:>width$} ", width = time - 1), theme::PLAIN);
}

fn why(action: &PendingAction) -> Option<(Shown, Style)> {
    match action.row.status {
        Status::Failed | Status::Unknown => {
            let style = theme::role(action.row.status.role());
            action.error.as_ref().map(|it| (text::first_line(it), style))
        }
        Status::Rejected => action.reason.as_ref().map(|it| (text::first_line(it), theme::DIM)),
        _ => None,
    }
}

/// Returns how long ago it ended; for this machine's decisions, the time of the decision.
fn when(
    model: &Model,
    (row, own, read): (&Row, Option<&OwnDecision>, Option<&PendingAction>),
    narrow: bool,
) -> String {
    match own {
        Some(own) if narrow => chrome::words::day(model, own.at),
        Some(own) => chrome::words::moment(model, own.at),
        None => {
            let ran = read.and_then(|action| action.executed_at);
            chrome::words::row_age(ran.or(row.resolved_at).unwrap_or(row.created_at), model.now)
        }
    }
}

fn of_status(status: &Status) -> (Shown, Style) {
    (text::status_badge(status), theme::role(status.role()))
}

/// Returns true if the status results from this decision: it is not pending, and the source accepted the decision.
const fn says_it(own: &OwnDecision, status: &Status) -> bool {
    let counted = !matches!(own.outcome, Some(Outcome::Skipped { .. } | Outcome::Failed { .. }));
    counted && !status.is_pending()
}

fn said(own: &OwnDecision) -> (Shown, Style) {
    if let (Some(Outcome::Approved), Some(status)) = (&own.outcome, &own.ended) {
        return of_status(status);
    }
    let look = own.outcome.as_ref().map_or(Look::UNKNOWN, Outcome::look);
    (Shown::ours(look.badge), theme::role(look.role))
}
