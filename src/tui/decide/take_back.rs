//! Takes back a sent approval while further approvals are missing.

use crate::domain::{ActionKey, subject};
use crate::inbox::Problem;
use crate::text;
use crate::text::Shown;
use crate::tui::chrome::state::Tone;
use crate::tui::core::model::Model;
use crate::tui::core::msg::Effect;

use super::confirm_guard::is_burst;
use super::words;

pub(crate) fn here(model: &Model) -> Option<ActionKey> {
    let slot = model.here().filter(|slot| slot.is_pending())?;
    let approvals = slot.entry.row.approvals.as_ref()?;
    let source = model.list.sources.iter().find(|source| source.name == slot.entry.key.source)?;
    let me = source.subject.as_ref()?;
    approvals.by.iter().any(|by| subject::is_same(by, me)).then(|| slot.entry.key.clone())
}

/// Sends it without a review, because it only makes more people decide.
pub(crate) fn ask(model: &mut Model) {
    if is_burst(model) {
        return;
    }
    match here(model) {
        Some(key) => model.effects.push(Effect::TakeBackApproval(key)),
        None => model.warn(words::NOTHING_TO_TAKE_BACK),
    }
}

pub(crate) fn answered(model: &mut Model, key: &ActionKey, answer: Result<(), Problem>) {
    match answer {
        Ok(()) => {
            let title = model.queue.get(key).map(|slot| text::line(&model.title_of(slot)).cut(40));
            let said = Shown::ours(words::APPROVAL_TAKEN_BACK);
            model.tell(Tone::Good, title.into_iter().chain([said]).collect());
        }
        Err(problem) => model.tell_problem(words::NOT_TAKEN_BACK, &problem),
    }
    model.sync(&key.source);
}
