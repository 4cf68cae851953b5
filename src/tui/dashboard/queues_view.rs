//! The queue table: the state and trend of every source and queue, and how reliable the numbers are.

use ratatui::buffer::Buffer;
use ratatui::style::Style;

use crate::config::Glyphs;
use crate::domain::{QueueState, Timestamp};
use crate::inbox::figures::cells::{self, Figure, Look};
use crate::inbox::figures::{self, Standing};
use crate::text::Shown;
use crate::tui::chrome::pen::{Pen, row};
use crate::tui::chrome::theme;
use crate::tui::core::model::Model;

use super::layout::WatchLayout;
use super::rows::{Row, on_screen};
use super::state::Panel;

/// Column widths; zero hides a column.
struct Columns {
    name: usize,
    verdict: usize,
    figures: &'static [Figure],
    spark: usize,
    source: usize,
}

/// Width of `31>88` next to a sparkline.
const ENDS: usize = 10;
const MOST: [Figure; 8] = [
    Figure::Pending,
    Figure::High,
    Figure::Oldest,
    Figure::InNow,
    Figure::InMean,
    Figure::OutNow,
    Figure::OutMean,
    Figure::Clears,
];
const FEW: [Figure; 5] = [Figure::Pending, Figure::High, Figure::Oldest, Figure::Over, Figure::Clears];
const LEAST: [Figure; 3] = [Figure::Pending, Figure::High, Figure::Oldest];

/// Width of `OVER TARGET?` with the gap before it.
const VERDICT: usize = 14;
/// Minimum width of a source's state, and the width of the longest one: `RETRY 12 s, data 71 s old`.
const SOURCE: usize = 12;
const SOURCE_IN_FULL: usize = 27;
const NAME: usize = 40;

fn columns(width: usize) -> Columns {
    let figures: &[Figure] = match width {
        ..56 => &LEAST,
        56..96 => &FEW,
        96..130 => &MOST,
        _ => &Figure::ALL,
    };
    let taken: usize = figures.iter().map(|figure| self::width(*figure) + 1).sum();
    let mut rest = width.saturating_sub(taken + 1);
    let mut take = |wanted: usize, least_left: usize| {
        let taken = if rest >= wanted + least_left { wanted } else { 0 };
        rest -= taken;
        taken
    };
    let verdict = take(VERDICT, 12);
    let source = take(SOURCE, 14);
    // A name of 20 columns comes before a sparkline, and the source's full state before a wider sparkline.
    let spark = take(2 + 12 + ENDS, 20);
    let more = take(SOURCE_IN_FULL - SOURCE, 20);
    let wide = take(18, 30);
    Columns { name: rest.min(NAME), verdict, figures, spark: spark + wide, source: source + more }
}

pub(crate) fn draw(model: &Model, layout: &WatchLayout, buf: &mut Buffer) {
    let (text, rows) = (layout.text(Panel::Queues), layout.rows(Panel::Queues));
    let columns = columns(usize::from(text.width));
    heading(model, &columns, &mut Pen::new(buf, text, 0));
    let all = model.dashboard.watch.rows();
    for (nth, line, here) in on_screen(model, layout, Panel::Queues, buf) {
        if let Some(of) = all.get(nth) {
            one(model, of, &columns, &mut row(model, rows, line, here, buf));
        }
    }
}

fn heading(model: &Model, columns: &Columns, pen: &mut Pen<'_>) {
    let start = pen.position().x;
    pen.ours(" queue", theme::DIM).to(start + 1 + columns.name as u16);
    if columns.verdict > 0 {
        let at = pen.position().x;
        pen.ours("  state", theme::DIM).to(at + columns.verdict as u16);
    }
    for figure in columns.figures {
        right(figure.heading(), width(*figure), theme::DIM, pen);
        pen.ours(" ", theme::PLAIN);
    }
    if columns.spark > 0 {
        let at = pen.position().x;
        pen.ours(
            &format!("  pending, {}", figures::words::window(model.dashboard.watch.board.window)),
            theme::DIM,
        );
        pen.to(at + columns.spark as u16);
    }
    if columns.source > 0 {
        pen.ours("  source", theme::DIM);
    }
}

fn one(model: &Model, of: &Row<'_>, columns: &Columns, pen: &mut Pen<'_>) {
    let (board, source, standing) = (&model.dashboard.watch.board, of.source(), of.standing());
    let old = !source.is_good();
    let trust = figures::words::state(source, board.at, model.settings.reduced_motion);
    match of {
        Row::Source(source) => {
            let style = if old { theme::DIM } else { theme::BOLD };
            pen.column(&Shown::ours(source.name.as_str()), columns.name, style);
        }
        Row::Queue(_, line) => {
            let style = if old { theme::DIM } else { theme::PLAIN };
            pen.ours("  ", theme::PLAIN).column(
                &cells::queue(&line.queue),
                columns.name.saturating_sub(2),
                style,
            );
        }
    }
    if columns.verdict > 0 {
        let at = pen.position().x;
        let (said, style) = verdict(standing, old);
        let trouble = matches!(of, Row::Source(_)) && columns.source == 0 && !trust.1;
        match trust.0.split(',').next() {
            // Without a source column, a problem takes the place of the verdict.
            Some(short) if trouble => pen.ours("  ", theme::PLAIN).ours(short, theme::WARN),
            _ => pen.ours("  ", theme::PLAIN).ours(&said, style),
        };
        pen.to(at + columns.verdict as u16);
    }
    for figure in columns.figures {
        draw_figure(*figure, standing, board.at, old, pen);
    }
    if columns.spark > 0 {
        let at = pen.position().x;
        let width = columns.spark.saturating_sub(2 + ENDS);
        let line = line(&standing.spark, width, model.settings.glyphs);
        pen.ours("  ", theme::PLAIN).ours(&line, if old { theme::DIM } else { theme::KEY });
        pen.to(at + (columns.spark - ENDS) as u16);
        right(&figures::words::ends(&standing.spark), ENDS, if old { theme::DIM } else { theme::PLAIN }, pen);
    }
    if columns.source > 0 && matches!(of, Row::Source(_)) {
        let (said, good) = trust;
        let style = if good { theme::GOOD } else { theme::WARN };
        // On a narrow screen the age of the data is left out.
        let short = said.split(',').next().unwrap_or_default();
        let fits = said.chars().count() + 2 <= columns.source.max(pen.left());
        pen.ours("  ", theme::PLAIN).ours(if fits { &said } else { short }, style);
    }
}

/// Width with the gap before it, without the column for a mark behind the number.
const fn width(figure: Figure) -> usize {
    match figure {
        Figure::High | Figure::Over => 5,
        Figure::Oldest | Figure::InNow | Figure::InMean => 7,
        Figure::Pending | Figure::OutNow | Figure::OutMean => 8,
        Figure::Clears => 10,
    }
}

/// Draws a number right-aligned; dim and with a `?` if its source is not heard.
fn draw_figure(figure: Figure, standing: &Standing, at: Timestamp, stale: bool, pen: &mut Pen<'_>) {
    let cell = figure.cell(standing, at);
    let (look, mark) = match cell.look {
        _ if stale => (theme::DIM, if cell.is_known() { "?" } else { " " }),
        Look::Nothing => (theme::DIM, " "),
        Look::Warn => (theme::WARN, if cell.is_late { "!" } else { " " }),
        Look::Plain => (theme::PLAIN, " "),
    };
    right(&cell.text, width(figure), look, pen);
    pen.ours(mark, look);
}

/// Returns the verdict, with a `?` if its source is not heard.
pub(crate) fn verdict(standing: &Standing, doubtful: bool) -> (String, Style) {
    let state = standing.state;
    let look = match state {
        _ if doubtful => theme::DIM,
        QueueState::OverTarget => theme::WARN,
        QueueState::Growing => theme::BOLD,
        QueueState::NoData | QueueState::Starting => theme::DIM,
        QueueState::Ok | QueueState::Clearing => theme::PLAIN,
    };
    (cells::verdict(standing, doubtful), look)
}

pub(crate) fn right(text: &str, width: usize, style: Style, pen: &mut Pen<'_>) {
    pen.ours(&" ".repeat(width.saturating_sub(text.chars().count())), theme::PLAIN).ours(text, style);
}

pub(crate) fn number(n: u64) -> (String, Style) {
    (n.to_string(), if n == 0 { theme::DIM } else { theme::PLAIN })
}

// Sparklines: blocks, not braille; digits in ASCII mode. The numbers are always shown next to them.

const BLOCKS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// Draws a sparkline of at most `width` columns. The lowest mark means zero, `.` no data yet, `?` a gap in the data.
pub(crate) fn line(values: &[Option<u64>], width: usize, glyphs: Glyphs) -> String {
    let marks: &[&str] = if glyphs == Glyphs::Ascii { &DIGITS } else { &BLOCKS };
    let values = fit(values, width);
    let most = values.iter().flatten().max().copied().unwrap_or_default();
    let mut watched = false;
    let mark = |value: &Option<u64>| match value {
        None if watched => "?",
        None => ".",
        Some(value) => {
            watched = true;
            let steps = marks.len() as u64 - 1;
            let step =
                if most == 0 { 0 } else { (u128::from(*value) * u128::from(steps)).div_ceil(most.into()) };
            usize::try_from(step).ok().and_then(|step| marks.get(step)).copied().unwrap_or("?")
        }
    };
    values.iter().map(mark).collect()
}

/// Reduces values to at most `width`; of several, the last known one is kept.
fn fit(values: &[Option<u64>], width: usize) -> Vec<Option<u64>> {
    if values.len() <= width {
        return values.to_vec();
    }
    let parts = (0..width).map(|nth| nth * values.len() / width..(nth + 1) * values.len() / width);
    parts.map(|part| values.get(part)?.iter().flatten().next_back().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Vec<Option<u64>> {
        values.iter().map(|value| Some(*value)).collect()
    }

    #[test]
    fn sparkline_marks_scale_from_zero_to_maximum() {
        assert_eq!(line(&of(&[0, 1, 50, 100]), 9, Glyphs::Unicode), "▁▂▅█");
        assert_eq!(line(&of(&[0, 1, 50, 100]), 9, Glyphs::Ascii), "0159");
        assert_eq!(line(&of(&[0, 0]), 9, Glyphs::Unicode), "▁▁");
        assert_eq!(line(&of(&[u64::MAX, 0]), 9, Glyphs::Unicode), "█▁");
    }

    #[test]
    fn sparkline_shows_gaps_without_marks() {
        let values = [None, None, Some(1), None, Some(2)];
        assert_eq!(line(&values, 9, Glyphs::Ascii), "..5?9");
        assert_eq!(line(&[], 9, Glyphs::Ascii), "");
    }

    #[test]
    fn wide_sparkline_keeps_the_last_of_each_part() {
        let values = of(&[9, 1, 9, 2, 9, 3]);
        assert_eq!(line(&values, 3, Glyphs::Ascii), "369", "the last of each");
        assert_eq!(line(&values, 0, Glyphs::Ascii), "");
    }
}
