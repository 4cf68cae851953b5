//! Lines from standard input, with the time at which each came.

use std::io::{self, BufRead, Read as _};

use tokio::sync::mpsc;

use crate::domain::Timestamp;
use crate::tui::clock::now;

/// Longer lines are refused, bytes.
const LONGEST: u64 = 64 * 1024;

/// What was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tui) enum Typed {
    /// Without its end.
    Line(String),
    /// Nothing of it is used: half a value is another value.
    TooLong,
    /// Nothing more comes.
    End,
}

/// Reads on a thread of its own, which ends with the process: a read from a terminal cannot be called off.
pub(super) fn lines() -> io::Result<mpsc::Receiver<(Timestamp, Typed)>> {
    let (tell, lines) = mpsc::channel(256);
    std::thread::Builder::new().name("lines".to_owned()).spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let typed = next(&mut input).unwrap_or(Typed::End);
            let end = typed == Typed::End;
            if tell.blocking_send((now(), typed)).is_err() || end {
                return;
            }
        }
    })?;
    Ok(lines)
}

fn next(input: &mut impl BufRead) -> io::Result<Typed> {
    let mut line = Vec::new();
    if input.by_ref().take(LONGEST).read_until(b'\n', &mut line)? == 0 {
        return Ok(Typed::End);
    }
    if line.pop_if(|last| *last == b'\n').is_none() && line.len() as u64 == LONGEST {
        input.skip_until(b'\n')?;
        return Ok(Typed::TooLong);
    }
    line.pop_if(|last| *last == b'\r');
    Ok(Typed::Line(String::from_utf8_lossy(&line).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut input: &[u8]) -> Vec<Typed> {
        let mut all = Vec::new();
        while all.last() != Some(&Typed::End) {
            all.push(next(&mut input).unwrap());
        }
        all
    }

    #[test]
    fn lines_end_at_their_ends_and_the_last_one_needs_none() {
        let line = |text: &str| Typed::Line(text.to_owned());

        assert_eq!(all(b"show\r\n\nnext"), [line("show"), line(""), line("next"), Typed::End]);
    }

    #[test]
    fn nothing_of_a_line_that_is_too_long_is_used() {
        let long = "x".repeat(100_000);

        assert_eq!(
            all(format!("{long}\nnext\n").as_bytes()),
            [Typed::TooLong, Typed::Line("next".to_owned()), Typed::End]
        );
    }
}
