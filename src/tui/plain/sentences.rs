//! Builds plain mode's sentences: short, labelled, ASCII. Foreign text in them is escaped.

use crate::domain::time::spoken;
use crate::domain::{Decision, DecisionKind, Risk, Seen, Status, Untrusted};
use crate::inbox::Connection;
use crate::text;
use crate::text::Shown;
use crate::tui::chrome;
use crate::tui::core::model::Model;
use crate::tui::plain::words;
use crate::tui::preview::page::line::listed;
use crate::tui::queue::list::SourceState;
use crate::tui::queue::slots::{Slot, State};
use crate::tui::queue::state::Line;

const LONGEST: usize = 160;

/// Returns foreign text on one line, marked if it was cut.
pub(crate) fn foreign(text: &Untrusted) -> String {
    shortened(&text::line(text))
}

pub(crate) fn identifier(text: &Untrusted) -> String {
    shortened(&text::identifier(text))
}

pub(crate) fn name(text: &Untrusted) -> String {
    shortened(&text::name(text))
}

fn person(model: &Model, slot: &Slot, subject: &Untrusted) -> String {
    shortened(&model.people.called(&slot.entry.key.source, subject, usize::MAX))
}

fn shortened(shown: &Shown) -> String {
    if shown.width() <= LONGEST {
        return shown.plain();
    }
    let cut = shown.cut(LONGEST).plain();
    format!("{} (cut)", cut.strip_suffix('…').unwrap_or(&cut))
}

/// Capitalizes the text and ends it with a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().map(|c| c.to_ascii_uppercase()).into_iter().collect();
    let stop = if text.ends_with(['.', '?', '!', ':']) { "" } else { "." };
    format!("{first}{}{stop}", chars.as_str())
}

pub(crate) fn risk(risk: &Risk) -> String {
    match risk {
        Risk::Low => words::LOW_RISK.to_owned(),
        Risk::Medium => words::MEDIUM_RISK.to_owned(),
        Risk::High => words::HIGH_RISK.to_owned(),
        Risk::Critical => words::CRITICAL_RISK.to_owned(),
        Risk::Other(word) => words::other_risk(&foreign(word)),
    }
}

/// Returns `Action 2 of 41`.
pub(crate) fn place(model: &Model, slot: &Slot) -> String {
    let (mut nth, mut total) = (0, 0);
    for line in &model.queue.lines {
        if let Line::Action(index) = line {
            total += 1;
            if model.queue.slot(*index).is_some_and(|other| other.entry.key == slot.entry.key) {
                nth = total;
            }
        }
    }
    words::nth_of(nth, total)
}

pub(crate) fn action(model: &Model, slot: &Slot) -> String {
    let row = &slot.entry.row;
    let from = row.agent.as_ref().map_or_else(String::new, |agent| format!(" from {}", name(agent)));
    let several = model.list.sources.len() > 1;
    let at = if several { format!(" Source: {}.", slot.entry.key.source) } else { String::new() };
    let mut said = vec![words::action(
        &place(model, slot),
        &risk(&row.risk),
        &format!("{}{from}", identifier(&row.tool)),
        &foreign(&model.title_of(slot)),
        &spoken(model.now.since(row.created_at)),
        &at,
    )];
    if let Some(at) = row.expires_at.filter(|_| slot.is_pending()) {
        let left = at.since(model.now);
        said.push(if left > 0 { words::expires_in(&spoken(left)) } else { "Expired.".to_owned() });
    }
    if let Some(approvals) = row.approvals.as_ref().filter(|_| slot.is_pending()) {
        let names: Vec<String> = approvals.by.iter().map(|by| person(model, slot, by)).collect();
        let by = if names.is_empty() { String::new() } else { format!(", by {}", names.join(", ")) };
        said.push(words::approvals(approvals.given(), approvals.needed, &by));
    }
    let standing = standing(model, slot);
    if !standing.is_empty() {
        said.push(standing);
    }
    let flags = model.flags_of(slot).reasons();
    if slot.is_pending() && !flags.is_empty() {
        said.push(words::look_twice(&flags.join(", ")));
    }
    let of = (model.list.sources.as_slice(), &model.people);
    if let Some(note) = model.claims.note(&slot.entry.key, of, model.now) {
        said.push(format!("{note}."));
    }
    if let Some(same) = model.queue.same_as(slot, model.now) {
        said.push(format!("Warning: {}.", same.told(model.now)));
    }
    let told = if slot.is_pending() { slot.entry.row.can.told() } else { Vec::new() };
    if !told.is_empty() {
        let told: Vec<_> = told.iter().map(|(_, words)| words.as_ref()).collect();
        said.push(words::before_you_decide(&told.join("; ")));
    }
    said.join(" ")
}

/// Returns the state of an action, unless it is undecided and unread.
pub(crate) fn standing(model: &Model, slot: &Slot) -> String {
    let staged = model.decide.draft.get(&slot.entry.key).map(|staged| decision(&staged.decision));
    match &slot.state {
        State::Pending => match (staged, model.seen_of(slot)) {
            (Some(staged), _) => format!("Staged: {staged}."),
            (None, Some(Seen::InFull)) => words::READ_IN_FULL.to_owned(),
            (None, Some(Seen::Opened)) => words::READ_IN_PART.to_owned(),
            (None, None) => String::new(),
        },
        State::Held => words::IS_HELD.to_owned(),
        State::Sending => words::IS_SENDING.to_owned(),
        State::Unknown => words::IS_UNKNOWN.to_owned(),
        State::ToResolve => words::RAN_UNKNOWN.to_owned(),
        State::Settled(settled) if settled.status == Some(Status::Expired) => words::EXPIRED.to_owned(),
        State::Settled(settled) => {
            let how = settled.status.as_ref().map_or_else(|| "settled".to_owned(), status);
            let by = match &settled.by {
                Some(by) => format!(" by {}", person(model, slot, by)),
                None if settled.ours => words::BY_YOU.to_owned(),
                None => String::new(),
            };
            let error = settled.error.as_ref().map_or_else(String::new, |why| format!(" {}.", foreign(why)));
            format!("Decided{by}: {how}.{error}")
        }
    }
}

pub(crate) fn status(status: &Status) -> String {
    shortened(&text::status_word(status))
}

/// Returns `approve with edit of title, with a comment`.
pub(crate) fn decision(decision: &Decision) -> String {
    let words = decision.kind().without_edits().words();
    if decision.kind().hands_back() {
        return format!("{} with {}", words.phrase, words.said);
    }
    let edits = decision.edits().map(|edits| words::with_edits(&listed(&edits.keys())));
    let said = decision.said().map(|_| format!(", with a {}", words.said));
    format!("{}{}{}", words.phrase, edits.unwrap_or_default(), said.unwrap_or_default())
}

pub(crate) fn kind(kind: DecisionKind) -> String {
    kind.words().terse.replace('+', " with ")
}

/// Returns `41 pending, 33 undecided, 8 staged, oldest 3 h 12 min, 1 high risk.`
pub(crate) fn counts(model: &Model) -> String {
    let stats = &model.list.stats;
    let mut said = vec![format!("{} pending", stats.pending), format!("{} undecided", model.undecided())];
    let staged = model.unsent();
    if staged > 0 {
        said.push(format!("{staged} staged"));
    }
    if let Some(oldest) = stats.oldest {
        said.push(format!("oldest {}", spoken(model.now.since(oldest))));
    }
    if stats.high_risk() > 0 {
        said.push(words::high_risk(&stats.high_risk()));
    }
    if stats.unknown > 0 {
        said.push(chrome::words::with_unknown_outcome(&stats.unknown));
    }
    format!("{}.", said.join(", "))
}

/// Returns `2 new actions above come in when you move on.`
pub(crate) fn held(model: &Model) -> Option<String> {
    match model.queue.held.len() {
        0 => None,
        1 => Some(words::ONE_NEW_ABOVE.to_owned()),
        held => Some(words::new_above(held)),
    }
}

/// Returns a sentence for each source that is unreachable, outdated or paused.
pub(crate) fn troubles(model: &Model) -> Vec<String> {
    let mut all = Vec::new();
    for source in &model.list.sources {
        if let Some(problem) = &source.problem {
            all.push(format!("Source {}: {}.", source.name, problem.what));
        } else if !source.listed && !source.connection.is_over() {
            all.push(words::not_answered(&source.name));
        } else if !is_good(model, source) {
            all.push(words::not_connected(&source.name));
        }
        if source.paused.is_some() {
            all.push(words::paused(&source.name));
        }
    }
    all
}

pub(crate) fn is_good(model: &Model, source: &SourceState) -> bool {
    matches!(source.connection, Connection::Live | Connection::Polling) && !source.is_stale(model.now)
}
