//! Reading the terminal, on a thread of its own.
//!
//! When a terminal vanishes crossterm's reader may spin for ever inside one call (crossterm-rs/crossterm#793). On this thread that
//! hurts nobody: the loop still sees that the terminal is gone, and ends the process. And every key is stamped when it comes, not
//! when somebody has time for it, so that a busy moment does not make typed keys look pasted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event;
use tokio::sync::mpsc;

use crate::domain::Timestamp;

use super::clock::now;
use super::replies::{Heard, Replies};

/// How long the thread may take to notice that it is to stop.
const LOOK: Duration = Duration::from_millis(250);
/// What may be the beginning of a terminal's answer waits so long for its next character.
const REST: Duration = Duration::from_millis(50);
/// Keys that wait for the loop; then the terminal's own buffer holds them.
const WAITING: usize = 256;

/// A running reader. Dropping it stops it, without waiting.
#[derive(Debug)]
pub(super) struct Keys {
    stop: Arc<AtomicBool>,
    /// Disconnects when the thread has ended.
    reading: std::sync::mpsc::Receiver<()>,
    events: mpsc::Receiver<(Timestamp, Heard)>,
}

impl Keys {
    pub(super) fn start() -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, events) = mpsc::channel(WAITING);
        let stopped = Arc::clone(&stop);
        let (held, reading) = std::sync::mpsc::channel();
        std::thread::Builder::new().name("keys".to_owned()).spawn(move || {
            read(&stopped, &sender);
            drop(held);
        })?;
        Ok(Self { stop, reading, events })
    }

    /// The next thing that happened in the terminal, and when; `None` when it cannot be read any more.
    pub(super) async fn next(&mut self) -> Option<(Timestamp, Heard)> {
        self.events.recv().await
    }

    /// The same, where something is there already.
    pub(super) fn waiting(&mut self) -> Option<(Timestamp, Heard)> {
        self.events.try_recv().ok()
    }

    /// Stops, and waits until nobody reads: the terminal is to be somebody else's. Takes up to 250 ms; a reader that spins on a
    /// vanished terminal is given up after 500.
    pub(super) fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        // Ended or given up: either way the terminal changes hands now.
        let _ = self.reading.recv_timeout(LOOK * 2);
    }
}

fn read(stop: &AtomicBool, events: &mpsc::Sender<(Timestamp, Heard)>) {
    let mut replies = Replies::default();
    // When the loop was too busy to take a key: what lies in the terminal's buffer after it came at nobody knows what time, and
    // must not look typed because it was taken slowly.
    let mut crowded = None;
    while !stop.load(Ordering::Relaxed) && !events.is_closed() {
        if crowded.is_some() && !event::poll(Duration::ZERO).unwrap_or(false) {
            crowded = None;
        }
        let came = match event::poll(if replies.is_holding() { REST } else { LOOK }) {
            Ok(true) => event::read(),
            Ok(false) => {
                if pass(events, replies.give_up(), now()).is_none() {
                    return;
                }
                continue;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let Ok(event) = came else { return };
        let at = crowded.unwrap_or_else(now);
        match pass(events, replies.take(event), at) {
            None => return,
            Some(true) => crowded = Some(at),
            Some(false) => {}
        }
    }
}

/// Whether it had to wait; nothing when nobody listens any more.
fn pass(events: &mpsc::Sender<(Timestamp, Heard)>, heard: Vec<Heard>, at: Timestamp) -> Option<bool> {
    let mut waited = false;
    for heard in heard {
        waited |= events.capacity() == 0;
        events.blocking_send((at, heard)).ok()?;
    }
    Some(waited)
}
