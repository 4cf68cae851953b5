//! The one-line field for a reason.

use crossterm::event::KeyEvent;
use tui_textarea::{CursorMove, TextArea};

use crate::domain::{ActionKey, Decision, ReasonRule};
use crate::tui::model::{Modal, Model, ReasonForm};
use crate::tui::msg::Effect;

use super::decide::{finish, ready};
use super::stage::stage;

pub(super) fn open(model: &mut Model) -> Vec<Effect> {
    match ready(model) {
        Some(targets) => open_for(model, targets),
        None => Vec::new(),
    }
}

pub(super) fn open_for(model: &mut Model, keys: Vec<ActionKey>) -> Vec<Effect> {
    let rules = keys.iter().filter_map(|key| model.queue.get(key)).map(|slot| slot.entry.can.reason);
    let rule = rules.max_by_key(|rule| match rule {
        ReasonRule::NotKept => 0,
        ReasonRule::Optional => 1,
        ReasonRule::Required => 2,
    });
    let text = keys.first().and_then(|key| known_reason(model, key)).unwrap_or_default();
    let mut area = TextArea::new(vec![text]);
    area.move_cursor(CursorMove::End);
    model.modal =
        Some(Modal::Reason(Box::new(ReasonForm { keys, area, rule: rule.unwrap_or(ReasonRule::NotKept) })));
    Vec::new()
}

/// What was typed before, staged or not.
fn known_reason(model: &Model, key: &ActionKey) -> Option<String> {
    let staged = model.draft.get(key).and_then(|staged| match &staged.decision {
        Decision::Reject { reason } => reason.clone(),
        Decision::Approve { .. } | Decision::Retry { .. } => None,
    });
    staged.or_else(|| model.reason_texts.get(key).cloned())
}

pub(super) fn typed(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    if let Some(Modal::Reason(form)) = &mut model.modal {
        form.area.input(key);
    }
    Vec::new()
}

/// A pasted reason becomes one line.
pub(super) fn pasted(model: &mut Model, text: &str) -> Vec<Effect> {
    if let Some(Modal::Reason(form)) = &mut model.modal {
        form.area.insert_str(
            text.split(['\n', '\r']).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" "),
        );
    }
    Vec::new()
}

pub(super) fn accept(model: &mut Model) -> Vec<Effect> {
    let Some(Modal::Reason(form)) = model.modal.take() else { return Vec::new() };
    let text = text_of(&form);
    if text.trim().is_empty() && form.rule == ReasonRule::Required {
        model.modal = Some(Modal::Reason(form));
        model.warn("this source asks for a reason with every rejection");
        return Vec::new();
    }
    let reason = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    form.keys.iter().for_each(|key| drop(model.reason_texts.remove(key)));
    // Somebody else may have been first while the reason was typed.
    let pending = form
        .keys
        .into_iter()
        .filter(|key| model.queue.get(key).is_some_and(crate::tui::model::Slot::is_pending));
    let wanted: Vec<_> =
        pending.map(|key| (key, Some(Decision::Reject { reason: reason.clone() }))).collect();
    if wanted.is_empty() {
        model.warn("nothing was excluded: it was decided elsewhere meanwhile");
        return Vec::new();
    }
    let effects = stage(model, wanted);
    finish(model);
    effects
}

/// Closing keeps what was typed for the next time the field opens.
pub(super) fn close(model: &mut Model, form: &ReasonForm) {
    let text = text_of(form);
    if !text.is_empty() {
        form.keys.iter().for_each(|key| drop(model.reason_texts.insert(key.clone(), text.clone())));
    }
}

fn text_of(form: &ReasonForm) -> String {
    form.area.lines().join(" ")
}
