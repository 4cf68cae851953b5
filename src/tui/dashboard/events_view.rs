//! The events, newest first, and the alerts.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr as _;

use crate::domain::{Queue, Status, Timestamp, Untrusted};
use crate::inbox::Connection;
use crate::inbox::figures::cells;
use crate::inbox::figures::{self, About, Alert, AlertKind, Board, Happening, HappeningKind as K};
use crate::text;
use crate::text::{Shown, count};
use crate::tui::chrome;
use crate::tui::chrome::pen::{Pen, row};
use crate::tui::chrome::theme;
use crate::tui::chrome::words::{clock, moment};
use crate::tui::core::command::Command;
use crate::tui::core::model::Model;
use crate::tui::dashboard::words;

use super::layout::WatchLayout;
use super::rows::on_screen;
use super::state::Panel;

pub(crate) fn draw(model: &Model, layout: &WatchLayout, buf: &mut Buffer) {
    let (rows, events) = (layout.rows(Panel::Events), &model.dashboard.watch.board.events);
    if events.is_empty() {
        Pen::new(buf, rows, 0).ours(words::NOTHING_HAPPENED_YET, theme::DIM);
    }
    for (nth, line, here) in on_screen(model, layout, Panel::Events, buf) {
        if let Some(event) = events.get(nth) {
            one(model, event, &mut row(model, rows, line, here, buf));
        }
    }
}

fn longest_name(board: &Board) -> usize {
    board.sources.iter().map(|source| source.name.as_str().len()).max().unwrap_or_default()
}

fn one(model: &Model, event: &Happening, pen: &mut Pen<'_>) {
    let (word, style) = word(&event.what);
    let narrow = pen.left() < 60;
    let time = clock(model, event.at);
    let time = if narrow { time.get(..5).unwrap_or_default() } else { &time };
    pen.ours(time, theme::DIM).ours(&format!("  {word:<9}"), style).ours(" ", theme::PLAIN);
    if model.dashboard.watch.board.sources.len() > 1 {
        let width = longest_name(&model.dashboard.watch.board).clamp(4, if narrow { 8 } else { 20 });
        pen.column(&Shown::ours(event.source.as_str()), width, theme::PLAIN).ours("  ", theme::PLAIN);
    }
    what(model, event, pen);
}

/// Returns the label of an event; problems are in capitals.
fn word(what: &K) -> (&'static str, Style) {
    match what {
        K::Arrived { .. } => ("arrived", theme::PLAIN),
        K::Decided { .. } | K::DecidedMany { .. } => ("decided", theme::PLAIN),
        K::Left { .. } | K::LeftMany { .. } => ("left", theme::DIM),
        K::Ended { status, .. } => (status.look().map_or("ended", |it| it.badge), theme::role(status.role())),
        K::Connection(Connection::Live | Connection::Polling) => ("source", theme::GOOD),
        K::Connection(Connection::Connecting) => ("source", theme::PLAIN),
        K::Connection(_) | K::Unreadable { .. } => ("SOURCE", theme::WARN),
        K::Paused => ("PAUSED", theme::WARN),
        K::Resumed => ("resumed", theme::GOOD),
    }
}

fn what(model: &Model, event: &Happening, pen: &mut Pen<'_>) {
    let by = |who: Option<&Untrusted>| who.map(|who| model.people.called(&event.source, who, 24));
    match &event.what {
        K::Arrived { queue, count: 1, first, .. } => {
            let from = match queue {
                Queue::Agent(agent) => text::name(agent).cut(24),
                // The title already names the tool.
                Queue::Tool(_) | Queue::Rest => Shown::default(),
            };
            let room = if from.width() == 0 { 0 } else { "   from ".len() + from.width() };
            // On a narrow screen the action is shown without its agent.
            let both = room > 0 && pen.left() > room + 40;
            let end = pen.left() - if both { room } else { 0 };
            about(first, end, pen);
            if both {
                pen.ours("   from ", theme::DIM).shown(&from, theme::PLAIN);
            }
        }
        K::Arrived { queue, count, high, .. } => {
            pen.ours(&words::actions_from(*count), theme::PLAIN).shown(&cells::queue(queue), theme::PLAIN);
            if *high > 0 {
                pen.ours(&format!("   {high} HIGH"), theme::WARN);
            }
        }
        K::Decided { status, by: who, about: of } => {
            pen.shown(&decided(status), theme::PLAIN);
            decided_by(by(who.as_ref()), pen);
            pen.ours("   ", theme::PLAIN);
            about(of, pen.left(), pen);
        }
        K::DecidedMany { approved, rejected, by: who } => {
            pen.ours(&words::decided_many(*approved, *rejected), theme::PLAIN);
            decided_by(by(who.as_ref()), pen);
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
        K::Ended { status, about: of } => {
            if *status != Status::Executed {
                pen.ours(words::AFTER_APPROVAL, theme::role(status.role()));
            }
            about(of, pen.left(), pen);
        }
        K::Connection(connection) => connected(connection, pen),
        K::Unreadable { why } => {
            let why = text::line(&Untrusted::from(why.as_str()));
            pen.ours(chrome::words::LIST_NOT_READ, theme::PLAIN).shown(&why, theme::PLAIN);
        }
        K::Paused => drop(pen.ours(words::PAUSED, theme::PLAIN)),
        K::Resumed => drop(pen.ours(words::RESUMED, theme::PLAIN)),
    }
}

fn about(of: &About, columns: usize, pen: &mut Pen<'_>) {
    let after = pen.left() - columns.min(pen.left());
    if of.is_high() {
        pen.ours(if of.is_critical() { "CRIT " } else { "HIGH " }, theme::WARN);
    }
    pen.shown(&text::identifier(&of.tool).cut(32), theme::BOLD).ours("  ", theme::PLAIN);
    pen.shown(&text::line(&of.title).cut(pen.left().saturating_sub(after)), theme::PLAIN);
}

fn decided_by(who: Option<Shown>, pen: &mut Pen<'_>) {
    if let Some(who) = who {
        pen.ours(" by ", theme::DIM).shown(&who, theme::PLAIN);
    }
}

fn decided(status: &Status) -> Shown {
    match status {
        Status::Rejected => Shown::ours("excluded"),
        other => text::status_badge(other),
    }
}

fn connected(connection: &Connection, pen: &mut Pen<'_>) {
    let (word, why) = match connection {
        Connection::Live => (words::LIVE, None),
        Connection::Polling => (words::POLLED, None),
        Connection::Connecting => ("connecting", None),
        Connection::Retrying { why, .. } => (words::RETRIED, Some(why)),
        Connection::Refused { why } => (words::TOKEN_REFUSED, Some(why)),
        Connection::Stopped { why } => (words::STREAM_ENDED, Some(why)),
    };
    pen.ours(word, theme::PLAIN);
    if let Some(why) = why {
        pen.shown(&text::line(why), theme::PLAIN);
    }
}

// Alerts: one or two summary lines, or the full list.

/// Returns the alerts as styled text in at most `most` lines. The gravest come first; equal ones of several sources are
/// merged.
pub(crate) fn alert_lines(model: &Model, width: u16, most: usize) -> Vec<Vec<(String, Style)>> {
    let watch = &model.dashboard.watch;
    let mut kinds: BTreeMap<AlertKind, Vec<&Alert>> = BTreeMap::new();
    let open = watch.board.alerts.iter().filter(|alert| !watch.alarms.is_quiet(alert));
    open.for_each(|alert| kinds.entry(alert.kind).or_default().push(alert));
    let mut said: Vec<(String, Style)> =
        kinds.iter().map(|(kind, alerts)| (together(model, *kind, alerts), style(*kind))).collect();
    said.extend(not_notified(model).map(|words| (words, theme::WARN)));
    let key = model.settings.keymap.key(Command::AlertsOnly);
    let (width, all) = (usize::from(width), said.len());
    let mut lines: Vec<Vec<(String, Style)>> = vec![Vec::new()];
    let mut left = width;
    for (nth, (words, style)) in said.into_iter().enumerate() {
        let words = format!(" ! {words} ");
        let more = format!(" +{} ({key})", all - nth);
        let room =
            if lines.len() == most && nth + 1 < all { left.saturating_sub(more.width()) } else { left };
        let is_first = lines.last().is_none_or(Vec::is_empty);
        if words.width() > room && !is_first {
            if lines.len() == most {
                lines.last_mut().into_iter().for_each(|line| line.push((more.clone(), theme::WARN)));
                return lines;
            }
            lines.push(Vec::new());
            left = width;
        }
        left = left.saturating_sub(words.width());
        lines.last_mut().into_iter().for_each(|line| line.push((words.clone(), style)));
    }
    let quiet = quiet(model);
    if quiet.width() <= left {
        lines.last_mut().into_iter().for_each(|line| line.push((quiet.clone(), theme::DIM)));
    }
    lines
}

pub(crate) fn draw_alerts(model: &Model, area: Rect, buf: &mut Buffer) {
    let lines = alert_lines(model, area.width, usize::from(area.height));
    for (nth, line) in (0..).zip(lines) {
        let mut pen = Pen::new(buf, area, nth);
        for (words, style) in line {
            pen.shown(&Shown::ours(words), style);
        }
    }
}

/// Returns the warning about failing notify rules: others may rely on these notifications.
fn not_notified(model: &Model) -> Option<String> {
    let mut failing = model.dashboard.notices.failing();
    let (first, more) = (failing.next()?, failing.len());
    Some(if more == 0 { chrome::words::not_notified(first) } else { words::rules_cannot_notify(more + 1) })
}

fn quiet(model: &Model) -> String {
    let watch = &model.dashboard.watch;
    let muted = watch.board.alerts.iter().filter(|alert| watch.alarms.muted_until(alert).is_some()).count();
    let seen = watch.board.alerts.iter().filter(|alert| watch.alarms.is_quiet(alert)).count() - muted;
    let said = [(seen, "acknowledged"), (muted, "muted")];
    let said: Vec<String> =
        said.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    if said.is_empty() { String::new() } else { format!(" {}", said.join(", ")) }
}

fn together(model: &Model, kind: AlertKind, alerts: &[&Alert]) -> String {
    let targets = &model.settings.targets;
    let several = model.dashboard.watch.board.sources.len() > 1;
    match alerts {
        [only] if several => format!("{}: {}", only.source, figures::words::alert(kind, only.count, targets)),
        [only] => figures::words::alert(kind, only.count, targets),
        many => {
            let longest = many.iter().map(|alert| alert.count).max().unwrap_or_default();
            match kind {
                AlertKind::Down | AlertKind::Growing => {
                    format!("{} sources {}", many.len(), figures::words::alert(kind, longest, targets))
                }
                _ => figures::words::alert(kind, many.iter().map(|alert| alert.count).sum(), targets),
            }
        }
    }
}

/// Emphasizes alerts about lost or harmful actions over those about waiting ones.
const fn style(kind: AlertKind) -> Style {
    match kind {
        AlertKind::Down
        | AlertKind::RanOther
        | AlertKind::Failed
        | AlertKind::Unknown
        | AlertKind::HighRisk => theme::WARN,
        _ => theme::BOLD,
    }
}

pub(crate) fn list(model: &Model, layout: &WatchLayout, buf: &mut Buffer) {
    let (watch, rows) = (&model.dashboard.watch, layout.rows(Panel::Alerts));
    if watch.board.alerts.is_empty() {
        Pen::new(buf, rows, 0).ours(words::NO_ALERTS, theme::GOOD);
    }
    let width = longest_name(&watch.board);
    for (nth, line, here) in on_screen(model, layout, Panel::Alerts, buf) {
        let Some(alert) = watch.board.alerts.get(nth) else { continue };
        let (said, quiet) = standing(model, alert);
        let mut pen = row(model, rows, line, here, buf);
        let style = if quiet { theme::DIM } else { style(alert.kind) };
        pen.ours(if quiet { "  " } else { "! " }, style);
        pen.ours(&format!("{:<width$}  ", alert.source.as_str()), theme::PLAIN);
        pen.ours(&figures::words::alert(alert.kind, alert.count, &model.settings.targets), style);
        pen.right(&format!("{said} "), theme::DIM);
    }
}

fn standing(model: &Model, alert: &Alert) -> (String, bool) {
    let alarms = &model.dashboard.watch.alarms;
    let until = |until: Timestamp| words::muted_until(&moment(model, until));
    match (alarms.muted_until(alert), alarms.is_acknowledged(alert)) {
        (Some(at), _) => (until(at), true),
        (None, true) => ("acknowledged".to_owned(), true),
        (None, false) => (String::new(), false),
    }
}
