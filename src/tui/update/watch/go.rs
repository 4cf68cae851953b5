//! From a row of the watch view to what it is about, in the inbox.

use crate::domain::{ActionKey, Status};
use crate::inbox::figures::{AlertKind, Happening, HappeningKind, words};
use crate::inbox::filter::Filter;
use crate::tui::command::Command;
use crate::tui::model::{At, Cursor, Model, ViewKind};
use crate::tui::msg::Effect;

use crate::tui::update::{filter, queue, views};

/// Enter.
pub(super) fn open(model: &mut Model) -> Vec<Effect> {
    match model.watch.here() {
        Some(At::Queue(source, Some(queue))) => narrow(model, Filter::of_queue(&source, &queue)),
        Some(At::Queue(source, None)) => narrow(model, Filter::of_source(&source)),
        Some(At::Tool(tool)) => narrow(model, Filter::of_tool(&tool)),
        Some(At::Event(happening)) => event(model, &happening),
        Some(At::Alert(kind, source)) => alert(model, kind, &Filter::of_source(&source)),
        Some(At::Reviewer(..)) | None => {
            model.say("there is nothing to open here");
            Vec::new()
        }
    }
}

/// The inbox, with these alone.
fn narrow(model: &mut Model, filter: Filter) -> Vec<Effect> {
    super::close(model);
    queue::take_in(model);
    model.filtering.begin(filter, false, &model.queue, model.now);
    let effects = filter::search(model);
    let keys = &model.settings.keymap;
    let (watch, all) = (keys.key(Command::Watch), keys.key(Command::Back));
    model.say(format!("only these are shown: {all} shows all, {watch} goes back to the figures"));
    effects
}

fn alert(model: &mut Model, kind: AlertKind, source: &Filter) -> Vec<Effect> {
    let targets = model.settings.targets;
    let limit =
        |limit: std::time::Duration| words::limit(i64::try_from(limit.as_millis()).unwrap_or(i64::MAX));
    match kind {
        AlertKind::Failed => views::open(model, ViewKind::Failed),
        AlertKind::Lapsing => views::open(model, ViewKind::Approved),
        AlertKind::Unknown => narrow(model, source.and("is:unknown")),
        AlertKind::HighRisk => {
            narrow(model, source.and(&format!("is:high age:>{}", limit(targets.high_risk))))
        }
        AlertKind::OverTarget => narrow(model, source.and(&format!("age:>{}", limit(targets.age)))),
        AlertKind::Expiring => narrow(model, source.and(&format!("expires:<{}", limit(targets.expiring)))),
        AlertKind::Down | AlertKind::Growing | AlertKind::Blocked => narrow(model, source.clone()),
    }
}

fn event(model: &mut Model, happening: &Happening) -> Vec<Effect> {
    use HappeningKind as K;
    match &happening.what {
        K::Arrived { count: 1, first, .. } => action(model, &first.key, None),
        K::Arrived { queue, .. } => narrow(model, Filter::of_queue(&happening.source, queue)),
        K::Decided { status, about, .. } => action(model, &about.key, list_of(status)),
        K::Left { status, about } => {
            let list = status.as_ref().map_or(Some(ViewKind::Expired), list_of);
            action(model, &about.key, list)
        }
        K::Executed { about } => action(model, &about.key, Some(ViewKind::Executed)),
        K::Failed { about } => action(model, &about.key, Some(ViewKind::Failed)),
        K::Unknown { about } => action(model, &about.key, Some(ViewKind::Unknown)),
        K::DecidedMany { .. }
        | K::LeftMany { .. }
        | K::Connection(_)
        | K::Unreadable { .. }
        | K::Paused
        | K::Resumed => narrow(model, Filter::of_source(&happening.source)),
    }
}

/// Where actions that stand like this are listed.
fn list_of(status: &Status) -> Option<ViewKind> {
    Some(match status {
        Status::Approved | Status::Running => ViewKind::Approved,
        Status::Executed => ViewKind::Executed,
        Status::Failed => ViewKind::Failed,
        Status::Unknown => ViewKind::Unknown,
        Status::Rejected => ViewKind::Rejected,
        Status::Expired | Status::Withdrawn | Status::Superseded => ViewKind::Expired,
        Status::Pending | Status::Other(_) => return None,
    })
}

/// To an action: in the inbox, or where it is over, in that list.
fn action(model: &mut Model, key: &ActionKey, list: Option<ViewKind>) -> Vec<Effect> {
    if model.queue.get(key).is_none() && model.queue.held().any(|entry| entry.key == *key) {
        queue::take_in(model);
    }
    if model.queue.get(key).is_some() {
        super::close(model);
        if model.queue.is_filtered_out(key) {
            filter::clear(model);
        }
        model.queue.go_to_identity(&Cursor::Action(key.clone()));
        return Vec::new();
    }
    let Some(list) = list else {
        model.say("it is not in the inbox any more");
        return Vec::new();
    };
    let effects = views::open(model, list);
    if let Some(view) = &mut model.view {
        view.aim(key.clone());
    }
    effects
}
