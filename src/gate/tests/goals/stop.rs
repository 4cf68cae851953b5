//! G35: after `pause` returns, no new action is started even under load. After `resume` all run.

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

/// Concurrent reviewers, who approve several hundred actions per second on an idle machine.
const REVIEWERS: usize = 4;

#[derive(Default)]
struct Load {
    approved: Mutex<Vec<String>>,
    /// Notified after each approval.
    one_more: Notify,
    enough: AtomicBool,
    began: AtomicUsize,
}

impl Load {
    fn count(&self) -> usize {
        self.approved.lock().unwrap().len()
    }

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
                assert_eq!(gate.approve(&id, "").await.status, 200, "decisions are possible during a pause");
                self.approved.lock().unwrap().push(id);
                self.one_more.notify_one();
            }
        }))
        .await;
    }
}

async fn dispatched(gate: &TestGate) -> usize {
    let rows = gate.gate.store().audit("w", 0, u32::MAX).await.unwrap();
    rows.iter().filter(|row| row.kind == "dispatched").count()
}

/// Pauses in the middle of the load.
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
        "a run was started after the pause"
    );
    assert!(matches!(refused, StoreError::Refused(Refused::Paused)), "{refused}");

    assert!(button.resume(Some("w"), Some("me")).await.unwrap());
    // If another process resumes, the reconciler would wake the dispatcher within 5 seconds.
    reconcile::sweep(&gate.gate).await.unwrap();
    let approved = load.approved.into_inner().unwrap();
    for id in &approved {
        assert_eq!(gate.until_final(id).await.at("/status"), "executed");
    }
    assert_eq!(dispatched(gate).await, approved.len(), "each was started once");
}

#[tokio::test]
async fn g35_pause_under_load_stops_new_runs() {
    let (_folder, gate, _) = gate().await;

    stops_under_load(&gate, &gate.gate.clone()).await;
}

#[tokio::test]
async fn g35_pause_by_another_process_applies_at_once() {
    let (_folder, gate, settings) = gate().await;
    // Opens the same file again, like `placet gate pause`.
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
