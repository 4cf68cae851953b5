//! Named points at which a test kills this very process, as a power cut would: `PLACET_KILL_AT=NAME`, `NAME:N` for the n-th time
//! that it is passed, or `any:N` for the n-th point of all. And a gate's clock that is off: `PLACET_CLOCK_AHEAD=MILLISECONDS`.
//!
//! Only a debug build has them; in a release build a point is nothing at all, and a clock is the machine's.

#[cfg(debug_assertions)]
mod armed {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct Kill {
        name: String,
        /// How often it may still be passed.
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
            // The signal comes as soon as this thread is scheduled again; until then nothing more may be done.
            loop {
                std::thread::park();
            }
        }
    }
}

/// Passes the point, unless a test wants this process to die here.
#[inline]
pub fn point(name: &str) {
    #[cfg(debug_assertions)]
    armed::pass(name);
    #[cfg(not(debug_assertions))]
    let _ = name;
}

/// By how many milliseconds a test has this process's clock ahead of the machine's.
#[inline]
pub fn clock_ahead() -> i64 {
    #[cfg(debug_assertions)]
    return *armed::CLOCK_AHEAD;
    #[cfg(not(debug_assertions))]
    0
}

/// Every point, in the order of the way a decision takes. Tests walk them all.
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

/// Where a callback is told.
pub const CALLBACK: [&str; 2] = ["callback.taken", "callback.sent"];

/// The same on the reviewer's side.
pub const INBOX: [&str; 5] =
    ["submit.before", "submit.kept", "submit.answered", "submit.noted", "reconcile.middle"];

/// And while the terminal is given back.
pub const SCREEN: [&str; 1] = ["teardown.middle"];
