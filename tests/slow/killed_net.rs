//! A reviewer killed during a request, and two reviewers on one journal.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Output, Stdio};
use std::sync::{Arc, Mutex, mpsc};

use placet::for_tests::INBOX;
use rustix::process::{Pid, Signal, kill_process};

use super::support::agent;
use super::support::chance::Chance;
use super::support::gate::Gate;
use super::support::home::{Home, WRITE_FILE};
use super::support::witness;

#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    /// After a part of the body left; the gate receives that part.
    MidBody,
    /// After the gate answered, before the answer arrives.
    BeforeTheAnswer,
    /// After the whole request left; the gate receives it after another decision.
    OnItsWay,
}

struct Proxy {
    url: String,
    victim: Arc<Mutex<Option<Pid>>>,
    held: mpsc::Receiver<Vec<u8>>,
}

impl Proxy {
    fn start(gate: &Gate, when: When) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (victim, gate) = (Arc::new(Mutex::new(None)), gate.listen());
        let (keep, kept_back) = mpsc::channel();
        let proxy = Self { url, victim: Arc::clone(&victim), held: kept_back };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (victim, gate, keep) = (Arc::clone(&victim), gate.clone(), keep.clone());
                std::thread::spawn(move || {
                    let Some((head, body, missing)) = request(stream.try_clone().unwrap(), when) else {
                        return;
                    };
                    let head = head.replacen("\r\n", "\r\nConnection: close\r\n", 1);
                    let bytes = [head.as_bytes(), &body].concat();
                    let victim = victim.lock().unwrap().filter(|_| is_decision(&head));
                    match victim {
                        Some(victim) if when == When::OnItsWay => {
                            keep.send(bytes).unwrap();
                            kill_process(victim, Signal::KILL).unwrap();
                        }
                        Some(victim) => {
                            let answer = forward(&gate, &bytes, missing, || {
                                kill_process(victim, Signal::KILL).unwrap();
                            });
                            assert_eq!(answer.is_empty(), missing);
                        }
                        None => drop((&stream).write_all(&forward(&gate, &bytes, false, || {}))),
                    }
                });
            }
        });
        proxy
    }
}

fn is_decision(head: &str) -> bool {
    head.starts_with("POST ") && ["/approve", "/reject"].iter().any(|verb| head.contains(verb))
}

/// Returns head, body, and whether a part of the body was left unread.
fn request(mut stream: TcpStream, when: When) -> Option<(String, Vec<u8>, bool)> {
    let mut head = String::new();
    let mut byte = [0];
    while !head.ends_with("\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(char::from(byte[0]));
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.map_or(0, |length| length.parse().unwrap());
    let missing = when == When::MidBody && is_decision(&head);
    let mut body = vec![0; if missing { length / 4 } else { length }];
    stream.read_exact(&mut body).ok()?;
    Some((head, body, missing))
}

/// Returns the gate's whole answer. Calls `then` when it has arrived, or when the gate has the part of a cut request.
fn forward(gate: &str, bytes: &[u8], cut: bool, then: impl FnOnce()) -> Vec<u8> {
    let mut stream = TcpStream::connect(gate).unwrap();
    stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    if cut {
        then();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        return answer;
    }
    stream.read_to_end(&mut answer).unwrap();
    then();
    answer
}

fn team(gate_home: &Home, url: &str) -> Home {
    let home = Home::with_config("");
    point_at(&home, gate_home, url);
    home
}

fn point_at(home: &Home, gate_home: &Home, url: &str) {
    let token = gate_home.state().join("owner.token");
    let source = format!("url = \"{url}\"\ntoken_file = \"{}\"\n", token.display());
    std::fs::write(home.config(), format!("[[source]]\nname = \"team\"\nkind = \"gate\"\n{source}")).unwrap();
}

fn propose(gate: &Gate) -> String {
    let body = r#"{"toolName":"write_note","workspaceId":"default","toolInput":{"title":"t"}}"#;
    agent::propose(&gate.address, body)
}

fn text(output: &Output) -> String {
    let said = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&said).into_owned()
}

#[test]
fn g16_reviewer_killed_during_a_request_decides_once() {
    for when in [When::MidBody, When::BeforeTheAnswer, When::OnItsWay] {
        let gate_home = Home::with_config(WRITE_FILE);
        let gate = Gate::serve(&gate_home, &[]);
        let proxy = Proxy::start(&gate, when);
        let home = team(&gate_home, &proxy.url);
        let id = propose(&gate);
        // A body to be cut must exceed all buffers on the way.
        let more = "x".repeat(if when == When::MidBody { 12_000_000 } else { 100_000 });
        let edit = format!(r#"[{{"id":"{id}","decision":"approve","userEdits":{{"more":"{more}"}}}}]"#);
        let from = home.path().join("decisions.json");
        std::fs::write(&from, edit).unwrap();
        // The proxy waits for this lock, so that it knows whom to kill before a decision arrives.
        let mut victim = proxy.victim.lock().unwrap();
        let mut command = home.command(&["decide", "--from", from.to_str().unwrap(), "--json"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        *victim = Pid::from_raw(child.id().try_into().unwrap());
        drop(victim);

        assert_eq!(child.wait().unwrap().code(), None, "{when:?}: it was killed");
        *proxy.victim.lock().unwrap() = None;
        point_at(&home, &gate_home, &gate.address.url);
        let next = home.run(&["decide", "--approve", &id, "--json"]);

        let told = text(&next);
        assert!(told.contains("earlier decisions, read again: "), "{when:?}: {told}");
        let (code, learnt) = match when {
            When::BeforeTheAnswer => (3, "1 approved, 0 rejected, 0 skipped, 0 failed"),
            When::MidBody | When::OnItsWay => (0, "0 approved, 0 rejected, 0 skipped, 1 failed"),
        };
        assert_eq!(next.status.code(), Some(code), "{when:?}: {told}");
        assert!(told.contains(learnt), "{when:?}: {told}");
        if when == When::OnItsWay {
            let late = forward(&gate.listen(), &proxy.held.recv().unwrap(), false, || {});
            let late = String::from_utf8_lossy(&late).into_owned();
            assert!(late.starts_with("HTTP/1.1 409"), "{late}");
        }
        assert_eq!(witness::decided_once(&gate_home, &home), 1, "{when:?}");
    }
}

#[test]
fn two_reviewers_on_one_journal_decide_once() {
    let long = std::env::var_os("PLACET_LONG").is_some();
    let seed: u64 = std::env::var("PLACET_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(2_026);
    println!("PLACET_SEED={seed}");
    let mut chance = Chance::new(seed);
    let gate_home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&gate_home, &[]);
    let home = team(&gate_home, &gate.address.url);
    let rounds = if long { 100 } else { 5 };
    for _ in 0..rounds {
        let ids = [propose(&gate), propose(&gate)];
        let start = |verbs: [&str; 2], point: Option<&str>| -> Child {
            let mut command = home.command(&["decide", verbs[0], &ids[0], verbs[1], &ids[1], "--json"]);
            command.envs(point.map(|point| ("PLACET_KILL_AT", point)));
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        let point = (chance.below(2) == 0).then(|| *chance.of(&INBOX));
        let (mut one, mut two) =
            (start(["--approve", "--reject"], point), start(["--reject", "--approve"], None));
        one.wait().unwrap();
        assert!(two.wait().unwrap().code().is_some(), "the second process was killed");
        // The next run settles what the killed one left, and decides the rest.
        let next = home.run(&["decide", "--approve", &ids[0], "--reject", &ids[1]]);
        assert!(matches!(next.status.code(), Some(0 | 3)), "{}", text(&next));
    }
    assert_eq!(witness::decided_once(&gate_home, &home), 2 * rounds);
}
