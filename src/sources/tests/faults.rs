//! Network faults, the same for every backend.

use std::future::{Future, pending};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::response::Response;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The backend refuses with this status and does nothing.
    Status(u16),
    /// The backend acts and does not answer.
    SilentAfter,
    /// The backend does not act and does not answer.
    SilentBefore,
}

/// The active faults, and the number of decision requests.
#[derive(Debug, Default)]
pub(in crate::sources) struct Faults {
    next: Mutex<Option<Fault>>,
    every: Mutex<Option<Fault>>,
    decisions: AtomicUsize,
}

impl Faults {
    pub(in crate::sources) fn next_decision(&self, fault: Fault) {
        *self.next.lock().unwrap() = Some(fault);
    }

    /// Sets the fault of all further requests; `None` ends it.
    pub(in crate::sources) fn every_request(&self, fault: Option<Fault>) {
        *self.every.lock().unwrap() = fault;
    }

    pub(in crate::sources) fn decisions(&self) -> usize {
        self.decisions.load(Ordering::SeqCst)
    }

    /// Answers a request, unless a fault applies. `refusal` returns this backend's form of a status, for 429 and 503 with
    /// `Retry-After: 1` if the real one sends it.
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
