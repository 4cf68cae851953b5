//! The History tab: the source's timeline if it has one, and the decisions sent from this machine.

use crate::domain::{HistoryEvent, Outcome, PendingAction, Status, Timestamp, json};
use crate::inbox::{Answer, History, Problem, SentHere};
use crate::text;
use crate::text::Shown;

use super::line::{Kind, kind_of, listed, moment, readable};
use super::made::{Cached, Made};
use super::writer::Writer;
use crate::tui::preview::words;

/// Longest event name that keeps the column.
const WORD: usize = 12;
const NAME: usize = 8;

pub(crate) fn history(
    writer: &mut Writer,
    cached: &Cached,
    (of, told): (&Made, Option<&Result<Answer, Problem>>),
    zone: &jiff::tz::TimeZone,
) {
    let told = match told {
        Some(Err(problem)) => return failed(writer, problem),
        Some(Ok(Answer::History(told))) => told,
        _ => return writer.ours(Kind::Dim, words::ASKING_WHAT_HAPPENED),
    };
    let mut page = Page { writer, action: &cached.action, of, zone };
    match &told.events {
        Some(events) => events.iter().for_each(|event| page.event(event)),
        None => page.without_timeline(told.problem.as_ref()),
    }
    page.sent(told);
}

struct Page<'a> {
    writer: &'a mut Writer,
    action: &'a PendingAction,
    of: &'a Made,
    zone: &'a jiff::tz::TimeZone,
}

impl Page<'_> {
    /// Writes `approved     2026-11-21 14:22:31 UTC   by lee`, and details below it.
    fn event(&mut self, event: &HistoryEvent) {
        let by = event
            .by
            .as_ref()
            .map_or_else(|| Shown::ours(words::BY_THE_SOURCE), |by| by_whom(self.of.who(by)));
        self.line(&text::line(&event.kind), kind_of(&status_of(event.kind.as_raw())), event.at, by);
        let details = event.details.as_ref();
        let said = |name: &str| details.and_then(|details| details.member(name)).map(str::to_owned);
        match event.kind.as_raw() {
            "approved" => self.edits(),
            "executed" | "failed" => {
                self.more("result", self.action.result.as_ref().map(|r| readable(r.as_str()).into_owned()));
            }
            "settled" => self.more("as", said("status").map(|status| meaning(&status))),
            _ => {}
        }
        self.more("reason", said("reason").map(|reason| meaning(&reason)));
        self.more("error", said("error").map(|error| meaning(&error)));
    }

    /// Writes what the action's own fields tell, for a source without a timeline.
    fn without_timeline(&mut self, problem: Option<&Problem>) {
        match problem {
            Some(problem) => failed(self.writer, problem),
            None => self.writer.ours(Kind::Dim, words::NO_TIMELINE),
        }
        self.writer.blank();
        let row = &self.action.row;
        self.line(&Shown::ours("created"), Kind::Key, row.created_at, Shown::default());
        if let Some(at) = row.resolved_at {
            let by = row.resolved_by.as_ref().map_or_else(Shown::default, |by| by_whom(self.of.who(by)));
            self.line(&Shown::ours("decided"), Kind::Key, at, by);
            self.edits();
            self.more("reason", self.action.reason.as_ref().map(|reason| reason.as_raw().to_owned()));
        }
        if let Some(at) = self.action.executed_at {
            self.line(&Shown::ours("ran"), Kind::Key, at, Shown::default());
        }
        let now = Shown::ours(format!("{:<WORD$} ", "now"));
        self.writer.push(vec![(Kind::Key, now), (kind_of(&row.status), text::status_word(&row.status))]);
        self.more("result", self.action.result.as_ref().map(|result| readable(result.as_str()).into_owned()));
        self.more("error", self.action.error.as_ref().map(|error| error.as_raw().to_owned()));
    }

    /// Writes the decisions sent from here, including those of other inboxes on the same journal.
    fn sent(&mut self, told: &History) {
        if told.sent.is_empty() {
            return;
        }
        self.writer.blank();
        self.writer.ours(Kind::Key, words::SENT_FROM_HERE);
        for one in &told.sent {
            let by =
                one.reviewer.as_deref().map_or_else(Shown::default, |by| by_whom(text::name(&by.into())));
            let word = one.sent.decision.kind().without_edits().words().phrase;
            self.line(&Shown::ours(word), Kind::Key, one.at, by);
            self.of_decision(one);
        }
    }

    fn of_decision(&mut self, one: &SentHere) {
        let decision = &one.sent.decision;
        self.more("edits", decision.edits().map(|edits| listed(&edits.keys())));
        self.more(decision.kind().words().said, decision.said().map(str::to_owned));
        self.more("answer", Some(answer(self.of, one.sent.outcome.as_ref())));
    }

    fn edits(&mut self) {
        self.more("edits", self.action.user_edits.as_ref().map(|edits| listed(&edits.keys())));
    }

    fn line(&mut self, word: &Shown, kind: Kind, at: Timestamp, by: Shown) {
        let word = word.cut(self.writer.width);
        let gap = Shown::ours(" ".repeat(WORD.saturating_sub(word.width()) + 1));
        let at = Shown::ours(moment(at, self.zone));
        let one_line = WORD.max(word.width()) + 1 + at.width() + 2 + by.width() <= self.writer.width;
        let mut line = vec![(kind, word), (Kind::Plain, gap), (Kind::Dim, at)];
        if one_line {
            line.extend([(Kind::Plain, Shown::ours("  ")), (Kind::Plain, by)]);
            return self.writer.push(line);
        }
        self.writer.push(line);
        if by.width() > 0 {
            self.writer.wrapped(Kind::Plain, 2, &by);
        }
    }

    /// Writes `  reason  too expensive`, wrapped below its label if it is long.
    fn more(&mut self, name: &str, said: Option<String>) {
        let Some(said) = said.filter(|said| !said.is_empty()) else { return };
        let lines = text::lines(&said);
        if let [only] = lines.as_slice()
            && NAME + 3 + only.width() <= self.writer.width
        {
            let name = Shown::ours(format!("  {name:<NAME$} "));
            return self.writer.push(vec![(Kind::Dim, name), (Kind::Plain, only.clone())]);
        }
        self.writer.ours(Kind::Dim, format!("  {name}"));
        for line in &lines {
            self.writer.wrapped(Kind::Plain, 4, line);
        }
    }
}

fn failed(writer: &mut Writer, problem: &Problem) {
    writer.ours(Kind::Warn, words::timeline_not_read(&problem.what));
    if let Some(why) = &problem.why {
        writer.wrapped(Kind::Plain, 2, &text::line(why));
    }
}

fn by_whom(who: Shown) -> Shown {
    Shown::ours("by ").followed_by(who)
}

/// Returns the status that an event leads to.
fn status_of(event: &str) -> Status {
    if event == "lost" { Status::Unknown } else { Status::parse(event) }
}

fn answer(of: &Made, outcome: Option<&Outcome>) -> String {
    let Some(outcome) = outcome else { return words::MAY_NOT_HAVE_BEEN_SENT.to_owned() };
    let word = outcome.look().word;
    match outcome {
        Outcome::Approved | Outcome::Rejected => word.to_owned(),
        Outcome::Accepted => words::TAKEN_SETTLED_LATER.to_owned(),
        Outcome::PartlyApproved { .. } | Outcome::Skipped { .. } => {
            let why = text::reason(outcome, outcome.by().map(|by| of.who(by)));
            format!("{word}: {}", why.unwrap_or_default().plain())
        }
        Outcome::Failed { why } => format!("refused: {}", why.as_raw()),
        // `more` makes it safe to show, line by line.
        Outcome::Unknown { why } => format!("{word}: {}", why.as_raw()),
    }
}

/// Decodes a JSON string; other values stay as written.
fn meaning(value: &str) -> String {
    if value.starts_with('"') { json::decode(value).text.into_owned() } else { value.to_owned() }
}
