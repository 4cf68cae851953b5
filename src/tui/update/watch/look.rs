//! When the board is made anew, and when sources are asked for their own counts.

use crate::domain::{Flows, SourceName};
use crate::inbox::figures::Ask;
use crate::inbox::{EventKind, Problem};
use crate::tui::model::{Model, Watch, face};
use crate::tui::msg::Effect;

/// Milliseconds between two boards: after news, by the time alone, and where nothing moves by itself.
const NEWS: i64 = 1_000;
const USUAL: i64 = 2_000;
const STILL: i64 = 10_000;

/// A source says something, or was read.
pub(in crate::tui::update) fn heard(model: &mut Model, kind: Option<&EventKind>) {
    if matches!(kind, Some(EventKind::Tick)) {
        return;
    }
    model.watch.news = true;
}

/// After every message.
pub(in crate::tui::update) fn follow(model: &mut Model) -> Vec<Effect> {
    let (watch, now) = (&model.watch, model.now);
    if !model.watches() {
        // What was acknowledged counts again when it grows meanwhile.
        if !watch.alarms.is_empty() && now.since(watch.board.at) >= STILL && watch.frozen.is_none() {
            self::now(model);
        }
        // What was acknowledged must not come back because nobody asked any more.
        return if model.watch.alarms.is_empty() { Vec::new() } else { ask(model) };
    }
    let gap = match (model.settings.reduced_motion, watch.news) {
        (true, _) => STILL,
        (false, true) => NEWS,
        (false, false) => USUAL,
    };
    if watch.frozen.is_none() && now.since(watch.board.at) >= gap {
        self::now(model);
    }
    keep_in_view(model);
    ask(model)
}

/// Makes the board. The screen is drawn again where it looks otherwise.
pub(super) fn now(model: &mut Model) {
    let ask = Ask { window: model.watch.window, columns: Watch::COLUMNS };
    let board = model.figures.board(ask, model.now);
    let still = model.settings.reduced_motion;
    let is_other = face(&board, still) != face(&model.watch.board, still);
    let watch = &mut model.watch;
    let alarms = watch.alarms.look(&board.alerts, model.now);
    watch.board = board;
    watch.news = false;
    watch.settle();
    model.dirty |= (is_other || alarms) && model.watches();
}

fn keep_in_view(model: &mut Model) {
    let layout = model.watch_layout();
    for (panel, _) in &layout.panes {
        let room = layout.room(*panel, model.watch.len(*panel));
        model.watch.keep_in_view(*panel, room);
    }
}

/// Asks those that count by themselves, as often as that is due; one question to each at a time.
fn ask(model: &mut Model) -> Vec<Effect> {
    let (now, window) = (model.now, model.watch.window);
    let mut effects = Vec::new();
    for source in model.sources.iter().filter(|source| source.records.flows) {
        if model.watch.asking.contains(&source.name) {
            continue;
        }
        let Some(asked) = model.figures.flows_due(&source.name, window, now) else { continue };
        model.watch.asking.insert(source.name.clone());
        effects.push(Effect::Flows { source: source.name.clone(), asked });
    }
    effects
}

/// A source's own counts have come. Where they cannot be had, it is asked again; what was seen from here counts meanwhile.
pub(in crate::tui::update) fn flowed(
    model: &mut Model,
    source: &SourceName,
    answer: Result<Option<Flows>, Problem>,
) -> Vec<Effect> {
    model.watch.asking.remove(source);
    match answer {
        Ok(Some(flows)) => {
            model.figures.told(source, flows, model.now);
            model.watch.news = true;
        }
        Ok(None) => {}
        Err(problem) => {
            tracing::debug!(%source, what = problem.what, "a source did not tell its counts");
        }
    }
    Vec::new()
}

/// Asks for who reads the figures once, from the newest.
pub(in crate::tui) fn ask_now(model: &mut Model) -> Vec<Effect> {
    model.figures.ask_again();
    ask(model)
}
