//! Routes each message to its feature and returns the requested effects. Pure, so that tests can press keys and read
//! the screen.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Size;

use crate::domain::Timestamp;
use crate::inbox::{EventKind, Problem};
use crate::journal::Restored;
use crate::text;
use crate::tui::chrome::state::{Overlay, Tone};
use crate::tui::chrome::words;
use crate::tui::chrome::{copy, leave, overlay, window};
use crate::tui::dashboard::state::StartView;
use crate::tui::decide::state::{DraftJob, WaitingKey};
use crate::tui::decide::{confirm_guard, stage, take_back};
use crate::tui::queue::filter_state::Scan;
use crate::tui::queue::groups::Regrouping;
use crate::tui::queue::list::SourceState;
use crate::tui::queue::sort::Sorting;
use crate::tui::queue::state::Cursor;
use crate::tui::queue::{saved_filters, sync};
use crate::tui::submit::{hold, report, resolve_unknown, review};
use crate::tui::{claims, dashboard, decide, edit, history, people, preview, queue, snooze};

use super::command::{Command, KeyContext};
use super::dispatch::{run, seeing};
use super::intent;
use super::job::Job as _;
use super::keymap::{Chord, Lookup, is_foreign, short};
use super::loaded;
use super::model::{Model, Sheet};
use super::msg::{Effect, Msg, SheetLines, What};

pub(crate) fn start(model: &mut Model) -> Vec<Effect> {
    // Lists are requested as soon as the watch reports its start.
    model.screen.dirty = true;
    if model.settings.opens == StartView::Watch {
        dashboard::update::open(model);
    }
    model.effects.extend([Effect::Restore, Effect::RestoreMinutes]);
    std::mem::take(&mut model.effects)
}

/// Ends the inbox: saves what was typed and recalls a held submission.
pub(crate) fn end(model: &mut Model) -> Vec<Effect> {
    DraftJob::finish(model);
    hold::recall(model);
    model.screen.leaving = true;
    leave::close_form(model);
    preview::update::close_reading_time(model);
    dashboard::update::end(model);
    std::mem::take(&mut model.effects)
}

pub(crate) fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    handle(model, msg);
    std::mem::take(&mut model.effects)
}

/// Handles a message and adds the requested effects to the model, in three phases: [`before`] brings the model to the
/// message's time, [`route`] calls the message's feature, [`after`] adapts the other features to the result.
pub(crate) fn handle(model: &mut Model, msg: Msg) {
    model.now = model.now.max(msg.at);
    if matches!(msg.what, What::Key(key) if is_foreign(key)) {
        return;
    }
    model.screen.dirty |= !is_quiet(&msg.what);
    let brings = matches!(msg.what, What::Synced(..) | What::Resize(..));
    let acts = matches!(msg.what, What::Key(_) | What::Escaped(_) | What::Intent(_) | What::Mouse(_));
    let cause = Cause { news: window::is_news(&msg.what), brings, moves: acts || waited(model) };
    let stood = model.queue.cursor().filter(|_| cause.moves).cloned();
    before(model, &msg.what);
    route(model, msg.what);
    after(model, cause, stood.as_ref());
}

/// Properties of a message that decide what runs after it.
#[derive(Clone, Copy)]
struct Cause {
    /// May change what the reviewer is notified of.
    news: bool,
    /// May bring rows into view.
    brings: bool,
    /// Comes from the reviewer.
    moves: bool,
}

/// Brings the model to the message's time: counts it, completes the step it depends on, ends what expired.
fn before(model: &mut Model, what: &What) {
    dashboard::update::feed(model, what);
    people::update::feed(model, what);
    if model.decide.job.is_some() && !leaves_the_draft_alone(model, what) {
        DraftJob::finish(model);
    }
    preview::update::time_passed(model, what);
    preview::update::pass(model);
    queue::update::sweep(model);
}

/// Adapts the features to the result: first the list and its cursor, then what depends on the row under the cursor.
fn after(model: &mut Model, cause: Cause, stood: Option<&Cursor>) {
    // New rows may have expired already.
    queue::update::sweep(model);
    snooze::update::sweep(model);
    if cause.news {
        window::call(model);
    }
    queue::update::count(model);
    queue::update::keep_in_view(model);
    if cause.moves {
        sync::fade(model);
    }
    if cause.brings || cause.moves {
        sync::arrive(model, cause.moves && model.queue.cursor() != stood);
        queue::update::keep_in_view(model);
    }
    queue::update::fit_bands(model);
    preview::update::follow(model);
    if cause.moves {
        claims::update::worked(model);
    }
    claims::update::follow(model);
    sync::read_ahead(model);
    dashboard::update::follow(model);
}

/// Returns true for messages that may be handled between the parts of a step. All others depend on its result.
fn leaves_the_draft_alone(model: &Model, what: &What) -> bool {
    // An expiring action loses its decision.
    if model.list.stats.next_expiry.is_some_and(|at| at <= model.now) {
        return false;
    }
    match what {
        What::Drawn(_)
        | What::Wake
        | What::StoodAlone
        | What::Focus(_)
        | What::Resize(..)
        | What::Source(_)
        | What::Loaded(_)
        | What::LoadedLong(..)
        | What::LaidOut(_)
        | What::Answered { .. }
        | What::KeptMinutes(_)
        | What::Saved { .. } => true,
        What::Key(key) => key_leaves_it_alone(model, *key),
        _ => false,
    }
}

/// Returns true for a key that does not touch the draft.
fn key_leaves_it_alone(model: &Model, key: KeyEvent) -> bool {
    let chord = Chord::from(key);
    if key.kind == KeyEventKind::Release {
        return true;
    }
    // The step is completed before leaving, so that it is saved.
    let leaves = |found| matches!(found, Lookup::Command(Command::Suspend | Command::Interrupt));
    if matches!(model.screen.overlay, Some(Overlay::Help(_))) {
        return !leaves(model.settings.keymap.lookup(&[chord], model.places()));
    }
    if model.sheet.is_some() || model.screen.overlay.is_some() || model.is_searching() {
        return false;
    }
    let chords = [model.screen.chords.as_slice(), &[chord]].concat();
    match model.settings.keymap.lookup(&chords, model.places()) {
        Lookup::Command(command) => command.leaves_the_draft_alone(),
        Lookup::Prefix => true,
        Lookup::Nothing => false,
    }
}

/// Returns true for messages that do not change the screen by themselves; their handlers mark it as changed.
fn is_quiet(what: &What) -> bool {
    match what {
        What::Drawn(_)
        | What::Tick
        | What::Wake
        | What::StoodAlone
        | What::Focus(_)
        | What::Loaded(_)
        | What::LoadedLong(..)
        | What::LaidOut(_)
        | What::Answered { .. }
        | What::Listed { .. }
        | What::KeptMinutes(_)
        | What::Flows(..)
        | What::People(..)
        | What::Noticed { answer: Ok(()), .. }
        | What::FiltersKept(Ok(()))
        | What::Saved { saves: 0, answer: Ok(()) } => true,
        What::Source(event) => !matches!(event.kind, EventKind::Connection(_)),
        _ => false,
    }
}

fn route(model: &mut Model, what: What) {
    match what {
        What::Key(key) => pressed(model, key),
        What::Intent(given) => intent::given(model, given),
        What::Paste(text) => paste(model, &text),
        What::Escaped(key) => escaped(model, key),
        What::Resize(width, height) => model.screen.size = Size::new(width, height),
        What::Mouse(event) => window::mouse(model, event),
        What::Focus(in_front) => window::focus(model, in_front),
        What::Background(colour) => window::background(model, colour),
        What::Tick => tick(model),
        What::Wake => wake(model),
        What::StoodAlone => let_through(model),
        What::Stumbled => model.warn(words::A_PART_FAILED),
        What::Drawn(sheet) => drawn(model, sheet),
        What::Copied(clip, answer) => copy::copied(model, clip, answer),
        What::Exported(answer) => report::exported(model, answer),
        What::BoardExported(answer) => dashboard::update::exported(model, answer),
        What::Opened(answer) => copy::opened(model, answer),
        What::Source(event) => {
            dashboard::update::heard(model, Some(&event.kind));
            sync::event(model, event);
        }
        What::Synced(source, answer) => {
            dashboard::update::heard(model, None);
            sync::synced(model, &source, answer);
        }
        What::Ran(ran) => model.queue.same.add(ran),
        What::People(source, answer) => people::update::told(model, &source, answer),
        What::Flows(source, answer) => dashboard::update::flowed(model, &source, answer),
        What::Loaded(actions) => loaded::loaded(model, actions),
        What::LoadedLong(key, cached) => loaded::looked_through(model, key, cached),
        What::LaidOut(page) => preview::update::laid_out(model, *page),
        What::Listed { number, page } => history::update::listed(model, number, *page),
        What::Answered { asked, stood, answer } => preview::update::told(model, asked, stood, *answer),
        What::ReviewLoaded { review, id, actions } => review::loaded(model, review, &id, actions),
        What::Held(id, answer) => hold::kept(model, &id, answer),
        What::ToolLearnt { source, tool, answer } => edit::update::learnt(model, source, tool, answer),
        What::Edited { key, digest, answer } => edit::update::edited(model, &key, digest, answer),
        What::Sending(id, told) => report::sending(model, &id, told),
        What::Submitted(id, answer) => report::submitted(model, &id, answer),
        What::Followed(followed) => {
            // Loaded again when viewed, to show the result.
            model.preview.forget(&followed.key);
            report::followed(model, &followed);
        }
        What::Resolved(key, finding, answer) => resolve_unknown::answered(model, &key, finding, answer),
        What::ApprovalTakenBack(key, answer) => take_back::answered(model, &key, answer),
        What::Claimed(key, answer) => claims::update::answered(model, &key, answer),
        What::Reconciled(answer) => report::reconciled(model, answer),
        What::TakenBack(answer) => stage::taken_back(model, answer),
        What::Restored(answer) => restored(model, answer),
        What::Noticed { rule, answer } => window::noticed(model, rule, answer),
        What::KeptMinutes(_) => {}
        What::FiltersKept(answer) => saved_filters::kept(model, answer),
        What::Saved { saves, answer } => stage::saved(model, saves, answer),
    }
}

fn restored(model: &mut Model, mut answer: Result<Box<Restored>, Problem>) {
    let known = answer.as_mut().ok();
    let known = known.map(|it| (std::mem::take(&mut it.filters), std::mem::take(&mut it.snoozes)));
    let (filters, snoozes) = known.unwrap_or_default();
    stage::restored(model, answer);
    snooze::update::restored(model, snoozes);
    saved_filters::restored(model, filters);
}

fn drawn(model: &mut Model, sheet: SheetLines) {
    if let Some(lines) = model.sheet.top_mut().and_then(Sheet::scrolled) {
        (lines.top, lines.page) = (lines.top.min(sheet.end), sheet.page);
    }
    if model.is_blind() {
        model.sheet.top_mut().into_iter().for_each(Sheet::covered);
        preview::update::covered(model);
        return preview::update::note_on_screen(model, true);
    }
    // Overlays cover the preview.
    if model.screen.overlay.is_some() || !model.screen.chords.is_empty() || model.watches() {
        preview::update::covered(model);
        return preview::update::note_on_screen(model, true);
    }
    sync::drawn(model);
    preview::update::drawn(model);
    preview::update::note_on_screen(model, false);
}

fn wake(model: &mut Model) {
    hold::look(model);
    DraftJob::resume(model);
    Sorting::resume(model);
    Regrouping::resume(model);
    Scan::resume(model);
}

/// Keys close to a paste belong to it: its first or last characters may have been read apart.
fn paste(model: &mut Model, text: &str) {
    let_through(model);
    model.decide.waiting.clear();
    confirm_guard::absorbed(model);
    model.decide.guard.pasted(model.now);
    pasted(model, text);
}

/// Handles an Alt chord of a terminal without the kitty keyboard protocol. Where text is typed, it is Esc and a key right
/// after it, unless it is bound.
fn escaped(model: &mut Model, key: KeyEvent) {
    let chord = Chord::from(key);
    if types_in(model, chord) && !is_bound(model, chord) {
        pressed(model, KeyEvent::from(KeyCode::Esc));
        return pressed(model, KeyEvent { modifiers: key.modifiers - KeyModifiers::ALT, ..key });
    }
    pressed(model, key);
}

fn pressed(model: &mut Model, key: KeyEvent) {
    // Some terminals report releases, which must not decide a second time.
    if key.kind == KeyEventKind::Release || model.screen.leaving {
        return;
    }
    model.list.touched = true;
    let chord = Chord::from(key);
    let_through(model);
    let pasteable = matches!(key.code, KeyCode::Char(_) | KeyCode::Enter | KeyCode::Tab);
    model.decide.guard.pressed(model.now, pasteable);
    let waits = !model.decide.waiting.is_empty();
    if !waits && acts_at_once(model, chord) {
        return taken(model, key, chord);
    }
    if model.decide.guard.burst(model.now).is_some() {
        let waited = std::mem::take(&mut model.decide.waiting).len();
        model.screen.chords.clear();
        confirm_guard::absorbed(model);
        let ignored = model.decide.guard.ignore(waited + 1);
        return model.warn(decide::words::too_fast(ignored));
    }
    let hasty = model.decide.guard.is_hasty();
    model.decide.waiting.push(WaitingKey { key, at: model.now, hasty });
    model.effects.push(Effect::AwaitKey);
}

/// Returns true if a key need not wait for the next one. Text and moves are harmless in a paste; other keys wait,
/// because a paste must not change anything.
fn acts_at_once(model: &Model, chord: Chord) -> bool {
    let in_burst = model.decide.guard.burst(model.now).is_some();
    let types = types_in(model, chord);
    if types && model.screen.chords.is_empty() && chord.char().is_some() {
        return true;
    }
    let chords = [model.screen.chords.as_slice(), &[chord]].concat();
    match model.settings.keymap.lookup(&chords, model.places()) {
        // The commands open a field, and the next key is text.
        Lookup::Prefix | Lookup::Command(Command::Filter | Command::Search) => !in_burst,
        Lookup::Command(command) if types => !in_burst || command.only_moves(),
        Lookup::Command(command) => command.only_moves() && !model.decide.guard.ignores(),
        Lookup::Nothing => types,
    }
}

fn types_in(model: &Model, chord: Chord) -> bool {
    !model.is_blind() && takes_text(model, chord)
}

fn is_bound(model: &Model, chord: Chord) -> bool {
    model.settings.keymap.lookup(&[chord], model.places()) != Lookup::Nothing
}

/// Returns true if keys have waited without another key following at once.
fn waited(model: &Model) -> bool {
    !model.decide.waiting.is_empty() && !model.decide.guard.is_close(model.now)
}

/// Handles the waiting keys as if at the time of their press.
fn let_through(model: &mut Model) {
    if !waited(model) {
        return;
    }
    model.screen.dirty = true;
    let mut keys = std::mem::take(&mut model.decide.waiting).into_iter().peekable();
    while let Some(waiting) = keys.next() {
        let now = std::mem::replace(&mut model.now, waiting.at);
        if model.decide.job.is_some() && !key_leaves_it_alone(model, waiting.key) {
            DraftJob::finish(model);
        }
        // A key followed by another at once confirms nothing.
        model.decide.guard.waited(waiting.hasty || keys.peek().is_some());
        taken(model, waiting.key, Chord::from(waiting.key));
        model.now = now;
    }
}

fn taken(model: &mut Model, key: KeyEvent, chord: Chord) {
    // The help covers the sheet beneath.
    if matches!(model.screen.overlay, Some(Overlay::Help(_))) {
        confirm_guard::absorbed(model);
    }
    let places = model.places();
    if model.screen.chords.is_empty()
        && chord.char().is_some()
        && !model.is_blind()
        && takes_text(model, chord)
    {
        typed(model, key);
        return;
    }
    model.screen.chords.push(chord);
    match model.settings.keymap.lookup(&model.screen.chords, places) {
        Lookup::Command(command) => {
            model.screen.chords.clear();
            given(model, command);
        }
        Lookup::Prefix => {}
        Lookup::Nothing if model.screen.chords.len() > 1 => ended(model, places, chord),
        Lookup::Nothing => {
            model.screen.chords.clear();
            if !model.is_blind() {
                typed(model, key);
            }
        }
    }
}

fn given(model: &mut Model, command: Command) {
    if model.is_blind() { blind(model, command) } else { seeing(model, command) }
}

/// Runs a command on a screen that is too small to read: quitting works, deciding, sending and editing do not.
fn blind(model: &mut Model, command: Command) {
    match command {
        Command::Quit => leave::now(model),
        Command::Interrupt | Command::Suspend | Command::Repaint | Command::Mouse => run(model, command),
        Command::Undo => {
            hold::recall(model);
        }
        _ => {}
    }
}

fn tick(model: &mut Model) {
    let minute = |at: Timestamp| at.as_millis() / 60_000;
    let counted = minute(model.list.stats_at);
    if minute(model.now) != counted {
        model.recount();
        model.screen.dirty = true;
    }
    if queue::update::counts_seconds(model)
        || model.list.sources.iter().any(|source| source.counts_seconds(model.now))
    {
        model.screen.dirty = true;
    }
    if model.screen.message.as_ref().is_some_and(|message| message.is_over(model.now)) {
        model.screen.message = None;
        model.screen.dirty = true;
    }
    model.screen.dirty |= model.list.elsewhere.forget(model.now);
    leave::save_sheet(model);
    sync::fade(model);
    claims::update::tick(model);
    hold::look(model);
    report::look_again(model);
    dashboard::update::keep(model);
}

/// Returns the time until which ticks change nothing, so that the program can sleep; `None` if a tick may change
/// something every second.
pub(crate) fn quiet_until(model: &Model) -> Option<Timestamp> {
    let (screen, list, now) = (&model.screen, &model.list, model.now);
    let lies_over = model.sheet.is_some() || screen.overlay.is_some() || !screen.chords.is_empty();
    let is_under_way =
        model.submit.held.is_some() || model.is_sending() || !screen.restored || screen.message.is_some();
    // Notify rules may depend on waiting times.
    let may_call = !model.settings.rules.is_empty();
    let counts = queue::update::counts_seconds(model)
        || list.sources.iter().any(|source| source.counts_seconds(now))
        || model.watches()
        || !model.dashboard.watch.alarms.is_empty();
    if lies_over || is_under_way || may_call || counts {
        return None;
    }
    let minute = Timestamp::from_millis((now.as_millis().div_euclid(60_000) + 1) * 60_000);
    let stale = list.sources.iter().filter_map(SourceState::stale_at);
    let others = [
        model.snooze.next(),
        list.stats.next_expiry,
        queue::update::counts_seconds_from(model),
        model.reader.time.look_at(),
    ];
    // The past has already taken effect, except for what a tick still has to do.
    let next = stale.chain(others.into_iter().flatten()).filter(|at| *at > now);
    let by_a_tick = [
        claims::update::due(model),
        model.submit.look_again,
        screen.window.calls_at(),
        list.elsewhere.until(),
        sync::fades_at(model),
    ];
    let next = next.chain(by_a_tick.into_iter().flatten()).chain([minute]).min();
    next.filter(|at| *at > now)
}

// Keys and pasted text go to the topmost layer.

pub(crate) fn takes_text(model: &Model, chord: Chord) -> bool {
    if model.screen.overlay.is_some() {
        return overlay::takes(model, chord);
    }
    model.sheet.keys().map_or_else(|| model.is_searching(), |keys| keys.takes_text)
}

pub(crate) fn typed(model: &mut Model, key: KeyEvent) {
    if model.screen.overlay.is_some() {
        return overlay::typed(model, key);
    }
    match model.sheet.keys() {
        Some(keys) => (keys.typed)(model, key),
        None if model.is_searching() => preview::search::typed(model, key),
        None if model.watches() => {
            dashboard::update::stray(model, key);
        }
        None => {}
    }
}

pub(crate) fn pasted(model: &mut Model, text: &str) {
    if model.screen.overlay.is_some() {
        return overlay::pasted(model, text);
    }
    let taken = match model.sheet.keys() {
        Some(keys) => (keys.pasted)(model, text),
        None if model.is_searching() => {
            preview::search::pasted(model, text);
            true
        }
        None => false,
    };
    if !taken {
        model.warn(words::paste_ignored(text.chars().count()));
    }
}

// Keys after a prefix. An unbound one does nothing, even if it has a meaning by itself.

/// Handles an unbound key after a prefix. Esc cancels silently; commands that work everywhere are run.
pub(crate) fn ended(model: &mut Model, places: &[KeyContext], last: Chord) {
    let keymap = &model.settings.keymap;
    let before: Vec<Chord> =
        model.screen.chords.iter().copied().take(model.screen.chords.len() - 1).collect();
    let alone = keymap.lookup(&[last], places);
    let anywhere = keymap.lookup(&[last], &[KeyContext::Anywhere]);
    let follows = keymap.following(&before, places);
    model.screen.chords.clear();
    confirm_guard::absorbed(model);
    match (alone, anywhere) {
        (Lookup::Command(Command::Back), _) => {}
        (_, Lookup::Command(command)) => given(model, command),
        _ => {
            let keys: Vec<String> = follows.iter().map(|(key, _)| short(key)).collect();
            let written: String = before.iter().map(Chord::to_string).collect();
            let told = words::no_such_keys(&written, &last, &keys.join(" "));
            // The key may be any character.
            model.tell(Tone::Bad, vec![text::line(&told.into())]);
        }
    }
}
