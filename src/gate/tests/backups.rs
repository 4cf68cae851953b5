//! Backups of a working gate.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::AtomicU64;

use futures_util::future::join_all;
use sqlx::Connection as _;

use super::support::{BORN, config, ids, plain, start};
use crate::config::GateConfig;
use crate::gate::tests::postgres;
use crate::sqlite::backup;

#[tokio::test]
async fn backup_under_load_is_consistent() {
    if postgres::is_used() {
        // Opens SQLite's file.
        return;
    }
    let (folder, gate) = plain().await;
    let database = folder.path().join("gate.db");
    gate.propose("t", "{}").await;
    let writing = join_all((0..8).map(|_| async {
        for n in 0..40 {
            gate.propose("t", &format!(r#"{{"n":{n}}}"#)).await;
        }
    }));
    let copying = async {
        let mut copies = Vec::new();
        for n in 0..5 {
            let copy = folder.path().join(format!("copy-{n}.db"));
            backup(&database, &copy, &AtomicU64::new(0)).await.unwrap();
            copies.push(copy);
        }
        copies
    };

    let (_, copies) = tokio::join!(writing, copying);
    let all = ids(&gate.list("&limit=1000").await);
    gate.stop().await;

    let mut between = 0;
    for copy in copies {
        assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        let url = format!("sqlite:{}", copy.display());
        let mut connection = sqlx::SqliteConnection::connect(&url).await.unwrap();
        let checked: String =
            sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        assert_eq!(checked, "ok");
        let restored = start(GateConfig { database: copy, ..config(folder.path()) }).await;
        let page = restored.list("&limit=1000").await;
        let had = ids(&page);
        restored.stop().await;
        // Newest first, so the copy holds the end of the list.
        assert_eq!(had, all[all.len() - had.len()..], "the copy has a gap");
        // Both gates have two first tokens.
        assert_eq!(page.at("/revision"), (had.len() as u64 + 2 * BORN).to_string());
        between += usize::from(had.len() > 1 && had.len() < all.len());
    }
    assert_eq!(all.len(), 321);
    assert!(between > 0, "no action was written during a backup");
}
