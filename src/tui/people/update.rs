//! Asks a source for its people: once, when somebody shows up whom it did not name, and on a reload.

use crate::domain::{Claim, Person, SourceName, Untrusted};
use crate::inbox::{Answer, EventKind, Problem};
use crate::text::People;
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Effect, What};
use crate::tui::queue::filter;

/// A source whose people it does not list is not asked for ever.
const MOST_ASKED_ABOUT: usize = 1_000;

/// With every message: whoever is in it may be new.
pub(crate) fn feed(model: &mut Model, what: &What) {
    match what {
        What::Synced(source, Ok(synced)) => {
            let entries = synced.rows.entries().iter();
            saw(
                model,
                source,
                entries.flat_map(|entry| entry.row.deciders()).chain(claimed(synced.claims.as_deref())),
            );
        }
        What::Source(event) => {
            if let EventKind::Briefing(briefing) = &event.kind {
                saw(model, &event.source, claimed(briefing.claims.as_deref()));
            }
        }
        What::Claimed(key, Ok(Some(claim))) => saw(model, &key.source, [&claim.by]),
        What::Listed { page, .. } => {
            for row in &page.rows {
                saw(model, &row.entry.key.source, row.entry.row.deciders());
            }
        }
        What::Answered { asked: (key, _), answer, .. } => {
            if let Ok(Answer::History(told)) = &**answer {
                saw(model, &key.source, told.events.iter().flatten().filter_map(|event| event.by.as_ref()));
            }
        }
        _ => {}
    }
}

fn claimed(claims: Option<&[Claim]>) -> impl Iterator<Item = &Untrusted> {
    claims.unwrap_or_default().iter().map(|claim| &claim.by)
}

/// Asks again where one of them is new and was not asked about.
fn saw<'a>(model: &mut Model, source: &SourceName, subjects: impl IntoIterator<Item = &'a Untrusted>) {
    // Before the first answer everybody is new.
    let Some(known) = model.people.of.get_mut(source).filter(|known| !known.asking && !known.tells_nothing)
    else {
        return;
    };
    let mut is_new = false;
    for subject in subjects {
        if !known.people.knows(subject) && known.asked_about.len() < MOST_ASKED_ABOUT {
            is_new |= known.asked_about.insert(subject.clone());
        }
    }
    if is_new {
        ask(model, source);
    }
}

/// Asks a source that was never asked: beside its first list, so that the names are there with it.
pub(crate) fn ask_first(model: &mut Model, source: &SourceName) {
    if !model.people.of.contains_key(source) {
        ask(model, source);
    }
}

/// Asks a source, if it is not being asked.
fn ask(model: &mut Model, source: &SourceName) {
    let known = model.people.of.entry(source.clone()).or_default();
    if !std::mem::replace(&mut known.asking, true) {
        model.effects.push(Effect::AskPeople(source.clone()));
    }
}

/// On a reload: people may have other names.
pub(crate) fn ask_again(model: &mut Model) {
    for known in model.people.of.values_mut() {
        known.asked_about.clear();
    }
    let sources: Vec<SourceName> = model.people.of.keys().cloned().collect();
    for source in &sources {
        ask(model, source);
    }
}

/// The answer to an [`Effect::AskPeople`]. Without one, subjects stand where names would.
pub(crate) fn told(model: &mut Model, source: &SourceName, answer: Result<Option<Vec<Person>>, Problem>) {
    let Some(known) = model.people.of.get_mut(source) else { return };
    known.asking = false;
    match answer {
        Ok(Some(people)) => known.people = People::of(people),
        Ok(None) => known.tells_nothing = true,
        Err(problem) => return tracing::debug!(what = problem.what, "a source does not tell its people"),
    }
    model.screen.dirty = true;
    filter::renew(model);
}
