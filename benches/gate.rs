//! Measures a served gate on SQLite and on PostgreSQL: the real binary, real HTTP, a database on disk. Prints a table
//! for each, and one for a bare server as the floor.
//!
//! `cargo bench --bench gate` takes some minutes. After `--`: `proposals` measures writes only, `sqlite` or `postgres`
//! only that store. `PLACET_BENCH_PROGRAM` measures another build. Processor time per proposal is comparable on a busy
//! machine, rates are not. `cargo test --bench gate -- --quick` only checks that the bench works; its figures mean
//! nothing. Skips PostgreSQL if it is not installed.
#![allow(clippy::print_stdout, reason = "it prints a table")]

#[path = "served/bare.rs"]
mod bare;
#[path = "scale/lab.rs"]
#[allow(dead_code, clippy::struct_field_names, reason = "the bench of several gates uses the rest")]
mod lab;
#[path = "../tests/slow/support/postgres.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod postgres;
mod served;

use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use placet::for_tests::Fields;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Executor as _, SqliteConnection};
use tokio::sync::mpsc;

use self::lab::{Store, database, server};
use self::postgres::{Server, programs};
use self::served::{APART, CONFIG, Gate, LIST, fsync, listen, open_stream, per_second, times, until};

struct Scale {
    alone: usize,
    together: usize,
    batches: usize,
    changes: usize,
    past: usize,
    streams: [usize; 3],
    briefings: usize,
    queues: [usize; 3],
}

const FULL: Scale = Scale {
    alone: 2_000,
    together: 10_000,
    batches: 100,
    changes: 300,
    past: 100_000,
    streams: [1, 16, 256],
    briefings: 20,
    queues: [1_000, 10_000, 100_000],
};
const QUICK: Scale = Scale {
    alone: 20,
    together: 160,
    batches: 2,
    changes: 10,
    past: 500,
    streams: [1, 2, 4],
    briefings: 2,
    queues: [200, 300, 400],
};

fn row(what: &str, figure: &str, more: &str) {
    println!("{what:<46} {figure:>16}  {more}");
}

fn disk(folder: &Path, count: usize) {
    let took = fsync(folder, count);
    let rate = per_second(count, took.iter().sum());
    row("fsync of 4 KiB, for comparison", &format!("{rate:.0}/s"), &times(took));
}

/// Serves each gate with its own database.
struct Stores {
    /// `None` for SQLite.
    server: Option<Server>,
}

impl Stores {
    fn store(&self, name: &str) -> Store {
        self.server.as_ref().map_or(Store::Sqlite, |server| Store::Postgres(database(server, name)))
    }

    fn serve(&self, name: &str) -> Gate {
        Gate::serve_with(CONFIG, &self.store(name).arguments())
    }

    /// Opens an unused database with the gate's durability.
    async fn bare(&self, folder: &Path, clients: usize) -> Bare {
        match self.store("bare") {
            Store::Postgres(url) => {
                Bare::Postgres(url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap())
            }
            Store::Sqlite => {
                let options = SqliteConnectOptions::new()
                    .filename(folder.join(format!("bare-{clients}.db")))
                    .create_if_missing(true)
                    .journal_mode(SqliteJournalMode::Wal)
                    .synchronous(SqliteSynchronous::Full);
                Bare::Sqlite(options.connect().await.unwrap())
            }
        }
    }
}

enum Bare {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Bare {
    async fn run(&mut self, sql: String) {
        let sql = sqlx::raw_sql(sqlx::AssertSqlSafe(sql));
        match self {
            Self::Sqlite(conn) => conn.execute(sql).await.map(drop).unwrap(),
            Self::Postgres(conn) => conn.execute(sql).await.map(drop).unwrap(),
        }
    }
}

/// Measures the same requests against a bare server.
async fn bare_server(stores: &Stores, scale: &Scale) {
    let url = match stores.store("floor") {
        Store::Postgres(url) => Some(url),
        Store::Sqlite => None,
    };
    let server = bare::start(url.as_deref());
    println!("A bare server beside it");
    propose(&server, 0, scale.alone, 1).await;
    let mut from = scale.alone;
    for clients in [4, 16, 64] {
        propose(&server, from, scale.together, clients).await;
        from += scale.together;
    }
    if asked("proposals") || url.is_some() {
        return;
    }
    let rows = scale.queues[2].max(from);
    server.client.fill(from, rows - from, 64).await;
    for _ in 0..3 {
        assert_eq!(read_apart(&server).await, rows, "a page is missing");
    }
}

/// Reads a list like an inbox, which parses each page while the next is loading.
async fn read_apart(gate: &Gate) -> usize {
    let (began, cpu) = (Instant::now(), gate.cpu());
    let rows = bare::read_all(&gate.client).await;
    let took = began.elapsed().as_secs_f64() * 1_000.0;
    let more = format!("{:.0} ms of the server's processor time", gate.cpu() - cpu);
    row(&format!("a list of {rows} pending, taken apart"), &format!("{took:.0} ms"), &more);
    rows
}

/// Measures bare commits with the gate's durability, `clients` rows each. Returns rows per second.
async fn commits(stores: &Stores, folder: &Path, clients: usize, rows: usize) -> f64 {
    let mut conn = stores.bare(folder, clients).await;
    conn.run("CREATE TABLE t (id TEXT PRIMARY KEY, input TEXT)".to_owned()).await;
    let input = "Checkout fails for some customers. ".repeat(10);
    let began = Instant::now();
    for group in 0..rows / clients {
        let values = (0..clients).map(|n| format!("('{group:016x}-{n}', '{input}')")).collect::<Vec<_>>();
        conn.run(format!("BEGIN; INSERT INTO t VALUES {}; COMMIT", values.join(", "))).await;
    }
    let rate = per_second(rows, began.elapsed());
    row(&format!("bare commits, groups of {clients}"), &format!("{rate:.0}/s"), "");
    rate
}

/// Returns proposals per second.
async fn propose(gate: &Gate, from: usize, count: usize, clients: usize) -> f64 {
    let cpu = gate.cpu();
    let (took, each) = gate.client.fill(from, count, clients).await;
    let cpu = (gate.cpu() - cpu) * 1_000.0 / f64::from(u32::try_from(count).unwrap());
    let rate = per_second(count, took);
    let clients = if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") };
    let more = format!("{}; {cpu:.0} µs of the server's processor time each", times(each));
    row(&format!("durable proposals, {clients}"), &format!("{rate:.0}/s"), &more);
    rate
}

async fn proposals(stores: &Stores, gate: &Gate, scale: &Scale) {
    propose(gate, 0, scale.alone, 1).await;
    let mut from = scale.alone;
    for (clients, goal) in [(4, 2_000.0), (16, 2_000.0), (64, 4_000.0)] {
        let rate = propose(gate, from, scale.together, clients).await;
        from += scale.together;
        let rows = scale.together.div_ceil(clients) * clients;
        let half = commits(stores, gate.folder.path(), clients, rows).await / 2.0;
        let (goal, met) = (half.min(goal), if rate >= half.min(goal) { "met" } else { "MISSED" });
        row("", "", &format!("goal {goal:.0}/s (half of it at the most) {met}"));
    }
}

/// The decided tool waits for its agent, so nothing runs.
async fn decisions(gate: &Gate, scale: &Scale) {
    let mut each = Vec::new();
    for nth in 0..scale.batches {
        let batch = format!("decided-{nth}");
        let ids = join_all((0..100).map(|n| gate.client.propose(n, &batch))).await;
        let ids: Vec<_> = ids.into_iter().map(|(id, _)| id).collect();
        each.push(gate.client.decide_batch(0, &batch, &ids, false).await);
    }
    let rate = per_second(scale.batches * 100, each.iter().sum());
    row("decisions, 100 a request", &format!("{rate:.0}/s"), &format!("a request: {}", times(each)));
}

/// Measures from sending a proposal, not from its commit, until every stream has its briefing.
async fn briefings(gate: &Gate, streams: usize, scale: &Scale, pending: usize) {
    let (tell, mut told) = mpsc::unbounded_channel();
    let mut listening = tokio::task::JoinSet::new();
    for nth in 0..streams {
        listening.spawn(listen(open_stream(&gate.client).await, tell.clone(), nth));
    }
    let mut revision = gate.client.revision().await;
    until(&mut told, streams, revision).await;
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for nth in 0..scale.briefings {
        tokio::time::sleep(APART).await;
        let began = Instant::now();
        revision += 1;
        let (_, came) = tokio::join!(gate.client.propose(nth, "told"), until(&mut told, streams, revision));
        let mut came: Vec<_> = came.into_iter().map(|at| at.duration_since(began)).collect();
        came.sort_unstable();
        first.push(came[0]);
        last.push(came[came.len() - 1]);
    }
    let what = format!("briefing, {streams} streams, {pending} pending");
    row(&what, "", &format!("first: {}; last: {}", times(first), times(last)));
}

/// Measures a change and the request for changes since. Returns milliseconds.
async fn changes(gate: &Gate, scale: &Scale, behind: &str) -> f64 {
    let mut revision = gate.client.revision().await;
    let (mut propose, mut read) = (Vec::new(), Vec::new());
    for nth in 0..scale.changes {
        propose.push(gate.client.propose(nth, "changed").await.1);
        let (feed, took) = gate.client.get(&format!("{LIST}/changes?since={revision}")).await;
        read.push(took);
        revision += 1;
        assert_eq!(Fields::of(&feed).unwrap().number("revision"), Some(revision));
    }
    let all: Duration = propose.iter().chain(&read).sum();
    let one = 1_000.0 / per_second(scale.changes, all);
    let more = format!("propose: {}; read: {}", times(propose), times(read));
    row(&format!("a change and its reading, {behind}"), &format!("{one:.2} ms"), &more);
    one
}

/// Reads all pages of the pending actions, like a starting inbox.
async fn listing(gate: &Gate, pending: usize) {
    let (began, mut cursor, mut pages, mut rows, mut bytes) = (Instant::now(), String::new(), 0, 0, 0);
    loop {
        let (page, _) = gate.client.get(&format!("{LIST}?view=row&status=pending,unknown{cursor}")).await;
        pages += 1;
        rows += page.matches(r#"{"id":"#).count();
        bytes += page.len();
        match Fields::of(&page).unwrap().text("nextCursor") {
            Some(next) => cursor = format!("&cursor={}", next.as_raw()),
            None => break,
        }
    }
    let took = began.elapsed().as_secs_f64() * 1_000.0;
    let more = format!("{rows} rows, {pages} pages, {bytes} bytes");
    row(&format!("a list of {pending} pending"), &format!("{took:.0} ms"), &more);
}

fn memory(gate: &Gate, when: &str) {
    let Some(now) = gate.memory() else { return row("memory", "unknown", "only Linux tells") };
    let goal = if now < 150 { "goal 150 MiB met" } else { "goal 150 MiB MISSED" };
    row(&format!("memory, {when}"), &format!("{now} MiB"), goal);
}

/// Measures changes again with as few pending and many settled actions.
async fn long_past(stores: &Stores, scale: &Scale) {
    let gate = stores.serve("past");
    let fresh = changes(&gate, scale, "nothing settled").await;
    for from in (0..scale.past).step_by(250) {
        let batch = format!("past-{from}");
        let mut ids = Vec::new();
        // A gate accepts at most 128 connections per address.
        for some in (from..from + 250).step_by(50) {
            let proposed = join_all((some..some + 50).map(|nth| gate.client.propose(nth, &batch))).await;
            ids.extend(proposed.into_iter().map(|(id, _)| id));
        }
        gate.client.decide_batch(0, &batch, &ids, true).await;
    }
    let behind = changes(&gate, scale, &format!("{} settled", scale.past)).await;
    flat(behind / fresh);
    briefings(&gate, 1, scale, scale.changes * 2).await;
    listing(&gate, scale.changes * 2).await;
    metrics(&gate).await;
}

fn flat(growth: f64) {
    let goal = if growth < 1.5 { "flat: goal met" } else { "not flat: goal MISSED" };
    row("the last of these to the first", &format!("x {growth:.2}"), goal);
}

async fn metrics(gate: &Gate) {
    let (_, took) = gate.client.get("/metrics").await;
    row("a look at /metrics", &format!("{:.1} ms", took.as_secs_f64() * 1_000.0), "");
}

async fn measure(stores: &Stores, scale: &Scale) {
    let gate = stores.serve("proposals");
    disk(gate.folder.path(), scale.alone);
    proposals(stores, &gate, scale).await;
    decisions(&gate, scale).await;
    drop(gate);
    if asked("proposals") {
        return;
    }

    let gate = stores.serve("queues");
    let (mut filled, mut costs) = (0, Vec::new());
    for pending in scale.queues {
        let before = gate.client.revision().await as usize;
        gate.client.fill(filled, pending - before, 32).await;
        filled = pending;
        costs.push(changes(&gate, scale, &format!("{pending} pending")).await);
        if pending == scale.queues[0] {
            for streams in scale.streams {
                briefings(&gate, streams, scale, pending).await;
            }
        }
    }
    flat(costs[costs.len() - 1] / costs[0]);
    memory(&gate, "nobody listens");
    for streams in scale.streams {
        briefings(&gate, streams, scale, filled).await;
    }
    memory(&gate, "after the streams");
    for _ in 0..3 {
        listing(&gate, filled).await;
        read_apart(&gate).await;
    }
    metrics(&gate).await;
    drop(gate);
    long_past(stores, scale).await;
}

fn asked(word: &str) -> bool {
    std::env::args().any(|arg| arg == word)
}

#[tokio::main]
async fn main() {
    rustls::crypto::ring::default_provider().install_default().ok();
    // The PostgreSQL data must be on a disk, too.
    tempfile::env::override_temp_dir(env!("CARGO_TARGET_TMPDIR").as_ref()).ok();
    if let Some(place) = std::env::args().skip_while(|arg| arg != "--bare").nth(1) {
        return bare::serve(&place).await;
    }
    let scale = if asked("--quick") { &QUICK } else { &FULL };
    if !asked("postgres") {
        println!("On SQLite");
        let stores = Stores { server: None };
        measure(&stores, scale).await;
        bare_server(&stores, scale).await;
    }
    if asked("sqlite") {
        return;
    }
    if programs().is_none() {
        println!("PostgreSQL was left out: its programs are not here (Debian's package postgresql)");
        return;
    }
    println!("\nOn PostgreSQL");
    let stores = Stores { server: Some(server()) };
    measure(&stores, scale).await;
    bare_server(&stores, scale).await;
}
