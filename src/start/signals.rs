//! Signals that end a run, or make a served gate reload its certificate.

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};

pub(super) enum Asked {
    End,
    Reload,
}

/// SIGINT, SIGTERM and SIGHUP. Create it before the gate reports that it is ready.
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

    /// Waits for the next signal and returns its request to a served gate.
    pub(super) async fn asked(&mut self) -> Asked {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => Asked::End,
            _ = terminate.recv() => Asked::End,
            _ = hangup.recv() => Asked::Reload,
        }
    }

    /// Waits for another SIGINT or SIGTERM. SIGHUP does not count, because a closing terminal sends it several times.
    pub(super) async fn again(&mut self) {
        let [interrupt, terminate, _] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}
