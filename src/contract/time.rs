//! Times on the wire.

use crate::domain::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::fmt::temporal::Pieces;
use jiff::tz::TimeZone;
use jiff::{Timestamp as Instant, Zoned};

/// Writes RFC 3339 with milliseconds in UTC: `2026-04-21T18:02:11.420Z`. A time outside the calendar becomes its
/// nearest end.
pub fn write(at: Timestamp) -> String {
    let (day, millis) = (at.as_millis().div_euclid(DAY), at.as_millis().rem_euclid(DAY));
    if (FIRST_DAY..=LAST_DAY).contains(&day) {
        let (year, month, day) = civil(day);
        let (hour, minute, second) = (millis / 3_600_000, millis / 60_000 % 60, millis / 1_000 % 60);
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let fields = [(0..4, year), (5..7, month), (8..10, day), (11..13, hour), (14..16, minute)];
        let fields = fields.into_iter().chain([(17..19, second), (20..23, millis % 1_000)]);
        for (place, mut value) in fields {
            for digit in text.get_mut(place).unwrap_or_default().iter_mut().rev() {
                *digit = b'0' + (value % 10) as u8;
                value /= 10;
            }
        }
        return String::from_utf8_lossy(&text).into_owned();
    }
    let instant = Instant::from_millisecond(at.as_millis()).unwrap_or(if at.as_millis() < 0 {
        Instant::MIN
    } else {
        Instant::MAX
    });
    format!("{instant:.3}")
}

/// Reads the formats that backends write: RFC 3339, `+00:00Z` (both marks), a naive time with `T` or space as UTC, or a
/// number since 1970.
pub fn read(text: &str) -> Option<Timestamp> {
    if let Some(at) = read_ours(text) {
        return Some(at);
    }
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
        None => counted(text).or_else(|| read_far(text)),
    }
}

/// Reads a number since 1970: seconds up to the end of the year 9999, above that milliseconds, microseconds or
/// nanoseconds.
fn counted(text: &str) -> Option<Timestamp> {
    /// Seconds at the end of the year 9999, to which Python rounds its maximum. As milliseconds it would be a day in
    /// 1978, before any of these systems.
    const END: f64 = 253_402_300_800.0;
    /// Maximum of 64-bit nanoseconds.
    const LARGEST: f64 = 9.2e18;
    let number: f64 = text.parse().ok()?;
    let ends = [1e-3, 1.0, 1e3, 1e6].map(|per_milli| (per_milli, (END * 1e3 * per_milli).min(LARGEST)));
    match ends.into_iter().find(|(_, end)| number.abs() <= *end) {
        Some((per_milli, _)) => Some(Timestamp::from_millis((number / per_milli).round() as i64).min(LATEST)),
        None => text.bytes().all(|byte| byte.is_ascii_digit()).then_some(LATEST),
    }
}

/// The latest time in RFC 3339.
pub const LATEST: Timestamp = Timestamp::from_millis((LAST_DAY + 1) * DAY - 1);

/// Reads times beyond the range of [`Instant`], such as the maxima of Python and Java, as at most [`LATEST`].
fn read_far(text: &str) -> Option<Timestamp> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let year = digits.bytes().take_while(u8::is_ascii_digit).count();
    let (year, rest) = digits.split_at_checked(year)?;
    if year.trim_start_matches('0').len() > 4 && rest.starts_with('-') {
        // A leap year, so that February 29 is valid.
        return read(&format!("2000{rest}")).map(|_| LATEST);
    }
    let mut text = text.replacen(' ', "T", 1);
    if text.contains("+00:00Z") {
        text.pop();
    }
    let pieces = Pieces::parse(&text).ok()?;
    let (date, time) = (pieces.date(), pieces.time().unwrap_or_default());
    let days = day_of(date.year().into(), date.month().into(), date.day().into());
    let of_day = time.duration_since(Time::midnight()).as_millis() as i64;
    let offset = pieces.to_numeric_offset().map_or(0, |offset| i64::from(offset.seconds()) * 1_000);
    let at = Timestamp::from_millis(days * DAY + of_day - offset);
    Some(at.min(LATEST))
}

// Lists have a time or two per row. These functions read and write the usual form faster than the calendar library.

/// Milliseconds.
const DAY: i64 = 86_400_000;
/// Days since 1970 of the first day of the year 1; the next constant is the last day of 9999.
const FIRST_DAY: i64 = -719_162;
const LAST_DAY: i64 = 2_932_896;

/// Converts days since 1970 to year, month and day (Gregorian). Years start in March, so the leap day is last.
const fn civil(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (of_month, month) =
        (of_year - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    (era * 400 + year + if month <= 2 { 1 } else { 0 }, month, of_month)
}

/// The inverse of [`civil`].
const fn day_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Reads exactly the form of [`write()`].
fn read_ours(text: &str) -> Option<Timestamp> {
    const FORM: &[u8] = b"0000-00-00T00:00:00.000Z";
    let is_form = |(byte, form): (&u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form };
    if text.len() != FORM.len() || !text.as_bytes().iter().zip(FORM).all(is_form) {
        return None;
    }
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second, millis) = (number(11, 13)?, number(14, 16)?, number(17, 19)?, number(20, 23)?);
    let days = day_of(year, month, day);
    let is_there = year > 0 && civil(days) == (year, month, day) && hour < 24 && minute < 60 && second < 60;
    let at = days * DAY + hour * 3_600_000 + minute * 60_000 + second * 1_000 + millis;
    is_there.then(|| Timestamp::from_millis(at))
}

/// Converts to local time; `None` outside the calendar.
pub fn local(at: Timestamp, zone: &TimeZone) -> Option<Zoned> {
    Instant::from_millisecond(at.as_millis()).ok().map(|at| at.to_zoned(zone.clone()))
}

pub fn formatted(at: Timestamp, zone: &TimeZone, form: &str) -> Option<String> {
    local(at, zone).map(|at| at.strftime(form).to_string())
}

/// Formats for people in local time: `17:08`, `yesterday 17:08` or `2026-11-20 17:08`.
pub fn moment(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (Some(then), Some(now)) = (local(at, zone), local(now, zone)) else { return write(at) };
    let form = match then.date() {
        day if day == now.date() => "%H:%M",
        day if now.date().yesterday().is_ok_and(|yesterday| day == yesterday) => "yesterday %H:%M",
        _ => "%Y-%m-%d %H:%M",
    };
    then.strftime(form).to_string()
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
    fn the_fast_form_agrees_with_the_calendar_library() {
        let mut millis = (FIRST_DAY - 3) * DAY;
        // The step reaches every day of the month and every time of day.
        while millis < (LAST_DAY + 3) * DAY {
            let at = Timestamp::from_millis(millis);
            if let Ok(instant) = Instant::from_millisecond(millis) {
                let text = format!("{instant:.3}");
                assert_eq!(write(at), text);
                assert_eq!(read(&text), Some(at), "{text}");
            }
            millis += 97 * DAY + 40_271_353;
        }
        for text in ["2026-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "2100-02-29", "2000-02-29"] {
            let text = format!("{text}T00:00:00.000Z");
            let calendar = text.parse::<Instant>().ok().map(|it| Timestamp::from_millis(it.as_millisecond()));
            assert_eq!(read_ours(&text), calendar, "{text}");
        }
        for text in ["2026-04-21T24:00:00.000Z", "2026-04-21T18:60:00.000Z", "+026-04-21T18:02:11.420Z"] {
            assert_eq!(read_ours(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_beyond_the_calendar_becomes_its_end() {
        assert_eq!(write(LATEST), "9999-12-31T23:59:59.999Z");
        for text in [
            "9999-12-31T23:59:59.999999",
            "9999-12-31T23:59:59.999999+00:00",
            "9999-12-31T23:59:59.9999999Z",
            "9999-12-31 23:59:59.999999+00:00Z",
            "9999-12-31T23:59:59-12:00",
            "9999-12-31T23:59:59.999999999-05:00[America/New_York]",
            "+275760-09-13T00:00:00.000Z",
            "+999999999-12-31T23:59:59.999999999",
            "10000-02-29T00:00:00Z",
            "99999999999999999999",
        ] {
            assert_eq!(read(text), Some(LATEST), "{text}");
        }
        for (text, same) in [
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000Z"),
            ("9999-12-31T23:59:59", "9999-12-31T23:59:59.000Z"),
            ("9999-12-31 23:59:59+00:00", "9999-12-31T23:59:59.000Z"),
            ("9999-12-31", "9999-12-31T00:00:00.000Z"),
            ("9999-12-31T23:59:59+05:30", "9999-12-31T18:29:59.000Z"),
            ("9999-12-30T22:00:01Z", "9999-12-30T22:00:01.000Z"),
        ] {
            assert_eq!(read(text).map(write).as_deref(), Some(same), "{text}");
        }
    }

    #[test]
    fn every_format_of_a_time_is_read() {
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
        for text in ["yesterday", "", "99999-99-99T00:00:00Z", "99999", "12345-", "+12345-01-99"] {
            assert_eq!(read(text).filter(|_| text != "99999"), None, "{text}");
        }
    }

    #[test]
    fn a_number_is_read_by_its_size() {
        let want = Timestamp::from_millis(1_776_794_531_420);
        for text in
            ["1776794531.42", "1.77679453142e9", "1776794531420", "1776794531420000", "1776794531420000000"]
        {
            assert_eq!(read(text), Some(want), "{text}");
        }
        assert_eq!(read("1776794531"), Some(Timestamp::from_millis(1_776_794_531_000)));
        assert_eq!(read("253402300799").map(write).as_deref(), Some("9999-12-31T23:59:59.000Z"));
        assert_eq!(read("253402300799999").map(write).as_deref(), Some("9999-12-31T23:59:59.999Z"));
        for end in
            ["253402300800", "253402300800.0", "2.534023008e11", "253402300800000", "253402300800000000"]
        {
            assert_eq!(read(end), Some(LATEST), "{end}");
        }
        assert_eq!(read("300000000000000000000"), Some(LATEST));
        assert_eq!(read("-86400"), Some(Timestamp::from_millis(-86_400_000)));
        for text in ["", "infinity", "-inf", "NaN", "1e400", "-300000000000000000000", "0x10", "1_000"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
