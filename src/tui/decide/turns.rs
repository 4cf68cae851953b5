//! Turns: batches whose source takes one decision for all their calls. A key on one call applies to all.

use std::collections::{HashMap, HashSet};

use crate::domain::{ActionKey, BatchKey, Decision, Step, Together};
use crate::text;
use crate::tui::chrome;
use crate::tui::core::command::Command;
use crate::tui::core::model::Model;
use crate::tui::decide::words;
use crate::tui::queue::slots::Slot;

fn has_turns(model: &Model) -> bool {
    model.queue.tally.any_can(|can| can.together == Together::Same)
}

/// Returns the turn of an action, if its calls are decided together.
fn turn_of(model: &Model, key: &ActionKey) -> Option<BatchKey> {
    let slot = model.queue.get(key)?;
    (slot.entry.row.can.together == Together::Same).then(|| slot.entry.batch())
}

/// Extends the targets by all calls of their turns. `None`, after saying why, if a call is hidden or cannot be decided,
/// because then no call of its turn can.
pub(crate) fn whole(model: &mut Model, targets: Vec<ActionKey>) -> Option<Vec<ActionKey>> {
    if !has_turns(model) {
        return Some(targets);
    }
    let (mut keys, mut turns) = (Vec::new(), HashSet::new());
    let mut refused = None;
    for key in targets {
        match turn_of(model, &key) {
            None => keys.push(key),
            Some(turn) if turns.contains(&turn) => {}
            Some(turn) => {
                match calls(model, &turn) {
                    Ok(calls) => keys.extend(calls),
                    Err(why) => refused = Some(why),
                }
                turns.insert(turn);
            }
        }
    }
    match refused {
        Some(why) => {
            model.warn(why);
            None
        }
        None => Some(keys),
    }
}

/// Returns all calls of a turn if each is visible and pending.
fn calls(model: &Model, turn: &BatchKey) -> Result<Vec<ActionKey>, String> {
    let held = model.queue.held_pending().filter(|entry| entry.batch() == *turn).count();
    if held > 0 {
        let (new, key) =
            (text::count(held, chrome::words::NEW_CALL), model.settings.keymap.key(Command::Reload));
        return Err(words::turn_grew(&new, &key));
    }
    let calls: Vec<&Slot> = model.queue.calls(turn);
    let new = calls.iter().filter(|call| model.list.arrivals.is_unseen(&call.entry.key, model.now)).count();
    if new > 0 {
        let new = text::count(new, chrome::words::NEW_CALL);
        return Err(words::turn_just_grew(&new));
    }
    let hidden = calls.iter().filter(|slot| model.queue.is_filtered_out(&slot.entry.key)).count();
    if hidden > 0 {
        return Err(words::turn_hidden(hidden, calls.len(), if hidden == 1 { "is" } else { "are" }));
    }
    if calls.iter().any(|slot| !slot.is_pending()) {
        return Err(words::TURN_ON_ITS_WAY.to_owned());
    }
    Ok(calls.into_iter().map(|slot| slot.entry.key.clone()).collect())
}

pub(crate) fn drop_parts(
    model: &Model,
    wanted: &mut Vec<(ActionKey, Option<Decision>)>,
    locked: &[(ActionKey, String)],
) {
    let turns: HashSet<BatchKey> = locked.iter().filter_map(|(key, _)| turn_of(model, key)).collect();
    if !turns.is_empty() {
        wanted.retain(|(key, _)| turn_of(model, key).is_none_or(|turn| !turns.contains(&turn)));
    }
}

/// Removes actions of turns that are not wanted completely. Returns how many.
pub(crate) fn drop_partly(model: &Model, wanted: &mut Vec<(ActionKey, Option<Decision>)>) -> usize {
    if !has_turns(model) {
        return 0;
    }
    let before = wanted.len();
    let keys: HashSet<ActionKey> = wanted.iter().map(|(key, _)| key.clone()).collect();
    let mut whole = HashMap::new();
    wanted.retain(|(key, _)| {
        let is_whole = |turn: &BatchKey| {
            calls(model, turn).is_ok_and(|calls| calls.iter().all(|call| keys.contains(call)))
        };
        turn_of(model, key).is_none_or(|turn| *whole.entry(turn).or_insert_with_key(is_whole))
    });
    before - wanted.len()
}

/// Returns why an approval failed if the targets are one action or one turn.
pub(crate) fn why(model: &Model, targets: &[ActionKey], locked: usize, why: &str) -> Option<String> {
    if targets.len() == 1 {
        return Some(why.to_owned());
    }
    let first = turn_of(model, targets.first()?)?;
    let one = targets.iter().all(|key| turn_of(model, key).as_ref() == Some(&first));
    one.then(|| words::of_this_turn(locked, targets.len(), why))
}

/// Extends the targets by the staged actions of their turns, because unstaging applies to whole turns.
pub(crate) fn all_staged(model: &Model, targets: Vec<ActionKey>) -> Vec<ActionKey> {
    let any = has_turns(model);
    let turns: HashSet<BatchKey> =
        targets.iter().filter(|_| any).filter_map(|key| turn_of(model, key)).collect();
    if turns.is_empty() {
        return targets;
    }
    let known: HashSet<ActionKey> = targets.iter().cloned().collect();
    let others = model
        .decide
        .draft
        .iter()
        .filter(|(key, staged)| turns.contains(&staged.batch) && !known.contains(*key));
    let mut others: Vec<ActionKey> = others.map(|(key, _)| key.clone()).collect();
    others.sort();
    targets.into_iter().chain(others).collect()
}

/// Returns `the whole turn: 3 calls` if a step covered more than the action under the cursor.
pub(crate) fn words(model: &Model, step: &Step) -> Option<String> {
    if !has_turns(model) {
        return None;
    }
    let mut turns = HashSet::new();
    let mut calls = 0;
    for change in step.changes.iter() {
        if let Some(turn) = turn_of(model, &change.key) {
            turns.insert(turn);
            calls += 1;
        }
    }
    let back = if step.changes.iter().all(|change| change.after.is_none()) {
        words::AND_UNDECIDED_AGAIN
    } else {
        ""
    };
    match turns.len() {
        0 => None,
        _ if calls == turns.len() => None,
        1 => Some(words::whole_turn(calls, back)),
        turns => Some(words::whole_turns(turns, calls, back)),
    }
}
