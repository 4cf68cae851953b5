//! G18: over any broken network, the final report equals the gate's state, and no decision is sent twice.

use std::collections::BTreeMap;

use std::io::Write as _;

use futures_util::stream;
use secrecy::ExposeSecret as _;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::config::{GateConfig, Limits, PostgresConfig, SourceConfig, SourceKind, TokenFrom};
use crate::domain::{Edits, Entry, RawJson};
use crate::gate::{Gate, Scope};
use crate::private;
use crate::rounds::{Random, rounds};
use crate::sources::AgentClient;

mod proxy;

use proxy::Proxy;

/// Time limit per request, instead of a minute, so that silence costs little.
const HURRY: Duration = Duration::from_millis(150);

struct Served {
    address: String,
    agent: SourceConfig,
    owner: SourceConfig,
    lee: SourceConfig,
    folder: TempDir,
}

async fn served() -> Served {
    let folder = tempfile::tempdir().unwrap();
    let config = GateConfig {
        file: "config.toml".into(),
        listen: ([127, 0, 0, 1], 0).into(),
        may_move: false,
        database: folder.path().join("gate.db"),
        server: None,
        postgres: PostgresConfig::default(),
        workspace: "w".to_owned(),
        limits: Limits { proposal_burst: 1_000_000, proposals_per_minute: 1_000_000, ..Limits::default() },
        denied: std::collections::BTreeSet::new(),
        allow_targets: Vec::new(),
        hosts: Vec::new(),
        tls: None,
        behind_proxy: false,
        approval_ttl: Duration::from_hours(168),
        approvals: crate::config::RiskApprovals::default(),
        keep_settled: None,
        trusted_proxies: Vec::new(),
        proxy: None,
        stop_within: Duration::from_secs(1),
        tools: BTreeMap::new(),
        callbacks: BTreeMap::new(),
    };
    let gate = Gate::open(&config).await.unwrap();
    let tokens = gate.first_tokens(folder.path()).await.unwrap();
    let lee = gate.create_token("lee", "w", &[Scope::Read, Scope::Decide], None).await.unwrap();
    let lees = folder.path().join("lee.token");
    let mut file = private::options().create_new(true).write(true).open(&lees).unwrap();
    file.write_all(lee.expose_secret().as_bytes()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(gate.serve(listener, CancellationToken::new()));
    let source = |token| SourceConfig {
        workspace: Some("w".to_owned()),
        token: Some(TokenFrom::File(token)),
        ..SourceConfig::of("gate", SourceKind::Gate, format!("http://{address}"))
    };
    let (agent, owner, lee) = (source(tokens.agent), source(tokens.owner), source(lees));
    Served { address, agent, owner, lee, folder }
}

/// A reviewer behind a broken network.
struct Round {
    seed: usize,
    inbox: Inbox,
    proxy: Proxy,
    /// The same reviewer on a working network.
    direct: Arc<dyn Source>,
    entries: Vec<Entry>,
    told: Vec<Report>,
}

impl Round {
    async fn begin(served: &Served, seed: usize, chance: &mut Random) -> Self {
        let agent = AgentClient::open(&served.agent).unwrap();
        for nth in 0..2 + chance.below(6) {
            let batch = match chance.below(3) {
                0 => String::new(),
                n => format!(r#","batchId":"b{seed}-{n}""#),
            };
            let body = format!(
                r#"{{"toolName":"t","workspaceId":"w","runId":"r{seed}","toolInput":{{"n":{nth}}}{batch}}}"#
            );
            agent.propose_json(body).await.unwrap();
        }
        let proxy = Proxy::start(&served.address, Random::of(seed as u64 ^ 0x00fa_0175)).await;
        let through = SourceConfig { url: proxy.url.clone(), ..served.owner.clone() };
        let journal = Journal::open(&served.folder.path().join(format!("journal-{seed}.db"))).await.unwrap();
        let source = sources::open_in_a_hurry(&through, HURRY).unwrap();
        let inbox = Inbox::open(vec![source], journal, Duration::from_secs(10), Some("Ada".to_owned()));
        let inbox = Inbox { pace: QUICK, ..inbox };
        let direct = sources::open(&served.owner).unwrap();
        let sources::Synced::All { rows, .. } = direct.sync(None).await.unwrap() else { panic!("all rows") };
        let ours = rows
            .into_iter()
            .filter(|row| row.run.as_ref().is_some_and(|run| run.as_raw() == format!("r{seed}")));
        let entries = ours.map(|row| {
            let key = ActionKey { source: SourceName::new("gate"), id: row.id.clone() };
            Entry { key, row }
        });
        Self { seed, inbox, proxy, direct: Arc::clone(&direct), entries: entries.collect(), told: Vec::new() }
    }

    async fn decide(&self, chance: &mut Random) -> Option<Submission> {
        let ids: Vec<ActionId> = self.entries.iter().map(|entry| entry.key.id.clone()).collect();
        let actions = self.direct.get(&ids).await.unwrap();
        let loaded: HashMap<ActionKey, PendingAction> = actions
            .into_iter()
            .map(Result::unwrap)
            .map(|action| (ActionKey { source: SourceName::new("gate"), id: action.row.id.clone() }, action))
            .collect();
        let at = Timestamp::default();
        let mut staged = BTreeMap::new();
        for entry in &self.entries {
            let edits = Edits::new(RawJson::parse(r#"{"n":7.50}"#).unwrap()).unwrap();
            let decision = match chance.below(6) {
                0 => continue,
                1 => Decision::Reject { reason: Some("no".to_owned()) },
                2 => Decision::Approve { edits: Some(edits), comment: None },
                _ => Decision::APPROVE,
            };
            let terms = loaded[&entry.key].terms;
            staged.insert(
                entry.key.clone(),
                Staged { decision, batch: entry.batch(), digest: None, terms, at },
            );
        }
        freeze(SubmissionId::new(format!("s{}", self.seed)), &staged, &loaded, |_| 1, at).ok()
    }

    async fn others(&self, lee: &SourceConfig, chance: &mut Random) {
        let lee = sources::open(lee).unwrap();
        for entry in &self.entries {
            if chance.below(6) == 0 {
                let one = std::slice::from_ref(&entry.key.id);
                let action = self.direct.get(one).await.unwrap().remove(0).unwrap();
                let alone = BatchKey::Alone(entry.key.clone());
                let decision = Decision::Reject { reason: None };
                let staged = Staged {
                    decision,
                    batch: alone,
                    digest: None,
                    terms: action.terms,
                    at: Timestamp::default(),
                };
                let staged = HashMap::from([(entry.key.clone(), staged)]);
                let loaded = HashMap::from([(entry.key.clone(), action)]);
                let id = SubmissionId::new("other");
                let submission = freeze(id, &staged, &loaded, |_| 1, Timestamp::default()).unwrap();
                let key = format!("other-{}", entry.key.id.as_raw());
                lee.submit(&submission.batches()[0], &key).await.unwrap();
            }
        }
    }

    async fn reconcile(&mut self, in_flight: Duration) {
        let inbox = Inbox { pace: Pace { in_flight, ..self.inbox.pace }, ..self.inbox.clone() };
        let reconciled = inbox.reconcile().await.unwrap();
        self.told.extend(reconciled.into_iter().map(|one| one.report));
    }

    /// Checks that every certain outcome equals the gate's state, and that none stays unknown.
    async fn check(&self) {
        let last = self.told.last().unwrap();
        let ids: Vec<ActionId> = last.lines.iter().map(|line| line.key.id.clone()).collect();
        let actions = self.direct.get(&ids).await.unwrap();
        let holds: HashMap<ActionId, Row> = actions
            .into_iter()
            .map(Result::unwrap)
            .map(|action| (action.row.id.clone(), action.row))
            .collect();
        let why = || format!("seed {}: {} {:#?}", self.seed, self.proxy.did(), self.told);
        for line in self.told.iter().flat_map(|report| &report.lines) {
            let row = &holds[&line.key.id];
            let (status, ours) =
                (&row.status, row.resolved_by.as_ref().is_some_and(|by| by.as_raw() == "owner"));
            let right = match &line.outcome {
                Outcome::Approved => ours && *status == Status::Approved,
                Outcome::Rejected => ours && *status == Status::Rejected,
                Outcome::Failed { .. } => !ours,
                Outcome::Skipped { status: said, .. } => !ours && said.as_ref() == Some(status),
                Outcome::Unknown { .. } => true,
                Outcome::Accepted | Outcome::PartlyApproved { .. } => false,
            };
            assert!(right, "{} is {status:?}: {line:?}; {}", line.key.id.as_raw(), why());
        }
        assert_eq!(last.counts().unknown, 0, "{}", why());
        for id in &ids {
            let events = self.direct.abilities().timeline.unwrap().timeline(id).await.unwrap();
            let decided =
                events.iter().filter(|event| matches!(event.kind.as_raw(), "approved" | "rejected"));
            assert!(decided.count() <= 1, "{}", why());
            let sent = self.proxy.posts().into_iter().filter(|(path, body)| {
                path.contains(id.as_raw()) || body.contains(&format!("\"{}\"", id.as_raw()))
            });
            assert!(sent.count() <= 1, "sent again; {}", why());
        }
    }
}

async fn play(served: &Served, seed: usize) -> u64 {
    let mut chance = Random::of(seed as u64);
    let mut round = Round::begin(served, seed, &mut chance).await;
    let Some(submission) = round.decide(&mut chance).await else { return 0 };
    round.others(&served.lee, &mut chance).await;

    let report = round.inbox.submit(submission, 0).await.unwrap();
    round.told.push(report);
    for _ in 0..chance.below(3) {
        round.reconcile(QUICK.in_flight).await;
    }
    round.proxy.heal().await;
    for _ in 0..20 {
        if round.told.last().unwrap().counts().unknown == 0 {
            break;
        }
        round.reconcile(Duration::ZERO).await;
    }

    round.check().await;
    round.inbox.close().await;
    round.told[0].counts().unknown
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn g18_report_equals_the_gate_over_any_network() {
    let served = served().await;
    let mut chance = Random::seeded();
    let seeds: Vec<usize> = (0..rounds(16, 1_000)).map(|_| chance.below(1 << 30)).collect();

    let lost: Vec<u64> =
        stream::iter(&seeds).map(|seed| play(&served, *seed)).buffer_unordered(16).collect().await;

    // The network must lose enough to prove something.
    assert!(lost.iter().filter(|lost| **lost > 0).count() > seeds.len() / 10, "{lost:?}");
}
