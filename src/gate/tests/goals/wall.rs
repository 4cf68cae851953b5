//! G23: every route with every kind of id and every scope. No reply reveals or changes a foreign workspace.

use reqwest::Method;
use secrecy::SecretString;

use crate::gate::Scope;
use crate::gate::audit::AuditHead;
use crate::gate::auth::Access;
use crate::gate::router::{self, Route};
use crate::gate::tests::support::{TestGate, plain};

/// Part of every text of the foreign workspace.
const SECRET: &str = "SECRET";
const FOREIGN: &str = "x-SECRET";

#[derive(Debug, Clone, Copy, PartialEq)]
enum Whose {
    Own,
    Foreign,
    Unknown,
    /// A second unknown id: replies must not depend on the id.
    OtherUnknown,
    Malformed(&'static str),
}

const WHOSE: [Whose; 8] = [
    Whose::Own,
    Whose::Foreign,
    Whose::Unknown,
    Whose::OtherUnknown,
    Whose::Malformed("..%2f..%2fetc"),
    Whose::Malformed("'%20OR%201=1%20--"),
    Whose::Malformed("%00"),
    Whose::Malformed("%ff"),
];

type Ids = [String; 3];

struct Foreign {
    ids: Ids,
    owner: SecretString,
}

async fn foreign(gate: &TestGate) -> Foreign {
    let agent = gate.gate.create_token("SECRET-agent", FOREIGN, &[Scope::Propose], None).await.unwrap();
    let owner = gate.gate.create_token("SECRET-owner", FOREIGN, &Scope::ALL, None).await.unwrap();
    let body = format!(
        r#"{{"toolName":"SECRET-tool","workspaceId":"{FOREIGN}","missionId":"SECRET-m","sessionId":"SECRET-s","agent":"SECRET-a",
            "runId":"SECRET-r","batchId":"theirs","checkpointId":"their-checkpoint","summary":"SECRET","toolInput":{{"n":"SECRET"}}}}"#
    );
    let queued = gate.post_as(&agent, "/api/pending-actions", &body).await;
    let ids = [queued.at("/pending_action_id"), "theirs".to_owned(), "their-checkpoint".to_owned()];
    Foreign { ids, owner }
}

/// Proposes an own action with a batch and a checkpoint.
async fn own(gate: &TestGate) -> Ids {
    let id = gate.propose_with("t", "{}", r#","batchId":"ours","checkpointId":"our-checkpoint""#).await;
    [id, "ours".to_owned(), "our-checkpoint".to_owned()]
}

fn target(route: &Route, ids: &Ids, workspace: &str) -> (String, String) {
    let [action, batch, checkpoint] = ids;
    let id = if route.path.starts_with("/api/checkpoints") { checkpoint } else { action };
    let path = route.path.replace("{id}", id).replace("{batch}", batch);
    let query = format!("?workspace_id={workspace}&since=0&ids={action}&mission_id=SECRET-m");
    let body = match route.path.rsplit('/').next().unwrap() {
        "pending-actions" => format!(r#"{{"toolName":"t","workspaceId":"{workspace}","toolInput":{{}}}}"#),
        "result" => r#"{"fence":1,"result":1}"#.to_owned(),
        "renew" => r#"{"fence":1}"#.to_owned(),
        "settle" => r#"{"as":"executed"}"#.to_owned(),
        _ if route.path.contains("/batch/") || route.path.contains("/checkpoints/") => {
            r#"{"items":[]}"#.to_owned()
        }
        _ => String::new(),
    };
    (format!("{path}{query}"), body)
}

/// Returns status and body. Of a stream, returns the first event.
async fn ask(
    gate: &TestGate,
    route: &Route,
    token: &SecretString,
    (path, body): &(String, String),
) -> (u16, String) {
    let method = Method::from_bytes(route.method.as_str().as_bytes()).unwrap();
    let mut request = gate.request(method.clone(), path, token);
    if method == Method::POST {
        request = request.header("content-type", "application/json").body(body.clone());
    }
    let mut response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
    if kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
        let first = response.chunk().await.unwrap().unwrap();
        return (status, String::from_utf8(first.to_vec()).unwrap());
    }
    (status, response.text().await.unwrap())
}

async fn head(gate: &TestGate, workspace: &str) -> Vec<AuditHead> {
    let heads = gate.gate.audit_heads().await.unwrap();
    heads.into_iter().filter(|head| head.workspace == workspace).collect()
}

struct Told {
    whose: Whose,
    status: u16,
    text: String,
}

/// Sends all kinds of ids to one route with one scope.
async fn row(gate: &TestGate, route: &Route, token: &SecretString, theirs: &Ids) -> Vec<Told> {
    let mut told = Vec::new();
    for whose in WHOSE {
        let word = |name: &str| [name.to_owned(), name.to_owned(), name.to_owned()];
        let (ids, workspace) = match whose {
            Whose::Own => (own(gate).await, "w"),
            Whose::Foreign => (theirs.clone(), FOREIGN),
            Whose::Unknown => (word("00000000-0000-7000-8000-000000000000"), "nobody"),
            Whose::OtherUnknown => (word("another"), "another"),
            Whose::Malformed(id) => (word(id), id),
        };
        let before = (head(gate, "w").await, head(gate, FOREIGN).await);
        let (status, text) = ask(gate, route, token, &target(route, &ids, workspace)).await;
        let after = (head(gate, "w").await, head(gate, FOREIGN).await);

        let cell = format!("{} {} {whose:?}: {status} {text}", route.method, route.path);
        assert!(!text.contains(SECRET), "it reveals the foreign workspace: {cell}");
        assert!(status < 500 && status != 401, "{cell}");
        assert_eq!(before.1, after.1, "it changed the foreign workspace: {cell}");
        if route.method == "GET" || status >= 300 {
            assert_eq!(before.0, after.0, "it changed something: {cell}");
        }
        told.push(Told { whose, status, text });
    }
    told
}

/// Routes without an id in their path that use a named workspace.
const NAMED: [&str; 5] = [
    "/api/pending-actions",
    "/api/pending-actions/changes",
    "/api/pending-actions/events",
    "/api/checkpoints",
    "/api/audit",
];

fn judge(route: &Route, scope: Scope, told: &[Told]) {
    let name = format!("{} {} with {scope}", route.method, route.path);
    let of = |whose: Whose| told.iter().find(|told| told.whose == whose).unwrap();
    if matches!(route.access, Access::Scope(needed) if needed != scope) {
        // Without the scope, replies do not reveal whether the id exists.
        for told in told {
            assert_eq!((told.status, &told.text), (403, &of(Whose::Own).text), "{name}");
        }
        return;
    }
    if route.path.contains('{') {
        assert_eq!(of(Whose::Foreign).status, 403, "{name}");
        assert!(of(Whose::Foreign).text.contains("FORBIDDEN"), "{name}");
        assert_eq!(of(Whose::Unknown).status, 404, "{name}");
        for told in told.iter().filter(|told| !matches!(told.whose, Whose::Own | Whose::Foreign)) {
            let not_text = [Whose::Malformed("%ff"), Whose::Malformed("%00")].contains(&told.whose);
            assert_eq!(
                told.status,
                if not_text { 400 } else { 404 },
                "{name} {:?}: {}",
                told.whose,
                told.text
            );
            assert!(not_text || told.text == of(Whose::Unknown).text, "{name}: 404 bodies differ");
        }
    } else if NAMED.contains(&route.path) {
        // A foreign and a nonexistent workspace get the same reply.
        for told in told.iter().filter(|told| told.whose != Whose::Own) {
            let unreadable = told.status == 400 || told.status == 422;
            assert!(unreadable || told.status == 403, "{name} {:?}: {}", told.whose, told.text);
            assert!(unreadable || told.text == of(Whose::Foreign).text, "{name}: 403 bodies differ");
        }
    }
}

#[tokio::test]
async fn g23_routes_reveal_nothing_of_another_workspace() {
    let (_folder, gate) = plain().await;
    let theirs = foreign(&gate).await;
    let all = format!("/api/pending-actions?workspace_id={FOREIGN}");
    let before = gate.request(Method::GET, &all, &theirs.owner).send().await.unwrap().text().await.unwrap();
    assert!(before.contains(SECRET), "the foreign workspace holds the secret");
    let mut cells = 0;
    let mut told_missing = Vec::new();

    for scope in Scope::ALL {
        let token = gate.gate.create_token("somebody", "w", &[scope], None).await.unwrap();
        for route in router::table() {
            let told = row(&gate, &route, &token, &theirs.ids).await;
            judge(&route, scope, &told);
            cells += told.len();
            let of_actions = route.path.starts_with("/api/pending-actions/{id}");
            let missing = told.into_iter().filter(|told| of_actions && told.status == 404);
            told_missing.extend(missing.map(|told| told.text));
        }
    }
    let after = gate.request(Method::GET, &all, &theirs.owner).send().await.unwrap().text().await.unwrap();

    assert!(cells >= 300, "{cells} cells");
    told_missing.dedup();
    assert_eq!(told_missing.len(), 1, "all missing actions get the same reply: {told_missing:?}");
    assert_eq!(before, after, "the foreign workspace is unchanged");
}

#[tokio::test]
async fn g23_foreign_action_refuses_the_whole_batch() {
    let (_folder, gate) = plain().await;
    let theirs = foreign(&gate).await;
    let [mine, batch, checkpoint] = own(&gate).await;
    let [id, ..] = &theirs.ids;
    let before = gate.action(&mine).await.text;

    for path in [
        format!("/api/pending-actions/batch/{batch}/approve"),
        format!("/api/checkpoints/{checkpoint}/reject"),
    ] {
        let items = format!(r#"[{{"pendingActionId":"{mine}"}},{{"pendingActionId":"{id}"}}]"#);
        let told = gate.post(&path, &format!(r#"{{"items":{items}}}"#)).await;
        assert_eq!(told.code(), (409, "INVALID_BATCH".to_owned()));
        let words = "belongs to another workspace; nothing was decided. Send the actions of one workspace";
        assert_eq!(told.at("/error/message"), format!("{id:?} {words}"));
    }
    assert_eq!(gate.action(&mine).await.text, before);
    let listed = gate.list(&format!("&ids={id}")).await;
    assert_eq!(listed.at("/items"), "[]");
}
