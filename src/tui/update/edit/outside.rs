//! The draft in the reviewer's own editor.

use crate::tui::model::{EditField, Modal, Model};
use crate::tui::msg::Effect;

use super::{may_open, open_for};
use crate::tui::update::decide::{is_burst, targets};
use crate::tui::update::stage;

/// From the list: opens the form, and the editor over it. One action at a time: what several have in common is the form's.
pub(in crate::tui::update) fn open_outside(model: &mut Model) -> Vec<Effect> {
    if stage::is_too_early(model) || is_burst(model) {
        return Vec::new();
    }
    let keys = targets(model);
    match may_open(model, &keys) {
        Ok(()) => open_for(model, keys, true),
        Err(why) => {
            model.warn(why);
            Vec::new()
        }
    }
}

/// From the form: its whole draft, as JSON.
pub(in crate::tui::update) fn editor(model: &mut Model) -> Vec<Effect> {
    let Some(Modal::Edit(form)) = &model.modal else { return Vec::new() };
    if form.bulk.as_ref().is_some_and(|bulk| bulk.rows.is_some()) {
        return Vec::new();
    }
    vec![Effect::Editor { key: form.key.clone(), digest: form.digest, text: form.text() }]
}

/// The editor is closed.
pub(in crate::tui::update) fn edited(
    model: &mut Model,
    key: &crate::domain::ActionKey,
    digest: crate::domain::Digest,
    answer: Result<String, String>,
) -> Vec<Effect> {
    let text = match answer {
        Ok(text) => text,
        Err(why) => {
            model.warn(why);
            return Vec::new();
        }
    };
    let Some(Modal::Edit(form)) = &mut model.modal else { return Vec::new() };
    if form.key != *key || form.digest != digest {
        return Vec::new();
    }
    if text.trim_end() == form.text().trim_end() {
        model.say("nothing was changed in the editor");
        return Vec::new();
    }
    form.take(text.trim_end());
    form.field = EditField::Text;
    form.changed();
    if form.is_raw() {
        let why = form.check.as_ref().err().map(ToString::to_string).unwrap_or_default();
        model.warn(format!("what came back cannot be sent: {why}; your text is kept, mend it here"));
    }
    Vec::new()
}
