//! One figure in a column: its text, and one more column for what has to be said of it.

use ratatui::style::Style;

use crate::domain::Timestamp;
use crate::inbox::figures::{Standing, words};
use crate::tui::theme;
use crate::tui::view::pen::Pen;

/// A column of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    Pending,
    High,
    Oldest,
    Arrivals,
    Resolves,
    Net,
    Clears,
}

impl Figure {
    pub(super) const fn heading(self) -> &'static str {
        match self {
            Self::Pending => "pend",
            Self::High => "high",
            Self::Oldest => "oldest",
            Self::Arrivals => "arr/m",
            Self::Resolves => "res/m",
            Self::Net => "net/m",
            Self::Clears => "clears in",
        }
    }

    /// Columns with the gap before, and without the one for a mark behind.
    pub(super) const fn width(self) -> usize {
        match self {
            Self::Pending => 6,
            Self::High => 5,
            Self::Oldest | Self::Arrivals | Self::Resolves | Self::Net => 7,
            Self::Clears => 10,
        }
    }

    /// What it says, what is remarkable in it, and a mark for that.
    fn of(self, standing: &Standing, at: Timestamp) -> (String, Style, &'static str) {
        let or_not = |text: Option<String>| text.unwrap_or_else(|| "?".to_owned());
        let rate = standing.rate;
        let dim_zero = |n: u64| if n == 0 { theme::DIM } else { theme::PLAIN };
        match self {
            Self::Pending => (standing.pending.to_string(), dim_zero(standing.pending), " "),
            Self::High => {
                let style = if standing.high == 0 { theme::DIM } else { theme::WARN };
                (standing.high.to_string(), style, " ")
            }
            Self::Oldest => match standing.oldest {
                None => ("-".to_owned(), theme::DIM, " "),
                Some(oldest) if standing.over_target > 0 => (words::age(oldest, at), theme::WARN, "!"),
                Some(oldest) => (words::age(oldest, at), theme::PLAIN, " "),
            },
            Self::Arrivals => (or_not(rate.map(|rate| words::tenths(rate.arrivals()))), theme::PLAIN, " "),
            Self::Resolves => (or_not(rate.map(|rate| words::tenths(rate.resolves()))), theme::PLAIN, " "),
            Self::Net => (or_not(rate.map(|rate| words::net(rate.net()))), theme::PLAIN, " "),
            Self::Clears => {
                let style = if standing.growing_for > 0 { theme::BOLD } else { theme::PLAIN };
                (words::clears(standing.trend), style, " ")
            }
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

/// In so many columns, at their end.
pub(super) fn right(text: &str, width: usize, style: Style, pen: &mut Pen<'_>) {
    pen.ours(&" ".repeat(width.saturating_sub(text.chars().count())), theme::PLAIN).ours(text, style);
}

/// Whether a count is news is said by its weight, too.
pub(super) fn number(n: u64) -> (String, Style) {
    (n.to_string(), if n == 0 { theme::DIM } else { theme::PLAIN })
}
