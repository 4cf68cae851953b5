//! Asks a source for its people: at its first list, when an unknown subject appears, and on a reload.

use crate::domain::{Claim, Person, SourceName, Untrusted};
use crate::inbox::{Answer, EventKind, Problem};
use crate::text::People;
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Effect, What};
use crate::tui::queue::filter;

/// Limits how often a source is asked when its list does not contain the subjects that appear.
const MOST_ASKED_ABOUT: usize = 1_000;

/// Runs with every message and looks for unknown subjects in it.
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

fn saw<'a>(model: &mut Model, source: &SourceName, subjects: impl IntoIterator<Item = &'a Untrusted>) {
    // Before the first answer every subject is unknown.
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

/// Asks a source that was never asked, in parallel with its first list, so that list and names arrive together.
pub(crate) fn ask_first(model: &mut Model, source: &SourceName) {
    if !model.people.of.contains_key(source) {
        ask(model, source);
    }
}

fn ask(model: &mut Model, source: &SourceName) {
    let known = model.people.of.entry(source.clone()).or_default();
    if !std::mem::replace(&mut known.asking, true) {
        model.effects.push(Effect::AskPeople(source.clone()));
    }
}

/// Asks all sources again on a reload, because names may have changed.
pub(crate) fn ask_again(model: &mut Model) {
    for known in model.people.of.values_mut() {
        known.asked_about.clear();
    }
    let sources: Vec<SourceName> = model.people.of.keys().cloned().collect();
    for source in &sources {
        ask(model, source);
    }
}

/// Handles the answer to an [`Effect::AskPeople`]. Without one, the screen shows subjects instead of names.
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
