//! The local time of the week.

use jiff::tz::TimeZone;

use crate::domain::Timestamp;

/// A minute of the week in local time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wall {
    /// 0 on Mondays.
    pub day: usize,
    /// 0 to 1439.
    pub minute: u16,
}

impl Wall {
    /// Converts to local time. A time outside the calendar becomes Monday 00:00.
    pub fn at(at: Timestamp, zone: &TimeZone) -> Self {
        let Ok(instant) = jiff::Timestamp::from_millisecond(at.as_millis()) else { return Self::default() };
        let civil = zone.to_datetime(instant);
        let day = usize::from(civil.weekday().to_monday_zero_offset().unsigned_abs());
        let minute = i16::from(civil.hour()) * 60 + i16::from(civil.minute());
        Self { day, minute: minute.unsigned_abs() }
    }
}
