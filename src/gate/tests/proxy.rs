//! People identified by a proxy. Its headers count only from its address and with its secret.

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use reqwest::Client;
use secrecy::ExposeSecret as _;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::support::{Answer, LIMIT, TestGate, answer, config, script, start};
use crate::config::{GateConfig, GroupRights, ProxyConfig, TokenFrom, ToolConfig};
use crate::gate::audit::hex;
use crate::gate::{Gate, GateError, NewToken, Scope};

const SECRET: &str = "a-secret-of-the-proxy";
const USER: &str = "x-auth-request-user";
const NAME: &str = "x-auth-request-name";
const GROUPS: &str = "x-auth-request-groups";
const PROOF: &str = "x-proxy-secret";

fn rights(workspaces: &[&str], scopes: &[&str]) -> GroupRights {
    let words = |all: &[&str]| all.iter().map(|word| (*word).to_owned()).collect();
    GroupRights { workspaces: words(workspaces), scopes: words(scopes) }
}

fn behind_a_proxy(folder: &Path) -> GateConfig {
    let proxy = ProxyConfig {
        identity_header: USER.to_owned(),
        name_header: Some(NAME.to_owned()),
        groups_header: Some(GROUPS.to_owned()),
        secret_header: PROOF.to_owned(),
        secret: TokenFrom::Command(["/bin/echo", SECRET].map(str::to_owned).to_vec()),
        groups: [
            ("support".to_owned(), rights(&["w"], &["read", "decide"])),
            ("watchers".to_owned(), rights(&["w"], &["read"])),
            ("leads".to_owned(), rights(&["w", "other"], &["read", "decide"])),
        ]
        .into(),
    };
    let two = ToolConfig { approvals: 2, ..script("cat") };
    GateConfig {
        // Other addresses of this machine count as outside.
        trusted_proxies: vec!["127.0.0.1/32".parse().unwrap()],
        proxy: Some(proxy),
        tools: [("two".to_owned(), two)].into(),
        ..config(folder)
    }
}

async fn gate() -> (TempDir, TestGate) {
    let folder = tempfile::tempdir().unwrap();
    let gate = start(behind_a_proxy(folder.path())).await;
    (folder, gate)
}

fn person<'a>(user: &'a str, groups: &'a str) -> Vec<(&'static str, &'a str)> {
    vec![(USER, user), (GROUPS, groups), (PROOF, SECRET)]
}

async fn asked(gate: &TestGate, client: &Client, path: &str, headers: &[(&str, &str)]) -> Answer {
    let request = client.get(format!("{}{path}", gate.url));
    answer(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
}

async fn me(gate: &TestGate, headers: &[(&str, &str)]) -> Answer {
    asked(gate, &gate.client, "/api/workspaces", headers).await
}

#[tokio::test]
async fn proxied_person_has_the_rights_of_its_groups() {
    let (_folder, gate) = gate().await;
    let named =
        [person(" Kim@Example ", "support, nobody-knows,support"), vec![(NAME, "Kim Müller")]].concat();

    let kim = me(&gate, &named).await;

    let told = [kim.at("/items/0/subject"), kim.at("/items/0/subjectName"), kim.at("/items/0/workspaceId")];
    assert_eq!(told, ["Kim@Example", "Kim Müller", "w"]);
    assert_eq!(kim.at("/items/0/scopes"), r#"["read","decide"]"#);
    assert_eq!(kim.at("/items/0/groups"), r#"["support"]"#, "only mapped groups");
    let people = gate.get("/api/people").await.text;
    let entry = r#"{"subject":"Kim@Example","name":"Kim Müller","groups":["support"]}"#;
    assert!(people.contains(entry), "{people}");
    let watcher = asked(&gate, &gate.client, "/api/audit", &person("max", "watchers")).await;
    assert_eq!(watcher.code(), (403, "FORBIDDEN".to_owned()));
    assert_eq!(gate.gate.verify_audit(&[]).await.unwrap().problems, Vec::<String>::new());
    gate.stop().await;
}

#[tokio::test]
async fn person_without_a_mapped_group_is_refused() {
    let (_folder, gate) = gate().await;

    for groups in ["", "admins", "admin", "*", "Support", "sup port", "support;leads"] {
        let refused = me(&gate, &person("kim", groups)).await;
        assert_eq!(refused.code(), (403, "FORBIDDEN".to_owned()), "{groups:?}");
        assert!(refused.at("/error/message").contains("gate.proxy.groups"), "{refused:?}");
    }
    assert!(!gate.get("/api/people").await.text.contains("kim"), "a refused person is not recorded");
    gate.stop().await;
}

#[tokio::test]
async fn groups_are_read_as_directories_write_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = behind_a_proxy(folder.path());
    let groups = &mut config.proxy.as_mut().unwrap().groups;
    for group in ["CN=Gate Leads,OU=Groups,DC=example,DC=com", "cn=x,o=Example", "OU=Groups", "night shift"] {
        groups.insert(group.to_owned(), rights(&["w"], &["read"]));
    }
    let gate = start(config).await;
    let leads = "CN=Gate Leads,OU=Groups,DC=example,DC=com";
    for (said, found) in [
        ("support|watchers", r#"["support","watchers"]"#),
        ("staff | support", r#"["support"]"#),
        ("|support||", r#"["support"]"#),
        ("night shift,staff", r#"["night shift"]"#),
        (leads, r#"["CN=Gate Leads,OU=Groups,DC=example,DC=com"]"#),
        ("CN=Gate Leads, OU=Groups, DC=example, DC=com", r#"["CN=Gate Leads,OU=Groups,DC=example,DC=com"]"#),
        (
            "CN=a,CN=Users,DC=example,DC=com,CN=Gate Leads,OU=Groups,DC=example,DC=com,support",
            r#"["CN=Gate Leads,OU=Groups,DC=example,DC=com","support"]"#,
        ),
        (
            "CN=Gate Leads,OU=Groups,DC=example,DC=com|cn=x, o=Example|watchers",
            r#"["CN=Gate Leads,OU=Groups,DC=example,DC=com","cn=x,o=Example","watchers"]"#,
        ),
        ("cn=gate leads,ou=groups,dc=Example,dc=com", r#"["CN=Gate Leads,OU=Groups,DC=example,DC=com"]"#),
        ("CN=X, O=example|support", r#"["cn=x,o=Example","support"]"#),
        ("cn=x,o=Example,support", r#"["cn=x,o=Example","support"]"#),
        ("support,cn=x,o=Example", r#"["cn=x,o=Example","support"]"#),
    ] {
        assert_eq!(me(&gate, &person("kim", said)).await.at("/items/0/groups"), found, "{said}");
    }
    for other in [
        // Groups are not found inside other names.
        "CN=b,OU=Groups,DC=example,DC=com",
        "CN=Gate Leads,OU=Groups,DC=example,DC=com,DC=evil",
        "CN=a,CN=Gate Leads,OU=Groups,DC=example,DC=com",
        "CN=Gate Leads\\,OU=Groups,DC=example,DC=com",
        "support,|x",
        "Night Shift",
    ] {
        let refused = me(&gate, &person("kim", other)).await;
        assert_eq!(refused.status, 403, "{other}: {refused:?}");
    }
    let people = gate.get("/api/people").await.text;
    assert!(people.contains(r#"["cn=x,o=Example","support"]"#), "{people}");
    gate.stop().await;
}

#[tokio::test]
async fn latin_1_name_is_dropped_but_the_login_works() {
    let (_folder, gate) = gate().await;
    let latin = HeaderValue::from_bytes(b"Kim M\xfcller").unwrap();
    let ask = async |name: &'static str, value: &HeaderValue, groups: &HeaderValue| {
        let request = gate.client.get(format!("{}/api/workspaces", gate.url));
        let request = request.header(USER, "kim").header(PROOF, SECRET).header(GROUPS, groups);
        answer(request.header(name, value)).await
    };
    let support = HeaderValue::from_static("support");

    let kim = ask(NAME, &latin, &support).await;
    let odd = HeaderValue::from_bytes(b"r\xe9viseurs,support").unwrap();
    let groups = ask(NAME, &HeaderValue::from_static("Kim"), &odd).await;

    assert_eq!((kim.status, kim.at("/items/0/subject")), (200, "kim".to_owned()));
    assert!(kim.json()["items"][0].get("subjectName").is_none(), "{kim:?}");
    assert_eq!(groups.at("/items/0/groups"), r#"["support"]"#);
    let user = gate.client.get(format!("{}/api/workspaces", gate.url)).header(USER, latin);
    assert_eq!(answer(user.header(PROOF, SECRET).header(GROUPS, "support")).await.status, 401);
    gate.stop().await;
}

#[tokio::test]
async fn person_of_several_workspaces_must_name_one() {
    let (_folder, gate) = gate().await;
    let lead = person("lee", "leads");
    let at = |workspace| [lead.clone(), vec![("x-gate-workspace", workspace)]].concat();

    let undecided = me(&gate, &lead).await;
    assert_eq!(undecided.status, 403);
    assert!(undecided.at("/error/message").contains("other, w; name one"), "{undecided:?}");
    assert_eq!(me(&gate, &at("other")).await.at("/items/0/workspaceId"), "other");
    assert_eq!(me(&gate, &at("w")).await.at("/items/0/workspaceId"), "w");
    assert_eq!(me(&gate, &at("third")).await.status, 403);
    let watcher = [person("max", "watchers"), vec![("x-gate-workspace", "other")]].concat();
    assert_eq!(me(&gate, &watcher).await.status, 403, "a header gives no rights");
    gate.stop().await;
}

#[tokio::test]
async fn identity_headers_need_the_proxys_address_and_secret() {
    let (_folder, gate) = gate().await;
    let outside = Client::builder().no_proxy().timeout(LIMIT).tls_certs_only([]);
    let outside = outside.local_address("127.0.0.2".parse::<std::net::IpAddr>().unwrap()).build().unwrap();
    let token = format!("Bearer {}", gate.owner.expose_secret());
    let longer = format!("{SECRET}x");
    let attacks: Vec<(&str, Vec<(&str, &str)>)> = vec![
        ("no secret", vec![(USER, "kim"), (GROUPS, "support")]),
        ("an empty secret", vec![(USER, "kim"), (GROUPS, "support"), (PROOF, "")]),
        ("a wrong secret", vec![(USER, "kim"), (GROUPS, "support"), (PROOF, "a-secret-of-the-prox_")]),
        ("a beginning of it", vec![(USER, "kim"), (GROUPS, "support"), (PROOF, &SECRET[..8])]),
        ("more than it", vec![(USER, "kim"), (GROUPS, "support"), (PROOF, &longer)]),
        ("two secrets", [person("kim", "support"), vec![(PROOF, "x")]].concat()),
        ("the right one twice", [person("kim", "support"), vec![(PROOF, SECRET)]].concat()),
        ("two identities", [vec![(USER, "mallory")], person("kim", "support")].concat()),
        ("two lists of groups", [vec![(GROUPS, "leads")], person("kim", "support")].concat()),
        ("two names", [vec![(NAME, "A"), (NAME, "B")], person("kim", "support")].concat()),
        ("no identity", vec![(GROUPS, "support"), (PROOF, SECRET)]),
        ("an empty identity", person("", "support")),
        ("a blank identity", person("\t ", "support")),
        ("an identity with an unseen character", person("ki\u{200b}m", "support")),
        ("an identity of two scripts", person("кim", "support")),
        ("a token as well", [vec![("authorization", token.as_str())], person("kim", "support")].concat()),
        ("a token as well, no secret", vec![("authorization", token.as_str()), (USER, "kim")]),
    ];

    for (what, headers) in attacks {
        let refused = me(&gate, &headers).await;
        assert_eq!(refused.code(), (401, "UNAUTHORIZED".to_owned()), "{what}: {refused:?}");
        assert!(!refused.text.contains(SECRET), "{what}");
    }
    let all = [("right", person("kim", "support")), ("wrong", vec![(USER, "kim"), (PROOF, "x")])];
    let mut said = Vec::new();
    for (what, headers) in all {
        let refused = asked(&gate, &outside, "/api/workspaces", &headers).await;
        assert_eq!(refused.status, 401, "from outside, with the {what} secret");
        said.push(refused.at("/error/message"));
    }
    assert_eq!(said[0], said[1], "the answer does not reveal whether the secret is right");
    let token = [("authorization", token.as_str()), (GROUPS, "leads"), (NAME, "Mallory")];
    for client in [&outside, &gate.client] {
        let owner = asked(&gate, client, "/api/workspaces", &token).await;
        assert_eq!(owner.at("/items/0/subject"), "owner", "a token counts from any address");
        assert!(!owner.text.contains("Mallory"), "{owner:?}");
    }
    gate.stop().await;
}

#[tokio::test]
async fn header_spelling_does_not_bypass_checks() {
    let (_folder, gate) = gate().await;
    let ask = async |lines: &str| {
        let host = gate.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).await.unwrap();
        let head =
            format!("GET /api/workspaces HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{lines}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).await.unwrap();
        said.get(9..12).unwrap_or_default().to_owned()
    };
    let rest = format!("X-Auth-Request-Groups: support\r\nX-Proxy-Secret: {SECRET}");

    assert_eq!(ask(&format!("X-AUTH-request-USER:   kim  \r\n{rest}")).await, "200");
    for odd in [
        "X-Auth-Request-User : kim",
        " X-Auth-Request-User: kim",
        "X-Auth-Request-User: kim\r\n lee",
        "X_Auth_Request_User: kim",
        "X-Auth-Request-User:",
        "X-Auth-Request-User: kim\r\nx-auth-request-user: lee",
        "X-Auth-Request-User: k\u{85}im",
        "X-Auth-Request-User: ki\u{1}m",
    ] {
        let status = ask(&format!("{odd}\r\n{rest}")).await;
        assert!(["400", "401"].contains(&status.as_str()), "{odd:?}: {status}");
    }
    gate.stop().await;
}

/// A person with a token who also comes through the proxy counts once, in any spelling.
#[tokio::test]
async fn person_counts_once_by_token_and_by_proxy() {
    let (_folder, gate) = gate().await;
    let id = gate.propose("two", "{}").await;
    let kim = NewToken {
        subject: "kim".to_owned(),
        workspace: "w".to_owned(),
        scopes: vec![Scope::Read, Scope::Decide],
        ..NewToken::default()
    };
    let kim = gate.gate.issue_token(kim).await.unwrap();
    let approve = async |headers: &[(&str, &str)]| {
        let request = gate.client.post(format!("{}/api/pending-actions/{id}/approve", gate.url));
        answer(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
    };

    assert_eq!(approve(&person("Kim", "support")).await.at("/approvals/given"), "1");
    let again = gate.post_as(&kim, &format!("/api/pending-actions/{id}/approve"), "").await;
    assert_eq!(again.at("/approvals/by"), r#"["Kim"]"#, "{again:?}");
    assert_eq!(approve(&person("ＫＩＭ", "support")).await.at("/approvals/given"), "1");
    for proposer in ["agent", "ａｇｅｎｔ"] {
        let refused = approve(&person(proposer, "support")).await;
        assert_eq!(refused.status, 403, "the proposer cannot approve");
    }
    approve(&person("lee", "support")).await;

    let done = gate.until_final(&id).await;
    assert_eq!((done.at("/status"), done.at("/resolvedBy")), ("executed".to_owned(), "lee".to_owned()));
    let audit = gate.get("/api/audit?workspace_id=w").await.text;
    assert!(audit.contains(r#""by":"lee""#) && audit.contains(r#""by":"Kim""#), "{audit}");
    let approvals = me(&gate, &person("lee", "support")).await.at("/items/0/approvals/deciders");
    assert_eq!(approvals, "4", "owner, kim, lee, and agent through the proxy");
    gate.stop().await;
}

#[tokio::test]
async fn limits_hold_for_each_person_of_the_proxy() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = behind_a_proxy(folder.path());
    config.limits.streams_per_token = 1;
    let gate = start(config).await;
    let open = async |user| {
        let request = gate.client.get(format!("{}/api/pending-actions/events", gate.url));
        let headers = person(user, "watchers");
        headers.iter().fold(request, |it, (name, value)| it.header(*name, *value)).send().await.unwrap()
    };

    let (kim, lee, again) = (open("kim").await, open("lee").await, open(" KIM ").await);

    assert_eq!([kim.status(), lee.status(), again.status()].map(|it| it.as_u16()), [200, 200, 429]);
    drop((kim, lee, again));
    gate.stop().await;
}

#[tokio::test]
async fn gate_without_a_usable_secret_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = behind_a_proxy(folder.path());
    for (printed, said) in [("short", "fewer than 16"), ("", "its secret: the token from")] {
        let proxy = config.proxy.as_mut().unwrap();
        proxy.secret = TokenFrom::Command(["/bin/echo", printed].map(str::to_owned).to_vec());
        let error = match Gate::open(&config).await {
            Err(GateError::Config(error)) => error.to_string(),
            other => panic!("{other:?}"),
        };
        assert!(error.contains("gate.proxy") && error.contains(said), "{error}");
    }
}

// A small proxy with a login, similar to OpenID Connect proxies.

/// Signs sessions with its own key.
#[derive(Clone)]
struct Login {
    key: Arc<str>,
    gate: Arc<str>,
    client: Client,
}

impl Login {
    fn signed(&self, claims: &str) -> String {
        let digest = Sha256::digest(format!("{}\n{claims}", self.key));
        format!("{claims}|{}", hex(&digest))
    }

    fn session(&self, user: &str, groups: &str) -> String {
        format!("session={}", self.signed(&format!("{user}|{groups}")))
    }

    fn who(&self, headers: &HeaderMap) -> Option<(String, String)> {
        let session = headers.get(header::COOKIE)?.to_str().ok()?.strip_prefix("session=")?;
        let (claims, _) = session.rsplit_once('|')?;
        let (user, groups) = claims.split_once('|').filter(|_| self.signed(claims) == session)?;
        Some((user.to_owned(), groups.to_owned()))
    }
}

async fn forward(
    State(login): State<Login>,
    method: Method,
    uri: Uri,
    mut headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some((user, groups)) = login.who(&headers) else { return StatusCode::UNAUTHORIZED.into_response() };
    for taken in [header::HOST, header::COOKIE, header::AUTHORIZATION, header::CONTENT_LENGTH] {
        headers.remove(taken);
    }
    for (name, value) in [(USER, user.as_str()), (GROUPS, groups.as_str()), (PROOF, SECRET)] {
        // Replaces headers that came from outside.
        headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    }
    headers.remove(NAME);
    let request = login.client.request(method, format!("{}{uri}", login.gate)).headers(headers).body(body);
    let mut answer = request.send().await.unwrap();
    let (status, headers) = (answer.status(), answer.headers().clone());
    let body = async_stream::stream! {
        while let Ok(Some(chunk)) = answer.chunk().await {
            yield Ok::<_, std::convert::Infallible>(chunk);
        }
    };
    let mut response = Body::from_stream(body).into_response();
    *response.status_mut() = status;
    if let Some(kind) = headers.get(header::CONTENT_TYPE) {
        response.headers_mut().insert(header::CONTENT_TYPE, kind.clone());
    }
    response
}

#[tokio::test]
async fn login_at_a_proxy_opens_lists_decisions_and_streams() {
    let (_folder, gate) = gate().await;
    let (key, url) = (Arc::from("a key of the proxy"), Arc::from(gate.url.as_str()));
    let login = Login { key, gate: url, client: gate.client.clone() };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().fallback(forward).with_state(login.clone());
    let served = tokio::spawn(async move { axum::serve(listener, router).await });
    let ask = |method: Method, path: &str, cookie: &str| {
        let request = gate.client.request(method, format!("{proxy}{path}")).header(header::COOKIE, cookie);
        // A client's own identity headers are ignored.
        request.header(USER, "owner").header(GROUPS, "leads").header(NAME, "Owner").bearer_auth("x")
    };
    let id = gate.propose("two", "{}").await;
    let (kim, lee) = (login.session("kim", "support"), login.session("lee", "support,watchers"));

    let forged = format!("session=owner|leads|{}", "0".repeat(64));
    for cookie in ["", &forged, &kim.replace("kim", "lee")] {
        assert_eq!(
            ask(Method::GET, "/api/workspaces", cookie).send().await.unwrap().status(),
            401,
            "{cookie}"
        );
    }
    let me = answer(ask(Method::GET, "/api/workspaces", &kim)).await;
    assert_eq!(
        (me.at("/items/0/subject"), me.at("/items/0/scopes")),
        ("kim".to_owned(), r#"["read","decide"]"#.to_owned())
    );
    assert!(!me.text.contains("Owner"), "{me:?}");
    let list = answer(ask(Method::GET, "/api/pending-actions?workspace_id=w", &kim)).await;
    assert_eq!(list.at("/items/0/id"), id);

    let mut stream = ask(Method::GET, "/api/pending-actions/events", &kim).send().await.unwrap();
    let first = tokio::time::timeout(LIMIT, stream.chunk()).await.unwrap().unwrap().unwrap();
    assert!(String::from_utf8_lossy(&first).contains("event: briefing"), "{first:?}");
    for (cookie, status) in [(&kim, "pending"), (&lee, "approved")] {
        let path = format!("/api/pending-actions/{id}/approve");
        let decided = answer(ask(Method::POST, &path, cookie)).await;
        assert_eq!((decided.status, decided.at("/status")), (200, status.to_owned()), "{decided:?}");
    }
    let next = tokio::time::timeout(LIMIT, stream.chunk()).await.unwrap().unwrap().unwrap();
    assert!(String::from_utf8_lossy(&next).contains("event: briefing"), "the stream continues: {next:?}");
    assert_eq!(gate.until_final(&id).await.at("/resolvedBy"), "lee");

    drop(stream);
    served.abort();
    gate.stop().await;
}

/// The login may end at the proxy without ending an open stream.
#[tokio::test]
async fn proxied_persons_stream_ends_after_fifteen_minutes() {
    let (_folder, gate) = gate().await;
    gate.gate.inner.clock.stop();
    let headers = person("kim", "watchers");
    let request = gate.client.get(format!("{}/api/pending-actions/events", gate.url));
    let request = headers.iter().fold(request, |it, (name, value)| it.header(*name, *value)).build().unwrap();
    let mut caller = Request::new(Body::empty());
    *caller.headers_mut() = request.headers().clone();
    caller.extensions_mut().insert(crate::gate::proxy::FromProxy(true));

    let caller = crate::gate::auth::Caller::by_proxy(&mut caller, &gate.gate).await.unwrap().unwrap();

    gate.gate.inner.clock.pass(15 * 60_000 - 1);
    assert!(caller.is_live(&gate.gate).await.unwrap());
    gate.gate.inner.clock.pass(1);
    assert!(!caller.is_live(&gate.gate).await.unwrap());
    gate.stop().await;
}
