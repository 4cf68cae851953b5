//! Everything that sources say is counted, whether anybody looks at the figures or not.

use crate::domain::Minute;
use crate::tui::model::Model;
use crate::tui::msg::{Effect, What};

/// Before a message is taken.
pub(super) fn feed(model: &mut Model, what: &What) {
    let now = model.now;
    let figures = &mut model.figures;
    match what {
        What::Source(event) => figures.event(event, now),
        What::Synced(_, Ok(synced)) => figures.listed(synced, now),
        What::Synced(source, Err(problem)) => figures.not_listed(source, &problem.what, now),
        What::Partly(_, report) | What::Submitted(_, Ok(report)) => figures.submitted(report),
        What::Followed(followed) => figures.followed(followed, now),
        What::KeptMinutes(kept) => figures.restore(kept),
        _ => {}
    }
}

/// Once a minute: what a restart must not lose.
pub(super) fn keep(model: &mut Model) -> Option<Effect> {
    let minute = Minute::of(model.now);
    if model.kept_at.replace(minute) == Some(minute) {
        return None;
    }
    let kept = model.figures.take_unkept(model.now);
    (!kept.is_empty()).then_some(Effect::KeepMinutes(kept))
}

/// The inbox ends.
pub(super) fn end(model: &mut Model) -> Option<Effect> {
    model.kept_at = None;
    keep(model)
}
