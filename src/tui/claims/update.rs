//! Makes and ends claims, and applies the claims that sources report.

use crate::domain::{ActionKey, Claim, SourceName, Timestamp};
use crate::inbox::Problem;
use crate::tui::core::model::Model;
use crate::tui::core::msg::Effect;
use crate::tui::queue::slots::Slot;

use super::state::{Holder, ROOM};
use super::words;

/// How often a claim is renewed while its action is being worked on. Milliseconds.
const AGAIN: i64 = 60_000;
/// Milliseconds that an action stays open before it is claimed automatically, if the configuration enables that.
const STAYS_OPEN: i64 = 10_000;

/// Handles the claim key: claims the action under the cursor, or ends this client's claim of it. Ignores marks.
pub(crate) fn toggle(model: &mut Model) {
    let Some(slot) = model.here().filter(|slot| slot.is_pending() && model.history.open.is_none()) else {
        return model.warn(words::ONLY_PENDING);
    };
    let key = slot.entry.key.clone();
    if !model.claims.kept_at.contains(&key.source) {
        return model.warn(words::NOT_KEPT);
    }
    match model.claims.holder(&key, &model.list.sources) {
        Some((Holder::Other(_), _)) => {
            if let Some(theirs) = theirs(model, &key) {
                model.say(theirs);
            }
        }
        Some((Holder::Me, _)) => end(model, key),
        None => {
            model.claims.by_itself.take_if(|known| *known == key);
            ask(model, key);
        }
    }
}

fn theirs(model: &Model, key: &ActionKey) -> Option<String> {
    let of = (model.list.sources.as_slice(), &model.people);
    let (who, since) = model.claims.named(key, of, model.now, ROOM)?;
    Some(words::theirs(&who.plain(), &since))
}

fn ask(model: &mut Model, key: ActionKey) {
    model.claims.said.insert(key.clone(), model.now);
    model.effects.push(Effect::Claim { key, end: false });
}

fn end(model: &mut Model, key: ActionKey) {
    model.claims.said.remove(&key);
    model.claims.by_itself.take_if(|known| *known == key);
    model.effects.push(Effect::Claim { key, end: true });
}

/// Handles the answer to an [`Effect::Claim`]: the current claim, or `None` if ours ended.
pub(crate) fn answered(model: &mut Model, key: &ActionKey, answer: Result<Option<Claim>, Problem>) {
    let known = model.claims.of.get(key).cloned();
    let quiet = model.claims.by_itself.as_ref() == Some(key);
    match answer {
        Err(problem) => {
            model.claims.said.remove(key);
            if !quiet {
                model.tell_problem(words::NOT_CLAIMED, &problem);
            }
        }
        Ok(None) => {
            model.claims.of.remove(key);
            if !quiet {
                model.say(words::ENDED);
            }
        }
        Ok(Some(claim)) => {
            let news = known.as_ref() != Some(&claim);
            model.claims.of.insert(key.clone(), claim);
            match model.claims.holder(key, &model.list.sources) {
                Some((Holder::Me, _)) if news && !quiet => model.say(words::CLAIMED),
                Some((Holder::Other(_), _)) => {
                    model.claims.said.remove(key);
                    if let Some(theirs) = theirs(model, key).filter(|_| !quiet) {
                        model.say(theirs);
                    }
                }
                _ => {}
            }
        }
    }
    model.screen.dirty = true;
}

pub(crate) fn told(model: &mut Model, source: &SourceName, claims: Option<Vec<Claim>>) {
    model.screen.dirty |= model.claims.told(source, claims);
}

fn open(model: &Model) -> Option<&ActionKey> {
    let is_here = model.history.open.is_none() && !model.watches() && !model.is_blind();
    let slot = model.here().filter(|slot| is_here && slot.is_pending())?;
    Some(&slot.entry.key)
}

/// Renews the claim of the open action after a key press or a typed line.
pub(crate) fn worked(model: &mut Model) {
    if model.claims.said.is_empty() {
        return;
    }
    let Some(key) = open(model).cloned() else { return };
    let is_due = model.claims.said.get(&key).is_some_and(|at| model.now.since(*at) >= AGAIN);
    if is_due && matches!(model.claims.holder(&key, &model.list.sources), Some((Holder::Me, _))) {
        ask(model, key);
    }
}

/// Runs with every message, for automatic claims: restarts the timer when another action opens, and ends an automatic
/// claim whose action was left undecided.
pub(crate) fn follow(model: &mut Model) {
    if !model.settings.claim_by_itself || !model.list.touched {
        return;
    }
    let now_open = open(model).cloned();
    if model.claims.open.as_ref().map(|(key, _)| key) == now_open.as_ref() {
        return;
    }
    model.claims.open = now_open.map(|key| (key, model.now));
    let left = model.claims.by_itself.clone().filter(|key| model.decide.draft.get(key).is_none());
    if let Some(key) = left
        && matches!(model.claims.holder(&key, &model.list.sources), Some((Holder::Me, _)))
    {
        model.claims.said.remove(&key);
        model.effects.push(Effect::Claim { key, end: true });
    }
}

pub(crate) fn due(model: &Model) -> Option<Timestamp> {
    let (key, since) = model.claims.open.as_ref()?;
    let free = model.claims.kept_at.contains(&key.source) && !model.claims.of.contains_key(key);
    let free = free && !model.claims.said.contains_key(key) && !model.screen.window.is_behind();
    free.then(|| since.plus_millis(STAYS_OPEN))
}

pub(crate) fn tick(model: &mut Model) {
    if due(model).is_none_or(|at| at > model.now) {
        return;
    }
    if let Some((key, _)) = model.claims.open.clone() {
        model.claims.by_itself = Some(key.clone());
        ask(model, key);
    }
}

/// Returns true if the jump to the next undecided action skips this one: claimed by somebody else and not urgent.
pub(crate) fn is_left_to_others(model: &Model, slot: &Slot) -> bool {
    if model.claims.is_empty() {
        return false;
    }
    matches!(model.claims.holder(&slot.entry.key, &model.list.sources), Some((Holder::Other(_), _)))
        && !presses(model, slot)
}

fn presses(model: &Model, slot: &Slot) -> bool {
    let (row, targets, now) = (&slot.entry.row, &model.settings.targets, model.now);
    let beyond = |millis: i64, limit: std::time::Duration| {
        u128::from(millis.max(0).unsigned_abs()) > limit.as_millis()
    };
    let own = |name: &crate::domain::Untrusted| model.settings.queue_targets.get(name.as_raw());
    let target = row.agent.as_ref().and_then(own).or_else(|| own(&row.tool)).copied().unwrap_or(targets.age);
    let target = if row.risk.is_high() { target.min(targets.high_risk) } else { target };
    let expires = row.expires_at.is_some_and(|at| !beyond(at.since(now), targets.expiring));
    row.risk == crate::domain::Risk::Critical || expires || beyond(now.since(row.created_at), target)
}
