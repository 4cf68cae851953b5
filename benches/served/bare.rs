//! The floor of a gate and of an inbox's list: a server that checks a token, commits rows in groups and, on SQLite,
//! lists them, and a client that parses the rows. Neither has history, counts or rules.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{PgPool, QueryBuilder, SqlitePool};
use tokio::sync::{mpsc, oneshot};

use super::served::{Client, Gate, LIST, folder};

/// Equal to the gate's.
const GROUP: usize = 256;
const PAGE: u32 = 1_000;

struct Write {
    id: String,
    row: String,
    input: String,
    done: oneshot::Sender<()>,
}

#[derive(Clone)]
enum Database {
    /// Connections for reading.
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

#[derive(Clone)]
struct Server {
    database: Database,
    writes: mpsc::Sender<Write>,
    number: Arc<std::sync::atomic::AtomicU64>,
}

/// Starts this program as the bare server, on SQLite or on the PostgreSQL at `url`.
pub(crate) fn start(url: Option<&str>) -> Gate {
    let folder = folder();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .arg("--bare")
        .arg(url.map_or(folder.path(), Path::new))
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    Gate { child, folder, client: Client::new(url.trim(), "default", "token", "token") }
}

/// Serves from a folder or a database URL until the process ends.
pub(crate) async fn serve(place: &str) {
    let (writes, come) = mpsc::channel(1_024);
    let database = if place.starts_with("postgres://") {
        Database::Postgres(on_postgres(place, come).await)
    } else {
        Database::Sqlite(on_sqlite(Path::new(place), come).await)
    };
    let server = Server { database, writes, number: Arc::default() };
    let routes = Router::new().route(LIST, post(propose).get(list)).with_state(server);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("http://{}", listener.local_addr().unwrap());
    axum::serve(listener, routes).await.unwrap();
}

const TABLES: [&str; 4] = [
    "CREATE TABLE tokens (token TEXT PRIMARY KEY)",
    "INSERT INTO tokens VALUES ('token')",
    "CREATE TABLE rows (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, row TEXT)",
    "CREATE TABLE inputs (seq INTEGER PRIMARY KEY, input TEXT)",
];

async fn on_sqlite(folder: &Path, come: mpsc::Receiver<Write>) -> SqlitePool {
    let options = SqliteConnectOptions::new()
        .filename(folder.join("bare.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full);
    let write = SqlitePoolOptions::new().max_connections(1).connect_with(options.clone()).await.unwrap();
    for table in TABLES {
        sqlx::query(table).execute(&write).await.unwrap();
    }
    tokio::spawn(write_groups(write, come));
    SqlitePoolOptions::new().max_connections(5).connect_with(options.read_only(true)).await.unwrap()
}

/// One writing connection as on SQLite, and as many others as a gate has.
async fn on_postgres(url: &str, mut come: mpsc::Receiver<Write>) -> PgPool {
    let connect = async |most| {
        PgPoolOptions::new().max_connections(most).test_before_acquire(false).connect(url).await.unwrap()
    };
    let (pool, write) = (connect(15).await, connect(1).await);
    for table in TABLES {
        let table = table.replace("seq INTEGER", "seq BIGSERIAL");
        sqlx::query(sqlx::AssertSqlSafe(table)).execute(&write).await.unwrap();
    }
    tokio::spawn(async move {
        let mut group = Vec::with_capacity(GROUP);
        while come.recv_many(&mut group, GROUP).await > 0 {
            let mut tx = write.begin_with("BEGIN").await.unwrap();
            let texts =
                |text: fn(&Write) -> &String| group.iter().map(|it| text(it).clone()).collect::<Vec<_>>();
            let rows = "INSERT INTO rows (id, row) SELECT * FROM unnest($1::text[], $2::text[])";
            let rows = sqlx::query(rows).bind(texts(|it| &it.id)).bind(texts(|it| &it.row));
            rows.execute(&mut *tx).await.unwrap();
            let inputs = sqlx::query("INSERT INTO inputs (input) SELECT * FROM unnest($1::text[])");
            inputs.bind(texts(|it| &it.input)).execute(&mut *tx).await.unwrap();
            tx.commit().await.unwrap();
            for it in group.drain(..) {
                it.done.send(()).ok();
            }
        }
    });
    pool
}

async fn write_groups(pool: SqlitePool, mut come: mpsc::Receiver<Write>) {
    let mut group = Vec::with_capacity(GROUP);
    while come.recv_many(&mut group, GROUP).await > 0 {
        let mut tx = pool.begin_with("BEGIN IMMEDIATE").await.unwrap();
        let mut rows = QueryBuilder::new("INSERT INTO rows (id, row) ");
        rows.push_values(&group, |mut row, it| {
            row.push_bind(it.id.clone()).push_bind(it.row.clone());
        });
        rows.build().execute(&mut *tx).await.unwrap();
        let mut inputs = QueryBuilder::new("INSERT INTO inputs (input) ");
        inputs.push_values(&group, |mut row, it| {
            row.push_bind(it.input.clone());
        });
        inputs.build().execute(&mut *tx).await.unwrap();
        tx.commit().await.unwrap();
        for it in group.drain(..) {
            it.done.send(()).ok();
        }
    }
}

async fn is_known(server: &Server, headers: &HeaderMap) -> bool {
    let token = headers.get("authorization").and_then(|it| it.to_str().ok()?.strip_prefix("Bearer "));
    let (token, known) = (token.unwrap_or_default(), "SELECT 1 FROM tokens WHERE token = $1");
    match &server.database {
        Database::Sqlite(read) => {
            sqlx::query(known).bind(token).fetch_optional(read).await.unwrap().is_some()
        }
        Database::Postgres(pool) => {
            sqlx::query(known).bind(token).fetch_optional(pool).await.unwrap().is_some()
        }
    }
}

async fn propose(State(server): State<Server>, headers: HeaderMap, body: Bytes) -> (StatusCode, String) {
    if !is_known(&server, &headers).await {
        return (StatusCode::UNAUTHORIZED, String::new());
    }
    let Ok(proposed) = serde_json::from_slice::<Value>(&body) else {
        return (StatusCode::BAD_REQUEST, String::new());
    };
    let number = server.number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let id = format!("01a215ec-f339-750c-9200-{number:012}");
    // Nulls are omitted, as in the gate's rows.
    let mut row = json!({
        "id": id, "workspaceId": proposed["workspaceId"], "missionId": proposed["missionId"], "sessionId": null,
        "batchId": proposed["batchId"], "checkpointId": null, "runId": null, "agent": null,
        "toolName": proposed["toolName"], "title": proposed["toolInput"]["title"], "risk": "medium", "effect": "external",
        "status": "pending", "createdAt": "2026-01-01T00:00:00.000Z", "expiresAt": null, "resolvedAt": null,
        "resolvedBy": null, "size": body.len(), "digest": format!("sha256:{number:064}"), "revision": number,
    });
    row.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    let (done, committed) = oneshot::channel();
    let write =
        Write { id: id.clone(), row: row.to_string(), input: proposed["toolInput"].to_string(), done };
    if server.writes.send(write).await.is_err() || committed.await.is_err() {
        return (StatusCode::INTERNAL_SERVER_ERROR, String::new());
    }
    (StatusCode::ACCEPTED, json!({ "pending_action_id": id }).to_string())
}

#[derive(Deserialize)]
struct Asked {
    cursor: Option<i64>,
}

async fn list(
    State(server): State<Server>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> (StatusCode, String) {
    if !is_known(&server, &headers).await {
        return (StatusCode::UNAUTHORIZED, String::new());
    }
    let Database::Sqlite(read) = &server.database else { return (StatusCode::NOT_FOUND, String::new()) };
    let page = "SELECT count(*), min(seq), group_concat(row) FROM \
        (SELECT seq, row FROM rows WHERE seq < ? ORDER BY seq DESC LIMIT ?)";
    let page = sqlx::query_as(page).bind(asked.cursor.unwrap_or(i64::MAX)).bind(PAGE);
    let (count, last, rows): (u32, Option<i64>, Option<String>) = page.fetch_one(read).await.unwrap();
    let next = last.filter(|_| count == PAGE).map(|last| format!(r#","nextCursor":"{last}""#));
    let (rows, next) = (rows.unwrap_or_default(), next.unwrap_or_default());
    (StatusCode::OK, format!(r#"{{"items":[{rows}]{next},"revision":{count}}}"#))
}

/// The fields of a row that an inbox keeps.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "it is kept as an inbox keeps it")]
struct Row {
    id: String,
    workspace_id: Option<String>,
    mission_id: Option<String>,
    session_id: Option<String>,
    batch_id: Option<String>,
    checkpoint_id: Option<String>,
    run_id: Option<String>,
    agent: Option<String>,
    tool_name: String,
    title: String,
    risk: String,
    effect: Option<String>,
    status: String,
    created_at: String,
    expires_at: Option<String>,
    resolved_at: Option<String>,
    resolved_by: Option<String>,
    size: u64,
    digest: Option<String>,
    revision: u64,
}

#[derive(Deserialize)]
struct Page {
    items: Vec<Row>,
}

/// Reads all pages and parses each while the next is loading. Returns the number of rows.
pub(crate) async fn read_all(client: &Client) -> usize {
    let mut cursor = Some(String::new());
    let mut parsing = Vec::new();
    while let Some(from) = cursor {
        let (page, _) = client
            .get(&format!("{LIST}?view=row&nulls=false&status=pending,unknown&limit={PAGE}{from}"))
            .await;
        let end = page.rsplit_once(r#""nextCursor":""#).and_then(|(_, end)| end.split_once('"'));
        cursor = end.map(|(next, _)| format!("&cursor={next}"));
        parsing.push(tokio::task::spawn_blocking(move || serde_json::from_str::<Page>(&page).unwrap().items));
    }
    let mut rows = Vec::new();
    for page in parsing {
        rows.extend(page.await.unwrap());
    }
    rows.len()
}
