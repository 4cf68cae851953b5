//! Query plans: calls every route of a gate and checks the plan of each logged SQLite statement. No statement may scan a
//! table that grows with history. `plans/postgres.rs` does the same for PostgreSQL.

mod postgres;

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use placet::for_tests::Fields;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, Row as _, SqliteConnection};

use super::support::LIMIT;
use super::support::agent::{propose, request};
use super::support::gate::{Address, Gate};
use super::support::home::Home;

const CONFIG: &str = r#"
[gate]
listen = "127.0.0.1:0"
[gate.tools.twice]
approvals = 2
[gate.tools.note]
executor = "command"
argv = ["true"]
"#;

/// Names that may be scanned: workspaces, tokens, migrations, a statement's constants, and the rows that a request names.
/// Aliases of tables are not exempt, or one could hide a growing table.
const SMALL: [&str; 6] = ["heads", "tokens", "_sqlx_migrations", "sqlite_master", "CONSTANT", "json_each"];

const ACTIONS: &str = "/api/pending-actions";

/// A client that records the called routes under their names in `openapi.json`.
struct Caller<'a> {
    address: &'a Address,
    called: BTreeSet<String>,
}

impl Caller<'_> {
    /// Calls a route as the owner; `id` replaces the name in braces. Returns the body.
    fn call(&mut self, method: &str, route: &str, id: &str, body: &str) -> String {
        let token = self.address.owner_token.clone();
        self.call_as(&token, method, route, id, body)
    }

    fn agent(&mut self, method: &str, route: &str, id: &str, body: &str) -> String {
        let token = self.address.agent_token.clone();
        self.call_as(&token, method, route, id, body)
    }

    fn call_as(&mut self, token: &str, method: &str, route: &str, id: &str, body: &str) -> String {
        self.note(method, route);
        let path = route.replace("{id}", id).replace("{batch}", id);
        let reply = request(self.address, token, method, &path, body);
        assert!(reply.status < 300, "{method} {path}: {reply:?}");
        reply.body
    }

    fn note(&mut self, method: &str, route: &str) {
        let (route, _) = route.split_once('?').unwrap_or((route, ""));
        self.called.insert(format!("{method} {route}"));
    }

    fn listen(&mut self, query: &str) {
        let (route, host) =
            ("/api/pending-actions/events", self.address.url.strip_prefix("http://").unwrap());
        self.note("GET", route);
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let token = &self.address.owner_token;
        write!(
            stream,
            "GET {route}{query} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n"
        )
        .unwrap();
        let (mut read, mut piece) = (Vec::new(), [0; 4096]);
        while !String::from_utf8_lossy(&read).contains("\"pending\"") {
            let length = stream.read(&mut piece).unwrap();
            assert!(length > 0, "{}", String::from_utf8_lossy(&read));
            read.extend_from_slice(&piece[..length]);
        }
    }
}

fn proposal(tool: &str, n: usize) -> String {
    format!(
        r#"{{"toolName":"{tool}","workspaceId":"default","missionId":"m","sessionId":"s","toolCallId":"{tool}{n}","batchId":"b-{tool}","checkpointId":"c-{tool}","toolInput":{{"n":{n}}}}}"#
    )
}

/// Calls each route at least once and returns their names.
fn every_route(address: &Address) -> BTreeSet<String> {
    let mut caller = Caller { address, called: BTreeSet::new() };
    let ids: Vec<String> = (0..8).map(|n| propose(address, &proposal("pull", n))).collect();
    let [approved, edited, rejected, withdrawn, in_batch, claimed, ..] = &ids[..] else { panic!("{ids:?}") };
    let twice = propose(address, &proposal("twice", 0));
    propose(address, &proposal("note", 0));
    propose(address, &proposal("checked", 0));
    caller.agent("POST", ACTIONS, "", &proposal("pull", 20));

    let action = |end: &str| format!("{ACTIONS}/{{id}}{end}");
    caller.call("POST", "/api/claims/{id}", claimed, "");
    caller.call("GET", "/api/claims", "", "");
    caller.call("POST", "/api/claims/{id}/end", claimed, "");
    caller.call("POST", &action("/approve"), edited, r#"{"userEdits":{"n":5}}"#);
    for id in [approved, &twice] {
        caller.call("POST", &action("/approve"), id, "");
    }
    caller.call("POST", &action("/take-back"), &twice, "");
    caller.call("POST", &action("/reject"), rejected, r#"{"reason":"no"}"#);
    caller.agent("POST", &action("/withdraw"), withdrawn, "");
    caller.agent("POST", &action("/claim"), edited, "");
    caller.agent("POST", &action("/renew"), edited, r#"{"fence":1}"#);
    caller.agent("POST", &action("/result"), edited, r#"{"fence":1,"result":1}"#);
    let batch = format!(r#"{{"items":[{{"pendingActionId":"{in_batch}"}}]}}"#);
    caller.call("POST", &format!("{ACTIONS}/batch/{{batch}}/approve"), "b-pull", &batch);
    caller.call("POST", "/api/checkpoints/{id}/approve", "c-note", r#"{"items":[]}"#);
    caller.call("POST", "/api/checkpoints/{id}/reject", "c-checked", r#"{"items":[]}"#);
    // Settling needs an unknown outcome, so the gate refuses this one.
    caller.note("POST", &action("/settle"));
    let path = action("/settle").replace("{id}", edited);
    let settle = request(address, &address.owner_token, "POST", &path, r#"{"as":"failed"}"#);
    assert_eq!(settle.status, 409, "{settle:?}");
    read_everything(&mut caller, edited);
    caller.called
}

fn read_everything(caller: &mut Caller<'_>, id: &str) {
    for end in ["", "/events"] {
        caller.call("GET", &format!("{ACTIONS}/{{id}}{end}"), id, "");
    }
    let parts = [
        "",
        "?status=pending,unknown",
        "?status=executed,failed",
        "?tool_name=pull",
        "?batch_id=b-pull",
        "?mission_id=m",
        "?session_id=s",
        "?run_id=r",
        "?agent=a",
        "?risk=medium",
        "?claimable=true",
        "?id_prefix=pa",
        "?view=row",
        "?agent=a&risk=low&limit=3",
    ];
    for part in parts {
        caller.call("GET", &format!("{ACTIONS}{part}"), "", "");
    }
    caller.call("GET", &format!("{ACTIONS}/changes?since=0"), "", "");
    caller.call("GET", &format!("{ACTIONS}/counts"), "", "");
    for part in ["", "?mission_id=m", "?session_id=s", "?batches=none", "?batches=top&changes=only"] {
        caller.listen(part);
    }
    for route in [
        "/api/checkpoints",
        "/api/flows",
        "/api/flows?reviewers=true",
        "/api/audit/head",
        "/api/people",
        "/api/tools",
        "/api/workspaces",
    ] {
        caller.call("GET", route, "", "");
    }
    for route in ["/api/audit", "/healthz", "/metrics", "/openapi.json", "/readyz"] {
        caller.call("GET", route, "", "");
    }
    for route in ["/api/gate/pause", "/api/gate/resume"] {
        caller.call("POST", route, "", "");
    }
}

fn statements(log: &str) -> BTreeSet<String> {
    let of = |line: &str| {
        let fields = Fields::of(line)?;
        let text = |name: &str| fields.text(name).map(|text| text.as_raw().trim().to_owned());
        text("db.statement").filter(|whole| !whole.is_empty()).or_else(|| text("summary"))
    };
    log.lines().filter_map(of).collect()
}

/// Returns the plan's steps that scan a table, unless it is small.
async fn scans(conn: &mut SqliteConnection, statement: &str) -> Vec<String> {
    let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
    let steps =
        sqlx::raw_sql(explain).fetch_all(conn).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
    let steps = steps.iter().map(|step| step.get::<String, _>("detail"));
    steps
        .filter(|step| {
            let read = step.strip_prefix("SCAN ").and_then(|rest| rest.split(' ').next());
            // The statement itself names a subquery so. The plan lists the steps of subqueries separately.
            let is_named = |name: &str| {
                let form = format!(r"\) (AS )?{name}\b(?!\.)|\b{name} AS \(|WITH {name} \(");
                fancy_regex::Regex::new(&form).unwrap().is_match(statement).unwrap()
            };
            let is_own =
                |table: &str| table.ends_with("-ROW") || table.starts_with("(subquery-") || is_named(table);
            read.is_some_and(|table| !SMALL.contains(&table) && !is_own(table))
        })
        .collect()
}

#[tokio::test]
async fn no_route_scans_a_growing_table() {
    let home = Home::with_config(CONFIG);
    Gate::serve(&home, &[]).kill_9();
    let log = home.path().join("statements.log");
    let args = ["--log", log.to_str().unwrap(), "--log-format", "json"];
    let mut gate = Gate::serve_with(&home, &args, &[("RUST_LOG".to_owned(), "sqlx::query=debug".to_owned())]);

    let called = every_route(&gate.address);
    let described = request(&gate.address, "", "GET", "/openapi.json", "").body;
    gate.signal("TERM");
    gate.wait_end();

    let described: serde_json::Value = serde_json::from_str(&described).unwrap();
    let described: BTreeSet<String> = described["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| {
            let methods =
                methods.as_object().unwrap().keys().filter(|key| ["get", "post"].contains(&key.as_str()));
            methods.map(move |method| format!("{} {path}", method.to_uppercase()))
        })
        .collect();
    assert_eq!(called, described, "every route is called here");
    let statements = statements(&std::fs::read_to_string(&log).unwrap());
    assert!(statements.len() > 40, "{statements:#?}");
    let options = SqliteConnectOptions::new().filename(home.state().join("gate.db"));
    let mut conn = options.connect().await.unwrap();
    let mut found = Vec::new();
    for statement in &statements {
        let word = statement.split_whitespace().next().unwrap_or_default().to_uppercase();
        match word.as_str() {
            "SELECT" | "WITH" | "INSERT" | "UPDATE" | "DELETE" => {
                let scans = scans(&mut conn, statement).await;
                if !scans.is_empty() {
                    found.push((statement.clone(), scans));
                }
            }
            "CREATE" => {
                conn.execute(AssertSqlSafe(statement.clone())).await.unwrap();
            }
            _ => {}
        }
    }
    conn.close().await.unwrap();
    assert!(found.is_empty(), "{found:#?}");
}
