//! What goes wrong on the way, the same for every backend.

use std::future::{Future, pending};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::response::Response;

/// What goes wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Answered with this status, in the form in which this backend says such things; nothing is done.
    Status(u16),
    /// Done, and never answered.
    SilentAfter,
    /// Not done, and never answered.
    SilentBefore,
}

/// The faults that are set, and a count of the requests that decide.
#[derive(Debug, Default)]
pub(in crate::sources) struct Faults {
    next: Mutex<Option<Fault>>,
    every: Mutex<Option<Fault>>,
    decisions: AtomicUsize,
}

impl Faults {
    /// What the next request that decides meets.
    pub(in crate::sources) fn next_decision(&self, fault: Fault) {
        *self.next.lock().unwrap() = Some(fault);
    }

    /// What every request meets from now on; `None` ends it.
    pub(in crate::sources) fn every_request(&self, fault: Option<Fault>) {
        *self.every.lock().unwrap() = fault;
    }

    /// So many requests that decide have come, whatever became of them.
    pub(in crate::sources) fn decisions(&self) -> usize {
        self.decisions.load(Ordering::SeqCst)
    }

    /// Answers a request by what it does, unless a fault is in its way. `refusal` is how this backend says a status; for 429
    /// and 503 with `Retry-After: 1`, where the real one sends it.
    pub(in crate::sources) async fn meet(
        &self,
        decides: bool,
        refusal: impl FnOnce(u16) -> Response,
        deed: impl Future<Output = Response>,
    ) -> Response {
        let mut fault = *self.every.lock().unwrap();
        if decides {
            self.decisions.fetch_add(1, Ordering::SeqCst);
            fault = fault.or(self.next.lock().unwrap().take());
        }
        match fault {
            None => deed.await,
            Some(Fault::Status(status)) => refusal(status),
            Some(Fault::SilentBefore) => pending().await,
            Some(Fault::SilentAfter) => {
                drop(deed.await);
                pending().await
            }
        }
    }
}
