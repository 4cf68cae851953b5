//! Requests a source's list when it reports a change, and merges the answer into the queue.

use crate::domain::{ActionKey, SourceName, Timestamp, Untrusted};
use crate::inbox::{Connection, Event, EventKind, Problem, Rows, Synced};
use crate::text;
use crate::text::Shown;
use crate::tui::chrome;
use crate::tui::chrome::state::Tone;
use crate::tui::claims;
use crate::tui::core::model::{Model, problem_parts};
use crate::tui::core::msg::Effect;
use crate::tui::decide::stage;
use crate::tui::people;
use crate::tui::preview;
use crate::tui::preview::page::made::Tab;
use crate::tui::queue::words;
use crate::tui::snooze;
use crate::tui::submit::{report, resolve_unknown};

use super::filter;
use super::groups::GroupKey;
use super::incoming::{FrozenUpdates, Merged};
use super::list::Syncing;
use super::slots::State;
use super::state::Cursor;

pub(crate) fn event(model: &mut Model, event: Event) {
    let now = model.now;
    let was_stale = model.source(&event.source).is_some_and(|source| source.is_stale(now));
    model.screen.dirty |= was_stale;
    let Some(source) = model.source(&event.source) else { return };
    match event.kind {
        EventKind::Connection(connection) => {
            let is_back = connection == Connection::Live && source.connection != connection;
            source.connection = connection;
            source.connection_at = now;
            if is_back {
                snooze::update::connected(model, &event.source);
            }
        }
        EventKind::Tick => {
            source.is_there(now);
        }
        EventKind::Briefing(briefing) => {
            let news = source.paused != briefing.paused || source.blocked != briefing.blocked_missions;
            source.paused = briefing.paused;
            source.blocked = briefing.blocked_missions;
            let is_known = briefing.revision.is_some() && briefing.revision == source.revision;
            if is_known {
                source.is_there(now);
            }
            model.screen.dirty |= news;
            claims::update::told(model, &event.source, briefing.claims);
            if !is_known {
                model.sync(&event.source);
            }
        }
        EventKind::Changed => {
            people::update::ask_first(model, &event.source);
            model.sync(&event.source);
        }
    }
}

/// Takes in arrivals, drops settled rows, and syncs again.
pub(crate) fn reload(model: &mut Model) {
    model.screen.message = None;
    // A reload shows new rows even if the list is frozen.
    if let Some(later) = &mut model.list.frozen {
        let later = std::mem::take(later);
        catch_up(model, later);
    }
    take_in(model);
    // Errors are reported again.
    model.list.sources.iter_mut().for_each(|source| source.told = false);
    model.preview.problems.clear();
    preview::update::forget(model);
    if model.submit.look_again.is_some() {
        model.submit.look_again = Some(model.now);
    }
    report::look_again(model);
    people::update::ask_again(model);
    model.sync_all();
}

pub(crate) fn catch_up(model: &mut Model, mut later: FrozenUpdates) {
    for (source, rows) in later.take() {
        let merged = model.queue.merge(&source, rows);
        merged_in(model, &merged, Came::Changes);
    }
    model.recount();
}

/// Time after which a row that others settled leaves the list. Milliseconds.
const FADES: i64 = 60_000;

pub(crate) fn fades_at(model: &Model) -> Option<Timestamp> {
    let all = model.list.fading.values().map(|at| at.plus_millis(FADES));
    all.filter(|at| *at > model.now).min()
}

/// Removes rows that others settled a minute ago.
pub(crate) fn fade(model: &mut Model) {
    let now = model.now;
    let is_due = |at: &Timestamp| now.since(*at) >= FADES;
    if model.list.frozen.is_some() || !model.list.fading.values().any(is_due) {
        return;
    }
    model.list.fading.retain(|key, _| {
        let state = model.queue.get(key).map(|slot| &slot.state);
        matches!(state, Some(State::Settled(settled)) if !settled.ours)
    });
    let due = model.list.fading.iter().filter(|(_, at)| is_due(at));
    if model.queue.drop_settled(&due.map(|(key, _)| key.clone()).collect()) {
        model.recount();
        model.screen.dirty = true;
    }
}

pub(crate) fn take_in(model: &mut Model) {
    model.queue.take_in();
    filter::renew(model);
    model.recount();
}

/// Takes in arrivals that move no row between the top of the screen and the cursor; all of them after a move, or if no
/// visible action is open. A frozen list stays unchanged.
pub(crate) fn arrive(model: &mut Model, moved: bool) {
    if model.queue.held.is_empty() || model.list.frozen.is_some() || model.list.filtering.scan.is_some() {
        return;
    }
    let hidden = filter::hidden(model);
    let all = moved || model.queue.is_emptied();
    let came = model.queue.admit(all, &hidden, model.now);
    if !came.is_empty() {
        model.list.arrivals.listed(came, model.now);
        model.screen.dirty = true;
        model.recount();
    }
}

/// Takes in all arrivals. Returns false if there are none or the list is frozen.
pub(crate) fn arrive_all(model: &mut Model) -> bool {
    let before = model.queue.held.len();
    arrive(model, true);
    model.queue.held.len() < before
}

pub(crate) fn drawn(model: &mut Model) {
    if model.list.arrivals.is_empty() || model.history.open.is_some() {
        return;
    }
    let lines = model.queue.placed(model.layout().rows.height, model.settings.density).count();
    let here = model.queue.here().map(|slot| &slot.entry.key);
    let drawn = model.queue.on_lines(model.queue.top, lines).chain(here);
    model.list.arrivals.drawn(drawn, model.now);
}

pub(crate) fn synced(model: &mut Model, name: &SourceName, answer: Result<Synced, Problem>) {
    let now = model.now;
    if let Ok(Synced { rows: rows @ Rows::Page { .. }, .. }) = answer {
        return page(model, name, rows);
    }
    let Some(source) = model.source(name) else { return };
    let again = source.syncing == Syncing::Again;
    source.syncing = Syncing::No;
    match answer {
        Err(problem) => {
            let known = source.told && source.problem.as_ref() == Some(&problem);
            (source.problem, source.told) = (Some(problem.clone()), true);
            model.queue.show_pages();
            // A repeated error would hide other messages; it is shown next to the source's name anyway.
            if !known {
                model.tell_problem(chrome::words::LIST_NOT_READ, &problem);
            }
        }
        Ok(synced) => {
            let problem = source.problem.take();
            source.told = false;
            source.heard = Some(now);
            let claims = synced.claims;
            let is_first = !std::mem::replace(&mut source.listed, true);
            let me = synced.subject.clone();
            source.subject = synced.subject;
            source.revision = synced.revision;
            let news = synced.unreadable.iter().find(|item| !source.unreadable.contains(item)).cloned();
            source.unreadable = synced.unreadable;
            claims::update::told(model, name, claims);
            if is_first {
                model.effects.push(Effect::AskRan(name.clone()));
                people::update::ask_first(model, name);
            }
            if let Some(item) = news {
                unreadable(model, name, &item);
            }
            if let Some(problem) = problem {
                readable_again(model, name, &problem);
            }
            // On a busy gate, this would keep replacing the watch view's messages.
            if let (Rows::Changes { entries, .. }, Some(me)) = (&synced.rows, &me)
                && model.list.elsewhere.look(&model.queue, entries, me, now)
                && !model.dashboard.watch.open
                && let Some(told) = model.list.elsewhere.told()
            {
                model.warn(words::under_your_name(&told));
            }
            match &mut model.list.frozen {
                Some(later) => {
                    later.keep(&model.queue, name, synced.rows);
                    model.recount();
                }
                None => {
                    let merged = model.queue.merge(name, synced.rows);
                    merged_in(model, &merged, if is_first { Came::First } else { Came::Changes });
                }
            }
        }
    }
    if again {
        model.sync(name);
    }
}

fn page(model: &mut Model, name: &SourceName, rows: Rows) {
    let is_first = model.source(name).is_some_and(|source| !source.listed);
    if let Some(later) = &mut model.list.frozen {
        return later.keep(&model.queue, name, rows);
    }
    let came = match &rows {
        _ if !is_first => Came::Changes,
        Rows::Page { first: true, .. } => Came::First,
        _ => Came::MorePages,
    };
    let merged = model.queue.merge(name, rows);
    merged_in(model, &merged, came);
}

/// Clears the message that the source could not be read, and allows reading its actions again.
fn readable_again(model: &mut Model, name: &SourceName, problem: &Problem) {
    let said = problem_parts(chrome::words::LIST_NOT_READ, problem);
    if model.screen.message.as_ref().is_some_and(|message| message.parts == said) {
        model.screen.message = None;
    }
    model.preview.problems.retain(|key, _| key.source != *name);
}

/// Reports an item that cannot be read. The other items are shown.
fn unreadable(model: &mut Model, source: &SourceName, item: &Untrusted) {
    let count = model.source(source).map_or(1, |source| source.unreadable.len());
    let said = Shown::ours(words::unreadable(count, source));
    model.tell(Tone::Bad, vec![said, text::identifier(item)]);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    /// The whole first list, or its first or last page. No row counts as a new arrival.
    First,
    MorePages,
    Changes,
}

fn merged_in(model: &mut Model, merged: &Merged, came: Came) {
    let is_first = came != Came::Changes;
    let here = model.here().map(|slot| slot.entry.key.clone());
    say_unmarked(model, merged);
    let touched_here = |key: &ActionKey| here.as_ref() == Some(key);
    if merged.changed.iter().any(touched_here) || merged.settled.iter().any(|(key, _)| touched_here(key)) {
        model.decide.guard.changed(model.now);
    }
    for key in &merged.changed {
        model.preview.forget(key);
        if model.preview.shown.as_ref() == Some(key) {
            // Show the tab that always contains the new content.
            model.preview.tab = Tab::Rendered;
        }
    }
    merged.settled.iter().for_each(|(key, _)| {
        model.preview.forget(key);
        report::settled(model, key);
    });
    model.list.fading.extend(merged.settled.iter().map(|(key, _)| (key.clone(), model.now)));
    if !model.list.touched || model.queue.slots.is_empty() || is_first {
        let before = model.queue.cursor().cloned();
        match came {
            _ if model.queue.slots.is_empty() => model.queue.take_in(),
            Came::MorePages => model.queue.take_in_page(),
            Came::First => model.queue.take_in_held(),
            Came::Changes => model.queue.take_in(),
        }
        if is_first && !model.list.touched {
            model.queue.go_to_first();
        }
        filter::renew(model);
        if before.is_some() && model.queue.cursor() != before.as_ref() {
            model.decide.guard.changed(model.now);
        }
    }
    if merged.lost {
        report::put_lost_first(model, Vec::new());
    }
    model.recount();
    if merged.lost_is_told {
        model.submit.look_again = Some(model.now);
    }
    stage::dropped(model, &merged.settled);
    resolve_unknown::settled_elsewhere(model);
    stage::drop_settled(model);
    stage::unstage_changed(model);
}

/// Reports marks that were lost with settled actions, because the next key then applies to fewer.
fn say_unmarked(model: &mut Model, merged: &Merged) {
    let gone = model.queue.marks.gone();
    if merged.settled.is_empty() || gone == 0 {
        return;
    }
    let left = model.queue.marks.len();
    model.warn(words::marks_left(left, left + gone));
}

// Loading the actions of a group of near-identical ones, to show what varies.

const READ: usize = 20;

/// Loads the first actions of the group under the cursor, and marked actions.
pub(crate) fn read_ahead(model: &mut Model) {
    let group = match model.queue.cursor() {
        Some(Cursor::Header(key @ GroupKey::Shape(_))) => model.queue.find_group(key),
        _ => None,
    };
    let preview = &model.preview;
    let known = |key: &&ActionKey| {
        preview.cached(key).is_some() || preview.loading.contains(*key) || preview.problems.contains_key(*key)
    };
    let first = group.into_iter().flat_map(|group| model.queue.rows_of(group).take(READ));
    let first = first.map(|slot| &slot.entry.key);
    let marked = &model.queue.mark_sums().few;
    let wanted: Vec<ActionKey> = first.chain(marked).filter(|key| !known(key)).cloned().collect();
    if wanted.is_empty() {
        return;
    }
    model.preview.loading.extend(wanted.iter().cloned());
    model.effects.push(Effect::Load(wanted));
}
