//! Tells the journal for how long each content was on screen.

use crate::journal::Write;
use crate::tui::model::{Looked, Modal, Model};
use crate::tui::msg::{Effect, What};

/// Before a message is taken: the screen stood as it was until now.
pub(super) fn pass(model: &mut Model, what: &What) -> Vec<Effect> {
    let looked = model.dwell.pass(model.now);
    if matches!(what, What::Key(_) | What::Mouse(_) | What::Paste(_) | What::Given(_)) {
        model.dwell.touch(model.now);
    }
    save(looked)
}

/// The screen was drawn: which content is on it.
pub(super) fn drawn(model: &mut Model, covered: bool) -> Vec<Effect> {
    let on = match (&model.modal, &model.preview.page) {
        _ if covered => None,
        (Some(Modal::Edit(form)), _) => Some((form.key.clone(), form.digest)),
        (None, Some(page))
            if !model.layout().text.is_empty() && model.preview.target.as_ref() == Some(&page.of.key) =>
        {
            Some((page.of.key.clone(), page.of.digest))
        }
        _ => None,
    };
    save(model.dwell.shows(on))
}

/// Nothing is on screen any more.
pub(super) fn end(model: &mut Model) -> Vec<Effect> {
    save(model.dwell.shows(None))
}

fn save(looked: Option<Looked>) -> Vec<Effect> {
    let write = looked.map(|(key, digest, millis)| Write::Looked { key, digest, millis });
    write.map(|write| Effect::Save(vec![write])).into_iter().collect()
}
