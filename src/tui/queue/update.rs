//! Moving about: cursor, folds, marks, focus. Nothing here decides anything.

use crate::config::{GroupBy, SortBy};
use crate::domain::{ActionKey, Status, Timestamp};
use crate::journal::Write;
use crate::tui::chrome::state::Focus;
use crate::tui::core::command::{COMMANDS, Command, Direction, Group, shift};
use crate::tui::core::modal::Modal;
use crate::tui::core::model::Model;
use crate::tui::core::msg::Effect;
use crate::tui::decide::stage;
use crate::tui::preview::reader;
use crate::tui::queue::words;
use crate::tui::{claims, history, preview};

use super::counts::StagedByGroup;
use super::incoming::FrozenUpdates;
use super::slots::{Settled, Slot, State};
use super::state::{Cursor, Line};
use super::sync;

/// What movement keys move.
enum Moves {
    List,
    Preview,
    Sheet,
}

fn moves(model: &Model) -> Moves {
    match (&model.modal, model.screen.focus) {
        (Some(_), _) => Moves::Sheet,
        (None, Focus::Preview) => Moves::Preview,
        (None, Focus::List) if model.screen.zoom => Moves::Preview,
        (None, Focus::List) => Moves::List,
    }
}

pub(crate) fn down(model: &mut Model, by: usize) {
    go(model, Direction::Down, by);
}

pub(crate) fn up(model: &mut Model, by: usize) {
    go(model, Direction::Up, by);
}

fn go(model: &mut Model, way: Direction, by: usize) {
    match moves(model) {
        Moves::List => step(model, way, by),
        Moves::Preview => {
            reader::step(model, way, by);
        }
        Moves::Sheet => scroll_sheet(model, way, by),
    }
}

/// Moves the cursor of the list that is on screen, wherever keys go.
pub(crate) fn step(model: &mut Model, way: Direction, by: usize) {
    match &mut model.history.open {
        Some(view) => view.go_to(shift(view.at(), way, by)),
        None => model.queue.go_to(shift(model.queue.at(), way, by)),
    }
}

/// Puts the cursor on a row of the screen, counted from the list's first; below the last one is nowhere.
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

pub(crate) fn top(model: &mut Model) {
    go(model, Direction::Up, usize::MAX);
}

pub(crate) fn bottom(model: &mut Model) {
    go(model, Direction::Down, usize::MAX);
}

pub(crate) fn half(model: &mut Model, way: Direction) {
    let layout = model.layout();
    let height = match moves(model) {
        Moves::List => model.on_screen_lines(),
        Moves::Preview | Moves::Sheet => layout.text.height,
    };
    go(model, way, usize::from(height / 2).max(1));
}

/// Scrolls what is open over the inbox. How far it goes is known when it is drawn.
pub(crate) fn scroll_sheet(model: &mut Model, way: Direction, by: usize) {
    let top = match &mut model.modal {
        Some(Modal::Review(sheet)) => &mut sheet.top,
        Some(Modal::Report(sheet)) => &mut sheet.top,
        Some(Modal::Links(sheet)) => {
            sheet.at = shift(sheet.at, way, by).min(sheet.links.len().saturating_sub(1));
            return;
        }
        Some(
            Modal::Edit(_)
            | Modal::EditSoon { .. }
            | Modal::Reason(_)
            | Modal::ResolveUnknown(_)
            | Modal::Quit(_)
            | Modal::Filter(_)
            | Modal::NameFilter(_)
            | Modal::Saved,
        )
        | None => return,
        Some(Modal::Places(_)) => return super::places::go(model, |at| shift(at, way, by)),
    };
    *top = shift(*top, way, by);
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
    let Some(group) = model.queue.group_here() else { return };
    let (key, folded) = (group.key.clone(), group.folded);
    if let Some(index) = model.queue.group_index(&key) {
        model.queue.fold(index, !folded);
    }
}

/// On an action: its whole batch is folded, and the cursor goes to the header.
pub(crate) fn fold(model: &mut Model) {
    if model.history.open.is_some() {
        return;
    }
    let group = model.queue.group_here().and_then(|group| model.queue.group_index(&group.key));
    if let Some(index) = group {
        model.queue.fold(index, true);
    }
}

pub(crate) fn unfold(model: &mut Model) {
    if model.history.open.is_some() {
        return preview::update::zoom(model, true);
    }
    match model.queue.group_here() {
        Some(group) if group.folded => toggle_fold(model),
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

/// The next undecided action in the order of the list, across batches and folds, and round the end.
pub(crate) fn next_undecided(model: &mut Model, way: Direction) {
    if model.history.open.is_some() {
        return history::update::refuse(model);
    }
    let found = step_to_undecided(model, way) || (sync::arrive_all(model) && step_to_undecided(model, way));
    if !found {
        let is_left =
            model.queue.after_cursor().any(|index| is_undecided(model, index) && !is_next(model, index));
        let shown = if is_left {
            claims::words::OTHERS_ARE_ON_IT
        } else if model.queue.shown().is_some() {
            words::SHOWN_IS_DECIDED
        } else {
            words::ALL_IS_DECIDED
        };
        model.say(shown);
    }
}

fn step_to_undecided(model: &mut Model, way: Direction) -> bool {
    let found = find_undecided(model, way, |_| true);
    found.map(|index| model.queue.go_to_action(index)).is_some()
}

/// On to the next undecided action after a decision, past those that just came on screen. Returns how many of these there are
/// where there is nothing else.
pub(crate) fn advance(model: &mut Model) -> Result<(), usize> {
    let is_stop = |key: &ActionKey| !model.list.arrivals.is_no_stop(key, model.now);
    if let Some(index) = find_undecided(model, Direction::Down, is_stop) {
        model.queue.go_to_action(index);
        return Ok(());
    }
    let new = model.queue.after_cursor().filter(|index| is_undecided(model, *index)).count();
    Err(new + model.queue.held_pending().count())
}

fn is_undecided(model: &Model, index: u32) -> bool {
    let slot = model.queue.slot(index);
    slot.is_some_and(|slot| slot.is_pending() && model.decide.draft.get(&slot.entry.key).is_none())
}

/// It can be decided, nothing is staged, and it is not left to somebody else.
fn is_next(model: &Model, index: u32) -> bool {
    let is_free = |slot: &Slot| !claims::update::is_left_to_others(model, slot);
    is_undecided(model, index) && model.queue.slot(index).is_some_and(is_free)
}

fn find_undecided(model: &Model, way: Direction, is_stop: impl Fn(&ActionKey) -> bool) -> Option<u32> {
    let undecided = |index: &u32| {
        let key = model.queue.slot(*index).map(|slot| &slot.entry.key);
        is_next(model, *index) && key.is_some_and(&is_stop)
    };
    let here = model.here().map(|slot| &slot.entry.key);
    let other = |index: &u32| model.queue.slot(*index).map(|slot| &slot.entry.key) != here;
    let mut order = model.queue.after_cursor().filter(undecided);
    match way {
        Direction::Down => order.next(),
        Direction::Up => order.rev().find(other),
    }
}

/// Marks or unmarks, and goes down. With a range open it is the range that is marked.
pub(crate) fn mark(model: &mut Model) {
    if model.queue.has_range() {
        keep_range(model);
        return;
    }
    let (known, left) = listed(model, model.queue.pending_here());
    model.queue.turn_marks(&known);
    say_left_out(model, left);
    down(model, 1);
}

/// Those of them that were in the list when the key was meant, and how many were not.
fn listed(model: &Model, indices: Vec<u32>) -> (Vec<u32>, usize) {
    if model.list.arrivals.is_empty() {
        return (indices, 0);
    }
    let is_new = |index: &u32| {
        let slot = model.queue.slot(*index);
        slot.is_some_and(|slot| model.list.arrivals.is_just_listed(&slot.entry.key, model.now))
    };
    let (new, known): (Vec<_>, Vec<_>) = indices.into_iter().partition(is_new);
    (known, new.len())
}

/// What a key for many rows says of those that it does not take.
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

/// Begins a range at the cursor, or ends it.
pub(crate) fn range(model: &mut Model) {
    if model.queue.has_range() {
        keep_range(model);
    } else {
        model.queue.begin_range();
    }
}

/// A command that decides is about what the range marks.
pub(crate) fn end_range(model: &mut Model, command: Command) {
    if COMMANDS.iter().any(|spec| spec.command == command && spec.group == Group::Decide) {
        keep_range(model);
    }
}

/// Goes on with the range, and begins one first where there is none.
pub(crate) fn extend(model: &mut Model, way: Direction) {
    if !model.queue.has_range() {
        model.queue.begin_range();
    }
    go(model, way, 1);
}

/// Marks everything that is shown; when all of it is, nothing is marked any more.
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
        // No room for a preview beside the list.
        model.screen.zoom = true;
    }
}

/// Scrolls so that the cursor is on screen, and with it its batch's header where that is just above.
pub(crate) fn keep_in_view(model: &mut Model) {
    let height = usize::from(model.layout_in_panes().rows.height).max(1);
    if let Some(view) = &mut model.history.open {
        let last_top = view.len().saturating_sub(height);
        view.top = view.top.clamp((view.at() + 1).saturating_sub(height), view.at()).min(last_top);
    }
    let at = model.queue.at();
    let header_above = at > 0 && matches!(model.queue.lines().get(at - 1), Some(Line::Header(_)));
    let first = at.saturating_sub(usize::from(header_above && height > 2));
    let density = model.settings.density;
    let last_top = model.queue.first_above(model.queue.lines().len().saturating_sub(1), height, density);
    let least = model.queue.first_above(at, height, density);
    model.queue.top = model.queue.top.min(first).max(least).min(last_top);
}

// In which order and groups the list stands, and whether it follows what happens.

/// Counts anew what is staged where, when decisions or rows may be others.
pub(crate) fn count(model: &mut Model) {
    // Every decision is saved; what was staged before is there when reconciling begins.
    let changes = |write: &Write| matches!(write, Write::Step { .. } | Write::Position(_) | Write::Settle(_));
    let decided = |effect: &Effect| match effect {
        Effect::Save(writes) => writes.iter().any(changes),
        effect => matches!(effect, Effect::Reconcile),
    };
    if model.effects.iter().any(decided) || !model.decide.spread.is_of(&model.queue) {
        model.decide.spread = StagedByGroup::of(&model.queue, &model.decide.draft);
    }
}

pub(crate) fn sort(model: &mut Model, by: SortBy) {
    model.queue.drop_range();
    model.queue.begin_sort(by);
    go_on_sorting(model);
}

/// Goes on to look for another order. The old one stands until it is found.
pub(crate) fn go_on_sorting(model: &mut Model) {
    if !model.queue.is_sorting() {
        return;
    }
    let Some(by) = model.queue.sort_some(STRETCH) else {
        return model.effects.push(Effect::WakeIn(0));
    };
    model.queue.drop_range();
    model.screen.dirty = true;
    model.say(match by {
        SortBy::Age => words::SORTED_BY_AGE,
        SortBy::Risk => words::SORTED_BY_RISK,
        SortBy::Expiry => words::SORTED_BY_EXPIRY,
        SortBy::Tool => words::SORTED_BY_TOOL,
        SortBy::Source => words::SORTED_BY_SOURCE,
    });
}

pub(crate) fn group(model: &mut Model, by: GroupBy) {
    model.queue.drop_range();
    model.queue.begin_regroup(by);
    go_on_grouping(model);
}

/// Rows that are looked at between two keys: a few milliseconds.
const STRETCH: usize = 10_000;

/// Goes on to look for another grouping. The old one stands until it is found.
pub(crate) fn go_on_grouping(model: &mut Model) {
    if !model.queue.is_regrouping() {
        return;
    }
    let Some(by) = model.queue.regroup_some(STRETCH) else {
        return model.effects.push(Effect::WakeIn(0));
    };
    model.queue.drop_range();
    model.screen.dirty = true;
    let key = model.settings.keymap.key(Command::Unfold);
    model.say(match by {
        GroupBy::Shape => words::grouped_by_shape(&key),
        by => words::grouped_by(by.word()),
    });
}

/// Frozen: counts go on, rows stay as they are. Live again: everything that happened meanwhile.
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

/// By the word for it.
pub(crate) fn sort_word(model: &mut Model, word: &str) {
    let all = [SortBy::Age, SortBy::Risk, SortBy::Expiry, SortBy::Tool, SortBy::Source];
    if let Some(by) = all.into_iter().find(|by| by.word() == word) {
        sort(model, by);
    }
}

/// By the word for it.
pub(crate) fn group_word(model: &mut Model, word: &str) {
    use GroupBy as G;
    let all = [G::Batch, G::Mission, G::Checkpoint, G::Agent, G::Source, G::Shape];
    if let Some(by) = all.into_iter().find(|by| by.word() == word) {
        group(model, by);
    }
}

// What expires: when its time is over here, it is offered no more.
//
// Sources tell when an action expires and not what time they have it: it is assumed that their clock and this computer's
// agree to within a second or so. Where ours is ahead, an action is withheld a moment early; where it is behind, a decision
// may be sent a moment late, and the source, whose clock counts, refuses it: the report says `skipped: expired`.

/// From so long before on, the preview's head counts seconds.
const SECONDS_FROM: i64 = 120_000;

/// Around every message: what has run out by now stays in its place, marked as expired, and its staged decision is dropped.
/// Looks at the queue only when something is due.
pub(crate) fn sweep(model: &mut Model) {
    if model.list.stats.next_expiry.is_none_or(|at| at > model.now) {
        return;
    }
    let over = model.queue.slots().iter().filter(|slot| slot.is_pending());
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

/// When a countdown on screen begins to change with every second.
pub(crate) fn counts_seconds_from(model: &Model) -> Option<Timestamp> {
    let at = model.here().filter(|slot| slot.is_pending()).and_then(|slot| slot.entry.row.expires_at)?;
    Some(at.plus_millis(-SECONDS_FROM))
}

/// A countdown on screen changes with every second.
pub(crate) fn counts_seconds(model: &Model) -> bool {
    let at = model.here().filter(|slot| slot.is_pending()).and_then(|slot| slot.entry.row.expires_at);
    at.is_some_and(|at| (0..=SECONDS_FROM).contains(&at.since(model.now)))
}
