//! Settled actions and their timelines, read from a real gate over HTTP by the inbox.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use placet::for_tests::{
    ActionKey, AgentClient, Decision, Edits, Entry, Executor, Gate, GateConfig, Inbox, Journal, Limits,
    PostgresConfig, RawJson, Retry, RiskApprovals, Rows, SourceConfig, SourceKind, SourceName, Staged,
    Status, SubmissionId, Timestamp, TokenFrom, ToolConfig, Untrusted, freeze, open, use_placet,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

const LIMIT: Duration = Duration::from_secs(20);

fn tool(script: &str) -> ToolConfig {
    let argv = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    let executor = Executor::Command { argv, env: BTreeMap::new() };
    ToolConfig { executor, retry: Retry::Manual, timeout: LIMIT, ..ToolConfig::default() }
}

struct Desk {
    inbox: Inbox,
    agent: AgentClient,
    _folder: tempfile::TempDir,
}

async fn desk() -> Desk {
    rustls::crypto::ring::default_provider().install_default().ok();
    use_placet(env!("CARGO_BIN_EXE_placet").into());
    let folder = tempfile::tempdir().unwrap();
    let config = GateConfig {
        file: "config.toml".into(),
        may_move: false,
        listen: ([127, 0, 0, 1], 0).into(),
        database: folder.path().join("gate.db"),
        server: None,
        postgres: PostgresConfig::default(),
        workspace: "w".to_owned(),
        limits: Limits::default(),
        denied: BTreeSet::new(),
        allow_targets: Vec::new(),
        hosts: Vec::new(),
        tls: None,
        behind_proxy: false,
        approval_ttl: Duration::from_hours(168),
        approvals: RiskApprovals::default(),
        keep_settled: None,
        trusted_proxies: Vec::new(),
        proxy: None,
        stop_within: LIMIT,
        tools: [
            ("works".to_owned(), tool("cat")),
            ("fails".to_owned(), tool("echo 'card expired' >&2; exit 1")),
        ]
        .into(),
        callbacks: [].into(),
    };
    let gate = Gate::open(&config).await.unwrap();
    let tokens = gate.first_tokens(folder.path()).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(tokio::spawn(gate.serve(listener, CancellationToken::new())));
    let source = |token| SourceConfig {
        workspace: Some("w".to_owned()),
        token: Some(TokenFrom::File(token)),
        ..SourceConfig::of("gate", SourceKind::Gate, url.clone())
    };
    let journal = Journal::open(&folder.path().join("journal.db")).await.unwrap();
    let reviewer = open(&source(tokens.owner)).unwrap();
    let inbox = Inbox::open(vec![reviewer], journal, Duration::from_secs(1), Some("kim".to_owned()));
    let agent = AgentClient::open(&source(tokens.agent)).unwrap();
    Desk { inbox, agent, _folder: folder }
}

impl Desk {
    async fn propose(&self, tool: &str, title: &str) {
        let body = format!(
            r#"{{"toolName":"{tool}","workspaceId":"w","toolInput":{{"title":"{title}","n":1.10}}}}"#
        );
        self.agent.propose_json(body).await.unwrap();
    }

    async fn pending(&self) -> Vec<Entry> {
        let synced = self.inbox.sync(&SourceName::new("gate"), None).await.unwrap();
        let Rows::All(entries) = synced.rows else { panic!("expected the whole list") };
        entries
    }

    async fn decide(&self, decide: impl Fn(&Entry) -> Option<Decision>) {
        self.decide_as("s1", decide).await;
    }

    async fn decide_as(&self, id: &str, decide: impl Fn(&Entry) -> Option<Decision>) {
        let entries = self.pending().await;
        let keys: Vec<ActionKey> = entries.iter().map(|entry| entry.key.clone()).collect();
        let loaded: HashMap<_, _> =
            self.inbox.load(&keys).await.into_iter().map(|(key, action)| (key, action.unwrap())).collect();
        let at = Timestamp::default();
        let staged: BTreeMap<ActionKey, Staged> = entries
            .iter()
            .filter_map(|entry| {
                let (decision, batch) = (decide(entry)?, entry.batch());
                Some((entry.key.clone(), Staged { decision, batch, digest: None, terms: None, at }))
            })
            .collect();
        let submission = freeze(SubmissionId::new(id), &staged, &loaded, |_| 1, at).unwrap();
        self.inbox.submit(submission, 0).await.unwrap();
        let (changes, mut told) = tokio::sync::mpsc::channel(64);
        self.inbox.follow(staged.into_keys().collect(), LIMIT, changes).await;
        told.close();
    }

    async fn over(&self, statuses: &[Status], want: usize) -> Vec<Entry> {
        let listing = self.inbox.listed(None, statuses, None).await;
        assert_eq!((listing.problems, listing.unreadable, listing.next), (Vec::new(), Vec::new(), None));
        assert_eq!(listing.entries.len(), want, "{statuses:?}: {:?}", listing.entries);
        listing.entries
    }
}

#[tokio::test]
async fn every_state_is_listed_with_its_timeline() {
    let desk = desk().await;
    for (tool, title) in [("works", "one"), ("fails", "two"), ("works", "three"), ("works", "four")] {
        desk.propose(tool, title).await;
    }
    let edits = Edits::new(RawJson::parse(r#"{"title":"uno"}"#).unwrap()).unwrap();
    desk.decide(|entry| match entry.row.tool.as_raw() {
        "fails" => Some(Decision::APPROVE),
        _ => Some(Decision::Approve { edits: Some(edits.clone()), comment: None }),
    })
    .await;
    desk.propose("works", "five").await;
    desk.decide_as("s2", |_| Some(Decision::Reject { reason: Some("twice".to_owned()) })).await;

    let executed = desk.over(&[Status::Executed], 3).await;
    let failed = desk.over(&[Status::Failed], 1).await;
    let rejected = desk.over(&[Status::Rejected, Status::Expired], 1).await;
    desk.over(&[Status::Expired, Status::Withdrawn, Status::Superseded], 0).await;

    assert!(executed.windows(2).all(|pair| pair[0].row.created_at >= pair[1].row.created_at), "newest first");
    assert_eq!(failed[0].row.resolved_by.as_ref().map(Untrusted::as_raw), Some("owner"));
    let history = desk.inbox.history(&failed[0].key).await.unwrap();
    let events = history.events.unwrap();
    let told: Vec<_> =
        events.iter().map(|it| (it.kind.as_raw(), it.by.as_ref().map(Untrusted::as_raw))).collect();
    let want =
        [("created", Some("agent")), ("approved", Some("owner")), ("dispatched", None), ("failed", None)];
    assert_eq!(told, want);
    let details = events[3].details.as_ref().unwrap().as_str();
    assert!(details.contains("card expired"), "{details}");
    assert_eq!(history.sent[0].reviewer.as_deref(), Some("kim"));
    let history = desk.inbox.history(&rejected[0].key).await.unwrap();
    let last = history.events.unwrap().pop().unwrap();
    assert_eq!(last.kind.as_raw(), "rejected");
    assert!(last.details.unwrap().as_str().contains(r#""reason":"twice""#));
    let decided = desk.inbox.decided(0, 10).await.unwrap();
    assert_eq!(decided.iter().map(|past| past.id.as_str()).collect::<Vec<_>>(), ["s2", "s1"], "newest first");
    assert_eq!(desk.inbox.decided(1, 10).await.unwrap().len(), 1);
}
