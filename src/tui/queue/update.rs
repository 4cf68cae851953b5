//! Navigation: cursor, folds, marks and focus. Does not decide anything.

use crate::config::{GroupBy, SortBy};
use crate::domain::{ActionKey, Status, Timestamp};
use crate::journal::Write;
use crate::tui::chrome::state::Focus;
use crate::tui::core::command::{COMMANDS, Command, Direction, Group, shift};
use crate::tui::core::job::Job;
use crate::tui::core::model::Model;
use crate::tui::core::msg::Effect;
use crate::tui::decide::stage;
use crate::tui::preview::reader;
use crate::tui::queue::words;
use crate::tui::{claims, history, preview};

use super::bands::{BandRow, READ};
use super::counts::{StagedByGroup, StagedUrgent};
use super::groups::Regrouping;
use super::incoming::FrozenUpdates;
use super::slots::{GroupId, RowId, Settled, Slot, State};
use super::sort::Sorting;
use super::state::{Cursor, Line};
use super::sync;

enum Moves {
    List,
    Preview,
    Sheet,
}

fn moves(model: &Model) -> Moves {
    match model.screen.focus {
        _ if model.sheet.is_some() => Moves::Sheet,
        Focus::Preview => Moves::Preview,
        Focus::List if model.screen.zoom => Moves::Preview,
        Focus::List => Moves::List,
    }
}

pub(crate) fn go(model: &mut Model, way: Direction, by: usize) {
    match moves(model) {
        Moves::List => step(model, way, by),
        Moves::Preview => {
            reader::step(model, way, by);
        }
        Moves::Sheet => model.scroll_sheet(way, by),
    }
}

/// Moves the cursor of the list on screen, wherever the focus is.
pub(crate) fn step(model: &mut Model, way: Direction, by: usize) {
    match &mut model.history.open {
        Some(view) => view.go_to(shift(view.at(), way, by)),
        None => model.queue.go_to(shift(model.queue.at, way, by)),
    }
}

/// Puts the cursor on a row of the screen, counted from the first line of the list. Ignores rows below the last one.
pub(crate) fn select(model: &mut Model, row: usize) {
    match &mut model.history.open {
        Some(view) if view.top + row < view.len() => view.go_to(view.top + row),
        None => {
            let density = model.settings.density;
            let below = u16::try_from(row + 1).unwrap_or(u16::MAX);
            let under = model.queue.placed(below, density).last();
            if let Some(placed) = under.filter(|placed| row < usize::from(placed.row + placed.height)) {
                model.queue.go_to(placed.at);
            }
        }
        Some(_) => {}
    }
}

pub(crate) fn half(model: &mut Model, way: Direction) {
    let layout = model.layout();
    let height = match moves(model) {
        Moves::List => model.on_screen_lines(),
        Moves::Preview | Moves::Sheet => layout.text.height,
    };
    go(model, way, usize::from(height / 2).max(1));
}

pub(crate) fn open(model: &mut Model) {
    if model.history.open.is_some() {
        return preview::update::zoom(model, true);
    }
    match model.queue.cursor() {
        Some(Cursor::Header(_)) => toggle_fold(model),
        Some(Cursor::Action(_)) => preview::update::zoom(model, true),
        None => {}
    }
}

fn toggle_fold(model: &mut Model) {
    if let Some((id, folded)) = model.queue.group_here().map(|group| (group.id, group.folded)) {
        model.queue.fold(id, !folded);
    }
}

/// Folds the group at the cursor; the cursor moves to its header.
pub(crate) fn fold(model: &mut Model) {
    if model.history.open.is_some() {
        return;
    }
    if let Some(id) = model.queue.group_here().map(|group| group.id) {
        model.queue.fold(id, true);
    }
}

pub(crate) fn unfold(model: &mut Model) {
    if model.history.open.is_some() {
        return preview::update::zoom(model, true);
    }
    match model.queue.group_here() {
        Some(group) if group.is_closed() => toggle_fold(model),
        Some(_) if model.here().is_some() => preview::update::zoom(model, true),
        Some(_) | None => {}
    }
}

pub(crate) fn fold_all(model: &mut Model, folded: bool) {
    if matches!(moves(model), Moves::Preview) {
        return reader::fold_all(model, folded);
    }
    if model.history.open.is_none() {
        model.queue.fold_all(folded);
    }
}

/// Moves to the next undecided action in list order, across folds, and wraps around at the end.
pub(crate) fn next_undecided(model: &mut Model, way: Direction) {
    if model.history.open.is_some() {
        return history::update::refuse(model);
    }
    let found = step_to_undecided(model, way) || (sync::arrive_all(model) && step_to_undecided(model, way));
    if !found {
        let is_left = model.queue.after_cursor().any(|id| is_undecided(model, id) && !is_next(model, id));
        let shown = if is_left {
            claims::words::OTHERS_ARE_ON_IT
        } else if model.queue.is_filtered {
            words::SHOWN_IS_DECIDED
        } else {
            words::ALL_IS_DECIDED
        };
        model.say(shown);
    }
}

fn step_to_undecided(model: &mut Model, way: Direction) -> bool {
    let found = find_undecided(model, way, |_| true);
    found.map(|id| model.queue.go_to_action(id)).is_some()
}

/// Moves to the next undecided action after a decision, skipping actions that just appeared. Returns how many of these
/// there are if nothing else is left.
pub(crate) fn advance(model: &mut Model) -> Result<(), usize> {
    let is_stop = |key: &ActionKey| !model.list.arrivals.is_no_stop(key, model.now);
    if let Some(id) = find_undecided(model, Direction::Down, is_stop) {
        model.queue.go_to_action(id);
        return Ok(());
    }
    let new = model.queue.after_cursor().filter(|id| is_undecided(model, *id)).count();
    Err(new + model.queue.held_pending().count())
}

fn is_undecided(model: &Model, id: RowId) -> bool {
    let slot = model.queue.slot(id);
    slot.is_some_and(|slot| slot.is_pending() && model.decide.draft.get(&slot.entry.key).is_none())
}

fn is_next(model: &Model, id: RowId) -> bool {
    let is_free = |slot: &Slot| !claims::update::is_left_to_others(model, slot);
    is_undecided(model, id) && model.queue.slot(id).is_some_and(is_free)
}

fn find_undecided(model: &Model, way: Direction, is_stop: impl Fn(&ActionKey) -> bool) -> Option<RowId> {
    let undecided = |id: &RowId| {
        let key = model.queue.slot(*id).map(|slot| &slot.entry.key);
        is_next(model, *id) && key.is_some_and(&is_stop)
    };
    let here = model.here().map(|slot| &slot.entry.key);
    let other = |id: &RowId| model.queue.slot(*id).map(|slot| &slot.entry.key) != here;
    let mut order = model.queue.after_cursor().filter(undecided);
    match way {
        Direction::Down => order.next(),
        Direction::Up => order.rev().find(other),
    }
}

/// Marks or unmarks and moves down. An open range is marked as a whole.
pub(crate) fn mark(model: &mut Model) {
    if model.queue.has_range() {
        keep_range(model);
        return;
    }
    let (known, left) = listed(model, model.queue.pending_here());
    model.queue.turn_marks(&known);
    say_left_out(model, left);
    go(model, Direction::Down, 1);
}

/// Splits off actions that appeared too recently for the key to mean them, and returns their number.
fn listed(model: &Model, rows: Vec<RowId>) -> (Vec<RowId>, usize) {
    if model.list.arrivals.is_empty() {
        return (rows, 0);
    }
    let is_new = |id: &RowId| {
        let slot = model.queue.slot(*id);
        slot.is_some_and(|slot| model.list.arrivals.is_just_listed(&slot.entry.key, model.now))
    };
    let (new, known): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_new);
    (known, new.len())
}

pub(crate) fn just_arrived(left: usize) -> Option<String> {
    (left > 0).then(|| words::just_arrived(left))
}

fn say_left_out(model: &mut Model, left: usize) {
    if let Some(said) = just_arrived(left) {
        model.warn(said);
    }
}

fn keep_range(model: &mut Model) {
    let (arrivals, now) = (&model.list.arrivals, model.now);
    let left = model.queue.keep_range(|key| !arrivals.is_just_listed(key, now));
    say_left_out(model, left);
}

pub(crate) fn range(model: &mut Model) {
    if model.queue.has_range() {
        keep_range(model);
    } else {
        model.queue.begin_range();
    }
}

pub(crate) fn end_range(model: &mut Model, command: Command) {
    if COMMANDS.iter().any(|spec| spec.command == command && spec.group == Group::Decide) {
        keep_range(model);
    }
}

pub(crate) fn extend(model: &mut Model, way: Direction) {
    if !model.queue.has_range() {
        model.queue.begin_range();
    }
    go(model, way, 1);
}

/// Marks all visible actions, or unmarks them if all are marked.
pub(crate) fn mark_shown(model: &mut Model) {
    model.queue.drop_range();
    let (known, left) = listed(model, model.queue.shown_pending());
    model.queue.turn_marks(&known);
    let (marked, hidden) = (model.queue.marks.len(), model.queue.marks_hidden());
    let said = match (marked, hidden) {
        (0, _) => words::NOTHING_IS_MARKED.to_owned(),
        (_, 0) => format!("{} marked", crate::text::count(marked, "action")),
        _ => words::marked_and_hidden(&crate::text::count(marked, "action"), hidden),
    };
    model.say(just_arrived(left).map_or(said.clone(), |left| format!("{said}; {left}")));
}

pub(crate) fn switch_focus(model: &mut Model) {
    let other = if model.screen.focus == Focus::List { Focus::Preview } else { Focus::List };
    focus(model, other);
}

pub(crate) fn focus(model: &mut Model, focus: Focus) {
    model.screen.focus = focus;
    if focus == Focus::List {
        model.screen.zoom = false;
    } else if model.layout().text.is_empty() {
        model.screen.zoom = true;
    }
}

/// Scrolls the cursor into view, with the header of its group if that is the line above.
pub(crate) fn keep_in_view(model: &mut Model) {
    let height = usize::from(model.layout_in_panes().rows.height).max(1);
    if let Some(view) = &mut model.history.open {
        let last_top = view.len().saturating_sub(height);
        view.top = view.top.clamp((view.at() + 1).saturating_sub(height), view.at()).min(last_top);
    }
    let at = model.queue.at;
    let header_above = at > 0 && matches!(model.queue.lines.get(at - 1), Some(Line::Header(_)));
    let first = at.saturating_sub(usize::from(header_above && height > 2));
    let density = model.settings.density;
    let last_top = model.queue.first_above(model.queue.lines.len().saturating_sub(1), height, density);
    let least = model.queue.first_above(at, height, density);
    model.queue.top = model.queue.top.min(first).max(least).min(last_top);
}

/// Makes missing bands for the groups on screen.
pub(crate) fn fit_bands(model: &mut Model) {
    let area = model.layout_in_panes().rows;
    let placed = model.queue.placed(area.height, model.settings.density);
    let groups = placed.filter_map(|placed| match placed.line {
        Line::Header(id) => Some(id),
        Line::Action(id) => model.queue.slot(id).map(|slot| slot.group),
    });
    let groups: Vec<GroupId> = groups.collect();
    let mut bands = std::mem::take(&mut model.list.bands);
    for id in bands.missing(groups, (model.queue.reloads, area.width), model.queue.changes()) {
        let Some(group) = model.queue.group(id) else { continue };
        let row = |slot| BandRow {
            slot,
            is_undecided: slot.counts_as_pending() && model.decide.draft.get(&slot.entry.key).is_none(),
            brief: model.brief_of(slot),
            is_flagged: !model.flags_of(slot).kind().0.is_empty(),
        };
        let rows: Vec<_> = model.queue.rows_of(group).take(READ).map(row).collect();
        let is_whole = group.rows.len() <= READ;
        let has_band = !group.is_single() && group.key.batch().is_some();
        bands.make(id, &rows, is_whole, has_band);
    }
    model.list.bands = bands;
}

// Sorting, grouping and freezing.

/// Counts the staged decisions per group again if decisions or rows may have changed.
pub(crate) fn count(model: &mut Model) {
    // Every decision is saved; those of earlier runs are present when reconciling begins.
    let changes = |write: &Write| matches!(write, Write::Step { .. } | Write::Position(_) | Write::Settle(_));
    let decided = |effect: &Effect| match effect {
        Effect::Save(writes) => writes.iter().any(changes),
        effect => matches!(effect, Effect::Reconcile),
    };
    let has_decided = model.effects.iter().any(decided);
    if has_decided {
        model.list.bands.decided();
    }
    if has_decided || !model.decide.spread.is_of(&model.queue) {
        let (queue, draft) = (&model.queue, &model.decide.draft);
        let urgent = match &model.decide.job {
            // Its last slice counts.
            Some(_) => std::mem::take(&mut model.decide.spread.urgent),
            None => StagedUrgent::of(queue, draft),
        };
        let spread = StagedByGroup::of(queue, draft);
        model.decide.spread = spread.with(urgent);
    }
}

pub(crate) fn sort(model: &mut Model, by: SortBy) {
    model.queue.drop_range();
    Sorting::new(by, &model.queue).start(model);
}

impl Job for Sorting {
    const SLICE: usize = 10_000;

    fn place(model: &mut Model) -> &mut Option<Self> {
        &mut model.list.sorting
    }

    fn step(mut self, model: &mut Model, most: usize) -> Option<Self> {
        let Some(order) = self.read(&model.queue, most) else { return Some(self) };
        model.queue.reorder(self.by, order);
        model.queue.drop_range();
        model.screen.dirty = true;
        model.say(match self.by {
            SortBy::Age => words::SORTED_BY_AGE,
            SortBy::Risk => words::SORTED_BY_RISK,
            SortBy::Expiry => words::SORTED_BY_EXPIRY,
            SortBy::Tool => words::SORTED_BY_TOOL,
            SortBy::Source => words::SORTED_BY_SOURCE,
        });
        None
    }
}

pub(crate) fn group(model: &mut Model, by: GroupBy) {
    model.queue.drop_range();
    Regrouping::new(by).start(model);
}

impl Job for Regrouping {
    const SLICE: usize = 10_000;

    fn place(model: &mut Model) -> &mut Option<Self> {
        &mut model.list.regrouping
    }

    fn step(mut self, model: &mut Model, most: usize) -> Option<Self> {
        if !self.read(&model.queue.slots, model.queue.arrangement, most) {
            return Some(self);
        }
        let by = self.by;
        model.queue.regroup(self);
        model.queue.drop_range();
        model.screen.dirty = true;
        let key = model.settings.keymap.key(Command::Unfold);
        model.say(match by {
            GroupBy::Shape => words::grouped_by_shape(&key),
            by => words::grouped_by(by.word()),
        });
        None
    }
}

/// Freezes the list, which keeps its rows while counts continue; or unfreezes it and applies the changes since.
pub(crate) fn freeze(model: &mut Model) {
    match model.list.frozen.take() {
        None => {
            model.list.frozen = Some(FrozenUpdates::default());
            model.say(words::FROZEN);
        }
        Some(later) => {
            let news = later.len();
            sync::catch_up(model, later);
            if model.screen.message.as_ref().is_none_or(|message| message.at != model.now) {
                model.say(if news == 0 {
                    words::LIVE_UNCHANGED.to_owned()
                } else {
                    words::live_again(&crate::text::count(news, "change"))
                });
            }
        }
    }
}

pub(crate) fn sort_word(model: &mut Model, word: &str) {
    let all = [SortBy::Age, SortBy::Risk, SortBy::Expiry, SortBy::Tool, SortBy::Source];
    if let Some(by) = all.into_iter().find(|by| by.word() == word) {
        sort(model, by);
    }
}

pub(crate) fn group_word(model: &mut Model, word: &str) {
    use GroupBy as G;
    let all = [G::Batch, G::Mission, G::Checkpoint, G::Agent, G::Source, G::Shape];
    if let Some(by) = all.into_iter().find(|by| by.word() == word) {
        group(model, by);
    }
}

// Expiry: an expired action is no longer offered.
//
// Sources report when an action expires but not their own time, so this assumes that their clocks and ours agree within
// about a second. If ours is ahead, an action is withheld a moment early. If ours is behind, a decision may be sent too
// late; the source then refuses it, and the report says `skipped: expired`.

/// The preview shows seconds during this time before expiry.
const SECONDS_FROM: i64 = 120_000;

/// Runs with every message: marks expired actions in place and drops their staged decisions. Scans the queue only when
/// something is due.
pub(crate) fn sweep(model: &mut Model) {
    if model.list.stats.next_expiry.is_none_or(|at| at > model.now) {
        return;
    }
    let over = model.queue.slots.iter().filter(|slot| slot.is_pending());
    let over = over.filter(|slot| slot.entry.row.has_expired(model.now));
    let keys: Vec<ActionKey> = over.map(|slot| slot.entry.key.clone()).collect();
    let here = model.here().map(|slot| slot.entry.key.clone());
    if here.is_some_and(|here| keys.contains(&here)) {
        model.decide.guard.changed(model.now);
    }
    for key in &keys {
        let at = model.queue.get(key).and_then(|slot| slot.entry.row.expires_at);
        let expired = Settled { status: Some(Status::Expired), by: None, at, ours: false, error: None };
        model.queue.set_state(key, State::Settled(Box::new(expired)));
    }
    model.recount();
    model.screen.dirty = true;
    let settled: Vec<_> = keys.into_iter().map(|key| (key, None)).collect();
    stage::dropped(model, &settled);
}

pub(crate) fn counts_seconds_from(model: &Model) -> Option<Timestamp> {
    let at = model.here().filter(|slot| slot.is_pending()).and_then(|slot| slot.entry.row.expires_at)?;
    Some(at.plus_millis(-SECONDS_FROM))
}

pub(crate) fn counts_seconds(model: &Model) -> bool {
    let at = model.here().filter(|slot| slot.is_pending()).and_then(|slot| slot.entry.row.expires_at);
    at.is_some_and(|at| (0..=SECONDS_FROM).contains(&at.since(model.now)))
}
