//! Agents and reviewers at work at two gates while gates and PostgreSQL are killed at random; then everything they were told is compared
//! with what is there.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::{Client as Http, Method};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Scale;
use crate::history::{
    Action, End, Finding, Kept, Kind, Row, Run, SETTLED_AS_EXECUTED, SETTLED_AS_FAILED, Told, Verdict, check,
};
use crate::lab::{Store, client_of, database, said, server};
use crate::postgres::{How, Server};
use crate::report::{section, table, whole};
use crate::served::{CONFIG, Client, Gate, LIST, folder, placet};

/// How many lives of proposals go on at once.
const LIVES: u64 = 12;
const WORKSPACES: usize = 3;
/// How long a request is sent again and again; longer than everything takes to come back.
const PATIENCE: Duration = Duration::from_mins(2);
/// Put onto a value by a reviewer who edits it.
const EDIT: u64 = 1_000_000_000;

/// Counts of what happened.
#[derive(Default)]
struct Seen {
    counts: Mutex<BTreeMap<String, u64>>,
    told: Mutex<Vec<Told>>,
    /// What agents ran.
    runs: Mutex<Vec<Run>>,
    next: AtomicU64,
    random: AtomicU64,
}

impl Seen {
    fn count(&self, what: &str) {
        *self.counts.lock().unwrap().entry(what.to_owned()).or_default() += 1;
    }

    fn told(&self, told: Told) {
        self.told.lock().unwrap().push(told);
    }

    /// Below `most`. A counter that is scattered: each value of the seed leads to another run.
    fn random(&self, most: u64) -> u64 {
        let mut x = self.random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % most
    }
}

/// Two gates that somebody starts again whenever they are down, as systemd does.
struct Pair {
    store: Store,
    homes: Vec<(TempDir, String)>,
    children: Vec<Option<Child>>,
    /// Which are not to run now.
    down: Vec<bool>,
}

impl Pair {
    /// Starts what should run and does not; says how many.
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

/// Two gates, and a client for each workspace that knows both.
fn pair(store: &Store, ledger: &Path) -> (Pair, Vec<Client>) {
    // What a command is given goes to the ledger, a line a run, in one write.
    let config = format!(
        "{CONFIG}\n[gate.tools.ledger]\nexecutor = \"command\"\ntimeout_seconds = 10\n\
         argv = [\"/bin/sh\", \"-c\", '''printf '%s\\n' \"$(cat)\" >> {}''']\n",
        ledger.display()
    );
    // The tables, and the tokens of each workspace.
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

/// Every few seconds a gate, both, the server, or the server and a gate.
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

/// Which gates are not ready, long after the last kill.
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

/// A request that is sent until it is answered for good, at one gate and the other.
struct Asking<'a> {
    seen: &'a Seen,
    client: &'a Client,
    number: u64,
}

impl Asking<'_> {
    /// `None`: it was not answered at all.
    async fn ask(&self, what: &str, path: &str, token: &str, body: Option<Value>) -> Option<(u16, Value)> {
        // One key for all attempts of one request.
        let key = format!("{}-{}", self.number, self.seen.random(u64::MAX));
        let (method, body) = match body {
            Some(body) => (Method::POST, body.to_string()),
            None => (Method::GET, String::new()),
        };
        let http = self.client.http();
        let deadline = Instant::now() + PATIENCE;
        let mut turn = self.seen.random(2) as usize;
        while Instant::now() < deadline {
            let request =
                http.request(method.clone(), format!("{}{path}", self.client.url(turn))).bearer_auth(token);
            let request = request.header("content-type", "application/json").header("idempotency-key", &key);
            match request.timeout(Duration::from_secs(10)).body(body.clone()).send().await {
                Ok(answer) => {
                    let status = answer.status().as_u16();
                    if status == 503 {
                        self.seen.count("answers 503");
                    } else if let Ok(text) = answer.text().await {
                        if status < 500 && status != 408 {
                            self.seen.count(&format!("{what}, answered {status}"));
                            return Some((status, serde_json::from_str(&text).unwrap_or_default()));
                        }
                        self.seen.count(&format!("answers {status}"));
                    } else {
                        self.seen.count("answers cut off");
                    }
                }
                Err(error) if error.is_connect() => self.seen.count("connections refused"),
                Err(_) => self.seen.count("requests without an answer"),
            }
            turn += 1;
            tokio::time::sleep(Duration::from_millis(20 + self.seen.random(200))).await;
        }
        self.seen.told(Told::Unanswered { number: self.number, what: what.to_owned() });
        None
    }

    /// What was possible by everything that was told, and was refused, is told.
    fn must(&self, done: bool, what: &str, answer: &Value) -> Option<()> {
        if !done {
            self.seen.told(Told::Refused { number: self.number, what: format!("{what}: {answer}") });
        }
        done.then_some(())
    }

    async fn status(&self, id: &str) -> Option<String> {
        let (_, action) = self.ask("read", &format!("{LIST}/{id}"), &self.client.owner, None).await?;
        Some(action["status"].as_str().unwrap_or_default().to_owned())
    }

    /// Whichever gate is asked, it knows what was acknowledged.
    async fn is_known(&self, id: &str, not: &[&str]) -> Option<()> {
        if self.seen.random(4) == 0 {
            let status = self.status(id).await?;
            if not.contains(&status.as_str()) {
                let what = format!("it was read as {status}");
                self.seen.told(Told::Stale { number: self.number, what });
            }
        }
        Some(())
    }
}

/// One proposal, from its agent to its end.
struct Life<'a> {
    asking: Asking<'a>,
    id: String,
    value: u64,
}

impl<'a> Life<'a> {
    async fn begin(seen: &'a Seen, clients: &'a [Client], ledger: &Path) -> Option<()> {
        let number = seen.next.fetch_add(1, Ordering::Relaxed);
        let client = &clients[number as usize % clients.len()];
        let asking = Asking { seen, client, number };
        let by_gate = seen.random(4) == 0;
        let value = number * 7;
        let mut proposal = json!({
            "workspaceId": client.workspace,
            "toolName": if by_gate { "ledger" } else { "write" },
            "toolInput": {"number": number, "value": value},
            "batchId": format!("b-{}", number / 10),
            "missionId": format!("m-{}", number % 50),
        });
        if seen.random(3) == 0 {
            proposal["sessionId"] = json!("s");
            proposal["toolCallId"] = json!(format!("call-{number}"));
        }
        let (status, answer) = asking.ask("propose", LIST, &client.agent, Some(proposal.clone())).await?;
        asking.must(status == 202, "propose", &answer)?;
        let id = answer["pending_action_id"].as_str().unwrap().to_owned();
        seen.told(Told::Recorded { number, id: id.clone() });
        if proposal["toolCallId"].is_string() {
            // The agent restarts, and proposes the same call under another key.
            let (status, answer) = asking.ask("propose again", LIST, &client.agent, Some(proposal)).await?;
            asking.must(status == 202, "propose again", &answer)?;
            seen.told(Told::Recorded {
                number,
                id: answer["pending_action_id"].as_str().unwrap_or_default().to_owned(),
            });
        }
        let mut life = Life { asking, id, value };
        let approved = life.decide().await?;
        match (approved, by_gate) {
            (false, _) => Some(()),
            (true, true) => life.followed(ledger).await,
            (true, false) => life.run().await,
        }
    }

    /// Decides; now and then two reviewers do, each at another gate and each otherwise. Returns whether it was approved.
    async fn decide(&mut self) -> Option<bool> {
        let seen = self.asking.seen;
        let edited = self.value + EDIT;
        let (approve, reject) = (json!({}), json!({"reason": "no"}));
        let edit = json!({"userEdits": {"value": edited}});
        let value = self.value;
        let first = match seen.random(10) {
            0..=5 => ("approve", approve, Verdict::Approved(value)),
            6 | 7 => ("approve", edit, Verdict::Approved(edited)),
            _ => ("reject", reject.clone(), Verdict::Rejected),
        };
        let both = if seen.random(8) == 0 {
            let second = ("reject", reject, Verdict::Rejected);
            let (one, other) = tokio::join!(self.ruled(first), self.ruled(second));
            [one?, other?]
        } else {
            [self.ruled(first).await?, None]
        };
        let verdicts: Vec<_> = both.into_iter().flatten().collect();
        self.asking.must(!verdicts.is_empty(), "decide", &json!("nobody decided it"))?;
        self.asking.is_known(&self.id, &["pending"]).await?;
        if let Verdict::Approved(value) = verdicts[0] {
            self.value = value;
        }
        Some(verdicts[0] != Verdict::Rejected)
    }

    /// `None` inside: somebody else was faster.
    async fn ruled(&self, (how, body, verdict): (&str, Value, Verdict)) -> Option<Option<Verdict>> {
        let Asking { client, number, seen } = self.asking;
        let path = format!("{LIST}/{}/{how}", self.id);
        let (status, answer) = self.asking.ask(how, &path, &client.owner, Some(body)).await?;
        self.asking.must(status == 200 || status == 409, how, &answer)?;
        Some((status == 200).then(|| {
            seen.told(Told::Decided { number, verdict });
            verdict
        }))
    }

    /// The agent claims it, runs it and says so. Now and then it dies before it does.
    async fn run(&self) -> Option<()> {
        let Asking { client, number, seen } = self.asking;
        let dies = seen.random(20) == 0;
        let lease = json!({"leaseSeconds": if dies { 2 } else { 600 }});
        let path = format!("{LIST}/{}/claim", self.id);
        let (status, claim) = self.asking.ask("claim", &path, &client.agent, Some(lease)).await?;
        if dies && status == 409 {
            // Its short lease was over before the answer came through.
            return Some(());
        }
        self.asking.must(status == 200, "claim", &claim)?;
        let fence = claim["fence"].as_u64().unwrap();
        let value = claim["toolInput"]["value"].as_u64().unwrap();
        seen.told(Told::Claimed { number, fence, value });
        if dies && seen.random(2) == 0 {
            seen.count("agents that died before they ran it");
            return Some(());
        }
        seen.runs.lock().unwrap().push(Run { number, value });
        if dies {
            seen.count("agents that died after they ran it");
            return Some(());
        }
        let path = format!("{LIST}/{}/result", self.id);
        let (status, said) = self
            .asking
            .ask("finish", &path, &client.agent, Some(json!({"fence": fence, "result": {"ok": true}})))
            .await?;
        self.asking.must(status == 200, "finish", &said)?;
        seen.told(Told::Finished { number });
        self.asking.is_known(&self.id, &["pending", "approved", "rejected"]).await
    }

    /// Waits for what the gate makes of its run.
    async fn followed(&self, ledger: &Path) -> Option<()> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let path = format!("{LIST}/{}?wait=2s&until=final", self.id);
            let (_, action) = self.asking.ask("wait", &path, &self.asking.client.owner, None).await?;
            match action["status"].as_str() {
                Some("executed") => {
                    self.asking.seen.told(Told::Finished { number: self.asking.number });
                    return Some(());
                }
                Some("unknown") => return settle(&self.asking, &self.id, ledger).await,
                Some("failed") => return Some(()),
                _ => {}
            }
        }
        // The end tells that it is stuck.
        Some(())
    }
}

/// A human looks whether it ran, and says so.
async fn settle(asking: &Asking<'_>, id: &str, ledger: &Path) -> Option<()> {
    let Asking { client, number, seen } = *asking;
    let of_agents = seen.runs.lock().unwrap().iter().any(|run| run.number == number);
    let executed = of_agents || ledger_of(ledger).iter().any(|run| run.number == number);
    let how = json!({"as": if executed { "executed" } else { "failed" }, "reason": "somebody looked"});
    let (status, _) = asking.ask("settle", &format!("{LIST}/{id}/settle"), &client.owner, Some(how)).await?;
    if status == 200 {
        seen.told(Told::Settled { number, executed });
    }
    Some(())
}

/// What commands of the gates ran.
fn ledger_of(ledger: &Path) -> Vec<Run> {
    let text = std::fs::read_to_string(ledger).unwrap_or_default();
    let runs = text.lines().map(|line| {
        let input: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("the ledger has {line:?}"));
        Run { number: input["number"].as_u64().unwrap(), value: input["value"].as_u64().unwrap() }
    });
    runs.collect()
}

/// Keeps heads of the audit where no gate can write, as an owner should.
async fn note_heads(seen: Arc<Seen>, clients: Vec<Client>, file: PathBuf, until: Instant) {
    let mut text = String::new();
    while Instant::now() < until {
        for client in &clients {
            let asking = Asking { seen: &seen, client, number: u64::MAX };
            if let Some((200, head)) = asking.ask("note a head", "/api/audit/head", &client.owner, None).await
                && head["revision"].as_u64().unwrap_or_default() > 0
            {
                text.push_str(&format!("{head}\n"));
            }
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    std::fs::write(file, text).unwrap();
}

/// What dead agents left, and what waits for a human, until nothing is open, or for as long as the patience lasts.
async fn settle_the_rest(seen: &Seen, clients: &[Client], ledger: &Path) {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        let mut open = 0;
        for client in clients {
            let asking = Asking { seen, client, number: u64::MAX };
            let path = format!("{LIST}?status=pending,approved,running,unknown&limit=500");
            let Some((_, list)) = asking.ask("list", &path, &client.owner, None).await else { return };
            let items = list["items"].as_array().cloned().unwrap_or_default();
            open += items.len();
            join_all(items.iter().filter(|item| item["status"] == "unknown").map(async |item| {
                let number = item["toolInput"]["number"].as_u64().unwrap();
                settle(
                    &Asking { number, ..Asking { seen, client, number } },
                    item["id"].as_str().unwrap(),
                    ledger,
                )
                .await
            }))
            .await;
        }
        if open == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// Everything as the gates have it.
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

/// The numbers that a gate does not count when it is asked.
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
    let minutes = whole(scale.killing.as_secs_f64() / 60.0);
    let mut text = section("Under kills", "cargo bench --bench scale -- history");
    text.push_str(&format!(
        "{minutes} min (seed {}), 2 gates, {WORKSPACES} workspaces, {LIVES} proposals under way at once, of which a quarter is run by the \
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
