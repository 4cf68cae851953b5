//! The agent's side of our gate: propose, and wait for what becomes of it.

use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::config::SourceConfig;
use crate::contract::fields::Fields;
use crate::contract::propose::{Propose, Queued};
use crate::contract::{action, error};
use crate::domain::{PendingAction, Untrusted, json};
use crate::net::http::{Ask, Http, Reply};
use crate::net::url;

use super::setup::{self, Patience};
use super::{OpenError, SourceError, answer};

/// For one proposal; it is a row in a database.
const PROPOSE_LIMIT: Duration = Duration::from_secs(30);
/// The gate answers a wait after so long at the latest.
const WAIT_STEP: Duration = Duration::from_secs(25);
/// Before the next round, when one came back before its time.
const EARLY_PAUSE: Duration = Duration::from_millis(250);
/// Before a gate that did not answer is asked again.
const AWAY_PAUSE: Duration = Duration::from_millis(500);

/// A client that proposes. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Proposer {
    http: Http,
}

/// What a token opens; `None` where the gate does not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenOpens {
    pub workspace: Option<String>,
    pub scopes: Option<Vec<String>>,
}

impl TokenOpens {
    /// The gate says that the token lacks this scope.
    pub fn lacks(&self, scope: &str) -> bool {
        self.scopes.as_ref().is_some_and(|scopes| !scopes.iter().any(|it| it == scope))
    }
}

impl Proposer {
    /// `config` names the gate and where the agent's token is.
    pub fn open(config: &SourceConfig) -> Result<Self, OpenError> {
        setup::http(config, Patience::USUAL).map(|http| Self { http })
    }

    /// Records an intent. The answer is the queued signal: nothing ran. A gate that does not answer is asked once more
    /// under the same key, so that it records one intent whatever became of the first request.
    pub async fn propose(&self, proposal: &Propose) -> Result<Queued, SourceError> {
        let body = serde_json::to_string(proposal)
            .map_err(|error| SourceError::Protocol { why: Untrusted::from(error.to_string()) })?;
        self.propose_json(body).await
    }

    /// The same with a body that was written elsewhere, byte for byte.
    pub async fn propose_json(&self, body: String) -> Result<Queued, SourceError> {
        let path = "/api/pending-actions".to_owned();
        let key = Some(Uuid::new_v4().to_string());
        let ask = Ask { path, body: Some(body), key, limit: PROPOSE_LIMIT };
        let reply = match self.ask(&ask).await {
            Err(error) if is_away(&error) => {
                tokio::time::sleep(AWAY_PAUSE).await;
                self.ask(&ask).await?
            }
            answered => answered?,
        };
        serde_json::from_str(&reply.text)
            .map_err(|error| SourceError::Protocol { why: Untrusted::from(error.to_string()) })
    }

    /// What the token opens, as far as the gate tells.
    pub async fn token(&self) -> Result<TokenOpens, SourceError> {
        let ask = Ask { path: "/api/workspaces".to_owned(), body: None, key: None, limit: PROPOSE_LIMIT };
        let reply = match self.ask(&ask).await {
            // A gate that knows no such route tells nothing, and may take a proposal all the same.
            Err(SourceError::Refused { .. }) => return Ok(TokenOpens { workspace: None, scopes: None }),
            answered => answered?,
        };
        let first = Fields::of(&reply.text)
            .and_then(|fields| json::elements(fields.raw("items")?)?.into_iter().next())
            .map(str::to_owned);
        let fields = first.as_deref().and_then(Fields::of).unwrap_or_default();
        let words = |list: &str| {
            let words = json::elements(list)?.into_iter();
            Some(words.map(|word| json::decode(word).text.into_owned()).collect())
        };
        Ok(TokenOpens {
            workspace: fields.text("workspaceId").map(|workspace| workspace.as_raw().to_owned()),
            scopes: fields.raw("scopes").and_then(words),
        })
    }

    /// Waits until nothing more happens to the action by itself, or `limit` is over; then the action as it is.
    ///
    /// A gate that went away meanwhile is asked again until `limit` is over: another placet may take it over at once.
    pub async fn wait(&self, id: &str, limit: Duration) -> Result<PendingAction, SourceError> {
        let gone = || SourceError::Refused { why: Untrusted::from("this id cannot be part of a URL") };
        let id = url::segment(id).ok_or_else(gone)?;
        let started = Instant::now();
        loop {
            let left = limit.saturating_sub(started.elapsed()).min(WAIT_STEP);
            // Whole seconds, and never none unless that was asked for: rounds of nothing would be a tight loop.
            let step = Duration::from_secs(left.as_secs().max(u64::from(!limit.is_zero())));
            let begun = Instant::now();
            let found = self.round(&id, step).await;
            let is_over = started.elapsed() >= limit;
            match found {
                Ok(action) if is_over || action.row.status.is_final() => return Ok(action),
                // A gate that is stopping answers at once.
                Ok(_) if begun.elapsed() < step => tokio::time::sleep(EARLY_PAUSE).await,
                Ok(_) => {}
                Err(error) if !is_over && is_away(&error) => tokio::time::sleep(AWAY_PAUSE).await,
                Err(error) => return Err(error),
            }
        }
    }

    /// One wait of `step`. `id` is encoded.
    async fn round(&self, id: &str, step: Duration) -> Result<PendingAction, SourceError> {
        let path = format!("/api/pending-actions/{id}?wait={}s&until=final", step.as_secs());
        let reply = self.ask(&Ask { path, body: None, key: None, limit: step + PROPOSE_LIMIT }).await?;
        action::read(&reply.text)
            .map_err(|unreadable| SourceError::Protocol { why: Untrusted::from(unreadable.what) })
    }

    async fn ask(&self, ask: &Ask) -> Result<Reply, SourceError> {
        let reply = self.http.ask(ask).await.map_err(answer::none)?;
        match reply.status {
            200..300 => Ok(reply),
            401 => Err(SourceError::Unauthorized),
            403 => Err(SourceError::Forbidden { why: error::read(&reply.text).message }),
            429 => Err(SourceError::RateLimited { retry_after: reply.retry_after }),
            _ => Err(SourceError::Refused { why: error::read(&reply.text).message }),
        }
    }
}

/// There was no answer, which may be otherwise in a moment.
const fn is_away(error: &SourceError) -> bool {
    matches!(error, SourceError::NotSent { .. } | SourceError::Unreachable { .. })
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

    fn proposer(address: SocketAddr) -> Proposer {
        let url = format!("http://{address}");
        let name = SourceName::new("g".to_owned());
        let kind = SourceKind::Gate;
        Proposer::open(&SourceConfig { name, ..SourceConfig::of("s", kind, url) }).unwrap()
    }

    type Heads = Arc<Mutex<Vec<String>>>;

    /// Answers one connection after the other with these bodies, the last one again and again; an empty one hangs up.
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

    /// An address at which nobody listens, and nobody else can begin to.
    fn away() -> (TcpSocket, SocketAddr) {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = socket.local_addr().unwrap();
        (socket, address)
    }

    #[tokio::test]
    async fn a_proposal_without_an_answer_is_sent_once_more_under_its_key() {
        let (listener, address) = listener().await;
        let heads = Heads::default();
        let queued = r#"{"status":"queued","pending_action_id":"a","message":"m","tool_name":"t"}"#;
        tokio::spawn(gate(listener, Arc::clone(&heads), vec!["", queued]));
        let proposer = proposer(address);

        assert_eq!(proposer.propose_json("{}".to_owned()).await.unwrap().pending_action_id, "a");
        proposer.propose_json("{}".to_owned()).await.unwrap();

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

        let action = proposer(address).wait("a", Duration::from_secs(20)).await.unwrap();

        assert!(action.row.status.is_final());
    }

    #[tokio::test]
    async fn waiting_is_no_tight_loop_and_ends() {
        let (listener, address) = listener().await;
        let heads = Heads::default();
        tokio::spawn(gate(listener, Arc::clone(&heads), vec![PENDING]));

        let action = proposer(address).wait("a", Duration::from_millis(1_500)).await.unwrap();

        assert!(action.row.status.is_pending());
        let heads = heads.lock().unwrap();
        assert!(heads.len() <= 8, "{} rounds", heads.len());
        assert!(heads.iter().all(|head| head.contains("wait=1s")), "{heads:?}");
    }

    #[tokio::test]
    async fn a_gate_that_stays_away_is_given_up() {
        let (_away, address) = away();

        let error = proposer(address).wait("a", Duration::from_millis(600)).await.unwrap_err();

        assert!(is_away(&error));
    }
}
