//! What changes when something happens: pure, so that a test presses keys and looks at the screen. This file routes; every
//! body lives in a room.

use crossterm::event::{KeyEvent, KeyEventKind};

use crate::inbox::EventKind;

use super::command::Command;
use super::keymap::{Chord, Lookup};
use super::layout::Shape;
use super::model::{Modal, Model, Opens, Overlay};
use super::msg::{Effect, Msg, SheetLines, What};

mod alone;
mod copy;
mod decide;
mod dwell;
mod edit;
mod expiry;
mod export;
mod figures;
mod filter;
mod find;
mod given;
mod group;
mod history;
mod hold;
mod jump;
mod leave;
mod list;
mod lock;
mod order;
mod overlay;
mod places;
mod prefix;
mod preview;
mod queue;
mod reader;
mod reason;
mod report;
mod review;
mod run;
mod settle;
mod stage;
mod turn;
mod views;
mod watch;
mod window;

pub(in crate::tui) use lock::lock;
pub(super) use places::{places, places_beneath};
pub(super) use reader::has_cursor;
use run::run;
pub(in crate::tui) use watch::ask_now;

/// What to ask of the world before anything has happened.
pub fn start(model: &mut Model) -> Vec<Effect> {
    // What is pending is asked for as soon as the watch says that it began.
    model.dirty = true;
    if model.settings.opens == Opens::Watch {
        drop(watch::open(model));
    }
    vec![Effect::Restore, Effect::RestoreMinutes]
}

/// The inbox ends, whoever ends it: what was typed and not saved yet is saved, and what is held is not sent.
pub fn end(model: &mut Model) -> Vec<Effect> {
    let mut effects = hold::recall(model).unwrap_or_default();
    model.leaving = true;
    effects.extend(leave::close_form(model));
    effects.extend(dwell::end(model));
    effects.extend(figures::end(model));
    effects
}

/// Takes one message, and says what to ask of the world.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    model.now = model.now.max(msg.at);
    model.dirty |= !is_quiet(&msg.what);
    let news = window::is_news(&msg.what);
    figures::feed(model, &msg.what);
    let brings = matches!(msg.what, What::Synced(..) | What::Resize(..));
    let moves = matches!(msg.what, What::Key(_) | What::Given(_) | What::Mouse(_));
    let stood = if moves { model.queue.cursor().cloned() } else { None };
    let mut effects = dwell::pass(model, &msg.what);
    effects.extend(preview::pass(model));
    effects.extend(expiry::sweep(model));
    effects.extend(route(model, msg.what));
    // What just came may be over already.
    effects.extend(expiry::sweep(model));
    if news {
        effects.extend(window::call(model));
    }
    order::count(model, &effects);
    list::keep_in_view(model);
    if brings || moves {
        queue::arrive(model, moves && model.queue.cursor() != stood.as_ref());
        list::keep_in_view(model);
    }
    effects.extend(preview::follow(model));
    effects.extend(group::read_ahead(model));
    effects.extend(watch::follow(model));
    effects
}

/// What changes nothing on the screen by itself; the rooms that it reaches say when it does.
fn is_quiet(what: &What) -> bool {
    match what {
        What::Drawn(_)
        | What::Tick
        | What::Wake
        | What::Focus(_)
        | What::Loaded(_)
        | What::Told { .. }
        | What::Around { .. }
        | What::Listed { .. }
        | What::KeptMinutes(_)
        | What::Flows(..)
        | What::Noticed { answer: Ok(()), .. }
        | What::Saved { saves: 0, answer: Ok(()) } => true,
        What::Source(event) => !matches!(event.kind, EventKind::Connection(_)),
        _ => false,
    }
}

fn route(model: &mut Model, what: What) -> Vec<Effect> {
    match what {
        What::Key(key) => pressed(model, key),
        What::Given(given) => given::given(model, given),
        What::Paste(text) => places::pasted(model, &text),
        What::Resize(width, height) => {
            model.size = ratatui::layout::Size::new(width, height);
            Vec::new()
        }
        What::Mouse(event) => window::mouse(model, event),
        What::Focus(in_front) => window::focus(model, in_front),
        What::Background(colour) => window::background(model, colour),
        What::Tick => tick(model),
        What::Wake => [alone::look(model), hold::look(model), filter::search(model)].concat(),
        What::Stumbled => {
            model.warn("a part of placet failed; the log says what (placet.log in the state folder)");
            Vec::new()
        }
        What::Drawn(sheet) => drawn(model, sheet),
        What::Copied(clip, answer) => copy::copied(model, clip, answer),
        What::Exported(answer) => export::exported(model, answer),
        What::BoardExported(answer) => watch::exported(model, answer),
        What::Opened(answer) => copy::opened(model, answer),
        What::Source(event) => {
            watch::heard(model, Some(&event.kind));
            queue::event(model, event)
        }
        What::Synced(source, answer) => {
            watch::heard(model, None);
            queue::synced(model, &source, answer)
        }
        What::Flows(source, answer) => watch::flowed(model, &source, answer),
        What::Loaded(actions) => group::loaded(model, actions),
        What::Listed { number, page } => views::listed(model, number, *page),
        What::Told { key, stood, answer } => history::told(model, key, stood, *answer),
        What::Around { key, stood, answer } => history::around(model, key, stood, answer),
        What::ReviewLoaded { review, id, actions } => review::loaded(model, review, id, actions),
        What::Held(id, answer) => hold::kept(model, &id, answer),
        What::ToolLearnt { source, tool, answer } => edit::learnt(model, source, tool, answer),
        What::Edited { key, digest, answer } => edit::edited(model, &key, digest, answer),
        What::Partly(id, report) => report::partly(model, &id, report),
        What::Submitted(id, answer) => report::submitted(model, &id, answer),
        What::Followed(followed) => {
            // Read again when it is looked at: result and error are in it now.
            model.preview.forget(&followed.key);
            report::followed(model, &followed)
        }
        What::Settled(key, finding, answer) => settle::answered(model, &key, finding, answer),
        What::Reconciled(answer) => report::reconciled(model, answer),
        What::TakenBack(answer) => stage::taken_back(model, answer),
        What::Restored(answer) => stage::restored(model, answer),
        What::Noticed { rule, answer } => window::noticed(model, rule, answer),
        What::KeptMinutes(_) => Vec::new(),
        What::Saved { saves, answer } => stage::saved(model, saves, answer),
    }
}

/// Notes what was on screen.
fn drawn(model: &mut Model, sheet: SheetLines) -> Vec<Effect> {
    match &mut model.modal {
        Some(Modal::Review(open)) => (open.top, open.page) = (open.top.min(sheet.end), sheet.page),
        Some(Modal::Report(open)) => (open.top, open.page) = (open.top.min(sheet.end), sheet.page),
        Some(_) | None => {}
    }
    if is_blind(model) {
        settle::hidden(model);
        preview::covered(model);
        return [review::hidden(model), dwell::drawn(model, true)].concat();
    }
    // What lies over it hides it.
    if model.overlay.is_some() || !model.chords.is_empty() || model.watches() {
        preview::covered(model);
        return dwell::drawn(model, true);
    }
    queue::drawn(model);
    [preview::drawn(model), dwell::drawn(model, false)].concat()
}

fn pressed(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    // Some terminals report releases too: a release must never decide a second time.
    if key.kind == KeyEventKind::Release || model.leaving {
        return Vec::new();
    }
    model.touched = true;
    let chord = Chord::from(key);
    model.guard.pressed(model.now, chord.char().is_some());
    let mut effects = alone::another_key(model);
    effects.extend(decide::take_back_burst(model));
    let before = model.draft.position();
    effects.extend(taken(model, key, chord));
    decide::note_move(model, before);
    effects
}

/// A key of the reviewer's: text, or part of a command.
fn taken(model: &mut Model, key: KeyEvent, chord: Chord) -> Vec<Effect> {
    let mut effects = Vec::new();
    // Who reads help does not read the sheet beneath it.
    if matches!(model.overlay, Some(Overlay::Help(_))) {
        review::absorbed(model);
        settle::absorbed(model);
    }
    let places = places(model);
    if model.chords.is_empty()
        && chord.char().is_some()
        && !is_blind(model)
        && places::takes_text(model, chord)
    {
        effects.extend(places::typed(model, key));
        return effects;
    }
    model.chords.push(chord);
    match model.settings.keymap.lookup(&model.chords, places) {
        Lookup::Command(command) => {
            model.chords.clear();
            effects.extend(given(model, command));
        }
        Lookup::Prefix => {}
        Lookup::Nothing if model.chords.len() > 1 => effects.extend(prefix::ended(model, places, chord)),
        Lookup::Nothing => {
            model.chords.clear();
            if !is_blind(model) {
                effects.extend(places::typed(model, key));
            }
        }
    }
    effects
}

/// A command that was given, on whatever screen there is.
fn given(model: &mut Model, command: Command) -> Vec<Effect> {
    if is_blind(model) { blind(model, command) } else { seeing(model, command) }
}

/// The screen shows counts only: no action, no sheet, no form can be read on it.
fn is_blind(model: &Model) -> bool {
    model.layout().shape == Shape::Counts
}

/// A command on a screen that shows what it is about.
fn seeing(model: &mut Model, command: Command) -> Vec<Effect> {
    let still_deciding = matches!(
        command,
        Command::Approve
            | Command::Exclude
            | Command::ExcludeBecause
            | Command::Comment
            | Command::Retry
            | Command::NextReason
            | Command::Accept
            | Command::ReviewBatch
            | Command::Palette
    );
    if model.overlay.is_none() && !still_deciding {
        model.decided_in = None;
    }
    if model.view.is_some() && model.modal.is_none() && command.is_of_the_queue() {
        return views::refuse(model);
    }
    list::end_range(model, command);
    let learned = model.overlay.is_none() && model.uses(command);
    let mut effects = run(model, command);
    effects.extend(learned.then(|| Effect::Learn(model.learned.clone())));
    if model.guard.is_wide_again(command) {
        decide::caps_lock(model);
    }
    effects
}

/// What cannot be read is not decided, sent or edited. Leaving works.
fn blind(model: &mut Model, command: Command) -> Vec<Effect> {
    match command {
        Command::Quit => leave::now(model),
        Command::Interrupt | Command::Suspend | Command::Repaint | Command::Mouse => run(model, command),
        Command::Undo => hold::recall(model).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// A second went by: what depends on the time alone, and texts that wait to be saved.
fn tick(model: &mut Model) -> Vec<Effect> {
    let minute = |at: crate::domain::Timestamp| at.as_millis() / 60_000;
    let counted = minute(model.stats_at);
    if minute(model.now) != counted {
        model.recount();
        model.dirty = true;
    }
    if expiry::counts_seconds(model) || model.sources.iter().any(|source| source.counts_seconds(model.now)) {
        model.dirty = true;
    }
    if model.message.as_ref().is_some_and(|message| message.is_over(model.now)) {
        model.message = None;
        model.dirty = true;
    }
    let mut effects = edit::save(model);
    effects.extend(reason::save(model));
    effects.extend(alone::look(model));
    effects.extend(hold::look(model));
    effects.extend(report::look_again(model));
    effects.extend(figures::keep(model));
    effects
}
