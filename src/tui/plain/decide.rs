//! Words that decide. They only stage, and only what was read out before the line was typed.

use crate::domain::{DecisionKind, On, ReasonRule, Resolution, Timestamp};
use crate::tui::core::command::Command;
use crate::tui::core::msg::Intent;
use crate::tui::decide::lock::lock;
use crate::tui::plain::words;
use crate::tui::queue::slots::Slot;
use crate::tui::submit::words as review_words;

use super::session::{Session, Spoken, Turn};
use super::{browse, sentences};

/// A line typed this soon after an action was read out was meant for an earlier one. Milliseconds.
const REST: i64 = 300;
/// An answer typed this soon after its question was typed before it. Milliseconds.
pub(crate) const SETTLE: i64 = 400;

/// Parses `because TEXT` or nothing.
fn because(rest: &str) -> Result<Option<String>, &'static str> {
    let (first, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match (first.to_lowercase().as_str(), text.trim()) {
        ("", _) => Ok(None),
        ("because", "") => Err(words::BECAUSE_NEEDS_TEXT),
        ("because", text) => Ok(Some(text.to_owned())),
        _ => Err(words::TEXT_NEEDS_BECAUSE),
    }
}

/// Returns true if the current action was read out, has not changed since, and the line was typed afterwards. Otherwise
/// says why not and reads the action out.
pub(crate) fn may_decide(session: &mut Session, at: Timestamp) -> bool {
    let now = session.model.now;
    let here = session.model.here().map(|slot| Spoken::of(slot, now));
    let why = match (&session.spoken, &here) {
        (_, None) => None,
        (Some(spoken), Some(here)) if spoken.key != here.key => Some(words::ANOTHER_IS_NEXT),
        (Some(spoken), Some(here)) if spoken.label != here.label => Some(words::CHANGED_SINCE_READ_OUT),
        (Some(spoken), Some(_)) if session.how.interactive && at.since(spoken.at) < REST => {
            Some(words::LINE_CAME_BEFORE)
        }
        (Some(_), Some(_)) => return true,
        (None, Some(_)) => Some(words::NOTHING_READ_OUT),
    };
    if let Some(why) = why {
        session.say(&words::not_decided_here(why));
    }
    browse::announce(session);
    false
}

pub(crate) fn approve(session: &mut Session, rest: &str, at: Timestamp) {
    let comment = match because(rest) {
        Ok(comment) => comment,
        Err(why) => return session.say(why),
    };
    if !may_decide(session, at) {
        return;
    }
    let lock =
        session.model.here().filter(|slot| slot.is_pending()).and_then(|slot| lock(&session.model, slot));
    if let Some(why) = lock {
        return session.say(&sentences::sentence(&words::read_first(&why)));
    }
    let asks = session.model.here().is_some_and(|slot| slot.entry.row.can.answer);
    if asks && !is_answered(session) {
        return session.say(words::ANSWER_FIRST);
    }
    stage(session, Intent::Approve { comment });
}

fn is_answered(session: &Session) -> bool {
    let here = browse::here(&session.model);
    here.is_some_and(|key| session.model.edits_of(&key).is_some())
}

pub(crate) fn exclude(session: &mut Session, rest: &str, at: Timestamp) {
    let reason = match because(rest) {
        Ok(reason) => reason,
        Err(why) => return session.say(why),
    };
    if !may_decide(session, at) {
        return;
    }
    let rule = session.model.here().map(|slot| slot.entry.row.can.reason);
    if rule == Some(ReasonRule::Required) && reason.is_none() {
        return session.say(words::REASON_FIRST);
    }
    let lost = rule == Some(ReasonRule::NotKept) && reason.is_some();
    stage(session, Intent::Exclude { reason });
    if lost {
        session.say(words::REASONS_NOT_KEPT);
    }
}

pub(crate) fn comment(session: &mut Session, rest: &str, at: Timestamp) {
    if rest.is_empty() {
        return session.say(words::SAY_COMMENT);
    }
    if !may_decide(session, at) {
        return;
    }
    if browse::here(&session.model).is_none_or(|key| session.model.decide.draft.get(&key).is_none()) {
        return session.say(words::NOTHING_TO_COMMENT_ON);
    }
    let kept = session.model.here().is_some_and(|slot| slot.entry.row.can.comment);
    stage(session, Intent::Comment(rest.to_owned()));
    if !kept {
        session.say(words::COMMENTS_NOT_KEPT);
    }
}

/// Claims the action or ends the claim. The source's answer is printed as news.
pub(crate) fn claim(session: &mut Session) {
    session.give(Intent::Command(Command::Claim));
    session.say_heard();
}

pub(crate) fn snooze(session: &mut Session, rest: &str) {
    let before = browse::here(&session.model);
    session.give(Intent::Snooze(rest.to_owned()));
    session.say_heard();
    if browse::here(&session.model) != before {
        browse::announce(session);
    }
}

pub(crate) fn ask(session: &mut Session, kind: DecisionKind, rest: &str, at: Timestamp) {
    let can = session.model.here().map(|slot| slot.entry.row.can);
    if let Some(can) = can.filter(|can| !can.takes(kind)) {
        let why = words::not_decided(can.why_not(On::of(kind)));
        return session.say(&sentences::sentence(&why));
    }
    if rest.is_empty() {
        let words = kind.words();
        return session.say(&words::say_name(words.name, words.wants));
    }
    if may_decide(session, at) {
        stage(session, Intent::Ask(kind, rest.to_owned()));
    }
}

/// Stages a decision, confirms it, and reads out the next undecided action.
fn stage(session: &mut Session, given: Intent) {
    let Some(key) = browse::here(&session.model) else { return };
    let before = session.model.decide.draft.get(&key).map(|staged| staged.decision.clone());
    session.give(given);
    let heard = session.heard();
    let after = session.model.decide.draft.get(&key).map(|staged| staged.decision.clone());
    match after {
        Some(decision) if before.as_ref() != Some(&decision) => {
            let left = session.model.undecided();
            session.say(&words::staged(&sentences::decision(&decision), left));
        }
        Some(decision) if heard.is_none() || before.is_some() => {
            return session.say(&words::staged_already(&sentences::decision(&decision)));
        }
        Some(_) | None => {
            return session.say(&heard.unwrap_or_else(|| words::NOTHING_WAS_DECIDED.to_owned()));
        }
    }
    if browse::here(&session.model) == Some(key) {
        session.say(words::ALL_DECIDED_HERE);
        return browse::say_held(session);
    }
    browse::announce(session);
}

pub(crate) fn rest(session: &mut Session) {
    session.give(Intent::Command(Command::ApproveRest));
    session.say_heard();
}

pub(crate) fn clear(session: &mut Session) {
    let Some(key) = browse::here(&session.model) else { return browse::announce(session) };
    let had = session.model.decide.draft.get(&key).is_some();
    session.give(Intent::Command(Command::Clear));
    session.heard();
    session.say(if had { words::CLEARED } else { words::WAS_UNDECIDED_ALREADY });
}

pub(crate) fn undo(session: &mut Session) {
    back_or_forth(session, Command::Undo);
}

/// Takes a sent decision back. The source's answer is read out when it arrives.
pub(crate) fn take_back(session: &mut Session) {
    session.give(Intent::Command(Command::TakeBack));
    if let Some(heard) = session.heard() {
        session.say(&heard);
    }
}

pub(crate) fn redo(session: &mut Session) {
    back_or_forth(session, Command::Redo);
}

fn back_or_forth(session: &mut Session, command: Command) {
    let before = session.model.decide.draft.position();
    session.give(Intent::Command(command));
    let heard = session.heard();
    let moved = session.model.decide.draft.position() != before;
    let done = if command == Command::Redo { words::DONE_AGAIN } else { "Undone." };
    session.say(&heard.unwrap_or_else(|| done.to_owned()));
    if moved {
        browse::announce(session);
    }
}

/// Handles `settle` with `landed`, `failed` or `again` and an optional reason. Asks for confirmation first.
pub(crate) fn settle(session: &mut Session, rest: &str, at: Timestamp) {
    let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (finding, says) = match word {
        "landed" => (Resolution::Landed, words::SAYS_LANDED),
        "failed" => (Resolution::NotLanded, words::SAYS_NOT_LANDED),
        "again" => (Resolution::RunAgain, words::SAYS_AGAIN),
        _ => {
            return session.say(words::SAY_SETTLE);
        }
    };
    let reason = match because(rest) {
        Ok(reason) => reason,
        Err(why) => return session.say(why),
    };
    if !session.model.here().is_some_and(Slot::is_lost) {
        return session.say(words::NOT_UNKNOWN);
    }
    if !may_decide(session, at) {
        return;
    }
    session.say(&words::tells_source(says));
    session.turn = Turn::Resolved(finding, reason, session.model.now);
}

pub(crate) fn settle_answer(
    session: &mut Session,
    answer: &str,
    (finding, reason): (Resolution, Option<String>),
    at: Timestamp,
    asked: Timestamp,
) {
    if session.how.interactive && at.since(asked) < SETTLE {
        return session.say(words::TYPED_BEFORE);
    }
    session.turn = Turn::Word;
    if answer != "yes" {
        return session.say(&sentences::sentence(review_words::NOTHING_WAS_SETTLED));
    }
    session.give(Intent::ResolveUnknown { finding, reason });
    session.say_heard();
}
