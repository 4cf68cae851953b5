//! Draws the watch view.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr as _;

use crate::domain::Look;
use crate::inbox::figures::{self, cells};
use crate::text::{self, Shown};
use crate::tui::chrome;
use crate::tui::chrome::pen::{Pen, row, rule};
use crate::tui::chrome::words::clock;
use crate::tui::chrome::{pen, status, theme};
use crate::tui::core::command::Command;
use crate::tui::core::layout::Layout;
use crate::tui::core::model::Model;
use crate::tui::dashboard::words;

use super::layout::{WatchLayout, WatchShape};
use super::panels::layout_in;
use super::queues_view::{number, right};
use super::rows::on_screen;
use super::state::{Panel, Watch};
use super::{chart, events_view, queues_view};

pub(crate) fn draw(model: &Model, base: &Layout, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let layout = layout_in(model, area);
    draw_header(model, layout.header, buf);
    for (panel, pane) in &layout.panes {
        title(model, &layout, *panel, *pane, buf);
        let text = layout.text(*panel);
        match panel {
            Panel::Queues => queues_view::draw(model, &layout, buf),
            Panel::Tools => tools(model, &layout, buf),
            Panel::Ages => ages(model, text, buf),
            Panel::Reviewers => reviewers(model, &layout, buf),
            Panel::Chart => chart::draw(model, text, buf),
            Panel::Events => events_view::draw(model, &layout, buf),
            Panel::Alerts => events_view::list(model, &layout, buf),
        }
    }
    events_view::draw_alerts(model, layout.alerts, buf);
    status::draw_hints(model, base, buf);
    if model.screen.message.is_some() {
        status::message(model, base.status, buf);
    } else {
        outcomes(model, layout.outcomes, buf);
    }
    cursor(model, &layout)
}

fn title(model: &Model, layout: &WatchLayout, panel: Panel, pane: Rect, buf: &mut Buffer) {
    if layout.text(panel).y <= pane.y {
        return;
    }
    let alone = layout.shape == WatchShape::Table;
    let focused = alone || model.dashboard.watch.focus() == panel;
    let name = name(&model.dashboard.watch, panel);
    let line = Rect { height: 1, ..pane };
    rule(model, line, buf);
    let inside = Rect { x: line.x + 2, width: line.width.saturating_sub(4), ..line };
    let style = if focused { theme::BOLD } else { theme::DIM };
    let note = format!(" {} ", note(model, layout, panel));
    let name = name.cut(usize::from(inside.width).saturating_sub(2));
    Pen::new(buf, inside, 0).ours(" ", style).shown(&name, style).ours(" ", style);
    if name.width() + note.width() + 6 <= usize::from(inside.width) && note.width() > 2 {
        Pen::new(buf, inside, 0).right(&note, theme::DIM);
    }
}

fn name(watch: &Watch, panel: Panel) -> Shown {
    let frozen = if watch.frozen.is_some() { " (frozen)" } else { "" };
    let window = figures::words::window(watch.window);
    let truncated = watch.board.sources.iter().any(|source| source.truncated);
    let part = if truncated { words::NOT_ALL } else { "" };
    let name = match panel {
        Panel::Queues => format!("Queues, {}", watch.sort.word()),
        Panel::Chart => {
            return chart::name(watch).followed_by(Shown::ours(format!(", {window}{frozen}")));
        }
        Panel::Tools => format!("By tool, {window}{part}"),
        Panel::Ages => "By age".to_owned(),
        Panel::Reviewers => format!("By reviewer, {window}{part}"),
        Panel::Events => words::EVENTS.to_owned(),
        Panel::Alerts => "Alerts".to_owned(),
    };
    Shown::ours(format!("{name}{frozen}"))
}

fn note(model: &Model, layout: &WatchLayout, panel: Panel) -> String {
    let keys = &model.settings.keymap;
    let watch = &model.dashboard.watch;
    let next = (layout.shape != WatchShape::All).then(|| words::next_panel(&keys.key(Command::WatchPanel)));
    if watch.focus() != panel {
        return String::new();
    }
    let rows = watch.len(panel);
    let at = (panel.has_rows() && rows > 0).then(|| format!("{} of {rows}", watch.at(panel) + 1));
    [at, next].into_iter().flatten().collect::<Vec<_>>().join("   ")
}

/// Returns the cursor's position for screen readers: its row, or the start of the panel.
fn cursor(model: &Model, layout: &WatchLayout) -> Option<Position> {
    let focus = model.dashboard.watch.focus();
    let (rows, text) = (layout.rows(focus), layout.text(focus));
    let nth = model.dashboard.watch.at(focus).checked_sub(model.dashboard.watch.top(focus))?;
    let nth = u16::try_from(nth).ok()?;
    if model.dashboard.watch.len(focus) > 0 && nth < rows.height {
        return Some(Position::new(rows.x, rows.y + nth));
    }
    (!text.is_empty()).then(|| Position::new(text.x, text.y))
}

/// Draws the header: counts, problems, the time. Normal states are left out.
fn draw_header(model: &Model, area: Rect, buf: &mut Buffer) {
    let mut pen = Pen::new(buf, area, 0).base(theme::RAISED);
    let now = clock(model, model.now);
    let trouble = trouble(model);
    let end = format!("   {} ", now.get(..5).unwrap_or_default());
    pen.ours(words::PLACET_WATCH, pen::bold(theme::KEY)).ours("  ", theme::PLAIN);
    let room = pen.left().saturating_sub(end.len() + trouble.width());
    pen.before(pen.left() - room, |pen| {
        let dot = theme::dot(model.settings.glyphs);
        for (nth, (words, style)) in counts(model).iter().enumerate() {
            let gap = if nth == 0 { "" } else { dot };
            // Counts that do not fit are left out from the end.
            if gap.width() + words.width() > pen.left() && nth > 0 {
                break;
            }
            pen.ours(gap, theme::DIM).ours(words, *style);
        }
    });
    pen.ours(&trouble, theme::WARN).ours(&end, theme::DIM);
}

fn counts(model: &Model) -> Vec<(String, Style)> {
    let board = &model.dashboard.watch.board;
    let total = &board.total;
    let old = board.sources.iter().any(|source| !source.is_good());
    let none = board.sources.iter().all(|source| source.heard.is_none());
    let pending = match (none, old) {
        (true, _) => "? pending".to_owned(),
        (false, old) => format!("{}{} pending", total.pending, if old { "?" } else { "" }),
    };
    let mut said = vec![(pending, if old { theme::WARN } else { theme::BOLD })];
    let mut some = |n: u64, words: &str, style| {
        if n > 0 {
            said.push((format!("{n} {words}"), style));
        }
    };
    some(total.unknown, words::WITH_UNKNOWN_OUTCOME, theme::role(Look::UNKNOWN.role));
    some(total.high, "high", theme::WARN);
    some(
        total.over_target,
        &format!("over {}", figures::words::target(&model.settings.targets)),
        theme::WARN,
    );
    if let Some(oldest) = total.oldest {
        said.push((format!("oldest {}", figures::words::age(oldest, board.at)), theme::PLAIN));
    }
    said
}

/// Returns why the numbers may be wrong.
fn trouble(model: &Model) -> String {
    let (watch, board) = (&model.dashboard.watch, &model.dashboard.watch.board);
    let mut said = Vec::new();
    if let Some(since) = watch.frozen {
        said.push(format!("FROZEN since {}", clock(model, since)));
    }
    let well = board.sources.iter().filter(|source| figures::words::state(source, board.at, true).1).count();
    let all = board.sources.len();
    if well < all && all > 1 {
        said.push(words::sources_ok(well, all));
    }
    let stale = board.sources.iter().filter(|source| source.stale);
    let oldest = stale.filter_map(|source| Some((source.heard?, &source.name))).min();
    if let Some((heard, source)) = oldest {
        // Relative to the board's time, so that frozen numbers do not seem to age.
        let millis = board.at.since(heard).max(0);
        let age = match millis {
            ..120_000 if !model.settings.reduced_motion => format!("{} s", millis / 10_000 * 10),
            _ => figures::words::span(millis),
        };
        said.push(words::data_old(source, &age));
    }
    said.join(theme::dot(model.settings.glyphs))
}

/// Draws `60 min: 33 approved (4 edited) · 7 excluded · 33 ran · 3 failed after approval`.
fn outcomes(model: &Model, area: Rect, buf: &mut Buffer) {
    let board = &model.dashboard.watch.board;
    let of = &board.outcomes;
    let edited =
        if board.edits_told && of.edited > 0 { format!(" ({} edited)", of.edited) } else { String::new() };
    let said = [
        (of.failed, words::failed(of.failed), theme::role(Look::FAILED.role)),
        (of.unknown, chrome::words::with_unknown_outcome(&of.unknown), theme::role(Look::UNKNOWN.role)),
        (of.approved, format!("{} approved{edited}", of.approved), theme::PLAIN),
        (of.rejected, format!("{} excluded", of.rejected), theme::PLAIN),
        (of.executed, format!("{} ran", of.executed), theme::PLAIN),
        (of.left, words::left(of.left), theme::PLAIN),
    ];
    let mut pen = Pen::new(buf, area, 0);
    pen.ours(&format!(" Last {}: ", figures::words::window(board.window)), theme::DIM);
    let mut first = true;
    for (_, words, style) in said.iter().filter(|(n, ..)| *n > 0) {
        let gap = if first { "" } else { theme::dot(model.settings.glyphs) };
        if gap.width() + words.width() <= pen.left() {
            pen.ours(gap, theme::DIM).ours(words, *style);
            first = false;
        }
    }
    if first {
        pen.ours(words::NOTHING_DECIDED, theme::DIM);
    }
}

const TOOL: usize = 8 + 5 + 8;
const SHARES: usize = 7 + 8;

pub(crate) fn tools(model: &Model, layout: &WatchLayout, buf: &mut Buffer) {
    let (text, rows, board) =
        (layout.text(Panel::Tools), layout.rows(Panel::Tools), &model.dashboard.watch.board);
    let shares = usize::from(text.width) >= 16 + TOOL + SHARES;
    let name = usize::from(text.width).saturating_sub(1 + TOOL + if shares { SHARES } else { 0 }).min(48);
    let mut pen = Pen::new(buf, text, 0);
    pen.ours(" tool", theme::DIM).to(text.x.saturating_add(1 + name as u16));
    for (heading, width) in [("pending", 8), ("high", 5), ("oldest", 8)] {
        right(heading, width, theme::DIM, &mut pen);
    }
    if shares {
        right("appr%", 7, theme::DIM, &mut pen);
        right("edited%", 8, theme::DIM, &mut pen);
    }
    if board.tools.is_empty() {
        Pen::new(buf, rows, 0).ours(words::NOTHING_IS_PENDING, theme::DIM);
    }
    for (nth, line, here) in on_screen(model, layout, Panel::Tools, buf) {
        let Some(tool) = board.tools.get(nth) else { continue };
        let mut pen = row(model, rows, line, here, buf);
        pen.column(&text::identifier(&tool.tool), name, theme::PLAIN);
        let (pending, style) = number(tool.pending);
        right(&pending, 8, style, &mut pen);
        right(&tool.high.to_string(), 5, if tool.high > 0 { theme::WARN } else { theme::DIM }, &mut pen);
        let oldest = tool.oldest.map_or_else(|| "-".to_owned(), |at| figures::words::age(at, board.at));
        right(&oldest, 8, theme::PLAIN, &mut pen);
        if shares {
            let decided = tool.decided.as_ref();
            let share = |part: Option<u64>, all: u64| match part {
                Some(part) if all > 0 => format!("{}%", (part * 100 + all / 2) / all),
                _ => "-".to_owned(),
            };
            let approved = decided.map(|of| of.approved);
            let all = decided.map_or(0, |of| of.approved + of.rejected);
            right(&share(approved, all), 7, theme::PLAIN, &mut pen);
            let edited = decided.and_then(|of| of.edited);
            right(&share(edited, approved.unwrap_or_default()), 8, theme::PLAIN, &mut pen);
        }
    }
}

/// Draws the ages as bars with numbers, compared with the target.
pub(crate) fn ages(model: &Model, area: Rect, buf: &mut Buffer) {
    let ages = &model.dashboard.watch.board.ages;
    Pen::new(buf, area, 0).ours(words::AGE_HEAD, theme::DIM);
    let most = ages.counts.iter().copied().max().unwrap_or_default();
    let names = ["< 5 m", "5-15 m", "15-60 m", "1-4 h", "> 4 h"];
    for (nth, (name, count)) in names.iter().zip(ages.counts).enumerate() {
        let mut pen = Pen::new(buf, area, nth as u16 + 1);
        let (said, style) = number(count);
        pen.ours(&format!(" {name:<9}"), theme::PLAIN);
        right(&said, 8, style, &mut pen);
        let room = pen.left().saturating_sub(2).min(40) as u64;
        let length = if most == 0 { 0 } else { (count * room).div_ceil(most) };
        pen.ours("  ", theme::PLAIN).ours(
            &theme::filled(model.settings.glyphs).repeat(usize::try_from(length).unwrap_or_default()),
            theme::DIM,
        );
    }
    let said = |span: Option<i64>| span.map_or_else(|| "-".to_owned(), figures::words::span);
    let target = figures::words::target(&model.settings.targets);
    let row = if area.height > 7 { 7 } else { 6 };
    let mut pen = Pen::new(buf, area, row);
    pen.ours(&format!(" median {}  p90 {}", said(ages.median), said(ages.p90)), theme::PLAIN);
    if ages.over_target > 0 {
        pen.ours(&format!("  {} over {target}", ages.over_target), theme::WARN);
    }
}

pub(crate) fn reviewers(model: &Model, layout: &WatchLayout, buf: &mut Buffer) {
    let (text, rows, board) =
        (layout.text(Panel::Reviewers), layout.rows(Panel::Reviewers), &model.dashboard.watch.board);
    let lines = board.decided_by().unwrap_or_default();
    if lines.is_empty() {
        Pen::new(buf, text, 0).ours(words::NOBODY_TOLD, theme::DIM);
        return;
    }
    let taken: usize = cells::DECIDED.iter().map(|(_, width)| width).sum();
    let name = usize::from(text.width).saturating_sub(1 + taken).min(40);
    let mut pen = Pen::new(buf, text, 0);
    pen.ours(words::DECIDED_BY, theme::DIM).to(text.x.saturating_add(1 + name as u16));
    for (heading, width) in cells::DECIDED {
        right(heading, width, theme::DIM, &mut pen);
    }
    for (nth, line, here) in on_screen(model, layout, Panel::Reviewers, buf) {
        let Some(of) = lines.get(nth) else { continue };
        let mut pen = row(model, rows, line, here, buf);
        let called = match of {
            figures::DecidedBy::Reviewer(line) => model.people.called_anywhere(&line.decider.name, name),
            figures::DecidedBy::Group(_) => cells::decided_by(*of),
        };
        pen.column(&called, name, theme::PLAIN);
        for (cell, (_, width)) in cells::decided(&of.line().decider).iter().zip(cells::DECIDED) {
            right(cell, width, theme::PLAIN, &mut pen);
        }
    }
}
