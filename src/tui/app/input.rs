//! Reads keys, pastes, mouse events and replies of the terminal on a separate thread.
//!
//! Keys get their time on arrival, so that a busy moment does not make typed keys look pasted.

use std::io::{PipeReader, PipeWriter};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::sync::mpsc;

use crate::domain::Timestamp;
use crate::tui::decide::state::Guard;

use super::clock::now;
use super::decoder::{Decoder, Holds, TerminalInput};

const STOPS: Duration = Duration::from_millis(500);
/// Time after which a lone ESC is a key. A key before it must not stand alone by then.
const KEY: Duration = Duration::from_millis(10);
const _: () = assert!(KEY.as_millis() < Guard::ALONE as u128);
/// Time after its last byte until an unfinished sequence is dropped.
const SEQUENCE: Duration = Duration::from_secs(1);
/// Time after which an unfinished paste is taken as it is.
const PASTE: Duration = Duration::from_secs(10);
const READ: usize = 4_096;
/// Keys waiting for the loop; further ones stay in the terminal's buffer.
const WAITING: usize = 256;

/// A running reader. Dropping it stops it without waiting.
#[derive(Debug)]
pub(crate) struct Keys {
    /// Closing it wakes and stops the reader.
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

    /// Returns the next event and its time; `None` when the terminal can no longer be read.
    pub(crate) async fn next(&mut self) -> Option<(Timestamp, TerminalInput)> {
        self.events.recv().await
    }

    pub(crate) fn waiting(&mut self) -> Option<(Timestamp, TerminalInput)> {
        self.events.try_recv().ok()
    }

    /// Stops the reader and waits for it, to give the terminal to another program. A reader that spins on a vanished
    /// terminal is abandoned after half a second.
    pub(crate) fn stop(self) {
        let Self { stop, reading, events } = self;
        drop((stop, events));
        // The terminal changes hands even if the reader was abandoned.
        let _ = reading.recv_timeout(STOPS);
    }
}

fn read(stop: &PipeReader, events: &mpsc::Sender<(Timestamp, TerminalInput)>) {
    let (stdin, mut decoder, mut bytes) = (std::io::stdin(), Decoder::default(), vec![0; READ]);
    // Set when the loop was too busy to take a key. The time of later keys in the terminal's buffer is then unknown,
    // and they must not look typed just because they were read slowly.
    let mut crowded = None;
    while !events.is_closed() {
        let limit = match decoder.holds() {
            Holds::Key => Some(KEY),
            Holds::Sequence => Some(SEQUENCE),
            Holds::Paste => Some(PASTE),
            Holds::Nothing => crowded.map(|_| KEY),
        };
        let heard = match wait(stop, limit) {
            Waited::Over => return,
            Waited::Nothing => {
                crowded = None;
                decoder.quiet()
            }
            Waited::Input => match rustix::io::read(&stdin, &mut bytes) {
                Ok(0) => return,
                Ok(read) => decoder.take(bytes.get(..read).unwrap_or_default()),
                Err(Errno::INTR | Errno::AGAIN) => continue,
                Err(_) => return,
            },
        };
        let at = crowded.unwrap_or_else(now);
        match pass(events, heard, at) {
            None => return,
            Some(true) => crowded = Some(at),
            Some(false) => {}
        }
    }
}

enum Waited {
    Input,
    Nothing,
    /// The terminal is gone, or the reader is to stop.
    Over,
}

fn wait(stop: &PipeReader, limit: Option<Duration>) -> Waited {
    let stdin = std::io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(stop, PollFlags::IN)];
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    loop {
        match poll(&mut fds, limit.as_ref()) {
            Ok(0) => return Waited::Nothing,
            Ok(_) => break,
            Err(Errno::INTR) => {}
            Err(_) => return Waited::Over,
        }
    }
    let [input, stop] = fds.map(|fd| fd.revents());
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    if input.intersects(gone) || !stop.is_empty() { Waited::Over } else { Waited::Input }
}

/// Passes events on. Returns whether it had to wait; `None` if the receiver is gone.
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
