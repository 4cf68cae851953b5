//! Handles the decision keys. They toggle, and only stage.

use crate::domain::{
    ActionKey, Decision, DecisionKind, Digest, Edits, On, Risk, Staged, Status, changed_keys,
};
use crate::text;
use crate::tui::chrome::state::Tone;
use crate::tui::core::command::Command;
use crate::tui::core::model::Model;
use crate::tui::core::msg::Effect;
use crate::tui::decide::words;
use crate::tui::preview::page::made::Tab;
use crate::tui::queue::groups::GroupKey;
use crate::tui::queue::slots::{Settled, Slot, State};
use crate::tui::submit::hold;
use crate::tui::{edit, queue};

use super::confirm_guard::is_burst;
use super::lock::{Missing, lock, next_unread};
use super::stage::{STRETCH, is_too_early};
use super::state::{Looking, Moment, Then, Wanted};
use super::{stage, turns};

fn asks(model: &Model, key: &ActionKey) -> bool {
    model.queue.get(key).is_some_and(|slot| slot.entry.row.can.answer)
        && approval(model, key).is_err_and(|why| why == words::ANSWER_FIRST)
}

/// Approves the targets, or clears them if all are approved.
pub(crate) fn approve(model: &mut Model) {
    let Some(targets) = ready(model) else { return };
    if !model.decide.guard.may_repeat(model.now) {
        return;
    }
    let (wanted, locked, moment) = (Vec::with_capacity(targets.len()), Vec::new(), stage::moment(model));
    model.decide.looking = Some(Looking { next: 0, wanted, locked, targets, moment });
    if !look(model, LOOK) {
        model.effects.push(Effect::WakeIn(0));
    }
}

/// Actions examined at once: a few milliseconds.
const LOOK: usize = 2_000;

fn look(model: &mut Model, most: usize) -> bool {
    let Some(mut looking) = model.decide.looking.take() else { return true };
    let end = looking.next.saturating_add(most).min(looking.targets.len());
    for key in looking.targets.get(looking.next..end).unwrap_or_default() {
        match approval(model, key) {
            Ok(decision) => looking.wanted.push((key.clone(), Some(decision))),
            Err(why) => looking.locked.push((key.clone(), why)),
        }
    }
    looking.next = end;
    let is_over = end == looking.targets.len();
    if is_over {
        looked(model, looking);
    } else {
        model.decide.looking = Some(looking);
    }
    is_over
}

fn looked(model: &mut Model, Looking { targets, mut wanted, locked, moment, .. }: Looking) {
    turns::drop_parts(model, &mut wanted, &locked);
    if let Some((key, why)) = locked.first().filter(|_| wanted.is_empty()) {
        // Clearing needs no permission.
        if targets.iter().all(|key| kind(model, key).is_some_and(DecisionKind::approves)) {
            return clear_targets(model, targets, moment);
        }
        let (key, alone) = (key.clone(), targets.len() == 1);
        if model.preview.page.as_ref().is_some_and(|page| page.of.key == key && !page.of.is_read()) {
            // The unread text is on the first tab.
            model.preview.tab = Tab::Rendered;
        }
        if alone && asks(model, &key) {
            return edit::update::open_for_answer(model, key);
        }
        if let Some(why) = turns::why(model, &targets, locked.len(), why) {
            model.warn(why);
            return;
        }
    }
    let left_out = targets.len() - wanted.len();
    let all = left_out == 0 && wanted.iter().all(|(key, decision)| is_staged(model, key, decision.as_ref()));
    if all {
        return clear_targets(model, targets, moment);
    }
    let spared = spare(model, &mut wanted);
    let said = (left_out > 0).then(|| {
        let answers = locked.iter().any(|(key, _)| asks(model, key));
        let why = if answers { words::ANSWER_OR_READ_FIRST } else { words::READ_FIRST };
        (Tone::Bad, words::marked_skipped(left_out, targets.len(), why))
    });
    stage_then(model, Wanted::Each(wanted.into_iter()), Then { said, spared, moves_on: true }, moment);
}

/// Stages decisions, leaving alone those with typed text if several actions are marked.
pub(crate) fn stage_but_spare(model: &mut Model, mut wanted: Wanted, moves_on: bool, moment: Moment) {
    let mut spared = 0;
    if may_spare(model) {
        let mut each: Vec<_> = std::iter::from_fn(|| model.decide.next_of(&mut wanted)).collect();
        spared = spare(model, &mut each);
        wanted = Wanted::Each(each.into_iter());
    }
    stage_then(model, wanted, Then { spared, moves_on, ..Then::default() }, moment);
}

fn may_spare(model: &Model) -> bool {
    !model.queue.marks.is_empty() && model.decide.tally.with_words() > 0
}

/// Stages decisions as one step, in parts if there are many.
pub(crate) fn stage_then(model: &mut Model, wanted: Wanted, then: Then, moment: Moment) {
    stage::begin(model, wanted, moment);
    model.decide.then = Some(then);
    stage::first_stretch(model);
    follow_up(model);
}

/// Continues the step in progress, and requests a wakeup if more remains.
pub(crate) fn go_on(model: &mut Model) {
    if !is_busy(model) {
        return;
    }
    if !look(model, LOOK) || !stage::stretch(model, STRETCH) {
        model.effects.push(Effect::WakeIn(0));
    }
    follow_up(model);
}

pub(crate) const fn is_busy(model: &Model) -> bool {
    model.decide.looking.is_some() || model.decide.bulk.is_some() || model.decide.then.is_some()
}

/// Completes the step in progress at once, because the next message depends on its result.
pub(crate) fn finish_all(model: &mut Model) {
    look(model, usize::MAX);
    stage::finish(model);
    follow_up(model);
}

fn follow_up(model: &mut Model) {
    if model.decide.bulk.is_some() {
        return;
    }
    let Some(then) = model.decide.then.take() else { return };
    if let Some((tone, said)) = then.said {
        model.tell(tone, vec![text::Shown::ours(said)]);
    }
    say_spared(model, then.spared);
    if then.moves_on {
        finish(model);
    }
}

/// Removes decisions that would replace typed text or edits, which belong to a single action. Returns their number.
pub(crate) fn spare(model: &Model, wanted: &mut Vec<(ActionKey, Option<Decision>)>) -> usize {
    if !may_spare(model) {
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

/// Adds the number of decisions left alone to the key's message.
pub(crate) fn say_spared(model: &mut Model, spared: usize) {
    if spared == 0 {
        return;
    }
    let verb = if spared == 1 { "stays" } else { "stay" };
    let said = words::with_words_stay(spared, verb);
    match model.screen.message.as_mut().filter(|message| message.at == model.now) {
        Some(message) => message.parts.push(text::Shown::ours(format!("; {said}"))),
        None => model.warn(said),
    }
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

pub(crate) fn kind(model: &Model, key: &ActionKey) -> Option<DecisionKind> {
    model.decide.draft.get(key).map(|staged| staged.decision.kind())
}

fn is_staged(model: &Model, key: &ActionKey, decision: Option<&Decision>) -> bool {
    model.decide.draft.get(key).map(|staged| &staged.decision) == decision
}

/// Clears the targets. Always allowed, also for decisions with typed text; does not move the cursor.
pub(crate) fn clear(model: &mut Model) {
    if is_burst(model) {
        return;
    }
    let targets = turns::all_staged(model, targets(model));
    let moment = stage::moment(model);
    stage_then(model, Wanted::Cleared(targets.into_iter()), Then::default(), moment);
}

pub(crate) fn clear_targets(model: &mut Model, targets: Vec<ActionKey>, moment: Moment) {
    stage_but_spare(model, Wanted::Cleared(targets.into_iter()), false, moment);
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
    for slot in group.slots.iter().filter_map(|index| model.queue.slot(*index)) {
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
    let word = model.queue.group_by().word();
    let shown = if model.queue.shown().is_some() { words::AS_FAR_AS_IT_IS } else { "" };
    let new = queue::update::just_arrived(new).map(|said| format!("; {said}")).unwrap_or_default();
    let said = words::rest_approved(word, shown, approved, &left, &new);
    let then = Then { said: Some((Tone::Plain, said)), ..Then::default() };
    let moment = stage::moment(model);
    stage_then(model, Wanted::Each(wanted.into_iter()), then, moment);
}

/// Returns the marked, visible, pending actions, or else the one under the cursor. Filtered actions are left alone.
pub(crate) fn targets(model: &Model) -> Vec<ActionKey> {
    if !model.queue.marks.is_empty() {
        let marked = model.queue.marked();
        return marked
            .into_iter()
            .filter_map(|index| model.queue.slot(index))
            .map(|slot| slot.entry.key.clone())
            .collect();
    }
    let here = model.here().filter(|slot| slot.is_pending());
    here.map(|slot| slot.entry.key.clone()).into_iter().collect()
}

/// Returns the targets of a decision key; `None`, after saying why, if there are none.
pub(crate) fn ready(model: &mut Model) -> Option<Vec<ActionKey>> {
    ready_at_all(model).ok()?;
    let targets = targets(model);
    if targets.is_empty() {
        say_why_not(model);
        return None;
    }
    let any = model.queue.any_can(|can| !can.can_decide());
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
        let (word, keys) = (model.queue.group_by().word(), &model.settings.keymap);
        let (rest, mark, into) =
            (keys.key(Command::ApproveRest), keys.key(Command::Mark), keys.key(Command::Unfold));
        let said = words::is_a_group(word, &rest, &mark, &into);
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

/// Moves to the next undecided action after a decision, or unmarks the marked ones.
pub(crate) fn finish(model: &mut Model) {
    model.decide.decided_in = model.queue.group_here().map(|group| group.key.clone());
    if !model.queue.marks.is_empty() {
        let marked = model.queue.marked();
        let hidden = model.queue.marks_hidden();
        model.queue.turn_marks(&marked);
        if hidden > 0 {
            model.warn(words::hidden_still_marked(hidden));
        }
        return;
    }
    let staged_here = |slot: &Slot| model.decide.draft.get(&slot.entry.key).is_some();
    if model.here().is_some_and(staged_here)
        && let Err(new) = queue::update::advance(model)
    {
        let batch = model.settings.keymap.key(Command::ReviewBatch);
        let what = if model.queue.shown().is_some() { words::ALL_SHOWN } else { words::ALL };
        let next = model.settings.keymap.key(Command::NextUndecided);
        let said = match new {
            0 => words::all_decided(what, &batch),
            new => words::new_arrived(new, &next, &batch),
        };
        // The message about the whole turn stays.
        let (now, last) = (model.now, model.screen.message.as_mut());
        match last.filter(|message| message.at == now && message.tone == Tone::Plain) {
            Some(message) => message.parts.push(text::Shown::ours(format!("; {said}"))),
            None => model.say(said),
        }
    }
}
