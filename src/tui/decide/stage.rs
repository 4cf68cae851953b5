//! Stages, undoes and redoes decisions. All changes of the draft are made and saved here.

use std::collections::HashSet;
use std::sync::Arc;

use crate::domain::{
    ActionKey, Decision, DecisionKind, OpenStep, Seen, SourceName, Staged, Status, Step, Untrusted, json,
    merge,
};
use crate::inbox::Problem;
use crate::journal::{EditText, Restored, Write};
use crate::text;
use crate::text::Shown;
use crate::tui::chrome::state::Tone;
use crate::tui::core::command::Command;
use crate::tui::core::job::Job as _;
use crate::tui::core::model::Model;
use crate::tui::core::msg::Effect;
use crate::tui::decide::words;
use crate::tui::preview::page::made::Cached;
use crate::tui::queue::counts::StagedTotals;
use crate::tui::queue::slots::{Slot, State};
use crate::tui::submit::hold;
use crate::tui::submit::state::ReviewSheet;
use crate::tui::submit::words::REVIEW_CLOSED;

use super::state::{DraftJob, FollowUp, Moment, Staging, Targets};
use super::{confirm_guard, take_back};

/// Stages decisions (`Some`) or clears them (`None`) as one step, bound to the content that was on screen.
pub(crate) fn stage(model: &mut Model, decisions: Vec<(ActionKey, Option<Decision>)>) {
    begin(model, Targets::Each(decisions.into_iter()), FollowUp::default());
    DraftJob::finish(model);
}

pub(crate) fn begin(model: &mut Model, targets: Targets, follow_up: FollowUp) {
    let moment = moment(model);
    begin_at(model, moment, targets, follow_up);
}

pub(crate) fn begin_at(model: &mut Model, moment: Moment, targets: Targets, follow_up: FollowUp) {
    DraftJob::finish(model);
    if is_too_early(model) {
        return;
    }
    model.decide.draft.reserve(targets.len());
    let step = OpenStep::default();
    DraftJob::Stage(Staging { targets, step, moment, follow_up }).start(model);
}

/// Records the present time and the contents that were on screen so far.
pub(crate) fn moment(model: &Model) -> Moment {
    let reader = &model.reader;
    let opened = |(key, cached): &(&ActionKey, &Arc<Cached>)| {
        let reads = model.reads(key, cached);
        reader.seen.of(key, &reads) >= Some(Seen::Opened) || reader.reading.is_on_screen(key, &reads)
    };
    let all = model.preview.all_cached().filter(opened);
    let opened = all.map(|(key, cached)| (key.clone(), Arc::clone(cached))).collect();
    Moment { at: model.now, opened }
}

/// Clears all decisions that are not being sent, as one step, including those on actions that are not listed.
pub(crate) fn clear_unsent(model: &mut Model) {
    DraftJob::finish(model);
    let sending = |key: &ActionKey| model.queue.get(key).is_some_and(|slot| slot.state == State::Sending);
    let keys = model.decide.draft.iter().map(|(key, _)| key).filter(|key| !sending(key));
    let mut cleared: Vec<(ActionKey, Option<Staged>)> = keys.map(|key| (key.clone(), None)).collect();
    cleared.sort_by(|(a, _), (b, _)| a.cmp(b));
    let Some(step) = model.decide.draft.stage(cleared) else { return };
    model.decide.tally.done(&step.changes);
    save_step(model, step);
}

/// Returns true, with a warning, before the journal was read: a step would replace the ones still to come.
pub(crate) fn is_too_early(model: &mut Model) -> bool {
    if !model.screen.restored {
        model.warn(words::STILL_READING_STAGED);
    }
    !model.screen.restored
}

pub(crate) fn undo(model: &mut Model) {
    if hold::recall(model) || is_too_early(model) || confirm_guard::is_burst(model) {
        return;
    }
    DraftJob::finish(model);
    let Some(step) = model.decide.draft.last().cloned() else {
        match take_back::here(model) {
            Some(_) => {
                let key = model.settings.keymap.key(Command::TakeBack);
                model.say(words::nothing_to_undo_but(&key));
            }
            None => model.say(words::NOTHING_TO_UNDO),
        }
        return;
    };
    show(model, step.changes.first().map(|change| &change.key));
    let left = step.changes.len();
    DraftJob::Undo { step, left }.start(model);
}

pub(crate) fn redo(model: &mut Model) {
    // Redoing could change what is about to be sent.
    if hold::is_in_the_way(model) || is_too_early(model) || confirm_guard::is_burst(model) {
        return;
    }
    DraftJob::finish(model);
    let Some(step) = model.decide.draft.next().cloned() else {
        model.say(words::NOTHING_TO_REDO);
        return;
    };
    show(model, step.changes.first().map(|change| &change.key));
    DraftJob::Redo { step, done: 0 }.start(model);
}

fn show(model: &mut Model, key: Option<&ActionKey>) {
    if let Some(index) = key.and_then(|key| model.queue.index(key)) {
        model.queue.go_to_action(index);
    }
}

/// Forgets decisions on settled actions. Returns the actions that had one.
pub(crate) fn settle(model: &mut Model, keys: &[ActionKey]) -> Vec<ActionKey> {
    DraftJob::finish(model);
    let mut dropped = Vec::new();
    for (key, staged) in model.decide.draft.settle(keys) {
        model.decide.tally.remove(&staged);
        dropped.push(key);
    }
    for key in keys {
        model.edit.texts.remove(key);
        model.reader.contents.forget(key);
        model.edit.drafted.remove(key);
        for says in DecisionKind::ALL {
            model.decide.reason_texts.remove(&(key.clone(), says));
        }
    }
    if !keys.is_empty() {
        save(model, vec![Write::Settle(keys.to_vec())]);
    }
    dropped
}

/// Takes back decisions on outdated contents. Typed reasons and edits are kept.
pub(crate) fn unstage_changed(model: &mut Model) {
    DraftJob::finish(model);
    let is_open = |key: &ActionKey| model.queue.get(key).is_some_and(|slot| slot.state == State::Pending);
    let keys =
        model.decide.draft.iter().map(|(key, _)| key).filter(|key| model.is_stale(key) && is_open(key));
    let mut keys: Vec<ActionKey> = keys.cloned().collect();
    if keys.is_empty() {
        return;
    }
    keys.sort();
    let mut writes = vec![Write::Settle(keys.clone())];
    for (key, staged) in model.decide.draft.settle(&keys) {
        model.decide.tally.remove(&staged);
        model.reader.contents.took_back(&key, staged.digest);
        keep_typed(model, &key, &staged);
    }
    for key in &keys {
        let text = model.edit.texts.get(key).cloned();
        writes.extend(text.map(|text| Write::EditText { key: key.clone(), text: Some(text) }));
        for says in DecisionKind::ALL {
            let text = model.decide.reason_texts.get(&(key.clone(), says)).cloned();
            writes.extend(text.map(|text| Write::ReasonText { key: key.clone(), says, text: Some(text) }));
        }
    }
    let closed = close_review(model);
    match keys.as_slice() {
        [only] => {
            let title = model.queue.get(only).map(|slot| text::line(&model.title_of(slot)).cut(40));
            let said = Shown::ours(words::CHANGED_TAKEN_BACK);
            let closed = std::iter::once(Shown::ours(closed));
            model.tell(Tone::Bad, closed.chain(title).chain([said]).collect());
        }
        many => model.warn(words::changed_taken_back(closed, many.len())),
    }
    save(model, writes);
}

/// Keeps the text and edits of a decision as unstaged drafts.
fn keep_typed(model: &mut Model, key: &ActionKey, staged: &Staged) {
    if let Some(words) = staged.decision.said() {
        let says = staged.decision.kind().without_edits();
        model.decide.reason_texts.insert((key.clone(), says), words.to_owned());
    }
    let (Some(edits), Some(of)) = (staged.decision.edits(), staged.digest) else { return };
    let input = model.reader.contents.find(key, &of).and_then(|content| content.input.as_ref());
    if let Some(merged) = input.and_then(|input| merge(input, edits).ok()) {
        let text = EditText { text: json::pretty(merged.as_str()), of };
        model.edit.texts.insert(key.clone(), text);
    }
    model.edit.drafted.insert(key.clone(), edits.clone());
}

pub(crate) fn save(model: &mut Model, writes: Vec<Write>) {
    model.screen.saved.open += 1;
    model.effects.push(Effect::Save(writes));
}

pub(super) fn save_step(model: &mut Model, step: Step) {
    let position = model.decide.draft.position();
    save(model, vec![Write::Step { position, step }]);
}

pub(crate) fn saved(model: &mut Model, saves: usize, answer: Result<(), Problem>) {
    model.screen.saved.open = model.screen.saved.open.saturating_sub(saves);
    match answer {
        // Failed saves are retried first, so everything is saved now.
        Ok(()) => {
            model.screen.dirty |= model.screen.saved.failed.take().is_some();
            if saves > 0 {
                model.screen.saved.last = Some(model.now);
            }
        }
        // Saving is retried; the error is shown once.
        Err(problem) => {
            let known = model.screen.saved.failed.replace(problem.what.clone());
            if known.as_ref() != Some(&problem.what) {
                model.tell_problem(words::NOT_SAVED_YET, &problem);
            }
        }
    }
}

/// Takes the journal's content, before which nothing can be decided. If it cannot be read, this run starts without
/// staged decisions and leaves the saved ones alone.
pub(crate) fn restored(model: &mut Model, answer: Result<Box<Restored>, Problem>) {
    model.screen.restored = true;
    model.screen.shared = answer.as_ref().is_ok_and(|restored| restored.is_shared);
    let restored = match answer {
        Ok(restored) => *restored,
        Err(problem) => {
            model.tell_problem(words::JOURNAL_NOT_READ, &problem);
            model.effects.push(Effect::Reconcile);
            return;
        }
    };
    model.decide.draft = restored.draft;
    model.decide.tally = StagedTotals::of(&model.decide.draft);
    model.reader.seen = restored.seen;
    model.remember(restored.learned);
    model.edit.texts.extend(restored.edit_texts);
    model.decide.reason_texts.extend(restored.reason_texts);
    if !model.decide.draft.is_empty() {
        let staged = text::count(model.decide.draft.len(), words::STAGED_DECISION);
        let pronoun = if model.decide.draft.len() == 1 { "it" } else { "them" };
        let key = model.settings.keymap.key(Command::ReviewAll);
        model.say(words::from_last_time(&staged, &key, pronoun));
    }
    drop_settled(model);
    unstage_changed(model);
    if model.screen.shared {
        let other = model.screen.message.take().map(|said| [vec![Shown::ours("; ")], said.parts].concat());
        model.tell(Tone::Bad, [vec![Shown::ours(words::ANOTHER_INBOX)], other.unwrap_or_default()].concat());
    }
    model.effects.push(Effect::Reconcile);
}

/// Stages decisions again that were never delivered, unless another is staged.
pub(crate) fn taken_back(model: &mut Model, answer: Result<Vec<(ActionKey, Staged)>, Problem>) {
    let back = match answer {
        Ok(back) => back,
        Err(problem) => {
            model.tell_problem(words::NOT_STAGED_AGAIN, &problem);
            return;
        }
    };
    DraftJob::finish(model);
    let free = back.into_iter().filter(|(key, _)| model.decide.draft.get(key).is_none());
    let free: Vec<_> = free.map(|(key, staged)| (key, Some(staged))).collect();
    let Some(step) = model.decide.draft.stage(free) else { return };
    model.decide.tally.done(&step.changes);
    let (back, are) =
        (text::count(step.changes.len(), "decision"), if step.changes.len() == 1 { "is" } else { "are" });
    model.warn(words::staged_again(&back, are));
    save_step(model, step);
    drop_settled(model);
    unstage_changed(model);
}

/// Reports staged decisions that were dropped because somebody else decided first.
pub(crate) fn dropped(model: &mut Model, settled: &[(ActionKey, Option<Untrusted>)]) {
    let keys: Vec<ActionKey> = settled.iter().map(|(key, _)| key.clone()).collect();
    let with_decision: Vec<ActionKey> =
        keys.into_iter().filter(|key| model.decide.draft.get(key).is_some()).collect();
    let dropped = settle(model, &with_decision);
    let closed = if dropped.is_empty() { "" } else { close_review(model) };
    match dropped.as_slice() {
        [] => {}
        [only] => {
            let mut parts = vec![Shown::ours(closed)];
            parts.extend(settled_by(model, only));
            parts.push(Shown::ours(words::STAGED_WAS_DROPPED));
            model.tell(Tone::Bad, parts);
        }
        many => model.warn(words::settled_elsewhere(closed, many.len())),
    }
}

fn settled_by(model: &Model, key: &ActionKey) -> Vec<Shown> {
    let Some(slot) = model.queue.get(key) else {
        return vec![Shown::ours(words::ACTION_IS_GONE)];
    };
    let title = text::line(&model.title_of(slot)).cut(40);
    let State::Settled(settled) = &slot.state else {
        return vec![title, Shown::ours(words::IS_NO_LONGER_PENDING)];
    };
    match (&settled.status, &settled.by) {
        (Some(Status::Expired), _) => vec![title, Shown::ours(" expired")],
        (Some(Status::Superseded), _) => vec![title, Shown::ours(words::WAS_SUPERSEDED)],
        (Some(Status::Withdrawn), _) => vec![title, Shown::ours(words::WAS_WITHDRAWN)],
        (_, Some(by)) => {
            vec![title, Shown::ours(words::WAS_DECIDED_BY), model.people.called(&key.source, by, 30)]
        }
        (Some(_), None) => vec![title, Shown::ours(words::WAS_DECIDED_ELSEWHERE)],
        (None, None) => vec![title, Shown::ours(words::NO_LONGER_IN_SOURCE)],
    }
}

/// Drops decisions on actions that their source no longer lists as pending, usually after a restart.
pub(crate) fn drop_settled(model: &mut Model) {
    if !model.screen.restored || model.decide.draft.is_empty() {
        return;
    }
    let listed: Vec<&SourceName> = model.list.sources.iter().filter(|s| s.listed).map(|s| &s.name).collect();
    let held: HashSet<&ActionKey> = model.queue.held_pending().map(|entry| &entry.key).collect();
    let gone = |key: &&ActionKey| {
        let open = model.queue.get(key).is_some_and(Slot::counts_as_pending);
        listed.contains(&&key.source) && !open && !held.contains(key)
    };
    let keys: Vec<ActionKey> = model.decide.draft.iter().map(|(key, _)| key).filter(gone).cloned().collect();
    if keys.is_empty() {
        return;
    }
    let dropped = settle(model, &keys);
    model.warn(match dropped.len() {
        1 => words::ONE_DROPPED.to_owned(),
        many => words::dropped(many),
    });
}

/// Closes a review whose decisions changed, because it must not be confirmed. Returns a note for the message.
fn close_review(model: &mut Model) -> &'static str {
    if model.sheet.take::<ReviewSheet>().is_some() { REVIEW_CLOSED } else { "" }
}
