//! Kills gates and PostgreSQL at random while agents and reviewers work at two gates. Then compares the answers they
//! had with the gates' state at the end.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use reqwest::Client as Http;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Scale;
use crate::history::{Action, End, Finding, Kept, Kind, Row, SETTLED_AS_EXECUTED, SETTLED_AS_FAILED, check};
use crate::lab::{Store, client_of, database, said, server};
use crate::lives::{Asking, Life, PATIENCE, Seen, ledger_of, note_heads, settle_the_rest};
use crate::postgres::{How, Server};
use crate::report::{section, table, whole};
use crate::served::{CONFIG, Client, Gate, LIST, folder, placet};

/// Concurrent lives of proposals.
const LIVES: u64 = 12;
const WORKSPACES: usize = 3;

/// Two gates that are restarted when they are down, as by systemd.
struct Pair {
    store: Store,
    homes: Vec<(TempDir, String)>,
    children: Vec<Option<Child>>,
    /// Gates that must not run now.
    down: Vec<bool>,
}

impl Pair {
    /// Starts gates that should run.
    fn tend(&mut self, seen: &Seen) {
        for nth in 0..self.children.len() {
            if self.down[nth] {
                continue;
            }
            let child = &mut self.children[nth];
            if let Some(running) = child
                && running.try_wait().unwrap().is_some()
            {
                *child = None;
                seen.count("gates that ended by themselves, the database being away at their start");
            }
            if child.is_none() {
                let (home, address) = &self.homes[nth];
                let log = home.path().join("said");
                let log = std::fs::File::options().create(true).append(true).open(log).unwrap();
                let arguments =
                    [&["gate", "serve", "--listen", address], self.store.arguments().as_slice()].concat();
                let mut serve = placet(home.path(), &arguments);
                serve.stdout(log.try_clone().unwrap()).stderr(log);
                *child = Some(serve.spawn().unwrap());
            }
        }
    }

    fn kill(&mut self, nth: usize) {
        self.down[nth] = true;
        if let Some(mut child) = self.children[nth].take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    fn urls(&self) -> Vec<String> {
        self.homes.iter().map(|(_, address)| format!("http://{address}")).collect()
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for nth in 0..self.children.len() {
            self.kill(nth);
        }
    }
}

pub(crate) async fn measure(scale: &Scale) -> String {
    let server = server();
    let store = Store::Postgres(database(&server, "history"));
    let ledger = folder();
    let ledger_file = ledger.path().join("ledger");
    let (mut pair, clients) = pair(&store, &ledger_file);
    let seen = Arc::new(Seen::default());
    seen.random.store(scale.seed.wrapping_mul(0x1234_5678_9abc_def1), Ordering::Relaxed);
    let heads = ledger.path().join("heads");

    let until = Instant::now() + scale.killing;
    let lives: Vec<_> = (0..LIVES)
        .map(|_| {
            let (seen, clients, ledger) = (Arc::clone(&seen), clients.clone(), ledger_file.clone());
            tokio::spawn(async move {
                while Instant::now() < until {
                    Life::begin(&seen, &clients, &ledger).await;
                }
            })
        })
        .collect();
    let noting = tokio::spawn(note_heads(Arc::clone(&seen), clients.clone(), heads.clone(), until));
    kill_at_random(&mut pair, &server, &seen, until).await;
    let away = come_back(&mut pair, &seen).await;
    for life in lives {
        life.await.unwrap();
    }
    noting.await.unwrap();
    settle_the_rest(&seen, &clients, &ledger_file).await;

    let end = End { away, ..end(&seen, &store, &pair, &clients, (&ledger_file, &heads)).await };
    let told = seen.told.lock().unwrap().clone();
    let findings = check(&told, &end);
    report(scale, &seen, &end, &findings)
}

/// Starts two gates, and makes a client of both for each workspace.
fn pair(store: &Store, ledger: &Path) -> (Pair, Vec<Client>) {
    // The command appends one line per run to the ledger, in one write.
    let config = format!(
        "{CONFIG}\n[gate.tools.ledger]\nexecutor = \"command\"\ntimeout_seconds = 10\n\
         argv = [\"/bin/sh\", \"-c\", '''printf '%s\\n' \"$(cat)\" >> {}''']\n",
        ledger.display()
    );
    // A first gate creates the tables and the tokens of each workspace.
    let first = Gate::serve_with(&config, &store.arguments());
    let mut clients: Vec<_> = (1..WORKSPACES)
        .map(|nth| client_of(first.folder.path(), store, &first, &format!("w{nth}")))
        .collect();
    clients.push(first.client.clone());
    drop(first);
    let home = |_| {
        let home = folder();
        std::fs::write(home.path().join("config.toml"), &config).unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        (home, free.to_string())
    };
    let homes: Vec<_> = (0..2).map(home).collect();
    let mut pair = Pair { store: store.clone(), homes, children: vec![None, None], down: vec![false, false] };
    pair.tend(&Seen::default());
    for client in &mut clients {
        client.urls = pair.urls();
    }
    (pair, clients)
}

/// Every few seconds kills one gate, both, the server, or the server and a gate.
async fn kill_at_random(pair: &mut Pair, server: &Server, seen: &Seen, until: Instant) {
    while Instant::now() < until {
        rest(pair, seen, 1_000 + seen.random(6_000), until).await;
        let (gates, stops) = match seen.random(6) {
            0 | 1 => (vec![seen.random(2) as usize], false),
            2 => (vec![0, 1], false),
            3 | 4 => (Vec::new(), true),
            _ => (vec![seen.random(2) as usize], true),
        };
        for gate in &gates {
            pair.kill(*gate);
            seen.count("gates killed with SIGKILL");
        }
        if stops {
            server.stop(How::Immediate);
            seen.count("PostgreSQL stopped with `immediate`");
        }
        rest(pair, seen, seen.random(3_000), until).await;
        if stops {
            server.start();
        }
        for gate in gates {
            pair.down[gate] = false;
        }
    }
}

async fn rest(pair: &mut Pair, seen: &Seen, millis: u64, until: Instant) {
    let end = (Instant::now() + Duration::from_millis(millis)).min(until);
    while Instant::now() < end {
        pair.tend(seen);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    pair.tend(seen);
}

/// Waits for all gates and returns those that are not ready.
async fn come_back(pair: &mut Pair, seen: &Seen) -> Vec<String> {
    let http = Http::builder().no_proxy().timeout(Duration::from_secs(5)).build().unwrap();
    let deadline = Instant::now() + PATIENCE;
    let mut away = pair.urls();
    while !away.is_empty() && Instant::now() < deadline {
        pair.tend(seen);
        let mut still = Vec::new();
        for url in away {
            if !http.get(format!("{url}/readyz")).send().await.is_ok_and(|answer| answer.status() == 200) {
                still.push(url);
            }
        }
        away = still;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    away
}

async fn end(
    seen: &Seen,
    store: &Store,
    pair: &Pair,
    clients: &[Client],
    (ledger, heads): (&Path, &Path),
) -> End {
    let mut end = End { runs: seen.runs.lock().unwrap().clone(), ..End::default() };
    end.runs.extend(ledger_of(ledger));
    for client in clients {
        let asking = Asking { seen, client, number: u64::MAX };
        let mut cursor = String::new();
        loop {
            let (_, page) =
                asking.ask("list", &format!("{LIST}?limit=500{cursor}"), &client.owner, None).await.unwrap();
            end.actions.extend(page["items"].as_array().unwrap().iter().map(action));
            let Some(next) = page["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        end.kept.extend(kept(&asking).await);
    }
    let home = pair.homes[0].0.path();
    let run = |arguments: &[&str]| placet(home, &[arguments, store.arguments().as_slice()].concat());
    let rows = said(&mut run(&["gate", "audit", "export"]));
    end.audit = rows
        .lines()
        .map(|line| row(&serde_json::from_str(line).unwrap()))
        .filter(|row| row.workspace != "*")
        .collect();
    let heads = heads.to_str().unwrap();
    let verified = run(&["gate", "audit", "verify", "--json", "--heads", heads]).output().unwrap();
    let verified: Value = serde_json::from_slice(&verified.stdout)
        .unwrap_or_else(|_| json!({"problems": [String::from_utf8_lossy(&verified.stderr)]}));
    let problems = verified["problems"].as_array().cloned().unwrap_or_default();
    end.verify = problems.iter().map(|problem| problem.as_str().unwrap_or_default().to_owned()).collect();
    end
}

fn action(item: &Value) -> Action {
    let input = if item["effectiveInput"].is_object() { &item["effectiveInput"] } else { &item["toolInput"] };
    Action {
        id: item["id"].as_str().unwrap().to_owned(),
        number: item["toolInput"]["number"].as_u64().unwrap(),
        value: input["value"].as_u64().unwrap(),
        status: item["status"].as_str().unwrap().to_owned(),
    }
}

fn row(row: &Value) -> Row {
    let event = match (row["event"].as_str().unwrap(), row["details"]["status"].as_str()) {
        ("settled", Some("executed")) => SETTLED_AS_EXECUTED,
        ("settled", Some("failed")) => SETTLED_AS_FAILED,
        (event, _) => event,
    };
    Row {
        workspace: row["workspaceId"].as_str().unwrap().to_owned(),
        revision: row["revision"].as_u64().unwrap(),
        action: row["pendingActionId"].as_str().map(str::to_owned),
        event: event.to_owned(),
    }
}

/// Reads the numbers that gates keep instead of counting.
async fn kept(asking: &Asking<'_>) -> Vec<Kept> {
    let client = asking.client;
    let (_, counts) = asking.ask("counts", &format!("{LIST}/counts"), &client.owner, None).await.unwrap();
    let path = "/api/flows?since=1";
    let (_, flows) = asking.ask("flows", path, &client.owner, None).await.unwrap();
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    let queues = flows["queues"].as_array().into_iter().flatten().chain([&flows["rest"]]);
    for minute in queues.flat_map(|queue| queue["minutes"].as_array().into_iter().flatten()) {
        for name in ["arrived", "approved", "rejected", "executed", "failed", "unknown"] {
            *sums.entry(name).or_default() += minute[name].as_u64().unwrap_or_default();
        }
    }
    sums.insert("pending", counts["pending"].as_u64().unwrap());
    let kept = |(name, count): (&str, u64)| Kept {
        workspace: client.workspace.clone(),
        name: name.to_owned(),
        count,
    };
    sums.into_iter().map(kept).collect()
}

fn report(scale: &Scale, seen: &Seen, end: &End, findings: &[Finding]) -> String {
    let seconds = scale.killing.as_secs();
    let lasted = if seconds < 60 { format!("{seconds} s") } else { format!("{} min", seconds / 60) };
    let mut text = section("Under kills");
    text.push_str(&format!(
        "{lasted} (seed {}), 2 gates, {WORKSPACES} workspaces, {LIVES} proposals under way at once, of which a quarter is run by the \
         gates. {} actions, {} runs and {} rows of the audit in the end.\n\n",
        scale.seed,
        whole(end.actions.len() as f64),
        whole(end.runs.len() as f64),
        whole(end.audit.len() as f64),
    ));
    let rows: Vec<_> = Kind::ALL
        .map(|kind| {
            let count = findings.iter().filter(|finding| finding.kind == kind).count();
            vec![format!("{kind:?}").to_lowercase(), count.to_string()]
        })
        .into();
    table(&mut text, &["found", "times"], &rows);
    for finding in findings.iter().take(20) {
        text.push_str(&format!("- {finding}\n"));
    }
    let counts = seen.counts.lock().unwrap();
    let rows: Vec<_> = counts.iter().map(|(what, count)| vec![what.clone(), whole(*count as f64)]).collect();
    table(&mut text, &["what happened", "times"], &rows);
    text
}
