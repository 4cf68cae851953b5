//! What happened, newest first.

use ratatui::buffer::Buffer;
use ratatui::style::Style;

use crate::domain::{Queue, Status, Untrusted};
use crate::inbox::Connection;
use crate::inbox::figures::{About, Happening, HappeningKind as K};
use crate::text::{self, Shown, count};
use crate::tui::layout::WatchLayout;
use crate::tui::model::{Model, Panel};
use crate::tui::theme;
use crate::tui::view::pen::Pen;
use crate::tui::view::words::{self, clock};

use super::{on_screen, queues, row};

pub(super) fn draw(model: &Model, layout: &WatchLayout, buf: &mut Buffer) {
    let (rows, events) = (layout.rows(Panel::Events), &model.watch.board.events);
    if events.is_empty() {
        Pen::new(buf, rows, 0).ours(" nothing happened yet", theme::DIM);
    }
    for (nth, line, here) in on_screen(model, layout, Panel::Events, buf) {
        if let Some(event) = events.get(nth) {
            one(model, event, &mut row(rows, line, here, buf));
        }
    }
}

fn one(model: &Model, event: &Happening, pen: &mut Pen<'_>) {
    let (word, style) = word(&event.what);
    let narrow = pen.left() < 60;
    let time = clock(model, event.at);
    let time = if narrow { time.get(..5).unwrap_or_default() } else { &time };
    pen.ours(time, theme::DIM).ours(&format!("  {word:<9}"), style).ours(" ", theme::PLAIN);
    if model.watch.board.sources.len() > 1 {
        let width = model
            .watch
            .board
            .sources
            .iter()
            .map(|source| source.name.as_str().len())
            .max()
            .unwrap_or_default();
        let width = width.clamp(4, if narrow { 8 } else { 20 });
        pen.column(&Shown::ours(event.source.as_str()), width, theme::PLAIN).ours("  ", theme::PLAIN);
    }
    what(event, pen);
}

/// Bad news is in capitals.
const fn word(what: &K) -> (&'static str, Style) {
    match what {
        K::Arrived { .. } => ("arrived", theme::PLAIN),
        K::Decided { .. } | K::DecidedMany { .. } => ("decided", theme::PLAIN),
        K::Left { .. } | K::LeftMany { .. } => ("left", theme::DIM),
        K::Executed { .. } => ("executed", theme::GOOD),
        K::Failed { .. } => ("FAILED", theme::WARN),
        K::Unknown { .. } => ("UNKNOWN", theme::WARN),
        K::Connection(Connection::Live | Connection::Polling) => ("source", theme::GOOD),
        K::Connection(Connection::Connecting) => ("source", theme::PLAIN),
        K::Connection(_) | K::Unreadable { .. } => ("SOURCE", theme::WARN),
        K::Paused => ("PAUSED", theme::WARN),
        K::Resumed => ("resumed", theme::GOOD),
    }
}

fn what(event: &Happening, pen: &mut Pen<'_>) {
    match &event.what {
        K::Arrived { queue, count: 1, first, .. } => {
            let from = match queue {
                Queue::Agent(agent) => text::name(agent).cut(24),
                // The tool is said already.
                Queue::Tool(_) | Queue::Rest => Shown::default(),
            };
            let room = if from.width() == 0 { 0 } else { "   from ".len() + from.width() };
            // Where there is no room for both, what it is goes before who wants it.
            let both = room > 0 && pen.left() > room + 40;
            let end = pen.left() - if both { room } else { 0 };
            about(first, end, pen);
            if both {
                pen.ours("   from ", theme::DIM).shown(&from, theme::PLAIN);
            }
        }
        K::Arrived { queue, count, high, .. } => {
            pen.ours(&format!("{count} actions from "), theme::PLAIN)
                .shown(&queues::queue(queue), theme::PLAIN);
            if *high > 0 {
                pen.ours(&format!("   {high} HIGH"), theme::WARN);
            }
        }
        K::Decided { status, by: who, about: of } => {
            pen.shown(&decided(status), theme::PLAIN);
            by(who.as_ref(), pen);
            pen.ours("   ", theme::PLAIN);
            about(of, pen.left(), pen);
        }
        K::DecidedMany { approved, rejected, by: who } => {
            pen.ours(&format!("{approved} approved, {rejected} excluded"), theme::PLAIN);
            by(who.as_ref(), pen);
        }
        K::Left { status, about: of } => {
            let how = status.as_ref().map_or_else(|| Shown::ours("gone"), decided);
            pen.shown(&how, theme::PLAIN).ours("   ", theme::PLAIN);
            about(of, pen.left(), pen);
        }
        K::LeftMany { count: n } => {
            let n = count(usize::try_from(*n).unwrap_or(usize::MAX), "action");
            pen.ours(&format!("{n} undecided"), theme::PLAIN);
        }
        K::Executed { about: of } => about(of, pen.left(), pen),
        K::Failed { about: of } | K::Unknown { about: of } => {
            pen.ours("after approval: ", theme::WARN);
            about(of, pen.left(), pen);
        }
        K::Connection(connection) => connected(connection, pen),
        K::Unreadable { why } => {
            let why = text::line(&Untrusted::from(why.as_str()));
            pen.ours("the list could not be read: ", theme::PLAIN).shown(&why, theme::PLAIN);
        }
        K::Paused => drop(pen.ours("nothing that is approved runs", theme::PLAIN)),
        K::Resumed => drop(pen.ours("what is approved runs again", theme::PLAIN)),
    }
}

/// `HIGH refund_payment  Refund 120 EUR`, in so many columns.
fn about(of: &About, columns: usize, pen: &mut Pen<'_>) {
    let after = pen.left() - columns.min(pen.left());
    if of.high {
        pen.ours("HIGH ", theme::WARN);
    }
    pen.shown(&text::identifier(&of.tool).cut(32), theme::BOLD).ours("  ", theme::PLAIN);
    pen.shown(&text::line(&of.title).cut(pen.left().saturating_sub(after)), theme::PLAIN);
}

fn by(who: Option<&Untrusted>, pen: &mut Pen<'_>) {
    if let Some(who) = who {
        pen.ours(" by ", theme::DIM).shown(&text::name(who).cut(24), theme::PLAIN);
    }
}

fn decided(status: &Status) -> Shown {
    match status {
        Status::Rejected => Shown::ours("excluded"),
        other => words::status(Some(other)),
    }
}

fn connected(connection: &Connection, pen: &mut Pen<'_>) {
    let (word, why) = match connection {
        Connection::Live => ("connected: it pushes", None),
        Connection::Polling => ("it is asked every so often", None),
        Connection::Connecting => ("connecting", None),
        Connection::Retrying { why, .. } => ("connection lost, tried again: ", Some(why)),
        Connection::Refused { why } => ("refuses the token: ", Some(why)),
        Connection::Stopped { why } => ("its stream ended for good: ", Some(why)),
    };
    pen.ours(word, theme::PLAIN);
    if let Some(why) = why {
        pen.shown(&text::line(why), theme::PLAIN);
    }
}
