//! Tests of PostgreSQL only. They do nothing unless `PLACET_TEST_DATABASE` names a server.

use super::*;
use crate::gate::clock::Clock;
use crate::gate::events::Events;
use crate::gate::store::tests::action;
use crate::gate::store::{Actor, Keyed, Reads as _, Refused, Writes as _};

fn test_context() -> Context {
    Context { events: Events::default(), clock: Clock::default(), tools: Arc::new(Tools::none()) }
}

/// Creates a database and runs these statements. The second URL is for a role with only the rights they grant.
async fn database(name: &str, statements: &str) -> Option<(String, String)> {
    let server = std::env::var("PLACET_TEST_DATABASE").ok()?;
    let run = async |url: &str, sql: String| {
        let options: sqlx::postgres::PgConnectOptions = url.parse().unwrap();
        let mut conn = sqlx::ConnectOptions::connect(&options).await.unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut conn).await.unwrap();
    };
    run(&server, format!("CREATE DATABASE {name}")).await;
    run(&server, format!("DROP ROLE IF EXISTS {name}; CREATE ROLE {name} LOGIN")).await;
    let (base, _) = server.rsplit_once('/').unwrap();
    let url = format!("{base}/{name}");
    run(&url, statements.replace("ROLE", name)).await;
    Some((url.clone(), url.replace("placet@", &format!("{name}@"))))
}

#[tokio::test]
async fn owner_of_an_existing_schema_needs_no_more_rights() {
    let unique = format!("owned_{}_{}", std::process::id(), line!());
    let Some((_, url)) = database(&unique, "CREATE SCHEMA placet AUTHORIZATION ROLE").await else {
        return;
    };

    let migrated = migrate(&url).await;

    assert!(migrated.is_ok(), "{migrated:?}");
}

/// As docs/gate.md describes: tables of later versions need no new grants.
#[tokio::test]
async fn default_privileges_suffice_for_a_role_that_owns_nothing() {
    let unique = format!("served_{}_{}", std::process::id(), line!());
    let rights = "ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO ROLE; \
         ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ROLE";
    let Some((owner, url)) = database(&unique, rights).await else { return };
    migrate(&owner).await.unwrap();

    let store = PostgresStore::open(&url, &PostgresConfig::default(), test_context()).await.unwrap();

    store.record(action("a"), 10, None).await.unwrap();
    let agent = Actor { subject: "agent".to_owned(), workspace: "w".to_owned() };
    store.withdraw("a".to_owned(), agent).await.unwrap();
    store.ping().await.unwrap();
    assert_eq!(store.verify(&[]).await.unwrap().problems, Vec::<String>::new());
    store.close().await;
}

#[tokio::test]
async fn missing_tables_are_reported_if_they_may_not_be_created() {
    let unique = format!("empty_{}_{}", std::process::id(), line!());
    let Some((url, _)) = database(&unique, "SELECT 1").await else { return };
    let behind = PostgresConfig { pooler: true, ..PostgresConfig::default() };

    let read = PostgresStore::open_to_read(&url, &PostgresConfig::default(), test_context()).await;
    let pooled = PostgresStore::open(&url, &behind, test_context()).await;

    for refused in [read.unwrap_err(), pooled.unwrap_err()] {
        assert!(matches!(refused, PostgresError::NoGate { .. }), "{refused}");
    }
}

#[tokio::test]
async fn tables_of_another_version_are_refused_in_one_sentence() {
    // Edited, later, unknown, and made by another program.
    for (nth, sql) in [
        "UPDATE placet._sqlx_migrations SET checksum = '\\x00'",
        "INSERT INTO placet._sqlx_migrations SELECT 2, '', now(), true, checksum, 0 FROM placet._sqlx_migrations",
        "DELETE FROM placet._sqlx_migrations",
        "DROP TABLE placet._sqlx_migrations",
    ]
    .into_iter()
    .enumerate()
    {
        let unique = format!("other_{}_{}_{nth}", std::process::id(), line!());
        let Some((url, _)) = database(&unique, "SELECT 1").await else { return };
        migrate(&url).await.unwrap();
        let options: sqlx::postgres::PgConnectOptions = url.parse().unwrap();
        let mut conn = sqlx::ConnectOptions::connect(&options).await.unwrap();
        sqlx::raw_sql(sql).execute(&mut conn).await.unwrap();

        let (usual, behind) = (PostgresConfig::default(), PostgresConfig { pooler: true, ..PostgresConfig::default() });
        for refused in [
            PostgresStore::open(&url, &usual, test_context()).await,
            PostgresStore::open_to_read(&url, &usual, test_context()).await,
            PostgresStore::open(&url, &behind, test_context()).await,
        ] {
            let said = refused.unwrap_err().to_string();
            assert!(said.contains("were not made by this version of placet; delete them"), "{sql}: {said}");
        }
    }
}

/// As after a restart of the server or a firewall. Readers and writers must not notice.
#[tokio::test]
async fn a_connection_that_broke_meanwhile_is_not_the_askers_concern() {
    let unique = format!("broken_{}_{}", std::process::id(), line!());
    let Some((server, _)) = database(&unique, "SELECT 1").await else { return };
    migrate(&server).await.unwrap();
    let store = PostgresStore::open(&server, &PostgresConfig::default(), test_context()).await.unwrap();
    let ask = async || store.revision("w").await;
    for nth in 0..5 {
        store.record(action(&format!("before-{nth}")), 100, None).await.unwrap();
        let (first, second, third) = tokio::join!(ask(), ask(), ask());
        assert!(first.is_ok() && second.is_ok() && third.is_ok());
        let (end, me) =
            ("pg_terminate_backend(pid)", "application_name = 'placet gate' AND pid <> pg_backend_pid()");
        let end =
            format!("SELECT count({end}) FROM pg_stat_activity WHERE {me} AND datname = current_database()");
        let options: sqlx::postgres::PgConnectOptions = server.parse().unwrap();
        let mut other = sqlx::ConnectOptions::connect(&options).await.unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(end)).execute(&mut other).await.unwrap();

        let recorded = store.record(action(&format!("after-{nth}")), 100, None).await;
        let paused = store.pause("w".to_owned(), true, None).await;
        let resumed = store.pause("w".to_owned(), false, None).await;

        assert!(recorded.is_ok() && paused.is_ok() && resumed.is_ok(), "{recorded:?} {paused:?} {resumed:?}");
    }
    assert_eq!(store.revision("w").await.unwrap(), 20);
    assert_eq!(store.verify(&[]).await.unwrap().problems, Vec::<String>::new());
    store.close().await;
}

#[tokio::test]
async fn gates_taking_turns_see_each_others_writes() {
    let unique = format!("turns_{}_{}", std::process::id(), line!());
    let Some((url, _)) = database(&unique, "SELECT 1").await else { return };
    migrate(&url).await.unwrap();
    let open = async || PostgresStore::open(&url, &PostgresConfig::default(), test_context()).await.unwrap();
    let (one, other) = (open().await, open().await);
    let by = Actor { subject: "agent".to_owned(), workspace: "w".to_owned() };
    let limit = 2;

    for id in ["a", "b"] {
        one.record(action(id), limit, None).await.unwrap();
    }
    other.withdraw("b".to_owned(), by).await.unwrap();
    // The other gate made room.
    one.record(action("c"), limit, None).await.unwrap();
    for (nth, store) in [&one, &other, &one, &one, &other].into_iter().enumerate() {
        store.record(action(&format!("{nth}")), 10, None).await.unwrap();
    }

    assert_eq!(one.revision("w").await.unwrap(), 9);
    assert_eq!(one.outstanding("w").await.unwrap().pending, 7);
    assert_eq!(one.verify(&[]).await.unwrap().problems, Vec::<String>::new());
    one.close().await;
    other.close().await;
}

/// Also covered over a relay, with the answer of a kept commit lost, in `tests/slow/drills/doubt.rs`.
#[tokio::test]
async fn connection_lost_in_commit_is_an_error_settled_by_key() {
    let unique = format!("commit_{}_{}", std::process::id(), line!());
    let Some((url, _)) = database(&unique, "SELECT 1").await else { return };
    migrate(&url).await.unwrap();
    let run = async |sql: &'static str| {
        let options: sqlx::postgres::PgConnectOptions = url.parse().unwrap();
        let mut conn = sqlx::ConnectOptions::connect(&options).await.unwrap();
        sqlx::raw_sql(sql).execute(&mut conn).await.unwrap();
    };
    let store = PostgresStore::open(&url, &PostgresConfig::default(), test_context()).await.unwrap();
    let key = || Some(Keyed { key: "k".to_owned(), fingerprint: vec![1] });
    // A deferred trigger runs inside COMMIT. The sequence counts the attempted commits.
    run("CREATE SEQUENCE placet.tried; \
         CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         PERFORM nextval('placet.tried'), pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$; \
         CREATE CONSTRAINT TRIGGER lose AFTER INSERT ON placet.audit DEFERRABLE INITIALLY DEFERRED \
         FOR EACH ROW EXECUTE FUNCTION lose()")
    .await;

    let lost = store.record(action("a"), 10, key()).await;

    let tried: i64 = ask!(store, ask, (), |conn, ()| one(conn, "SELECT last_value FROM tried")).unwrap();
    assert!(matches!(lost, Err(StoreError::Database(_))), "{lost:?}");
    assert_eq!(tried, 1, "a commit in doubt is not tried again");
    run("DROP TRIGGER lose ON placet.audit").await;
    let first = store.record(action("b"), 10, key()).await.unwrap();
    let again = store.record(action("c"), 10, key()).await.unwrap();
    assert_eq!((first.id.as_str(), first.again), ("b", false));
    assert_eq!((again.id.as_str(), again.again), ("b", true));
    assert_eq!(store.revision("w").await.unwrap(), 1);
    store.close().await;
}

/// A full disk fails only writes that need room.
#[tokio::test]
async fn gate_is_unready_from_full_disk_until_space_is_free() {
    let unique = format!("full_{}_{}", std::process::id(), line!());
    let Some((url, _)) = database(&unique, "SELECT 1").await else { return };
    migrate(&url).await.unwrap();
    let run = async |sql: &'static str| {
        let options: sqlx::postgres::PgConnectOptions = url.parse().unwrap();
        let mut conn = sqlx::ConnectOptions::connect(&options).await.unwrap();
        sqlx::raw_sql(sql).execute(&mut conn).await.unwrap();
    };
    let open = async || PostgresStore::open(&url, &PostgresConfig::default(), test_context()).await.unwrap();
    let (writes, reads) = (open().await, open().await);
    run("CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END $$; \
         CREATE TRIGGER full_disk BEFORE INSERT ON placet.audit FOR EACH ROW EXECUTE FUNCTION full_disk(); \
         CREATE TRIGGER full_disk BEFORE INSERT ON placet.gates FOR EACH ROW EXECUTE FUNCTION full_disk()")
    .await;
    assert!(writes.ping().await.is_ok() && writes.pause("w".to_owned(), true, None).await.is_err());

    for _ in 0..2 {
        let said = writes.ping().await.unwrap_err().to_string();
        assert!(said.contains("the disk of the database server is full; make room there"), "{said}");
    }

    assert!(reads.ping().await.is_ok(), "it met nothing");
    run("DROP TRIGGER full_disk ON placet.audit; DROP TRIGGER full_disk ON placet.gates").await;
    assert!(writes.ping().await.is_ok());
    let left: i64 = ask!(reads, ask, (), |conn, ()| one(conn, "SELECT count(*) FROM gates")).unwrap();
    assert_eq!(left, 0);
}

/// The command may prompt a person.
#[tokio::test]
async fn password_command_runs_once_even_with_a_listen_url() {
    let unique = format!("asked_{}_{}", std::process::id(), line!());
    let Some((server, _)) = database(&unique, "SELECT 1").await else { return };
    migrate(&server).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let script = format!("echo >> {}/ran; echo password", folder.path().display());
    let command = crate::config::TokenFrom::Command(["sh", "-c", &script].map(str::to_owned).to_vec());
    let listen_url = Some(server.clone());
    let config = PostgresConfig { password: Some(command), listen_url, ..PostgresConfig::default() };

    let store = PostgresStore::open(&server, &config, test_context()).await.unwrap();

    store.close().await;
    assert_eq!(std::fs::read_to_string(folder.path().join("ran")).unwrap(), "\n");
}

#[tokio::test]
async fn a_locked_workspace_takes_one_connection() {
    let unique = format!("locked_{}_{}", std::process::id(), line!());
    let Some((server, _)) = database(&unique, "SELECT 1").await else { return };
    migrate(&server).await.unwrap();
    let config = PostgresConfig { connections: 4, ..PostgresConfig::default() };
    let store = Arc::new(PostgresStore::open(&server, &config, test_context()).await.unwrap());
    let (locked, free) = ("locked-for-a-while", "free-meanwhile");
    store.pause(locked.to_owned(), true, None).await.unwrap();
    let options: sqlx::postgres::PgConnectOptions = server.parse().unwrap();
    let mut foreign = sqlx::ConnectOptions::connect(&options).await.unwrap();
    let mut other = sqlx::ConnectOptions::connect(&options).await.unwrap();
    let lock = format!("BEGIN; SELECT 1 FROM placet.heads WHERE workspace = '{locked}' FOR UPDATE");
    sqlx::raw_sql(sqlx::AssertSqlSafe(lock)).execute(&mut foreign).await.unwrap();
    // Counted in one query, because a waiter that retries changes its connection.
    let blocked = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) \
                   WHERE NOT granted AND locktype IN ('transactionid', 'tuple') AND datname = current_database()";

    let began = Instant::now();
    let writes: Vec<_> = (0..8)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.pause(locked.to_owned(), false, None).await })
        })
        .collect();
    let waits = async |conn: &mut sqlx::PgConnection| -> i64 {
        sqlx::query_scalar(blocked).fetch_one(conn).await.unwrap()
    };
    let until_one_waits = async {
        while waits(&mut other).await < 1 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_mins(1), until_one_waits).await.unwrap();
    assert!(writes.iter().all(|write| !write.is_finished()), "nobody is refused for a lock");
    let mut most = 0;
    for n in 0..20 {
        store.pause(free.to_owned(), n % 2 == 0, None).await.unwrap();
        most = most.max(waits(&mut other).await);
    }
    sqlx::raw_sql("COMMIT").execute(&mut foreign).await.unwrap();
    for write in writes {
        // On a slow machine a write may give up meanwhile.
        assert!(write.await.unwrap().is_ok() || began.elapsed() >= writer::TURN);
    }
    store.pause(locked.to_owned(), false, None).await.unwrap();
    store.close().await;

    assert!(most <= 1, "{most} of 4 connections waited for one workspace");
}

/// A refused job leaves the others unchanged, whether it changed something before or not.
#[tokio::test]
async fn what_waits_for_a_workspace_goes_into_one_transaction() {
    let unique = format!("grouped_{}_{}", std::process::id(), line!());
    let Some((server, _)) = database(&unique, "SELECT 1").await else { return };
    migrate(&server).await.unwrap();
    let open = PostgresStore::open(&server, &PostgresConfig::default(), test_context()).await;
    let store = Arc::new(open.unwrap());
    store.record(action("old"), 100, None).await.unwrap();
    let options: sqlx::postgres::PgConnectOptions = server.parse().unwrap();
    let mut foreign = sqlx::ConnectOptions::connect(&options).await.unwrap();
    let lock = "BEGIN; SELECT 1 FROM placet.heads WHERE workspace = 'w' FOR UPDATE";
    sqlx::raw_sql(lock).execute(&mut foreign).await.unwrap();
    let record = |id: &str, limit| {
        let (store, new) = (Arc::clone(&store), action(id));
        tokio::spawn(async move { store.record(new, limit, None).await })
    };
    let queued = async |how_many| {
        let until = async {
            while store.writer.waiting("w") != Some(how_many) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_mins(1), until).await.unwrap();
    };

    let first = record("first", 100);
    queued(0).await;
    let others: Vec<_> = (0..20).map(|n| record(&format!("a{n}"), 100)).collect();
    let no_room = record("full", 1);
    queued(21).await;
    sqlx::raw_sql("COMMIT").execute(&mut foreign).await.unwrap();

    first.await.unwrap().unwrap();
    for other in others {
        other.await.unwrap().unwrap();
    }
    assert!(matches!(no_room.await.unwrap(), Err(StoreError::Refused(Refused::Full(1)))));
    let transactions = "SELECT count(DISTINCT xmin::text) FROM actions WHERE id LIKE 'a%'";
    let transactions: i64 = ask!(store, ask, transactions, |conn, sql| one(conn, sql)).unwrap();
    assert_eq!(transactions, 1);
    let pending = store.outstanding("w").await.unwrap().pending;
    assert_eq!((pending, store.verify(&[]).await.unwrap().problems), (22, Vec::<String>::new()));
    store.close().await;
}

/// The server of the tests is configured to acknowledge before it flushes.
#[tokio::test]
async fn acknowledged_writes_are_on_disk_whatever_the_server_settings() {
    let unique = format!("synced_{}_{}", std::process::id(), line!());
    let Some((server, _)) = database(&unique, "SELECT 1").await else { return };
    let store = PostgresStore::open(&server, &PostgresConfig::default(), test_context()).await.unwrap();

    let set: String = ask!(store, ask, (), |conn, ()| one(conn, "SHOW synchronous_commit")).unwrap();

    store.close().await;
    assert_eq!(set, "on");
}
