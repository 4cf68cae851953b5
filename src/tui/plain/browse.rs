//! Navigation: reads out actions, the list, and staged decisions. Does not decide anything.

use crate::domain::ActionKey;
use crate::text;
use crate::tui::core::command::Command;
use crate::tui::core::model::Model;
use crate::tui::core::msg::Intent;
use crate::tui::plain::words;
use crate::tui::queue::slots::Slot;
use crate::tui::queue::state::Line;

use super::sentences;
use super::sentences::troubles;
use super::session::{Session, Spoken};
use super::words::{WORDS, found};

const NAMED: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    Next,
    Previous,
}

/// Reads out the action under the cursor. Decisions apply to it from now on.
pub(crate) fn announce(session: &mut Session) {
    let Some(slot) = session.model.here() else {
        session.spoken = None;
        let nothing =
            if session.model.queue.lines.is_empty() { words::NOTHING_PENDING } else { words::NOTHING_CHOSEN };
        session.say(nothing);
        return say_held(session);
    };
    let said = sentences::action(&session.model, slot);
    session.spoken = Some(Spoken::of(slot, session.model.now));
    session.say(&said);
}

pub(crate) fn say_held(session: &mut Session) {
    if let Some(held) = sentences::held(&session.model) {
        session.say(&held);
    }
}

pub(crate) fn again(session: &mut Session) {
    announce(session);
}

pub(crate) fn first_undecided(session: &mut Session) {
    let undecided =
        |slot: &&Slot| slot.is_pending() && session.model.decide.draft.get(&slot.entry.key).is_none();
    let first = actions(&session.model).find(undecided).map(|slot| slot.entry.key.clone());
    if let Some(key) = first {
        session.give(Intent::Go(key));
    }
    announce(session);
}

fn actions(model: &Model) -> impl Iterator<Item = &Slot> {
    model.queue.lines.iter().filter_map(|line| match line {
        Line::Action(index) => model.queue.slot(*index),
        Line::Header(_) => None,
    })
}

fn nth_here(model: &Model) -> Option<usize> {
    let here = &model.here()?.entry.key;
    actions(model).position(|slot| slot.entry.key == *here)
}

pub(crate) fn step(session: &mut Session, to: To) {
    let before = here(&session.model);
    session.give(Intent::Command(match to {
        To::Next => Command::NextUndecided,
        To::Previous => Command::PreviousUndecided,
    }));
    let heard = session.heard();
    if here(&session.model) != before {
        return announce(session);
    }
    match heard {
        Some(_) => session.say(words::ALL_DECIDED),
        None => session.say(words::NO_OTHER),
    }
    say_held(session);
}

pub(crate) fn here(model: &Model) -> Option<ActionKey> {
    model.here().map(|slot| slot.entry.key.clone())
}

/// Goes to the action with this number, counted from 1; past the end, to the last one.
pub(crate) fn go(session: &mut Session, number: usize) {
    let total = actions(&session.model).count();
    let at = number.min(total).saturating_sub(1);
    let key = actions(&session.model).nth(at).map(|slot| slot.entry.key.clone());
    if let Some(key) = key {
        session.give(Intent::Go(key));
    }
    announce(session);
}

pub(crate) fn go_to(session: &mut Session, rest: &str) {
    let total = actions(&session.model).count();
    match rest.parse::<usize>() {
        Ok(number) if (1..=total).contains(&number) => go(session, number),
        _ => session.say(&words::say_go(total)),
    }
}

/// Returns `3. High risk. refund_payment. Title: X. Staged: approve.`
fn line(model: &Model, nth: usize, slot: &Slot) -> String {
    let row = &slot.entry.row;
    let standing = sentences::standing(model, slot);
    let said = format!(
        "{nth}. {}. {}. Title: {}. {standing}",
        sentences::risk(&row.risk),
        sentences::identifier(&row.tool),
        sentences::foreign(&model.title_of(slot))
    );
    said.trim_end().to_owned()
}

pub(crate) fn list(session: &mut Session, rest: &str) {
    let count = match rest {
        "" => NAMED,
        "all" => usize::MAX,
        count => match count.parse() {
            Ok(count) => count,
            Err(_) => return session.say(words::SAY_LIST),
        },
    };
    let model = &session.model;
    let from = nth_here(model).unwrap_or_default();
    let all = actions(model).enumerate().skip(from);
    let said: Vec<String> = all.take(count).map(|(nth, slot)| line(model, nth + 1, slot)).collect();
    let left = actions(model).count().saturating_sub(from + said.len());
    if said.is_empty() {
        return announce(session);
    }
    session.say_all(&said);
    session.say(&match left {
        0 => words::END_OF_THE_LIST.to_owned(),
        left => words::left_in_list(left),
    });
    say_held(session);
}

pub(crate) fn batch(session: &mut Session) {
    let model = &session.model;
    let Some(group) = model.queue.group_here() else { return announce(session) };
    let inside: std::collections::HashSet<&ActionKey> =
        model.queue.rows_of(group).map(|slot| &slot.entry.key).collect();
    let all = actions(model).enumerate().filter(|(_, slot)| inside.contains(&slot.entry.key));
    let mut said: Vec<String> = all.take(100).map(|(nth, slot)| line(model, nth + 1, slot)).collect();
    if inside.len() > said.len() {
        said.push(words::left_in_batch(inside.len() - said.len()));
    }
    let staged = group.key.batch().map_or(0, |batch| model.decide.tally.batch(batch).total());
    session.say(&words::batch_has(&text::count(inside.len(), "action"), staged));
    session.say_all(&said);
}

pub(crate) fn whereabouts(session: &mut Session) {
    let counts = sentences::counts(&session.model);
    session.say(&counts);
    session.say_all(&troubles(&session.model));
    say_held(session);
    if let Some(why) = session.model.screen.saved.failed.clone() {
        session.say(&words::not_saved(&why));
    }
    announce(session);
}

pub(crate) fn staged(session: &mut Session) {
    let model = &session.model;
    let all = actions(model).enumerate();
    let said: Vec<String> = all
        .filter_map(|(nth, slot)| {
            let staged = model.decide.draft.get(&slot.entry.key)?;
            let title = sentences::foreign(&model.title_of(slot));
            Some(format!(
                "{}: {}. Title: {title}.",
                nth + 1,
                sentences::sentence(&sentences::decision(&staged.decision)).trim_end_matches('.')
            ))
        })
        .collect();
    if said.is_empty() {
        return session.say(words::NOTHING_IS_STAGED);
    }
    let (count, saved) =
        (model.unsent(), model.screen.saved.failed.is_none() && model.screen.saved.open == 0);
    session.say_all(&said);
    let saved = if saved { "saved" } else { words::NOT_SAVED_YET };
    session.say(&words::staged_not_sent(&text::count(count, "decision"), saved));
}

pub(crate) fn reload(session: &mut Session) {
    let held = session.model.queue.held.len();
    session.give(Intent::Command(Command::Reload));
    session.say_heard();
    let counts = sentences::counts(&session.model);
    session.say(&words::taken_in(&text::count(held, words::NEW_ACTION), &counts));
    announce(session);
}

pub(crate) fn help(session: &mut Session, rest: &str) {
    let words = match rest {
        "" => WORDS.iter().collect(),
        typed => found(typed),
    };
    if words.is_empty() {
        return session.say(words::HELP_UNKNOWN);
    }
    for word in words {
        let takes = if word.takes.is_empty() { String::new() } else { format!(" {}", word.takes) };
        session.say(&format!("{}{takes}: {}.", word.name, word.help));
    }
    session.say(words::HELP_END);
}

pub(crate) fn first(session: &mut Session) {
    first_undecided(session);
    session.say(words::HELP_FIRST);
}
