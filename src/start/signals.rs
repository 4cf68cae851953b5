//! Signals that end a run, or ask a served gate to read its certificate anew.

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks of a served gate.
pub(super) enum Asked {
    End,
    Reload,
}

/// SIGINT, SIGTERM and SIGHUP, listened to from before the gate says that it is ready.
pub(super) struct EndSignals([Signal; 3]);

impl EndSignals {
    pub(super) fn listen() -> anyhow::Result<Self> {
        let on = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self([on(SignalKind::interrupt())?, on(SignalKind::terminate())?, on(SignalKind::hangup())?]))
    }

    pub(super) async fn next(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }

    /// The next signal, and what it asks of a served gate.
    pub(super) async fn asked(&mut self) -> Asked {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => Asked::End,
            _ = terminate.recv() => Asked::End,
            _ = hangup.recv() => Asked::Reload,
        }
    }

    /// Somebody asks once more. A terminal that goes away does not: it sends SIGHUP several times.
    pub(super) async fn again(&mut self) {
        let [interrupt, terminate, _] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}
