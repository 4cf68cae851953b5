//! The panels between: by tool, by age, by reviewer.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::inbox::figures::words;
use crate::text;
use crate::tui::layout::WatchLayout;
use crate::tui::model::{Model, Panel};
use crate::tui::theme;
use crate::tui::view::pen::Pen;

use super::figure::{number, right};
use super::{on_screen, row};

/// Columns at the right of a tool's name.
const TOOL: usize = 6 + 5 + 8;
const SHARES: usize = 7 + 8;

pub(super) fn tools(model: &Model, layout: &WatchLayout, buf: &mut Buffer) {
    let (text, rows, board) = (layout.text(Panel::Tools), layout.rows(Panel::Tools), &model.watch.board);
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
pub(super) fn ages(model: &Model, area: Rect, buf: &mut Buffer) {
    let ages = &model.watch.board.ages;
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
        pen.ours("  ", theme::PLAIN)
            .ours(&"#".repeat(usize::try_from(length).unwrap_or_default()), theme::DIM);
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
pub(super) fn reviewers(model: &Model, layout: &WatchLayout, buf: &mut Buffer) {
    let (text, rows, board) =
        (layout.text(Panel::Reviewers), layout.rows(Panel::Reviewers), &model.watch.board);
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
