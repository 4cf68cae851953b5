//! The History and the Context tab ask when they are opened, and again when their action moved on.

use crate::domain::{ActionKey, Passage};
use crate::inbox::{History, Problem};
use crate::tui::model::{Model, Stood, Tab};
use crate::tui::msg::Effect;

/// After every message.
pub(super) fn follow(model: &mut Model) -> Vec<Effect> {
    let tab = model.preview.tab;
    if !matches!(tab, Tab::History | Tab::Context) {
        return Vec::new();
    }
    let Some(key) = model.preview.shown.clone() else { return Vec::new() };
    let Some(stood) = stood(model, &key) else { return Vec::new() };
    if tab == Tab::History {
        let asks = model.histories.ask(&key, &stood);
        return asks.then_some(Effect::History { key, stood }).into_iter().collect();
    }
    let asks = model.contexts.ask(&key, &stood);
    asks.then_some(Effect::Context { key, stood }).into_iter().collect()
}

/// Where it stands, as far as this inbox has heard.
fn stood(model: &Model, key: &ActionKey) -> Option<Stood> {
    let row = model.here().map(|slot| &slot.entry).filter(|entry| entry.key == *key).map(|entry| &entry.row);
    let read = model.preview.cached(key).map(|cached| &cached.action.row);
    let newer = row.into_iter().chain(read).max_by_key(|row| row.revision)?;
    Some(Stood { revision: newer.revision, status: newer.status.clone() })
}

pub(super) fn told(
    model: &mut Model,
    key: ActionKey,
    stood: Stood,
    answer: Result<History, Problem>,
) -> Vec<Effect> {
    model.dirty |= is_on_screen(model, &key, Tab::History);
    model.histories.keep(key, stood, answer);
    Vec::new()
}

pub(super) fn around(
    model: &mut Model,
    key: ActionKey,
    stood: Stood,
    answer: Result<Vec<Passage>, Problem>,
) -> Vec<Effect> {
    model.dirty |= is_on_screen(model, &key, Tab::Context);
    model.contexts.keep(key, stood, answer);
    Vec::new()
}

fn is_on_screen(model: &Model, key: &ActionKey, tab: Tab) -> bool {
    model.preview.shown.as_ref() == Some(key) && model.preview.tab == tab
}

/// All of it is asked for again when it is looked at.
pub(super) fn forget(model: &mut Model) {
    model.histories.clear();
    model.contexts.clear();
}
