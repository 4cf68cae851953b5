//! Submitting: the review in words, the question, and the exact answer. The only way to a source.

use crate::domain::Timestamp;
use crate::tui::command::Command;
use crate::tui::model::Modal;
use crate::tui::msg::{Given, SheetLines, What};

use super::decide::SETTLE;
use super::session::{Session, Turn};
use super::sheet;

pub(super) fn submit(session: &mut Session, rest: &str) {
    let command = match rest {
        "" | "all" => Command::ReviewAll,
        "batch" => Command::ReviewBatch,
        _ => {
            return session
                .say("Nothing was sent. Say submit for all that is staged, or submit batch for this batch.");
        }
    };
    session.give(Given::Command(command));
    if matches!(session.model.modal, Some(Modal::Review(_))) {
        session.turn = Turn::Reviewing;
    } else if session.model.draft.is_empty() {
        session.heard();
        session.say("Nothing is staged. approve and exclude stage decisions.");
    } else {
        session.say_heard();
    }
}

/// The actions were read afresh: says what will be sent, and asks. False while they are on their way.
pub(super) fn reviewed(session: &mut Session) -> bool {
    let Some(Modal::Review(open)) = &session.model.modal else {
        session.turn = Turn::Word;
        session.say("The review is closed. Nothing was sent.");
        return true;
    };
    let Some(review) = &open.review else { return false };
    let can = review.submission.is_some();
    let said = sheet::review(&session.model, open, review);
    session.say_all(&said);
    session.tell(What::Drawn(SheetLines::default()));
    if can {
        session.turn = Turn::Confirming(session.model.now);
    } else {
        session.give(Given::Command(Command::Back));
        session.heard();
        session.turn = Turn::Word;
    }
    true
}

/// Exactly what was asked for sends; anything else goes back.
pub(super) fn answer(session: &mut Session, answer: &str, at: Timestamp, asked: Timestamp) {
    let Some(Modal::Review(open)) = &session.model.modal else {
        session.turn = Turn::Word;
        return session.say("The review is closed. Nothing was sent.");
    };
    let Some(review) = &open.review else { return };
    if session.how.interactive && at.since(asked) < SETTLE {
        let said = format!("Ignored: that was typed before the question. {}", sheet::question(review));
        return session.say(&said);
    }
    if answer == "list" {
        let mut said = sheet::by_name(review);
        said.push(sheet::question(review));
        return session.say_all(&said);
    }
    session.give(Given::Answer(answer.to_owned()));
    session.turn = Turn::Word;
    let heard = session.heard();
    if session.model.held.is_some() {
        let seconds = session.model.settings.hold.as_secs_f64().ceil();
        session.say(&format!("Confirmed. It is sent in {seconds} seconds; undo recalls it."));
    } else if session.model.sending.is_some() {
        session.say(&heard.unwrap_or_else(|| "Sending.".to_owned()));
    } else {
        session.say("Nothing was sent. Everything stays staged.");
    }
}

/// What became of the last submission.
pub(super) fn last(session: &mut Session) {
    match session.model.last_report.clone() {
        None => session.say("Nothing was sent yet."),
        Some(report) => session.say_all(&sheet::report(&session.model, &report)),
    }
}
