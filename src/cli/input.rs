//! Arguments of commands: files, durations and times.

use std::io::{BufRead as _, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;

use super::exit::Usage;
use super::output;
use crate::contract::time;
use crate::domain::Timestamp;
use crate::domain::time::time_span;

pub fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

pub(super) fn read(path: &Path) -> anyhow::Result<String> {
    if path.as_os_str() != "-" {
        return std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
    Ok(text)
}

/// Like [`read`], with a usage error if the file cannot be read.
pub(super) fn given(path: &Path) -> Result<String, Usage> {
    read(path).map_err(|error| Usage(format!("{error:#}")))
}

/// Parses `45s`, `90m`, `12h` or `30d`.
pub(super) fn duration(text: &str) -> Result<Duration, Usage> {
    let wrong = || Usage(format!("{text:?} is not a time; write it like 12h or 30d"));
    time_span(text).ok_or_else(wrong)
}

/// Parses a time ago like `12h` or `30d`, or a timestamp.
pub(super) fn moment(text: &str, now: Timestamp) -> Result<Timestamp, Usage> {
    if let Ok(ago) = duration(text) {
        let millis = i64::try_from(ago.as_millis()).unwrap_or(i64::MAX);
        return Ok(now.plus_millis(millis.saturating_neg()));
    }
    let wrong = || Usage(format!("{text:?} is not a time; write it like 12h, 30d or 2026-11-22T08:00:00Z"));
    time::read(text).ok_or_else(wrong)
}

pub(super) fn agreed(yes: bool) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(Usage("nobody can be asked without a terminal; add --yes to write it".to_owned()).into());
    }
    output::line("Write it? Type y and press Enter.")?;
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer)?;
    let agreed = answer.trim().eq_ignore_ascii_case("y");
    if !agreed {
        output::line("Nothing was written.")?;
    }
    Ok(agreed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_is_a_number_and_a_unit() {
        assert_eq!(duration("12h").unwrap(), Duration::from_hours(12));
        assert_eq!(duration("30d").unwrap(), Duration::from_hours(720));
        for text in
            ["", "12", "h", "0s", "-1h", "1.5h", "99999999999999999999d", "18446744073709551615d", "1é"]
        {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
