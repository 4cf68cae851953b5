//! Test hooks of debug builds; a release build has none. `PLACET_KILL_AT=NAME` kills this process at a named point,
//! `NAME:N` at the Nth pass, `any:N` at the Nth point of any name. `PLACET_CLOCK_AHEAD` shifts a gate's clock (ms).

#[cfg(debug_assertions)]
mod armed {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct Kill {
        name: String,
        /// Passes left; the last one kills.
        left: AtomicU32,
    }

    static KILL: LazyLock<Option<Kill>> = LazyLock::new(|| {
        let wanted = std::env::var("PLACET_KILL_AT").ok()?;
        let (name, nth) = wanted.split_once(':').unwrap_or((&wanted, "1"));
        Some(Kill { name: name.to_owned(), left: AtomicU32::new(nth.parse().unwrap_or(1)) })
    });

    pub(super) static CLOCK_AHEAD: LazyLock<i64> = LazyLock::new(|| {
        std::env::var("PLACET_CLOCK_AHEAD").ok().and_then(|millis| millis.parse().ok()).unwrap_or_default()
    });

    pub(super) fn pass(name: &str) {
        let Some(kill) = &*KILL else { return };
        if kill.name != "any" && kill.name != name {
            return;
        }
        if kill.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            #[cfg(unix)]
            {
                let myself = rustix::process::getpid();
                rustix::process::kill_process(myself, rustix::process::Signal::KILL).ok();
            }
            // SIGKILL arrives when this thread is next scheduled. Nothing may run until then.
            loop {
                std::thread::park();
            }
        }
    }
}

/// Kills this process if `PLACET_KILL_AT` names this point.
#[inline]
pub fn point(name: &str) {
    #[cfg(debug_assertions)]
    armed::pass(name);
    #[cfg(not(debug_assertions))]
    let _ = name;
}

/// Milliseconds by which a test sets this process's clock ahead.
#[inline]
pub fn clock_ahead() -> i64 {
    #[cfg(debug_assertions)]
    return *armed::CLOCK_AHEAD;
    #[cfg(not(debug_assertions))]
    0
}

/// Points in the gate, in the order a decision passes them.
pub const GATE: [&str; 14] = [
    "open.locked",
    "open.migrated",
    "commit.before",
    "commit.begun",
    "row.written",
    "audit.written",
    "commit.ready",
    "commit.done",
    "answer.ready",
    "run.before",
    "run.leased",
    "run.ran",
    "run.kept",
    "sweep.middle",
];

pub const CALLBACK: [&str; 2] = ["callback.taken", "callback.sent"];

pub const INBOX: [&str; 5] =
    ["submit.before", "submit.kept", "submit.answered", "submit.noted", "reconcile.middle"];

/// Points while the terminal is restored.
pub const SCREEN: [&str; 1] = ["teardown.middle"];
