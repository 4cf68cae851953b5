//! This machine's clock and time zone. The gate corrects the clock (`gate::clock`); the screen keeps it from going back.

use std::sync::atomic::{AtomicBool, Ordering};

use jiff::tz::TimeZone;

use crate::domain::Timestamp;

static IN_UTC: AtomicBool = AtomicBool::new(false);

/// Sets whether this process prints times in UTC.
pub fn use_utc(utc: bool) {
    IN_UTC.store(utc, Ordering::Relaxed);
}

pub fn is_utc() -> bool {
    IN_UTC.load(Ordering::Relaxed)
}

/// Returns the zone to print times in: the system's, or UTC if [`use_utc`] says so.
pub fn zone() -> TimeZone {
    if is_utc() { TimeZone::UTC } else { TimeZone::system() }
}

pub fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}
