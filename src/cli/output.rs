//! Printing: to standard output, through the door, and without a word when nobody listens any more.

use std::io::{self, IsTerminal as _, Write};
use std::time::{Duration, Instant};

use crate::domain::Untrusted;
pub(super) use crate::domain::time::short as age;
use crate::inbox::Problem;
use crate::text::{self, Shown};

/// One line of text that is ours or went through the door, on standard output. A closed pipe (`| head`) is a normal end.
pub fn line(text: &str) -> io::Result<()> {
    match writeln!(io::stdout().lock(), "{text}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Text that is ours or went through the door, and has its line breaks.
pub(super) fn records(text: &str) -> io::Result<()> {
    bytes(text.as_bytes())
}

/// Bytes as they are: only for a pipe.
pub(super) fn bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Somebody looks at standard output.
pub(super) fn is_looked_at() -> bool {
    io::stdout().is_terminal()
}

/// Nobody reads standard output any more: a pipe whose other end is closed. Found out without writing to it.
pub(super) fn unread() -> bool {
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let stdout = io::stdout();
        let mut asked = [PollFd::new(&stdout, PollFlags::empty())];
        poll(&mut asked, Some(&Timespec::default())).is_ok_and(|told| told > 0)
            && asked.iter().any(|fd| fd.revents().intersects(PollFlags::ERR | PollFlags::HUP))
    }
    #[cfg(not(unix))]
    false
}

/// One line of JSON, the same on a terminal and in a pipe.
pub fn json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    Ok(records(&json_line(value)?)?)
}

/// The same, with the version in front that every JSON of a command has.
pub(super) fn versioned(value: &impl serde::Serialize) -> anyhow::Result<()> {
    json(&Versioned::of(value))
}

/// Of every JSON that a command prints; grows when a member changes its meaning or goes.
const VERSION: u32 = 1;

#[derive(serde::Serialize)]
pub(super) struct Versioned<T> {
    version: u32,
    #[serde(flatten)]
    value: T,
}

impl<T> Versioned<T> {
    pub(super) const fn of(value: T) -> Self {
        Self { version: VERSION, value }
    }
}

/// The same, to be written elsewhere.
pub(super) fn json_line(value: &impl serde::Serialize) -> anyhow::Result<String> {
    Ok(text::json(&serde_json::to_string(value)?) + "\n")
}

/// Foreign text for one line of a table.
pub(super) fn shown(text: &Untrusted) -> String {
    text::line(text).plain()
}

/// A tool or an id.
pub(super) fn identifier(text: &Untrusted) -> String {
    text::identifier(text).plain()
}

/// Who somebody is.
pub(super) fn name(text: &Untrusted) -> String {
    text::name(text).plain()
}

/// A tool or an id, at most `width` columns.
pub(super) fn identifier_cell(text: &Untrusted, width: usize) -> String {
    padded(&text::identifier(text), width)
}

/// Foreign text, at most `width` columns.
pub(super) fn cell(text: &Untrusted, width: usize) -> String {
    padded(&text::line(text), width)
}

pub(super) fn padded(shown: &Shown, width: usize) -> String {
    let cut = shown.cut(width);
    let pad = width.saturating_sub(cut.width());
    format!("{}{}", cut.plain(), " ".repeat(pad))
}

/// A problem in one line, with what the other side said.
pub fn problem(problem: &Problem) -> String {
    let source = problem.source.as_ref().map(|name| format!("{name} ")).unwrap_or_default();
    match &problem.why {
        Some(why) if !why.is_empty() => format!("{source}{}: {}", problem.what, shown(why)),
        _ => format!("{source}{}", problem.what),
    }
}

/// One line on standard error.
pub fn complain(text: &str) {
    // Standard error is the last place to complain in: when it is gone, there is nobody left to tell.
    drop(writeln!(io::stderr().lock(), "placet: {text}"));
}

/// How far long work is, for somebody who waits: lines on standard error, from the second second on and seldom, and only where
/// it is a terminal.
#[derive(Debug)]
pub(super) struct Progress {
    /// `None`: nobody looks.
    next: Option<Instant>,
}

impl Progress {
    const FIRST: Duration = Duration::from_secs(1);
    const EVERY: Duration = Duration::from_secs(2);

    pub(super) fn start() -> Self {
        Self { next: io::stderr().is_terminal().then(|| Instant::now() + Self::FIRST) }
    }

    /// `what` goes on after our name, and is asked for only when it is told.
    pub(super) fn tell(&mut self, what: impl FnOnce() -> String) {
        let now = Instant::now();
        if self.next.is_some_and(|next| next <= now) {
            complain(&format!("{} …", what()));
            self.next = Some(now + Self::EVERY);
        }
    }
}

/// Waits for `work`, and says every now and then what is waited for, where somebody looks.
pub(super) async fn waiting_for<T>(what: impl Fn() -> String, work: impl Future<Output = T>) -> T {
    let mut progress = Progress::start();
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            () = tokio::time::sleep(Progress::FIRST) => progress.tell(&what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_json_holds_no_character_that_a_terminal_obeys_or_hides() {
        let text = "x\u{9b}31m\u{202e}\u{e0041}";

        let json = json_line(&text).unwrap();

        assert!(json.is_ascii(), "{json:?}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn foreign_text_in_a_table_cannot_drive_the_terminal() {
        assert_eq!(cell(&Untrusted::from("a\u{1b}[2J"), 12), "a⟦ESC⟧[2J   ");
        assert_eq!(cell(&Untrusted::from("世界世界"), 6), "世界… ");
    }
}
