//! What a served gate takes: the real binary, real HTTP, a database on disk. Prints a table.
//!
//! `cargo bench --bench gate` measures, in a few minutes. `cargo test --bench gate -- --quick` only sees that everything here
//! still works, in seconds and unoptimised; its figures mean nothing.
#![allow(clippy::print_stdout, reason = "it prints a table")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use placet::for_tests::Fields;
use reqwest::{Client, Response};
use tempfile::TempDir;
use tokio::sync::mpsc;

const LIST: &str = "/api/pending-actions";
/// Longer than the gate lets a stream rest between two briefings, so that each change makes one.
const APART: Duration = Duration::from_millis(400);
const LIMIT: Duration = Duration::from_mins(1);
const CONFIG: &str = r#"
[gate]
listen = "127.0.0.1:0"
[gate.limits]
pending_per_workspace = 1000000
proposals_per_minute = 4000000000
proposal_burst = 4000000000
streams = 1000
streams_per_token = 1000
"#;

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
    together: 20_000,
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

/// A served gate in a folder of its own; ends with this value.
struct Gate {
    child: Child,
    url: String,
    agent: String,
    owner: String,
    client: Client,
    folder: TempDir,
}

impl Gate {
    fn serve() -> Self {
        // Not /tmp, which is memory on many machines: a commit has to reach a disk.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        std::fs::write(folder.path().join("config.toml"), CONFIG).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_placet"));
        command.args(["gate", "serve"]).stdin(Stdio::null()).stdout(Stdio::piped());
        command.env("PLACET_CONFIG", folder.path().join("config.toml")).env_remove("RUST_LOG");
        command.env("PLACET_STATE_DIR", folder.path()).env_remove("PLACET_LOG");
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready = Fields::of(&line).unwrap();
        let text = |name: &str| ready.text(name).unwrap().as_raw().to_owned();
        let token = |name: &str| std::fs::read_to_string(text(name)).unwrap().trim().to_owned();
        Self {
            url: text("url"),
            agent: token("agentTokenFile"),
            owner: token("tokenFile"),
            client: Client::builder().no_proxy().timeout(LIMIT).build().unwrap(),
            child,
            folder,
        }
    }

    /// Proposes number `nth` into a batch; returns how long it took.
    async fn propose(&self, nth: usize, batch: &str) -> (String, Duration) {
        let body = format!(
            r#"{{"toolName":"create_linear_issue","workspaceId":"default","batchId":"{batch}","missionId":"m-{}",
            "toolInput":{{"title":"Escalate outage number {nth} in the EU region","body":"{}","priority":2}}}}"#,
            nth / 100,
            "Checkout fails for some customers. ".repeat(8),
        );
        let request = self.client.post(format!("{}{LIST}", self.url)).bearer_auth(&self.agent);
        let began = Instant::now();
        let response = request.header("content-type", "application/json").body(body).send().await.unwrap();
        let (status, text) = (response.status(), response.text().await.unwrap());
        let took = began.elapsed();
        assert_eq!(status, 202, "{text}");
        (Fields::of(&text).unwrap().text("pending_action_id").unwrap().as_raw().to_owned(), took)
    }

    /// `count` proposals by so many clients at once, twenty a batch.
    async fn fill(&self, from: usize, count: usize, clients: usize) -> (Duration, Vec<Duration>) {
        let began = Instant::now();
        let clients = (0..clients).map(|client| async move {
            let mut times = Vec::new();
            for nth in (from + client..from + count).step_by(clients) {
                times.push(self.propose(nth, &format!("batch-{}", nth / 20)).await.1);
            }
            times
        });
        let times = join_all(clients).await.concat();
        (began.elapsed(), times)
    }

    async fn get(&self, path: &str) -> (String, Duration) {
        let began = Instant::now();
        let response = self.ask(path).await;
        assert_eq!(response.status(), 200);
        (response.text().await.unwrap(), began.elapsed())
    }

    async fn ask(&self, path: &str) -> Response {
        self.client.get(format!("{}{path}", self.url)).bearer_auth(&self.owner).send().await.unwrap()
    }

    async fn revision(&self) -> u64 {
        let (list, _) = self.get(&format!("{LIST}?limit=1&view=row")).await;
        Fields::of(&list).unwrap().number("revision").unwrap()
    }

    /// Resident memory now, in MiB.
    fn memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? / 1_024)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// `p50 1.2 ms, p99 3.4 ms`.
fn times(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at =
        |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)].as_secs_f64() * 1_000.0;
    format!("p50 {:.2} ms, p99 {:.2} ms", at(50), at(99))
}

fn per_second(count: usize, took: Duration) -> f64 {
    f64::from(u32::try_from(count).unwrap()) / took.as_secs_f64()
}

fn row(what: &str, figure: &str, more: &str) {
    println!("{what:<46} {figure:>16}  {more}");
}

/// What one `fsync` costs here: the floor under everything durable.
fn fsync(folder: &Path, count: usize) {
    let mut file = std::fs::File::create(folder.join("fsync")).unwrap();
    let one = |_| {
        file.write_all(&[0; 4_096]).unwrap();
        let began = Instant::now();
        file.sync_data().unwrap();
        began.elapsed()
    };
    let took: Vec<_> = (0..count).map(one).collect();
    let rate = per_second(count, took.iter().sum());
    row("fsync of 4 KiB, for comparison", &format!("{rate:.0}/s"), &times(took));
}

async fn proposals(gate: &Gate, scale: &Scale) {
    let (took, each) = gate.fill(0, scale.alone, 1).await;
    let rate = per_second(scale.alone, took);
    row("durable proposals, 1 client", &format!("{rate:.0}/s"), &times(each));
    let (took, each) = gate.fill(scale.alone, scale.together, 16).await;
    let rate = per_second(scale.together, took);
    let goal = if rate >= 1_000.0 { "goal 1,000/s met" } else { "goal 1,000/s MISSED" };
    row("durable proposals, 16 clients", &format!("{rate:.0}/s"), &format!("{}; {goal}", times(each)));
}

/// Nothing runs: the tool waits for its agent.
async fn decisions(gate: &Gate, scale: &Scale) {
    let mut each = Vec::new();
    for nth in 0..scale.batches {
        let batch = format!("decided-{nth}");
        let ids = join_all((0..100).map(|n| gate.propose(n, &batch))).await;
        let items: Vec<_> = ids.iter().map(|(id, _)| format!(r#"{{"pendingActionId":"{id}"}}"#)).collect();
        let body = format!(r#"{{"items":[{}]}}"#, items.join(","));
        let request = gate.client.post(format!("{}{LIST}/batch/{batch}/approve", gate.url)).body(body);
        let request = request.bearer_auth(&gate.owner).header("content-type", "application/json");
        let began = Instant::now();
        let text = request.send().await.unwrap().text().await.unwrap();
        each.push(began.elapsed());
        assert!(text.contains(r#""approved":100"#), "{text}");
    }
    let rate = per_second(scale.batches * 100, each.iter().sum());
    row("decisions, 100 a request", &format!("{rate:.0}/s"), &format!("a request: {}", times(each)));
}

/// One reader of the stream: tells the revision of each briefing and when it came.
async fn listen(mut response: Response, told: mpsc::UnboundedSender<(usize, u64, Instant)>, nth: usize) {
    let mut text = String::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        let now = Instant::now();
        text.push_str(&String::from_utf8_lossy(&chunk));
        while let Some((event, rest)) = text.split_once("\n\n") {
            let id = event.lines().find_map(|line| line.strip_prefix("id:")?.trim().parse().ok());
            if let Some(revision) = id
                && told.send((nth, revision, now)).is_err()
            {
                return;
            }
            text = rest.to_owned();
        }
    }
}

/// From sending a proposal until every stream has its briefing: more than from its commit.
async fn briefings(gate: &Gate, streams: usize, scale: &Scale, pending: usize) {
    let client = Client::builder().no_proxy().build().unwrap();
    let (tell, mut told) = mpsc::unbounded_channel();
    let mut listening = tokio::task::JoinSet::new();
    for nth in 0..streams {
        let request = client.get(format!("{}{LIST}/events", gate.url)).bearer_auth(&gate.owner);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        listening.spawn(listen(response, tell.clone(), nth));
    }
    let mut revision = gate.revision().await;
    until(&mut told, streams, revision).await;
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for nth in 0..scale.briefings {
        tokio::time::sleep(APART).await;
        let began = Instant::now();
        revision += 1;
        let (_, came) = tokio::join!(gate.propose(nth, "told"), until(&mut told, streams, revision));
        let mut came: Vec<_> = came.into_iter().map(|at| at.duration_since(began)).collect();
        came.sort_unstable();
        first.push(came[0]);
        last.push(came[came.len() - 1]);
    }
    let what = format!("briefing, {streams} streams, {pending} pending");
    row(&what, "", &format!("first: {}; last: {}", times(first), times(last)));
}

/// When each stream was told of `revision` or a later one.
async fn until(
    told: &mut mpsc::UnboundedReceiver<(usize, u64, Instant)>,
    streams: usize,
    revision: u64,
) -> Vec<Instant> {
    let mut at = vec![None; streams];
    let all = async {
        while at.iter().any(Option::is_none) {
            let (nth, of, when) = told.recv().await.unwrap();
            if of >= revision && at[nth].is_none() {
                at[nth] = Some(when);
            }
        }
    };
    tokio::time::timeout(LIMIT, all).await.expect("a stream was told nothing");
    at.into_iter().flatten().collect()
}

/// A change and the answer to "what changed since I looked", at one length of the queue.
async fn changes(gate: &Gate, scale: &Scale, pending: usize) -> f64 {
    let mut revision = gate.revision().await;
    let (mut propose, mut read) = (Vec::new(), Vec::new());
    for nth in 0..scale.changes {
        propose.push(gate.propose(nth, "changed").await.1);
        let (feed, took) = gate.get(&format!("{LIST}/changes?since={revision}")).await;
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

fn memory(gate: &Gate, when: &str) {
    let Some(now) = gate.memory() else { return row("memory", "unknown", "only Linux tells") };
    let goal = if now < 150 { "goal 150 MiB met" } else { "goal 150 MiB MISSED" };
    row(&format!("memory, {when}"), &format!("{now} MiB"), goal);
}

async fn measure(scale: &Scale) {
    let gate = Gate::serve();
    fsync(gate.folder.path(), scale.alone);
    proposals(&gate, scale).await;
    decisions(&gate, scale).await;
    drop(gate);

    let gate = Gate::serve();
    let (mut filled, mut costs) = (0, Vec::new());
    for pending in scale.queues {
        let before = gate.revision().await as usize;
        gate.fill(filled, pending - before, 32).await;
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
    let (_, took) = gate.get("/metrics").await;
    row("a look at /metrics", &format!("{:.1} ms", took.as_secs_f64() * 1_000.0), "");
}

#[tokio::main]
async fn main() {
    rustls::crypto::ring::default_provider().install_default().ok();
    let quick = std::env::args().any(|arg| arg == "--quick");
    measure(if quick { &QUICK } else { &FULL }).await;
}
