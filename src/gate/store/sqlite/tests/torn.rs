//! G17: a disk that lost the end of the log, or a bit of it. The database then opens as an earlier state, never as one
//! that did not exist.

use std::collections::BTreeMap;
use std::path::Path;

use super::*;
use crate::gate::audit::{self, AuditHead};
use crate::gate::tests::rounds::{Random, rounds};

type Chain = BTreeMap<u64, String>;

/// Returns a database file and its log in the middle of work, and the hashes so far.
async fn in_the_middle() -> (Vec<u8>, Vec<u8>, Chain) {
    let shelf = shelf().await;
    let path = shelf.folder.path().join("gate.db");
    // Keeps all changes in the log, so that the file is as old as possible.
    sqlx::query("PRAGMA wal_autocheckpoint = 0").execute(&shelf.store.database.write).await.unwrap();
    for n in 0..40 {
        shelf.approved(&format!("a{n}")).await;
    }
    let rows = shelf.store.audit("w", 0, 1_000).await.unwrap();
    let chain = rows.into_iter().map(|row| (row.revision, audit::hex(&row.hash))).collect();
    (std::fs::read(&path).unwrap(), std::fs::read(path.with_extension("db-wal")).unwrap(), chain)
}

/// Reopens the rest. Returns its newest revision; `None` if it refuses to open.
async fn reopened(folder: &Path, file: &[u8], log: &[u8], chain: &Chain) -> Option<u64> {
    let path = folder.join("torn.db");
    std::fs::write(&path, file).unwrap();
    std::fs::write(path.with_extension("db-wal"), log).unwrap();
    std::fs::remove_file(path.with_extension("db-shm")).ok();
    let store = SqliteStore::open(&path, context(&Clock::default())).await.ok()?;
    let verified = store.verify(&[]).await.unwrap();
    let head = verified.heads.first().cloned();
    store.close().await;
    assert_eq!(verified.problems, Vec::<String>::new());
    let Some(AuditHead { revision, hash, .. }) = head else { return Some(0) };
    assert_eq!(chain.get(&revision), Some(&hash), "revision {revision} never looked like this");
    Some(revision)
}

#[tokio::test]
async fn g17_torn_log_opens_as_an_earlier_state() {
    let (file, log, chain) = in_the_middle().await;
    let folder = tempfile::tempdir().unwrap();
    let whole = reopened(folder.path(), &file, &log, &chain).await;
    assert_eq!(whole, Some(80));
    let mut random = Random::seeded();
    let mut longest = 0;
    for _ in 0..rounds(30, 2_000) {
        let kept = &log[..random.below(log.len())];
        longest = longest.max(reopened(folder.path(), &file, kept, &chain).await.unwrap());
    }
    for _ in 0..rounds(20, 500) {
        let mut log = log.clone();
        let at = random.below(log.len());
        log[at] ^= 1 << random.below(8);
        reopened(folder.path(), &file, &log, &chain).await.unwrap();
    }
    assert!(longest > 0, "every cut lost everything: nothing was tested");
}
