//! The first table: how every source and each of its queues stands, where it is going, and whether that can be believed.

use ratatui::buffer::Buffer;

use crate::domain::Queue;
use crate::inbox::figures::words;
use crate::text::{self, Shown};
use crate::tui::layout::WatchLayout;
use crate::tui::model::{Model, Panel, Row};
use crate::tui::theme;
use crate::tui::view::pen::Pen;

use super::figure::{Figure, right};
use super::spark::{self, Of};
use super::{on_screen, row};

/// Widths of the columns; a zero hides one.
struct Columns {
    name: usize,
    figures: &'static [Figure],
    spark: usize,
    state: usize,
}

/// `31>88` beside a sparkline.
const ENDS: usize = 10;
const MOST: [Figure; 7] = [
    Figure::Pending,
    Figure::High,
    Figure::Oldest,
    Figure::Arrivals,
    Figure::Resolves,
    Figure::Net,
    Figure::Clears,
];
const FEW: [Figure; 5] = [Figure::Pending, Figure::High, Figure::Oldest, Figure::Net, Figure::Clears];
const LEAST: [Figure; 3] = [Figure::Pending, Figure::High, Figure::Oldest];

/// The least that a state needs, and what it says at most: `RETRY 12 s, data 71 s old`.
const STATE: usize = 12;
const STATE_IN_FULL: usize = 27;
const NAME: usize = 40;

fn columns(width: usize) -> Columns {
    let figures: &[Figure] = match width {
        ..56 => &LEAST,
        56..86 => &FEW,
        _ => &MOST,
    };
    let taken: usize = figures.iter().map(|figure| figure.width() + 1).sum();
    let mut rest = width.saturating_sub(taken + 1);
    let mut take = |wanted: usize, least_left: usize| {
        let taken = if rest >= wanted + least_left { wanted } else { 0 };
        rest -= taken;
        taken
    };
    let state = take(STATE, 14);
    // A name of twenty before a sparkline, and the state in full before a longer one.
    let spark = take(2 + 12 + ENDS, 20 + STATE_IN_FULL - STATE);
    let more = take(STATE_IN_FULL - STATE, 20);
    let wide = take(18, 30);
    Columns { name: rest.min(NAME), figures, spark: spark + wide, state: state + more }
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
    for figure in columns.figures {
        right(figure.heading(), figure.width(), theme::DIM, pen);
        pen.ours(" ", theme::PLAIN);
    }
    if columns.spark > 0 {
        let at = pen.position().x;
        pen.ours(&format!("  pending, {} min", model.watch.board.window), theme::DIM);
        pen.to(at + columns.spark as u16);
    }
    if columns.state > 0 {
        pen.ours("  state", theme::DIM);
    }
}

fn one(model: &Model, of: &Row<'_>, columns: &Columns, pen: &mut Pen<'_>) {
    let (board, source, standing) = (&model.watch.board, of.source(), of.standing());
    let old = !source.is_good();
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
    if columns.state > 0 && matches!(of, Row::Source(_)) {
        let (said, good) = words::state(source, board.at, model.settings.reduced_motion);
        let style = if good { theme::GOOD } else { theme::WARN };
        // How old its data is goes first, where there is no room for all.
        let short = said.split(',').next().unwrap_or_default();
        let fits = said.chars().count() + 2 <= columns.state.max(pen.left());
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
