//! The top: can this screen be trusted, and how much work is there.

use std::collections::HashSet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::domain::{SourceName, Untrusted};
use crate::text;
use crate::text::Shown;
use crate::tui::core::layout::{Layout, Shape};
use crate::tui::core::model::Model;
use crate::tui::queue::filter;

use super::pen::{Pen, rule};
use super::{theme, words};

pub(crate) fn draw(model: &Model, layout: &Layout, buf: &mut Buffer) {
    if layout.shape == Shape::Stacked {
        narrow(model, layout, buf);
    } else {
        wide(model, layout, buf);
    }
}

/// One line, and a rule under it where there is room.
fn narrow(model: &Model, layout: &Layout, buf: &mut Buffer) {
    let oldest = oldest(model);
    let mut pen = Pen::new(buf, layout.header, 0);
    pen.ours(" placet", theme::BOLD);
    let roomy = layout.header.width >= 64;
    let paused = paused(model, roomy, "  ", &mut pen);
    pen.ours("  ", theme::PLAIN);
    let listed = model.list.sources.iter().any(|source| source.listed);
    let pending = if listed { model.list.stats.pending.to_string() } else { "?".to_owned() };
    pen.ours(&format!("{pending} pending"), theme::PLAIN);
    unknown(model, "  ", &mut pen);
    let trouble = trouble(model);
    // Counts give way to what is wrong with a source.
    let mut count = |said: String| {
        if pen.left() > said.len() + trouble {
            pen.ours(&said, theme::PLAIN);
        }
    };
    let staged = model.decide.tally.total().total();
    if roomy && listed && !paused {
        count(format!("  {} undecided", model.undecided()));
    }
    if staged > 0 && roomy {
        count(format!("  {staged} staged"));
    }
    filter::short(model, "  ", &mut pen);
    if model.queue.n_held() > 0 {
        pen.ours(&format!("  {} new above", model.queue.n_held()), theme::WARN);
    }
    let (state, good) = several(model, pen.left());
    let both = if oldest.is_empty() { format!("{state} ") } else { format!("{state}  {oldest} ") };
    let (who, short) = (who(model), format!("{state} "));
    // Who decides goes before the oldest where screens are wide enough for both on most days, and after all else.
    let instead = layout.header.width >= 80 && who.fits(&short, &pen) && !who.fits(&both, &pen);
    let right = if both.len() < pen.left() && !instead { both } else { short };
    who.draw(&right, &mut pen);
    pen.right(&right, style(good));
    let above = Rect { height: layout.list.height.min(1), ..layout.list };
    if layout.rows.y > layout.list.y {
        rule(model, above, buf);
        filter::above(model, above, buf);
    }
}

fn wide(model: &Model, layout: &Layout, buf: &mut Buffer) {
    let (state, good) = state(model);
    let clock = words::clock(model, model.now).get(..5).unwrap_or_default().to_owned();
    let mut pen = Pen::new(buf, layout.header, 0);
    pen.ours(" placet", theme::BOLD).ours("   ", theme::PLAIN);
    let well = model.list.sources.iter().filter(|source| words::connection(source, model.now).1).count();
    match model.list.sources.as_slice() {
        [only] => pen.ours(only.name.as_str(), theme::PLAIN),
        many => pen.ours(&format!("{well}/{} sources ok", many.len()), style(well == many.len())),
    };
    paused(model, true, "   ", &mut pen);
    if model.list.sources.iter().any(|source| source.listed) {
        pen.ours(
            &format!("   pending {}   undecided {}", model.list.stats.pending, model.undecided()),
            theme::PLAIN,
        );
    } else {
        // Nothing was read: a zero would be a claim.
        pen.ours("   pending ?", theme::WARN);
    }
    unknown(model, "   ", &mut pen);
    let counts = model.decide.tally.total();
    if counts.total() > 0 {
        let short = format!("   staged {}", counts.total());
        let long = format!("{short} ({})", words::staged(counts));
        // Counts give way to what is wrong with a source.
        let said = [long, short].into_iter().find(|said| pen.left() > said.len() + trouble(model));
        pen.ours(&said.unwrap_or_default(), theme::BOLD);
    }
    let one_line = layout.header.height < 2;
    if one_line {
        filter::short(model, "   ", &mut pen);
    }
    if one_line && model.queue.n_held() > 0 {
        pen.ours(&format!("   {} new above", model.queue.n_held()), theme::WARN);
    }
    let right = [format!("{state}  {clock} "), format!("{state} "), format!("{} ", beginning(&state))];
    let right = right.into_iter().find(|said| said.len() < pen.left()).unwrap_or_default();
    who(model).draw(&right, &mut pen);
    pen.right(&right, style(good));
    if one_line {
        return;
    }
    let mut pen = Pen::new(buf, layout.header, 1);
    filter::long(model, &mut pen);
    if model.queue.n_held() > 0 {
        pen.ours(&format!(" {} new above", model.queue.n_held()), theme::WARN);
    }
    for source in model.list.sources.iter().filter(|_| model.list.sources.len() > 1) {
        let (word, good) = words::connection(source, model.now);
        if !good {
            pen.ours(&format!("   {} {word}", source.name), theme::WARN);
        }
    }
    // The queues pane says it in its own place.
    let blocked = if layout.queues.is_empty() { words::blocked(model) } else { String::new() };
    let waiting = [blocked, oldest(model)];
    let waiting: Vec<_> = waiting.into_iter().filter(|said| !said.is_empty()).collect();
    pen.right(&format!("{} ", waiting.join("   ")), theme::PLAIN);
}

/// Which sources run nothing, and since when. It stands before the counts: what is approved now is not run.
fn paused(model: &Model, roomy: bool, gap: &str, pen: &mut Pen<'_>) -> bool {
    let since = model
        .list
        .sources
        .iter()
        .filter_map(|source| Some((source, source.paused?)))
        .min_by_key(|(_, at)| *at);
    let Some((source, at)) = since else { return false };
    let at = words::moment(model, at);
    let text = match model.list.sources.len() {
        _ if !roomy => "PAUSED".to_owned(),
        1 => format!("PAUSED since {at}"),
        _ => format!("PAUSED {} since {at}", source.name),
    };
    pen.ours(gap, theme::PLAIN).ours(&text, theme::WARN);
    true
}

/// What nobody knows the outcome of is no pending action, and is not left out either.
fn unknown(model: &Model, gap: &str, pen: &mut Pen<'_>) {
    if model.list.stats.unknown > 0 {
        pen.ours(gap, theme::PLAIN).ours(&format!("{} UNKNOWN", model.list.stats.unknown), theme::WARN);
    }
}

/// `as kim +1`: the first name, and how many others there are.
struct Who {
    name: Shown,
    more: String,
}

fn who(model: &Model) -> Who {
    let names = model.reviewers(model.list.sources.iter().map(|source| &source.name));
    let first = names.first().map(|(name, _)| name);
    let others: HashSet<_> = names.iter().map(|(name, _)| name).filter(|name| Some(*name) != first).collect();
    let more = if others.is_empty() { String::new() } else { format!(" +{}", others.len()) };
    Who { name: text::name(first.unwrap_or(&Untrusted::default())).cut(20), more }
}

impl Who {
    fn width(&self) -> usize {
        "as ".len() + self.name.width() + self.more.len()
    }

    fn fits(&self, right: &str, pen: &Pen<'_>) -> bool {
        self.width() + right.len() + 4 <= pen.left()
    }

    /// Left of what stands at the right end, where there is room for both.
    fn draw(&self, right: &str, pen: &mut Pen<'_>) {
        if self.fits(right, pen) {
            pen.keep(self.width() + 2 + right.len()).ours("as ", theme::DIM);
            pen.shown(&self.name, theme::DIM).ours(&self.more, theme::DIM);
        }
    }
}

/// The worst of all sources, because one bad source makes the counts wrong.
fn state(model: &Model) -> (String, bool) {
    let all: Vec<(&SourceName, (String, bool))> =
        model.list.sources.iter().map(|it| (&it.name, words::connection(it, model.now))).collect();
    let bad: Vec<_> = all.iter().filter(|(_, (_, good))| !good).collect();
    match (bad.as_slice(), all.as_slice()) {
        ([], [(_, first), ..]) => first.clone(),
        ([(_, (word, _))], [_]) => (word.clone(), false),
        ([(name, (word, _))], _) => (format!("{name} {word}"), false),
        ([], []) => ("NO SOURCE".to_owned(), false),
        (many, _) => (format!("{} of {} sources in trouble", many.len(), all.len()), false),
    }
}

/// The same in so many columns, where nothing else says how many sources there are.
fn several(model: &Model, room: usize) -> (String, bool) {
    let (word, good) = state(model);
    let all = model.list.sources.len();
    if all < 2 {
        let fits = word.len() + 2 <= room;
        return (if fits { word } else { beginning(&word).to_owned() }, good);
    }
    let well = model.list.sources.iter().filter(|source| words::connection(source, model.now).1).count();
    let short = format!("{well}/{all} sources ok");
    let word = if all - well == 1 { word } else { String::new() };
    // How old its data is goes first, where there is no room for all.
    let beginning = beginning(&word).to_owned();
    let said = [word, beginning].into_iter().filter(|word| !word.is_empty());
    let said = said.map(|word| format!("{well}/{all} ok, {word}")).find(|said| said.len() + 2 <= room);
    (said.filter(|_| !good).unwrap_or(short), good)
}

/// Without how old its data is.
fn beginning(state: &str) -> &str {
    state.split(',').next().unwrap_or_default()
}

/// Columns that the shortest word about a source in trouble needs.
fn trouble(model: &Model) -> usize {
    let (state, good) = state(model);
    if good { 0 } else { beginning(&state).len() + 2 }
}

fn oldest(model: &Model) -> String {
    model.list.stats.oldest.map_or_else(String::new, |at| format!("oldest {}", words::age(at, model.now)))
}

fn style(good: bool) -> ratatui::style::Style {
    if good { theme::GOOD } else { theme::WARN }
}

// A screen too small for a list: counts only.

pub(crate) fn draw_counts(model: &Model, area: Rect, buf: &mut Buffer) {
    let staged = model.decide.tally.total().total();
    let states = model.list.sources.iter().map(|source| words::connection(source, model.now).0);
    let rows = [
        format!("{} pending", model.list.stats.pending),
        format!("{} undecided", model.undecided()),
        format!("{staged} staged"),
        format!("{} high-risk", model.list.stats.high_risk()),
        states.collect::<Vec<_>>().join(", "),
        "too small to decide:".to_owned(),
        "enlarge to 40x10".to_owned(),
    ];
    let unknown = model.list.stats.unknown;
    let unknown = (unknown > 0).then(|| format!("{unknown} outcome unknown"));
    for (nth, row) in unknown.iter().chain(&rows).enumerate() {
        let style = if nth == 0 { theme::BOLD } else { theme::PLAIN };
        Pen::new(buf, area, nth as u16).ours(row, style);
    }
}
