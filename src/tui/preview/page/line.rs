//! A line of a page, and the formats of keys, sizes, times and units in it.

use std::borrow::Cow;

use crate::contract::time;
use crate::contract::tool::{self, Unit};
use crate::domain::json::{Decoded, Member};
use crate::domain::{RawJson, Role, Status, Timestamp, Untrusted, json};
use crate::text;
use crate::text::Shown;
use crate::tui::preview::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Key,
    Dim,
    Old,
    New,
    /// Changed words in a changed line.
    OldWord,
    NewWord,
    Warn,
    Status(Role),
    Link,
    /// In source texts: a key, heading or comment.
    Name,
    /// In source texts: a number, a literal, or a program's string.
    Value,
    Punct,
    Match,
    Here,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageLine {
    pub parts: Vec<(Kind, Shown)>,
}

impl PageLine {
    pub(crate) fn is_foreign(&self) -> bool {
        self.parts.iter().any(|(_, shown)| shown.is_foreign())
    }

    pub(crate) fn plain(&self) -> String {
        self.parts.iter().map(|(_, shown)| shown.plain()).collect()
    }

    /// Cuts the line to `columns`, with an ellipsis.
    pub(crate) fn cut(self, columns: usize) -> Self {
        let (mut cut, mut left, mut parts) = (Vec::new(), columns, self.parts.into_iter());
        while let Some((kind, part)) = parts.next() {
            if part.width() < left {
                left -= part.width();
                cut.push((kind, part));
            } else {
                let rest = parts.by_ref().fold(part, |rest, (_, part)| rest.followed_by(part));
                cut.push((kind, rest.cut(left)));
            }
        }
        Self { parts: cut }
    }

    pub(crate) fn right_of(self, columns: usize) -> Self {
        let mut left = columns;
        let parts = self.parts.into_iter().filter_map(|(kind, shown)| {
            let width = shown.width();
            let skip = left.min(width);
            left -= skip;
            (skip == 0 || skip < width).then(|| (kind, if skip == 0 { shown } else { shown.right_of(skip) }))
        });
        Self { parts: parts.collect() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub left: usize,
    pub width: usize,
}

/// Returns the kind of a status; an ordinary one looks like a label.
pub(crate) fn kind_of(status: &Status) -> Kind {
    match status.look().map(|look| look.role) {
        None | Some(Role::Plain) => Kind::Key,
        Some(role) => Kind::Status(role),
    }
}

/// Formats a key; line breaks in it become tokens.
pub(crate) fn key_of(member: &Member<'_>) -> Shown {
    let name = if member.key.lossy { member.raw_key } else { member.key.text.as_ref() };
    text::line(&Untrusted::from(name))
}

/// Formats a value: strings decoded, short lists and objects on one line, long ones indented. An ambiguous string keeps
/// its quotes.
pub(crate) fn readable(value: &str) -> Cow<'_, str> {
    let value = value.trim();
    if value.starts_with('"') {
        let Decoded { text: meaning, lossy } = json::decode(value);
        // Half a surrogate pair is not a character and is shown as written.
        let ambiguous = lossy
            || meaning.trim().is_empty()
            || matches!(meaning.as_ref(), "null" | "true" | "false")
            || (meaning.starts_with(['{', '[', '"']) && RawJson::parse(meaning.as_ref()).is_ok())
            || (!meaning.contains('\n') && meaning.trim() != meaning)
            || meaning.parse::<f64>().is_ok();
        return if ambiguous { json::legible(value) } else { meaning };
    }
    if !value.starts_with(['{', '[']) {
        return value.into();
    }
    let value = json::legible(value);
    let compact = json::compact(&value);
    if compact.len() <= 40 { compact.into() } else { json::pretty(&value).into() }
}

pub(crate) fn listed(keys: &[String]) -> String {
    keys.iter().map(|key| text::line(&key.as_str().into()).plain()).collect::<Vec<_>>().join(", ")
}

pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{}.{} kB", bytes / 1_000, bytes % 1_000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

pub(crate) fn moment(at: Timestamp, zone: &jiff::tz::TimeZone) -> String {
    time::formatted(at, zone, "%Y-%m-%d %H:%M:%S %Z").unwrap_or_else(|| words::OUT_OF_RANGE.to_owned())
}

// Units: a number's meaning next to it. The number itself stays as written.

/// Longest currency code in columns; longer texts are not units.
const WIDEST: usize = 16;

/// Returns the text after a value; `None` if the unit does not apply to it.
pub(crate) fn after(unit: &Unit, value: &str, beside: &[Member<'_>]) -> Option<Shown> {
    match unit {
        Unit::Word(word) => is_number(value).then(|| Shown::ours(word.as_str())),
        Unit::Of(key) => {
            let of = beside.iter().find(|member| member.key.text == key.as_str())?.value;
            let unit = text::part(&json::decode(of).text);
            (of.starts_with('"') && is_number(value) && unit.width() <= WIDEST).then_some(unit)
        }
        Unit::Cents => {
            let decimals = tool::decimals_of_cents(beside) as i32;
            Some(Shown::ours(format!("cents, {}", shifted(value, -decimals)?)))
        }
        Unit::Share => Some(Shown::ours(format!("({} %)", shifted(value, 2)?))),
    }
}

fn is_number(value: &str) -> bool {
    value.starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

/// Moves a decimal's point by `places`, on its digits, to avoid rounding. `None` for other formats, such as
/// `1e3`.
fn shifted(value: &str, places: i32) -> Option<String> {
    let (sign, digits) = value.strip_prefix('-').map_or(("", value), |rest| ("-", rest));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !plain(whole) || !plain(part) || whole.len() + part.len() > 30 {
        return None;
    }
    let count = usize::try_from(places.unsigned_abs()).ok()?;
    let (whole, part) = if places >= 0 {
        let part = format!("{part:0<count$}");
        let (moved, rest) = part.split_at(count);
        (format!("{whole}{moved}"), rest.trim_end_matches('0').to_owned())
    } else {
        let whole = format!("{whole:0>width$}", width = count + 1);
        let (rest, moved) = whole.split_at(whole.len() - count);
        (rest.to_owned(), format!("{moved}{part}"))
    };
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if part.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_point_moves_without_losing_digits() {
        let moved = |value, places| shifted(value, places).unwrap_or_default();

        assert_eq!(moved("1250", -2), "12.50");
        assert_eq!(moved("5", -2), "0.05");
        assert_eq!(moved("-12345", -2), "-123.45");
        assert_eq!(moved("0.82", 2), "82");
        assert_eq!(moved("0.825", 2), "82.5");
        assert_eq!(moved("1", 2), "100");
        assert_eq!(moved("1.0", 2), "100");
        for odd in ["1e3", "", "abc", ".5", "99999999999999999999999999999999"] {
            assert_eq!(shifted(odd, 2), None, "{odd}");
        }
    }
}
