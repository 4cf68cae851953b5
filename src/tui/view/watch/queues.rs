//! The first table: how every source and each of its queues stands, where it is going, and whether that can be believed.

use ratatui::buffer::Buffer;

use crate::domain::Queue;
use crate::inbox::figures::words;
use crate::text::{self, Shown};
use crate::tui::layout::WatchLayout;
use crate::tui::model::{Model, Panel, Row};
use crate::tui::theme;
use crate::tui::view::pen::Pen;

use super::figure::{Figure, right, verdict};
use super::spark::{self, Of};
use super::{on_screen, row};

/// Widths of the columns; a zero hides one.
struct Columns {
    name: usize,
    /// The verdict.
    verdict: usize,
    figures: &'static [Figure],
    spark: usize,
    /// Whether the source's numbers can be trusted.
    source: usize,
}

/// `31>88` beside a sparkline.
const ENDS: usize = 10;
const ALL: [Figure; 9] = [
    Figure::Pending,
    Figure::High,
    Figure::Oldest,
    Figure::Over,
    Figure::InNow,
    Figure::InMean,
    Figure::OutNow,
    Figure::OutMean,
    Figure::Clears,
];
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
const FEW: [Figure; 4] = [Figure::Pending, Figure::High, Figure::Oldest, Figure::Clears];
const LEAST: [Figure; 3] = [Figure::Pending, Figure::High, Figure::Oldest];

/// `OVER TARGET?`, with the gap before.
const VERDICT: usize = 14;
/// The least that the state of a source needs, and what it says at most: `RETRY 12 s, data 71 s old`.
const SOURCE: usize = 12;
const SOURCE_IN_FULL: usize = 27;
const NAME: usize = 40;

fn columns(width: usize) -> Columns {
    let figures: &[Figure] = match width {
        ..56 => &LEAST,
        56..96 => &FEW,
        96..130 => &MOST,
        _ => &ALL,
    };
    let taken: usize = figures.iter().map(|figure| figure.width() + 1).sum();
    let mut rest = width.saturating_sub(taken + 1);
    let mut take = |wanted: usize, least_left: usize| {
        let taken = if rest >= wanted + least_left { wanted } else { 0 };
        rest -= taken;
        taken
    };
    let verdict = take(VERDICT, 12);
    let source = take(SOURCE, 14);
    // A name of twenty before a sparkline, and the source's state in full before a longer one.
    let spark = take(2 + 12 + ENDS, 20);
    let more = take(SOURCE_IN_FULL - SOURCE, 20);
    let wide = take(18, 30);
    Columns { name: rest.min(NAME), verdict, figures, spark: spark + wide, source: source + more }
}

pub(super) fn draw(model: &Model, layout: &WatchLayout, buf: &mut Buffer) {
    let (text, rows) = (layout.text(Panel::Queues), layout.rows(Panel::Queues));
    let columns = columns(usize::from(text.width));
    heading(model, &columns, &mut Pen::new(buf, text, 0));
    let all = model.watch.rows();
    for (nth, line, here) in on_screen(model, layout, Panel::Queues, buf) {
        if let Some(of) = all.get(nth) {
            one(model, of, &columns, &mut row(rows, line, here, buf));
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
        right(figure.heading(), figure.width(), theme::DIM, pen);
        pen.ours(" ", theme::PLAIN);
    }
    if columns.spark > 0 {
        let at = pen.position().x;
        pen.ours(&format!("  pending, {} min", model.watch.board.window), theme::DIM);
        pen.to(at + columns.spark as u16);
    }
    if columns.source > 0 {
        pen.ours("  source", theme::DIM);
    }
}

fn one(model: &Model, of: &Row<'_>, columns: &Columns, pen: &mut Pen<'_>) {
    let (board, source, standing) = (&model.watch.board, of.source(), of.standing());
    let old = !source.is_good();
    let trust = words::state(source, board.at, model.settings.reduced_motion);
    match of {
        Row::Source(source) => {
            let style = if old { theme::DIM } else { theme::BOLD };
            pen.column(&Shown::ours(source.name.as_str()), columns.name, style);
        }
        Row::Queue(_, line) => {
            let style = if old { theme::DIM } else { theme::PLAIN };
            pen.ours("  ", theme::PLAIN).column(&queue(&line.queue), columns.name.saturating_sub(2), style);
        }
    }
    if columns.verdict > 0 {
        let at = pen.position().x;
        let (said, style) = verdict(standing, old);
        let trouble = matches!(of, Row::Source(_)) && columns.source == 0 && !trust.1;
        match trust.0.split(',').next() {
            // There is no other place for it.
            Some(short) if trouble => pen.ours("  ", theme::PLAIN).ours(short, theme::WARN),
            _ => pen.ours("  ", theme::PLAIN).ours(&said, style),
        };
        pen.to(at + columns.verdict as u16);
    }
    for figure in columns.figures {
        figure.draw(standing, board.at, old, pen);
    }
    if columns.spark > 0 {
        let at = pen.position().x;
        let width = columns.spark.saturating_sub(2 + ENDS);
        let line = spark::line(&standing.spark, Of::Level, width, model.settings.borders);
        pen.ours("  ", theme::PLAIN).ours(&line, if old { theme::DIM } else { theme::KEY });
        pen.to(at + (columns.spark - ENDS) as u16);
        right(&words::ends(&standing.spark), ENDS, if old { theme::DIM } else { theme::PLAIN }, pen);
    }
    if columns.source > 0 && matches!(of, Row::Source(_)) {
        let (said, good) = trust;
        let style = if good { theme::GOOD } else { theme::WARN };
        // How old its data is goes first, where there is no room for all.
        let short = said.split(',').next().unwrap_or_default();
        let fits = said.chars().count() + 2 <= columns.source.max(pen.left());
        pen.ours("  ", theme::PLAIN).ours(if fits { &said } else { short }, style);
    }
}

/// Who proposes, else what is proposed.
pub(super) fn queue(queue: &Queue) -> Shown {
    match queue {
        Queue::Agent(agent) => text::name(agent),
        Queue::Tool(tool) => Shown::ours("tool ").followed_by(text::identifier(tool)),
        Queue::Rest => Shown::ours("all others"),
    }
}
