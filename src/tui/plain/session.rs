//! A plain-mode session: its state, and the text to write.

use std::collections::VecDeque;

use ratatui::layout::Size;

use crate::domain::{ActionKey, Digest, Resolution, Risk, SourceName, Timestamp, Untrusted};
use crate::text::Shown;
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Intent, Msg, What};
use crate::tui::core::router;
use crate::tui::dashboard::state::StartView;
use crate::tui::plain::words;
use crate::tui::preview::page::made::Tab;
use crate::tui::queue::slots::Slot;

use super::sentences;

pub(crate) const SIZE: Size = Size::new(1_000, 1_000);

#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    /// Why plain mode is used, for the first line.
    pub(crate) why: &'static str,
    /// Whether the figures are read out first.
    pub(crate) opens: StartView,
    /// A person types: there is a prompt, long texts come in parts, and lines that come too fast are ignored.
    pub(crate) interactive: bool,
    /// Width in columns; `None` does not break lines.
    pub(crate) width: Option<u16>,
    pub(crate) rows: u16,
}

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) model: Model,
    pub(crate) how: How,
    pub(crate) turn: Turn,
    pub(crate) spoken: Option<Spoken>,
    pub(crate) reading: Option<Reading>,
    pub(crate) news: News,
    /// Sources whose counts were requested.
    pub(crate) counting: Vec<SourceName>,
    pub(crate) lines: VecDeque<(Timestamp, Typed)>,
    pub(crate) last_line: Option<Timestamp>,
    /// Ignored lines of a paste, not reported yet.
    pub(crate) pasted: usize,
    pub(crate) out: String,
    pub(crate) prompted: bool,
}

/// The event that the session waits for, or the question that the next line answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Opening,
    Word,
    /// Waits for the sources' counts, requested at this time, by a word or at the opening.
    Counting(Timestamp, Opened),
    Reading(Tab),
    Reviewing,
    /// The next line answers a review's question, asked at this time.
    Confirming(Timestamp),
    /// The next line confirms a resolution with `yes`; asked at this time.
    Resolved(Resolution, Option<String>, Timestamp),
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    Yes,
    /// The first action follows the figures.
    NotYet,
}

/// The action as it was read out; decisions apply to this.
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
        // A wide screen without a list; on a small screen the model would lay out no text.
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

    #[cfg(test)]
    pub(crate) const fn is_interactive(&self) -> bool {
        self.how.interactive
    }

    pub(crate) fn said(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

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

    pub(crate) fn heard(&mut self) -> Option<String> {
        let message = self.model.screen.message.take()?;
        Some(sentences::sentence(&message.parts.iter().map(Shown::plain).collect::<String>()))
    }

    /// Writes a line, broken at the width. `text` contains only placet's words and escaped foreign text.
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

    pub(crate) fn say_heard(&mut self) {
        if let Some(heard) = self.heard() {
            self.say(&heard);
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// Without its line break.
    Line(String),
    /// Ignored as a whole, because a part of a value would be another value.
    TooLong,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Asked,
    Accessibility,
    DumbTerminal,
    /// A terminal, and no TERM that says which.
    UnnamedTerminal,
}

impl Why {
    pub(crate) fn of(asked: bool, env: impl Fn(&str) -> Option<String>, is_terminal: bool) -> Option<Self> {
        let on = |name: &str| env(name).is_some_and(|it| !it.is_empty() && it != "0");
        match () {
            () if asked => Some(Self::Asked),
            () if on("PLACET_A11Y") => Some(Self::Accessibility),
            () => match env("TERM").as_deref() {
                Some("dumb") => Some(Self::DumbTerminal),
                None | Some("") if is_terminal => Some(Self::UnnamedTerminal),
                _ => None,
            },
        }
    }

    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Asked => "--plain",
            Self::Accessibility => words::PLACET_A11Y_IS_SET,
            Self::DumbTerminal => words::TERM_IS_DUMB,
            Self::UnnamedTerminal => words::TERM_IS_NOT_SET,
        }
    }
}

#[derive(Debug)]
pub(crate) struct News {
    pub(crate) quiet: bool,
    pub(crate) arrived: usize,
    pub(crate) settled: usize,
    pub(crate) executed: usize,
    pub(crate) lines: VecDeque<String>,
    pub(crate) said: Timestamp,
    pub(crate) began: Timestamp,
}

const WAITING: usize = 50;

impl News {
    pub(crate) fn new(model: &Model) -> Self {
        Self {
            quiet: false,
            arrived: 0,
            settled: 0,
            executed: 0,
            lines: VecDeque::new(),
            said: model.now,
            began: model.now,
        }
    }

    pub(crate) fn spoke(&mut self, now: Timestamp) {
        self.said = now;
    }

    pub(crate) fn note(&mut self, line: String) {
        self.lines.push_back(line);
        while self.lines.len() > WAITING {
            self.lines.pop_front();
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) key: ActionKey,
    pub(crate) tab: Tab,
    pub(crate) read: usize,
}
