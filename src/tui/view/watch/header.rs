//! The head of the watch view: how much waits, and whether these numbers can be believed.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::inbox::figures::words;
use crate::tui::layout::WatchLayout;
use crate::tui::model::Model;
use crate::tui::theme;
use crate::tui::view::frame::rule;
use crate::tui::view::pen::Pen;
use crate::tui::view::words::clock;

pub(super) fn draw(model: &Model, layout: &WatchLayout, buf: &mut Buffer) {
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
    if one {
        return;
    }
    if wide {
        let second = Rect { y: area.y + 1, height: 1, ..area };
        rule(model, second, buf);
        return;
    }
    let mut pen = Pen::new(buf, area, 1);
    write(&trust, &mut pen);
}

type Said = Vec<(String, Style)>;

fn write(said: &[(String, Style)], pen: &mut Pen<'_>) {
    for (words, style) in said {
        pen.ours(words, *style);
    }
}

fn width(said: &[(String, Style)]) -> usize {
    said.iter().map(|(words, _)| words.len()).sum()
}

/// How much waits; what matters most is first.
fn counts(model: &Model, width: u16) -> Said {
    let board = &model.watch.board;
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
fn trust(model: &Model, long: bool) -> Said {
    let (watch, board) = (&model.watch, &model.watch.board);
    let mut said: Said = Vec::new();
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
