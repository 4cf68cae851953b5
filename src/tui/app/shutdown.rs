//! Ending the inbox, with or without a screen: signals, and tasks that must finish.

use std::time::Duration;

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::tui::app::words;
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Effect, Msg};
use crate::tui::core::router;

use super::effects::Effects;

const FINISH: Duration = Duration::from_secs(5);
#[cfg(target_os = "linux")]
const SIGCONT: i32 = 18;
#[cfg(not(target_os = "linux"))]
const SIGCONT: i32 = 19;

/// The handled signals: termination, continuation, resizing.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
    hangup: Signal,
    go_on: Signal,
    resize: Signal,
    lent: bool,
}

pub(crate) enum Signalled {
    Continue,
    Resized,
    End(LeftBy),
}

impl Signals {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let on = |kind| signal(kind).context(words::NO_SIGNALS);
        Ok(Self {
            terminate: on(SignalKind::terminate())?,
            interrupt: on(SignalKind::interrupt())?,
            quit: on(SignalKind::quit())?,
            hangup: on(SignalKind::hangup())?,
            go_on: on(SignalKind::from_raw(SIGCONT))?,
            resize: on(SignalKind::window_change())?,
            lent: false,
        })
    }

    /// While another program has the terminal, Ctrl-C, Ctrl-\ and Ctrl-Z are meant for it.
    pub(crate) fn lend(&mut self, lent: bool) {
        self.lent = lent;
    }

    pub(crate) async fn next(&mut self) -> Signalled {
        loop {
            return tokio::select! {
                _ = self.terminate.recv() => Signalled::End(LeftBy::Signal),
                _ = self.interrupt.recv() => if self.lent { continue } else { Signalled::End(LeftBy::Signal) },
                _ = self.quit.recv() => if self.lent { continue } else { Signalled::End(LeftBy::Signal) },
                _ = self.hangup.recv() => Signalled::End(LeftBy::Hangup),
                _ = self.resize.recv() => Signalled::Resized,
                _ = self.go_on.recv() => if self.lent { continue } else { Signalled::Continue },
            };
        }
    }
}

/// Waits for tasks that must finish. Returns false if they took too long. Their answers still reach the model, so that
/// they are counted and saved.
pub(crate) async fn wind_up(model: &mut Model, effects: &Effects, msgs: &mut mpsc::Receiver<Msg>) -> bool {
    for effect in router::end(model) {
        effects.perform(effect);
    }
    let mut take_last = |msg: Msg| {
        for effect in router::update(model, msg) {
            if matches!(effect, Effect::Save(_)) {
                effects.perform(effect);
            }
        }
    };
    let answers = async {
        loop {
            let finish = effects.finish();
            tokio::pin!(finish);
            let last = loop {
                tokio::select! {
                    () = &mut finish => break msgs.try_recv().ok(),
                    Some(msg) = msgs.recv() => take_last(msg),
                }
            };
            match last {
                Some(msg) => take_last(msg),
                None => return,
            }
        }
    };
    let finished = tokio::time::timeout(FINISH, answers).await.is_ok();
    effects.end().await;
    finished
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftBy {
    Reviewer,
    /// A signal, or the `shutdown` passed to `run`.
    Signal,
    Hangup,
}
