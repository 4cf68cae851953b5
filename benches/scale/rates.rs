//! Measures proposals and decisions per second with 1, 4 and 16 workspaces, and PostgreSQL without a gate.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use futures_util::future::join_all;

use crate::Scale;
use crate::lab::{Cpu, Gates, Store, database, said, server};
use crate::postgres::{Server, programs};
use crate::report::{middle, section, table};
use crate::served::{folder, fsync, percentile, times};

/// Clients of gates and of pgbench: at least one per workspace, and fewer than a pool's connections.
const CLIENTS: usize = 16;
const WORKSPACES: [usize; 3] = [1, 4, 16];
/// Proposals in a batch. Small, so that each client has several batches even at low rates.
const BATCH: usize = 10;

/// A row of about the size of a proposal.
const ROW: &str = "INSERT INTO bare (workspace, body) VALUES ('default', repeat('Checkout fails for some customers. ', 30));\n";

/// Results of one kind of request.
#[derive(Default)]
struct Spell {
    rates: Vec<f64>,
    each: Vec<Duration>,
    /// Milliseconds per request.
    cpu: Vec<Cpu>,
}

impl Spell {
    fn add(&mut self, count: usize, took: Duration, each: Vec<Duration>, cpu: Cpu) {
        // The time was too short for a single request.
        if count == 0 {
            return;
        }
        let count = count as f64;
        self.rates.push(count / took.as_secs_f64());
        self.each.extend(each);
        let part = |time: f64| time / count;
        self.cpu.push(Cpu { client: part(cpu.client), gates: part(cpu.gates), server: part(cpu.server) });
    }

    fn rate(&self) -> String {
        if self.rates.is_empty() { "–".to_owned() } else { middle(self.rates.clone()) }
    }

    fn times(&mut self) -> String {
        self.each.sort_unstable();
        if self.each.is_empty() {
            return String::new();
        }
        format!("{:.1} / {:.1}", percentile(&self.each, 50), percentile(&self.each, 99))
    }

    fn cpu(&self) -> String {
        let part = |of: fn(&Cpu) -> f64| self.cpu.iter().map(of).sum::<f64>() / self.cpu.len().max(1) as f64;
        format!(
            "{:.2} + {:.2} + {:.2}",
            part(|cpu| cpu.client),
            part(|cpu| cpu.gates),
            part(|cpu| cpu.server)
        )
    }
}

#[derive(Default)]
struct Rates {
    proposals: Spell,
    decisions: Spell,
    batched: Spell,
}

pub(crate) async fn measure(scale: &Scale) -> String {
    let server = server();
    let mut text = section("Proposals and decisions a second");
    let rounds = scale.rounds;
    text.push_str(&format!(
        "{CLIENTS} clients, each with one request at a time, at the gates in turn; {} s of each, {}. \
         Clients, gates and server share the cores.\n\n",
        scale.spell.as_secs(),
        if rounds == 1 { "once".to_owned() } else { format!("the middle of {rounds} rounds (least–most)") },
    ));
    bare(&server, scale, &mut text);
    let mut rows = Vec::new();
    for (gates, on_server) in [(1, false), (1, true), (2, true)] {
        for workspaces in WORKSPACES {
            let mut rates = Rates::default();
            for _ in 0..rounds {
                let store =
                    if on_server { Store::Postgres(database(&server, "rates")) } else { Store::Sqlite };
                let served = Gates::serve(store, gates, workspaces);
                round(&served, on_server.then_some(&server), scale, &mut rates).await;
            }
            let store = if on_server { "PostgreSQL" } else { "SQLite" };
            let gates = if gates == 1 { "1 gate".to_owned() } else { format!("{gates} gates") };
            rows.push(vec![
                format!("{gates} on {store}"),
                workspaces.to_string(),
                rates.proposals.rate(),
                rates.proposals.times(),
                rates.proposals.cpu(),
                rates.decisions.rate(),
                rates.decisions.times(),
                rates.batched.rate(),
            ]);
            eprintln!("{}", rows[rows.len() - 1].join(" | "));
        }
    }
    let head = [
        "gates",
        "workspaces",
        "proposals/s",
        "p50 / p99, ms",
        "processor time of one: clients + gates + server, ms",
        "decisions/s, one a request",
        "p50 / p99, ms",
        "decisions/s, 10 a request",
    ];
    table(&mut text, &head, &rows);
    text
}

/// Runs the clients for `scale.spell`, or until they have nothing left to do.
async fn round(served: &Gates, server: Option<&Server>, scale: &Scale, rates: &mut Rates) {
    // Opens connections and creates the heads of the workspaces.
    let (_, warm, ..) = propose(served, Duration::from_millis(300), "warm").await;
    drop(warm);
    let before = Cpu::now(&served.gates, server);
    let (took, recorded, each) = propose(served, scale.spell, "b").await;
    let count = recorded.iter().map(Vec::len).sum();
    rates.proposals.add(count, took, each, Cpu::now(&served.gates, server).since(before));

    // Every other batch is decided in one request, the other batches action by action.
    let batches = |of: &[String], odd: usize| -> Vec<(usize, Vec<String>)> {
        let numbered = of.chunks(BATCH).map(<[String]>::to_vec).enumerate();
        numbered.filter(|(nth, ids)| nth % 2 == odd && ids.len() == BATCH).collect()
    };
    let before = Cpu::now(&served.gates, server);
    let began = Instant::now();
    let clients = recorded.iter().enumerate().map(|(nth, ids)| {
        let client = &served.clients[nth % served.clients.len()];
        let alone: Vec<_> = batches(ids, 1).into_iter().flat_map(|(_, ids)| ids).collect();
        async move {
            let mut each = Vec::new();
            for (turn, id) in alone.iter().enumerate() {
                if began.elapsed() > scale.spell {
                    break;
                }
                each.push(client.approve(nth + turn, id).await);
            }
            each
        }
    });
    let each = join_all(clients).await.concat();
    let took = began.elapsed();
    rates.decisions.add(each.len(), took, each, Cpu::now(&served.gates, server).since(before));

    let began = Instant::now();
    let clients = recorded.iter().enumerate().map(|(nth, ids)| {
        let client = &served.clients[nth % served.clients.len()];
        let whole = batches(ids, 0);
        async move {
            let mut decided = 0;
            for (turn, (batch, ids)) in whole.iter().enumerate() {
                if began.elapsed() > scale.spell {
                    break;
                }
                client.decide_batch(nth + turn, &format!("b-{nth}-{batch}"), ids, false).await;
                decided += ids.len();
            }
            decided
        }
    });
    let decided = join_all(clients).await.into_iter().sum();
    rates.batched.add(decided, began.elapsed(), Vec::new(), Cpu::default());
}

/// All clients propose for `spell`. Returns the time it took, the ids of each client, and the time of each request.
async fn propose(
    served: &Gates,
    spell: Duration,
    batch: &str,
) -> (Duration, Vec<Vec<String>>, Vec<Duration>) {
    let began = Instant::now();
    let clients = (0..CLIENTS).map(|nth| {
        let client = &served.clients[nth % served.clients.len()];
        async move {
            let (mut ids, mut each) = (Vec::new(), Vec::new());
            while began.elapsed() < spell {
                let batch = format!("{batch}-{nth}-{}", ids.len() / BATCH);
                let (id, took) = client.propose(nth + ids.len(), &batch).await;
                ids.push(id);
                each.push(took);
            }
            (ids, each)
        }
    });
    let done = join_all(clients).await;
    let took = began.elapsed();
    let (ids, each): (Vec<_>, Vec<_>) = done.into_iter().unzip();
    (took, ids, each.concat())
}

/// Measures the server's own commits: a row, and a row under the lock of a head, which every gate needs.
fn bare(server: &Server, scale: &Scale, text: &mut String) {
    let folder = folder();
    let script = |name: &str, sql: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, sql).unwrap();
        path
    };
    let mut rows = Vec::new();
    let mut add = |what: &str, heads: String, path: &Path| {
        let rates: Vec<_> = (0..scale.rounds).map(|_| pgbench(server, path, scale)).collect();
        let (tps, latency): (Vec<f64>, Vec<f64>) = rates.into_iter().unzip();
        let latency = latency.iter().sum::<f64>() / latency.len() as f64;
        rows.push(vec![what.to_owned(), heads, middle(tps), format!("{latency:.1}")]);
        eprintln!("{}", rows[rows.len() - 1].join(" | "));
    };
    add("one row a commit", "none".to_owned(), &script("row.sql", ROW.to_owned()));
    for workspaces in WORKSPACES {
        let sql = format!(
            "\\set w random(1, {workspaces})\nBEGIN;\nSELECT revision FROM heads WHERE workspace = :w FOR UPDATE;\n{ROW}\
             UPDATE heads SET revision = revision + 1 WHERE workspace = :w;\nCOMMIT;\n"
        );
        let path = script(&format!("head{workspaces}.sql"), sql);
        add("the same under the lock of a head row", format!("{workspaces} heads"), &path);
    }
    text.push_str(&format!(
        "One `fsync` of 4 KiB on this disk: {}. PostgreSQL alone (`pgbench -c {CLIENTS} -j 2 -M prepared`, `synchronous_commit` on, rows of 1 KB):\n\n",
        times(fsync(folder.path(), 1_000)),
    ));
    table(text, &["transaction", "heads", "commits/s", "mean latency, ms"], &rows);
}

/// Returns commits per second and their mean latency in milliseconds.
fn pgbench(server: &Server, script: &Path, scale: &Scale) -> (f64, f64) {
    let sql = "DROP TABLE IF EXISTS bare, heads; CREATE TABLE bare (id bigserial PRIMARY KEY, workspace text NOT NULL, body text NOT NULL); \
               CREATE TABLE heads (workspace int PRIMARY KEY, revision bigint NOT NULL); \
               INSERT INTO heads SELECT n, 0 FROM generate_series(1, 16) AS n";
    server.sql(sql);
    let url = server.url();
    let mut pgbench = Command::new(programs().unwrap().join("pgbench"));
    pgbench.args(["-n", "-M", "prepared", "-j", "2", "-c"]).arg(CLIENTS.to_string());
    pgbench.arg("-T").arg(scale.spell.as_secs().to_string()).arg("-f").arg(script).arg(url);
    let said = said(&mut pgbench);
    let number = |name: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{said}"));
        let number = line.trim_start_matches([' ', '=']).split(' ').next().unwrap();
        number.parse::<f64>().unwrap()
    };
    (number("tps"), number("latency average"))
}
