//! The left pane of a wide screen: where the work is, how risky, how old.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::chrome;
use crate::tui::chrome::pen::Pen;
use crate::tui::chrome::theme;
use crate::tui::core::command::Command;
use crate::tui::core::layout::Layout;
use crate::tui::core::model::Model;

pub(crate) fn draw(model: &Model, layout: &Layout, buf: &mut Buffer) {
    if layout.places.is_empty() {
        return;
    }
    let area = layout.places;
    let area = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let mut nth = sources(model, area, buf);
    nth += unknown(model, area, nth, buf);
    nth += blocked(model, area, nth, buf) + 1;
    let stats = &model.list.stats;
    let [low, medium, high, critical] = stats.risks;
    nth = bars(
        area,
        nth,
        "Risk",
        &[("critical", critical), ("high", high), ("medium", medium), ("low", low)],
        buf,
    );
    let [fresh, hour, hours, older] = stats.ages;
    let ages = [("< 15 m", fresh), ("15-60 m", hour), ("1-4 h", hours), ("> 4 h", older)];
    nth = bars(area, nth + 1, "Age", &ages, buf);
    let counts = model.decide.tally.total();
    let staged: Vec<_> = counts.each().map(|(kind, n)| (kind.words().name, n)).collect();
    nth = bars(area, nth + 1, "Staged", staged.get(..3).unwrap_or(&staged), buf);
    saved(model, area, nth + 1, buf);
}

/// The filters that have names, the one that stands marked.
fn saved(model: &Model, area: Rect, nth: u16, buf: &mut Buffer) {
    let filters = &model.settings.triage.filters;
    if filters.is_empty() {
        return;
    }
    Pen::new(buf, area, nth).ours("Saved filters", theme::DIM);
    let key = model.settings.keymap.key(Command::SavedFilters);
    for (row, saved) in filters.iter().take(9).enumerate() {
        let stands = model.list.filtering.applied.as_ref() == Some(&saved.filter);
        let mut pen = Pen::new(buf, area, nth + 1 + row as u16);
        pen.ours(if stands { "> " } else { "  " }, theme::BOLD);
        pen.ours(&format!("{key}{}  ", row + 1), theme::KEY);
        pen.ours(&saved.name, if stands { theme::BOLD } else { theme::PLAIN });
    }
}

fn sources(model: &Model, area: Rect, buf: &mut Buffer) -> u16 {
    let mut nth = 0;
    if model.list.sources.len() > 1 {
        total(area, nth, "All sources", model.list.stats.pending, buf);
        nth += 1;
    }
    for source in &model.list.sources {
        let pending =
            model.list.stats.by_source.iter().find(|(name, _)| *name == source.name).map_or(0, |(_, n)| *n);
        total(area, nth, source.name.as_str(), pending, buf);
        nth += 1;
        let (word, good) = chrome::words::connection(source, model.now);
        // With several, each says how it is, where there is room for what stands below.
        let roomy = model.list.sources.len() > 1 && area.height >= 30;
        if !good || roomy || !source.unreadable.is_empty() {
            let unreadable = match source.unreadable.len() {
                0 => String::new(),
                n => format!("  {n} unreadable"),
            };
            let style = if good && source.unreadable.is_empty() { theme::DIM } else { theme::WARN };
            Pen::new(buf, area, nth).ours(&format!("  {word}{unreadable}"), style);
            nth += 1;
        }
    }
    nth
}

fn unknown(model: &Model, area: Rect, nth: u16, buf: &mut Buffer) -> u16 {
    let count = model.list.stats.unknown;
    if count == 0 {
        return 0;
    }
    Pen::new(buf, area, nth).ours("outcome unknown", theme::WARN);
    Pen::new(buf, area, nth).right(&count.to_string(), theme::WARN);
    1
}

/// What cannot go on until somebody decides.
fn blocked(model: &Model, area: Rect, nth: u16, buf: &mut Buffer) -> u16 {
    let (missions, agents) = chrome::words::blocked_counts(model);
    let said = [("missions blocked", missions), ("agents blocked", agents)];
    let said = said.into_iter().filter(|(_, count)| *count > 0);
    let mut rows = 0;
    for (name, count) in said {
        Pen::new(buf, area, nth + rows).ours(name, theme::PLAIN);
        Pen::new(buf, area, nth + rows).right(&count.to_string(), theme::PLAIN);
        rows += 1;
    }
    rows
}

fn total(area: Rect, nth: u16, name: &str, count: usize, buf: &mut Buffer) {
    let count = count.to_string();
    let mut pen = Pen::new(buf, area, nth);
    pen.shorten(count.len() + 1).ours(name, theme::BOLD);
    Pen::new(buf, area, nth).right(&count, theme::BOLD);
}

/// Counts with bars of `#`, the longest as long as there is room.
fn bars(area: Rect, nth: u16, title: &str, counts: &[(&str, usize)], buf: &mut Buffer) -> u16 {
    Pen::new(buf, area, nth).ours(title, theme::DIM);
    let most = counts.iter().map(|(_, n)| *n).max().unwrap_or_default();
    for (row, (name, count)) in counts.iter().enumerate() {
        let mut pen = Pen::new(buf, area, nth + 1 + row as u16);
        pen.ours(&format!("  {name:<9}{count:>5}  "), theme::PLAIN);
        let room = pen.left().min(10);
        let length = if most == 0 { 0 } else { (count * room).div_ceil(most) };
        let style =
            if name.starts_with("high") || name.starts_with("crit") { theme::WARN } else { theme::DIM };
        pen.ours(&"#".repeat(length), style);
    }
    nth + 1 + counts.len() as u16
}
