//! Handles typed lines and messages, and runs the words.

use super::sentences;
use crate::domain::Timestamp;
use crate::tui::chrome;
use crate::tui::core::msg::{Effect, Msg, What};
use crate::tui::core::router;
use crate::tui::plain::words;

use super::browse::To;
use super::session::{Opened, Session, Turn, Typed};
use super::words::{Meant, Verb, meant};
use super::{browse, decide, edit, figures, news, read, submit};

/// Lines that arrive this close together were pasted, not typed. Milliseconds.
const PASTE: i64 = 30;

impl Session {
    pub(crate) fn start(&mut self) -> Vec<Effect> {
        router::start(&mut self.model)
    }

    pub(crate) fn typed(&mut self, at: Timestamp, typed: Typed) -> Vec<Effect> {
        self.prompted = false;
        let close = self.last_line.is_some_and(|last| at.since(last) < PASTE);
        self.last_line = Some(at);
        match typed {
            // In an interactive session the end of input quits at once.
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

    pub(crate) fn take(&mut self, msg: Msg) -> Vec<Effect> {
        let tick = matches!(msg.what, What::Tick);
        news::take(self, msg);
        if tick {
            self.tell_pasted();
            news::tell(self);
        }
        self.go_on()
    }

    /// Processes lines until a turn has to wait.
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
        // A script gets the result of one line before its next line is read.
        let model = &self.model;
        let busy = model.submit.held.is_some() || model.is_sending() || model.submit.resolving.is_some();
        if !self.how.interactive && busy {
            return false;
        }
        let Some((at, typed)) = self.lines.pop_front() else { return false };
        self.model.list.touched = true;
        match typed {
            Typed::End => self.end(),
            Typed::TooLong => self.say(words::LINE_TOO_LONG),
            Typed::Line(line) if line.chars().any(|c| c.is_control() && c != '\t') => {
                self.say(words::CONTROL_CHARACTER);
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
                return self.say(&words::unclear(&names));
            }
            Meant::Unknown(_) if line.trim().parse::<u64>().is_ok() => {
                return self.say(words::NO_QUESTION);
            }
            Meant::Unknown(nearest) => {
                return self.say(&words::nearest_word(nearest));
            }
        };
        match verb {
            Verb::Read(tab) => read::start(self, tab),
            Verb::More => read::more(self),
            Verb::Approve => decide::approve(self, rest, at),
            Verb::Exclude => decide::exclude(self, rest, at),
            Verb::Comment => decide::comment(self, rest, at),
            Verb::Ask(kind) => decide::ask(self, kind, rest, at),
            Verb::Rest => decide::rest(self),
            Verb::Clear => decide::clear(self),
            Verb::Undo => decide::undo(self),
            Verb::TakeBack => decide::take_back(self),
            Verb::Redo => decide::redo(self),
            Verb::Edit => edit::edit(self, rest, at),
            Verb::Revert => edit::revert(self),
            Verb::Settle => decide::settle(self, rest, at),
            Verb::Claim => decide::claim(self),
            Verb::Snooze => decide::snooze(self, rest),
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

    /// Quits. Held decisions are recalled, because quitting sends nothing.
    fn end(&mut self) {
        if matches!(self.turn, Turn::Confirming(_) | Turn::Reviewing) {
            self.say(&sentences::sentence(chrome::words::NOTHING_WAS_SENT));
        }
        if self.model.submit.held.is_some() {
            self.say(words::RECALLED);
        }
        self.turn = Turn::Over;
        self.model.effects.push(Effect::Quit);
    }

    fn tell_pasted(&mut self) {
        let lines = std::mem::take(&mut self.pasted);
        if lines > 0 {
            let lines = crate::text::count(lines, "line");
            self.say(&words::pasted(&lines));
        }
    }
}
