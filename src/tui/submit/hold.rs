//! Holds a confirmed submission for a few seconds, during which it can be recalled. The journal records it as held and
//! its decisions stay in the draft until it is sent.

use std::collections::BTreeMap;

use crate::domain::{ActionKey, SourceName, Submission, SubmissionId};
use crate::inbox::Problem;
use crate::text;
use crate::tui::core::command::Command;
use crate::tui::core::model::Model;
use crate::tui::core::msg::Effect;
use crate::tui::queue::slots::{Slot, State};
use crate::tui::submit::words;

use super::state::Held;

/// Holds a confirmed submission, or sends it if holding is turned off.
pub(crate) fn confirmed(model: &mut Model, submission: Submission, left_pending: u64) {
    model.screen.message = None;
    if model.settings.hold.is_zero() {
        return send(model, submission, left_pending);
    }
    set_states(model, &submission, &State::Held);
    let effect = Effect::Hold { submission: Box::new(submission.clone()), left_pending };
    model.submit.held = Some(Held { submission, left_pending, until: None });
    model.effects.push(effect);
}

/// Handles the journal's answer. The countdown starts once the submission is stored.
pub(crate) fn kept(model: &mut Model, id: &SubmissionId, answer: Result<(), Problem>) {
    let wait = u64::try_from(model.settings.hold.as_millis()).unwrap_or(u64::MAX);
    let until = model.now.plus_millis(i64::try_from(wait).unwrap_or(i64::MAX));
    match (model.submit.held.as_mut().filter(|held| held.submission.id() == id), answer) {
        (Some(held), Ok(())) => {
            held.until = Some(until);
            model.effects.push(Effect::WakeIn(wait));
        }
        (Some(_), Err(problem)) => {
            give_back(model);
            model.tell_problem(words::NOTHING_SENT, &problem);
        }
        // Recalled before it was stored.
        (None, Ok(())) => model.effects.push(Effect::Recall(id.clone())),
        (None, Err(_)) => {}
    }
}

pub(crate) fn look(model: &mut Model) {
    let Some(until) = model.submit.held.as_ref().and_then(|held| held.until) else { return };
    model.screen.dirty = true;
    if model.now < until {
        return;
    }
    let Some(held) = model.submit.held.take() else { return };
    send(model, held.submission, held.left_pending);
}

/// Recalls the held submission; everything is staged as before. Returns false if no submission is held.
pub(crate) fn recall(model: &mut Model) -> bool {
    let Some(held) = give_back(model) else { return false };
    let n = text::count(held.submission.len(), "decision");
    model.say(words::recalled(&n));
    model.effects.extend(held.until.map(|_| Effect::Recall(held.submission.id().clone())));
    true
}

/// Returns true, with a message, if a held submission blocks another step.
pub(crate) fn is_in_the_way(model: &mut Model) -> bool {
    let Some(held) = &model.submit.held else { return false };
    let (n, key) = (text::count(held.submission.len(), "decision"), model.settings.keymap.key(Command::Undo));
    model.say(words::about_to_be_sent(&n, &key));
    true
}

fn give_back(model: &mut Model) -> Option<Held> {
    let held = model.submit.held.take()?;
    set_states(model, &held.submission, &State::Pending);
    Some(held)
}

fn send(model: &mut Model, submission: Submission, left_pending: u64) {
    model.submit.sending = Some(submission.id().clone());
    model.list.elsewhere.sent.extend(keys_of(&submission));
    set_states(model, &submission, &State::Sending);
    let mut progress: BTreeMap<SourceName, (usize, usize)> = BTreeMap::new();
    for batch in submission.batches() {
        progress.entry(batch.source().clone()).or_default().1 += batch.items().len();
    }
    model.submit.progress.insert(submission.id().clone(), progress);
    model.effects.push(Effect::Submit { submission: Box::new(submission), left_pending });
}

fn set_states(model: &mut Model, submission: &Submission, state: &State) {
    for key in keys_of(submission) {
        let ours = |slot: &Slot| matches!(slot.state, State::Pending | State::Held);
        if model.queue.get(&key).is_some_and(ours) {
            model.queue.set_state(&key, state.clone());
        }
    }
}

fn keys_of(submission: &Submission) -> impl Iterator<Item = ActionKey> {
    submission.batches().iter().flat_map(|batch| {
        let key = |id: &crate::domain::ActionId| ActionKey { source: batch.source().clone(), id: id.clone() };
        batch.items().iter().map(move |item| key(&item.id))
    })
}
