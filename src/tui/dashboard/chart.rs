//! Charts of the selected queue over the window: pending actions, and arrivals and decisions.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::symbols::Marker;
use ratatui::symbols::line::{BOTTOM_LEFT, HORIZONTAL, VERTICAL};
use ratatui::text::Span;
use ratatui::widgets::{Axis, Chart, Dataset, GraphType, Widget as _};

use crate::config::Glyphs;
use crate::domain::{Minute, Rate};
use crate::inbox::figures::{self, Standing, cells};
use crate::text::Shown;
use crate::tui::chrome::pen::Pen;
use crate::tui::chrome::theme;
use crate::tui::chrome::words::clock;
use crate::tui::core::layout::{take_left, take_top};
use crate::tui::core::model::Model;
use crate::tui::dashboard::words;

use super::rows::Row;
use super::state::{Panel, Watch};

/// Minimum size of a chart in columns and rows.
const LEAST: (u16, u16) = (24, 5);
/// Width from which both charts are drawn next to each other. Columns.
const BESIDE: u16 = 96;
const GAP: u16 = 2;

pub(crate) fn draw(model: &Model, area: Rect, buf: &mut Buffer) {
    let watch = &model.dashboard.watch;
    let rows = watch.rows();
    let Some(row) = rows.get(watch.at(Panel::Queues)) else { return };
    let (standing, doubtful) = (row.standing(), !row.source().is_good());
    let [first, second] = halves(area);
    pending(model, row, doubtful, first, buf);
    flows(model, standing, doubtful, second, buf);
}

/// Splits the area in two. If it is too small for both charts, the second part has only its line of numbers.
fn halves(area: Rect) -> [Rect; 2] {
    let mut rest = area;
    let first = match area.height {
        height if height >= LEAST.1 && area.width >= BESIDE => {
            let first = take_left(&mut rest, area.width / 2 - GAP);
            take_left(&mut rest, GAP);
            first
        }
        height if height >= LEAST.1 * 2 => take_top(&mut rest, height / 2),
        height => take_top(&mut rest, height.saturating_sub(1)),
    };
    [first, rest]
}

fn pending(model: &Model, row: &Row<'_>, doubtful: bool, area: Rect, buf: &mut Buffer) {
    let standing = row.standing();
    let style = if doubtful { theme::DIM } else { theme::PLAIN };
    let values = &standing.spark;
    let mut pen = Pen::new(buf, area, 0);
    pen.ours(
        &format!(" pending {}", cells::Figure::Pending.cell(standing, model.now).marked(doubtful)),
        style,
    );
    let known = values.iter().flatten();
    if let (Some(first), Some(most)) = (known.clone().next(), known.max()) {
        pen.ours(&words::from_most(*first, *most), theme::DIM);
    }
    if standing.over_target > 0 {
        let target = row.target(&model.settings.targets);
        pen.ours(
            &words::over_target(standing.over_target, &target),
            if doubtful { theme::DIM } else { theme::WARN },
        );
    }
    let ascii = model.settings.glyphs == Glyphs::Ascii;
    let line = Line {
        points: points(values),
        marker: if ascii { Marker::Custom('#') } else { Marker::Braille },
        form: GraphType::Area,
        style: theme::KEY,
    };
    let most = values.iter().flatten().max().copied().unwrap_or_default().max(1);
    picture(model, &[line], &Scale { parts: values.len(), most, said: most.to_string() }, below(area), buf);
}

fn flows(model: &Model, standing: &Standing, doubtful: bool, area: Rect, buf: &mut Buffer) {
    let style = if doubtful { theme::DIM } else { theme::PLAIN };
    let (rate, last) = (standing.rate, standing.last);
    let ascii = model.settings.glyphs == Glyphs::Ascii;
    // The marks tell the two apart without colours.
    let (line, dots) = if ascii { ("i", "o") } else { ("⠤", "•") };
    let dot = theme::dot(model.settings.glyphs);
    let mut pen = Pen::new(buf, area, 0);
    for (mark, word, look, now, mean) in [
        (
            line,
            "in",
            theme::KEY,
            figures::words::last(last, |it| it.arrived),
            figures::words::mean(rate, Rate::arrivals),
        ),
        (
            dots,
            "out",
            theme::GOOD,
            figures::words::last(last, |it| it.resolved),
            figures::words::mean(rate, Rate::resolves),
        ),
    ] {
        pen.ours(&format!(" {mark} "), look);
        pen.ours(&words::now_and_mean(word, &now, dot, &mean), style);
    }
    let minutes = minutes(model, standing.arrivals.len());
    let marker = |letter, unicode| if ascii { Marker::Custom(letter) } else { unicode };
    let lines = [
        Line {
            points: points(&standing.arrivals),
            marker: marker('i', Marker::Braille),
            form: GraphType::Line,
            style: theme::KEY,
        },
        Line {
            points: points(&standing.resolves),
            marker: marker('o', Marker::Dot),
            form: GraphType::Scatter,
            style: theme::GOOD,
        },
    ];
    let most =
        standing.arrivals.iter().chain(&standing.resolves).flatten().max().copied().unwrap_or_default();
    let most = most.max(1);
    let said = format!("{}/min", figures::words::tenths((most * 10).div_ceil(minutes)));
    picture(model, &lines, &Scale { parts: standing.arrivals.len(), most, said }, below(area), buf);
}

fn minutes(model: &Model, parts: usize) -> u64 {
    u64::from(model.dashboard.watch.board.window).div_ceil(parts.max(1) as u64).max(1)
}

fn below(area: Rect) -> Rect {
    let line = area.height.min(1);
    Rect { y: area.y + line, height: area.height - line, ..area }
}

struct Line {
    points: Vec<Vec<(f64, f64)>>,
    marker: Marker,
    form: GraphType,
    style: Style,
}
pub(crate) fn name(watch: &Watch) -> Shown {
    match watch.rows().get(watch.at(Panel::Queues)) {
        Some(Row::Source(source)) => Shown::ours(source.name.as_str()),
        Some(Row::Queue(_, line)) => cells::queue(&line.queue),
        None => Shown::ours("No queue"),
    }
}

struct Scale {
    parts: usize,
    most: u64,
    said: String,
}

fn points(values: &[Option<u64>]) -> Vec<Vec<(f64, f64)>> {
    let number = |n: u64| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    let placed: Vec<_> =
        values.iter().zip(0_u64..).map(|(value, at)| Some((number(at), number((*value)?)))).collect();
    placed.split(Option::is_none).map(|part| part.iter().flatten().copied().collect()).collect()
}

/// Draws a chart with times below it and the highest value at its left.
fn picture(model: &Model, lines: &[Line], scale: &Scale, area: Rect, buf: &mut Buffer) {
    let board = &model.dashboard.watch.board;
    if area.width < LEAST.0 || area.height + 1 < LEAST.1 {
        return;
    }
    let area = Rect { x: area.x + 1, width: area.width - 1, ..area };
    if lines.iter().flat_map(|line| &line.points).map(Vec::len).sum::<usize>() <= lines.len() {
        Pen::new(buf, area, 1).ours(words::NO_CHART_YET, theme::DIM);
        return;
    }
    let back = |part: i64| {
        let at = board.at.plus_millis(-i64::from(board.window) * Minute::MILLIS * part / 2);
        Span::styled(clock(model, at).get(..5).unwrap_or_default().to_owned(), theme::DIM)
    };
    let sets = lines.iter().flat_map(|line| line.points.iter().map(move |points| (line, points)));
    let sets = sets.filter(|(_, points)| !points.is_empty()).map(|(line, points)| {
        Dataset::default().data(points).marker(line.marker).graph_type(line.form).style(line.style)
    });
    let end = |n: u64| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    let times = Axis::default().style(theme::DIM).bounds([0.0, end(scale.parts as u64 - 1)]);
    let counts = Axis::default().style(theme::DIM).bounds([0.0, end(scale.most)]);
    Chart::new(sets.collect())
        .legend_position(None)
        .x_axis(times.labels([back(2), back(1), back(0)]))
        .y_axis(counts.labels([Span::styled("0", theme::DIM), Span::styled(scale.said.clone(), theme::DIM)]))
        .render(area, buf);
    if model.settings.glyphs == Glyphs::Ascii {
        plain_lines(area, buf);
    }
}

/// Replaces line characters by ASCII: the chart always draws its axes with lines.
fn plain_lines(area: Rect, buf: &mut Buffer) {
    for at in area.intersection(buf.area).positions() {
        let plain = match buf.cell(at).map(Cell::symbol) {
            Some(VERTICAL) => "|",
            Some(HORIZONTAL) => "-",
            Some(BOTTOM_LEFT) => "+",
            _ => continue,
        };
        Pen::new(buf, Rect { x: at.x, y: at.y, width: 1, height: 1 }, 0).ours(plain, theme::DIM);
    }
}
