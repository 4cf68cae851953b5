//! Hands loaded actions to every feature that waits for them.

use std::sync::Arc;

use crate::domain::ActionKey;
use crate::inbox::Problem;
use crate::tui::preview::page::made::Cached;
use crate::tui::queue::groups::GroupKey;
use crate::tui::queue::state::Cursor;
use crate::tui::{edit, history, preview, snooze};

use super::model::Model;
use super::msg::Loaded;

pub(crate) fn loaded(model: &mut Model, actions: Vec<Loaded>) {
    let made = |(key, answer): Loaded| (key, answer.map(Cached::new).map(Arc::new));
    taken(model, actions.into_iter().map(made).collect());
}

/// Takes an action that was examined in the background because of its size.
pub(crate) fn looked_through(model: &mut Model, key: ActionKey, cached: Arc<Cached>) {
    taken(model, vec![(key, Ok(cached))]);
}

fn taken(model: &mut Model, actions: Vec<(ActionKey, Result<Arc<Cached>, Problem>)>) {
    model.screen.dirty |= actions.iter().any(|(key, _)| model.queue.is_marked(key));
    model.screen.dirty |= matches!(model.queue.cursor(), Some(Cursor::Header(GroupKey::Shape(_))));
    for (key, cached) in actions.iter().filter_map(|(key, answer)| Some((key, answer.as_ref().ok()?))) {
        snooze::update::loaded(model, key, cached.action.terms);
    }
    for (key, answer) in actions {
        let is_read = answer.is_ok();
        preview::update::loaded(model, &key, answer);
        if is_read {
            edit::update::learn(model, &key);
            history::update::learn(model, &key);
        }
    }
    edit::update::arrived(model);
}
