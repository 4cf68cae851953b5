//! Moments on the wire.

use crate::domain::Timestamp;
use jiff::tz::TimeZone;
use jiff::{Timestamp as Instant, Zoned, civil::DateTime};

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

/// By a clock on the wall; `None` for what is outside the calendar.
pub fn local(at: Timestamp, zone: &TimeZone) -> Option<Zoned> {
    Instant::from_millisecond(at.as_millis()).ok().map(|at| at.to_zoned(zone.clone()))
}

/// The same, written as `form` says (strftime).
pub fn formatted(at: Timestamp, zone: &TimeZone, form: &str) -> Option<String> {
    local(at, zone).map(|at| at.strftime(form).to_string())
}

/// `17:08`, `yesterday 17:08` or `2026-11-20 17:08`: by the clock on the wall.
pub fn moment(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (Some(then), Some(now)) = (local(at, zone), local(now, zone)) else { return write(at) };
    let form = match then.date() {
        day if day == now.date() => "%H:%M",
        day if now.date().yesterday().is_ok_and(|yesterday| day == yesterday) => "yesterday %H:%M",
        _ => "%Y-%m-%d %H:%M",
    };
    then.strftime(form).to_string()
}

/// The moment now, from this machine's clock.
pub fn now() -> Timestamp {
    Timestamp::from_millis(Instant::now().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_local_and_short() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let of = |text: &str| {
            let now = read("2026-11-22T22:30:00Z").unwrap();
            moment(read(text).unwrap(), now, &zone)
        };

        assert_eq!(of("2026-11-22T22:01:00Z"), "00:01");
        assert_eq!(of("2026-11-22T21:59:00Z"), "yesterday 23:59");
        assert_eq!(of("2026-11-20T15:08:00Z"), "2026-11-20 17:08");
    }

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
