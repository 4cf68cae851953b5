//! Reads keys, pastes, mouse events and answers of the terminal, on a thread of its own.
//!
//! Each key gets its time when it comes, not when the loop has time for it, so that a busy moment does not make typed keys look
//! pasted.

use std::io::{PipeReader, PipeWriter};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::sync::mpsc;

use crate::domain::Timestamp;

use super::clock::now;
use super::decoder::{Decoder, Holds, TerminalInput};

/// So long a reader is waited for that is to stop.
const STOPS: Duration = Duration::from_millis(500);
/// A lone ESC is a key after this long.
const KEY: Duration = Duration::from_millis(20);
/// An unfinished sequence is dropped this long after its last byte.
const SEQUENCE: Duration = Duration::from_secs(1);
/// A paste that does not end is taken as far as it came.
const PASTE: Duration = Duration::from_secs(10);
/// Bytes per read.
const READ: usize = 4_096;
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
    let (stdin, mut decoder, mut bytes) = (std::io::stdin(), Decoder::default(), vec![0; READ]);
    // When the loop was too busy to take a key: what lies in the terminal's buffer after it came at nobody knows what time, and
    // must not look typed because it was taken slowly.
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
