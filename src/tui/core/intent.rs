//! Carries out the intents of plain mode, with the functions that keys use.

use crate::domain::{ActionKey, Capabilities, Decision, DecisionKind, On, ReasonRule, changed_keys, json};
use crate::journal::EditText;
use crate::tui::chrome::words;
use crate::tui::decide::reason::commented;
use crate::tui::decide::stage;
use crate::tui::decide::state::{DraftJob, FollowUp, Guard, Targets};
use crate::tui::decide::update::{approval, ready, skip_with_text};
use crate::tui::edit::bulk;
use crate::tui::preview;
use crate::tui::preview::page::made::Tab;
use crate::tui::queue::incoming::Arrivals;
use crate::tui::snooze;
use crate::tui::submit::{resolve_unknown, review};

use super::dispatch::seeing;
use super::job::Job as _;
use super::model::Model;
use super::msg::Intent;

pub(crate) fn given(model: &mut Model, given: Intent) {
    if model.screen.leaving {
        return;
    }
    // Key-timing guards do not apply to typed lines; plain mode has its own guards.
    model.decide.guard = Guard::default();
    model.list.arrivals = Arrivals::default();
    match given {
        Intent::Command(command) => seeing(model, command),
        Intent::Go(key) => go(model, &key),
        Intent::Show(tab) => look(model, tab),
        Intent::Approve { comment } => approve(model, comment.as_deref()),
        Intent::Exclude { reason } => exclude(model, reason.as_deref()),
        Intent::Comment(text) => comment(model, &text),
        Intent::Ask(kind, text) => ask(model, kind, &text),
        Intent::Snooze(until) => snooze::update::until(model, &until),
        Intent::Draft(text) => draft(model, text),
        Intent::Answer(answer) => review::answered(model, &answer),
        Intent::ResolveUnknown { finding, reason } => resolve_unknown::given(model, finding, reason),
    }
    // The result of one line is printed before the next is read, so steps are not deferred.
    DraftJob::finish(model);
}

fn go(model: &mut Model, key: &ActionKey) {
    model.decide.decided_in = None;
    if let Some(index) = model.queue.index(key) {
        model.queue.go_to_action(index);
    }
}

fn look(model: &mut Model, tab: Tab) {
    preview::update::zoom(model, true);
    preview::update::show_tab(model, tab);
}

/// Stages a decision on all targets; if one is refused, says why and stages none.
fn decide(model: &mut Model, decision: impl Fn(&Model, &ActionKey) -> Result<Decision, String>) {
    let Some(targets) = ready(model) else { return };
    let mut wanted = Vec::new();
    for key in targets {
        match decision(model, &key) {
            Ok(decision) => wanted.push((key, Some(decision))),
            Err(why) => {
                model.warn(why);
                return;
            }
        }
    }
    let skipped = skip_with_text(model, &mut wanted);
    let follow_up = FollowUp { skipped, moves_on: true, ..FollowUp::default() };
    stage::begin(model, Targets::Each(wanted.into_iter()), follow_up);
}

fn approve(model: &mut Model, comment: Option<&str>) {
    decide(model, |model, key| {
        Ok(match approval(model, key)? {
            Decision::Approve { edits, comment: known } => {
                Decision::Approve { edits, comment: comment.map(str::to_owned).or(known) }
            }
            other => other,
        })
    });
}

fn exclude(model: &mut Model, reason: Option<&str>) {
    decide(model, |model, key| {
        let can = model.queue.get(key).map_or(Capabilities::READ_ONLY, |slot| slot.entry.row.can);
        if !can.reject {
            return Err(can.why_not(On::Reject).to_owned());
        }
        if reason.is_none() && can.reason == ReasonRule::Required {
            return Err(words::REASON_DEMANDED.to_owned());
        }
        Ok(Decision::Reject { reason: reason.map(str::to_owned) })
    });
}

fn comment(model: &mut Model, text: &str) {
    decide(model, |model, key| match model.decide.draft.get(key).map(|staged| &staged.decision) {
        Some(Decision::Approve { .. }) => commented(model, key, Some(text.to_owned())),
        Some(Decision::Reject { .. }) => Ok(Decision::Reject { reason: Some(text.to_owned()) }),
        Some(other) => Err(words::said_already(other.kind().words().said)),
        None => Err(words::NOTHING_TO_COMMENT_ON.to_owned()),
    });
}

fn ask(model: &mut Model, kind: DecisionKind, text: &str) {
    decide(model, |model, key| {
        let can = model.queue.get(key).map_or(Capabilities::READ_ONLY, |slot| slot.entry.row.can);
        Decision::new(kind, None, Some(text.to_owned()))
            .filter(|_| can.takes(kind))
            .ok_or_else(|| can.why_not(On::of(kind)).to_owned())
    });
}

/// Keeps an edited input as a draft, like the form.
fn draft(model: &mut Model, text: Option<String>) {
    let Some(slot) = model.here() else { return };
    let key = slot.entry.key.clone();
    let can = slot.entry.row.can;
    if text.is_some() && !(slot.is_pending() && can.can_decide() && can.edit) {
        let why = if slot.is_pending() { can.why_not(On::Edit) } else { words::NO_LONGER_PENDING };
        model.warn(words::not_edited(&why));
        return;
    }
    let Some(cached) = model.preview.cached(&key) else {
        model.warn(words::NOT_EDITED_YET);
        return;
    };
    let (input, of) = (cached.action.input.clone(), cached.digest);
    let text = text.filter(|text| *text != json::pretty(input.as_str())).map(|text| EditText { text, of });
    match text.as_ref().map(|text| changed_keys(&input, &text.text)) {
        Some(Ok(Some(edits))) => drop(model.edit.drafted.insert(key.clone(), edits)),
        Some(Ok(None)) | None => drop(model.edit.drafted.remove(&key)),
        Some(Err(error)) => {
            model.warn(words::not_edited(&error));
            return;
        }
    }
    bulk::keep(model, key, text);
}
