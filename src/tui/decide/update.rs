//! Handles the decision keys. They toggle, and only stage.

use crate::domain::{
    ActionKey, Decision, DecisionKind, Digest, Edits, On, Risk, Staged, Status, changed_keys,
};
use crate::text;
use crate::tui::chrome::state::Tone;
use crate::tui::core::command::Command;
use crate::tui::core::job::Job as _;
use crate::tui::core::model::Model;
use crate::tui::decide::words;
use crate::tui::queue;
use crate::tui::queue::groups::GroupKey;
use crate::tui::queue::slots::{Settled, Slot, State};
use crate::tui::submit::hold;

use super::advance::targets;
use super::confirm_guard::is_burst;
use super::lock::{Missing, lock, next_unread};
use super::stage::is_too_early;
use super::state::{DraftJob, EligibilityScan, FollowUp, Moment, Targets};
use super::{stage, turns};

pub(super) fn asks(model: &Model, key: &ActionKey) -> bool {
    model.queue.get(key).is_some_and(|slot| slot.entry.row.can.answer)
        && approval(model, key).is_err_and(|why| why == words::ANSWER_FIRST)
}

/// Approves the targets, or clears them if all are approved.
pub(crate) fn approve(model: &mut Model) {
    let Some(targets) = ready(model) else { return };
    if !model.decide.guard.may_repeat(model.now) {
        return;
    }
    let (allowed, refused, moment) = (Vec::with_capacity(targets.len()), Vec::new(), stage::moment(model));
    DraftJob::Approve(EligibilityScan { targets, next: 0, allowed, refused, moment }).start(model);
}

/// Begins a step, leaving alone decisions with typed text if several actions are marked.
pub(crate) fn begin_skipping(model: &mut Model, mut targets: Targets, moves_on: bool, moment: Moment) {
    let mut skipped = 0;
    if may_skip(model) {
        let mut each: Vec<_> = std::iter::from_fn(|| model.decide.next_of(&mut targets)).collect();
        skipped = skip_with_text(model, &mut each);
        targets = Targets::Each(each.into_iter());
    }
    stage::begin_at(model, moment, targets, FollowUp { skipped, moves_on, ..FollowUp::default() });
}

fn may_skip(model: &Model) -> bool {
    !model.queue.marks.is_empty() && model.decide.tally.with_words > 0
}

/// Removes decisions that would replace typed text or edits, which belong to a single action. Returns their number.
pub(crate) fn skip_with_text(model: &Model, wanted: &mut Vec<(ActionKey, Option<Decision>)>) -> usize {
    if !may_skip(model) {
        return 0;
    }
    let before = wanted.len();
    let keeps = |(key, decision): &(ActionKey, Option<Decision>)| {
        let staged = model.decide.draft.get(key).map(|staged| &staged.decision);
        staged.is_some_and(|staged| staged.has_words() && Some(staged) != decision.as_ref())
    };
    let kept: Vec<(ActionKey, String)> =
        wanted.iter().filter(|one| keeps(one)).map(|(key, _)| (key.clone(), String::new())).collect();
    wanted.retain(|one| !keeps(one));
    turns::drop_parts(model, wanted, &kept);
    before - wanted.len()
}

/// Returns the decision that approving this action stages, with its edits and comment.
pub(crate) fn approval(model: &Model, key: &ActionKey) -> Result<Decision, String> {
    let Some(slot) = model.queue.get(key) else { return Err(words::THIS_ACTION_IS_GONE.to_owned()) };
    if slot.entry.row.unreadable.is_some() {
        let exclude = model.settings.keymap.key(Command::Exclude);
        return Err(words::unreadable(&exclude));
    }
    if let Some(why) = lock(model, slot) {
        let keys = &model.settings.keymap;
        let (down, zoom) = (keys.key(Command::ScrollDown), keys.key(Command::Zoom));
        return Err(match next_unread(model, key) {
            Some((_, Missing::Time)) => words::too_briefly(&why),
            Some((line, Missing::Right)) => words::wrap_first(&why, line, &keys.key(Command::Wrap)),
            Some((line, Missing::Below)) => words::read_from(&why, &down, &zoom, line),
            None => words::read_to_end(&why, &down, &zoom),
        });
    }
    let cached = model.preview.cached(key);
    let is_of = |digest: Option<Digest>| cached.is_some_and(|cached| Some(cached.digest) == digest);
    let other = || words::CHANGED_AFTER_EDIT.to_owned();
    let (edits, comment) = match model.decide.draft.get(key) {
        Some(Staged { decision: Decision::Approve { edits, comment }, digest, .. }) => {
            if edits.is_some() && !is_of(*digest) {
                return Err(other());
            }
            (edits.clone(), comment.clone())
        }
        _ => (approved_by_others(model, slot)?, None),
    };
    let asks = slot.entry.row.can.answer;
    let Some(draft) = model.edit.texts.get(key) else {
        return if asks && edits.is_none() {
            Err(words::ANSWER_FIRST.to_owned())
        } else {
            Ok(Decision::Approve { edits, comment })
        };
    };
    let cached = cached.filter(|cached| cached.digest == draft.of).ok_or_else(other)?;
    let edits =
        changed_keys(&cached.action.input, &draft.text).map_err(|error| words::edit_is_broken(&error))?;
    if asks && edits.is_none() {
        return Err(words::ANSWER_FIRST.to_owned());
    }
    Ok(Decision::Approve { edits, comment })
}

/// Returns the edits of earlier approvers. They must have been on screen, because approving other content replaces the
/// earlier approvals.
fn approved_by_others(model: &Model, slot: &Slot) -> Result<Option<Edits>, String> {
    let key = &slot.entry.key;
    if slot.entry.row.approvals.as_ref().is_none_or(|approvals| approvals.given() == 0) {
        return Ok(None);
    }
    let edits = model.approved_edits(key);
    let is_seen = edits.is_none() || model.preview.shown.as_ref() == Some(key);
    if model.preview.cached(key).is_none() || !is_seen {
        return Err(words::APPROVED_LOOK_FIRST.to_owned());
    }
    Ok(edits.cloned())
}

pub(super) fn kind(model: &Model, key: &ActionKey) -> Option<DecisionKind> {
    model.decide.draft.get(key).map(|staged| staged.decision.kind())
}

/// Clears the targets. Always allowed, also for decisions with typed text; does not move the cursor.
pub(crate) fn clear(model: &mut Model) {
    if is_burst(model) {
        return;
    }
    let targets = turns::all_staged(model, targets(model));
    stage::begin(model, Targets::Clear(targets.into_iter()), FollowUp::default());
}

pub(crate) fn clear_targets(model: &mut Model, targets: Vec<ActionKey>, moment: Moment) {
    begin_skipping(model, Targets::Clear(targets.into_iter()), false, moment);
}

/// Approves the rest of this batch: undecided actions that were opened, are not high-risk, and need no second look.
pub(crate) fn approve_rest(model: &mut Model) {
    if ready_at_all(model).is_err() {
        return;
    }
    let Some(group) = model.queue.group_here() else { return };
    if group.key == GroupKey::ToResolve {
        say_to_settle(model);
        return;
    }
    let (mut wanted, mut unopened, mut new, mut other) = (Vec::new(), 0, 0, 0);
    let (mut high, mut critical) = (0, 0);
    for slot in model.queue.rows_of(group) {
        let key = &slot.entry.key;
        if !slot.is_pending() || model.decide.draft.get(key).is_some() {
            continue;
        }
        if model.list.arrivals.is_just_listed(key, model.now) {
            new += 1;
        } else if slot.entry.row.risk == Risk::Critical {
            critical += 1;
        } else if slot.entry.row.risk.is_high() {
            high += 1;
        } else if model.seen_of(slot).is_none() {
            unopened += 1;
        } else if let Ok(decision) = approval(model, key)
            && slot.entry.row.can.can_decide()
        {
            wanted.push((key.clone(), Some(decision)));
        } else {
            other += 1;
        }
    }
    let parts = turns::drop_partly(model, &mut wanted);
    other += parts;
    let approved = wanted.len();
    let unread = [(unopened, "unread"), (high, "high-risk"), (critical, "critical")];
    let left: Vec<String> = unread
        .iter()
        .chain(&[(other, words::TO_BE_READ_OR_ANSWERED)])
        .filter(|(n, _)| *n > 0)
        .map(|(n, why)| format!("{n} {why}"))
        .collect();
    let left = if left.is_empty() { String::new() } else { words::and_skipped(&left.join(", ")) };
    let word = model.queue.group_by.word();
    let shown = if model.queue.is_filtered { words::AS_FAR_AS_IT_IS } else { "" };
    let new = queue::update::just_arrived(new).map(|said| format!("; {said}")).unwrap_or_default();
    let said = words::rest_approved(word, shown, approved, &left, &new);
    let follow_up = FollowUp { said: Some((Tone::Plain, said)), ..FollowUp::default() };
    stage::begin(model, Targets::Each(wanted.into_iter()), follow_up);
}

/// Returns the targets of a decision key; `None`, after saying why, if there are none.
pub(crate) fn ready(model: &mut Model) -> Option<Vec<ActionKey>> {
    ready_at_all(model).ok()?;
    let targets = targets(model);
    if targets.is_empty() {
        say_why_not(model);
        return None;
    }
    let any = model.queue.tally.any_can(|can| !can.can_decide());
    if let Some(why) = targets.iter().filter(|_| any).find_map(|key| read_only(model, key)) {
        model.warn(why);
        return None;
    }
    turns::whole(model, targets)
}

fn read_only(model: &Model, key: &ActionKey) -> Option<&'static str> {
    let can = model.queue.get(key)?.entry.row.can;
    (!can.can_decide()).then(|| can.why_not(On::Any))
}

/// Returns true if this action may be decided now; otherwise says why not.
pub(crate) fn may_decide(model: &mut Model, key: &ActionKey) -> bool {
    if ready_at_all(model).is_err() {
        return false;
    }
    if let Some(why) = read_only(model, key) {
        model.warn(why);
        return false;
    }
    model.queue.get(key).is_some()
}

/// Refuses decisions on a row that just changed, and from keys that arrive faster than typing.
fn ready_at_all(model: &mut Model) -> Result<(), ()> {
    if is_burst(model) || is_too_early(model) {
        return Err(());
    }
    if model.queue.marks.is_empty() && model.decide.guard.just_changed(model.now) {
        model.warn(words::ROW_JUST_CHANGED);
        return Err(());
    }
    let is_new = |slot: &Slot| model.list.arrivals.is_unseen(&slot.entry.key, model.now);
    if model.queue.marks.is_empty() && model.queue.here().is_some_and(is_new) {
        model.warn(words::ROW_JUST_ARRIVED);
        return Err(());
    }
    Ok(())
}

pub(crate) fn say_why_not(model: &mut Model) {
    if model.queue.group_here().is_some_and(|group| group.key == GroupKey::ToResolve)
        && model.here().is_none_or(|slot| slot.state == State::ToResolve)
    {
        return say_to_settle(model);
    }
    if !model.queue.marks.is_empty() {
        let (marked, key) = (model.queue.marks.len(), model.settings.keymap.key(Command::Back));
        model.say(words::marks_hidden(marked, &key));
        return;
    }
    let Some(slot) = model.here() else {
        let Some(group) = model.queue.group_here() else {
            return model.say(crate::tui::chrome::words::NO_CURSOR);
        };
        let (turn, does) = if group.folded { (Command::Unfold, "unfold") } else { (Command::Fold, "fold") };
        let (word, keys) = (model.queue.group_by.word(), &model.settings.keymap);
        let (rest, mark) = (keys.key(Command::ApproveRest), keys.key(Command::Mark));
        let said = words::is_a_group(word, &rest, &mark, &keys.key(turn), does);
        model.say(said);
        return;
    };
    match &slot.state {
        State::Settled(settled) => {
            let parts = settled_by(settled, model.people.who(&slot.entry.key, settled.by.as_ref()));
            model.tell(Tone::Bad, parts);
        }
        State::Held => drop(hold::is_in_the_way(model)),
        State::Sending => model.say(words::ON_THE_WAY),
        State::Unknown => {
            let keys = &model.settings.keymap;
            let (look, settle) = (keys.key(Command::Reload), keys.key(Command::ResolveUnknown));
            model.say(words::sent_and_unknown(&look, &settle));
        }
        State::ToResolve => say_to_settle(model),
        State::Pending => {}
    }
}

fn say_to_settle(model: &mut Model) {
    let key = model.settings.keymap.key(Command::ResolveUnknown);
    model.warn(words::ran_and_unknown(&key));
}

pub(crate) fn caps_lock(model: &mut Model) {
    let hint = words::CAPS_LOCK;
    match &mut model.screen.message {
        Some(message) => message.parts.push(text::Shown::ours(format!("   {hint}"))),
        None => model.warn(hint),
    }
}

fn settled_by(settled: &Settled, by: Option<text::Shown>) -> Vec<text::Shown> {
    if settled.status == Some(Status::Expired) {
        return vec![text::Shown::ours(words::EXPIRED)];
    }
    let mut parts = vec![text::Shown::ours(words::ALREADY_DECIDED)];
    if let Some(by) = by {
        parts.push(text::Shown::ours(" by "));
        parts.push(by);
    }
    parts
}
