//! Loads and lays out the preview as the cursor moves, scrolls it, and records what was on screen.

use std::ops::Range;
use std::sync::Arc;

use crate::config::Density;
use crate::domain::{ActionKey, Digest, Entry, Outcome, Row, Seen, Untrusted};
use crate::inbox::{Answer, Problem, Question};
use crate::journal::Write;
use crate::text;
use crate::text::{Flags, Shown};
use crate::tui::core::command;
use crate::tui::core::command::Direction;
use crate::tui::core::model::{Model, Sheet};
use crate::tui::core::msg::{Effect, What};
use crate::tui::history;
use crate::tui::preview::page::made::{Cached, Made, Tab};
use crate::tui::queue::slots::Slot;
use crate::tui::queue::state::Line;

use super::page::{Page, ToLayOut};
use super::reading_time::{OnScreen, TimeOnScreen, time_for};
use super::search;
use super::state::{Asked, AskedState};

/// The preview waits until a held key rests for this long. Milliseconds.
const REST: i64 = 80;
/// An action usually loads within this time; until then the screen stays unchanged. Milliseconds.
const BLANK: i64 = 40;
/// Bytes of a long text counted per message: some 10 ms for text of many scripts.
const AT_ONCE: usize = 128 << 10;
/// Widest readable line. Columns.
const PROSE: u16 = 88;
/// Largest action that is loaded without being under the cursor. Bytes.
const SHORT: u64 = 64 << 10;
/// Larger actions are laid out in the background. Bytes.
const LONG: usize = 256 << 10;
/// Milliseconds until counting continues.
const COUNT_ON: u64 = 1;

/// Runs after every message: shows the action under the cursor and requests it if it is not cached.
pub(crate) fn follow(model: &mut Model) {
    let target = model.here().map(|slot| slot.entry.key.clone());
    let moved = model.preview.target != target;
    if moved {
        let held_down = model.preview.moved.is_some_and(|at| model.now.since(at) < REST);
        model.preview.target = target;
        model.preview.moved = Some(model.now);
        model.preview.due = Some(if held_down { model.now.plus_millis(REST) } else { model.now });
        if held_down {
            model.effects.push(Effect::WakeIn(REST as u64));
        }
    }
    if model.preview.due.is_some_and(|due| due <= model.now) {
        model.preview.due = None;
        model.screen.dirty |= model.preview.shown != model.preview.target;
        if model.preview.shown != model.preview.target {
            model.preview.tab = Tab::Rendered;
        }
        model.preview.shown = model.preview.target.clone();
        to_the_top(model);
    }
    history::update::follow(model);
    let wanted = missing(model);
    if !wanted.is_empty() {
        model.preview.loading.extend(wanted.iter().cloned());
        model.effects.push(Effect::Load(wanted));
    }
    hold_blank(model, moved);
    if model.here().is_none() {
        model.screen.zoom = false;
    }
    fetch_tabs(model);
    make_page(model);
    if model.preview.page.as_ref().is_some_and(|page| !page.is_counted()) {
        model.effects.push(Effect::WakeIn(COUNT_ON));
    }
}

/// Delays an empty preview, which would flicker if the action loads right away.
fn hold_blank(model: &mut Model, moved: bool) {
    let shown = model.preview.shown.as_ref().filter(|shown| model.preview.target.as_ref() == Some(shown));
    let is_blank = shown.is_some_and(|shown| model.preview.loading.contains(shown));
    // Before the first key, rows come and go under the cursor and are shown at once.
    if !is_blank || !model.list.touched || model.layout().text.is_empty() {
        model.preview.blank_from = None;
    } else if moved {
        model.preview.blank_from = Some(model.now.plus_millis(BLANK));
        model.effects.push(Effect::WakeIn(BLANK.unsigned_abs()));
    }
}

/// Returns the actions to load: the shown one, its neighbours, and visible ones whose second line needs them.
fn missing(model: &Model) -> Vec<ActionKey> {
    let Some(shown) = &model.preview.shown else { return Vec::new() };
    let preview = &model.preview;
    let known = |key: &ActionKey| {
        preview.cached(key).is_some() || preview.loading.contains(key) || preview.problems.contains_key(key)
    };
    let mut wanted: Vec<ActionKey> = Vec::new();
    if !known(shown) {
        wanted.push(shown.clone());
    }
    if preview.target.as_ref() == Some(shown) {
        wanted.extend(
            near(model).into_iter().flatten().map(|slot| &slot.entry.key).filter(|key| !known(key)).cloned(),
        );
    }
    if model.settings.density == Density::Comfortable && model.history.open.is_none() {
        let lines = model.on_screen_lines();
        let short = |key: &&ActionKey| model.queue.get(key).is_some_and(|slot| slot.entry.row.size <= SHORT);
        let on_screen = model.queue.on_lines(model.queue.top, lines.into()).filter(short);
        wanted.extend(
            on_screen.filter(|key| !known(key) && !wanted.contains(key)).cloned().collect::<Vec<_>>(),
        );
    }
    wanted
}

/// Returns the actions after and before the cursor, skipping headers; the one before only if it is short.
fn near(model: &Model) -> [Option<&Slot>; 2] {
    let short = |slot: &&Slot| slot.entry.row.size <= SHORT;
    if let Some(view) = &model.history.open {
        let before = view.at().checked_sub(1).and_then(|at| view.slot(at));
        return [view.slot(view.at() + 1), before.filter(short)];
    }
    let (lines, at) = (&model.queue.lines, model.queue.at);
    let action = |line: &Line| match line {
        Line::Action(index) => model.queue.slot(*index),
        Line::Header(_) => None,
    };
    let after = lines.get(at + 1..).unwrap_or_default().iter().take(2).find_map(action);
    let before = lines.get(..at).unwrap_or_default().iter().rev().take(2).find_map(action);
    [after, before.filter(short)]
}

pub(crate) fn make_page(model: &mut Model) {
    make_context(model);
    let made = made(model, model.preview.tab, model.layout().text.width);
    if model.preview.page.as_ref().map(|page| &page.of) != made.as_ref() {
        let before = model.preview.page.take().filter(|page| {
            // A page with other folds has other blocks; its cursor is kept by `reader`.
            made.as_ref().is_some_and(|made| page.of.is_other_width(made))
        });
        let wanted = made.and_then(|made| to_lay_out(model, made));
        match wanted {
            Some(wanted) if is_long(&wanted) && !model.preview.stacked => {
                // Until it is laid out, the page at the old width stays.
                model.preview.page = before;
                if model.preview.laying.as_ref() != Some(&wanted.of) {
                    model.preview.laying = Some(wanted.of.clone());
                    model.effects.push(Effect::LayOut(Box::new(wanted)));
                }
            }
            wanted => {
                model.preview.laying = None;
                show_page(model, before, wanted.map(ToLayOut::lay_out));
            }
        }
    }
    if let Some(page) = model.preview.page.as_mut().filter(|page| !page.is_counted()) {
        page.count(AT_ONCE);
        model.screen.dirty = true;
    }
    if model.preview.to_end && model.preview.page.as_ref().is_none_or(Page::is_counted) {
        let last = model.preview.page.as_ref().map_or(0, Page::len).saturating_sub(1);
        model.preview.to_end = false;
        (model.preview.top, model.preview.cursor) = (last_top(model), last);
    }
    search::follow(model);
    let last = last_top(model);
    model.preview.top = model.preview.top.min(last);
    // If the text was scrolled away from the cursor, the cursor follows.
    let bottom = model.preview.top + usize::from(model.layout().text.height).saturating_sub(1);
    model.preview.cursor = model.preview.cursor.clamp(model.preview.top, bottom);
}

/// Returns true if laying out the page would delay keys.
fn is_long(page: &ToLayOut) -> bool {
    page.cached.action.raw.as_str().len().max(page.cached.action.input.as_str().len()) > LONG
}

/// Takes a page that was laid out in the background, unless another one is wanted by now.
pub(crate) fn laid_out(model: &mut Model, page: Page) {
    if model.preview.laying.as_ref() != Some(&page.of) {
        return;
    }
    model.preview.laying = None;
    let before = model.preview.page.take().filter(|before| before.of.is_other_width(&page.of));
    model.screen.dirty = true;
    show_page(model, before, Some(page));
    if let Some(line) = model.preview.to_line.take() {
        go_to_line(model, line);
    }
}

/// Puts the cursor of the Raw tab on a line of its text, once the page is there.
pub(crate) fn go_to_line(model: &mut Model, line: usize) {
    let height = usize::from(model.layout().text.height).max(1);
    let Some(page) = &mut model.preview.page else {
        model.preview.to_line = Some(line);
        return;
    };
    if let Some(row) = page.row_of_json(line) {
        model.preview.cursor = row;
        model.preview.top = model.preview.top.min(row).max((row + 1).saturating_sub(height));
    }
}

/// Shows a page. If its text is the same, the line at the top stays at the top.
fn show_page(model: &mut Model, before: Option<Page>, page: Option<Page>) {
    model.preview.page = page;
    if let (Some(before), Some(page)) = (before, &mut model.preview.page) {
        model.preview.top = page.row_of(&before.anchor(model.preview.top));
        model.preview.cursor = page.row_of(&before.anchor(model.preview.cursor));
    }
}

/// Lays out the Context tab next to the preview. It is short and does not scroll.
fn make_context(model: &mut Model) {
    let made = made(model, Tab::Context, model.layout().context.width);
    if model.preview.context.as_ref().map(|page| &page.of) != made.as_ref() {
        let mut page = made.and_then(|made| to_lay_out(model, made)).map(ToLayOut::lay_out);
        if let Some(page) = &mut page {
            page.count(AT_ONCE);
        }
        model.preview.context = page;
        model.screen.dirty = true;
    }
}

fn to_lay_out(model: &Model, of: Made) -> Option<ToLayOut> {
    let cached = Arc::clone(model.preview.cached(&of.key)?);
    let row = model.queue.get(&of.key).map_or(&cached.action.row, |slot| &slot.entry.row).clone();
    let told = model.reader.answers.get(&of.key, of.tab).map(|told| Arc::clone(&told.answer));
    Some(ToLayOut { of, cached, row, told, zone: model.settings.zone.clone() })
}

fn made(model: &Model, tab: Tab, width: u16) -> Option<Made> {
    let key = model.preview.shown.as_ref()?;
    let cached = model.preview.cached(key)?;
    let wraps = model.preview.wrap && tab == Tab::Rendered;
    let width = if wraps { width.min(PROSE) } else { width };
    let status = &cached.action.row.status;
    // For an ended action, the edits that it was approved with.
    let decided = cached.action.user_edits.as_ref().filter(|_| !status.is_pending());
    let here = model.here().filter(|slot| tab == Tab::Context && slot.entry.key == *key);
    (width > 0).then(|| Made {
        key: key.clone(),
        digest: cached.digest,
        reads: model.reads(key, cached),
        tab,
        width,
        wrap: model.preview.wrap,
        folds: model.preview.folds(key, &cached.digest),
        edits: model.edits_of(key).or(decided).cloned(),
        seen: model.seen_otherwise(key, &cached.digest).filter(|_| status.is_pending()),
        stacked: model.preview.stacked,
        colours: model.settings.paints_sources() && !model.preview.stacked,
        status: status.clone(),
        paused: model.is_paused(&key.source),
        told: model.reader.answers.get(key, tab).map(|told| told.number),
        can: here.filter(|slot| slot.is_pending()).map(|slot| slot.entry.row.can),
        called: called(model, key, cached, tab),
    })
}

/// Returns the display names that the page needs, if they differ from the subjects.
fn called(model: &Model, key: &ActionKey, cached: &Cached, tab: Tab) -> Vec<(Untrusted, Shown)> {
    let action = &cached.action;
    let mut subjects: Vec<&Untrusted> = action.approvals.iter().map(|approval| &approval.by).collect();
    subjects.extend(&action.row.resolved_by);
    let told = model.reader.answers.get(key, tab).map(|told| &*told.answer);
    if let Some(Ok(Answer::History(told))) = told {
        subjects.extend(told.events.iter().flatten().filter_map(|event| event.by.as_ref()));
        subjects.extend(told.sent.iter().filter_map(|one| match &one.sent.outcome {
            Some(Outcome::Skipped { by, .. }) => by.as_ref(),
            _ => None,
        }));
    }
    subjects.sort();
    subjects.dedup();
    let called = |by: &Untrusted| (by.clone(), model.people.called(&key.source, by, usize::MAX));
    subjects.into_iter().map(called).filter(|(by, shown)| *shown != text::name(by)).collect()
}

fn last_top(model: &Model) -> usize {
    let lines = model.preview.page.as_ref().map_or(0, Page::len);
    lines.saturating_sub(usize::from(model.layout().text.height))
}

pub(crate) fn scroll(model: &mut Model, way: Direction, by: usize) {
    // The end of a long text is not known before all of it is counted.
    model.preview.to_end = way == Direction::Down && by == usize::MAX;
    if !model.preview.to_end || model.preview.page.as_ref().is_none_or(Page::is_counted) {
        model.preview.top = command::shift(model.preview.top, way, by).min(last_top(model));
    }
}

pub(crate) fn page(model: &mut Model, way: Direction) {
    let height = usize::from(model.layout().text.height).saturating_sub(1).max(1);
    if model.sheet.is_none() {
        return scroll(model, way, height);
    }
    let lines = model.sheet.top_mut().and_then(Sheet::scrolled);
    let page = lines.map_or(height, |lines| lines.page.max(1));
    model.scroll_sheet(way, page);
}

pub(crate) fn end(model: &mut Model) {
    scroll(model, Direction::Down, usize::MAX);
}

pub(crate) fn tab(model: &mut Model, way: Direction) {
    let at = Tab::ALL.iter().position(|tab| *tab == model.preview.tab).unwrap_or_default();
    let step = if way == Direction::Down { 1 } else { Tab::ALL.len() - 1 };
    let to = Tab::ALL.get((at + step) % Tab::ALL.len()).copied().unwrap_or(Tab::Rendered);
    show_tab(model, to);
}

pub(crate) fn diff(model: &mut Model) {
    let to = if model.preview.tab == Tab::Diff {
        model.preview.before_diff
    } else {
        model.preview.before_diff = model.preview.tab;
        Tab::Diff
    };
    show_tab(model, to);
}

pub(crate) fn show_tab(model: &mut Model, tab: Tab) {
    model.preview.tab = tab;
    to_the_top(model);
}

fn to_the_top(model: &mut Model) {
    (model.preview.top, model.preview.left) = (0, 0);
    (model.preview.to_end, model.preview.to_line) = (false, None);
}

pub(crate) fn loaded(model: &mut Model, key: &ActionKey, answer: Result<Arc<Cached>, Problem>) {
    let flags = flags_in_list(model, key);
    // The list shows details of actions that were loaded ahead.
    let shows_more = model.history.open.is_some() || model.settings.density == Density::Comfortable;
    model.screen.dirty |= model.preview.target.as_ref() == Some(key) || shows_more;
    model.preview.loading.remove(key);
    match answer {
        Ok(cached) => model.preview.keep(key, cached),
        Err(problem) => drop(model.preview.problems.insert(key.clone(), problem)),
    }
    model.screen.dirty |= flags_in_list(model, key) != flags;
}

fn flags_in_list(model: &Model, key: &ActionKey) -> Option<Flags> {
    model.queue.get(key).map(|slot| model.flags_of(slot))
}

/// Runs when the screen shows the model: records what the reviewer has now seen.
pub(crate) fn drawn(model: &mut Model) {
    model.decide.guard.drawn();
    if let Some(drawn) = model.sheet.top_mut().and_then(Sheet::drawn) {
        drawn.get_or_insert(model.now);
    }
    note_sight(model);
    let on = on_screen(model);
    let left = model.reader.reading.shows(on, model.now);
    model.effects.extend(left.map(|millis| Effect::WakeIn(millis.unsigned_abs())));
    if model.preview.stacked {
        pass(model);
    }
}

fn note_sight(model: &mut Model) {
    let Some(page) = model.preview.page.as_ref().filter(|page| is_visible(model, page)) else { return };
    let (key, digest) = (page.of.key.clone(), page.of.digest);
    if let Some(cached) = model.preview.cached(&key).filter(|cached| cached.digest == digest) {
        model.reader.contents.note(&key, cached);
    }
}

/// Returns true if the page is visible together with the trusted line.
fn is_visible(model: &Model, page: &Page) -> bool {
    let layout = model.layout();
    model.sheet.is_none()
        && !layout.text.is_empty()
        && (!layout.trusted.is_empty() || model.preview.stacked)
        && model.preview.target.as_ref() == Some(&page.of.key)
}

/// Returns the lines on screen. An edit form does not count, because it does not show what approving does.
fn on_screen(model: &Model) -> Option<OnScreen> {
    let page = model.preview.page.as_ref().filter(|page| is_visible(model, page))?;
    let what = page.of.clone();
    let text = page.of.is_read() && page.of.folds.is_empty();
    if !text || model.reader.seen.of(&page.of.key, &page.of.reads) == Some(Seen::InFull) {
        return Some(OnScreen { what, lines: Vec::new(), needed: None, each: 0, is_part: false });
    }
    let height = usize::from(model.layout().text.height);
    // After a jump to the end only the last lines count.
    let lines = whole(page, model.preview.top, height, model.preview.left);
    let needed = page.is_counted().then(|| page.len());
    let all = needed.is_some_and(|rows| rows <= height && (0..rows).all(|row| page.fits(row)));
    Some(OnScreen { what, lines, needed, each: time_for(page, height), is_part: !all })
}

/// Runs before every message: counts the time that passed, after which content may be read.
pub(crate) fn pass(model: &mut Model) {
    let Some((key, digest, seen)) = model.reader.reading.pass(model.now) else { return };
    let is_of_now = model.preview.cached(&key).is_some_and(|cached| model.reads(&key, cached) == digest);
    if is_of_now {
        note(model, key, digest, seen);
    }
}

pub(crate) fn covered(model: &mut Model) {
    model.reader.reading.shows(None, model.now);
}

/// Returns the rows on screen that are visible in full width.
fn whole(page: &Page, top: usize, height: usize, left: usize) -> Vec<Range<usize>> {
    let rows = top..page.len().min(top + height);
    if page.of.wrap {
        return vec![rows];
    }
    rows.filter(|row| left == 0 && page.fits(*row)).map(|row| row..row + 1).collect()
}

fn note(model: &mut Model, key: ActionKey, digest: Digest, seen: Seen) {
    if !model.reader.seen.note(&key, digest, seen) {
        return;
    }
    model.screen.dirty = true;
    model.effects.push(Effect::Save(vec![Write::Seen { key, digest, seen }]));
}

// Tabs that ask the source when they are opened, and again when their action changed.

pub(crate) fn fetch_tabs(model: &mut Model) {
    let beside = (!model.layout().context.is_empty()).then_some(Question::Context);
    for question in model.preview.tab.question().into_iter().chain(beside) {
        fetch(model, question);
    }
}

fn fetch(model: &mut Model, question: Question) {
    let Some(key) = model.preview.shown.clone() else { return };
    let Some(stood) = stood(model, &key) else { return };
    let asked = (key, question);
    if model.reader.answers.ask(&asked, &stood) {
        let listed = beside(model, &asked.0);
        model.effects.push(Effect::Ask { asked, stood, listed });
    }
}

/// Returns the action and listed ones of the same batch, mission or session; only the action if its source needs no
/// others.
fn beside(model: &Model, key: &ActionKey) -> Vec<Row> {
    let Some(Entry { row: own, .. }) = model.queue.get(key).map(|slot| &*slot.entry) else {
        return Vec::new();
    };
    if model.list.sources.iter().any(|source| source.name == key.source && !source.has_context) {
        return vec![own.clone()];
    }
    let shares = |row: &Row| {
        let same = |own: &Option<Untrusted>, its: &Option<Untrusted>| own.is_some() && own == its;
        own.batch.is_some() && own.batch == row.batch
            || same(&own.mission, &row.mission)
            || same(&own.session, &row.session)
    };
    let open = model.queue.slots.iter().filter(|slot| slot.is_open()).map(|slot| &*slot.entry);
    let listed = open.chain(model.queue.held_pending()).filter(|entry| entry.key.source == key.source);
    let beside = listed.filter(|entry| entry.key == *key || shares(&entry.row));
    beside.map(|entry| entry.row.clone()).collect()
}

fn stood(model: &Model, key: &ActionKey) -> Option<AskedState> {
    let row = model.here().map(|slot| &slot.entry).filter(|entry| entry.key == *key).map(|entry| &entry.row);
    let read = model.preview.cached(key).map(|cached| &cached.action.row);
    let newer = row.into_iter().chain(read).max_by_key(|row| row.revision)?;
    Some(AskedState { revision: newer.revision, status: newer.status.clone() })
}

pub(crate) fn told(model: &mut Model, asked: Asked, stood: AskedState, answer: Result<Answer, Problem>) {
    let (key, question) = &asked;
    let on_screen = model.preview.shown.as_ref() == Some(key);
    let has_context = !model.layout().context.is_empty() && *question == Question::Context;
    model.screen.dirty |= on_screen && (has_context || model.preview.tab.question() == Some(*question));
    model.reader.answers.keep(asked, stood, answer);
}

pub(crate) fn forget(model: &mut Model) {
    model.reader.answers.clear();
}

// Time on screen, recorded in the journal.

/// Runs before every message: counts the time that passed.
pub(crate) fn time_passed(model: &mut Model, what: &What) {
    let looked = model.reader.time.pass(model.now);
    if matches!(what, What::Key(_) | What::Escaped(_) | What::Mouse(_) | What::Paste(_) | What::Intent(_)) {
        model.reader.time.touch(model.now);
    }
    save(model, looked);
}

pub(crate) fn note_on_screen(model: &mut Model, covered: bool) {
    let page = || {
        let page = model.preview.page.as_ref().filter(|_| !model.layout().text.is_empty())?;
        let shown = model.preview.target.as_ref() == Some(&page.of.key);
        shown.then(|| (page.of.key.clone(), page.of.digest))
    };
    let on = match model.sheet.top() {
        _ if covered => None,
        Some(sheet) => sheet.content(),
        None => page(),
    };
    let looked = model.reader.time.shows(on);
    save(model, looked);
}

pub(crate) fn close_reading_time(model: &mut Model) {
    let looked = model.reader.time.shows(None);
    save(model, looked);
}

fn save(model: &mut Model, looked: Option<TimeOnScreen>) {
    let write = looked.map(|(key, digest, millis)| Write::Looked { key, digest, millis });
    model.effects.extend(write.map(|write| Effect::Save(vec![write])));
}

pub(crate) fn zoom(model: &mut Model, zoom: bool) {
    model.screen.zoom = zoom && model.here().is_some();
}
