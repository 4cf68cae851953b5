//! Moments on the wire.

use crate::domain::Timestamp;
use jiff::tz::TimeZone;
use jiff::{Timestamp as Instant, civil::DateTime};

/// RFC 3339 with milliseconds in UTC: `2026-04-21T18:02:11.420Z`. A moment outside the calendar becomes its nearest end.
pub fn write(at: Timestamp) -> String {
    let instant = Instant::from_millisecond(at.as_millis()).unwrap_or(if at.as_millis() < 0 {
        Instant::MIN
    } else {
        Instant::MAX
    });
    format!("{instant:.3}")
}

/// Reads what the backends of this field write: RFC 3339, `+00:00Z` (both marks at once), a naive `T` or space form
/// taken as UTC, or milliseconds since 1970 as digits.
pub fn read(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let instant = text
        .parse::<Instant>()
        .ok()
        .or_else(|| text.strip_suffix('Z').and_then(|rest| rest.parse().ok()))
        .or_else(|| {
            let civil: DateTime = text.trim_end_matches('Z').replacen(' ', "T", 1).parse().ok()?;
            civil.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
        });
    match instant {
        Some(instant) => Some(Timestamp::from_millis(instant.as_millisecond())),
        None => text.parse().ok().map(Timestamp::from_millis),
    }
}

/// The moment now, from this machine's clock.
pub fn now() -> Timestamp {
    Timestamp::from_millis(Instant::now().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_moment_is_the_same_moment() {
        let want = Timestamp::from_millis(1_776_794_531_420);
        for text in [
            "2026-04-21T18:02:11.420Z",
            "2026-04-21T20:02:11.420+02:00",
            "2026-04-21T18:02:11.420+00:00Z",
            "2026-04-21T18:02:11.420",
            "2026-04-21 18:02:11.420",
            "1776794531420",
        ] {
            assert_eq!(read(text), Some(want), "{text}");
        }
        assert_eq!(write(want), "2026-04-21T18:02:11.420Z");
        assert_eq!(read("yesterday"), None);
    }
}
