//! Applies one change to all marked actions: shows the result for each, then stages them as one step.

use crossterm::event::{KeyCode, KeyEvent};

use crate::domain::{ActionKey, Decision, Edits, merge};
use crate::journal::{EditText, Write};
use crate::tui::chrome;
use crate::tui::core::command::{Command, Direction, shift};
use crate::tui::core::keymap::bare;
use crate::tui::core::model::Model;
use crate::tui::decide::advance::move_on;
use crate::tui::decide::lock::lock;
use crate::tui::decide::stage;
use crate::tui::edit::form::EditForm;
use crate::tui::edit::words;
use crate::tui::queue::slots::Slot;

use super::form::{Bulk, BulkOutcome, BulkRow, applied};

/// An Enter this soon after the list appeared was meant for the form. Milliseconds.
const SETTLE: i64 = 300;

pub(crate) fn show(model: &mut Model) {
    let Some(form) = model.sheet.get::<EditForm>() else { return };
    let (Some(bulk), Ok(Some(edits))) = (&form.bulk, &form.check) else {
        model.say(words::NOTHING_TO_APPLY);
        return;
    };
    let (edits, first) = (edits.clone(), form.key.clone());
    let rows: Vec<BulkRow> = bulk
        .keys
        .iter()
        .map(|key| BulkRow { key: key.clone(), fate: fate(model, &edits, &first, key) })
        .collect();
    let now = model.now;
    if let Some(Bulk { rows: shown, top, since, .. }) = list(model) {
        (*shown, *top, *since) = (Some(rows), 0, now);
    }
}

fn list(model: &mut Model) -> Option<&mut Bulk> {
    model.sheet.get_mut::<EditForm>()?.bulk.as_mut()
}

fn fate(model: &Model, edits: &Edits, first: &ActionKey, key: &ActionKey) -> BulkOutcome {
    let left_out = |why: &str| BulkOutcome::LeftOut(why.to_owned());
    let Some(form) = model.sheet.get::<EditForm>() else { return left_out(words::THE_FORM_IS_CLOSED) };
    let Some(slot) = model.queue.get(key).filter(|slot| Slot::is_pending(slot)) else {
        return left_out(words::DECIDED_ELSEWHERE);
    };
    if !slot.entry.row.can.can_decide() || !slot.entry.row.can.edit {
        return left_out(words::TAKES_NO_EDITS);
    }
    let tool = model.queue.get(first).map(|slot| &slot.entry.row.tool);
    if tool != Some(&slot.entry.row.tool) {
        return left_out(words::DIFFERENT_TOOL);
    }
    let Some(cached) = model.preview.cached(key) else { return left_out(words::CONTENT_NOT_READ) };
    if key == first && cached.digest != form.digest {
        return left_out(words::INPUT_CHANGED);
    }
    if let Some(why) = lock(model, slot) {
        return BulkOutcome::LeftOut(chrome::words::unread(&why));
    }
    let staged = model.decide.draft.get(key).map(|staged| &staged.decision);
    // The form started with the edits of the first action.
    let its_own = |decision: &Decision| key == first && decision.kind().approves();
    if staged.is_some_and(|decision| decision.has_words() && !its_own(decision)) {
        return left_out(words::STAGED_HAS_ITS_OWN);
    }
    if key != first && model.edit.texts.contains_key(key) {
        return left_out(words::HAS_ITS_OWN);
    }
    let fate = applied(edits, &form.input, &cached.action.input);
    match (&fate, form.schema()) {
        (BulkOutcome::Applies(Some(edits)), Some(schema)) => {
            let merged = merge(&cached.action.input, edits);
            let found = merged.map(|input| schema.violations(input.as_str())).unwrap_or_default();
            match found.first() {
                Some(violation) => BulkOutcome::LeftOut(words::schema_says(&violation.at, &violation.what)),
                None => fate,
            }
        }
        _ => fate,
    }
}

pub(crate) fn key(model: &mut Model, key: KeyEvent) {
    match bare(key) {
        KeyCode::Enter => stage_all(model),
        KeyCode::Down => scroll(model, Direction::Down, 1),
        KeyCode::Up => scroll(model, Direction::Up, 1),
        KeyCode::PageDown => scroll(model, Direction::Down, 10),
        KeyCode::PageUp => scroll(model, Direction::Up, 10),
        _ => {}
    }
}

fn scroll(model: &mut Model, way: Direction, by: usize) {
    if let Some(bulk) = list(model) {
        let last = bulk.rows.as_ref().map_or(0, |rows| rows.len().saturating_sub(1));
        bulk.top = shift(bulk.top, way, by).min(last);
    }
}

pub(crate) fn comment_of(model: &Model, key: &ActionKey) -> Option<String> {
    let decision = &model.decide.draft.get(key)?.decision;
    decision.said().filter(|_| decision.kind().approves()).map(str::to_owned)
}

/// Stages all actions that the change applies to, as one step.
fn stage_all(model: &mut Model) {
    let now = model.now;
    let Some(bulk) = list(model).filter(|bulk| now.since(bulk.since) >= SETTLE) else { return };
    let applies = bulk.applies();
    if applies == 0 {
        let back = model.settings.keymap.key_in_text(Command::Back);
        model.warn(words::applies_to_none(&back));
        return;
    }
    // Computed again, because others may have decided meanwhile.
    show(model);
    let rows = list(model).and_then(|bulk| bulk.rows.take()).unwrap_or_default();
    let Some(form) = model.sheet.get::<EditForm>() else { return };
    let own = form.key.clone();
    let applies = |BulkRow { key, fate }| match fate {
        BulkOutcome::Applies(edits) => {
            let comment = comment_of(model, &key);
            Some((key, Some(Decision::Approve { edits, comment })))
        }
        BulkOutcome::LeftOut(_) => None,
    };
    let wanted: Vec<_> = rows.into_iter().filter_map(applies).collect();
    let staged = wanted.len();
    let left_out = list(model).map_or(0, |bulk| bulk.keys.len()).saturating_sub(staged);
    model.sheet.close();
    // The change is kept only in the staged decisions, so that undo removes it completely.
    model.edit.drafted.remove(&own);
    keep(model, own, None);
    stage::stage(model, wanted);
    move_on(model);
    if left_out > 0 {
        model.warn(words::staged_some(staged, left_out));
    } else {
        model.say(words::staged_all(staged));
    }
}

/// Keeps the draft of an edited input and saves it; `None` restores the proposed one.
pub(crate) fn keep(model: &mut Model, key: ActionKey, text: Option<EditText>) {
    match &text {
        Some(text) => drop(model.edit.texts.insert(key.clone(), text.clone())),
        None => drop(model.edit.texts.remove(&key)),
    }
    stage::save(model, vec![Write::EditText { key, text }]);
}
