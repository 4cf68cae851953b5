//! Measures the cost of a long history: the same requests and commands with few and with many settled actions.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use placet::for_tests::Fields;
use reqwest::Client as Http;

use crate::Scale;
use crate::lab::{Gates, Store, database, said, server};
use crate::postgres::{How, Server};
use crate::report::{section, table, whole};
use crate::served::{Client, Gate, LIST, listen, open_stream, percentile, placet, until};

/// Settled actions before the first measurement.
const FEW: usize = 1_000;
/// Proposals in a batch. One request decides a batch.
const BATCH: usize = 100;
/// One batch of this many is approved and run by its agent; the others are rejected.
const ONE_RUN_IN: usize = 10;
const FILLING: usize = 32;

type Look = Vec<(String, String)>;

pub(crate) async fn measure(scale: &Scale) -> String {
    let mut text = section("A long history");
    let mut looks = Vec::new();
    let mut filled = Vec::new();
    for on_server in [false, true] {
        let server = on_server.then(server);
        let store = match &server {
            Some(server) => Store::Postgres(database(server, "actions")),
            None => Store::Sqlite,
        };
        let (few, many, how) = on(&store, server.as_ref(), scale).await;
        filled.push(how);
        looks.push(few);
        looks.push(many);
    }
    text.push_str(&format!(
        "{} settled actions in one workspace, on one gate. {FILLING} clients filled each store through its gates, with the requests of agents and people: batches of {BATCH} proposals, one \
         request to decide each; one batch in {ONE_RUN_IN} was approved, claimed and finished, the others rejected. While it was filled \
         PostgreSQL ran without `fsync`; it was restarted with it before anything was measured. {}. Requests one at a time, {} of each.\n\n",
        whole(scale.actions as f64),
        filled.join("; "),
        scale.requests,
    ));
    let rows: Vec<_> = (0..looks[0].len())
        .map(|row| {
            let figures = looks.iter().map(|look| look[row].1.clone());
            std::iter::once(looks[0][row].0.clone()).chain(figures).collect()
        })
        .collect();
    let many = whole(scale.actions as f64);
    let few = whole(FEW as f64);
    let head = ["", "SQLite, ", "SQLite, ", "PostgreSQL, ", "PostgreSQL, "];
    let head: Vec<_> = head
        .iter()
        .zip(["", &few, &many, &few, &many])
        .map(|(store, size)| format!("{store}{size}"))
        .collect();
    table(&mut text, &head.iter().map(String::as_str).collect::<Vec<_>>(), &rows);
    text
}

/// Fills one store, and measures before and after.
async fn on(store: &Store, server: Option<&Server>, scale: &Scale) -> (Look, Look, String) {
    // SQLite allows only one gate.
    let mut served = Gates::serve(store.clone(), 1, 1);
    let next = AtomicUsize::new(0);
    fill(&served.clients[0], &next, FEW).await;
    // `moment` has whole seconds.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let few = look(&mut served, server, (scale, FEW), &now()).await;
    unsafely(server, true);
    let began = Instant::now();
    fill(&served.clients[0], &next, FEW + scale.actions / 10).await;
    let tenth = now();
    tokio::time::sleep(Duration::from_secs(1)).await;
    fill(&served.clients[0], &next, FEW + scale.actions).await;
    let took = began.elapsed();
    eprintln!("{}: filled in {} s", store.name(), took.as_secs());
    let folder = served.gates.remove(0).stop();
    if let Some(server) = server {
        unsafely(Some(server), false);
        server.stop(How::Fast);
        said(&mut Command::new("sync"));
        server.start();
    }
    served.gates.push(Gate::serve_in(folder, &store.arguments()));
    let url = served.gates[0].client.urls[0].clone();
    served.clients[0].urls = vec![url];
    let many = look(&mut served, server, (scale, FEW + scale.actions), &tenth).await;
    let how = format!("{} took {:.1} min for it", store.name(), took.as_secs_f64() / 60.0);
    (few, many, how)
}

fn now() -> String {
    said(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]))
}

/// Switches fsync off or on, to fill quickly.
fn unsafely(server: Option<&Server>, is: bool) {
    let Some(server) = server else { return };
    server.sql(if is { "ALTER SYSTEM SET fsync = off" } else { "ALTER SYSTEM RESET fsync" });
    server.sql("SELECT pg_reload_conf()");
}

/// Fills until there are `count` settled actions.
async fn fill(client: &Client, next: &AtomicUsize, count: usize) {
    let one = async || {
        loop {
            let batch = next.fetch_add(1, Ordering::Relaxed);
            if batch * BATCH >= count {
                next.fetch_sub(1, Ordering::Relaxed);
                return;
            }
            settle_batch(client, batch).await;
        }
    };
    join_all((0..FILLING).map(|_| one())).await;
}

async fn settle_batch(client: &Client, batch: usize) {
    let name = format!("filled-{batch}");
    let mut ids = Vec::with_capacity(BATCH);
    for nth in 0..BATCH {
        ids.push(client.propose(batch * BATCH + nth, &name).await.0);
    }
    let is_run = batch.is_multiple_of(ONE_RUN_IN);
    client.decide_batch(0, &name, &ids, !is_run).await;
    if is_run {
        for id in &ids {
            run(client, id).await;
        }
    }
}

/// Claims and reports like an agent. Returns the time of each request.
async fn run(client: &Client, id: &str) -> (Duration, Duration) {
    let (status, text, claim) =
        client.post(0, &format!("{LIST}/{id}/claim"), &client.agent, String::new()).await;
    assert_eq!(status, 200, "{text}");
    let fence = Fields::of(&text).unwrap().number("fence").unwrap();
    let body = format!(r#"{{"fence":{fence},"result":{{"ok":true}}}}"#);
    let (status, text, finish) = client.post(0, &format!("{LIST}/{id}/result"), &client.agent, body).await;
    assert_eq!(status, 200, "{text}");
    (claim, finish)
}

/// Measures everything at one size. Prunes actions settled before `moment`, so it must come last.
async fn look(
    served: &mut Gates,
    server: Option<&Server>,
    (scale, actions): (&Scale, usize),
    moment: &str,
) -> Look {
    let mut look = Look::new();
    let store = served.store.clone();
    look.push(("on disk".to_owned(), size(served, server)));
    look.push(("gate start until `/readyz` is 200".to_owned(), starts(served, &store).await));
    look.extend(writes(&served.clients[0], scale.requests).await);
    look.extend(reads(&served.clients[0], actions / BATCH / 2, scale.requests).await);
    let memory = served.gates[0].memory().map_or("unknown".to_owned(), |mib| format!("{mib} MiB"));
    look.push(("memory of the gate then".to_owned(), memory));
    look.extend(owner(served, &store, moment));
    for (what, figure) in &look {
        eprintln!("{}: {what}: {figure}", store.name());
    }
    look
}

fn size(served: &Gates, server: Option<&Server>) -> String {
    let bytes: u64 = match server {
        Some(server) => server.sql("SELECT pg_database_size('actions')").parse().unwrap(),
        None => {
            let files = std::fs::read_dir(served.gates[0].folder.path()).unwrap().flatten();
            let ours = files.filter(|file| file.file_name().to_string_lossy().starts_with("gate.db"));
            ours.map(|file| file.metadata().unwrap().len()).sum()
        }
    };
    format!("{} MiB", whole(bytes as f64 / 1_048_576.0))
}

/// Kills and starts the gate five times. Returns the median.
async fn starts(served: &mut Gates, store: &Store) -> String {
    let mut each = Vec::new();
    for _ in 0..5 {
        let folder = served.gates.remove(0).stop();
        let began = Instant::now();
        let gate = Gate::serve_in(folder, &store.arguments());
        let ready = format!("{}/readyz", gate.client.urls[0]);
        let http = Http::builder().no_proxy().build().unwrap();
        while http.get(&ready).send().await.is_ok_and(|answer| answer.status() != 200) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        each.push(began.elapsed());
        served.clients[0].urls = gate.client.urls.clone();
        served.gates.push(gate);
    }
    each.sort_unstable();
    format!("{:.0} ms", percentile(&each, 50))
}

/// Measures one client with one request at a time.
async fn writes(client: &Client, count: usize) -> Look {
    let [mut propose, mut approve, mut claim, mut finish] = [const { Vec::<Duration>::new() }; 4];
    for nth in 0..count {
        let (id, took) = client.propose(nth, &format!("measured-{}", nth / 20)).await;
        propose.push(took);
        approve.push(client.approve(0, &id).await);
        let (claimed, finished) = run(client, &id).await;
        claim.push(claimed);
        finish.push(finished);
    }
    // Pending rows for the list requests.
    for nth in 0..200 {
        client.propose(nth, &format!("waits-{}", nth / 20)).await;
    }
    let of = |what: &str, each| (format!("{what}, p50 / p99"), two(each));
    vec![of("propose", propose), of("approve", approve), of("claim", claim), of("finish", finish)]
}

/// `old` is the number of a batch and of a mission in the middle of the history.
async fn reads(client: &Client, old: usize, count: usize) -> Look {
    let newest = client.get(&format!("{LIST}?view=row&limit=1")).await.0;
    let id = newest.split_once(r#""id":""#).and_then(|(_, rest)| rest.split_once('"')).unwrap().0.to_owned();
    let revision = Fields::of(&newest).unwrap().number("revision").unwrap();
    let middle = format!("{:x}", revision / 4);
    let ask = [
        ("one action", format!("/{id}")),
        ("its timeline", format!("/{id}/events")),
        ("list, what waits: a page of 200 rows", "?view=row&status=pending&limit=200".to_owned()),
        ("list, the newest of everything", "?view=row&limit=200".to_owned()),
        ("list, the newest that ran", "?view=row&status=executed&limit=200".to_owned()),
        ("list, a page in the middle", format!("?view=row&limit=200&cursor={middle}")),
        ("list, one batch of long ago", format!("?view=row&batchId=filled-{old}&limit=200")),
        ("list, one mission of long ago", format!("?view=row&missionId=m-{old}&limit=200")),
        ("list, an agent that has nothing", "?view=row&agent=nobody&limit=200".to_owned()),
        ("changes, the last 100", format!("/changes?since={}", revision - 100)),
        ("counts", "/counts".to_owned()),
    ];
    let mut look = Look::new();
    for (what, path) in ask {
        look.push((format!("{what}, p50 / p99"), times(client, &format!("{LIST}{path}"), count).await));
    }
    for (what, path) in
        [("flows of an hour, with reviewers", "/api/flows?reviewers=true"), ("`/metrics`", "/metrics")]
    {
        look.push((format!("{what}, p50 / p99"), times(client, path, count).await));
    }
    let mut each = Vec::new();
    for _ in 0..count.min(50) {
        let (tell, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let began = Instant::now();
        let listening = tokio::spawn(listen(open_stream(client).await, tell, 0));
        until(&mut heard, 1, 0).await;
        each.push(began.elapsed());
        listening.abort();
    }
    look.push(("a stream until its first briefing, p50 / p99".to_owned(), two(each)));
    look
}

async fn times(client: &Client, path: &str, count: usize) -> String {
    let mut each = Vec::new();
    let began = Instant::now();
    // Slow requests are sent only a few times.
    while each.len() < count && (each.len() < 5 || began.elapsed() < Duration::from_secs(20)) {
        each.push(client.get(path).await.1);
    }
    two(each)
}

fn two(mut each: Vec<Duration>) -> String {
    each.sort_unstable();
    format!("{:.1} / {:.1} ms", percentile(&each, 50), percentile(&each, 99))
}

fn owner(served: &Gates, store: &Store, moment: &str) -> Look {
    let folder = served.gates[0].folder.path();
    let run = |arguments: &[&str]| {
        let began = Instant::now();
        let mut child = placet(folder, &[arguments, store.arguments().as_slice()].concat()).spawn().unwrap();
        let mut most = 0;
        while child.try_wait().unwrap().is_none() {
            most = most.max(peak(child.id()));
            std::thread::park_timeout(Duration::from_millis(20));
        }
        let took = began.elapsed();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        (took.as_secs_f64(), most, said)
    };
    let (verify, memory, said) = run(&["gate", "audit", "verify"]);
    let rows = said.split(": ").nth(1).and_then(|text| text.split(' ').next()).unwrap_or_default().to_owned();
    let rows = whole(rows.parse().unwrap_or_default());
    let (prune, _, pruned) = run(&["gate", "prune", "--before", moment]);
    let count: f64 = pruned.split(' ').nth(1).and_then(|count| count.parse().ok()).unwrap_or_default();
    let (again, ..) = run(&["gate", "audit", "verify"]);
    vec![
        ("`audit verify`".to_owned(), format!("{verify:.1} s, {rows} rows, at most {memory} MiB")),
        (
            "`prune` of the oldest".to_owned(),
            format!("{prune:.1} s, {} actions, {}/s", whole(count), whole(count / prune)),
        ),
        ("`audit verify` after it".to_owned(), format!("{again:.1} s")),
    ]
}

/// Returns the peak memory of a process, in MiB.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or_default() / 1_024
}
