//! The edit form. It keeps a draft; only its approve button, or the approve key, stages.

use crossterm::event::{KeyCode, KeyEvent};
use tui_textarea::TextArea;

use crate::domain::{ActionKey, Decision, changed_keys, json};
use crate::journal::{EditText, Write};
use crate::tui::model::{EditField, EditForm, Modal, Model};
use crate::tui::msg::Effect;

use super::decide::finish;
use super::list::Way;
use super::stage;

/// Longer inputs make every key slow.
const LARGEST: usize = 256 * 1024;

const FIELDS: [EditField; 4] = [EditField::Text, EditField::Approve, EditField::Revert, EditField::Close];

pub(super) fn open(model: &mut Model) -> Vec<Effect> {
    if stage::is_too_early(model) {
        return Vec::new();
    }
    if let Err(why) = try_open(model) {
        model.warn(why);
    }
    Vec::new()
}

fn try_open(model: &mut Model) -> Result<(), &'static str> {
    let slot = model.here().ok_or("put the cursor on an action to edit it")?;
    if !slot.is_pending() {
        return Err("only a pending action can be edited");
    }
    if !slot.entry.can.can_decide() {
        return Err("read-only: the token of this source has no `decide` scope");
    }
    if !slot.entry.can.edit {
        return Err("this source cannot apply edits");
    }
    let key = slot.entry.key.clone();
    let cached = model.preview.cached(&key).ok_or("its content is not here yet; wait a moment")?;
    let input = cached.action.input.clone();
    if input.as_str().len() > LARGEST {
        return Err("this input is too large to edit here");
    }
    let proposed = json::pretty(input.as_str());
    let text = match model.edit_texts.get(&key) {
        Some(draft) if draft.of == cached.digest => draft.text.clone(),
        Some(_) | None => proposed,
    };
    let check = changed_keys(&input, &text);
    let (digest, area) = (cached.digest, area(&text));
    let form = EditForm { key, digest, input, area, field: EditField::Text, check, unsaved: false };
    model.modal = Some(Modal::Edit(Box::new(form)));
    Ok(())
}

fn area(text: &str) -> TextArea<'static> {
    let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
    area.set_max_histories(1_000);
    area.set_tab_length(2);
    area
}

pub(super) fn typed(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    if let Some(Modal::Edit(form)) = &mut model.modal
        && form.area.input(key)
    {
        changed(form);
    }
    Vec::new()
}

pub(super) fn pasted(model: &mut Model, text: &str) -> Vec<Effect> {
    if let Some(Modal::Edit(form)) = &mut model.modal
        && form.field == EditField::Text
    {
        form.area.insert_str(text);
        changed(form);
    }
    Vec::new()
}

fn changed(form: &mut EditForm) {
    form.check = changed_keys(&form.input, &text_of(form));
    form.unsaved = true;
}

fn text_of(form: &EditForm) -> String {
    form.area.lines().join("\n")
}

pub(super) fn next_field(model: &mut Model, way: Way) -> Vec<Effect> {
    if let Some(Modal::Edit(form)) = &mut model.modal {
        let at = FIELDS.iter().position(|field| *field == form.field).unwrap_or_default();
        let step = if way == Way::Down { 1 } else { FIELDS.len() - 1 };
        form.field = FIELDS.get((at + step) % FIELDS.len()).copied().unwrap_or(EditField::Text);
    }
    Vec::new()
}

/// Arrows move between the buttons, Enter presses one. Nothing else does anything there.
pub(super) fn button_key(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Some(Modal::Edit(form)) = &mut model.modal else { return Vec::new() };
    match (key.code, form.field) {
        (KeyCode::Enter, EditField::Approve) => approve(model),
        (KeyCode::Enter, EditField::Revert) => {
            form.area = area(&json::pretty(form.input.as_str()));
            form.field = EditField::Text;
            changed(form);
            Vec::new()
        }
        (KeyCode::Enter, EditField::Close) => super::leave::back(model),
        (KeyCode::Right | KeyCode::Down, _) => next_field(model, Way::Down),
        (KeyCode::Left | KeyCode::Up, _) => next_field(model, Way::Up),
        _ => Vec::new(),
    }
}

/// Stages an approval with what the text changes.
fn approve(model: &mut Model) -> Vec<Effect> {
    let Some(Modal::Edit(form)) = &model.modal else { return Vec::new() };
    let edits = match &form.check {
        Ok(edits) => edits.clone(),
        Err(error) => {
            let why = format!("cannot be sent: {error}");
            model.warn(why);
            return Vec::new();
        }
    };
    let (key, digest) = (form.key.clone(), form.digest);
    let slot = model.queue.get(&key);
    if !slot.is_some_and(crate::tui::model::Slot::is_pending) {
        model.warn("it was decided elsewhere meanwhile; your text is kept until it is settled");
        return Vec::new();
    }
    if model.preview.cached(&key).is_none_or(|cached| cached.digest != digest) {
        model.warn("the proposed input changed while you edited: close the form and look again");
        return Vec::new();
    }
    if let Some(why) = slot.and_then(|slot| super::lock::lock(model, slot)) {
        model.warn(format!(
            "{why}: close the form, read the proposal to its end, then approve (your text is kept)"
        ));
        return Vec::new();
    }
    let mut effects = close(model);
    effects.extend(stage::stage(model, vec![(key, Some(Decision::Approve { edits, comment: None }))]));
    finish(model);
    effects
}

/// Closes the form and keeps its text.
pub(super) fn close(model: &mut Model) -> Vec<Effect> {
    let effects = save_now(model);
    if let Some(Modal::Edit(form)) = model.modal.take() {
        match form.check {
            Ok(Some(edits)) => drop(model.drafted.insert(form.key, edits)),
            Ok(None) | Err(_) => drop(model.drafted.remove(&form.key)),
        }
    }
    effects
}

/// Saves what was typed since the last time.
pub(super) fn save(model: &mut Model) -> Vec<Effect> {
    match &model.modal {
        Some(Modal::Edit(form)) if form.unsaved => save_now(model),
        _ => Vec::new(),
    }
}

fn save_now(model: &mut Model) -> Vec<Effect> {
    let Some(Modal::Edit(form)) = &mut model.modal else { return Vec::new() };
    if !form.unsaved {
        return Vec::new();
    }
    form.unsaved = false;
    let (key, of, text) = (form.key.clone(), form.digest, text_of(form));
    let text = (text != json::pretty(form.input.as_str())).then_some(EditText { text, of });
    match &text {
        Some(text) => drop(model.edit_texts.insert(key.clone(), text.clone())),
        None => drop(model.edit_texts.remove(&key)),
    }
    stage::save(model, vec![Write::EditText { key, text }])
}

/// An action was loaded that has an edit text: works out what it would send.
pub(super) fn learn(model: &mut Model, key: &ActionKey) {
    let (Some(draft), Some(cached)) = (model.edit_texts.get(key), model.preview.cached(key)) else { return };
    if draft.of == cached.digest
        && let Ok(Some(edits)) = changed_keys(&cached.action.input, &draft.text)
    {
        model.drafted.insert(key.clone(), edits);
    }
}
