//! Points in time without a clock, and formats for ages, spans and times of day.

use std::fmt;
use std::num::NonZero;
use std::time::Duration;

/// Milliseconds since 1970-01-01T00:00:00Z. Callers pass the current time as a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(
    /// Sign bit flipped, which keeps the order. Never zero, so that an `Option` takes no more space: each row has
    /// three.
    NonZero<u64>,
);

impl Timestamp {
    /// `i64::MIN` becomes one millisecond later.
    pub const fn from_millis(millis: i64) -> Self {
        match NonZero::new(millis.cast_unsigned() ^ SIGN) {
            Some(turned) => Self(turned),
            None => Self(NonZero::<u64>::MIN),
        }
    }

    pub const fn as_millis(self) -> i64 {
        (self.0.get() ^ SIGN).cast_signed()
    }

    /// Milliseconds since `earlier`; zero if it is in the future, because clocks differ.
    pub const fn since(self, earlier: Self) -> i64 {
        let gap = self.as_millis().saturating_sub(earlier.as_millis());
        if gap < 0 { 0 } else { gap }
    }

    #[must_use]
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self::from_millis(self.as_millis().saturating_add(millis))
    }
}

const SIGN: u64 = 1 << 63;

impl Default for Timestamp {
    fn default() -> Self {
        Self::from_millis(0)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Timestamp").field(&self.as_millis()).finish()
    }
}

/// Formats milliseconds: `<1 m`, `12 m`, `3 h`, `3 h 12`, `2 d`.
pub fn span(millis: i64) -> String {
    let minutes = millis / 60_000;
    match (minutes / 1_440, minutes / 60, minutes % 60) {
        (0, 0, 0) => "<1 m".to_owned(),
        (0, 0, minutes) => format!("{minutes} m"),
        (0, hours, 0) => format!("{hours} h"),
        (0, hours, minutes) => format!("{hours} h {minutes:02}"),
        (days, ..) => format!("{days} d"),
    }
}

pub fn age(from: Timestamp, now: Timestamp) -> String {
    span(now.since(from))
}

/// Formats milliseconds for a narrow column: `12 s`, `4 m`, `3 h`, `2 d`.
pub fn short(millis: i64) -> String {
    let seconds = millis / 1_000;
    match seconds {
        ..60 => format!("{} s", seconds.max(0)),
        60..3_600 => format!("{} m", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// Formats milliseconds: `20 s` below two minutes, else a [`span`].
pub fn seconds(millis: i64) -> String {
    if millis < 120_000 { format!("{} s", millis / 1_000) } else { span(millis) }
}

/// Formats a limit as in filters and configuration: `1h`, `15m`, `1h30m`.
pub fn limit(time: Duration) -> String {
    let minutes = time.as_secs() / 60;
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{}s", time.as_secs()),
        (0, minutes) => format!("{minutes}m"),
        (hours, 0) => format!("{hours}h"),
        (hours, minutes) => format!("{hours}h{minutes:02}m"),
    }
}

/// Formats a limit in a sentence: `1 h`, `15 m`, `1 h 30`.
pub fn limit_said(time: Duration) -> String {
    let minutes = time.as_secs() / 60;
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{} s", time.as_secs()),
        (0, minutes) => format!("{minutes} m"),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes:02}"),
    }
}

/// Formats milliseconds to be read aloud: `3 h 12 min`.
pub fn spoken(millis: i64) -> String {
    let minutes = millis / 60_000;
    match (minutes / 1_440, minutes / 60 % 24, minutes % 60) {
        (0, 0, 0) => "less than a minute".to_owned(),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (1, hours, _) => format!("1 day {hours} h"),
        (days, hours, _) => format!("{days} days {hours} h"),
    }
}

/// Parses `45s`, `90m`, `12h` or `30d`; `None` for zero.
pub fn time_span(text: &str) -> Option<Duration> {
    text.ends_with(['s', 'm', 'h', 'd']).then(|| counted(text))?.filter(|span| !span.is_zero())
}

/// Parses `90s`, `1H30M` or `2w`.
pub fn time_sum(text: &str) -> Option<Duration> {
    let mut parts = text.split_inclusive(|c: char| !c.is_ascii_digit());
    let first = counted(parts.next()?)?;
    parts.try_fold(first, |sum, part| sum.checked_add(counted(part)?))
}

fn counted(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit.to_ascii_lowercase().as_str() {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        "w" => 7 * 24 * 60 * 60,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(seconds).map(Duration::from_secs)
}

/// Parses `30s`, `500ms` or plain seconds.
pub fn short_span(text: &str) -> Option<Duration> {
    let (digits, unit): (&str, fn(u64) -> Duration) = match text.strip_suffix("ms") {
        Some(digits) => (digits, Duration::from_millis),
        None => (text.strip_suffix('s').unwrap_or(text), Duration::from_secs),
    };
    // At most 19 digits, so that the number fits.
    let plain = (1..=19).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| plain).map(unit)
}

/// Parses `22:00` as minute of the day, up to `24:00`.
pub fn minute_of_day(text: &str) -> Option<u16> {
    let (hours, minutes) = text.trim().split_once(':')?;
    let number = |text: &str| text.parse::<u16>().ok().filter(|_| text.len() == 2 && text.is_ascii());
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let all = hours * 60 + minutes;
    (minutes < 60 && all <= 1_440).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_keep_their_order() {
        let millis = [i64::MIN + 1, -1, 0, 1, i64::MAX];
        let times = millis.map(Timestamp::from_millis);

        assert_eq!(times.map(Timestamp::as_millis), millis);
        assert!(times.is_sorted() && times[2] == Timestamp::default());
        assert_eq!(Timestamp::from_millis(i64::MIN), times[0]);
        assert_eq!(size_of::<Option<Timestamp>>(), 8);
    }

    #[test]
    fn ages_are_short() {
        assert_eq!(
            [0, 59_000, 61_000, 11_520_000, 200_000_000].map(short),
            ["0 s", "59 s", "1 m", "3 h", "2 d"]
        );
    }

    #[test]
    fn a_limit_is_formatted_as_written() {
        assert_eq!(
            [3_600, 900, 5_400, 30].map(|seconds| limit(Duration::from_secs(seconds))),
            ["1h", "15m", "1h30m", "30s"]
        );
    }
}
