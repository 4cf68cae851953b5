//! Turns: batches whose source takes one decision for all calls of them. A key on one call is a key on all.

use std::collections::HashSet;

use crate::domain::{ActionKey, BatchKey, Decision, Step, Together};
use crate::text;
use crate::tui::chrome;
use crate::tui::core::command::Command;
use crate::tui::core::model::Model;
use crate::tui::decide::words;
use crate::tui::queue::slots::Slot;

/// Some source takes one decision for all calls of a batch.
fn has_turns(model: &Model) -> bool {
    model.queue.any_can(|can| can.together == Together::Same)
}

/// The turn that an action is decided with as one.
fn turn_of(model: &Model, key: &ActionKey) -> Option<BatchKey> {
    let slot = model.queue.get(key)?;
    (slot.entry.row.can.together == Together::Same).then(|| slot.entry.batch())
}

/// With every call of the turns that these are of. `None` after saying why: what is not shown is not decided, and without it
/// nothing of its turn can be.
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

/// All calls of a turn, where all of them can be seen and decided.
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

/// Takes out what is of a turn of which something cannot be decided so.
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

/// Takes out what is of a turn of which not everything is wanted; how many were.
pub(crate) fn drop_partly(model: &Model, wanted: &mut Vec<(ActionKey, Option<Decision>)>) -> usize {
    if !has_turns(model) {
        return 0;
    }
    let before = wanted.len();
    let keys: HashSet<ActionKey> = wanted.iter().map(|(key, _)| key.clone()).collect();
    wanted.retain(|(key, _)| {
        let turn = turn_of(model, key);
        turn.is_none_or(|turn| {
            calls(model, &turn).is_ok_and(|calls| calls.iter().all(|call| keys.contains(call)))
        })
    });
    before - wanted.len()
}

/// Why nothing of it was approved, where it is one action, or one turn.
pub(crate) fn why(model: &Model, targets: &[ActionKey], locked: usize, why: &str) -> Option<String> {
    if targets.len() == 1 {
        return Some(why.to_owned());
    }
    let first = turn_of(model, targets.first()?)?;
    let one = targets.iter().all(|key| turn_of(model, key).as_ref() == Some(&first));
    one.then(|| words::of_this_turn(locked, targets.len(), why))
}

/// With everything that is staged of their turns: taking back works for the whole.
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

/// `the whole turn: 3 calls`, where a step was about more than the one under the cursor.
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
