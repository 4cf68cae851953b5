//! Looking about: which action, what stands in the list, what is staged. Nothing here decides anything.

use crate::domain::ActionKey;
use crate::text;
use crate::tui::command::Command;
use crate::tui::model::{Line, Model, Slot};
use crate::tui::msg::Given;

use super::open::troubles;
use super::say;
use super::session::{Session, Spoken};
use super::word::{WORDS, found};

/// So many actions are named at once.
const NAMED: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    Next,
    Previous,
}

/// Reads out the action under the cursor. From now on decisions are about it.
pub(super) fn announce(session: &mut Session) {
    let Some(slot) = session.model.here() else {
        session.spoken = None;
        let nothing = if session.model.queue.lines().is_empty() {
            "Nothing is pending. New actions are told as they come."
        } else {
            "No action is chosen; first goes to the first one."
        };
        session.say(nothing);
        return say_held(session);
    };
    let said = say::action(&session.model, slot);
    session.spoken = Some(Spoken::of(slot, session.model.now));
    session.say(&said);
}

pub(super) fn say_held(session: &mut Session) {
    if let Some(held) = say::held(&session.model) {
        session.say(&held);
    }
}

/// An empty line: the action again.
pub(super) fn again(session: &mut Session) {
    announce(session);
}

pub(super) fn first_undecided(session: &mut Session) {
    let undecided = |slot: &&Slot| slot.is_pending() && session.model.draft.get(&slot.entry.key).is_none();
    let first = actions(&session.model).find(undecided).map(|slot| slot.entry.key.clone());
    if let Some(key) = first {
        session.give(Given::Go(key));
    }
    announce(session);
}

/// In the order of the list.
fn actions(model: &Model) -> impl Iterator<Item = &Slot> {
    model.queue.lines().iter().filter_map(|line| match line {
        Line::Action(index) => model.queue.slot(*index),
        Line::Header(_) => None,
    })
}

/// Where the cursor stands among the actions, from 0.
fn nth_here(model: &Model) -> Option<usize> {
    let here = &model.here()?.entry.key;
    actions(model).position(|slot| slot.entry.key == *here)
}

pub(super) fn step(session: &mut Session, to: To) {
    let before = here(&session.model);
    session.give(Given::Command(match to {
        To::Next => Command::NextUndecided,
        To::Previous => Command::PreviousUndecided,
    }));
    let heard = session.heard();
    if here(&session.model) != before {
        return announce(session);
    }
    match heard {
        Some(_) => session.say("Nothing is undecided. submit reviews and sends what is staged."),
        None => session.say("There is no other undecided action."),
    }
    say_held(session);
}

pub(super) fn here(model: &Model) -> Option<ActionKey> {
    model.here().map(|slot| slot.entry.key.clone())
}

/// To the action with this number, counted from 1; past the end is the last one.
pub(super) fn go(session: &mut Session, number: usize) {
    let total = actions(&session.model).count();
    let at = number.min(total).saturating_sub(1);
    let key = actions(&session.model).nth(at).map(|slot| slot.entry.key.clone());
    if let Some(key) = key {
        session.give(Given::Go(key));
    }
    announce(session);
}

pub(super) fn go_to(session: &mut Session, rest: &str) {
    let total = actions(&session.model).count();
    match rest.parse::<usize>() {
        Ok(number) if (1..=total).contains(&number) => go(session, number),
        _ => session.say(&format!("Say go and a number from 1 to {total}.")),
    }
}

/// `3. High risk. refund_payment. Title: X. Staged: approve.`
fn line(model: &Model, nth: usize, slot: &Slot) -> String {
    let row = &slot.entry.row;
    let standing = say::standing(model, slot);
    let said = format!(
        "{nth}. {}. {}. Title: {}. {standing}",
        say::risk(&row.risk),
        say::identifier(&row.tool),
        say::foreign(&row.title)
    );
    said.trim_end().to_owned()
}

pub(super) fn list(session: &mut Session, rest: &str) {
    let count = match rest {
        "" => NAMED,
        "all" => usize::MAX,
        count => match count.parse() {
            Ok(count) => count,
            Err(_) => return session.say("Say list, list and a number, or list all."),
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
        0 => "End of the list.".to_owned(),
        left => format!("{left} more in the list."),
    });
    say_held(session);
}

/// The actions that are decided together with this one.
pub(super) fn batch(session: &mut Session) {
    let model = &session.model;
    let Some(group) = model.queue.group_here() else { return announce(session) };
    let inside: std::collections::HashSet<&ActionKey> =
        group.slots.iter().filter_map(|index| model.queue.slot(*index)).map(|slot| &slot.entry.key).collect();
    let all = actions(model).enumerate().filter(|(_, slot)| inside.contains(&slot.entry.key));
    let mut said: Vec<String> = all.take(100).map(|(nth, slot)| line(model, nth + 1, slot)).collect();
    if inside.len() > said.len() {
        said.push(format!("{} more in this batch.", inside.len() - said.len()));
    }
    let staged = group.key.batch().map_or(0, |batch| model.tally.batch(batch).total());
    session.say(&format!("This batch has {}; {staged} staged.", text::count(inside.len(), "action")));
    session.say_all(&said);
}

pub(super) fn whereabouts(session: &mut Session) {
    let counts = say::counts(&session.model);
    session.say(&counts);
    session.say_all(&troubles(&session.model));
    say_held(session);
    if let Some(why) = session.model.saved.failed.clone() {
        session.say(&format!("NOT SAVED: {why}. What is staged would not survive a crash."));
    }
    announce(session);
}

pub(super) fn staged(session: &mut Session) {
    let model = &session.model;
    let all = actions(model).enumerate();
    let said: Vec<String> = all
        .filter_map(|(nth, slot)| {
            let staged = model.draft.get(&slot.entry.key)?;
            let title = say::foreign(&slot.entry.row.title);
            Some(format!(
                "{}: {}. Title: {title}.",
                nth + 1,
                say::sentence(&say::decision(&staged.decision)).trim_end_matches('.')
            ))
        })
        .collect();
    if said.is_empty() {
        return session.say("Nothing is staged.");
    }
    let (count, saved) = (model.unsent(), model.saved.failed.is_none() && model.saved.open == 0);
    session.say_all(&said);
    let saved = if saved { "saved" } else { "not saved yet" };
    session.say(&format!("{} staged, {saved}, nothing sent.", text::count(count, "decision")));
}

pub(super) fn reload(session: &mut Session) {
    let held = session.model.queue.n_held();
    session.give(Given::Command(Command::Reload));
    session.say_heard();
    let counts = say::counts(&session.model);
    session.say(&format!("{} taken in. {counts}", text::count(held, "new action")));
    announce(session);
}

pub(super) fn help(session: &mut Session, rest: &str) {
    let words = match rest {
        "" => WORDS.iter().collect(),
        typed => found(typed),
    };
    if words.is_empty() {
        return session.say("That is no word. help alone names all words.");
    }
    for word in words {
        let takes = if word.takes.is_empty() { String::new() } else { format!(" {}", word.takes) };
        session.say(&format!("{}{takes}: {}.", word.name, word.help));
    }
    session.say("The beginning of a word is enough. An empty line reads the action again.");
}
