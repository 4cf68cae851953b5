//! The History tab asks when it is opened, and again when its action moved on.

use crate::domain::ActionKey;
use crate::inbox::{History, Problem};
use crate::tui::model::{Model, Stood, Tab};
use crate::tui::msg::Effect;

/// After every message.
pub(super) fn follow(model: &mut Model) -> Vec<Effect> {
    if model.preview.tab != Tab::History {
        return Vec::new();
    }
    let Some(key) = model.preview.shown.clone() else { return Vec::new() };
    let Some(stood) = stood(model, &key) else { return Vec::new() };
    if !model.histories.ask(&key, &stood) {
        return Vec::new();
    }
    vec![Effect::History { key, stood }]
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
    model.dirty |= model.preview.shown.as_ref() == Some(&key) && model.preview.tab == Tab::History;
    model.histories.keep(key, stood, answer);
    Vec::new()
}
