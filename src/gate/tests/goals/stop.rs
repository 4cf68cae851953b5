//! G35: after `pause` returns nothing new is run, however fast approvals arrive; after `resume` everything is.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use futures_util::future::join_all;
use tokio::sync::Notify;

use crate::config::{GateConfig, ToolConfig};
use crate::gate::store::{Lease, Refused, StoreError};
use crate::gate::tests::rounds::rounds;
use crate::gate::tests::support::{TestGate, config, script, start};
use crate::gate::{Gate, reconcile};

/// They approve as fast as they can: several hundred a second, on a machine with nothing else to do.
const REVIEWERS: usize = 4;

/// What arrives until somebody has seen enough.
#[derive(Default)]
struct Load {
    approved: Mutex<Vec<String>>,
    /// Rung after every approval.
    one_more: Notify,
    enough: AtomicBool,
    began: AtomicUsize,
}

impl Load {
    fn count(&self) -> usize {
        self.approved.lock().unwrap().len()
    }

    /// Waits for so many more approvals.
    async fn goes_on(&self, more: usize) {
        let until = self.count() + more;
        while self.count() < until {
            self.one_more.notified().await;
        }
    }

    async fn arrive(&self, gate: &TestGate) {
        join_all((0..REVIEWERS).map(async |_| {
            while !self.enough.load(Ordering::Relaxed) {
                let id = gate.propose("t", "{}").await;
                assert_eq!(gate.approve(&id, "").await.status, 200, "deciding goes on");
                self.approved.lock().unwrap().push(id);
                self.one_more.notify_one();
            }
        }))
        .await;
    }
}

/// How often something was begun.
async fn dispatched(gate: &TestGate) -> usize {
    let rows = gate.gate.store().audit("w", 0, u32::MAX).await.unwrap();
    rows.iter().filter(|row| row.kind == "dispatched").count()
}

/// Presses the button in the middle of the load, which goes on for as long again.
async fn press(gate: &TestGate, button: &Gate, load: &Load, some: usize) {
    load.goes_on(some).await;
    let pressed = Instant::now();
    assert!(button.pause(Some("w"), Some("me")).await.unwrap());
    println!("paused after {:?}", pressed.elapsed());
    load.began.store(dispatched(gate).await, Ordering::Relaxed);
    load.goes_on(some).await;
    load.enough.store(true, Ordering::Relaxed);
}

async fn stops_under_load(gate: &TestGate, button: &Gate) {
    let pulled = gate.propose("pulled", "{}").await;
    gate.approve(&pulled, "").await;
    let (load, started) = (Load::default(), Instant::now());

    tokio::join!(load.arrive(gate), press(gate, button, &load, rounds(12, 1_000) as usize));
    println!("{} approvals in {:?}", load.count(), started.elapsed());
    reconcile::sweep(&gate.gate).await.unwrap();
    let lease = Lease { by: None, millis: 1_000 };
    let refused = gate.gate.store().dispatch(pulled, lease, None).await.unwrap_err();

    assert_eq!(
        dispatched(gate).await,
        load.began.load(Ordering::Relaxed),
        "something was begun after the pause"
    );
    assert!(matches!(refused, StoreError::Refused(Refused::Paused)), "{refused}");

    assert!(button.resume(Some("w"), Some("me")).await.unwrap());
    // Where the button is pressed elsewhere, the reconciler wakes the dispatcher within 5 seconds; here at once.
    reconcile::sweep(&gate.gate).await.unwrap();
    let approved = load.approved.into_inner().unwrap();
    for id in &approved {
        assert_eq!(gate.until_final(id).await.at("/status"), "executed");
    }
    assert_eq!(dispatched(gate).await, approved.len(), "each was begun once");
}

#[tokio::test]
async fn g35_after_a_pause_nothing_new_is_run_however_fast_approvals_come() {
    let (_folder, gate, _) = gate().await;

    stops_under_load(&gate, &gate.gate.clone()).await;
}

#[tokio::test]
async fn g35_a_pause_by_another_process_holds_at_once_too() {
    let (_folder, gate, settings) = gate().await;
    // As `placet gate pause` does it: the same file, opened once more.
    let button = Gate::open(&settings).await.unwrap();

    stops_under_load(&gate, &button).await;

    button.close().await;
}

async fn gate() -> (tempfile::TempDir, TestGate, GateConfig) {
    let folder = tempfile::tempdir().unwrap();
    let tools = [("t".to_owned(), script("cat")), ("pulled".to_owned(), ToolConfig::default())].into();
    let settings = GateConfig { tools, ..config(folder.path()) };
    (folder, start(settings.clone()).await, settings)
}
