//! Draws the rows of the list, looking only at those on screen.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::contract::tool::{self, Cell, Totals, cells};
use crate::domain::{
    Decision, DecisionKind, Look, StagedCounts, Status, Timestamp, Together, Untrusted, changes, merge,
};
use crate::text;
use crate::text::Shown;
use crate::tui::chrome;
use crate::tui::chrome::pen::Pen;
use crate::tui::chrome::state::Focus;
use crate::tui::chrome::theme::Mark;
use crate::tui::chrome::{pen, theme};
use crate::tui::core::command::Command;
use crate::tui::core::layout::Layout;
use crate::tui::core::model::Model;
use crate::tui::queue::words;
use crate::tui::snooze;

use super::bands::{Band, fitting};
use super::columns;
use super::groups::{Group, GroupKey};
use super::places;
use super::slots::{Settled, Slot, State};
use super::state::Line;

/// Widest tool name of a single action, and the room that a note takes.
const TOOL: usize = 22;
const NOTE: usize = 14;
/// An age is shown from 10 minutes on.
const OLD: i64 = 600_000;

pub(crate) fn draw(model: &Model, layout: &Layout, buf: &mut Buffer) {
    if layout.rows.is_empty() {
        return;
    }
    if model.queue.lines.is_empty() {
        let all = model.queue.slots.len();
        let words = words::none_matches(&chrome::words::count(all, "action"));
        Pen::new(buf, layout.rows, 1).ours(&words, theme::BOLD);
        return;
    }
    let range = model.queue.range();
    let focused = model.screen.focus == Focus::List && !places::is_open(model);
    for placed in model.queue.placed(layout.rows.height, model.settings.density) {
        let here = (placed.at == model.queue.at).then_some(focused);
        let marked = range.is_some_and(|(first, last)| (first..=last).contains(&placed.at));
        let row = Row { area: layout.rows, nth: placed.row, here, marked };
        match placed.line {
            Line::Header(id) => model.queue.group(id).map(|group| batch(model, group, &row, buf)),
            Line::Action(id) => model.queue.slot(id).map(|slot| {
                action(model, slot, &row, buf);
                if placed.height > 1 {
                    why(model, slot, &Row { nth: placed.row + 1, ..row }, buf);
                }
            }),
        };
    }
}

pub(crate) fn cursor(model: &Model, layout: &Layout) -> Option<Position> {
    let mut placed = model.queue.placed(layout.rows.height, model.settings.density);
    let here = placed.find(|placed| placed.at == model.queue.at)?;
    Some(Position::new(layout.rows.x, layout.rows.y + here.row))
}

/// Draws an action's second line: the agent's reason if it was loaded, or else the agent.
fn why(model: &Model, slot: &Slot, row: &Row, buf: &mut Buffer) {
    let read = model.preview.cached(&slot.entry.key);
    let summary = read.and_then(|cached| cached.action.summary.as_ref()).filter(|words| !words.is_empty());
    let mut pen = row.pen(model, buf);
    pen.ours("  ", theme::PLAIN)
        .ours(theme::vertical(model.settings.glyphs), theme::GUTTER)
        .ours(" ", theme::PLAIN);
    match (summary, &slot.entry.row.agent) {
        (Some(words), _) => drop(pen.shown(&text::line(words).boxed(), theme::DIM)),
        (None, Some(agent)) => drop(pen.ours("from ", theme::DIM).shown(&text::name(agent), theme::DIM)),
        (None, None) => {}
    }
}

struct Row {
    area: Rect,
    nth: u16,
    /// The cursor is on this row; true if the list has the focus.
    here: Option<bool>,
    marked: bool,
}

impl Row {
    fn pen<'a>(&self, model: &Model, buf: &'a mut Buffer) -> Pen<'a> {
        pen::row(model, self.area, self.nth, self.here, buf)
    }

    fn band<'a>(&self, model: &Model, buf: &'a mut Buffer) -> Pen<'a> {
        let pen = pen::row(model, self.area, self.nth, self.here, buf);
        if self.here.is_some() || model.settings.low_bandwidth { pen } else { pen.base(theme::RAISED) }
    }
}

/// Returns `3 marked, 1 hidden` if not all marks are visible, or the size of a range.
pub(crate) fn marked(model: &Model) -> Option<String> {
    if let Some((first, last)) = model.queue.range() {
        return Some(words::range_of(&chrome::words::count(last + 1 - first, "row")));
    }
    let (marked, gone, hidden) =
        (model.queue.marks.len(), model.queue.marks.gone(), model.queue.marks_hidden());
    let hidden = if hidden > 0 { format!(", {hidden} hidden") } else { String::new() };
    let totals = of_marked(model);
    match (marked, gone) {
        (0, 0) => None,
        (_, 0) => Some(format!("{marked} marked{totals}{hidden}")),
        (_, gone) => Some(words::marked_pending(marked, marked + gone, &totals, &hidden)),
    }
}

/// Returns `: 388.40 EUR, 3 recipients` if all marked actions are loaded.
fn of_marked(model: &Model) -> String {
    let mut totals = Totals::default();
    for key in &model.queue.mark_sums().few {
        let Some(cached) = model.preview.cached(key) else { return String::new() };
        match model.edits_of(key).map(|edits| merge(&cached.action.input, edits)) {
            Some(Ok(edited)) => totals.add(&cached.action.row.tool, &edited, None),
            _ => totals.join(cached.totals()),
        }
    }
    let parts = totals.parts();
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
}

fn batch(model: &Model, group: &Group, row: &Row, buf: &mut Buffer) {
    if group.key == GroupKey::ToResolve {
        return to_settle(model, group, row, buf);
    }
    let Some(first) = model.queue.rows_of(group).next() else { return };
    let staged = model.decide.spread.of_group(group, &model.decide.tally);
    let undecided = group.open.saturating_sub(staged.total());
    let turn = group.key.batch().is_some() && first.entry.row.can.together != Together::Free;
    let is_here = model.queue.group_here().is_some_and(|here| here.id == group.id);
    let emphasis = if is_here { theme::BOLD } else { theme::PLAIN };
    let (note, style) = match undecided {
        0 if group.open == 0 => (words::ALL_SETTLED.to_owned(), theme::DIM),
        0 => (words::ALL_DECIDED.to_owned(), theme::GOOD),
        // A turn is decided as a whole.
        n if turn => (words::turn_decided(group.open - n, group.open), emphasis),
        n => (words::left(n), emphasis),
    };
    let fallback = Band::default();
    let band = model.list.bands.of(group.id).unwrap_or(&fallback);
    let mut pen = row.band(model, buf);
    pen.ours(theme::fold(model.settings.glyphs, group.folded), theme::DIM).ours(" ", theme::PLAIN);
    pen.before(note.len() + 4, |pen| {
        name(group, first, emphasis, pen);
        if group.folded {
            contents(model, band, staged, pen);
        } else if let Some(risk) = &band.risk {
            pen.ours("  ", theme::PLAIN).shown(&chrome::words::risk(risk), theme::risk(risk));
        }
        // Common fields have a place nowhere else, then sums.
        let common = if group.folded { 0 } else { band.common_width() };
        let sum = band.sums.iter().find(|sum| sum.len() + 2 + common <= pen.left());
        pen.before(sum.map_or(0, |sum| sum.len() + 2), |pen| {
            let agent = band.agent.as_ref().filter(|_| group.key.batch().is_some()).map(text::name);
            if let Some(agent) = agent.filter(|agent| agent.width() + 2 + common <= pen.left()) {
                pen.ours("  ", theme::PLAIN).shown(&agent, theme::DIM);
            }
            if let Some(age) = age_of(band, model.now).filter(|age| age.len() + 2 + common <= pen.left()) {
                pen.ours("  ", theme::PLAIN).ours(&age, theme::DIM);
            }
            if !group.folded {
                columns::draw_common(model, band, pen);
            }
        });
        if let Some(sum) = sum {
            pen.ours("  ", theme::PLAIN).ours(sum, theme::QUIET);
        }
    });
    pen.ours("   ", theme::PLAIN).ours(&note, style);
}

fn age_of(band: &Band, now: Timestamp) -> Option<String> {
    let (first, last) = band.proposed?;
    let [age, other] = [first, last].map(|at| chrome::words::row_age(at, now));
    (now.since(last) >= OLD && age == other).then_some(age)
}

/// Draws `HIGH 40  CRIT 1  ! 1  ✓2 ✗1`: what a folded group contains.
fn contents(model: &Model, band: &Band, staged: StagedCounts, pen: &mut Pen<'_>) {
    for (risk, count) in &band.risks {
        let (word, count) = (chrome::words::risk(risk), format!(" {count}"));
        if word.width() + count.len() + 2 > pen.left() {
            return;
        }
        pen.ours("  ", theme::PLAIN).shown(&word, theme::risk(risk));
        if band.risks.len() > 1 {
            pen.ours(&count, theme::DIM);
        }
    }
    if band.flagged > 0 && pen.left() >= 8 {
        pen.ours("  ! ", theme::LOOK).ours(&band.flagged.to_string(), theme::PLAIN);
    }
    let staged = staged.each().filter(|(_, n)| *n > 0);
    for (nth, (kind, n)) in staged.enumerate() {
        let mark = Mark::Decided(kind);
        if n.to_string().len() + 3 > pen.left() {
            return;
        }
        pen.ours(if nth == 0 { "  " } else { " " }, theme::PLAIN);
        pen.ours(mark.glyph(model.settings.glyphs), mark.style()).ours(&n.to_string(), theme::PLAIN);
    }
}

fn to_settle(model: &Model, group: &Group, row: &Row, buf: &mut Buffer) {
    let wide = row.area.width >= 60;
    let note = match group.open {
        0 => words::ALL_SETTLED.to_owned(),
        left if wide => format!("{left} left"),
        left => left.to_string(),
    };
    let (name, style) = match group.open {
        0 => (words::WAS_UNKNOWN.to_owned(), theme::GOOD),
        _ => (lost_words(model, group, wide), theme::role(Look::UNKNOWN.role)),
    };
    let mut pen = row.band(model, buf);
    pen.ours(theme::fold(model.settings.glyphs, group.folded), theme::DIM).ours(" ", theme::PLAIN);
    pen.before(note.len() + 4, |pen| {
        pen.ours(&name, theme::role(Look::UNKNOWN.role));
    });
    pen.ours("   ", theme::PLAIN).ours(&note, style);
}

/// Returns `outcome unknown: t resolves these; next check at 14:22:07`.
fn lost_words(model: &Model, group: &Group, wide: bool) -> String {
    let key = model.settings.keymap.key(Command::ResolveUnknown);
    if !model.queue.rows_of(group).any(|slot| slot.state == State::Unknown) {
        return words::resolves(&key);
    }
    let at = model.submit.look_again.map(|at| chrome::words::clock(model, at.max(model.now)));
    match (at, wide) {
        (Some(at), true) => words::resolves_at(&key, &at),
        (Some(at), false) => words::resolves_at_short(&key, &at),
        (None, true) => words::resolves_reading(&key),
        (None, false) => words::resolves_reading_short(&key),
    }
}

/// Draws an action's row: mark, the tool of a single action, columns, note.
fn action(model: &Model, slot: &Slot, row: &Row, buf: &mut Buffer) {
    let glyphs = model.settings.glyphs;
    let mut pen = row.pen(model, buf);
    let marked = row.marked || slot.marked;
    let mark = mark(model, slot);
    pen.ours(mark.map_or(" ", |mark| mark.glyph(glyphs)), mark.map_or(theme::PLAIN, Mark::style));
    pen.ours(if marked { "+" } else { " " }, pen::bold(theme::KEY));
    let group = model.queue.group_of(slot);
    // A single action has no band that names its tool.
    let alone = slot.is_lost() || group.is_none_or(Group::is_single);
    if alone {
        pen.shown(&text::identifier(&slot.entry.row.tool).cut(TOOL), theme::PLAIN).ours(" ", theme::PLAIN);
    }
    pen.ours(theme::vertical(glyphs), theme::GUTTER).ours(" ", theme::PLAIN);
    let fallback = Band::default();
    let band = group.and_then(|group| model.list.bands.of(group.id)).unwrap_or(&fallback);
    let settled = matches!(slot.state, State::Settled(_));
    let style = match mark {
        _ if settled => theme::DIM,
        Some(Mark::Unread) => theme::PLAIN,
        _ => theme::QUIET,
    };
    let room = pen.left().saturating_sub(1);
    let note = note(model, slot, band, alone, room);
    let width = note.iter().map(|(text, _)| text.width()).sum::<usize>();
    pen.before(width + 1 + usize::from(width > 0), |pen| {
        let leads = row.here.is_some();
        let is_edited = slot.entry.row.edited.is_some();
        let brief = model.brief_of(slot).filter(|_| slot.counts_as_pending() || !is_edited);
        let drawn = brief.is_some_and(|brief| columns::draw(band, &brief, (style, leads), room, pen));
        if !drawn {
            let style = if leads { pen::bold(style) } else { style };
            let title = model.title_of(slot);
            let shown = text::line(&title);
            // The arrow of an edited title is ours.
            let shown = if title == slot.entry.row.title { shown.in_column() } else { shown.boxed() };
            pen.shown(&shown, style);
        }
    });
    if width > 0 {
        pen.ours(" ", theme::PLAIN);
    }
    for (text, style) in &note {
        pen.shown(text, *style);
    }
}

/// Returns what placet says of a row, at its right end: the first thing that applies.
fn note(model: &Model, slot: &Slot, band: &Band, alone: bool, room: usize) -> pen::Parts {
    if let State::Settled(settled) = &slot.state {
        return outcome(model, settled, slot, room);
    }
    let (key, row) = (&slot.entry.key, &slot.entry.row);
    let mut parts = Vec::new();
    if alone || band.risk.as_ref() != Some(&row.risk) {
        parts.push((chrome::words::risk(&row.risk), theme::risk(&row.risk)));
    }
    let flag = if slot.counts_as_pending() { model.flags_of(slot).kind().0 } else { "" };
    let same = model.queue.same_as(slot, model.now).filter(|_| flag.is_empty());
    let sign = match same {
        _ if !flag.is_empty() => Some("!"),
        Some(_) => Some(theme::unusual(model.settings.glyphs)),
        None => None,
    };
    let is_changed = slot.is_pending() && model.has_changed(key);
    let staged = model.decide.draft.get(key);
    let soon = chrome::words::expires(row.expires_at, model.now).filter(|_| slot.is_pending());
    let own = || match &staged?.decision {
        Decision::Reject { reason: Some(reason) } => {
            Some((text::line(&reason.as_str().into()).in_column().cut(NOTE), theme::BAD))
        }
        decision if decision.kind().approves() && staged?.digest.is_none() => {
            Some((Shown::ours(words::APPROVED_UNREAD), theme::LOOK))
        }
        _ => None,
    };
    let nonempty = |shown: Shown| Some((shown, theme::KEY)).filter(|(shown, _)| shown.width() > 0);
    let said = if let Some(soon) = soon {
        Some((Shown::ours(soon), theme::WARN))
    } else if slot.is_lost() {
        Some((Shown::ours(Look::UNKNOWN.badge), theme::role(Look::UNKNOWN.role)))
    } else if !flag.is_empty() {
        Some((Shown::ours(flag), theme::LOOK))
    } else if is_changed {
        Some((Shown::ours(words::CHANGED), theme::LOOK))
    } else {
        let same = || same.map(|same| (Shown::ours(same.short()), theme::LOOK));
        let age = || {
            let is_old =
                model.now.since(row.created_at) >= OLD && (alone || age_of(band, model.now).is_none());
            is_old.then(|| (Shown::ours(chrome::words::row_age(row.created_at, model.now)), theme::DIM))
        };
        let approvals = || nonempty(approvals(model, slot, room));
        let claimed = || nonempty(claimed(model, slot, room));
        let was = was(model, slot, band, room);
        was.or_else(own).or_else(same).or_else(approvals).or_else(claimed).or_else(age)
    };
    let sign = sign.map(|sign| (Shown::ours(sign), theme::LOOK));
    let changed = Mark::Decided(DecisionKind::Retry).glyph(model.settings.glyphs);
    let changed = is_changed.then(|| (Shown::ours(changed), theme::LOOK));
    parts.extend(changed.into_iter().chain(sign).chain(said));
    let gaps = (1..parts.len()).rev();
    for nth in gaps {
        parts.insert(nth, (Shown::ours(" "), theme::PLAIN));
    }
    parts
}

/// Returns `was 129.90` for an edited value in a column, or `priority 2 → 1`.
fn was(model: &Model, slot: &Slot, band: &Band, room: usize) -> Option<(Shown, Style)> {
    let key = &slot.entry.key;
    // A title shows the edit itself.
    let brief = slot.entry.row.brief.as_ref()?;
    let (edits, input) = model.edits_in_row(key).filter(|_| slot.is_pending())?;
    let changes = changes(input, edits);
    let [change] = changes.as_slice() else {
        return (!changes.is_empty()).then(|| (Shown::ours(words::edited(changes.len())), theme::KEY));
    };
    let is_drawn = fitting(&band.columns, room).iter().any(|column| column.key == change.key);
    let is_it = |cell: &Cell| is_drawn && cell.key == change.key && cell.key == change.path;
    let old = cells(brief).into_iter().find(is_it);
    let told = match old {
        Some(cell) => Shown::ours(words::WAS).followed_by(text::line(&cell.text.into()).in_column()),
        None => text::line(&tool::told(change, NOTE).into()).boxed(),
    };
    Some((told.cut(NOTE * 2), theme::KEY))
}

fn approvals(model: &Model, slot: &Slot, room: usize) -> Shown {
    let Some(approvals) = slot.entry.row.approvals.as_ref().filter(|_| slot.is_pending()) else {
        return Shown::ours("");
    };
    let mut shown = Shown::ours(words::approvals(approvals.given(), approvals.needed));
    let names = if room < 40 { &[] } else { approvals.by.as_slice() };
    let each = if room < 80 { 12 } else { 20 };
    for (nth, by) in names.iter().enumerate() {
        let between = if nth == 0 { theme::dot(model.settings.glyphs) } else { ", " };
        let by = model.people.called(&slot.entry.key.source, by, each);
        shown = shown.followed_by(Shown::ours(between)).followed_by(by);
    }
    shown
}

fn claimed(model: &Model, slot: &Slot, room: usize) -> Shown {
    if let Some(snoozed) = snooze::view::of_row(model, slot) {
        return Shown::ours(snoozed);
    }
    let of = (model.list.sources.as_slice(), &model.people);
    let room = if room < 56 { 8 } else { 16 };
    let named = model.claims.named(&slot.entry.key, of, model.now, room).filter(|_| slot.counts_as_pending());
    let Some((who, since)) = named else { return Shown::default() };
    who.followed_by(Shown::ours(format!("{}{since}", theme::dot(model.settings.glyphs))))
}

/// Returns the row's mark. A settled row shows its outcome instead.
fn mark(model: &Model, slot: &Slot) -> Option<Mark> {
    match (&slot.state, model.decide.draft.get(&slot.entry.key)) {
        (State::Settled(_), _) => None,
        (State::Unknown | State::ToResolve, _) => Some(Mark::Unknown),
        (State::Sending, _) => Some(Mark::Sending),
        (State::Pending | State::Held, Some(staged)) => Some(Mark::Decided(staged.decision.kind())),
        (State::Pending | State::Held, None) if model.seen_of(slot).is_none() => Some(Mark::Unread),
        (State::Pending | State::Held, None) => Some(Mark::Read),
    }
}

fn outcome(model: &Model, settled: &Settled, slot: &Slot, room: usize) -> pen::Parts {
    let by = settled.by.as_ref().filter(|_| !settled.ours);
    let status = match (&settled.status, &settled.error) {
        (Some(Status::Rejected), Some(_)) => Shown::ours(chrome::words::UNDO_FAILED),
        (Some(status), _) if by.is_some() => text::status_word(status).cut(12),
        (Some(status), _) => text::status_badge(status).cut(12),
        (None, _) => Shown::ours("settled"),
    };
    let (before, after) = text::by_whom(settled.status.as_ref());
    let by = by.map(|by| model.people.called(&slot.entry.key.source, by, if room < 80 { 16 } else { 24 }));
    let style = if settled.error.is_some() { theme::BAD } else { theme::DIM };
    let mut parts = vec![(status, style)];
    if let Some(by) = by {
        parts.push((Shown::ours(before).followed_by(by).followed_by(Shown::ours(after)), theme::DIM));
    }
    parts
}

pub(crate) fn name(group: &Group, first: &Slot, style: Style, pen: &mut Pen<'_>) {
    let row = &first.entry.row;
    let mut named = |word: &str, id: Option<&Untrusted>| {
        match id {
            Some(id) => pen.ours(&format!("{word} "), theme::DIM).shown(&text::name(id), style),
            None => pen.ours(&format!("no {word}"), style),
        };
        pen.ours("  ", theme::PLAIN).ours(&batches(group), theme::DIM);
    };
    match &group.key {
        GroupKey::Batch(_) | GroupKey::ToResolve => {
            pen.shown(&text::identifier(&row.tool), style);
        }
        GroupKey::Mission(_, id) => named("mission", id.as_ref()),
        GroupKey::Checkpoint(_, id) => named("checkpoint", id.as_ref()),
        GroupKey::Agent(_, id) => named("agent", id.as_ref()),
        GroupKey::Source(source) => named("source", Some(&source.as_str().into())),
        GroupKey::Shape(shape) => {
            pen.shown(&text::line(&shape.title), style);
            pen.ours("  ", theme::PLAIN).shown(&text::identifier(&shape.tool), theme::DIM);
        }
    }
}

pub(super) fn batches(group: &Group) -> String {
    if group.batches == 1 { "1 batch".to_owned() } else { format!("{} batches", group.batches) }
}
