//! Moving a gate from SQLite to PostgreSQL. Skipped without a server.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::Method;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, SqliteConnection};
use tempfile::TempDir;

use super::support::{Answer, TestGate, answer, config, ids, serve};
use crate::config::{CallbackConfig, GateConfig, PostgresConfig, RiskApprovals, TokenFrom};
use crate::contract::settle::SettleAs;
use crate::contract::time;
use crate::domain::{Flows, Minute, Timestamp};
use crate::gate::store::moving::MoveError;
use crate::gate::store::{AskedFlows, Batches, Counts};
use crate::gate::which::Which;
use crate::gate::{Gate, GateError, Move, Moved, Scope, Token};

/// The old and the new database.
struct Places {
    _folder: TempDir,
    old: GateConfig,
    new: GateConfig,
}

impl Places {
    fn find() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let new = config(folder.path());
        // A move connects to the server without a pooler.
        new.server.as_ref().filter(|_| !new.postgres.pooler)?;
        let file = folder.path().join("secret");
        std::io::Write::write_all(
            &mut crate::private::options().write(true).create(true).open(&file).unwrap(),
            b"secret",
        )
        .unwrap();
        let secret = TokenFrom::File(file);
        let nobody = CallbackConfig { line: 1, url: "http://127.0.0.1:1/".to_owned(), secret };
        let callbacks = [("nobody".to_owned(), nobody)].into();
        let approvals = RiskApprovals { critical: 2, ..RiskApprovals::default() };
        let new = GateConfig { approvals, ..new };
        let old = GateConfig { server: None, callbacks, ..new.clone() };
        Some(Self { _folder: folder, old, new })
    }

    fn url(&self) -> &str {
        self.new.server.as_deref().unwrap()
    }

    async fn open(&self) -> Result<Move, MoveError> {
        Move::open(&self.old.database, self.url(), &PostgresConfig::default()).await
    }

    async fn moved(&self) -> Result<Moved, MoveError> {
        all(&self.old.database, self.url()).await
    }

    async fn refused(&self) -> String {
        self.moved().await.unwrap_err().to_string()
    }

    /// Makes a gate with one pending action and closes it.
    async fn small(&self) {
        let gate = serve(Gate::open(&self.old).await.unwrap()).await;
        gate.propose("t", "{}").await;
        gate.stop().await;
    }

    /// Runs SQL in the old database file.
    async fn at_file(&self, sql: &'static str) {
        let mut conn = self.file().await;
        conn.execute(sql).await.unwrap();
        conn.close().await.unwrap();
    }

    async fn file(&self) -> SqliteConnection {
        let url = format!("sqlite:{}?mode=rwc", self.old.database.display());
        SqliteConnection::connect(&url).await.unwrap()
    }

    /// Runs SQL in the new database.
    async fn at_server(&self, sql: &str) {
        let options: PgConnectOptions = self.url().parse().unwrap();
        let mut conn = options.options([("search_path", "placet")]).connect().await.unwrap();
        conn.execute(AssertSqlSafe(sql.to_owned())).await.unwrap();
    }

    async fn is_bare(&self) -> bool {
        let options: PgConnectOptions = self.url().parse().unwrap();
        let mut conn = options.connect().await.unwrap();
        sqlx::query_scalar("SELECT to_regclass('placet.heads') IS NULL").fetch_one(&mut conn).await.unwrap()
    }
}

async fn all(from: &Path, to: &str) -> Result<Moved, MoveError> {
    let mut moving = Move::open(from, to, &PostgresConfig::default()).await?;
    moving.read(&AtomicU64::new(0)).await?;
    let carried = AtomicU64::new(0);
    moving.carry(&carried).await?;
    assert_eq!(carried.load(Ordering::Relaxed), moving.rows());
    let moved = moving.verify(&AtomicU64::new(0)).await?;
    moving.close().await;
    Ok(moved)
}

/// Posts under an idempotency key, decisions as the owner and everything else as the agent.
async fn keyed(gate: &TestGate, path: &str, body: &str, key: &str) -> Answer {
    let token = if path.ends_with("/approve") { &gate.owner } else { &gate.agent };
    let request = gate.request(Method::POST, path, token).header("content-type", "application/json");
    answer(request.header("idempotency-key", key).body(body.to_owned())).await
}

const PROPOSE: &str = "/api/pending-actions";
const CALL: &str =
    r#"{"toolName":"t","workspaceId":"w","toolInput":{"n":1.10},"sessionId":"s","toolCallId":"c"}"#;
const KEPT: &str =
    r#"{"toolName":"t","workspaceId":"w","toolInput":{"n":1.10},"sessionId":"s","toolCallId":"d"}"#;
const EDITS: &str = r#"{"userEdits":{"n":2.50}}"#;

async fn claimed(gate: &TestGate, input: &str) -> (String, String) {
    let id = gate.propose("t", input).await;
    gate.approve(&id, "").await;
    let path = format!("/api/pending-actions/{id}/claim");
    let claim = gate.post_as(&gate.agent, &path, r#"{"leaseSeconds":600}"#).await;
    (id, claim.at("/fence"))
}

/// Ends all leases. They are long, so that none ends while a test compares.
async fn leases_end(gate: &TestGate) {
    gate.gate.inner.clock.pass(601_000);
    gate.gate.store().expire().await.unwrap();
    gate.gate.store().recover(Which::default(), Vec::new()).await.unwrap();
}

/// Makes a gate with actions in every status and rows in every table. Returns the id of an action approved with
/// [`EDITS`].
async fn filled(places: &Places) -> (TestGate, String) {
    let gate = serve(Gate::open(&places.old).await.unwrap()).await;
    let soon = || gate.gate.inner.clock.now().plus_millis(60_000);
    assert_eq!(keyed(&gate, PROPOSE, CALL, "gone").await.status, 202);
    gate.reject(&ids(&gate.list("").await)[0], r#"{"reason":"no"}"#).await;
    gate.gate.prune(soon(), Some("operator"), &AtomicU64::new(0), |_| Ok::<_, GateError>(())).await.unwrap();
    assert_eq!(keyed(&gate, PROPOSE, KEPT, "kept").await.status, 202);
    gate.reject(&gate.propose("t", "{}").await, r#"{"reason":"no"}"#).await;
    claimed(&gate, "{}").await;
    gate.propose_with("t", "{}", &format!(r#","expiresAt":"{}""#, time::write(soon()))).await;
    leases_end(&gate).await;
    let (lost, _) = claimed(&gate, "{}").await;
    leases_end(&gate).await;
    gate.gate.settle(&lost, SettleAs::Failed, Some("looked".to_owned()), "kim").await.unwrap();
    for end in [r#""result":{"n":1.10}"#, r#""error":"broke at é""#] {
        let (id, fence) = claimed(&gate, r#"{"text":"é 世 \u0000"}"#).await;
        let body = format!(r#"{{"fence":{fence},{end}}}"#);
        gate.post_as(&gate.agent, &format!("/api/pending-actions/{id}/result"), &body).await;
    }
    let approved = gate.propose("t", r#"{"n":1}"#).await;
    gate.post(&format!("/api/claims/{approved}"), "").await;
    let person = Token::by_proxy("kim é".to_owned(), Some("Kim".to_owned()), vec!["support".to_owned()]);
    let person = Token { workspace: "w".to_owned(), scopes: vec![Scope::Read, Scope::Decide], ..person };
    gate.gate.store().note_proxied(person, gate.gate.inner.clock.now()).await.unwrap();
    let path = format!("/api/pending-actions/{approved}/approve");
    assert_eq!(keyed(&gate, &path, EDITS, "decided").await.status, 200);
    claimed(&gate, "{}").await;
    let back = gate.propose_with("t", "{}", r#","callback":"nobody""#).await;
    gate.post_as(&gate.agent, &format!("/api/pending-actions/{back}/withdraw"), "").await;
    for n in 0..12 {
        let more = format!(
            r#","batchId":"b{}","missionId":"m","checkpointId":"c","preview":{{"n":{n}}},"before":{{"n":1.0}}"#,
            n % 5
        );
        gate.propose_with(["t", "u"][n % 2], &format!(r#"{{"n":{n}.0}}"#), &more).await;
    }
    let half = gate.propose_with("t", r#"{"n":1}"#, r#","risk":"critical""#).await;
    assert_eq!(gate.approve(&half, EDITS).await.at("/approvals/given"), "1");
    let older = gate.propose("t", "{}").await;
    gate.propose_with("t", "{}", &format!(r#","supersedes":"{older}""#)).await;
    gate.gate.create_token("guest", "x", &[Scope::Read], None).await.unwrap();
    let tokens = gate.gate.list_tokens().await.unwrap();
    let guest = tokens.into_iter().find(|token| token.subject == "guest").unwrap();
    gate.gate.revoke_token(&guest.id).await.unwrap();
    gate.gate.pause(Some("x"), Some("kim")).await.unwrap();
    (gate, approved)
}

/// Sorted, because databases count in any order.
async fn census_of(gate: &Gate, workspace: &str) -> String {
    let mut census = gate.store().census(workspace).await.unwrap();
    census.by_status.sort_by_key(|(status, _)| status.as_raw().to_owned());
    format!("{census:#?}")
}

/// Everything a gate can be asked, as text. Omits the last uses of tokens, which may change at any time.
async fn told(gate: &Gate) -> Vec<String> {
    let store = gate.store();
    let unused = |token| Token { last_used_at: None, ..token };
    let tokens: Vec<_> = store.tokens().await.unwrap().into_iter().map(unused).collect();
    let mut told = vec![format!("{tokens:#?}")];
    for workspace in ["w", "x", "*"] {
        let asked = AskedFlows {
            workspace: workspace.to_owned(),
            from: Minute::new(0),
            decided: Minute::new(0),
            now: gate.inner.clock.now(),
            reviewers: true,
            groups: None,
        };
        let flows = Flows { at: Timestamp::from_millis(0), ..store.flows(&asked).await.unwrap() };
        told.extend([
            format!("{:#?}", store.audit(workspace, 0, 10_000).await.unwrap()),
            format!("{:#?}", store.briefing(&Counts::all(workspace), Batches::All).await.unwrap()),
            format!("{:#?}", store.checkpoints(workspace, None).await.unwrap()),
            format!("{:#?}", store.outstanding(workspace).await.unwrap()),
            format!("{flows:#?}"),
            format!("{:#?}", store.changes(workspace, 0, 10_000, 1 << 30).await.unwrap()),
            format!("{:#?}", store.paused(workspace).await.unwrap()),
            format!("{:#?}", store.proxied(workspace).await.unwrap()),
            census_of(gate, workspace).await,
        ]);
    }
    for id in store.beginning("", 10_000).await.unwrap() {
        told.push(format!("{:#?}", store.get(&id).await.unwrap()));
    }
    told
}

fn same(old: &[String], new: &[String]) {
    assert!(old.len() > 40, "{}", old.len());
    for (old, new) in old.iter().zip(new) {
        assert_eq!(old, new);
    }
    assert_eq!(old.len(), new.len());
}

#[tokio::test]
async fn moved_gate_equals_the_old_one() {
    let Some(places) = Places::find() else { return };
    let (gate, approved) = filled(&places).await;
    let states = gate.gate.store().census("w").await.unwrap().by_status;
    let (before, list) = (told(&gate.gate).await, gate.list("&limit=1000").await.json());
    let decide = format!("/api/pending-actions/{approved}/approve");
    let decided = keyed(&gate, &decide, EDITS, "decided").await.text;
    let proposed = keyed(&gate, PROPOSE, KEPT, "kept").await.text;
    let (heads, old) = (gate.gate.audit_heads().await.unwrap(), gate.gate.clone());
    let (agent, owner) = (gate.agent.clone(), gate.owner.clone());
    gate.stop().await;
    let bytes = std::fs::read(&places.old.database).unwrap();

    let moved = places.moved().await.unwrap();
    let new = old.open_another(&places.new).await.unwrap();

    assert!(moved.tables.iter().all(|table| table.rows > 0), "a table has no rows to compare: {moved:?}");
    assert_eq!(states.len(), 10, "{states:?}");
    assert_eq!(moved.heads, heads);
    assert_eq!(std::fs::read(&places.old.database).unwrap(), bytes, "the old database was changed");
    same(&before, &told(&new).await);
    assert_eq!(new.verify_audit(&heads).await.unwrap().problems, Vec::<String>::new());
    let mut gate = serve(new).await;
    (gate.agent, gate.owner) = (agent, owner);
    assert_eq!(gate.list("&limit=1000").await.json()["items"], list["items"]);
    assert_eq!(keyed(&gate, &decide, EDITS, "decided").await.text, decided);
    assert_eq!(keyed(&gate, PROPOSE, KEPT, "kept").await.text, proposed);
    for key in ["gone", "another"] {
        assert_eq!(keyed(&gate, PROPOSE, CALL, key).await.code(), (409, "ACTION_PRUNED".to_owned()));
    }
    let id = gate.propose("t", "{}").await;
    let next = gate.gate.store().get(&id).await.unwrap().unwrap();
    gate.stop().await;
    let newest: (i64, i64) = sqlx::query_as(
        "SELECT (SELECT MAX(seq) FROM actions), (SELECT revision FROM heads WHERE workspace = 'w')",
    )
    .fetch_one(&mut places.file().await)
    .await
    .unwrap();
    // Two tokens were created before it.
    assert_eq!((next.seq, next.action.row.revision.0), (newest.0 + 1, newest.1 as u64 + 3));
}

/// Runs in a process that is killed at each point.
#[tokio::test]
async fn moves_for_another_process() {
    let Ok(places) = std::env::var("PLACET_TEST_MOVE") else { return };
    let (from, to) = places.split_once(' ').unwrap();
    all(Path::new(from), to).await.unwrap();
}

#[tokio::test]
async fn move_killed_after_every_step_completes() {
    let Some(places) = Places::find() else { return };
    let (gate, _) = filled(&places).await;
    let (before, old) = (told(&gate.gate).await, gate.gate.clone());
    gate.stop().await;
    let attempt = |nth: u32| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "gate::tests::moving::moves_for_another_process"]);
        command.env("PLACET_TEST_MOVE", format!("{} {}", places.old.database.display(), places.url()));
        command.env("PLACET_KILL_AT", format!("any:{nth}")).output().unwrap().status
    };

    let mut kills = 0;
    loop {
        // The last points are passed by every attempt, even with nothing left to copy.
        assert_eq!(attempt(1 + kills % 3).signal(), Some(9), "after {kills} kills");
        kills += 1;
        match [Gate::open(&places.new).await, Gate::open_to_read(&places.new).await] {
            [Ok(_), Ok(_)] => break,
            said => {
                for said in said {
                    let said = said.unwrap_err().to_string();
                    assert!(said.contains("the move is not finished"), "{said}");
                }
            }
        }
        assert!(kills < 200, "the move does not finish");
    }

    assert!(kills > 10, "{kills}");
    same(&before, &told(&old.open_another(&places.new).await.unwrap()).await);
    let said = places.refused().await;
    assert!(said.contains("was moved to the database") && said.contains("before"), "{said}");
}

#[tokio::test]
async fn gate_is_not_moved_to_a_used_database() {
    let Some(places) = Places::find() else { return };
    places.small().await;
    let there = Gate::open(&places.new).await.unwrap();
    there.create_token("somebody", "w", &[Scope::Read], None).await.unwrap();
    let before = there.audit_heads().await.unwrap();

    let said = places.refused().await;

    assert!(said.contains("is not empty (its table heads has rows)"), "{said}");
    assert_eq!(there.audit_heads().await.unwrap(), before);
    assert_eq!(there.verify_audit(&before).await.unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn migrated_empty_database_is_accepted() {
    let Some(places) = Places::find() else { return };
    places.small().await;
    Gate::open(&places.new).await.unwrap().close().await;

    places.moved().await.unwrap();

    assert_eq!(Gate::open(&places.new).await.unwrap().list_tokens().await.unwrap().len(), 2);
}

#[tokio::test]
async fn gate_changed_between_attempts_is_refused() {
    let Some(places) = Places::find() else { return };
    places.small().await;
    let mut first = places.open().await.unwrap();
    first.read(&AtomicU64::new(0)).await.unwrap();
    drop(first);
    // A change that is not in the audit.
    places.at_file("UPDATE actions SET renewed_until = 1").await;

    let said = places.refused().await;

    assert!(said.contains("is not as it was") && said.contains("table actions"), "{said}");
    places.at_server("DROP SCHEMA placet CASCADE").await;
    places.moved().await.unwrap();
}

#[tokio::test]
async fn writes_during_a_move_are_detected() {
    let Some(places) = Places::find() else { return };
    places.small().await;
    let mut moving = places.open().await.unwrap();
    let zero = AtomicU64::new(0);
    moving.read(&zero).await.unwrap();
    moving.carry(&zero).await.unwrap();
    places.at_server("UPDATE payloads SET input = '{ }'").await;

    let changed = moving.verify(&zero).await.unwrap_err().to_string();
    places.at_server("UPDATE payloads SET input = '{}'").await;
    let gate = Gate::open(&places.old).await.unwrap();
    gate.create_token("late", "w", &[Scope::Read], None).await.unwrap();
    gate.close().await;
    let late = moving.verify(&zero).await.unwrap_err().to_string();
    moving.close().await;

    assert!(changed.contains("table payloads differs"), "{changed}");
    assert!(late.contains("somebody wrote to the old one meanwhile"), "{late}");
    assert!(
        matches!(Gate::open(&places.new).await, Err(error) if error.to_string().contains("not finished"))
    );
}

#[tokio::test]
async fn u0000_is_reported_before_moving() {
    let Some(places) = Places::find() else { return };
    places.small().await;
    places.at_file("UPDATE actions SET title = 'a' || char(0) || 'b'").await;
    places.at_file("INSERT INTO pauses VALUES ('x' || char(0), 1, NULL)").await;
    let id: String =
        sqlx::query_scalar("SELECT id FROM actions").fetch_one(&mut places.file().await).await.unwrap();

    let said = places.refused().await;

    assert!(said.contains(&format!("U+0000, which stands in action {id}, a row of pauses")), "{said}");
    assert!(said.contains("nothing was moved"), "{said}");
    let there = Gate::open(&places.new).await.unwrap();
    assert_eq!(there.audit_heads().await.unwrap(), []);
}

#[tokio::test]
async fn gate_with_an_invalid_audit_is_not_moved() {
    let Some(places) = Places::find() else { return };
    places.small().await;
    places.at_file("UPDATE actions SET risk = 'low'").await;

    let said = places.refused().await;

    assert!(said.contains("the audit of") && said.contains("does not hold: action"), "{said}");
    assert_eq!(Gate::open(&places.new).await.unwrap().audit_heads().await.unwrap(), []);
}

#[tokio::test]
async fn database_of_another_program_or_version_is_refused() {
    let Some(places) = Places::find() else { return };
    assert!(places.refused().await.contains("cannot open the database"));
    places.at_file("CREATE TABLE _sqlx_migrations (version INTEGER, checksum BLOB)").await;
    for (sql, said) in [
        // Like placet's journal.
        ("INSERT INTO _sqlx_migrations VALUES (1, x'00')", "is not the database of a gate"),
        (
            "CREATE TABLE heads (a); CREATE TABLE actions (a); CREATE TABLE payloads (a)",
            "was not written by this version of placet",
        ),
    ] {
        places.at_file(sql).await;
        let refused = places.refused().await;
        assert!(refused.contains(said), "{sql}: {refused}");
    }
    assert!(places.is_bare().await);
}

#[tokio::test]
async fn refusing_server_is_reported_and_left_empty() {
    let Some(places) = Places::find() else { return };
    places.small().await;
    let name = places.url().rsplit('/').next().unwrap().to_owned();
    let refused = async |url: String| all(&places.old.database, &url).await.unwrap_err().to_string();

    let nowhere = refused(format!("{}x", places.url())).await;
    places.at_server(&format!("CREATE ROLE poor_{name} LOGIN")).await;
    let poor = refused(places.url().replace("placet@", &format!("poor_{name}@"))).await;
    places.at_server(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).await;
    let reads = refused(places.url().to_owned()).await;

    assert!(nowhere.contains("has no such database"), "{nowhere}");
    assert!(poor.contains("refuses this user a right") && poor.contains("owner"), "{poor}");
    assert!(reads.contains("only reads; name the server that writes"), "{reads}");
    assert!(places.is_bare().await);
}
