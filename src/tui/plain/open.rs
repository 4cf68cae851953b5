//! The first sentences: how things stand, the figures where they were asked for, and the first undecided action.

use crate::inbox::Connection;
use crate::tui::model::{Model, Opens, SourceState};

use super::session::{Opened, Session, Turn};
use super::{figures, look, say};

/// What has not answered by then is told as it is. Milliseconds.
const PATIENCE: i64 = 5_000;

/// Says them as soon as they are known. True when the session can go on.
pub(super) fn opened(session: &mut Session) -> bool {
    let model = &session.model;
    let answered =
        |source: &SourceState| source.listed || source.problem.is_some() || source.connection.is_over();
    let known = model.restored && model.sources.iter().all(answered);
    if !known && model.now.since(session.began()) < PATIENCE {
        return false;
    }
    session.turn = Turn::Word;
    let message = session.heard();
    let mut said = format!("Plain mode on, because {}. ", session.how.why);
    said += &if session.model.sources.iter().any(|source| source.listed) {
        say::counts(&session.model)
    } else {
        "No source has answered yet.".to_owned()
    };
    session.say(&said);
    session.say_all(&troubles(&session.model));
    match session.model.unsent() {
        0 => {}
        1 => session.say("1 decision is staged from last time; staged names it."),
        staged => session.say(&format!("{staged} decisions are staged from last time; staged names them.")),
    }
    if let Some(message) = message.filter(|_| session.model.saved.failed.is_some() || !known) {
        session.say(&message);
    }
    if !session.how.interactive {
        session.say(
            "Standard input is no terminal. For scripts there is placet decide; here a submission asks for its count or for yes.",
        );
    }
    match session.how.opens {
        Opens::Inbox => first(session),
        Opens::Watch => figures::start(session, Opened::NotYet),
    }
    true
}

/// The first undecided action, and what can be said.
pub(super) fn first(session: &mut Session) {
    look::first_undecided(session);
    session.say(
        "Words: show, approve, exclude [because TEXT], edit, next, undo, submit, help, quit. Nothing is sent before submit asks.",
    );
}

/// One sentence for each source that cannot be trusted now, and for each that runs nothing.
pub(super) fn troubles(model: &Model) -> Vec<String> {
    let mut all = Vec::new();
    for source in &model.sources {
        if let Some(problem) = &source.problem {
            all.push(format!("Source {}: {}.", source.name, problem.what));
        } else if !source.listed && !source.connection.is_over() {
            all.push(format!("Source {} has not answered yet.", source.name));
        } else if !is_good(model, source) {
            all.push(format!("Source {} is not connected.", source.name));
        }
        if source.paused.is_some() {
            all.push(format!(
                "Source {} is paused: nothing that is approved runs until somebody resumes it.",
                source.name
            ));
        }
    }
    all
}

pub(super) fn is_good(model: &Model, source: &SourceState) -> bool {
    matches!(source.connection, Connection::Live | Connection::Polling) && !source.is_stale(model.now)
}
