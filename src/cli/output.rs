//! Prints to standard output, with foreign text made safe. A closed pipe is not an error.

use std::fmt;
use std::io::{self, IsTerminal as _, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::clock;
use crate::contract::time;
pub(super) use crate::domain::time::short as age;
use crate::domain::{Timestamp, Untrusted};
use crate::inbox::Problem;
use crate::text::{self, People, Shown};

/// Prints a line of text that is placet's own or was made safe. A closed pipe (`| head`) is a normal end.
pub fn line(text: &str) -> io::Result<()> {
    match writeln!(io::stdout().lock(), "{text}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Formats a time for people: local and short, or as in JSON with `--utc`.
pub fn moment(at: Timestamp) -> String {
    if clock::is_utc() { time::write(at) } else { time::moment(at, clock::now(), &clock::zone()) }
}

/// Returns standard output for a protocol, byte for byte.
pub fn pipe() -> tokio::io::Stdout {
    tokio::io::stdout()
}

/// Prints a line for a program that acts on it, so a closed pipe is an error.
pub fn answer(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush())
}

/// Prints text that is placet's own or was made safe, with its line breaks.
pub(super) fn records(text: &str) -> io::Result<()> {
    bytes(text.as_bytes())
}

/// Writes bytes unchanged, for a pipe only.
pub(super) fn bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

#[derive(Serialize)]
pub(super) struct PersonJson<'a> {
    subject: &'a str,
    name: &'a str,
}

impl<'a> PersonJson<'a> {
    /// Returns the people of these subjects that have a name.
    pub(super) fn all(people: &'a People, subjects: impl IntoIterator<Item = &'a Untrusted>) -> Vec<Self> {
        let named = people.named(subjects).into_iter();
        named.map(|(subject, name)| Self { subject: subject.as_raw(), name: name.as_raw() }).collect()
    }
}

pub(super) fn is_looked_at() -> bool {
    io::stdout().is_terminal()
}

/// Returns whether the reader of standard output has closed the pipe, without writing to it.
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

/// Like [`text::count`], for a stored number.
pub(super) fn count(n: u64, of: &str) -> String {
    text::count(usize::try_from(n).unwrap_or(usize::MAX), of)
}

/// Prints a line of JSON, the same on a terminal and in a pipe.
pub fn json(value: &impl Serialize) -> anyhow::Result<()> {
    Ok(records(&json_line(value)?)?)
}

/// Like [`json`], with the version that every command's JSON has first.
pub(super) fn versioned(value: &impl Serialize) -> anyhow::Result<()> {
    json(&Versioned::of(value))
}

/// Version of every command's JSON. Grows when a member changes its meaning or is removed.
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

pub(super) fn json_line(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(text::json(&serde_json::to_string(value)?) + "\n")
}

/// Makes foreign text safe for one line of a table.
pub(super) fn shown(text: &Untrusted) -> String {
    text::line(text).plain()
}

pub(super) fn identifier(text: &Untrusted) -> String {
    text::identifier(text).plain()
}

pub(super) fn name(text: &Untrusted) -> String {
    text::name(text).plain()
}

/// Like [`identifier`], padded or cut to `width` columns.
pub(super) fn identifier_cell(text: &Untrusted, width: usize) -> String {
    padded(&text::identifier(text), width)
}

/// Like [`shown`], padded or cut to `width` columns.
pub(super) fn cell(text: &Untrusted, width: usize) -> String {
    padded(&text::line(text), width)
}

pub(super) fn padded(shown: &Shown, width: usize) -> String {
    let cut = shown.cut(width);
    let pad = width.saturating_sub(cut.width());
    format!("{}{}", cut.plain(), " ".repeat(pad))
}

/// Formats a time for a summary; empty if `form` is wrong.
pub(super) fn formatted(at: Timestamp, zone: &TimeZone, form: &str) -> String {
    time::formatted(at, zone, form).unwrap_or_default()
}

/// Formats a problem in one line, with the other side's message.
pub fn problem(problem: &Problem) -> String {
    let source = problem.source.as_ref().map(|name| format!("{name} ")).unwrap_or_default();
    match &problem.why {
        Some(why) if !why.is_empty() => format!("{source}{}: {}", problem.what, shown(why)),
        _ => format!("{source}{}", problem.what),
    }
}

pub fn complain(text: &str) {
    // A closed standard error cannot be reported anywhere.
    drop(writeln!(io::stderr().lock(), "placet: {text}"));
}

/// A progress line on standard error, shown after a second and only on a terminal. It disappears when the work is
/// done.
#[derive(Debug)]
pub(super) struct Progress {
    line: ProgressBar,
    from: Instant,
}

impl Progress {
    const FIRST: Duration = Duration::from_secs(1);
    const EVERY: Duration = Duration::from_millis(200);

    pub(super) fn start() -> Self {
        Self::of(ProgressBar::no_length(), "{spinner} {msg} …")
    }

    /// Shows the rate, and with a known total a bar and the remaining time.
    fn counted(unit: &str, all: Option<u64>) -> Self {
        match all.filter(|all| *all > 0) {
            Some(all) => Self::of(
                ProgressBar::new(all),
                &format!("{{wide_bar}} {{human_pos}} of {{human_len}} {unit}, {{rate}}, {{eta}} left"),
            ),
            None => {
                Self::of(ProgressBar::no_length(), &format!("{{spinner}} {{human_pos}} {unit}, {{rate}}"))
            }
        }
    }

    fn of(line: ProgressBar, template: &str) -> Self {
        line.set_draw_target(ProgressDrawTarget::hidden());
        // The template is valid; otherwise the default is drawn.
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
            let _ = write!(out, "{:.0} a second", state.per_sec());
        };
        let style = style.with_key("rate", rate);
        line.set_style(style.progress_chars("=> ").tick_chars("|/-\\ "));
        Self { line, from: Instant::now() }
    }

    /// Shows a message, which is only computed when shown.
    pub(super) fn tell(&mut self, what: impl FnOnce() -> String) {
        if self.is_due() {
            self.line.set_message(what());
            self.line.tick();
        }
    }

    fn at(&mut self, done: u64) {
        if self.is_due() {
            self.line.set_position(done);
            self.line.tick();
        }
    }

    fn is_due(&self) -> bool {
        let is_due = self.from.elapsed() >= Self::FIRST;
        if is_due && self.line.is_hidden() && io::stderr().is_terminal() {
            self.line.set_draw_target(ProgressDrawTarget::stderr());
        }
        is_due && !self.line.is_hidden()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}

pub(super) async fn waiting_for<T>(what: impl Fn() -> String, work: impl Future<Output = T>) -> T {
    let mut progress = Progress::start();
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            () = tokio::time::sleep(Progress::EVERY) => progress.tell(&what),
        }
    }
}

/// Runs `work`, which counts its progress in `done`, and shows it. `Err` if Ctrl-C stopped it; the work done until
/// then is kept.
pub(super) async fn counting<T>(
    unit: &str,
    all: Option<u64>,
    done: &AtomicU64,
    work: impl Future<Output = T>,
) -> Result<T, Stopped> {
    let mut progress = Progress::counted(unit, all);
    let mut work = std::pin::pin!(work);
    let mut stop = std::pin::pin!(tokio::signal::ctrl_c());
    loop {
        tokio::select! {
            ended = &mut work => return Ok(ended),
            _ = &mut stop => {
                let done = done.load(Ordering::Relaxed);
                let of = all.map_or_else(String::new, |all| format!(" of {all}"));
                return Err(Stopped(format!("stopped after {done}{of} {unit}")));
            }
            () = tokio::time::sleep(Progress::EVERY) => progress.at(done.load(Ordering::Relaxed)),
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Stopped(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_line_contains_no_control_or_hidden_characters() {
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
