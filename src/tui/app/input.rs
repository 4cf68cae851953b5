//! Reads keys, pastes, mouse events and answers of the terminal, on a thread of its own.
//!
//! When a terminal vanishes crossterm's reader may spin for ever inside one call (crossterm-rs/crossterm#793). On this thread that
//! hurts nobody: the loop sees within a minute that the terminal is gone, and ends the process. And every key is stamped when it comes, not
//! when somebody has time for it, so that a busy moment does not make typed keys look pasted.

use std::io::{PipeReader, PipeWriter};
use std::time::Duration;

use crossterm::event;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::sync::mpsc;

use crate::domain::Timestamp;
use crate::tui::chrome::theme::palette::Rgb;

use super::clock::now;

/// So long a reader is waited for that is to stop.
const STOPS: Duration = Duration::from_millis(500);
/// For what is there already. Without any time crossterm looks at nothing, and for less than a millisecond it spins.
const GLANCE: Duration = Duration::from_micros(50);
/// What may be the beginning of a terminal's answer waits so long for its next character. And so long after the last key the thread looks
/// once more: where it lost its turn in a glance, crossterm holds a key that it has read already.
const REST: Duration = Duration::from_millis(50);
/// Keys that wait for the loop; then the terminal's own buffer holds them.
const WAITING: usize = 256;

/// A running reader. Dropping it stops it, without waiting.
#[derive(Debug)]
pub(crate) struct Keys {
    /// Closing it stops the reader, which waits for input and for this.
    stop: PipeWriter,
    /// Disconnects when the thread has ended.
    reading: std::sync::mpsc::Receiver<()>,
    events: mpsc::Receiver<(Timestamp, TerminalInput)>,
}

impl Keys {
    pub(crate) fn start() -> std::io::Result<Self> {
        let (stopped, stop) = std::io::pipe()?;
        let (sender, events) = mpsc::channel(WAITING);
        let (held, reading) = std::sync::mpsc::channel();
        std::thread::Builder::new().name("keys".to_owned()).spawn(move || {
            read(&stopped, &sender);
            drop(held);
        })?;
        Ok(Self { stop, reading, events })
    }

    /// The next thing that happened in the terminal, and when; `None` when it cannot be read any more.
    pub(crate) async fn next(&mut self) -> Option<(Timestamp, TerminalInput)> {
        self.events.recv().await
    }

    /// The same, where something is there already.
    pub(crate) fn waiting(&mut self) -> Option<(Timestamp, TerminalInput)> {
        self.events.try_recv().ok()
    }

    /// Stops, and waits until nobody reads: the terminal is to be somebody else's. A reader that spins on a vanished terminal is
    /// given up after half a second.
    pub(crate) fn stop(self) {
        let Self { stop, reading, events } = self;
        drop((stop, events));
        // Ended or given up: either way the terminal changes hands now.
        let _ = reading.recv_timeout(STOPS);
    }
}

fn read(stop: &PipeReader, events: &mpsc::Sender<(Timestamp, TerminalInput)>) {
    let mut replies = Replies::default();
    // When the loop was too busy to take a key: what lies in the terminal's buffer after it came at nobody knows what time, and
    // must not look typed because it was taken slowly.
    let mut crowded = None;
    let mut rests = false;
    while !events.is_closed() {
        if crowded.is_some() && !event::poll(REST).unwrap_or(false) {
            crowded = None;
        }
        let came = match event::poll(GLANCE) {
            Ok(false) => match wait(stop, (replies.is_holding() || !rests).then_some(REST)) {
                Waited::Input => continue,
                Waited::Nothing => {
                    rests = true;
                    if pass(events, replies.give_up(), now()).is_none() {
                        return;
                    }
                    continue;
                }
                Waited::Over => return,
            },
            Ok(true) => event::read(),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let Ok(event) = came else { return };
        rests = false;
        // A signal says so at once; here it would come with the next key.
        if matches!(event, Event::Resize(..)) {
            continue;
        }
        let at = crowded.unwrap_or_else(now);
        match pass(events, replies.take(event), at) {
            None => return,
            Some(true) => crowded = Some(at),
            Some(false) => {}
        }
    }
}

/// What ended a wait for input.
enum Waited {
    Input,
    Nothing,
    /// The terminal is gone, or the reader is to stop.
    Over,
}

/// Waits for input, without ever waking up for nothing.
fn wait(stop: &PipeReader, limit: Option<Duration>) -> Waited {
    let stdin = std::io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(stop, PollFlags::IN)];
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    match poll(&mut fds, limit.as_ref()) {
        Ok(0) => return Waited::Nothing,
        Ok(_) => {}
        Err(Errno::INTR) => return Waited::Input,
        Err(_) => return Waited::Over,
    }
    let [input, stop] = fds.map(|fd| fd.revents());
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    if input.intersects(gone) || !stop.is_empty() { Waited::Over } else { Waited::Input }
}

/// Whether it had to wait; nothing when nobody listens any more.
fn pass(
    events: &mpsc::Sender<(Timestamp, TerminalInput)>,
    heard: Vec<TerminalInput>,
    at: Timestamp,
) -> Option<bool> {
    let mut waited = false;
    for heard in heard {
        waited |= events.capacity() == 0;
        events.blocking_send((at, heard)).ok()?;
    }
    Some(waited)
}

// Answers of the terminal among the keys.
//
// crossterm takes `ESC ] 11;rgb:1e1e/1e1e/2e2e ESC \` for Alt-] and twenty typed characters, hex letters and all: some of them
// would approve. Such an answer may come late, or unasked for after tmux was attached again (tmux/tmux#5616). So what begins like
// one is held until it ends, and is never typed; what turns out to be keys is let go in order.

/// Longer than any answer to what placet asks.
const LONGEST: usize = 512;

/// What came from the terminal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TerminalInput {
    Event(Event),
    /// The colour behind the text.
    Background(Rgb),
}

/// What was held back so far.
#[derive(Debug, Default)]
pub(crate) struct Replies {
    held: Vec<Event>,
    text: String,
}

impl Replies {
    /// Is something held that may go on?
    pub(crate) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Takes the next event; returns what is to be passed on.
    pub(crate) fn take(&mut self, event: Event) -> Vec<TerminalInput> {
        let Event::Key(key) = &event else {
            let mut heard = self.give_up();
            heard.push(TerminalInput::Event(event));
            return heard;
        };
        let key = *key;
        if !self.is_holding() {
            if begins(key) {
                self.held.push(event);
                return Vec::new();
            }
            return vec![TerminalInput::Event(event)];
        }
        if ends(key) {
            return self.end();
        }
        self.held.push(event);
        match key.code {
            KeyCode::Char(c) if (key.modifiers - KeyModifiers::SHIFT).is_empty() => self.text.push(c),
            _ => return self.give_up(),
        }
        if self.may_be_reply() { Vec::new() } else { self.give_up() }
    }

    /// Nothing more comes. Keys are let go; the torn beginning of an answer is dropped.
    pub(crate) fn give_up(&mut self) -> Vec<TerminalInput> {
        let (held, text) = (std::mem::take(&mut self.held), std::mem::take(&mut self.text));
        if text.contains(';') {
            return Vec::new();
        }
        held.into_iter().map(TerminalInput::Event).collect()
    }

    /// It is complete: understood, or dropped.
    fn end(&mut self) -> Vec<TerminalInput> {
        if !self.text.contains(';') {
            return self.give_up();
        }
        let text = std::mem::take(&mut self.text);
        self.held.clear();
        let background = text.strip_prefix("11;").and_then(Rgb::from_reply);
        background.map(TerminalInput::Background).into_iter().collect()
    }

    /// A number, then a semicolon, then anything.
    fn may_be_reply(&self) -> bool {
        let number = self.text.split(';').next().unwrap_or_default();
        let digits = !number.is_empty() && number.len() <= 4 && number.bytes().all(|b| b.is_ascii_digit());
        digits && self.text.len() <= LONGEST
    }
}

fn is(key: KeyEvent, c: char, modifiers: KeyModifiers) -> bool {
    key.kind == KeyEventKind::Press && key.code == KeyCode::Char(c) && key.modifiers == modifiers
}

/// `ESC ]`
fn begins(key: KeyEvent) -> bool {
    is(key, ']', KeyModifiers::ALT)
}

/// BEL, or `ESC \`.
fn ends(key: KeyEvent) -> bool {
    is(key, 'g', KeyModifiers::CONTROL) || is(key, '\\', KeyModifiers::ALT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(c: char, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(KeyCode::Char(c), modifiers))
    }

    /// As crossterm reads these characters after `ESC ]`.
    fn events(text: &str) -> Vec<Event> {
        let typed = text
            .chars()
            .map(|c| key(c, if c.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE }));
        std::iter::once(key(']', KeyModifiers::ALT)).chain(typed).collect()
    }

    fn heard(events: Vec<Event>) -> Vec<TerminalInput> {
        let mut replies = Replies::default();
        events.into_iter().flat_map(|event| replies.take(event)).collect()
    }

    #[test]
    fn an_answer_is_understood_and_never_typed() {
        for end in [key('g', KeyModifiers::CONTROL), key('\\', KeyModifiers::ALT)] {
            let mut all = events("11;rgb:fAfA/aaaa/eeee");
            all.push(end);
            all.push(key('j', KeyModifiers::NONE));
            assert_eq!(
                heard(all),
                [
                    TerminalInput::Background(Rgb(0xfa, 0xaa, 0xee)),
                    TerminalInput::Event(key('j', KeyModifiers::NONE))
                ]
            );
        }
    }

    #[test]
    fn answers_nobody_asked_for_are_dropped() {
        let mut all = events("10;rgb:aaaa/aaaa/aaaa");
        all.push(key('\\', KeyModifiers::ALT));
        assert_eq!(heard(all), []);
        let mut torn = Replies::default();
        let _ = events("11;rgb:aaaa/aa").into_iter().flat_map(|event| torn.take(event)).count();
        assert_eq!(torn.give_up(), [], "its rest never came");
    }

    #[test]
    fn keys_are_let_go_in_order() {
        let typed = events("x");
        assert_eq!(heard(typed.clone()), typed.into_iter().map(TerminalInput::Event).collect::<Vec<_>>());
        let mut alone = Replies::default();
        assert_eq!(alone.take(key(']', KeyModifiers::ALT)), []);
        assert!(alone.is_holding());
        assert_eq!(alone.give_up(), [TerminalInput::Event(key(']', KeyModifiers::ALT))], "Alt-] and a pause");
        assert_eq!(
            heard(vec![key('a', KeyModifiers::NONE)]),
            [TerminalInput::Event(key('a', KeyModifiers::NONE))]
        );
        assert_eq!(heard(vec![Event::Resize(3, 4)]), [TerminalInput::Event(Event::Resize(3, 4))]);
    }
}
