//! Random operations on an action that needs two approvals. It runs only if two different people other than the
//! proposer approved the same content.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use secrecy::SecretString;
use serde_json::Value;

use crate::config::{GateConfig, ToolConfig};
use crate::domain::Digest;
use crate::gate::Scope;
use crate::gate::reconcile;
use crate::gate::tests::rounds::{Random, rounds};
use crate::gate::tests::support::{Answer, TestGate, config, start};

/// Subjects of tokens, and the person each names.
const PEOPLE: [(&str, &str); 6] =
    [("ann", "ann"), ("bob", "bob"), ("cid", "cid"), ("BOB", "bob"), ("Agent", "agent"), ("ann", "ann")];
const INPUT: &str = r#"{"n":1,"m":2}"#;
/// Edits and the effective input. Two of them give the same input.
const EDITS: [(&str, &str); 4] = [
    ("", INPUT),
    (r#""userEdits":{"n":1}"#, INPUT),
    (r#""userEdits":{"n":2}"#, r#"{"n":2,"m":2}"#),
    (r#""userEdits":{"m":3}"#, r#"{"n":1,"m":3}"#),
];
/// Minutes until expiry.
const LIFE: i64 = 10;

/// An operation. Numbers index the tables above.
#[derive(Debug, Clone, Copy)]
enum Try {
    Approve {
        who: usize,
        edits: usize,
        by: Entrance,
    },
    TakeBack {
        who: usize,
    },
    Reject {
        who: usize,
    },
    Withdraw,
    Supersede,
    /// Minutes pass and the gate sweeps.
    Wait(i64),
    Run,
}

#[derive(Debug, Clone, Copy)]
enum Entrance {
    Single,
    Batch,
    Checkpoint,
}

impl Try {
    fn any(random: &mut Random) -> Self {
        let by = [Entrance::Single, Entrance::Batch, Entrance::Checkpoint][random.below(3)];
        let who = random.below(PEOPLE.len());
        match random.below(40) {
            0..=23 => Self::Approve { who, edits: random.below(EDITS.len()), by },
            24..=30 => Self::TakeBack { who },
            31 => Self::Reject { who },
            32 => Self::Withdraw,
            33 => Self::Supersede,
            34..=35 => Self::Wait([1, LIFE][random.below(2)]),
            _ => Self::Run,
        }
    }
}

struct Room<'a> {
    gate: &'a TestGate,
    people: &'a [SecretString],
    id: String,
    /// Name of the batch and of the checkpoint.
    name: String,
}

impl Room<'_> {
    /// `None` if no request was sent.
    async fn ask(&self, what: Try) -> Option<Answer> {
        let Self { gate, people, id, name } = self;
        let path = |verb: &str| format!("/api/pending-actions/{id}/{verb}");
        let answer = match what {
            Try::Approve { who, edits, by } => {
                let edits = EDITS[edits].0;
                let comma = if edits.is_empty() { "" } else { "," };
                let items = format!(r#"{{"items":[{{"pendingActionId":"{id}"{comma}{edits}}}]}}"#);
                let (path, body) = match by {
                    Entrance::Single => (path("approve"), format!("{{{edits}}}")),
                    Entrance::Batch => (format!("/api/pending-actions/batch/{name}/approve"), items),
                    Entrance::Checkpoint => (format!("/api/checkpoints/{name}/approve"), items),
                };
                gate.post_as(&people[who], &path, &body).await
            }
            Try::TakeBack { who } => gate.post_as(&people[who], &path("take-back"), "").await,
            Try::Reject { who } => gate.post_as(&people[who], &path("reject"), "").await,
            Try::Withdraw => gate.post_as(&gate.agent, &path("withdraw"), "").await,
            Try::Supersede => {
                let body =
                    format!(r#"{{"toolName":"t","workspaceId":"w","toolInput":{{}},"supersedes":"{id}"}}"#);
                gate.post_as(&gate.agent, "/api/pending-actions", &body).await
            }
            Try::Wait(minutes) => {
                gate.gate.inner.clock.pass(minutes * 60_000);
                reconcile::sweep(&gate.gate).await.unwrap();
                return None;
            }
            Try::Run => gate.post_as(&gate.agent, &path("claim"), r#"{"leaseSeconds":86400}"#).await,
        };
        assert!(matches!(answer.status, 200 | 202 | 403 | 409), "{what:?}: {}", answer.text);
        Some(answer)
    }
}

#[derive(Debug)]
struct Model {
    status: &'static str,
    /// Approvers and the content that each approved.
    approvals: Vec<(&'static str, Digest)>,
    minutes: i64,
}

/// The input that a claim returned.
fn given(answer: &Answer) -> Option<&'static str> {
    let of = |input: &str| answer.text.contains(&format!(r#""toolInput":{input},"#));
    let given = EDITS.iter().map(|(_, input)| *input).find(|input| of(input));
    assert_eq!(given.is_some(), answer.status == 200, "{}", answer.text);
    given
}

fn digest(input: &str) -> Digest {
    Digest::of("t", "w", input)
}

impl Model {
    fn new() -> Self {
        Self { status: "pending", approvals: Vec::new(), minutes: 0 }
    }

    fn approve(&mut self, who: &'static str, what: Digest) {
        if self.status != "pending" || who == "agent" {
            return;
        }
        self.approvals.retain(|(_, of)| *of == what);
        if !self.approvals.iter().any(|(by, _)| *by == who) {
            self.approvals.push((who, what));
        }
        if self.approvals.len() >= 2 {
            self.status = "approved";
        }
    }

    fn take_back(&mut self, who: &str) {
        if self.status == "pending" {
            self.approvals.retain(|(by, _)| *by != who);
        }
    }

    fn end(&mut self, status: &'static str) {
        if self.status == "pending" {
            self.status = status;
        }
    }

    fn tried(&mut self, what: Try) {
        match what {
            Try::Approve { who, edits, .. } => self.approve(PEOPLE[who].1, digest(EDITS[edits].1)),
            Try::TakeBack { who } => self.take_back(PEOPLE[who].1),
            Try::Reject { who } if PEOPLE[who].1 == "agent" => {}
            Try::Reject { .. } => self.end("rejected"),
            Try::Withdraw => self.end("withdrawn"),
            Try::Supersede => self.end("superseded"),
            Try::Wait(minutes) => {
                self.minutes += minutes;
                if self.minutes >= LIFE {
                    self.end("expired");
                }
            }
            Try::Run => {}
        }
    }

    fn happened(&mut self, event: &Value) {
        let by = event["by"].as_str().unwrap_or_default().to_lowercase();
        let who = PEOPLE.iter().map(|(_, who)| *who).find(|who| *who == by);
        let what = event["details"]["effectiveDigest"].as_str().and_then(Digest::parse);
        let before = self.status;
        match event["event"].as_str().unwrap() {
            "approval-given" | "approved" => self.approve(who.unwrap(), what.unwrap()),
            "approval-taken-back" => self.take_back(who.unwrap()),
            "rejected" => self.end("rejected"),
            "expired" => self.end("expired"),
            "withdrawn" => self.end("withdrawn"),
            "superseded" => self.end("superseded"),
            "created" | "dispatched" => return,
            other => panic!("unexpected event {other}"),
        }
        assert_eq!(before, "pending", "{event}");
        let is_approved = event["event"] == "approved";
        assert_eq!(is_approved, self.status == "approved", "only the last approval approves: {event}");
    }

    fn agrees(&self, action: &Answer, told: &str) {
        assert_eq!(action.at("/status"), self.status, "{told}");
        let names = action.json()["approvals"]["by"].as_array().cloned().unwrap_or_default();
        let names: Vec<String> = names.iter().map(|name| name.as_str().unwrap().to_lowercase()).collect();
        let who: Vec<&str> = self.approvals.iter().map(|(who, _)| *who).collect();
        assert_eq!(names, who, "{told}");
    }

    fn may_run(&self) -> bool {
        self.status == "approved"
    }
}

/// Checks with the operations alone that two other people approved the input that ran.
fn ran(input: &str, tried: &[Try]) {
    let what = digest(input);
    let approved = tried.iter().filter_map(|what_tried| match what_tried {
        Try::Approve { who, edits, .. } if digest(EDITS[*edits].1) == what => Some(PEOPLE[*who].1),
        _ => None,
    });
    let people: BTreeSet<&str> = approved.filter(|who| *who != "agent").collect();
    assert!(people.len() >= 2, "{input} ran, approved by {people:?} only: {tried:?}");
}

async fn play(gate: &TestGate, people: &[SecretString], seed: u64) -> bool {
    let mut random = Random::of(seed);
    let name = format!("b{seed}");
    let more = format!(r#","batchId":"{name}","checkpointId":"{name}","ttlSeconds":{}"#, LIFE * 60);
    let id = gate.propose_with("t", INPUT, &more).await;
    let room = Room { gate, people, id: id.clone(), name };
    // One operation at a time, or three at once.
    let at_once = [1, 3][random.below(2)];
    let (mut model, mut tried) = (Model::new(), Vec::new());
    let mut inputs: Vec<&str> = Vec::new();
    for _ in 0..4 + random.below(5) {
        let some: Vec<Try> = (0..at_once).map(|_| Try::any(&mut random)).collect();
        let answers = join_all(some.iter().map(|what| room.ask(*what))).await;
        let claims = some.iter().zip(&answers).filter(|(what, _)| matches!(what, Try::Run));
        inputs.extend(claims.filter_map(|(_, answer)| given(answer.as_ref()?)));
        tried.extend(&some);
        if let [one] = some.as_slice() {
            model.tried(*one);
            model.agrees(&gate.action(&id).await, &format!("seed {seed}: {tried:?}"));
        }
    }
    inputs.extend(room.ask(Try::Run).await.as_ref().and_then(given));
    if at_once > 1 {
        let told = gate.get(&format!("/api/pending-actions/{id}/events")).await;
        told.json()["items"].as_array().unwrap().iter().for_each(|event| model.happened(event));
        model.agrees(&gate.action(&id).await, &format!("seed {seed}: {tried:?}: {}", told.text));
    }
    assert_eq!(inputs.len(), usize::from(model.may_run()), "seed {seed}: {tried:?}");
    for input in &inputs {
        ran(input, &tried);
    }
    !inputs.is_empty()
}

#[tokio::test]
async fn action_runs_only_after_two_people_approved() {
    let folder = tempfile::tempdir().unwrap();
    let tools = [("t".to_owned(), ToolConfig { approvals: 2, ..ToolConfig::default() })].into();
    let gate = start(GateConfig { tools, ..config(folder.path()) }).await;
    gate.gate.inner.clock.stop();
    let mut people = Vec::new();
    for (subject, _) in PEOPLE {
        people.push(gate.gate.create_token(subject, "w", &[Scope::Decide], None).await.unwrap());
    }
    let mut random = Random::seeded();
    let (mut ran, seeds) = (0, rounds(40, 300));

    for _ in 0..seeds {
        let seed = random.below(1 << 30) as u64;
        ran += u32::from(play(&gate, &people, seed).await);
    }

    assert!(ran > seeds / 10 && ran < seeds, "{ran} of {seeds} ran");
    assert_eq!(gate.gate.verify_audit(&[]).await.unwrap().problems, Vec::<String>::new());
    gate.stop().await;
}
