//! Draws the watch view: the figures of the board, in as many panels as there is room for.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::{Clear, Widget as _};

use crate::domain::{Minute, Rate};
use crate::inbox::figures::words;
use crate::text;
use crate::tui::chrome::pen::{Pen, rule};
use crate::tui::chrome::words::clock;
use crate::tui::chrome::{status, theme};
use crate::tui::core::command::Command;
use crate::tui::core::layout::Layout;
use crate::tui::core::model::Model;

use super::layout::{WatchLayout, WatchShape};
use super::queues_view::{Of, number, right};
use super::rows::{on_screen, row};
use super::state::{Panel, Watch};
use super::{events_view, queues_view};

/// Returns the row under the cursor.
pub(crate) fn draw(model: &Model, base: &Layout, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let layout = model.watch_layout_in(area);
    draw_header(model, &layout, buf);
    for (panel, pane) in &layout.panes {
        title(model, &layout, *panel, *pane, buf);
        let text = layout.text(*panel);
        match panel {
            Panel::Queues => queues_view::draw(model, &layout, buf),
            Panel::Tools => tools(model, &layout, buf),
            Panel::Ages => ages(model, text, buf),
            Panel::Reviewers => reviewers(model, &layout, buf),
            Panel::Rates => draw_rates(model, text, buf),
            Panel::Events => events_view::draw(model, &layout, buf),
            Panel::Alerts => events_view::list(model, &layout, buf),
        }
    }
    rule(model, layout.rule, buf);
    events_view::line(model, &layout, buf);
    status::draw_hints(model, base, buf);
    if model.screen.message.is_some() {
        Clear.render(base.status, buf);
        status::message(model, base.status, buf);
    }
    cursor(model, &layout)
}

/// A line above it with its name; bold where keys go.
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
    Pen::new(buf, inside, 0).ours(&format!(" {name} "), style);
    let note = format!(" {} ", note(model, layout, panel));
    if name.len() + note.len() + 4 <= usize::from(inside.width) && note.len() > 2 {
        Pen::new(buf, inside, 0).right(&note, theme::DIM);
    }
}

fn name(watch: &Watch, panel: Panel) -> String {
    let frozen = if watch.frozen.is_some() { " (frozen)" } else { "" };
    let window = watch.window;
    let truncated = watch.board.sources.iter().any(|source| source.truncated);
    let part = if truncated { ", not all" } else { "" };
    let name = match panel {
        Panel::Queues => format!("Queues, {}", watch.sort.word()),
        Panel::Tools => format!("By tool, {window} min{part}"),
        Panel::Ages => "By age".to_owned(),
        Panel::Reviewers => format!("By reviewer, {window} min{part}"),
        Panel::Rates => format!("Rates and outcomes, {window} min"),
        Panel::Events => "Events, newest first".to_owned(),
        Panel::Alerts => "Alerts".to_owned(),
    };
    format!("{name}{frozen}")
}

/// Which keys do what in the panel that keys are for.
fn note(model: &Model, layout: &WatchLayout, panel: Panel) -> String {
    let keys = &model.settings.keymap;
    let watch = &model.dashboard.watch;
    let next =
        (layout.shape != WatchShape::All).then(|| format!("{} next panel", keys.key(Command::WatchPanel)));
    if watch.focus() != panel {
        return String::new();
    }
    let rows = watch.len(panel);
    let at = (panel.has_rows() && rows > 0).then(|| format!("{} of {rows}", watch.at(panel) + 1));
    [at, next].into_iter().flatten().collect::<Vec<_>>().join("   ")
}

/// Where screen readers and input methods look: the row, or where the panel begins.
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

// The head of the watch view: how much waits, and whether these numbers can be believed.

pub(crate) fn draw_header(model: &Model, layout: &WatchLayout, buf: &mut Buffer) {
    let area = layout.header;
    let one = area.height < 2;
    let wide = area.width >= 140;
    let trust = trust(model, wide || !one);
    let mut pen = Pen::new(buf, area, 0);
    let now = clock(model, model.now);
    let now = now.get(..5).unwrap_or_default();
    let right: usize = if wide || one { width(&trust) } else { 0 };
    pen.shorten(now.len() + 1);
    let room = pen.left().saturating_sub(right);
    // What there is no room for is left out from the end.
    let mut used = 0;
    for (words, style) in counts(model, area.width) {
        if used + words.len() > room && used > 0 {
            break;
        }
        used += words.len();
        pen.ours(&words, style);
    }
    if wide || one {
        pen.keep(right);
        write(&trust, &mut pen);
    }
    Pen::new(buf, area, 0).right(&format!("{now} "), theme::PLAIN);
    if one || wide {
        return;
    }
    let mut pen = Pen::new(buf, area, 1);
    write(&trust, &mut pen);
}

type Cells = Vec<(String, Style)>;

fn write(said: &[(String, Style)], pen: &mut Pen<'_>) {
    for (words, style) in said {
        pen.ours(words, *style);
    }
}

fn width(said: &[(String, Style)]) -> usize {
    said.iter().map(|(words, _)| words.len()).sum()
}

/// How much waits; what matters most is first.
fn counts(model: &Model, width: u16) -> Cells {
    let board = &model.dashboard.watch.board;
    let total = &board.total;
    let (gap, long) = if width >= 90 { ("   ", true) } else { ("  ", false) };
    let old = board.sources.iter().any(|source| !source.is_good());
    let mark = if old { "?" } else { "" };
    let warn = |n: u64| if n > 0 { theme::WARN } else { theme::PLAIN };
    let none = board.sources.iter().all(|source| source.heard.is_none());
    let pending = if none { "?".to_owned() } else { format!("{}{mark}", total.pending) };
    let mut said = vec![(if width >= 60 { " placet watch" } else { " watch" }.to_owned(), theme::BOLD)];
    let well = board.sources.iter().filter(|source| words::state(source, board.at, true).1).count();
    let all = board.sources.len();
    let sources = match (well == all, all) {
        (true, 1) => "1 source".to_owned(),
        (true, all) => format!("{all} sources"),
        (false, all) => format!("{well}/{all} sources ok"),
    };
    if long {
        said.push((format!("{gap}{sources}"), if well == all { theme::PLAIN } else { theme::WARN }));
    }
    let style = if old { theme::WARN } else { theme::BOLD };
    said.push((
        if long { format!("{gap}pending {pending}") } else { format!("{gap}{pending} pending") },
        style,
    ));
    let high = if width >= 120 { "high-risk" } else { "high" };
    said.push((
        if long { format!("{gap}{high} {}", total.high) } else { format!("{gap}{} high", total.high) },
        warn(total.high),
    ));
    if total.unknown > 0 {
        said.push((format!("{gap}{} UNKNOWN", total.unknown), theme::WARN));
    }
    let oldest = total.oldest.map_or_else(|| "-".to_owned(), |at| words::age(at, board.at));
    let over = if total.over_target > 0 { "!" } else { "" };
    said.push((format!("{gap}oldest {oldest}{over}"), warn(total.over_target)));
    let target = words::target(&model.settings.targets);
    said.push((format!("{gap}{} over {target}", total.over_target), warn(total.over_target)));
    said
}

/// Whether it can be believed, and what it covers.
fn trust(model: &Model, long: bool) -> Cells {
    let (watch, board) = (&model.dashboard.watch, &model.dashboard.watch.board);
    let mut said: Cells = Vec::new();
    if let Some(since) = watch.frozen {
        said.push((format!(" FROZEN since {}  ", clock(model, since)), theme::WARN));
    }
    if long {
        said.push((" read-only".to_owned(), theme::DIM));
        let refresh = if model.settings.reduced_motion { 10 } else { 2 };
        said.push((format!("   refresh {refresh} s   window {} min", board.window), theme::DIM));
    } else {
        said.push((format!(" {} min", board.window), theme::DIM));
    }
    let stale = board.sources.iter().any(|source| source.stale);
    if !long && stale {
        // What it covers gives way to how old it is.
        said.pop();
    }
    let oldest =
        board.sources.iter().filter_map(|source| Some((source.heard?, source))).min_by_key(|(at, _)| *at);
    if let Some((heard, source)) = oldest.filter(|_| long || stale) {
        // By the board's time: frozen numbers grow no older on it, the word above says that they are.
        let millis = board.at.since(heard).max(0);
        let age = if millis < 10_000 {
            "<10 s".to_owned()
        } else if model.settings.reduced_motion || millis >= 120_000 {
            words::span(millis)
        } else {
            format!("{} s", millis / 10_000 * 10)
        };
        let (text, look) = match source.stale {
            true if long => (format!("   data {age} old ({})", source.name), theme::WARN),
            true => (format!(" data {age} old"), theme::WARN),
            false => (format!("   data {age} old"), theme::DIM),
        };
        said.push((text, look));
    }
    said.push(("  ".to_owned(), theme::PLAIN));
    said
}

// How fast actions come and go, and what became of them.

pub(crate) fn draw_rates(model: &Model, area: Rect, buf: &mut Buffer) {
    let board = &model.dashboard.watch.board;
    let (rate, last) = (board.total.rate, board.total.last);
    let arrived = [words::last(last, |last| last.arrived), words::mean(rate, Rate::arrivals)];
    let resolved = [words::last(last, |last| last.resolved), words::mean(rate, Rate::resolves)];
    flow(model, &board.arrivals, &arrived, "arrivals/min", &mut Pen::new(buf, area, 0));
    flow(model, &board.resolves, &resolved, "resolved/min", &mut Pen::new(buf, area, 1));
    outcomes(
        model,
        Rect { y: area.y + 2.min(area.height), height: area.height.saturating_sub(2), ..area },
        buf,
    );
}

/// `arrivals/min  peak 22.0 at 14:05  ▁▂▃  now 3  15m 3.1`
fn flow(model: &Model, values: &[Option<u64>], [now, mean]: &[String; 2], name: &str, pen: &mut Pen<'_>) {
    let board = &model.dashboard.watch.board;
    let minutes = u64::from(board.window).div_ceil(values.len().max(1) as u64).max(1);
    let most = values.iter().enumerate().filter_map(|(nth, value)| Some(((*value)?, nth))).max();
    let peak = match most {
        Some((most, nth)) if most > 0 => {
            let back = (values.len() - 1 - nth) as i64 * minutes.cast_signed() * Minute::MILLIS;
            let at = clock(model, board.at.plus_millis(-back));
            format!("peak {} at {}", words::tenths(most * 10 / minutes), at.get(..5).unwrap_or_default())
        }
        Some(_) => "peak 0.0".to_owned(),
        None => "not watched yet".to_owned(),
    };
    let end = format!("  now {now:>4}  15m {mean:>5}");
    pen.ours(&format!(" {name:<14}"), theme::PLAIN).ours(&format!("{peak:<20}"), theme::DIM);
    let room = pen.left().saturating_sub(end.len() + 1).min(values.len());
    pen.ours(&queues_view::line(values, Of::Flow, room, model.settings.glyphs), theme::KEY);
    pen.ours(&end, theme::BOLD);
}

/// As many as fit in each line.
fn outcomes(model: &Model, area: Rect, buf: &mut Buffer) {
    let board = &model.dashboard.watch.board;
    let of = &board.outcomes;
    let edited = if board.edits_told { format!(" ({} edited)", of.edited) } else { String::new() };
    let bad = |n: u64| if n > 0 { theme::WARN } else { theme::PLAIN };
    let mark = |n: u64| if n > 0 { "!" } else { "" };
    let said = [
        (format!("approved {}{edited}", of.approved), theme::PLAIN),
        (format!("excluded {}", of.rejected), theme::PLAIN),
        (format!("left undecided {}", of.left), theme::PLAIN),
        (format!("executed {}", of.executed), theme::PLAIN),
        (format!("failed after approval {}{}", of.failed, mark(of.failed)), bad(of.failed)),
        (format!("unknown {}{}", of.unknown, mark(of.unknown)), bad(of.unknown)),
    ];
    let mut line = 0;
    let mut pen = Pen::new(buf, area, line);
    pen.ours(&format!(" {:<14}", "outcomes"), theme::PLAIN);
    for (words, style) in &said {
        if pen.left() < words.len() + 2 && line + 1 < area.height {
            line += 1;
            pen = Pen::new(buf, area, line);
            pen.ours(&" ".repeat(15), theme::PLAIN);
        }
        pen.ours(words, *style).ours("   ", theme::PLAIN);
    }
}

// The panels between: by tool, by age, by reviewer.

/// Columns at the right of a tool's name.
const TOOL: usize = 6 + 5 + 8;
const SHARES: usize = 7 + 8;

pub(crate) fn tools(model: &Model, layout: &WatchLayout, buf: &mut Buffer) {
    let (text, rows, board) =
        (layout.text(Panel::Tools), layout.rows(Panel::Tools), &model.dashboard.watch.board);
    let shares = usize::from(text.width) >= 16 + TOOL + SHARES;
    let name = usize::from(text.width).saturating_sub(1 + TOOL + if shares { SHARES } else { 0 }).min(48);
    let mut pen = Pen::new(buf, text, 0);
    pen.ours(" tool", theme::DIM).to(text.x.saturating_add(1 + name as u16));
    for (heading, width) in [("pend", 6), ("high", 5), ("oldest", 8)] {
        right(heading, width, theme::DIM, &mut pen);
    }
    if shares {
        right("appr%", 7, theme::DIM, &mut pen);
        right("edited%", 8, theme::DIM, &mut pen);
    }
    if board.tools.is_empty() {
        Pen::new(buf, rows, 0).ours(" nothing is pending", theme::DIM);
    }
    for (nth, line, here) in on_screen(model, layout, Panel::Tools, buf) {
        let Some(tool) = board.tools.get(nth) else { continue };
        let mut pen = row(rows, line, here, buf);
        pen.column(&text::identifier(&tool.tool), name, theme::PLAIN);
        let (pending, style) = number(tool.pending);
        right(&pending, 6, style, &mut pen);
        right(&tool.high.to_string(), 5, if tool.high > 0 { theme::WARN } else { theme::DIM }, &mut pen);
        let oldest = tool.oldest.map_or_else(|| "-".to_owned(), |at| words::age(at, board.at));
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

/// Against the target: bars with their numbers.
pub(crate) fn ages(model: &Model, area: Rect, buf: &mut Buffer) {
    let ages = &model.dashboard.watch.board.ages;
    Pen::new(buf, area, 0).ours(" age       pending", theme::DIM);
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
    let said = |span: Option<i64>| span.map_or_else(|| "-".to_owned(), words::span);
    let target = words::target(&model.settings.targets);
    let row = if area.height > 7 { 7 } else { 6 };
    let mut pen = Pen::new(buf, area, row);
    pen.ours(&format!(" median {}  p90 {}", said(ages.median), said(ages.p90)), theme::PLAIN);
    let over = format!("  {} over {target}", ages.over_target);
    pen.ours(&over, if ages.over_target > 0 { theme::WARN } else { theme::DIM });
}

/// Who decided, where that is switched on and told.
pub(crate) fn reviewers(model: &Model, layout: &WatchLayout, buf: &mut Buffer) {
    let (text, rows, board) =
        (layout.text(Panel::Reviewers), layout.rows(Panel::Reviewers), &model.dashboard.watch.board);
    let said: &[&str] = match &board.reviewers {
        None => &[
            " Off, so that nobody is measured unasked.",
            " [watch] reviewers = true in the configuration",
            " shows who decided, where a source tells it.",
        ],
        Some(lines) if lines.is_empty() => &[" No source here told who decided."],
        Some(_) => &[],
    };
    if !said.is_empty() {
        for (nth, line) in (0..).zip(said) {
            Pen::new(buf, text, nth).ours(line, theme::DIM);
        }
        return;
    }
    let numbers = [("all", 5), ("appr", 6), ("excl", 6), ("edit", 6), ("median", 8)];
    let taken: usize = numbers.iter().map(|(_, width)| width).sum();
    let name = usize::from(text.width).saturating_sub(1 + taken).min(40);
    let mut pen = Pen::new(buf, text, 0);
    pen.ours(" reviewer", theme::DIM).to(text.x.saturating_add(1 + name as u16));
    for (heading, width) in numbers {
        right(heading, width, theme::DIM, &mut pen);
    }
    let lines = board.reviewers.as_deref().unwrap_or_default();
    for (nth, line, here) in on_screen(model, layout, Panel::Reviewers, buf) {
        let Some(of) = lines.get(nth).map(|line| &line.decider) else { continue };
        let mut pen = row(rows, line, here, buf);
        pen.column(&text::name(&of.name), name, theme::PLAIN);
        let edited = of.edited.map_or_else(|| "-".to_owned(), |edited| edited.to_string());
        let cells = [
            (of.approved + of.rejected).to_string(),
            of.approved.to_string(),
            of.rejected.to_string(),
            edited,
            waited(of.median_wait),
        ];
        for (cell, (_, width)) in cells.iter().zip(numbers) {
            right(cell, width, theme::PLAIN, &mut pen);
        }
    }
}

/// `14 s`, or minutes and more.
fn waited(millis: i64) -> String {
    if millis < 60_000 { format!("{} s", millis.max(0) / 1_000) } else { words::span(millis) }
}
