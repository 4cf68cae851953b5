//! The configuration of notices: rules, and where they are sent.

use std::fmt;
use std::time::Duration;

use super::TokenFrom;
use crate::domain::{AlertKind, SourceName};

/// One `[[notify]]` table: told when something of this kind comes up or grows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifyRule {
    /// Its place among the rules, counted from 1, and the line where its table begins; for messages.
    pub number: usize,
    pub line: usize,
    /// At least one.
    pub on: Vec<NotifyOn>,
    /// `None`: every source.
    pub source: Option<SourceName>,
    /// The name of an agent, else of a tool; `None`: every queue.
    pub queue: Option<String>,
    /// Fewer are not told of; of `growing` and `source-down`, minutes. 0 where nothing is said.
    pub at_least: u64,
    pub to: NotifyTo,
    /// It tells no more often; at least a minute.
    pub every: Duration,
    pub quiet: Option<Quiet>,
    /// Says nothing while the window is in front. Of the terminal and the bell only.
    pub unfocused_only: bool,
}

/// What a rule waits for; the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotifyOn {
    Alert(AlertKind),
    /// The first action after an empty inbox.
    First,
}

/// Where a rule tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotifyTo {
    /// The way of `[ui] notify`.
    Terminal,
    Bell,
    Command {
        /// A program and its arguments.
        argv: Vec<String>,
        /// One JSON object on its standard input, else a line of text.
        json: bool,
        /// It is killed when it takes longer; 1 to 10 seconds.
        limit: Duration,
    },
    Webhook(Webhook),
}

/// A receiver of signed POSTs, <https://www.standardwebhooks.com>.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub url: String,
    /// The key that it shares with us: `whsec_` and base64, or any text.
    pub secret: TokenFrom,
    /// It may be on this machine or network, and spoken to over http.
    pub private: bool,
}

/// Hours in which a rule says nothing, by the clock on the wall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quiet {
    /// Minutes of the day, 0 to 1439.
    pub from: u16,
    /// The first minute that is not quiet any more, 1 to 1440; not after `from`: on the day after.
    pub until: u16,
    /// The days on which it begins, Monday first.
    pub days: [bool; 7],
}

impl NotifyOn {
    /// As the configuration has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Alert(kind) => kind.name(),
        }
    }

    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::First).chain(AlertKind::ALL.into_iter().map(Self::Alert))
    }

    /// Whether it is known of a single queue; all others are of a source as a whole.
    pub const fn is_of_queues(self) -> bool {
        use AlertKind as A;
        matches!(self, Self::First | Self::Alert(A::HighRisk | A::OverTarget | A::Unknown | A::Growing))
    }
}

impl NotifyTo {
    /// As the configuration has it.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Bell => "bell",
            Self::Command { .. } => "command",
            Self::Webhook(_) => "webhook",
        }
    }

    /// Only a screen can do it.
    pub const fn is_of_the_screen(&self) -> bool {
        matches!(self, Self::Terminal | Self::Bell)
    }
}

impl fmt::Display for NotifyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "notify rule {} ({}, line {})", self.number, self.to.word(), self.line)
    }
}

impl Quiet {
    /// Whether it is quiet at this minute of the day. `day` is 0 on Mondays.
    pub fn holds(&self, day: usize, minute: u16) -> bool {
        let on = |day: usize| self.days.get(day % 7).copied().unwrap_or_default();
        if self.from < self.until {
            return on(day) && (self.from..self.until).contains(&minute);
        }
        // Until the morning after: what began yesterday goes on.
        on(day) && minute >= self.from || on(day + 6) && minute < self.until
    }
}
