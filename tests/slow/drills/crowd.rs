//! Clients that propose and decide at several gates, retry under the same key, and remember the answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use placet::for_tests::Fields;

use super::PROPOSALS;
use crate::support::agent::{self, Reply, try_keyed};
use crate::support::eventually;
use crate::support::gate::Address;
use crate::support::lab::Node;
use crate::support::postgres::Server;

const PATIENCE: Duration = Duration::from_secs(150);

/// Answers to the clients: title → id and status.
pub(super) type Told = BTreeMap<String, (String, &'static str)>;

pub(super) struct Crowd {
    is_over: Arc<AtomicBool>,
    answers: Arc<AtomicUsize>,
    clients: Vec<JoinHandle<(Told, Vec<Reply>)>>,
}

impl Crowd {
    pub(super) fn at(nodes: &[Node], clients: usize) -> Self {
        let (is_over, answers) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let ways = ways(nodes);
        let begin = |n| {
            let (ways, is_over, answers) = (ways.clone(), Arc::clone(&is_over), Arc::clone(&answers));
            std::thread::spawn(move || {
                let mut client = Client { ways, turn: n, answers, refused: Vec::new() };
                let mut told = Told::new();
                for round in 0.. {
                    if is_over.load(Ordering::SeqCst) {
                        break;
                    }
                    let title = format!("c{n}-{round}");
                    let id = client.propose(&title);
                    let status = client.decide(&title, &id, round);
                    told.insert(title, (id, status));
                }
                (told, client.refused)
            })
        };
        let clients = (0..clients).map(begin).collect();
        Self { is_over, answers, clients }
    }

    pub(super) fn goes_on(&self, more: usize) {
        let from = self.answers.load(Ordering::SeqCst);
        eventually("the clients go on", || {
            (self.answers.load(Ordering::SeqCst) >= from + more).then_some(())
        });
    }

    pub(super) fn ends(self) -> (Told, Vec<Reply>) {
        self.is_over.store(true, Ordering::SeqCst);
        let (mut told, mut refused) = (Told::new(), Vec::new());
        for client in self.clients {
            let (some, no) = client.join().unwrap();
            told.extend(some);
            refused.extend(no);
        }
        (told, refused)
    }
}

/// Returns every gate's address with the first gate's tokens, which are valid everywhere.
pub(super) fn ways(nodes: &[Node]) -> Vec<Address> {
    let first = &nodes[0].address;
    nodes.iter().map(|node| Address { url: node.address.url.clone(), ..first.clone() }).collect()
}

struct Client {
    ways: Vec<Address>,
    turn: usize,
    answers: Arc<AtomicUsize>,
    refused: Vec<Reply>,
}

impl Client {
    fn propose(&mut self, title: &str) -> String {
        let body =
            format!(r#"{{"workspaceId":"default","toolName":"other","toolInput":{{"title":"{title}"}}}}"#);
        let reply = self.insist(&format!("p-{title}"), PROPOSALS, &body, |reply| reply.status == 202);
        Fields::of(&reply.body).unwrap().text("pending_action_id").unwrap().as_raw().to_owned()
    }

    /// Sends two of three requests under a key. The third learns of its first success from the refused retry.
    fn decide(&mut self, title: &str, id: &str, round: usize) -> &'static str {
        let (verb, status) = if round % 4 == 3 { ("reject", "rejected") } else { ("approve", "approved") };
        let key = if round % 3 == 2 { String::new() } else { format!("d-{title}") };
        let done = |reply: &Reply| {
            let is_so = format!(r#""status":"{status}""#);
            reply.status == 200 || (key.is_empty() && reply.status == 409 && reply.body.contains(&is_so))
        };
        self.insist(&key, &format!("{PROPOSALS}/{id}/{verb}"), "{}", done);
        status
    }

    /// Retries at one gate after the other until one accepts.
    fn insist(&mut self, key: &str, path: &str, body: &str, is_yes: impl Fn(&Reply) -> bool) -> Reply {
        let begun = Instant::now();
        loop {
            self.turn += 1;
            let way = &self.ways[self.turn % self.ways.len()];
            let token = if path == PROPOSALS { &way.agent_token } else { &way.owner_token };
            match try_keyed(way, token, key, ("POST", path), body) {
                Some(reply) if is_yes(&reply) => {
                    self.answers.fetch_add(1, Ordering::SeqCst);
                    return reply;
                }
                None => {}
                Some(reply) => {
                    assert_eq!(reply.status, 503, "{path}: {}", reply.body);
                    self.refused.push(reply);
                }
            }
            assert!(begun.elapsed() < PATIENCE, "no answer to {path}");
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }
}

/// Checks that every gate has all acknowledged data, the server holds no duplicates, and the audit is valid.
pub(super) fn holds(told: &Told, nodes: &[Node], server: &Server) {
    assert!(!told.is_empty());
    for way in ways(nodes) {
        for (title, (id, status)) in told {
            let got = agent::get(&way, id);
            assert_eq!(got.status, 200, "{title} is lost: {}", got.body);
            assert!(got.body.contains(&format!(r#""title":"{title}""#)), "{title}: {}", got.body);
            assert_eq!(agent::status(&way, id), *status, "{title}");
        }
    }
    let number = told.len().to_string();
    assert_eq!(server.sql("SELECT count(*) FROM placet.actions"), number, "something was recorded twice");
    let decided =
        "SELECT count(*), count(DISTINCT action) FROM placet.audit WHERE kind IN ('approved', 'rejected')";
    assert_eq!(server.sql(decided), format!("{number}|{number}"), "something was decided twice");
    let verified = nodes[0].home.run(&["gate", "audit", "verify", "--database", &server.url()]);
    assert!(verified.status.success(), "{verified:?}");
}
