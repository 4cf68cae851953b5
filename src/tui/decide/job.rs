//! The slices of a change of the draft: whether each target may be approved, staging, undo, redo.

use crate::domain::{Change, Decision, DecisionKind, Staged, Step, Untrusted};
use crate::journal::Write;
use crate::text;
use crate::text::Shown;
use crate::tui::chrome::state::Tone;
use crate::tui::core::command::Command;
use crate::tui::core::job::Job;
use crate::tui::core::model::Model;
use crate::tui::edit;
use crate::tui::preview::page::line::listed;
use crate::tui::preview::page::made::Tab;

use super::advance::move_on;
use super::state::{DraftJob, EligibilityScan, FollowUp, Moment, Staging, Targets};
use super::update::{approval, asks, clear_targets, kind, skip_with_text};
use super::{stage, turns, words};

impl Job for DraftJob {
    const SLICE: usize = 2_000;

    fn place(model: &mut Model) -> &mut Option<Self> {
        &mut model.decide.job
    }

    fn step(mut self, model: &mut Model, most: usize) -> Option<Self> {
        let left = match &mut self {
            Self::Approve(scan) => examine(model, scan, most),
            Self::Stage(staging) => put(model, staging, most),
            Self::Undo { step, left } => {
                let from = left.saturating_sub(most);
                let changes = step.changes.get(from..*left).unwrap_or_default();
                model.decide.draft.put_before(changes);
                model.decide.tally.undone(changes);
                *left = from;
                from
            }
            Self::Redo { step, done } => {
                let to = done.saturating_add(most).min(step.changes.len());
                let changes = step.changes.get(*done..to).unwrap_or_default();
                model.decide.draft.put_after(changes);
                model.decide.tally.done(changes);
                *done = to;
                step.changes.len() - to
            }
        };
        model.screen.dirty = true;
        if left > 0 {
            return Some(self);
        }
        match self {
            Self::Approve(scan) => approve(model, scan),
            Self::Stage(Staging { step, follow_up, .. }) => {
                if let Some(step) = model.decide.draft.end(step) {
                    say_staged(model, &step);
                    stage::save_step(model, step);
                }
                follow(model, follow_up);
            }
            Self::Undo { step, .. } => {
                model.decide.draft.step_back();
                moved(model, &step, "undone", words::undone);
            }
            Self::Redo { step, .. } => {
                model.decide.draft.step_on();
                moved(model, &step, "redone", words::redone);
            }
        }
        None
    }
}

/// Returns the number of targets left, like [`put`].
fn examine(model: &Model, scan: &mut EligibilityScan, most: usize) -> usize {
    let end = scan.next.saturating_add(most).min(scan.targets.len());
    for key in scan.targets.get(scan.next..end).unwrap_or_default() {
        match approval(model, key) {
            Ok(decision) => scan.allowed.push((key.clone(), Some(decision))),
            Err(why) => scan.refused.push((key.clone(), why)),
        }
    }
    scan.next = end;
    scan.targets.len() - end
}

fn put(model: &mut Model, staging: &mut Staging, most: usize) -> usize {
    let Staging { targets, step, moment: Moment { at, opened }, .. } = staging;
    let Model { queue, reader, decide, .. } = model;
    let before = step.changes().len();
    for _ in 0..most.min(targets.len()) {
        let Some((key, decision)) = decide.next_of(targets) else { break };
        let Some(slot) = queue.get(&key) else { continue };
        let seen = opened.get(&key);
        let digest = seen.map(|cached| cached.digest);
        let terms = seen.and_then(|cached| cached.action.terms);
        if let Some(cached) = seen.filter(|_| decision.is_some()) {
            reader.contents.staged(&key, cached);
        }
        let staged =
            decision.map(|decision| Staged { decision, batch: slot.entry.batch(), digest, terms, at: *at });
        decide.draft.put(step, key, staged);
    }
    decide.tally.done(step.changes().get(before..).unwrap_or_default());
    targets.len()
}

/// Stages what may be approved, or clears the targets if all are approved already.
fn approve(
    model: &mut Model,
    EligibilityScan { targets, mut allowed, refused, moment, .. }: EligibilityScan,
) {
    turns::drop_parts(model, &mut allowed, &refused);
    if let Some((key, why)) = refused.first().filter(|_| allowed.is_empty()) {
        // Clearing needs no permission.
        if targets.iter().all(|key| kind(model, key).is_some_and(DecisionKind::approves)) {
            return clear_targets(model, targets, moment);
        }
        if model.preview.page.as_ref().is_some_and(|page| page.of.key == *key && !page.of.is_read()) {
            // The unread text is on the first tab.
            model.preview.tab = Tab::Rendered;
        }
        if targets.len() == 1 && asks(model, key) {
            return edit::update::open_for_answer(model, key.clone());
        }
        if let Some(why) = turns::why(model, &targets, refused.len(), why) {
            model.warn(why);
            return;
        }
    }
    let left_out = targets.len() - allowed.len();
    let is_staged = |(key, decision): &(_, Option<Decision>)| {
        model.decide.draft.get(key).map(|staged| &staged.decision) == decision.as_ref()
    };
    if left_out == 0 && allowed.iter().all(is_staged) {
        return clear_targets(model, targets, moment);
    }
    let skipped = skip_with_text(model, &mut allowed);
    let said = (left_out > 0).then(|| {
        let answers = refused.iter().any(|(key, _)| asks(model, key));
        let why = if answers { words::ANSWER_OR_READ_FIRST } else { words::READ_FIRST };
        (Tone::Bad, words::marked_skipped(left_out, targets.len(), why))
    });
    let follow_up = FollowUp { said, skipped, moves_on: true };
    stage::begin_at(model, moment, Targets::Each(allowed.into_iter()), follow_up);
}

fn follow(model: &mut Model, FollowUp { said, skipped, moves_on }: FollowUp) {
    if let Some((tone, said)) = said {
        model.tell(tone, vec![Shown::ours(said)]);
    }
    if skipped > 0 {
        let said = words::with_words_stay(skipped, if skipped == 1 { "stays" } else { "stay" });
        match model.screen.message.as_mut().filter(|message| message.at == model.now) {
            Some(message) => message.parts.push(Shown::ours(format!("; {said}"))),
            None => model.warn(said),
        }
    }
    if moves_on {
        move_on(model);
    }
}

fn moved(model: &mut Model, step: &Step, one: &str, many: impl Fn(usize) -> String) {
    let changed = step.changes.len();
    model.say(if changed == 1 { one.to_owned() } else { many(changed) });
    stage::save(model, vec![Write::Position(model.decide.draft.position())]);
}

fn say_staged(model: &mut Model, step: &Step) {
    model.submit.sent_line = false;
    // Earlier messages are outdated. A failing journal is reported elsewhere.
    if model.screen.message.as_ref().is_some_and(|said| said.tone == Tone::Bad || said.at < model.now) {
        model.screen.message = None;
    }
    let turn = turns::words(model, step);
    let parts = replaced(model, step, turn.is_some());
    let turn: Vec<Shown> = turn.map(Shown::ours).into_iter().collect();
    if !turn.is_empty() || !parts.is_empty() {
        let between = if turn.is_empty() || parts.is_empty() { "" } else { "; " };
        model.tell(Tone::Plain, [turn, vec![Shown::ours(between)], parts].concat());
    }
}

/// Returns `undecided again; u brings back exclude, because "duplicate"`, or `2 decisions replaced; u brings them
/// back`. Empty if nothing was replaced. A turn counts as one decision.
fn replaced(model: &Model, step: &Step, turn: bool) -> Vec<Shown> {
    let key = model.settings.keymap.key(Command::Undo);
    let replaced: Vec<&Change> = step.changes.iter().filter(|change| change.before.is_some()).collect();
    let cleared = replaced.iter().all(|change| change.after.is_none());
    let before = replaced.first().and_then(|change| change.before.as_deref());
    match (before, replaced.len()) {
        (None, _) => Vec::new(),
        (Some(before), n) if n == 1 || turn => {
            let first = if cleared && turn {
                String::new()
            } else if cleared {
                words::UNDECIDED_AGAIN.to_owned()
            } else {
                let after = replaced.first().and_then(|change| change.after.as_deref());
                match after.map(|staged| staged.decision.kind().words().phrase) {
                    Some(now) if now != before.decision.kind().words().phrase => format!("{now} now; "),
                    _ => "changed; ".to_owned(),
                }
            };
            let mut parts = vec![Shown::ours(words::brings_back(&first, &key))];
            parts.extend(said(&before.decision));
            parts
        }
        (Some(_), n) if cleared => vec![Shown::ours(words::undecided_again(n, &key))],
        (Some(_), n) => vec![Shown::ours(words::replaced(n, &key))],
    }
}

fn said(decision: &Decision) -> Vec<Shown> {
    let edits = decision.edits().map(|edits| format!(" ({})", listed(&edits.keys()))).unwrap_or_default();
    let mut parts = vec![Shown::ours(format!("{}{edits}", decision.kind().words().phrase))];
    let what = decision.kind().words().before_said;
    if let Some(words) = decision.said() {
        let words = text::line(&Untrusted::from(words)).cut(30);
        parts.extend([Shown::ours(format!(", {what} \"")), words, Shown::ours("\"")]);
    }
    parts
}
