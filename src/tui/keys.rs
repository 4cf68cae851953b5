//! Reading the terminal, on a thread of its own.
//!
//! When a terminal vanishes crossterm's reader may spin for ever inside one call (crossterm-rs/crossterm#793). On this thread that
//! hurts nobody: the loop still sees that the terminal is gone, and ends the process. And every key is stamped when it comes, not
//! when somebody has time for it, so that a busy moment does not make typed keys look pasted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event::{self, Event};
use tokio::sync::mpsc;

use crate::domain::Timestamp;

use super::effects::now;

/// How long the thread may take to notice that it is to stop.
const LOOK: Duration = Duration::from_millis(250);
/// Keys that wait for the loop; then the terminal's own buffer holds them.
const WAITING: usize = 256;

/// A running reader. Dropping it stops it, without waiting.
#[derive(Debug)]
pub(super) struct Keys {
    stop: Arc<AtomicBool>,
    /// Disconnects when the thread has ended.
    reading: std::sync::mpsc::Receiver<()>,
    events: mpsc::Receiver<(Timestamp, Event)>,
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
    pub(super) async fn next(&mut self) -> Option<(Timestamp, Event)> {
        self.events.recv().await
    }

    /// Stops, and waits until nobody reads: the terminal is to be somebody else's. Takes up to 250 ms; a reader that spins on a
    /// vanished terminal is given up after 500.
    pub(super) fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        // Ended or given up: either way the terminal changes hands now.
        let _ = self.reading.recv_timeout(LOOK * 2);
    }
}

fn read(stop: &AtomicBool, events: &mpsc::Sender<(Timestamp, Event)>) {
    while !stop.load(Ordering::Relaxed) && !events.is_closed() {
        let came = match event::poll(LOOK) {
            Ok(true) => event::read(),
            Ok(false) => continue,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let Ok(event) = came else { return };
        if events.blocking_send((now(), event)).is_err() {
            return;
        }
    }
}
