//! One figure in a column: its text, and one more column for what has to be said of it.

use ratatui::style::Style;

use crate::domain::{QueueState, Rate, Timestamp};
use crate::inbox::figures::{Standing, words};
use crate::tui::theme;
use crate::tui::view::pen::Pen;

/// A column of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    Pending,
    High,
    Oldest,
    Over,
    /// Arrivals in the last full minute, and a minute over the last fifteen.
    InNow,
    InMean,
    OutNow,
    OutMean,
    Clears,
}

impl Figure {
    pub(super) const fn heading(self) -> &'static str {
        match self {
            Self::Pending => "pend",
            Self::High => "high",
            Self::Oldest => "oldest",
            Self::Over => "over",
            Self::InNow => "in now",
            Self::InMean => "in 15m",
            Self::OutNow => "out now",
            Self::OutMean => "out 15m",
            Self::Clears => "clears in",
        }
    }

    /// Columns with the gap before, and without the one for a mark behind.
    pub(super) const fn width(self) -> usize {
        match self {
            Self::Pending => 6,
            Self::High | Self::Over => 5,
            Self::Oldest | Self::InNow | Self::InMean => 7,
            Self::OutNow | Self::OutMean => 8,
            Self::Clears => 10,
        }
    }

    /// What it says, what is remarkable in it, and a mark for that.
    fn of(self, standing: &Standing, at: Timestamp) -> (String, Style, &'static str) {
        let plain = |text: String| (text, theme::PLAIN, " ");
        let (rate, last) = (standing.rate, standing.last);
        let dim_zero = |n: u64| if n == 0 { theme::DIM } else { theme::PLAIN };
        match self {
            Self::Pending => (standing.pending.to_string(), dim_zero(standing.pending), " "),
            Self::High | Self::Over => {
                let count = if self == Self::High { standing.high } else { standing.over_target };
                (count.to_string(), if count == 0 { theme::DIM } else { theme::WARN }, " ")
            }
            Self::Oldest => match standing.oldest {
                None => ("-".to_owned(), theme::DIM, " "),
                Some(oldest) if standing.over_target > 0 => (words::age(oldest, at), theme::WARN, "!"),
                Some(oldest) => (words::age(oldest, at), theme::PLAIN, " "),
            },
            Self::InNow => plain(words::last(last, |last| last.arrived)),
            Self::InMean => plain(words::mean(rate, Rate::arrivals)),
            Self::OutNow => plain(words::last(last, |last| last.resolved)),
            Self::OutMean => plain(words::mean(rate, Rate::resolves)),
            Self::Clears => plain(words::clears(standing.trend)),
        }
    }

    /// Right-aligned. A number of a source that is not heard is dim, and has a `?`.
    pub(super) fn draw(self, standing: &Standing, at: Timestamp, stale: bool, pen: &mut Pen<'_>) {
        let (text, look, mark) = self.of(standing, at);
        let (look, mark) = match stale {
            true if text == "?" || text == "-" => (theme::DIM, " "),
            true => (theme::DIM, "?"),
            false => (look, mark),
        };
        right(&text, self.width(), look, pen);
        pen.ours(mark, look);
    }
}

/// The verdict, with a `?` where it is of a source that is not heard.
pub(super) fn verdict(standing: &Standing, doubtful: bool) -> (String, Style) {
    let state = standing.state;
    let look = match state {
        _ if doubtful => theme::DIM,
        QueueState::OverTarget => theme::WARN,
        QueueState::Growing => theme::BOLD,
        QueueState::NoData | QueueState::Starting => theme::DIM,
        QueueState::Ok | QueueState::Clearing => theme::PLAIN,
    };
    let mark = if doubtful && state != QueueState::NoData { "?" } else { "" };
    (format!("{}{mark}", state.word()), look)
}

/// In so many columns, at their end.
pub(super) fn right(text: &str, width: usize, style: Style, pen: &mut Pen<'_>) {
    pen.ours(&" ".repeat(width.saturating_sub(text.chars().count())), theme::PLAIN).ours(text, style);
}

/// Whether a count is news is said by its weight, too.
pub(super) fn number(n: u64) -> (String, Style) {
    (n.to_string(), if n == 0 { theme::DIM } else { theme::PLAIN })
}
