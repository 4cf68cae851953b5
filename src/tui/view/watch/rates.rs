//! How fast actions come and go, and what became of them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::domain::{Minute, Rate};
use crate::inbox::figures::words;
use crate::tui::model::Model;
use crate::tui::theme;
use crate::tui::view::pen::Pen;
use crate::tui::view::words::clock;

use super::spark::{self, Of};

pub(super) fn draw(model: &Model, area: Rect, buf: &mut Buffer) {
    let board = &model.watch.board;
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
    let board = &model.watch.board;
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
    pen.ours(&spark::line(values, Of::Flow, room, model.settings.borders), theme::KEY);
    pen.ours(&end, theme::BOLD);
}

/// As many as fit in each line.
fn outcomes(model: &Model, area: Rect, buf: &mut Buffer) {
    let board = &model.watch.board;
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
