//! A broken network between a source and its gate. It takes whole requests and applies a random fault to each.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::TaskTracker;

use crate::rounds::Random;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// The request is lost, and the connection breaks.
    Drop,
    /// The request is lost, and the connection stays silent.
    Swallow,
    CutAsk,
    /// The request arrives, and the connection breaks before the answer.
    LoseAnswer,
    /// The request arrives, and half of the answer comes back.
    CutAnswer,
    /// The request arrives, and the connection stays silent.
    HalfOpen,
    /// The request arrives after the client gave up.
    Late,
    /// The request arrives after the network has recovered.
    VeryLate,
    /// The request arrives twice at once, and one answer comes back.
    Twice,
    /// The request arrives twice in a row, and the second answer comes back.
    Again,
    Drip,
    /// This request and the next few are lost.
    Partition,
}

const FAULTS: [Fault; 12] = [
    Fault::Drop,
    Fault::Swallow,
    Fault::CutAsk,
    Fault::LoseAnswer,
    Fault::CutAnswer,
    Fault::HalfOpen,
    Fault::Late,
    Fault::VeryLate,
    Fault::Twice,
    Fault::Again,
    Fault::Drip,
    Fault::Partition,
];

pub(super) struct Proxy {
    pub(super) url: String,
    wire: Arc<Wire>,
}

struct Wire {
    gate: String,
    chance: Mutex<Random>,
    well: AtomicBool,
    apart: AtomicUsize,
    late: TaskTracker,
    healed: tokio_util::sync::CancellationToken,
    /// Path and body of every POST as sent by the client.
    posts: Mutex<Vec<(String, String)>>,
    faults: Mutex<Vec<Fault>>,
}

impl Proxy {
    /// Starts a proxy for `gate`, given as `host:port`.
    pub(super) async fn start(gate: &str, chance: Random) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let wire = Arc::new(Wire {
            gate: gate.to_owned(),
            chance: Mutex::new(chance),
            well: AtomicBool::new(false),
            apart: AtomicUsize::new(0),
            late: TaskTracker::new(),
            healed: tokio_util::sync::CancellationToken::new(),
            posts: Mutex::default(),
            faults: Mutex::default(),
        });
        let served = Arc::clone(&wire);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let wire = Arc::clone(&served);
                served.late.spawn(async move { wire.serve(client).await });
            }
        });
        Self { url, wire }
    }

    /// Ends all faults and waits until late requests have arrived.
    pub(super) async fn heal(&self) {
        self.wire.well.store(true, Ordering::Relaxed);
        self.wire.healed.cancel();
        self.wire.late.close();
        self.wire.late.wait().await;
    }

    pub(super) fn posts(&self) -> Vec<(String, String)> {
        self.wire.posts.lock().unwrap().clone()
    }

    pub(super) fn did(&self) -> String {
        format!("{:?}", self.wire.faults.lock().unwrap())
    }
}

impl Wire {
    fn fault(&self) -> Fault {
        if self.well.load(Ordering::Relaxed) {
            return Fault::None;
        }
        if self.apart.load(Ordering::Relaxed) > 0 {
            self.apart.fetch_sub(1, Ordering::Relaxed);
            return Fault::Drop;
        }
        let mut chance = self.chance.lock().unwrap();
        if chance.below(100) < 45 {
            return Fault::None;
        }
        let fault = FAULTS[chance.below(FAULTS.len())];
        if fault == Fault::Partition {
            self.apart.store(1 + chance.below(6), Ordering::Relaxed);
        }
        fault
    }

    async fn serve(self: Arc<Self>, mut client: TcpStream) {
        let Some(request) = read_request(&mut client).await else { return };
        if let Some(post) = post(&request) {
            self.posts.lock().unwrap().push(post);
        }
        let fault = self.fault();
        self.faults.lock().unwrap().push(fault);
        match fault {
            Fault::None => give(&mut client, &self.pass(&request).await).await,
            Fault::Drop | Fault::Partition => {}
            Fault::Swallow => gone(&mut client).await,
            Fault::CutAsk => drop(self.pass(&request[..request.len() / 2]).await),
            Fault::LoseAnswer => drop(self.pass(&request).await),
            Fault::CutAnswer => {
                let answer = self.pass(&request).await;
                give(&mut client, &answer[..answer.len() / 2]).await;
            }
            Fault::HalfOpen => {
                self.pass(&request).await;
                gone(&mut client).await;
            }
            Fault::Late => {
                gone(&mut client).await;
                self.pass(&request).await;
            }
            Fault::VeryLate => {
                gone(&mut client).await;
                self.healed.cancelled().await;
                self.pass(&request).await;
            }
            Fault::Twice => {
                let (one, two) = tokio::join!(self.pass(&request), self.pass(&request));
                let first = self.chance.lock().unwrap().below(2) == 0;
                give(&mut client, if first { &one } else { &two }).await;
            }
            Fault::Again => {
                self.pass(&request).await;
                let answer = self.pass(&request).await;
                give(&mut client, &answer).await;
            }
            Fault::Drip => {
                for byte in self.pass(&request).await {
                    give(&mut client, &[byte]).await;
                }
            }
        }
    }

    async fn pass(&self, request: &[u8]) -> Vec<u8> {
        let mut gate = TcpStream::connect(&self.gate).await.unwrap();
        gate.write_all(request).await.unwrap();
        let mut answer = Vec::new();
        // The gate would wait for the rest of a cut request.
        if read_request_len(request).is_none_or(|len| request.len() < len) {
            gate.shutdown().await.ok();
        }
        gate.read_to_end(&mut answer).await.ok();
        answer
    }
}

async fn give(client: &mut TcpStream, bytes: &[u8]) {
    client.write_all(bytes).await.ok();
}

async fn gone(client: &mut TcpStream) {
    let mut rest = [0; 64];
    while client.read(&mut rest).await.is_ok_and(|n| n > 0) {}
}

/// Reads a whole request and makes the gate close the connection after its answer.
async fn read_request(client: &mut TcpStream) -> Option<Vec<u8>> {
    let (mut request, mut chunk) = (Vec::new(), [0; 4_096]);
    while read_request_len(&request).is_none_or(|len| request.len() < len) {
        let n = client.read(&mut chunk).await.ok().filter(|n| *n > 0)?;
        request.extend_from_slice(&chunk[..n]);
    }
    let line = request.windows(2).position(|two| two == b"\r\n")? + 2;
    request.splice(line..line, *b"connection: close\r\n");
    Some(request)
}

/// Returns the request's length with its body; `None` before the end of the head.
fn read_request_len(request: &[u8]) -> Option<usize> {
    let head = request.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&request[..head]).to_lowercase();
    let body =
        text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    Some(head + body.unwrap_or(0))
}

fn post(request: &[u8]) -> Option<(String, String)> {
    let text = String::from_utf8_lossy(request);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let path = head.strip_prefix("POST ")?.split(' ').next()?;
    Some((path.to_owned(), body.to_owned()))
}
