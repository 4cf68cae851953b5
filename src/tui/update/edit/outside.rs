//! The draft in the reviewer's own editor.

use crate::tui::model::{EditField, Modal, Model};
use crate::tui::msg::Effect;

/// From the list: opens the form, and the editor over it.
pub(in crate::tui::update) fn open_outside(model: &mut Model) -> Vec<Effect> {
    super::start(model, true)
}

/// From the form: its whole draft, as JSON.
pub(in crate::tui::update) fn editor(model: &mut Model) -> Vec<Effect> {
    let Some(Modal::Edit(form)) = &model.modal else { return Vec::new() };
    if form.lists() {
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
