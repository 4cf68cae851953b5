//! The header: counts, and the state of the sources.

use std::collections::HashSet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr as _;

use crate::config::{GroupBy, SortBy};
use crate::domain::{Look, SourceName, Untrusted};
use crate::text;
use crate::text::Shown;
use crate::tui::core::command::Command;
use crate::tui::core::layout::Layout;
use crate::tui::core::model::Model;
use crate::tui::queue::tally::Urgency;
use crate::tui::queue::{filter, first};
use crate::tui::snooze;

use super::pen::Pen;
use super::{pen, theme, words};

/// Width of `   17:08`.
const CLOCK: usize = 8;

const GAP: &str = "   ";
/// Minimum space left of a failing source's state.
const SPACE: usize = 40;

struct Count {
    /// The key that goes to its rows, before the first such count.
    key: String,
    said: Shown,
    style: Style,
    /// Never left out.
    needed: bool,
}

/// Draws ` placet  101 to decide   F 1 expiring   5 blocked   8 critical          ● gate   kim   17:08`.
pub(crate) fn draw(model: &Model, layout: &Layout, buf: &mut Buffer) {
    let mut pen = Pen::new(buf, layout.header, 0).base(theme::RAISED);
    pen.ours(" placet", pen::bold(theme::KEY)).ours("  ", theme::PLAIN);
    let (states, good) = several(model);
    // The sources' state takes precedence over counts, and counts over reviewer and time.
    let fits = |state: &&String| good || state.width() + SPACE <= usize::from(layout.header.width);
    let least = states.iter().find(fits).or(states.last()).map_or(0, |state| state.width()) + 3;
    let more =
        if good { CLOCK + if layout.header.width >= 64 { who(model).width() + 3 } else { 0 } } else { 0 };
    let mut first = true;
    for Count { key, said, style, needed } in counts(model, layout) {
        let gap = if first { "" } else { GAP };
        let room = pen.left().saturating_sub(gap.len() + key.len() + least);
        if needed || said.width() + more < room {
            pen.ours(gap, theme::PLAIN).ours(&key, pen::bold(theme::KEY)).shown(&said.cut(room), style);
            first = false;
        }
    }
    right(model, &states, good, &mut pen);
}

/// Draws the sources' state, the reviewer and the time, as far as they fit.
fn right(model: &Model, states: &[String], good: bool, pen: &mut Pen<'_>) {
    let clock = words::clock(model, model.now).get(..5).unwrap_or_default().to_owned();
    let Some(state) = states.iter().find(|state| state.width() + 2 <= pen.left()) else { return };
    let who = who(model);
    let mut columns = state.width() + 1;
    let mut takes = |more: usize| {
        let fits = more > 3 && columns + more + 2 <= pen.left();
        columns += if fits { more } else { 0 };
        fits
    };
    let with_clock = takes(clock.len() + 3);
    let with_who = takes(who.width() + 3);
    pen.keep(columns).ours(state, style(good));
    if with_who {
        pen.ours("   ", theme::PLAIN).shown(&who.name, theme::DIM).ours(&who.more, theme::DIM);
    }
    if with_clock {
        pen.ours("   ", theme::PLAIN).ours(&clock, theme::DIM);
    }
}

/// Returns the counts, most important first.
fn counts(model: &Model, layout: &Layout) -> Vec<Count> {
    let count =
        |text: String, style, needed| Count { key: String::new(), said: Shown::ours(text), style, needed };
    let roomy = layout.header.width >= 64;
    let key = |command| model.settings.keymap.key(command);
    let mut counts: Vec<Count> = Vec::new();
    counts.extend(paused(model, roomy).map(|paused| count(paused, theme::WARN, true)));
    counts.push(if model.list.sources.iter().any(|source| source.listed) {
        count(words::to_decide(model.undecided()), theme::BOLD, true)
    } else {
        // No source was read, so a zero would be wrong.
        count(words::UNKNOWN_TO_DECIDE.to_owned(), theme::WARN, true)
    });
    let mut urgent = urgent(model).peekable();
    if let Some(first) = urgent.peek_mut() {
        first.key = format!("{} ", key(Command::First));
    }
    // Unknown outcomes are never left out, so they take their place first.
    counts.extend(urgent.next_if(|count| count.needed));
    counts.extend(model.list.elsewhere.told().map(|told| count(told, theme::WARN, true)));
    if let Some(later) = &model.list.frozen {
        let waits = if later.len() == 0 { String::new() } else { words::not_shown(later.len()) };
        let frozen = format!("FROZEN{waits} ({} follows)", key(Command::Freeze));
        counts.push(count(frozen, theme::WARN, true));
    }
    counts.extend(snooze::view::count(model).map(|snoozed| count(snoozed, theme::PLAIN, roomy)));
    if let Some((shown, filter)) = filter::stands(model) {
        counts.push(count(format!("{shown} ({} clears)", key(Command::Back)), theme::WARN, true));
        counts.push(Count { said: filter, ..count(String::new(), theme::KEY, true) });
    } else if !model.queue.held.is_empty() {
        counts.push(count(words::new_above(model.queue.held.len()), theme::WARN, true));
    }
    counts.extend(urgent);
    if model.queue.group_by != GroupBy::default() {
        counts.push(count(format!("by {}", model.queue.group_by.word()), theme::DIM, false));
    }
    if model.queue.sort_by != SortBy::default() {
        counts.push(count(format!("{} first", model.queue.sort_by.first()), theme::DIM, false));
    }
    counts
}

/// Returns `1 expiring`, `5 blocked`, `8 critical`: the rows that come first.
fn urgent(model: &Model) -> impl Iterator<Item = Count> {
    let counted = Urgency::ALL.into_iter().zip(first::counts(model)).filter(|(_, count)| *count > 0);
    counted.map(|(why, count)| Count {
        key: String::new(),
        said: Shown::ours(format!("{count} {}", why.word())),
        style: match why {
            Urgency::Unknown => theme::role(Look::UNKNOWN.role),
            Urgency::Expiring => theme::LOOK,
            Urgency::Blocking => theme::PLAIN,
            Urgency::Critical => theme::BAD,
        },
        needed: why == Urgency::Unknown,
    })
}

fn paused(model: &Model, roomy: bool) -> Option<String> {
    let since = model.list.sources.iter().filter_map(|source| Some((source, source.paused?)));
    let (source, at) = since.min_by_key(|(_, at)| *at)?;
    let at = words::moment(model, at);
    Some(match model.list.sources.len() {
        _ if !roomy => "PAUSED".to_owned(),
        1 => format!("PAUSED since {at}"),
        _ => format!("PAUSED {} since {at}", source.name),
    })
}

/// `kim +1`: the first name, and the number of others.
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
        self.name.width() + self.more.len()
    }
}

/// Returns the worst state of all sources.
fn state(model: &Model) -> (String, bool) {
    let all: Vec<(&SourceName, (String, bool))> =
        model.list.sources.iter().map(|it| (&it.name, words::connection(it, model.now))).collect();
    let bad: Vec<_> = all.iter().filter(|(_, (_, good))| !good).collect();
    match (bad.as_slice(), all.as_slice()) {
        ([], [(name, (word, _)), ..]) => {
            let port = model.settings.place.gate.as_ref().and_then(|gate| gate.other_port);
            let port = port.map(words::at_port).unwrap_or_default();
            let word = if word == words::LIVE { String::new() } else { format!(" {}", word.to_lowercase()) };
            (format!("{}{name}{word}{port}", theme::live(model.settings.glyphs, true)), true)
        }
        ([(name, (word, _))], _) => {
            (format!("{}{name} {word}", theme::live(model.settings.glyphs, false)), false)
        }
        ([], []) => ("NO SOURCE".to_owned(), false),
        (many, _) => (words::some_up(all.len() - many.len(), all.len()), false),
    }
}

/// Returns the state in long and short forms; the last is the shortest.
fn several(model: &Model) -> (Vec<String>, bool) {
    let (word, good) = state(model);
    let all = model.list.sources.len();
    let short = beginning(&word).to_owned();
    if all < 2 {
        return (vec![word, short], good);
    }
    if good {
        let live = theme::live(model.settings.glyphs, true);
        return (vec![format!("{live}{}", words::all_up(all))], true);
    }
    let bad = model.list.sources.iter().filter(|source| !words::connection(source, model.now).1).count();
    if bad > 1 {
        return (vec![word], false);
    }
    let well = words::some_up(all - bad, all);
    (vec![format!("{well}, {word}"), format!("{well}, {short}"), short], false)
}

fn beginning(state: &str) -> &str {
    state.split(',').next().unwrap_or_default()
}

fn style(good: bool) -> Style {
    if good { theme::GOOD } else { theme::WARN }
}

pub(crate) fn draw_counts(model: &Model, area: Rect, buf: &mut Buffer) {
    let staged = model.decide.tally.total.total();
    let states = model.list.sources.iter().map(|source| words::connection(source, model.now).0);
    let [.., high, critical] = model.list.stats.risks;
    let rows = [
        format!("{} pending", model.list.stats.pending),
        format!("{} undecided", model.undecided()),
        format!("{staged} staged"),
        words::high_and_critical(high, critical),
        states.collect::<Vec<_>>().join(", "),
        words::TOO_SMALL.to_owned(),
        words::ENLARGE.to_owned(),
    ];
    let unknown = model.list.stats.unknown;
    let unknown = (unknown > 0).then(|| words::outcome_unknown(unknown));
    for (nth, row) in unknown.iter().chain(&rows).enumerate() {
        let style = if nth == 0 { theme::BOLD } else { theme::PLAIN };
        Pen::new(buf, area, nth as u16).ours(row, style);
    }
}
