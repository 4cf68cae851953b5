//! From a sheet to what it warns of: the sheet closes, nothing is sent, and the cursor stands there.

use crate::domain::{ActionKey, Outcome};
use crate::tui::command::Command;
use crate::tui::model::{Modal, Model, Tab};
use crate::tui::msg::Effect;

/// In the review: the first approval that was never opened. In the report: the first that somebody else settled.
pub(super) fn first(model: &mut Model) -> Vec<Effect> {
    match &model.modal {
        Some(Modal::Review(sheet)) => {
            let key = sheet.review.as_ref().and_then(|review| review.first_unopened.clone());
            to(model, key, "every approval here was opened")
        }
        Some(Modal::Report(sheet)) => {
            let skipped = |outcome: &Outcome| matches!(outcome, Outcome::Skipped { .. });
            let line = sheet.report.lines.iter().find(|line| skipped(&line.outcome));
            to(model, line.map(|line| line.key.clone()), "nothing was skipped")
        }
        _ => Vec::new(),
    }
}

/// The first that is another one than when it was seen.
pub(super) fn changed(model: &mut Model) -> Vec<Effect> {
    let Some(Modal::Review(sheet)) = &model.modal else { return Vec::new() };
    let key = sheet.review.as_ref().and_then(|review| review.first_changed.clone());
    let compares = key.as_ref().is_some_and(|key| {
        let now = model.preview.cached(key).map(|cached| cached.digest);
        now.is_some_and(|now| model.seen_otherwise(key, &now).is_some())
    });
    let effects = to(model, key, "nothing here changed since you looked");
    if compares && model.modal.is_none() && model.preview.tab != Tab::Diff {
        return [effects, super::preview::diff(model)].concat();
    }
    effects
}

fn to(model: &mut Model, key: Option<ActionKey>, none: &str) -> Vec<Effect> {
    let Some(key) = key else {
        model.say(none);
        return super::review::absorbed(model);
    };
    let Some(index) = model.queue.index(&key) else {
        model.say("it is not in the list any more");
        return Vec::new();
    };
    if model.queue.is_filtered_out(&key) {
        model.warn("it is hidden by the filter: clear that first");
        return Vec::new();
    }
    let was_review = matches!(model.modal, Some(Modal::Review(_)));
    model.modal = None;
    model.queue.go_to_action(index);
    if was_review {
        let all = model.settings.keymap.key(Command::ReviewAll);
        model.say(format!("nothing was sent; {all} comes back to the review"));
    }
    Vec::new()
}
