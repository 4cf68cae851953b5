//! Parses times as people type them: `1h`, `17:00`, `tomorrow 9:00`, `mon`.

use std::time::Duration;

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp as Moment};

use crate::domain::Timestamp;
use crate::domain::time::time_sum;

const MOST: Duration = Duration::from_hours(30 * 24);
const MORNING: (i8, i8) = (9, 0);

/// Parses a time after `now`, at most [`MOST`] ahead.
pub(crate) fn read(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let text = text.trim().to_lowercase();
    let at = match time_sum(&text) {
        Some(span) => now.plus_millis(i64::try_from(span.as_millis()).ok()?),
        None => on_the_calendar(&text, now, zone)?,
    };
    let ahead = u128::try_from(at.since(now)).ok()?;
    (ahead > 0 && ahead <= MOST.as_millis()).then_some(at)
}

fn on_the_calendar(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let here = Moment::from_millisecond(now.as_millis()).ok()?.to_zoned(zone.clone());
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let (first, rest) = (first.trim(), rest.trim());
    let at = |date: Date, (hour, minute): (i8, i8)| {
        let then = date.at(hour, minute, 0, 0).to_zoned(zone.clone()).ok()?;
        Some(Timestamp::from_millis(then.timestamp().as_millisecond()))
    };
    let clock = |text: &str| if text.is_empty() { Some(MORNING) } else { time_of_day(text) };
    let in_days = |days: i8| here.date().checked_add(Span::new().days(days)).ok();
    if let Some(time) = time_of_day(first).filter(|_| rest.is_empty()) {
        let today = at(here.date(), time)?;
        return if today > now { Some(today) } else { at(in_days(1)?, time) };
    }
    match first {
        "today" => at(here.date(), time_of_day(rest)?),
        "tomorrow" | "tom" => at(in_days(1)?, clock(rest)?),
        day => {
            let wanted = weekday(day)?;
            // On a Monday, `mon` is a week ahead.
            let ahead = here.date().weekday().until(wanted);
            at(in_days(if ahead == 0 { 7 } else { ahead })?, clock(rest)?)
        }
    }
}

/// Parses `9:00`, `17:30`, or an hour alone: `9`, `17`.
fn time_of_day(text: &str) -> Option<(i8, i8)> {
    let (hour, minute) = text.split_once(':').unwrap_or((text, "00"));
    let number = |text: &str, most: i8| {
        let is_number = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i8>().ok().filter(|number| is_number && *number <= most)
    };
    Some((number(hour, 23)?, number(minute, 59).filter(|_| minute.len() == 2)?))
}

/// Parses a weekday from at least its first three letters.
fn weekday(text: &str) -> Option<Weekday> {
    const DAYS: [(&str, Weekday); 7] = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ];
    let named = |(name, _): &&(&str, Weekday)| text.len() >= 3 && name.starts_with(text);
    DAYS.iter().find(named).map(|(_, day)| *day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_at(text: &str) -> Option<String> {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let here = jiff::civil::date(2026, 4, 22).at(14, 30, 0, 0).to_zoned(zone.clone()).unwrap();
        let now = Timestamp::from_millis(here.timestamp().as_millisecond());
        let at = read(text, now, &zone)?;
        let at = Moment::from_millisecond(at.as_millis()).unwrap().to_zoned(zone);
        Some(at.strftime("%a %-d %H:%M").to_string())
    }

    #[test]
    fn times_are_parsed_as_people_write_them() {
        for (text, at) in [
            ("1h", "Wed 22 15:30"),
            ("90m", "Wed 22 16:00"),
            ("17:00", "Wed 22 17:00"),
            ("17", "Wed 22 17:00"),
            ("9:00", "Thu 23 09:00"),
            ("today 18:15", "Wed 22 18:15"),
            ("tomorrow", "Thu 23 09:00"),
            ("Tomorrow 9:00", "Thu 23 09:00"),
            ("tomorrow  14", "Thu 23 14:00"),
            ("mon", "Mon 27 09:00"),
            ("wed", "Wed 29 09:00"),
            ("friday 14:00", "Fri 24 14:00"),
            ("2w", "Wed 6 14:30"),
        ] {
            assert_eq!(read_at(text).as_deref(), Some(at), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_times() {
        for text in
            ["", "soon", "0m", "today", "today 9:00", "25:00", "9:5", "mo", "31d", "-1h", "mon 9:00 x"]
        {
            assert_eq!(read_at(text), None, "{text}");
        }
    }
}
