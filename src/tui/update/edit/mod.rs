//! The edit form. It keeps a draft; only approving with these edits, or the approve key, stages.

use std::sync::Arc;

use crate::domain::{ActionKey, Decision, On, SourceName, Untrusted, changed_keys, json, merge};
use crate::inbox::{Problem, Tool};
use crate::journal::{EditText, Write};
use crate::tui::model::{Bulk, EditForm, Modal, Model, Slot};
use crate::tui::msg::Effect;

use super::decide::{finish, is_burst, targets};
use super::stage;

mod bulk;
mod keys;
mod outside;

pub(super) use keys::{button_key, field_back, next_field, pasted, raw, typed};
pub(super) use outside::{edited, editor, open_outside};

/// Longer inputs make every key slow.
const LARGEST: usize = 256 * 1024;
/// So many actions are edited together: as many as are kept loaded, with room for what is looked at meanwhile.
const MOST: usize = 200;

pub(super) fn open(model: &mut Model) -> Vec<Effect> {
    start(model, false)
}

fn start(model: &mut Model, outside: bool) -> Vec<Effect> {
    if stage::is_too_early(model) || is_burst(model) {
        return Vec::new();
    }
    let keys = targets(model);
    match may_open(model, &keys) {
        Ok(()) => open_for(model, keys, outside),
        Err(why) => {
            model.warn(why);
            Vec::new()
        }
    }
}

fn may_open(model: &Model, keys: &[ActionKey]) -> Result<(), String> {
    if model.queue.marks.is_empty() && model.here().is_none() {
        return Err("put the cursor on an action to edit it".to_owned());
    }
    if keys.len() > MOST {
        return Err(format!("{} actions are marked; at most {MOST} can be edited together", keys.len()));
    }
    let first = keys.first().and_then(|key| model.queue.get(key));
    let slot = first.ok_or("only a pending action can be edited")?;
    let can = slot.entry.can;
    if !can.can_decide() || !can.edit {
        return Err(can.why_not(On::Edit).to_owned());
    }
    Ok(())
}

/// Opens the form over these actions, as soon as their content is here. Until then keys go nowhere: they were meant for it.
pub(super) fn open_for(model: &mut Model, keys: Vec<ActionKey>, outside: bool) -> Vec<Effect> {
    let missing: Vec<ActionKey> =
        keys.iter().filter(|key| model.preview.cached(key).is_none()).cloned().collect();
    if missing.is_empty() {
        return try_open(model, keys, outside);
    }
    for key in &missing {
        model.preview.problems.remove(key);
    }
    model.modal = Some(Modal::EditSoon { keys, outside });
    vec![Effect::Load(missing)]
}

/// The approve key on an action that asks for an answer: there is nothing to approve before it is written.
pub(super) fn open_for_answer(model: &mut Model, key: ActionKey) -> Vec<Effect> {
    let effects = open_for(model, vec![key], false);
    if matches!(model.modal, Some(Modal::Edit(_) | Modal::EditSoon { .. })) {
        model.say("it asks for an answer: write it here, then Enter approves it with your answer");
    }
    effects
}

/// What was read may be what a form waits for.
pub(super) fn arrived(model: &mut Model) -> Vec<Effect> {
    let Some(Modal::EditSoon { keys, outside }) = &model.modal else { return Vec::new() };
    let preview = &model.preview;
    let here = |key: &ActionKey| preview.cached(key).is_some() || preview.problems.contains_key(key);
    if !keys.iter().all(here) {
        return Vec::new();
    }
    let (keys, outside) = (keys.clone(), *outside);
    model.modal = None;
    model.dirty = true;
    try_open(model, keys, outside)
}

fn try_open(model: &mut Model, keys: Vec<ActionKey>, outside: bool) -> Vec<Effect> {
    let Some(key) = keys.iter().find(|key| model.preview.cached(key).is_some()).cloned() else {
        model.warn("its content could not be read; the preview says why");
        return Vec::new();
    };
    let (Some(cached), Some(slot)) = (model.preview.cached(&key), model.queue.get(&key)) else {
        return Vec::new();
    };
    let (input, digest) = (cached.action.input.clone(), cached.digest);
    if input.as_str().len() > LARGEST {
        model.warn("this input is too large to edit here: 256 KiB is the most");
        return Vec::new();
    }
    let (source, tool) = (key.source.clone(), slot.entry.row.tool.clone());
    let proposed = json::pretty(input.as_str());
    let text = match model.edit_texts.get(&key) {
        Some(draft) if draft.of == digest => draft.text.clone(),
        Some(_) | None => {
            let staged = model.draft.get(&key).filter(|staged| staged.digest == Some(digest));
            let edits = staged.and_then(|staged| staged.decision.edits());
            let merged = edits.and_then(|edits| merge(&input, edits).ok());
            merged.map_or(proposed, |merged| json::pretty(merged.as_str()))
        }
    };
    let known = model.tools.get(&(source.clone(), tool.clone())).cloned();
    let asks = slot.entry.can.answer;
    let mut form = EditForm::new(key, digest, input, &text, known);
    if asks {
        form.begin_at_answer();
    }
    if keys.len() > 1 {
        form.bulk = Some(Bulk { keys, rows: None, top: 0, since: model.now });
    }
    model.modal = Some(Modal::Edit(Box::new(form)));
    let mut effects = vec![Effect::LearnTool { source, tool }];
    if outside {
        effects.extend(editor(model));
    }
    effects
}

/// A source said what it knows of a tool. Without an answer the form does without, and the source judges.
pub(super) fn learnt(
    model: &mut Model,
    source: SourceName,
    tool: Untrusted,
    answer: Result<Option<Arc<Tool>>, Problem>,
) -> Vec<Effect> {
    let Ok(Some(known)) = answer else { return Vec::new() };
    if let Some(Modal::Edit(form)) = &mut model.modal
        && form.key.source == source
        && model.queue.get(&form.key).is_some_and(|slot| slot.entry.row.tool == tool)
    {
        form.learn(Arc::clone(&known));
    }
    model.tools.insert((source, tool), known);
    Vec::new()
}

/// Enter on the form: stages an approval with what the draft changes, or shows what it changes in each of several actions.
fn approve(model: &mut Model) -> Vec<Effect> {
    // A pasted line ends in Enter too.
    if is_burst(model) {
        return Vec::new();
    }
    let Some(Modal::Edit(form)) = &model.modal else { return Vec::new() };
    if let Some(why) = form.refusal() {
        model.warn(format!("cannot be sent: {why}"));
        return Vec::new();
    }
    if form.bulk.is_some() {
        return bulk::show(model);
    }
    let (key, digest) = (form.key.clone(), form.digest);
    let edits = form.check.clone().ok().flatten();
    if let Err(why) = may_stage(model, &key, digest) {
        model.warn(why);
        return Vec::new();
    }
    let comment = bulk::comment_of(model, &key);
    let mut effects = close(model);
    effects.extend(stage::stage(model, vec![(key, Some(Decision::Approve { edits, comment }))]));
    finish(model);
    effects
}

fn may_stage(model: &Model, key: &ActionKey, digest: crate::domain::Digest) -> Result<(), String> {
    let slot = model.queue.get(key);
    if !slot.is_some_and(Slot::is_pending) {
        return Err("it was decided elsewhere meanwhile; your text is kept until it is settled".to_owned());
    }
    if model.preview.cached(key).is_none_or(|cached| cached.digest != digest) {
        return Err("the proposed input changed while you edited: close the form and look again".to_owned());
    }
    match slot.and_then(|slot| super::lock::lock(model, slot)) {
        Some(why) => Err(format!(
            "{why}: close the form, read the proposal to its end, then approve (your text is kept)"
        )),
        None => Ok(()),
    }
}

/// Closes the form and keeps its text; from the list of a change to several actions, back to the form.
pub(super) fn close(model: &mut Model) -> Vec<Effect> {
    if let Some(Modal::Edit(form)) = &mut model.modal
        && let Some(bulk) = &mut form.bulk
        && bulk.rows.take().is_some()
    {
        return save_now(model);
    }
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
    let (key, of, text) = (form.key.clone(), form.digest, form.text());
    let text = (text != form.proposed()).then_some(EditText { text, of });
    keep(model, key, text)
}

/// The draft of an edited input, to disk too; `None`: it is as proposed.
pub(super) fn keep(model: &mut Model, key: ActionKey, text: Option<EditText>) -> Vec<Effect> {
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
