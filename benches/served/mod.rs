//! A served gate and a client, shared by the benches: the real binary, real HTTP, a database on disk.
#![allow(dead_code, reason = "each bench uses its part")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use placet::for_tests::Fields;
use reqwest::{Client as Http, Response};
use tempfile::TempDir;
use tokio::sync::mpsc;

pub(crate) const LIST: &str = "/api/pending-actions";
/// Longer than a stream's pause between two briefings, so that each change has its own.
pub(crate) const APART: Duration = Duration::from_millis(400);
pub(crate) const LIMIT: Duration = Duration::from_mins(1);
/// Disables the gate's limits.
pub(crate) const CONFIG: &str = r#"
[gate]
listen = "127.0.0.1:0"
[gate.limits]
pending_per_workspace = 10000000
proposals_per_minute = 4000000000
proposal_burst = 4000000000
streams = 1000
streams_per_token = 1000
"#;

/// Creates a folder on a disk. Not in /tmp, which is in memory on many machines.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A command of placet with configuration and state in `folder`.
pub(crate) fn placet(folder: &Path, arguments: &[&str]) -> Command {
    // Another build can be measured in turn.
    let program = std::env::var_os("PLACET_BENCH_PROGRAM").unwrap_or(env!("CARGO_BIN_EXE_placet").into());
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
    command.env("PLACET_CONFIG", folder.join("config.toml")).env("PLACET_STATE_DIR", folder);
    command.env_remove("RUST_LOG").env_remove("PLACET_LOG");
    command
}

/// A served gate, killed on drop.
pub(crate) struct Gate {
    pub(crate) child: Child,
    pub(crate) folder: TempDir,
    /// For the workspace `default`.
    pub(crate) client: Client,
}

impl Gate {
    pub(crate) fn serve() -> Self {
        Self::serve_with(CONFIG, &[])
    }

    pub(crate) fn serve_with(config: &str, arguments: &[&str]) -> Self {
        let folder = folder();
        std::fs::write(folder.path().join("config.toml"), config).unwrap();
        Self::serve_in(folder, arguments)
    }

    pub(crate) fn serve_in(folder: TempDir, arguments: &[&str]) -> Self {
        let mut child = placet(folder.path(), &[&["gate", "serve"], arguments].concat()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready = Fields::of(&line).unwrap();
        let text = |name: &str| ready.text(name).unwrap().as_raw().to_owned();
        let token = |name: &str| std::fs::read_to_string(text(name)).unwrap().trim().to_owned();
        let client = Client::new(&text("url"), "default", &token("agentTokenFile"), &token("tokenFile"));
        Self { child, folder, client }
    }

    /// Resident memory in MiB.
    pub(crate) fn memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? / 1_024)
    }

    /// Processor time in milliseconds.
    pub(crate) fn cpu(&self) -> f64 {
        cpu_of(self.child.id())
    }

    /// Kills the gate and returns its folder.
    pub(crate) fn stop(mut self) -> TempDir {
        let elsewhere = folder();
        drop(self.child.kill());
        drop(self.child.wait());
        std::mem::replace(&mut self.folder, elsewhere)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Fields of /proc/PID/stat after the name, which may contain spaces.
pub(crate) fn stat(pid: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(text.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

/// Processor time of a process in milliseconds, assuming 100 ticks per second.
pub(crate) fn cpu_of(pid: u32) -> f64 {
    let ticks = |field: &String| field.parse::<f64>().unwrap_or_default();
    stat(pid).map_or(0.0, |fields| fields[11..13].iter().map(ticks).sum::<f64>() * 10.0)
}

/// Proposes and decides in one workspace, at its gates in turn.
#[derive(Clone)]
pub(crate) struct Client {
    http: Http,
    pub(crate) urls: Vec<String>,
    pub(crate) workspace: String,
    pub(crate) agent: String,
    pub(crate) owner: String,
}

impl Client {
    pub(crate) fn new(url: &str, workspace: &str, agent: &str, owner: &str) -> Self {
        Self {
            http: Http::builder().no_proxy().timeout(LIMIT).build().unwrap(),
            urls: vec![url.to_owned()],
            workspace: workspace.to_owned(),
            agent: agent.to_owned(),
            owner: owner.to_owned(),
        }
    }

    /// A client of one gate only.
    pub(crate) fn at(&self, nth: usize) -> Self {
        Self { urls: vec![self.url(nth).to_owned()], ..self.clone() }
    }

    pub(crate) const fn http(&self) -> &Http {
        &self.http
    }

    pub(crate) fn url(&self, nth: usize) -> &str {
        &self.urls[nth % self.urls.len()]
    }

    /// Sends request `nth` to the gate whose turn it is. Returns status, answer and time.
    pub(crate) async fn post(
        &self,
        nth: usize,
        path: &str,
        token: &str,
        body: String,
    ) -> (u16, String, Duration) {
        let request = self.http.post(format!("{}{path}", self.url(nth))).bearer_auth(token);
        let began = Instant::now();
        let response = request.header("content-type", "application/json").body(body).send().await.unwrap();
        let (status, text) = (response.status().as_u16(), response.text().await.unwrap());
        (status, text, began.elapsed())
    }

    /// Returns the action's id and the time.
    pub(crate) async fn propose(&self, nth: usize, batch: &str) -> (String, Duration) {
        let body = format!(
            r#"{{"toolName":"create_linear_issue","workspaceId":"{}","batchId":"{batch}","missionId":"m-{}",
            "toolInput":{{"title":"Escalate outage number {nth} in the EU region","body":"{}","priority":2}}}}"#,
            self.workspace,
            nth / 100,
            "Checkout fails for some customers. ".repeat(8),
        );
        let (status, text, took) = self.post(nth, LIST, &self.agent, body).await;
        assert_eq!(status, 202, "{text}");
        (Fields::of(&text).unwrap().text("pending_action_id").unwrap().as_raw().to_owned(), took)
    }

    pub(crate) async fn approve(&self, nth: usize, id: &str) -> Duration {
        let (status, text, took) =
            self.post(nth, &format!("{LIST}/{id}/approve"), &self.owner, String::new()).await;
        assert_eq!(status, 200, "{text}");
        took
    }

    pub(crate) async fn decide_batch(
        &self,
        nth: usize,
        batch: &str,
        ids: &[String],
        exclude: bool,
    ) -> Duration {
        let item = |id| format!(r#"{{"pendingActionId":"{id}","exclude":{exclude}}}"#);
        let items: Vec<_> = ids.iter().map(item).collect();
        let body = format!(r#"{{"items":[{}]}}"#, items.join(","));
        let path = format!("{LIST}/batch/{batch}/approve");
        let (_, text, took) = self.post(nth, &path, &self.owner, body).await;
        let word = if exclude { "rejected" } else { "approved" };
        assert!(text.contains(&format!(r#""{word}":{}"#, ids.len())), "{text}");
        took
    }

    /// Proposes `count` actions with `clients` concurrent clients, twenty per batch.
    pub(crate) async fn fill(&self, from: usize, count: usize, clients: usize) -> (Duration, Vec<Duration>) {
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

    pub(crate) async fn get(&self, path: &str) -> (String, Duration) {
        let began = Instant::now();
        let response = self.ask(path).await;
        assert_eq!(response.status(), 200);
        (response.text().await.unwrap(), began.elapsed())
    }

    pub(crate) async fn ask(&self, path: &str) -> Response {
        self.http.get(format!("{}{path}", self.urls[0])).bearer_auth(&self.owner).send().await.unwrap()
    }

    pub(crate) async fn revision(&self) -> u64 {
        let (list, _) = self.get(&format!("{LIST}?limit=1&view=row")).await;
        Fields::of(&list).unwrap().number("revision").unwrap()
    }
}

/// Measures `fsync` of 4 KiB, the floor of all durable writes.
pub(crate) fn fsync(folder: &Path, count: usize) -> Vec<Duration> {
    let mut file = std::fs::File::create(folder.join("fsync")).unwrap();
    let one = |_| {
        file.write_all(&[0; 4_096]).unwrap();
        let began = Instant::now();
        file.sync_data().unwrap();
        began.elapsed()
    };
    (0..count).map(one).collect()
}

/// Milliseconds. `sorted` must be ascending.
pub(crate) fn percentile(sorted: &[Duration], percent: usize) -> f64 {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)].as_secs_f64() * 1_000.0
}

pub(crate) fn times(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    format!("p50 {:.2} ms, p99 {:.2} ms", percentile(&times, 50), percentile(&times, 99))
}

pub(crate) fn per_second(count: usize, took: Duration) -> f64 {
    f64::from(u32::try_from(count).unwrap()) / took.as_secs_f64()
}

/// Index of the stream, revision of the briefing, time of arrival.
pub(crate) type Heard = (usize, u64, Instant);

pub(crate) async fn open_stream(client: &Client) -> Response {
    // A stream does not end, so there is no time limit.
    let http = Http::builder().no_proxy().build().unwrap();
    let request = http.get(format!("{}{LIST}/events", client.urls[0])).bearer_auth(&client.owner);
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    response
}

/// Reads a stream and sends each briefing.
pub(crate) async fn listen(mut response: Response, told: mpsc::UnboundedSender<Heard>, nth: usize) {
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

/// Returns when each stream had `revision` or a later one.
pub(crate) async fn until(
    told: &mut mpsc::UnboundedReceiver<Heard>,
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
    tokio::time::timeout(LIMIT, all).await.expect("a stream had no briefing");
    at.into_iter().flatten().collect()
}
