//! Real dendrux, an old and a new version, through placet's bridge and through routes written by an owner as its
//! documentation shows. Without the packages these tests are skipped; `tests/bridges/dendrux.sh --install` installs
//! them, and `PLACET_DENDRUX` names another folder.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use placet::for_tests::{
    ActionKey, BatchKey, Connection, Decision, Dendrux, Edits, Entry, EventKind, FactValue, Fields, Inbox,
    Journal, Outcome, RawJson, Refusal, Rows, SourceConfig, SourceKind, SourceName, Staged, Status,
    SubmissionId, TokenFrom, Verdict, freeze, json, now, open,
};

use super::support::home::Home;
use super::support::{LIMIT, eventually, skipped};

const TOKEN: &str = "plain-token";

/// The agents' scripts, one per run; `@HOLD@` is a file for which a model waits.
const SEED: &str = r#"[
  {"turns": [[["buy", {"part": "bolt", "amount": 7}]]]},
  {"turns": [[["scrap", {"machine": "M1"}]]]},
  {"turns": [[["buy", {"part": "nail", "amount": 1}], ["scrap", {"machine": "M2"}]]]},
  {"turns": [[["buy", {"part": "nut", "amount": 2}], ["stock", {"part": "nut"}]]]},
  {"turns": [[["sign", {"parcel": "P1"}]]]},
  {"turns": [[["buy", {"part": "race", "amount": 3}]]]},
  {"turns": [[["buy", {"part": "slow", "amount": 4}]]], "hold": "@HOLD@"},
  {"ask": ["Which one?", "this", "that"]}
]"#;

/// Returns the Python of a version; `None` if it is not installed and `PLACET_DENDRUX` is not set.
fn python(version: &str) -> Option<PathBuf> {
    let named = std::env::var_os("PLACET_DENDRUX").map(PathBuf::from);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = named.as_ref().map_or_else(|| root.join("target/dendrux"), |named| root.join(named));
    let python = folder.join(version).join("bin/python");
    if python.exists() {
        return Some(python);
    }
    assert!(named.is_none(), "PLACET_DENDRUX names a folder without {}", python.display());
    skipped(&format!(
        "dendrux {version} is not at {}; tests/bridges/dendrux.sh --install puts it there",
        folder.display()
    ));
    None
}

struct App {
    child: Child,
    url: String,
    runs: Vec<String>,
}

impl App {
    fn start(python: &Path, home: &Home, bridge: bool, seed: &str) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bridges/dendrux_plain.py");
        let (out, err) = (home.path().join("app.out"), home.path().join("app.err"));
        let mut command = Command::new(python);
        command.arg(script).env_clear().envs(home.env()).env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("DATABASE", home.path().join("runs.db")).env("TOKEN", TOKEN).env("SEED", seed);
        command.stdin(Stdio::null()).stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        if bridge {
            command.env("BRIDGE", "1");
        }
        let mut child = command.spawn().unwrap();
        let line = eventually("the application is ready", || {
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "{ended:?}: {}", fs::read_to_string(&err).unwrap());
            let text = fs::read_to_string(&out).unwrap();
            text.lines().next().filter(|_| text.ends_with('\n')).map(str::to_owned)
        });
        let said = Fields::of(&line).unwrap();
        let text = |fields: &Fields<'_>, name: &str| fields.text(name).unwrap().as_raw().to_owned();
        let runs = json::elements(said.raw("runs").unwrap()).unwrap();
        let runs = runs.into_iter().map(|run| text(&Fields::of(run).unwrap(), "run_id")).collect();
        let url = text(&said, "url").trim_end_matches("/dendrux").to_owned();
        Self { child, url, runs }
    }
}

impl Drop for App {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

struct Desk {
    inbox: Inbox,
    name: SourceName,
}

impl Desk {
    async fn open(app: &App, home: &Home, who: &str) -> Self {
        let kind = SourceKind::Dendrux(Dendrux::default());
        let token = TokenFrom::Command(["printf", "%s", TOKEN].map(str::to_owned).to_vec());
        let of = SourceConfig::of("store", kind, &app.url);
        let config = SourceConfig { token: Some(token), reviewer: Some(who.to_owned()), ..of };
        let source = open(&config).unwrap();
        let journal = Journal::open(&home.path().join(format!("{who}.db"))).await.unwrap();
        let name = config.name;
        Self { inbox: Inbox::open(vec![source], journal, Duration::from_secs(1), Some(who.to_owned())), name }
    }

    async fn listed(&self) -> Vec<Entry> {
        let synced = self.inbox.sync(&self.name, None).await.unwrap();
        assert!(synced.unreadable.is_empty(), "{:?}", synced.unreadable);
        match synced.rows {
            Rows::All(entries) => entries,
            other => panic!("expected the whole list: {other:?}"),
        }
    }

    async fn of_run(&self, run: &str) -> Vec<Entry> {
        let mine = |entry: &Entry| entry.row.run.as_ref().is_some_and(|it| it.as_raw() == run);
        self.listed().await.into_iter().filter(mine).collect()
    }

    /// Reads, freezes and sends decisions like the screen. Returns the outcomes in order.
    async fn decide(&self, decided: &[(&Entry, Decision)]) -> Result<Vec<Outcome>, Refusal> {
        let now = now();
        let pending = self.listed().await;
        let keys: Vec<ActionKey> = decided.iter().map(|(entry, _)| entry.key.clone()).collect();
        let loaded = self.inbox.load(&keys).await.into_iter();
        let loaded: HashMap<_, _> = loaded.map(|(key, action)| (key, action.unwrap())).collect();
        let staged: Vec<_> = decided
            .iter()
            .map(|(entry, decision)| {
                let action = &loaded[&entry.key];
                let (digest, terms) = (Some(action.digest()), action.terms);
                let batch = entry.batch();
                (&entry.key, Staged { decision: decision.clone(), batch, digest, terms, at: now })
            })
            .collect();
        let in_batch = |batch: &BatchKey| pending.iter().filter(|entry| entry.batch() == *batch).count();
        let id = SubmissionId::new(format!("{keys:?}"));
        let staged = staged.iter().map(|(key, staged)| (*key, staged));
        let submission = freeze(id, staged, &loaded, in_batch, now)?;
        let report = self.inbox.submit(submission, 0).await.unwrap();
        let told: HashMap<_, _> = report.lines.into_iter().map(|line| (line.key, line.outcome)).collect();
        Ok(keys.iter().map(|key| told[key].clone()).collect())
    }

    async fn ends(&self, entry: &Entry) -> (Status, Option<String>) {
        let (sender, mut receiver) = tokio::sync::mpsc::channel(16);
        self.inbox.follow(vec![entry.key.clone()], LIMIT, sender).await;
        let mut last = None;
        while let Some(followed) = receiver.recv().await {
            last = Some((followed.status, followed.result.map(|result| result.as_str().to_owned())));
        }
        last.unwrap()
    }

    async fn answer(&self, entry: &Entry) -> String {
        let limit = tokio::time::Instant::now() + LIMIT;
        loop {
            let passages = self.inbox.context(&entry.key, &[]).await.unwrap();
            let facts = passages.iter().flat_map(|passage| &passage.facts);
            for fact in facts.filter(|fact| fact.name.as_raw() == "answer") {
                if let FactValue::Text(text) = &fact.value {
                    return text.as_raw().to_owned();
                }
            }
            assert!(tokio::time::Instant::now() < limit, "it never answers: {passages:?}");
            tokio::task::yield_now().await;
        }
    }
}

fn reject(reason: &str) -> Decision {
    Decision::Reject { reason: Some(reason.to_owned()) }
}

fn filled_in(edits: &str) -> Decision {
    let edits = Edits::new(RawJson::parse(edits).unwrap()).unwrap();
    Decision::Approve { edits: Some(edits), comment: None }
}

struct Stage {
    app: App,
    home: Home,
    desk: Desk,
    /// Whether each call of a turn can be decided separately.
    each: bool,
    bridge: bool,
}

impl Stage {
    async fn set(version: &str, bridge: bool) -> Option<Self> {
        let python = python(version)?;
        let home = Home::with_config("");
        let hold = home.path().join("hold");
        let seed = SEED.replace("@HOLD@", hold.to_str().unwrap());
        let seeded = App::start(&python, &home, bridge, &seed);
        let runs = seeded.runs.clone();
        // Another process finds the waiting runs.
        drop(seeded);
        let mut app = App::start(&python, &home, bridge, "[]");
        app.runs = runs;
        let desk = Desk::open(&app, &home, "kim").await;
        Some(Self { app, home, desk, each: bridge && version != "0.2.0a1", bridge })
    }

    async fn one(&self, nth: usize) -> Entry {
        let mut entries = self.desk.of_run(&self.app.runs[nth]).await;
        assert_eq!(entries.len(), 1, "run {nth}: {entries:?}");
        entries.remove(0)
    }

    async fn everything_waits(&self) {
        let listed = self.desk.listed().await;
        assert_eq!(listed.len(), 9, "{listed:?}");
        for (_, checks) in self.desk.inbox.check().await {
            assert!(checks.iter().all(|check| check.verdict != Verdict::Bad), "{checks:?}");
        }
    }

    /// The bridge pushes the number of waiting calls; without it the inbox polls.
    async fn changes_are_heard_of(&self) {
        let mut events = self.desk.inbox.watch();
        let heard = async {
            loop {
                match events.recv().await.unwrap().kind {
                    EventKind::Briefing(briefing) => break Some(briefing.pending),
                    EventKind::Connection(Connection::Polling) => break None,
                    EventKind::Connection(_) | EventKind::Changed | EventKind::Tick => {}
                }
            }
        };
        let heard = tokio::time::timeout(LIMIT, heard).await.unwrap();
        assert_eq!(heard, self.bridge.then_some(9));
    }

    async fn approved_and_rejected(&self) {
        let (bolts, machine) = (self.one(0).await, self.one(1).await);

        assert_eq!(self.desk.decide(&[(&bolts, Decision::APPROVE)]).await.unwrap(), [Outcome::Approved]);
        assert_eq!(self.desk.decide(&[(&machine, reject("too dear"))]).await.unwrap(), [Outcome::Rejected]);

        let bought = self.desk.ends(&bolts).await;
        assert_eq!(bought, (Status::Executed, Some("\"7 bolt ordered\"".to_owned())));
        assert_eq!(self.desk.ends(&machine).await.0, Status::Rejected);
        let told = self.desk.answer(&machine).await;
        assert!(told.contains("too dear") && !told.contains("scrapped"), "{told}");
    }

    async fn mixed_turn(&self) {
        let mut turn = self.desk.of_run(&self.app.runs[2]).await;
        turn.sort_by_key(|entry| entry.row.tool.as_raw().to_owned());
        let [buy, scrap] = &turn[..] else { panic!("{turn:?}") };
        let half = self.desk.decide(&[(buy, Decision::APPROVE)]).await;
        assert!(matches!(half, Err(Refusal::PartOfTurn(_, 1))), "{half:?}");

        let mixed = self.desk.decide(&[(buy, Decision::APPROVE), (scrap, reject("keep it"))]).await;

        if self.each {
            assert_eq!(mixed.unwrap(), [Outcome::Approved, Outcome::Rejected]);
            assert_eq!(self.desk.ends(scrap).await.0, Status::Rejected);
        } else {
            assert!(matches!(mixed, Err(Refusal::MixedTurn(_))), "{mixed:?}");
            let both = [(buy, Decision::APPROVE), (scrap, Decision::APPROVE)];
            assert_eq!(self.desk.decide(&both).await.unwrap(), [Outcome::Approved, Outcome::Approved]);
            assert_eq!(self.desk.ends(scrap).await.0, Status::Executed);
        }
        assert_eq!(self.desk.ends(buy).await.0, Status::Executed);
    }

    async fn gated_beside_ungated(&self) {
        let buy = self.one(3).await;
        assert_eq!(buy.row.can.also_rejects, u16::from(!self.each));

        assert_eq!(self.desk.decide(&[(&buy, reject("enough"))]).await.unwrap(), [Outcome::Rejected]);

        assert_eq!(self.desk.ends(&buy).await.0, Status::Rejected);
        let answer = self.desk.answer(&buy).await;
        assert_eq!(answer.contains("12 nut"), self.each, "the result of the ungated call: {answer}");
    }

    async fn clients_call(&self) {
        let sign = self.one(4).await;
        let bare = self.desk.decide(&[(&sign, Decision::APPROVE)]).await;
        assert!(matches!(bare, Err(Refusal::AnswerRequired(_))), "{bare:?}");

        let given = filled_in(r#"{"result": {"signed by": "lee"}}"#);
        assert_eq!(self.desk.decide(&[(&sign, given)]).await.unwrap(), [Outcome::Approved]);

        assert_eq!(self.desk.ends(&sign).await.0, Status::Executed);
        assert!(self.desk.answer(&sign).await.contains("lee"));
    }

    async fn race(&self) {
        let other = Desk::open(&self.app, &self.home, "lee").await;
        let (one, two) = (self.one(5).await, other.of_run(&self.app.runs[5]).await.remove(0));
        let (yes, no) = ([(&one, Decision::APPROVE)], [(&two, reject("no"))]);

        let (first, second) = tokio::join!(self.desk.decide(&yes), other.decide(&no));

        let told = [first.unwrap().remove(0), second.unwrap().remove(0)];
        let won = told.iter().filter(|it| matches!(it, Outcome::Approved | Outcome::Rejected)).count();
        let lost = told.iter().filter(|it| matches!(it, Outcome::Skipped { .. })).count();
        assert_eq!((won, lost), (1, 1), "{told:?}");
        let first = if told[0] == Outcome::Approved { "kim" } else { "lee" };
        let named =
            |it: &Outcome| matches!(it, Outcome::Skipped { by: Some(by), .. } if by.as_raw() == first);
        assert_eq!(told.iter().any(named), self.bridge, "only the bridge reports who was first: {told:?}");
        let ended = self.desk.ends(&one).await.0;
        assert_eq!(ended == Status::Executed, told[0] == Outcome::Approved, "{told:?} {ended:?}");
    }

    async fn slow_model(&self) {
        let buy = self.one(6).await;
        let release = || fs::write(self.home.path().join("hold"), "").unwrap();
        let yes = [(&buy, Decision::APPROVE)];

        if self.bridge {
            // The bridge answers before it asks the model, which waits for the file.
            assert_eq!(self.desk.decide(&yes).await.unwrap(), [Outcome::Approved]);
            assert_eq!(self.desk.ends(&buy).await.0, Status::Executed);
            release();
        } else {
            // The answer comes with the end of the run, but the written log already shows the result.
            let ran = async {
                let other = Desk::open(&self.app, &self.home, "ann").await;
                while other.of_run(&self.app.runs[6]).await.len() == 1 {
                    tokio::task::yield_now().await;
                }
                assert_eq!(other.ends(&buy).await.0, Status::Executed);
                release();
            };
            let (told, ()) = tokio::join!(self.desk.decide(&yes), ran);
            assert_eq!(told.unwrap(), [Outcome::Approved]);
        }
        assert!(self.desk.answer(&buy).await.contains("4 slow ordered"));
    }

    async fn question(&self) {
        let asked = self.one(7).await;
        assert!(asked.row.can.answer && !asked.row.can.reject);
        assert!(asked.row.title.as_raw().contains("Which one?"), "{:?}", asked.row.title);

        let given = filled_in(r#"{"answer": "that"}"#);
        assert_eq!(self.desk.decide(&[(&asked, given)]).await.unwrap(), [Outcome::Approved]);

        assert_eq!(self.desk.ends(&asked).await.0, Status::Executed);
        assert!(self.desk.answer(&asked).await.contains("that"));
    }
}

async fn story(version: &str, bridge: bool) {
    let Some(stage) = Stage::set(version, bridge).await else { return };
    stage.everything_waits().await;
    stage.changes_are_heard_of().await;
    stage.approved_and_rejected().await;
    stage.mixed_turn().await;
    stage.gated_beside_ungated().await;
    stage.clients_call().await;
    stage.race().await;
    stage.slow_model().await;
    stage.question().await;
    assert!(stage.desk.listed().await.is_empty(), "everything was decided");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_dendrux_is_decided_through_the_bridge() {
    story("0.4.1", true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_dendrux_is_decided_through_the_owners_routes() {
    story("0.4.1", false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_dendrux_is_decided_through_the_bridge() {
    story("0.2.0a1", true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_dendrux_is_decided_through_the_owners_routes() {
    story("0.2.0a1", false).await;
}
