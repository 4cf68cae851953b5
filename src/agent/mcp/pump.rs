//! Moves lines between client, server and session, and performs the session's effects.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::agent::Answer;
use crate::config::McpTools;
use crate::program::{self, Group};

use super::calls::Ticket;
use super::gate::{FindGate, Gate};
use super::line::Outline;
use super::session::{Effect, Session};
use super::tools::Tools;
use super::wait::Wait;

/// Longest line of the client, in bytes.
const CLIENT_LINE: usize = 16 << 20;
/// Longest line of the server, in bytes. A longer one ends the server, because its client would wait forever for the
/// answer in it.
const SERVER_LINE: usize = 64 << 20;
/// Bytes queued for one side at which reading from the other stops.
const QUEUED: usize = 64 << 20;
/// Time for running calls to finish after the client ended.
const FINISH: Duration = Duration::from_mins(1);
/// Like [`FINISH`], after a signal. MCP's SDKs kill a process two seconds after the signal.
const HURRY: Duration = Duration::from_millis(1_500);
/// Time for a server to exit after its standard input closed.
const SERVER_END: Duration = Duration::from_secs(5);
/// Time for a server to exit after a termination signal.
const TERMINATED: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub struct Proxy {
    pub server: Vec<OsString>,
    /// The server's name at the gate, derived from what it calls itself if `None`.
    pub name: Option<String>,
    pub tools: BTreeMap<String, McpTools>,
    pub wait: Wait,
    pub mission: Option<String>,
}

#[derive(Clone, Copy, Debug)]
pub enum Ended {
    /// The client ended, and therefore the server.
    Client,
    /// The server exited by itself.
    Server(ExitStatus),
}

enum Read {
    Line(Vec<u8>),
    TooLong(Outline),
}

enum News {
    Queued(Ticket, String),
    Answered(Ticket, Result<Answer, String>),
}

impl Proxy {
    /// Starts the server and passes lines until one side ends or `signal` completes. `warn` shows sentences to the user
    /// who configured the server.
    pub async fn run(
        self,
        find: FindGate,
        client: (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
        signal: impl Future<Output = ()>,
        warn: impl Fn(&str),
    ) -> io::Result<Ended> {
        let mut server = start(&self.server)?;
        let gate = Gate::new(find, self.mission);
        let tasks = TaskTracker::new();
        // Finds the gate before the first call needs it.
        tokio::spawn(gate.clone().look());
        let (input, output) = (server.child.stdin.take(), server.child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else {
            return Err(io::Error::other("the server has no pipes"));
        };
        let (from_client, from_server) = (lines(client.0, CLIENT_LINE), lines(output, SERVER_LINE));
        let (news, from_gate) = mpsc::unbounded_channel();
        let (id, tools) = (Uuid::new_v4(), Tools::new(self.name, self.tools));
        // Ids from 2^30 on, which clients that count from 0 do not reach.
        let number = (1 << 30) | (id.as_fields().0 >> 2);
        let session = Session::new(tools, self.wait, id.to_string(), number);
        let mut pump = Pump {
            session,
            gate,
            tasks,
            stops: HashMap::new(),
            news,
            to_client: Lines::to(client.1),
            to_server: Some(Lines::to(input)),
            warn,
            ending: None,
        };
        let by_client = pump.pass(from_client, from_server, from_gate, signal).await;
        let hurried = pump.ending.is_some_and(|end| end.hurried);
        pump.close(hurried).await;
        let status = server.end(if hurried { TERMINATED } else { SERVER_END }).await?;
        Ok(if by_client { Ended::Client } else { Ended::Server(status) })
    }
}

#[derive(Clone, Copy, Debug)]
struct Ending {
    until: tokio::time::Instant,
    hurried: bool,
}

struct Pump<W> {
    session: Session,
    gate: Gate,
    tasks: TaskTracker,
    /// Cancels pending questions to the gate.
    stops: HashMap<Ticket, CancellationToken>,
    news: mpsc::UnboundedSender<News>,
    to_client: Lines,
    /// `None` once the client ended and no call runs.
    to_server: Option<Lines>,
    warn: W,
    ending: Option<Ending>,
}

impl<W: Fn(&str)> Pump<W> {
    /// Passes lines until the server ends, or until the client ended and no call runs. Returns whether the client
    /// ended.
    async fn pass(
        &mut self,
        mut from_client: mpsc::Receiver<Read>,
        mut from_server: mpsc::Receiver<Read>,
        mut from_gate: mpsc::UnboundedReceiver<News>,
        signal: impl Future<Output = ()>,
    ) -> bool {
        let mut signal = pin!(signal);
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let until = self.ending.map(|ending| ending.until);
            let is_hurried = self.ending.is_some_and(|ending| ending.hurried);
            let has_room = self.to_server.as_ref().is_some_and(Lines::has_room);
            tokio::select! {
                read = from_client.recv(), if self.ending.is_none() && has_room => match read {
                    Some(Read::Line(line)) => self.session.client_said(&line, Instant::now()),
                    Some(Read::TooLong(outline)) => self.session.client_said_too_much(&outline.request()),
                    None => self.client_ended(FINISH, false),
                },
                read = from_server.recv(), if self.to_client.has_room() => match read {
                    Some(Read::Line(line)) => self.session.server_said(&line),
                    ended => return self.server_ended(ended.is_some()),
                },
                Some(news) = from_gate.recv() => self.told(news),
                _ = ticks.tick() => self.session.tick(Instant::now()),
                () = self.to_client.closed(), if self.ending.is_none() => self.client_ended(FINISH, false),
                () = &mut signal, if !is_hurried => self.client_ended(HURRY, true),
                () = at(until) => {
                    self.session.give_up();
                    self.perform();
                    return true;
                }
            }
            self.perform();
            if let Some(ending) = self.ending.as_mut()
                && !self.session.is_busy()
                && self.to_server.take().is_some()
            {
                // The server may still write before it exits.
                ending.until = ending.until.min(tokio::time::Instant::now() + SERVER_END);
            }
        }
    }

    fn client_ended(&mut self, limit: Duration, hurried: bool) {
        self.ending = Some(Ending { until: tokio::time::Instant::now() + limit, hurried });
        self.session.client_ended();
    }

    /// Returns whether the client ended before.
    fn server_ended(&mut self, too_long: bool) -> bool {
        if too_long {
            (self.warn)("The MCP server wrote a line of more than 64 MiB. It is ended.");
        }
        self.session.server_ended();
        self.perform();
        self.ending.is_some()
    }

    fn told(&mut self, news: News) {
        match news {
            News::Queued(ticket, action) => self.session.queued(ticket, action),
            News::Answered(ticket, answer) => {
                self.stops.remove(&ticket);
                self.session.answered(ticket, answer, Instant::now());
            }
        }
    }

    fn perform(&mut self) {
        for effect in self.session.effects() {
            let gate = self.gate.clone();
            match effect {
                Effect::ToClient(line) => self.to_client.send(line),
                Effect::ToServer(line) => {
                    if let Some(server) = &self.to_server {
                        server.send(line);
                    }
                }
                Effect::Ask(ticket, asked) => {
                    let (stop, news) = (self.stop(ticket), self.news.clone());
                    self.tasks.spawn(async move {
                        let queued = |action| drop(news.send(News::Queued(ticket, action)));
                        let answer = gate.ask(asked, stop, queued).await;
                        news.send(News::Answered(ticket, answer)).ok();
                    });
                }
                Effect::AskAgain { ticket, action, limit } => {
                    let (stop, news) = (self.stop(ticket), self.news.clone());
                    self.tasks.spawn(async move {
                        let answer = gate.ask_again(action, limit, stop).await;
                        news.send(News::Answered(ticket, answer)).ok();
                    });
                }
                Effect::StopAsking(ticket) => {
                    if let Some(stop) = self.stops.get(&ticket) {
                        stop.cancel();
                    }
                }
                Effect::Abandon { action, why } => drop(self.tasks.spawn(gate.abandon(action, why))),
                Effect::Renew { action, fence } => drop(self.tasks.spawn(gate.renew(action, fence))),
                Effect::Report { action, fence, outcome } => {
                    drop(self.tasks.spawn(gate.report(action, fence, outcome)));
                }
                Effect::Warn(sentence) => (self.warn)(sentence),
            }
        }
    }

    fn stop(&mut self, ticket: Ticket) -> CancellationToken {
        self.stops.entry(ticket).or_default().clone()
    }

    /// Waits for pending reports to the gate and for the client to read everything.
    async fn close(self, hurried: bool) {
        let limit = if hurried { HURRY } else { FINISH };
        drop(self.to_server);
        for stop in self.stops.values() {
            stop.cancel();
        }
        self.tasks.close();
        if tokio::time::timeout(limit, self.tasks.wait()).await.is_err() {
            tracing::warn!(left = self.tasks.len(), "the gate was not told everything");
        }
        self.to_client.finish(HURRY).await;
    }
}

/// Completes at `until`, never if it is `None`.
async fn at(until: Option<tokio::time::Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

struct Server {
    child: Child,
    group: Group,
}

fn start(argv: &[OsString]) -> io::Result<Server> {
    let (program, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    program::without_secrets(command.as_std_mut());
    #[cfg(unix)]
    command.process_group(0);
    let child = command.spawn()?;
    let group = Group::of(&child);
    Ok(Server { child, group })
}

impl Server {
    /// Waits for the exit after standard input closed. After `limit` terminates the process group, then kills it.
    async fn end(mut self, limit: Duration) -> io::Result<ExitStatus> {
        if !is_over_within(&self.group, limit).await {
            self.group.terminate();
            is_over_within(&self.group, TERMINATED).await;
        }
        self.group.kill(&mut self.child, TERMINATED).await;
        self.child.wait().await
    }
}

async fn is_over_within(group: &Group, limit: Duration) -> bool {
    let over = async {
        while !group.is_over() {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(limit, over).await.is_ok()
}

/// Reads lines of up to `most` bytes, without line feeds.
fn lines(from: impl AsyncRead + Send + Unpin + 'static, most: usize) -> mpsc::Receiver<Read> {
    let (lines, receiver) = mpsc::channel(16);
    tokio::spawn(async move {
        let mut from = BufReader::with_capacity(64 << 10, from);
        // A read error counts as the end.
        while let Ok(Some(read)) = next(&mut from, most).await {
            if lines.send(read).await.is_err() {
                break;
            }
        }
    });
    receiver
}

async fn next(from: &mut BufReader<impl AsyncRead + Unpin>, most: usize) -> io::Result<Option<Read>> {
    let (mut line, mut outline, mut is_empty) = (Vec::new(), None, true);
    loop {
        let some = from.fill_buf().await?;
        if some.is_empty() {
            break;
        }
        is_empty = false;
        let end = some.iter().position(|byte| *byte == b'\n');
        let part = some.get(..end.unwrap_or(some.len())).unwrap_or_default();
        if outline.is_none() && line.len() + part.len() > most {
            let mut begun = Outline::default();
            begun.add(&std::mem::take(&mut line));
            outline = Some(begun);
        }
        match &mut outline {
            Some(outline) => outline.add(part),
            None => line.extend_from_slice(part),
        }
        let read = part.len() + usize::from(end.is_some());
        from.consume(read);
        if end.is_some() {
            break;
        }
    }
    Ok((!is_empty).then(|| outline.map_or(Read::Line(line), Read::TooLong)))
}

struct Lines {
    sender: mpsc::UnboundedSender<Vec<u8>>,
    queued: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Lines {
    fn to(mut side: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        let (sender, mut receiver) = mpsc::unbounded_channel::<Vec<u8>>();
        let queued = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&queued);
        let task = tokio::spawn(async move {
            while let Some(mut line) = receiver.recv().await {
                line.push(b'\n');
                let written = async {
                    side.write_all(&line).await?;
                    side.flush().await
                };
                if written.await.is_err() {
                    return;
                }
                left.fetch_sub(line.len(), Ordering::Relaxed);
            }
        });
        Self { sender, queued, task }
    }

    fn send(&self, line: Vec<u8>) {
        self.queued.fetch_add(line.len() + 1, Ordering::Relaxed);
        // A closed side is noticed by [`Self::closed`].
        self.sender.send(line).ok();
    }

    fn has_room(&self) -> bool {
        self.queued.load(Ordering::Relaxed) < QUEUED
    }

    async fn closed(&self) {
        self.sender.closed().await;
    }

    async fn finish(self, limit: Duration) {
        drop(self.sender);
        tokio::time::timeout(limit, self.task).await.ok();
    }
}

#[cfg(test)]
mod tests;
