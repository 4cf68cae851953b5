//! Lives of proposals from agent to end. Each request is sent until it is answered, alternating between gates. Answers
//! go into a history.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::history::{Run, Told, Verdict};
use crate::served::{Client, LIST};

/// Time limit of a request with its retries. Longer than all processes need to come back.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);
/// Added to a value by a reviewer's edit.
const EDIT: u64 = 1_000_000_000;

#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) counts: Mutex<BTreeMap<String, u64>>,
    pub(crate) told: Mutex<Vec<Told>>,
    /// Runs by agents.
    pub(crate) runs: Mutex<Vec<Run>>,
    pub(crate) next: AtomicU64,
    pub(crate) random: AtomicU64,
}

impl Seen {
    pub(crate) fn count(&self, what: &str) {
        *self.counts.lock().unwrap().entry(what.to_owned()).or_default() += 1;
    }

    pub(crate) fn told(&self, told: Told) {
        self.told.lock().unwrap().push(told);
    }

    /// Returns a number below `most` from a scattered counter.
    pub(crate) fn random(&self, most: u64) -> u64 {
        let mut x = self.random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % most
    }
}

/// Sends requests until they have a final answer, alternating between gates.
pub(crate) struct Asking<'a> {
    pub(crate) seen: &'a Seen,
    pub(crate) client: &'a Client,
    pub(crate) number: u64,
}

impl Asking<'_> {
    /// Returns `None` if no gate answered.
    pub(crate) async fn ask(
        &self,
        what: &str,
        path: &str,
        token: &str,
        body: Option<Value>,
    ) -> Option<(u16, Value)> {
        // All attempts of one request share a key.
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

    /// Records a refusal of a request that earlier answers allowed.
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

    /// Records a stale read if a gate has not seen an acknowledged change.
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

pub(crate) struct Life<'a> {
    asking: Asking<'a>,
    id: String,
    value: u64,
}

impl<'a> Life<'a> {
    pub(crate) async fn begin(seen: &'a Seen, clients: &'a [Client], ledger: &Path) -> Option<()> {
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
            // A restarted agent proposes the same call under another key.
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

    /// Decides, sometimes with two reviewers who disagree at different gates. Returns whether it was approved.
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

    /// The inner `None` means that somebody else decided first.
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

    /// Claims, runs and reports like an agent, which sometimes dies before it reports.
    async fn run(&self) -> Option<()> {
        let Asking { client, number, seen } = self.asking;
        let dies = seen.random(20) == 0;
        let lease = json!({"leaseSeconds": if dies { 2 } else { 600 }});
        let path = format!("{LIST}/{}/claim", self.id);
        let (status, claim) = self.asking.ask("claim", &path, &client.agent, Some(lease)).await?;
        if dies && status == 409 {
            // The short lease ended before the answer arrived.
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

    /// Waits for the gate to run it.
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
        // The final check reports it as stuck.
        Some(())
    }
}

/// Resolves an unknown outcome by looking whether it ran.
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

pub(crate) fn ledger_of(ledger: &Path) -> Vec<Run> {
    let text = std::fs::read_to_string(ledger).unwrap_or_default();
    let runs = text.lines().map(|line| {
        let input: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("the ledger has {line:?}"));
        Run { number: input["number"].as_u64().unwrap(), value: input["value"].as_u64().unwrap() }
    });
    runs.collect()
}

/// Notes heads of the audit out of the gates' reach, like an owner.
pub(crate) async fn note_heads(seen: Arc<Seen>, clients: Vec<Client>, file: PathBuf, until: Instant) {
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

/// Resolves what is left until nothing is open, at most for [`PATIENCE`].
pub(crate) async fn settle_the_rest(seen: &Seen, clients: &[Client], ledger: &Path) {
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
