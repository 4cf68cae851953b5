//! What a served gate takes: the real binary, real HTTP, a database on disk. Prints a table.
//!
//! `cargo bench --bench gate` measures, in a few minutes; with `-- proposals` only what is written. `PLACET_BENCH_PROGRAM` measures
//! another build. `cargo test --bench gate -- --quick` only sees that everything here
//! still works, in seconds and unoptimised; its figures mean nothing.
#![allow(clippy::print_stdout, reason = "it prints a table")]

mod served;

use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use placet::for_tests::Fields;
use sqlx::ConnectOptions as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use tokio::sync::mpsc;

use self::served::{APART, Gate, LIST, fsync, listen, open_stream, per_second, times, until};

/// How much of everything.
struct Scale {
    alone: usize,
    together: usize,
    batches: usize,
    changes: usize,
    streams: [usize; 3],
    briefings: usize,
    queues: [usize; 3],
}

const FULL: Scale = Scale {
    alone: 2_000,
    together: 10_000,
    batches: 100,
    changes: 300,
    streams: [1, 16, 256],
    briefings: 20,
    queues: [1_000, 10_000, 100_000],
};
const QUICK: Scale = Scale {
    alone: 20,
    together: 160,
    batches: 2,
    changes: 10,
    streams: [1, 2, 4],
    briefings: 2,
    queues: [200, 300, 400],
};

fn row(what: &str, figure: &str, more: &str) {
    println!("{what:<46} {figure:>16}  {more}");
}

/// The floor under everything durable.
fn disk(folder: &Path, count: usize) {
    let took = fsync(folder, count);
    let rate = per_second(count, took.iter().sum());
    row("fsync of 4 KiB, for comparison", &format!("{rate:.0}/s"), &times(took));
}

/// The same durability with nothing around it: a table with one index, and so many rows a commit.
async fn bare(folder: &Path, clients: usize, rows: usize) -> f64 {
    let options = SqliteConnectOptions::new()
        .filename(folder.join(format!("bare-{clients}.db")))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full);
    let mut conn = options.connect().await.unwrap();
    sqlx::query("CREATE TABLE t (id TEXT PRIMARY KEY, input TEXT)").execute(&mut conn).await.unwrap();
    let input = "Checkout fails for some customers. ".repeat(10);
    let began = Instant::now();
    for group in 0..rows / clients {
        let values = (0..clients).map(|n| format!("('{group:016x}-{n}', '{input}')")).collect::<Vec<_>>();
        let sql = format!("BEGIN IMMEDIATE; INSERT INTO t VALUES {}; COMMIT", values.join(", "));
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut conn).await.unwrap();
    }
    let rate = per_second(rows, began.elapsed());
    row(&format!("bare SQLite, groups of {clients}"), &format!("{rate:.0}/s"), "");
    rate
}

async fn proposals(gate: &Gate, scale: &Scale) {
    let (took, each) = gate.client.fill(0, scale.alone, 1).await;
    let rate = per_second(scale.alone, took);
    row("durable proposals, 1 client", &format!("{rate:.0}/s"), &times(each));
    let mut from = scale.alone;
    for (clients, goal) in [(4, 2_000.0), (16, 2_000.0), (64, 4_000.0)] {
        let (took, each) = gate.client.fill(from, scale.together, clients).await;
        from += scale.together;
        let rate = per_second(scale.together, took);
        let what = format!("durable proposals, {clients} clients");
        row(&what, &format!("{rate:.0}/s"), &times(each));
        let half = bare(gate.folder.path(), clients, scale.together.div_ceil(clients) * clients).await / 2.0;
        let (goal, met) = (half.min(goal), if rate >= half.min(goal) { "met" } else { "MISSED" });
        row("", "", &format!("goal {goal:.0}/s (half of it at the most) {met}"));
    }
}

/// Nothing runs: the tool waits for its agent.
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

/// From sending a proposal until every stream has its briefing: more than from its commit.
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

/// A change and the answer to "what changed since I looked", at one length of the queue.
async fn changes(gate: &Gate, scale: &Scale, pending: usize) -> f64 {
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
    row(&format!("a change and its reading, {pending} pending"), &format!("{one:.2} ms"), &more);
    one
}

/// Everything that waits, as an inbox that starts asks for it: page after page.
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

async fn measure(scale: &Scale) {
    let gate = Gate::serve();
    disk(gate.folder.path(), scale.alone);
    proposals(&gate, scale).await;
    decisions(&gate, scale).await;
    drop(gate);
    if std::env::args().any(|arg| arg == "proposals") {
        return;
    }

    let gate = Gate::serve();
    let (mut filled, mut costs) = (0, Vec::new());
    for pending in scale.queues {
        let before = gate.client.revision().await as usize;
        gate.client.fill(filled, pending - before, 32).await;
        filled = pending;
        costs.push(changes(&gate, scale, pending).await);
        if pending == scale.queues[0] {
            for streams in scale.streams {
                briefings(&gate, streams, scale, pending).await;
            }
        }
    }
    let growth = costs[costs.len() - 1] / costs[0];
    let goal = if growth < 1.5 { "flat: goal met" } else { "not flat: goal MISSED" };
    row("the last of these to the first", &format!("x {growth:.2}"), goal);
    memory(&gate, "nobody listens");
    for streams in scale.streams {
        briefings(&gate, streams, scale, filled).await;
    }
    memory(&gate, "after the streams");
    for _ in 0..3 {
        listing(&gate, filled).await;
    }
    let (_, took) = gate.client.get("/metrics").await;
    row("a look at /metrics", &format!("{:.1} ms", took.as_secs_f64() * 1_000.0), "");
}

#[tokio::main]
async fn main() {
    rustls::crypto::ring::default_provider().install_default().ok();
    let quick = std::env::args().any(|arg| arg == "--quick");
    measure(if quick { &QUICK } else { &FULL }).await;
}
