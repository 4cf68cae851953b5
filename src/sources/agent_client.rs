//! The agent's side of our gate: propose, wait for the decision, claim what was approved, report how it went.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::config::SourceConfig;
use crate::contract::propose::{Propose, Queued};
use crate::contract::{action, error};
use crate::domain::{PendingAction, Untrusted};
use crate::net::http::{Ask, Http, Reply};
use crate::net::url;

use super::setup::{self, Patience};
use super::{OpenError, SourceError, answer};

/// Time limit of a request, on top of the wait that it asks for.
const PROPOSE_LIMIT: Duration = Duration::from_secs(30);
/// Longest wait to ask for in one request.
const WAIT_STEP: Duration = Duration::from_secs(25);
/// Pause before the next request when the gate answered a wait early.
const EARLY_PAUSE: Duration = Duration::from_millis(250);
/// Pause before retrying a gate that did not answer.
const AWAY_PAUSE: Duration = Duration::from_millis(500);

/// A client for agents. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct AgentClient {
    http: Http,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    Decided,
    Final,
}

#[derive(Clone, Debug)]
pub enum Claim {
    Taken(Claimed),
    /// The gate is paused. The claim can be repeated once it is resumed.
    Paused,
    /// Not claimable, with the gate's reason: already run, running elsewhere, or its approval lapsed.
    Refused(Untrusted),
}

/// An approved call to run before its lease ends.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claimed {
    /// The input with the reviewer's edits, byte for byte.
    pub tool_input: Box<RawValue>,
    /// Identifies this run in later requests.
    pub fence: u64,
    /// The same in every run of one approval; for the system that the call writes to.
    pub idempotency_key: String,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RunOutcome {
    Result(Box<RawValue>),
    Error(String),
}

/// Longest input and result in one report, in bytes; a gate accepts bodies up to 16 MiB.
const REPORT_MAX: usize = (16 << 20) - (4 << 10);

fn left_out(what: &str, size: usize) -> Result<Box<RawValue>, SourceError> {
    read(&written(&format!("The {what} has {size} bytes, more than the gate keeps, and was left out."))?)
}

#[derive(Clone, Debug, Deserialize)]
pub struct TokenOpens {
    #[serde(rename = "workspaceId")]
    pub workspace: String,
    pub scopes: Vec<String>,
}

impl TokenOpens {
    pub fn lacks(&self, scope: &str) -> bool {
        !self.scopes.iter().any(|it| it == scope)
    }
}

impl AgentClient {
    pub fn open(config: &SourceConfig) -> Result<Self, OpenError> {
        setup::http(config, Patience::USUAL).map(|http| Self { http })
    }

    /// Returns the URL that answered last.
    pub fn url(&self) -> &str {
        self.http.base()
    }

    /// Proposes a call and returns the queued signal; nothing has run yet. Retries once under the same key, so that the
    /// gate records one proposal even if the first answer was lost.
    pub async fn propose(&self, proposal: &Propose) -> Result<Queued, SourceError> {
        self.propose_json(written(proposal)?).await
    }

    /// Like [`propose`](Self::propose) under the caller's key: a repetition returns the existing action.
    pub async fn propose_under(&self, proposal: &Propose, key: String) -> Result<Queued, SourceError> {
        self.post("/api/pending-actions".to_owned(), written(proposal)?, Some(key)).await
    }

    /// Like [`propose`](Self::propose) with a ready body, sent byte for byte.
    pub async fn propose_json(&self, body: String) -> Result<Queued, SourceError> {
        self.post("/api/pending-actions".to_owned(), body, Some(Uuid::new_v4().to_string())).await
    }

    /// Claims an approved action to run it here. The gate counts the run as lost when `lease` ends;
    /// [`renew`](Self::renew) extends it.
    pub async fn claim(&self, id: &str, lease: Duration) -> Result<Claim, SourceError> {
        let path = format!("{}/claim", path_of(id)?);
        let body = format!("{{\"leaseSeconds\":{}}}", lease.as_secs().max(1));
        // With this key, a retry after a lost answer gets the same run.
        let key = Some(Uuid::new_v4().to_string());
        let reply = self.once_more(&Ask { path, body: Some(body), key, limit: PROPOSE_LIMIT }).await?;
        if reply.status == 409 {
            let refused = error::read(&reply.text);
            let is_paused = refused.code.as_ref().is_some_and(|code| code.as_raw() == "PAUSED");
            return Ok(if is_paused { Claim::Paused } else { Claim::Refused(refused.message) });
        }
        read(&success(reply)?.text).map(Claim::Taken)
    }

    /// Extends the lease of a run, counted from now. A refusal means that this client no longer holds the run.
    pub async fn renew(&self, id: &str, fence: u64, lease: Duration) -> Result<(), SourceError> {
        let path = format!("{}/renew", path_of(id)?);
        let body = format!("{{\"fence\":{fence},\"leaseSeconds\":{}}}", lease.as_secs().max(1));
        let ask = Ask { path, body: Some(body), key: None, limit: PROPOSE_LIMIT };
        success(self.once_more(&ask).await?).map(drop)
    }

    /// Reports how a run ended. Retries until `limit` while the gate does not answer; a repeated report is harmless. If
    /// the gate does not accept the result (too large, JSON that it cannot read), a sentence replaces it, because the
    /// gate must learn that the call ran.
    pub async fn report(
        &self,
        id: &str,
        fence: u64,
        outcome: &RunOutcome,
        limit: Duration,
    ) -> Result<(), SourceError> {
        self.report_ran(id, fence, (outcome, None), limit).await
    }

    /// Like [`report`](Self::report), with the input that ran if it is not the approved one.
    pub async fn report_ran(
        &self,
        id: &str,
        fence: u64,
        (outcome, ran): (&RunOutcome, Option<&RawValue>),
        limit: Duration,
    ) -> Result<(), SourceError> {
        let size = |json: &RawValue| json.get().len();
        let long =
            ran.filter(|ran| size(ran) > REPORT_MAX).map(|ran| left_out("input", size(ran))).transpose()?;
        let ran = long.as_deref().or(ran);
        // Leaves out the result rather than the input.
        let shorter = match (outcome, ran) {
            (RunOutcome::Result(result), Some(ran)) if size(result) + size(ran) > REPORT_MAX => {
                Some(RunOutcome::Result(left_out("result", size(result))?))
            }
            _ => None,
        };
        let outcome = shorter.as_ref().unwrap_or(outcome);
        match self.report_once(id, fence, (outcome, ran), limit).await {
            Err(Reported::NotKept(why)) if matches!(outcome, RunOutcome::Result(_)) => {
                let told = written(&format!("The gate did not keep the result: {}", why.as_raw()))?;
                let told = RunOutcome::Result(read(&told)?);
                self.report_once(id, fence, (&told, ran), limit).await.map_err(Reported::error)
            }
            ended => ended.map_err(Reported::error),
        }
    }

    async fn report_once(
        &self,
        id: &str,
        fence: u64,
        (outcome, ran_input): (&RunOutcome, Option<&RawValue>),
        limit: Duration,
    ) -> Result<(), Reported> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Sent<'a> {
            fence: u64,
            #[serde(flatten)]
            outcome: &'a RunOutcome,
            #[serde(skip_serializing_if = "Option::is_none")]
            ran_input: Option<&'a RawValue>,
        }
        let path = format!("{}/result", path_of(id).map_err(Reported::Failed)?);
        let body = written(&Sent { fence, outcome, ran_input }).map_err(Reported::Failed)?;
        let ask = Ask { path, body: Some(body), key: None, limit: PROPOSE_LIMIT };
        let started = Instant::now();
        let reply = loop {
            match self.answered(&ask).await {
                Err(error) if error.is_away() && started.elapsed() < limit => {
                    tokio::time::sleep(AWAY_PAUSE).await;
                }
                answered => break answered.map_err(Reported::Failed)?,
            }
        };
        match reply.status {
            400 | 413 | 422 => Err(Reported::NotKept(error::read(&reply.text).message)),
            _ => success(reply).map(drop).map_err(Reported::Failed),
        }
    }

    /// Withdraws a pending proposal. A refusal means that it was decided or withdrawn already.
    pub async fn withdraw(&self, id: &str) -> Result<(), SourceError> {
        let path = format!("{}/withdraw", path_of(id)?);
        let ask = Ask { path, body: Some("{}".to_owned()), key: None, limit: PROPOSE_LIMIT };
        success(self.once_more(&ask).await?).map(drop)
    }

    async fn post<T: serde::de::DeserializeOwned>(
        &self,
        path: String,
        body: String,
        key: Option<String>,
    ) -> Result<T, SourceError> {
        let ask = Ask { path, body: Some(body), key, limit: PROPOSE_LIMIT };
        read(&success(self.once_more(&ask).await?)?.text)
    }

    async fn once_more(&self, ask: &Ask) -> Result<Reply, SourceError> {
        match self.answered(ask).await {
            Err(error) if error.is_away() => {
                tokio::time::sleep(AWAY_PAUSE).await;
                self.answered(ask).await
            }
            answered => answered,
        }
    }

    /// Statuses 408 and 5xx (a stopping gate, a proxy) count as no answer.
    async fn answered(&self, ask: &Ask) -> Result<Reply, SourceError> {
        let reply = self.http.ask(ask).await.map_err(answer::none)?;
        if reply.status == 408 || reply.status >= 500 { Err(answer::refusal(&reply)) } else { Ok(reply) }
    }

    pub async fn token(&self) -> Result<TokenOpens, SourceError> {
        #[derive(Deserialize)]
        struct Workspaces {
            items: Vec<TokenOpens>,
        }
        let ask = Ask { path: "/api/workspaces".to_owned(), body: None, key: None, limit: PROPOSE_LIMIT };
        let workspaces: Workspaces = read(&self.ask(&ask).await?.text)?;
        let none = || SourceError::Refused { why: Untrusted::from("this token opens no workspace") };
        workspaces.items.into_iter().next().ok_or_else(none)
    }

    /// Waits until the action is final or `limit` has passed, and returns it.
    ///
    /// Retries while the gate is away, because another placet may take over from it.
    pub async fn wait(&self, id: &str, limit: Duration) -> Result<PendingAction, SourceError> {
        self.wait_until(id, Until::Final, limit).await
    }

    pub async fn wait_until(
        &self,
        id: &str,
        until: Until,
        limit: Duration,
    ) -> Result<PendingAction, SourceError> {
        let path = path_of(id)?;
        let is_there = |action: &PendingAction| match until {
            Until::Decided => !action.row.status.is_pending(),
            Until::Final => action.row.status.is_final(),
        };
        let started = Instant::now();
        loop {
            let left = limit.saturating_sub(started.elapsed()).min(WAIT_STEP);
            // At least one second unless `limit` is zero, because requests without a wait would be a tight loop.
            let step = Duration::from_secs(left.as_secs().max(u64::from(!limit.is_zero())));
            let begun = Instant::now();
            let found = self.round(&path, until, step).await;
            let is_over = started.elapsed() >= limit;
            match found {
                Ok(action) if is_over || is_there(&action) => return Ok(action),
                // A stopping gate answers early.
                Ok(_) if begun.elapsed() < step => tokio::time::sleep(EARLY_PAUSE).await,
                Ok(_) => {}
                Err(error) if !is_over && error.is_away() => tokio::time::sleep(AWAY_PAUSE).await,
                Err(error) => return Err(error),
            }
        }
    }

    async fn round(&self, path: &str, until: Until, step: Duration) -> Result<PendingAction, SourceError> {
        let until = match until {
            Until::Decided => "decided",
            Until::Final => "final",
        };
        let path = format!("{path}?wait={}s&until={until}", step.as_secs());
        let reply = self.ask(&Ask { path, body: None, key: None, limit: step + PROPOSE_LIMIT }).await?;
        action::read(&reply.text)
            .map_err(|unreadable| SourceError::Protocol { why: Untrusted::from(unreadable.what) })
    }

    async fn ask(&self, ask: &Ask) -> Result<Reply, SourceError> {
        success(self.answered(ask).await?)
    }
}

enum Reported {
    /// The result was refused. The report would be accepted without it.
    NotKept(Untrusted),
    Failed(SourceError),
}

impl Reported {
    fn error(self) -> SourceError {
        match self {
            Self::NotKept(why) => SourceError::Refused { why },
            Self::Failed(error) => error,
        }
    }
}

fn success(reply: Reply) -> Result<Reply, SourceError> {
    if (200..300).contains(&reply.status) { Ok(reply) } else { Err(answer::refusal(&reply)) }
}

fn path_of(id: &str) -> Result<String, SourceError> {
    let id = url::segment(id)
        .ok_or_else(|| SourceError::Refused { why: Untrusted::from("this id cannot be part of a URL") })?;
    Ok(format!("/api/pending-actions/{id}"))
}

fn written(value: &impl Serialize) -> Result<String, SourceError> {
    serde_json::to_string(value)
        .map_err(|error| SourceError::Protocol { why: Untrusted::from(error.to_string()) })
}

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, SourceError> {
    serde_json::from_str(text)
        .map_err(|error| SourceError::Protocol { why: Untrusted::from(error.to_string()) })
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::{Arc, Mutex};

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpSocket};

    use super::*;
    use crate::config::SourceKind;
    use crate::domain::SourceName;

    fn client(address: SocketAddr) -> AgentClient {
        let url = format!("http://{address}");
        let name = SourceName::new("g".to_owned());
        let kind = SourceKind::Gate;
        AgentClient::open(&SourceConfig { name, ..SourceConfig::of("s", kind, url) }).unwrap()
    }

    type Heads = Arc<Mutex<Vec<String>>>;

    /// Answers one connection after the other with these bodies, repeating the last. An empty body hangs up.
    async fn gate(listener: TcpListener, heads: Heads, bodies: Vec<&'static str>) {
        for n in 0.. {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = vec![0; 4_096];
            let read = stream.read(&mut head).await.unwrap();
            heads.lock().unwrap().push(String::from_utf8_lossy(&head[..read]).to_lowercase());
            let body = bodies[n.min(bodies.len() - 1)];
            if !body.is_empty() {
                let length = body.len();
                let answer =
                    format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }
    }

    async fn listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    const PENDING: &str = r#"{"id":"a","status":"pending","toolName":"t","toolInput":{}}"#;
    const EXECUTED: &str = r#"{"id":"a","status":"executed","toolName":"t","toolInput":{}}"#;

    /// An address that refuses connections; the bound socket keeps others from listening there.
    fn away() -> (TcpSocket, SocketAddr) {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = socket.local_addr().unwrap();
        (socket, address)
    }

    #[tokio::test]
    async fn propose_without_an_answer_retries_under_the_same_key() {
        let (listener, address) = listener().await;
        let heads = Heads::default();
        let queued = r#"{"status":"queued","pending_action_id":"a","message":"m","tool_name":"t"}"#;
        tokio::spawn(gate(listener, Arc::clone(&heads), vec!["", queued]));
        let client = client(address);

        assert_eq!(client.propose_json("{}".to_owned()).await.unwrap().pending_action_id, "a");
        client.propose_json("{}".to_owned()).await.unwrap();

        let heads = heads.lock().unwrap();
        let keys: Vec<&str> = heads
            .iter()
            .map(|head| head.lines().find(|line| line.starts_with("idempotency-key")).unwrap())
            .collect();
        assert_eq!(keys.len(), 3);
        assert!(keys[0] == keys[1] && keys[1] != keys[2], "{keys:?}");
    }

    #[tokio::test]
    async fn waiting_outlives_a_gate_that_is_taken_over() {
        let (away, address) = away();
        let heads = Heads::default();
        let later = Arc::clone(&heads);
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(300)).await;
            gate(away.listen(8).unwrap(), later, vec!["", EXECUTED]).await;
        });

        let action = client(address).wait("a", Duration::from_secs(20)).await.unwrap();

        assert!(action.row.status.is_final());
    }

    #[tokio::test]
    async fn waiting_is_no_tight_loop_and_ends() {
        let (listener, address) = listener().await;
        let heads = Heads::default();
        tokio::spawn(gate(listener, Arc::clone(&heads), vec![PENDING]));

        let action = client(address).wait("a", Duration::from_millis(1_500)).await.unwrap();

        assert!(action.row.status.is_pending());
        let heads = heads.lock().unwrap();
        assert!(heads.len() <= 8, "{} rounds", heads.len());
        assert!(heads.iter().all(|head| head.contains("wait=1s")), "{heads:?}");
    }

    #[tokio::test]
    async fn a_gate_that_stays_away_is_given_up() {
        let (_away, address) = away();

        let error = client(address).wait("a", Duration::from_millis(600)).await.unwrap_err();

        assert!(error.is_away());
    }
}
