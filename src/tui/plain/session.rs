//! Handles one session of plain mode: takes lines and messages, returns text and effects. Pure, like `update`.

use std::collections::VecDeque;

use ratatui::layout::Size;

use crate::domain::{ActionKey, Digest, Resolution, Risk, SourceName, Timestamp, Untrusted};
use crate::text::Shown;
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Effect, Intent, Msg, What};
use crate::tui::core::router;
use crate::tui::dashboard::state::StartView;
use crate::tui::preview::state::Tab;
use crate::tui::queue::slots::Slot;

use super::browse::To;
use super::news::News;
use super::read::Reading;
use super::run::Typed;
use super::words::{Meant, Verb, meant};
use super::{browse, decide, edit, figures, news, read, sentences, submit};

/// Lines that come this close together were not typed one by one. Milliseconds.
const PASTE: i64 = 30;
/// A page of text when nothing else is known; `How` says more.
pub(crate) const SIZE: Size = Size::new(1_000, 1_000);

/// What the two ends of the session are like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    /// Why it is plain, for the first line.
    pub(crate) why: &'static str,
    /// What is read out first.
    pub(crate) opens: StartView,
    /// A person types: there is a prompt, long texts come in pages, and what comes too fast was not typed.
    pub(crate) interactive: bool,
    /// Columns; `None` breaks no line.
    pub(crate) width: Option<u16>,
    pub(crate) rows: u16,
}

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) model: Model,
    pub(crate) how: How,
    pub(crate) turn: Turn,
    /// The action that was read out last.
    pub(crate) spoken: Option<Spoken>,
    pub(crate) reading: Option<Reading>,
    pub(crate) news: News,
    /// Sources that were asked for their own counts, and have not answered.
    pub(crate) counting: Vec<SourceName>,
    lines: VecDeque<(Timestamp, Typed)>,
    last_line: Option<Timestamp>,
    /// Lines of a paste that were ignored and not told yet.
    pasted: usize,
    out: String,
    /// The prompt stands at the end of what was written.
    prompted: bool,
}

/// What the session waits for, or what the next line answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The lists, for the first sentence.
    Opening,
    /// A word.
    Word,
    /// The counts of sources that count by themselves, to read the figures; asked for then, by a word or at the opening.
    Counting(Timestamp, Opened),
    /// The content of an action, to read it.
    Reading(Tab),
    /// The actions of a review, read afresh.
    Reviewing,
    /// The answer to a review's question, asked then.
    Confirming(Timestamp),
    /// `yes` to what settling says, asked then.
    Resolved(Resolution, Option<String>, Timestamp),
    Over,
}

/// Whether the first sentences were all said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    Yes,
    /// The first action comes after the figures.
    NotYet,
}

/// What was read out of an action: a decision is about this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spoken {
    pub(crate) key: ActionKey,
    pub(crate) label: (Option<Digest>, Untrusted, Risk),
    pub(crate) pending: bool,
    pub(crate) at: Timestamp,
}

impl Spoken {
    pub(crate) fn of(slot: &Slot, at: Timestamp) -> Self {
        let row = &slot.entry.row;
        let label = (row.digest, row.title.clone(), row.risk.clone());
        Self { key: slot.entry.key.clone(), label, pending: slot.is_pending(), at }
    }
}

impl Session {
    pub(crate) fn new(mut model: Model, how: How) -> Self {
        // The model lays texts out as for a screen without a list. A screen that is too small shows none.
        let width = how.width.map_or(SIZE.width, |width| width.clamp(44, SIZE.width));
        let height = if how.interactive { how.rows.clamp(20, 60) } else { SIZE.height };
        model.screen.size = Size::new(width, height);
        model.preview.stacked = true;
        Self {
            news: News::new(&model),
            model,
            how,
            turn: Turn::Opening,
            spoken: None,
            reading: None,
            counting: Vec::new(),
            lines: VecDeque::new(),
            last_line: None,
            pasted: 0,
            out: String::new(),
            prompted: false,
        }
    }

    pub(crate) fn start(&mut self) -> Vec<Effect> {
        router::start(&mut self.model)
    }

    /// Something was typed at that time.
    pub(crate) fn typed(&mut self, at: Timestamp, typed: Typed) -> Vec<Effect> {
        self.prompted = false;
        let close = self.last_line.is_some_and(|last| at.since(last) < PASTE);
        self.last_line = Some(at);
        match typed {
            // A person who ends the input waits for nothing more.
            Typed::End if self.how.interactive => {
                self.lines.clear();
                self.end();
            }
            Typed::Line(_) | Typed::TooLong if self.how.interactive && close => self.pasted += 1,
            other => self.lines.push_back((at, other)),
        }
        self.model.now = self.model.now.max(at);
        self.go_on()
    }

    /// Something happened.
    pub(crate) fn take(&mut self, msg: Msg) -> Vec<Effect> {
        let tick = matches!(msg.what, What::Tick);
        news::take(self, msg);
        if tick {
            self.tell_pasted();
            news::tell(self);
        }
        self.go_on()
    }

    #[cfg(test)]
    pub(crate) const fn is_interactive(&self) -> bool {
        self.how.interactive
    }

    /// The text to write since the last call.
    pub(crate) fn said(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

    /// Takes lines for as long as nothing is waited for.
    fn go_on(&mut self) -> Vec<Effect> {
        loop {
            let goes_on = match self.turn.clone() {
                Turn::Opening => news::opened(self),
                Turn::Counting(asked, opened) => figures::counted(self, asked, opened),
                Turn::Reading(tab) => read::arrived(self, tab),
                Turn::Reviewing => submit::reviewed(self),
                Turn::Word | Turn::Confirming(_) | Turn::Resolved(..) => self.next_line(),
                Turn::Over => false,
            };
            if !goes_on {
                break;
            }
        }
        if self.how.interactive && self.takes_lines() && !self.prompted {
            self.out.push_str("> ");
            self.prompted = true;
        }
        std::mem::take(&mut self.model.effects)
    }

    fn takes_lines(&self) -> bool {
        matches!(self.turn, Turn::Word | Turn::Confirming(_) | Turn::Resolved(..))
    }

    fn next_line(&mut self) -> bool {
        // A script hears what became of one line before the next one is read.
        let model = &self.model;
        let busy = model.submit.held.is_some() || model.is_sending() || model.submit.resolving.is_some();
        if !self.how.interactive && busy {
            return false;
        }
        let Some((at, typed)) = self.lines.pop_front() else { return false };
        self.model.list.touched = true;
        match typed {
            Typed::End => self.end(),
            Typed::TooLong => self.say("Ignored: the line is longer than 64 kilobytes."),
            Typed::Line(line) if line.chars().any(|c| c.is_control() && c != '\t') => {
                self.say("Ignored: the line holds a control character, from an arrow key perhaps.");
            }
            Typed::Line(line) => match self.turn.clone() {
                Turn::Confirming(asked) => submit::answer(self, line.trim(), at, asked),
                Turn::Resolved(finding, reason, asked) => {
                    decide::settle_answer(self, line.trim(), (finding, reason), at, asked);
                }
                _ => self.word(&line, at),
            },
        }
        true
    }

    fn word(&mut self, line: &str, at: Timestamp) {
        let (verb, rest) = match meant(line) {
            Meant::Nothing => return browse::again(self),
            Meant::Word(verb, rest) => (verb, rest),
            Meant::Unclear(names) => {
                let names = names.join(", ");
                return self.say(&format!("Unclear: that begins {names}. Nothing was done."));
            }
            Meant::Unknown(_) if line.trim().parse::<u64>().is_ok() => {
                return self.say("Nothing was done: no question is open. go and a number goes to an action.");
            }
            Meant::Unknown(nearest) => {
                return self.say(&format!(
                    "Unknown word. The nearest is {nearest}. Nothing was done; help names all words."
                ));
            }
        };
        match verb {
            Verb::Show => read::start(self, Tab::Rendered),
            Verb::Raw => read::start(self, Tab::Raw),
            Verb::Diff => read::start(self, Tab::Diff),
            Verb::Context => read::start(self, Tab::Context),
            Verb::More => read::more(self),
            Verb::Approve => decide::approve(self, rest, at),
            Verb::Exclude => decide::exclude(self, rest, at),
            Verb::Comment => decide::comment(self, rest, at),
            Verb::Retry => decide::retry(self, rest, at),
            Verb::Rest => decide::rest(self),
            Verb::Clear => decide::clear(self),
            Verb::Undo => decide::undo(self),
            Verb::Redo => decide::redo(self),
            Verb::Edit => edit::edit(self, rest, at),
            Verb::Revert => edit::revert(self),
            Verb::Settle => decide::settle(self, rest, at),
            Verb::Next => browse::step(self, To::Next),
            Verb::Previous => browse::step(self, To::Previous),
            Verb::First => browse::go(self, 1),
            Verb::Last => browse::go(self, usize::MAX),
            Verb::Go => browse::go_to(self, rest),
            Verb::List => browse::list(self, rest),
            Verb::Batch => browse::batch(self),
            Verb::Where => browse::whereabouts(self),
            Verb::Watch => figures::start(self, Opened::Yes),
            Verb::Staged => browse::staged(self),
            Verb::Submit => submit::submit(self, rest),
            Verb::Report => submit::last(self),
            Verb::Reload => browse::reload(self),
            Verb::Quiet => news::quiet(self, true),
            Verb::Speak => news::quiet(self, false),
            Verb::Help => browse::help(self, rest),
            Verb::Quit => self.end(),
        }
    }

    /// Leaves. What waits for an answer goes back: nothing is sent by leaving.
    fn end(&mut self) {
        if matches!(self.turn, Turn::Confirming(_) | Turn::Reviewing) {
            self.say("Nothing was sent.");
        }
        if self.model.submit.held.is_some() {
            self.say("Recalled: nothing was sent. Everything stays staged.");
        }
        self.turn = Turn::Over;
        self.model.effects.push(Effect::Quit);
    }

    /// Something happens by our own doing.
    pub(crate) fn tell(&mut self, what: What) {
        let msg = Msg { at: self.model.now, what };
        router::handle(&mut self.model, msg);
    }

    pub(crate) fn give(&mut self, given: Intent) {
        self.tell(What::Intent(given));
    }

    pub(crate) fn began(&self) -> Timestamp {
        self.news.began
    }

    /// What the model said about it, if anything.
    pub(crate) fn heard(&mut self) -> Option<String> {
        let message = self.model.screen.message.take()?;
        Some(sentences::sentence(&message.parts.iter().map(Shown::plain).collect::<String>()))
    }

    /// Writes a line, broken at the width. `text` went through the door: it holds our words and shown ones only.
    pub(crate) fn say(&mut self, text: &str) {
        if self.prompted {
            self.out.push('\n');
            self.prompted = false;
        }
        self.news.spoke(self.model.now);
        let Some(width) = self.how.width else {
            self.out.push_str(text);
            self.out.push('\n');
            return;
        };
        for row in Shown::ours(text).wrap(usize::from(width.max(20))) {
            self.out.push_str(row.plain().trim_end());
            self.out.push('\n');
        }
    }

    pub(crate) fn say_all(&mut self, lines: &[String]) {
        for line in lines {
            self.say(line);
        }
    }

    /// Says what the model said.
    pub(crate) fn say_heard(&mut self) {
        if let Some(heard) = self.heard() {
            self.say(&heard);
        }
    }

    fn tell_pasted(&mut self) {
        let lines = std::mem::take(&mut self.pasted);
        if lines > 0 {
            let lines = crate::text::count(lines, "line");
            self.say(&format!(
                "Ignored {lines} that came as fast as pasted text. Nothing was done with them."
            ));
        }
    }
}
