//! Tells what happens meanwhile, in single lines between answers: a few seconds apart, with equal events counted
//! together.

use crate::domain::Status;
use crate::inbox::Sending;
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Msg, What};
use crate::tui::core::router;
use crate::tui::dashboard::state::StartView;
use crate::tui::plain::words;
use crate::tui::queue::list::SourceState;
use crate::tui::queue::slots::State;
use crate::tui::submit::state::ReviewSheet;

use super::session::{Opened, Session, Spoken, Turn};
use super::{browse, figures, sentences, submit};

/// Minimum time between two lines. Milliseconds.
const APART: i64 = 3_000;

struct Snapshot {
    actions: usize,
    settled: usize,
    good: Vec<bool>,
}

impl Snapshot {
    fn of(model: &Model, counted: bool) -> Self {
        let elsewhere = || {
            let slots = model.queue.slots.iter();
            slots.filter(|slot| matches!(&slot.state, State::Settled(settled) if !settled.ours)).count()
        };
        Self {
            actions: model.queue.slots.len() + model.queue.held.len(),
            settled: if counted { elsewhere() } else { 0 },
            good: model.list.sources.iter().map(|source| sentences::is_good(model, source)).collect(),
        }
    }
}

pub(crate) fn take(session: &mut Session, msg: Msg) {
    if let What::Flows(source, _) = &msg.what {
        session.counting.retain(|it| it != source);
    }
    let counted = matches!(msg.what, What::Synced(..));
    let (was_sending, was_held) =
        (session.model.submit.sending.is_some(), session.model.submit.held.is_some());
    let answered = matches!(
        msg.what,
        What::Submitted(..)
            | What::Sending(_, Sending::Partly(_))
            | What::Resolved(..)
            | What::Claimed(..)
            | What::ApprovalTakenBack(..)
    );
    let report = match &msg.what {
        What::Submitted(id, Ok(_)) | What::Sending(id, Sending::Partly(_)) => Some(id.clone()),
        _ => None,
    };
    if matches!(&msg.what, What::Followed(followed) if followed.status == Status::Executed) {
        session.news.executed += 1;
    }
    let before = Snapshot::of(&session.model, counted);
    router::handle(&mut session.model, msg);
    if session.turn == Turn::Opening {
        return;
    }
    let after = Snapshot::of(&session.model, counted);
    if counted {
        session.news.arrived += after.actions.saturating_sub(before.actions);
        session.news.settled += after.settled.saturating_sub(before.settled);
    }
    connections(session, &before, &after);
    review_closed(session);
    let begun = !was_sending && session.model.submit.sending.is_some();
    let answered = answered || begun || was_held != session.model.submit.held.is_some();
    let last = session.model.submit.last_report.as_ref().map(|last| last.report.id.clone());
    let heard = session.heard();
    if begun {
        session.say(&submit::sending(&session.model));
    } else if report.is_some() && report == last {
        submit::last(session);
    } else if let Some(heard) = heard {
        if answered { session.say(&heard) } else { session.news.note(heard) }
    }
    if counted {
        read_out_gone(session);
    }
}

fn connections(session: &mut Session, before: &Snapshot, after: &Snapshot) {
    let changed: Vec<(String, bool)> = session
        .model
        .list.sources
        .iter()
        .zip(before.good.iter().zip(&after.good))
        // A source that was never connected is not reported as lost.
        .filter(|(source, (was, is))| was != is && (source.listed || source.connection.is_over()))
        .map(|(source, (_, is))| (source.name.to_string(), *is))
        .collect();
    for (name, good) in changed {
        session.news.note(if good { words::source_back(&name) } else { words::source_lost(&name) });
    }
}

/// Withdraws the question of a review that was closed.
fn review_closed(session: &mut Session) {
    let asked = matches!(session.turn, Turn::Confirming(_) | Turn::Reviewing);
    if asked && !session.model.sheet.is::<ReviewSheet>() {
        session.turn = Turn::Word;
        let why = session.heard().unwrap_or_default();
        session.say(words::review_closed(&why).trim_end());
    }
}

/// Tells that the action read out last was decided by somebody else or changed.
fn read_out_gone(session: &mut Session) {
    let Some(spoken) = session.spoken.clone() else {
        // The list was empty when it was last read out.
        if session.model.here().is_some() && session.turn == Turn::Word {
            browse::announce(session);
        }
        return;
    };
    let Some(slot) = session.model.queue.get(&spoken.key) else { return };
    let now = Spoken::of(slot, spoken.at);
    let place = sentences::place(&session.model, slot);
    let elsewhere = matches!(&slot.state, State::Settled(settled) if !settled.ours);
    if spoken.pending && elsewhere {
        let standing = sentences::standing(&session.model, slot);
        session.news.note(words::was_read_out(&place, &standing));
    } else if spoken.label != now.label {
        // Told once; a decision checks again.
        if session.spoken.as_ref().is_some_and(|it| it.pending) {
            session.news.note(words::read_out_changed(&place));
        }
    } else {
        return;
    }
    session.spoken = Some(Spoken { pending: false, ..spoken });
}

/// Tells a line if nothing is being answered and enough time has passed.
pub(crate) fn tell(session: &mut Session) {
    let now = session.model.now;
    let news = &mut session.news;
    if news.quiet || session.turn != Turn::Word || now.since(news.said) < APART {
        return;
    }
    if let Some(line) = news.lines.pop_front() {
        return session.say(&line);
    }
    if let Some(line) = counted(session) {
        session.say(&line);
    }
}

/// Returns `Actions: 3 new; 44 pending.`
fn counted(session: &mut Session) -> Option<String> {
    let news = &mut session.news;
    let (arrived, settled, executed) = (
        std::mem::take(&mut news.arrived),
        std::mem::take(&mut news.settled),
        std::mem::take(&mut news.executed),
    );
    let kinds =
        [(arrived, "new"), (settled, words::SETTLED_ELSEWHERE), (executed, words::EXECUTED_AFTER_APPROVAL)];
    let said: Vec<String> =
        kinds.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    if said.is_empty() {
        return None;
    }
    Some(words::actions_pending(&said.join(", "), session.model.list.stats.pending))
}

pub(crate) fn quiet(session: &mut Session, quiet: bool) {
    session.news.quiet = quiet;
    session.say(if quiet { words::QUIET } else { words::NEWS_IS_TOLD_AGAIN });
}

// The opening: counts, the figures if requested, and the first undecided action.

/// Sources that have not answered by then are reported as such. Milliseconds.
const PATIENCE: i64 = 5_000;

/// Tells the opening once it is known. Returns true if the session can continue.
pub(crate) fn opened(session: &mut Session) -> bool {
    let model = &session.model;
    let answered =
        |source: &SourceState| source.listed || source.problem.is_some() || source.connection.is_over();
    let known = model.screen.restored && model.list.sources.iter().all(answered);
    if !known && model.now.since(session.began()) < PATIENCE {
        return false;
    }
    session.turn = Turn::Word;
    let message = session.heard();
    let mut said = words::plain_mode(session.how.why);
    said += &if session.model.list.sources.iter().any(|source| source.listed) {
        sentences::counts(&session.model)
    } else {
        words::NO_SOURCE_HAS_ANSWERED_YET.to_owned()
    };
    session.say(&said);
    session.say_all(&sentences::troubles(&session.model));
    if session.model.screen.shared {
        session.say(&sentences::sentence(crate::tui::decide::words::ANOTHER_INBOX));
    }
    match session.model.unsent() {
        0 => {}
        1 => session.say(words::ONE_FROM_LAST_TIME),
        staged => session.say(&words::from_last_time(staged)),
    }
    if let Some(message) = message.filter(|_| session.model.screen.saved.failed.is_some() || !known) {
        session.say(&message);
    }
    if !session.how.interactive {
        session.say(words::NO_TERMINAL);
    }
    match session.how.opens {
        StartView::Inbox => browse::first(session),
        StartView::Watch => figures::start(session, Opened::NotYet),
    }
    true
}
