//! Sparklines: blocks, never braille; digits where only ASCII is drawn. Their numbers always stand beside them.

use crate::config::Borders;

const BLOCKS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// What the values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// How it stood: of several, the last counts.
    Level,
    /// How much came: of several, all count.
    Flow,
}

/// In so many columns, or fewer. The lowest mark is nothing at all. `.` is before anybody watched, `?` where nobody did since.
pub(super) fn line(values: &[Option<u64>], of: Of, width: usize, borders: Borders) -> String {
    let marks: &[&str] = if borders == Borders::Ascii { &DIGITS } else { &BLOCKS };
    let values = fit(values, of, width);
    let most = values.iter().flatten().max().copied().unwrap_or_default();
    let mut watched = false;
    let mark = |value: &Option<u64>| match value {
        None if watched => "?",
        None => ".",
        Some(value) => {
            watched = true;
            let steps = marks.len() as u64 - 1;
            let step =
                if most == 0 { 0 } else { (u128::from(*value) * u128::from(steps)).div_ceil(most.into()) };
            usize::try_from(step).ok().and_then(|step| marks.get(step)).copied().unwrap_or("?")
        }
    };
    values.iter().map(mark).collect()
}

/// At most so many values.
fn fit(values: &[Option<u64>], of: Of, width: usize) -> Vec<Option<u64>> {
    if values.len() <= width {
        return values.to_vec();
    }
    let parts = (0..width).map(|nth| (nth * values.len() / width, (nth + 1) * values.len() / width));
    let part = |(from, to): (usize, usize)| {
        let part = values.get(from..to).unwrap_or_default();
        let mut known = part.iter().flatten();
        match of {
            Of::Level => known.next_back().copied(),
            Of::Flow => {
                let (sum, n) =
                    known.fold((0_u64, 0_u64), |(sum, n), value| (sum.saturating_add(*value), n + 1));
                // Parts may be of different lengths: what counts is how much came in each value's time, in thousandths.
                (n > 0).then(|| sum.saturating_mul(1_000) / n)
            }
        }
    };
    parts.map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Vec<Option<u64>> {
        values.iter().map(|value| Some(*value)).collect()
    }

    #[test]
    fn the_lowest_mark_is_nothing_and_the_highest_is_the_most() {
        assert_eq!(line(&of(&[0, 1, 50, 100]), Of::Level, 9, Borders::Line), "▁▂▅█");
        assert_eq!(line(&of(&[0, 1, 50, 100]), Of::Level, 9, Borders::Ascii), "0159");
        assert_eq!(line(&of(&[0, 0]), Of::Level, 9, Borders::Line), "▁▁");
        assert_eq!(line(&of(&[u64::MAX, 0]), Of::Level, 9, Borders::Line), "█▁");
    }

    #[test]
    fn where_nobody_watched_there_is_no_mark() {
        let values = [None, None, Some(1), None, Some(2)];
        assert_eq!(line(&values, Of::Level, 9, Borders::Ascii), "..5?9");
        assert_eq!(line(&[], Of::Level, 9, Borders::Ascii), "");
    }

    #[test]
    fn what_does_not_fit_stands_together() {
        let values = of(&[9, 1, 9, 2, 9, 3]);
        assert_eq!(line(&values, Of::Level, 3, Borders::Ascii), "369", "the last of each");
        assert_eq!(line(&of(&[4, 0, 2, 0, 0, 0]), Of::Flow, 3, Borders::Ascii), "950");
        assert_eq!(
            line(&of(&[3; 7]), Of::Flow, 3, Borders::Ascii),
            "999",
            "parts of other lengths are alike"
        );
        assert_eq!(line(&values, Of::Level, 0, Borders::Ascii), "");
    }
}
