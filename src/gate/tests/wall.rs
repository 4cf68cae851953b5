//! Every route checks the caller's token and scope.

use reqwest::Method;
use secrecy::SecretString;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::support::{LIMIT, answer, config, plain, start};
use crate::config::GateConfig;
use crate::gate::auth::Access;
use crate::gate::router;
use crate::gate::token::Scope;
use crate::rounds::rounds;

#[tokio::test]
async fn only_open_routes_answer_without_a_token() {
    let (_folder, gate) = plain().await;
    for route in router::table() {
        let path = route.path.replace(['{', '}'], "");
        let method = Method::from_bytes(route.method.as_str().as_bytes()).unwrap();

        let bare = answer(gate.client.request(method.clone(), format!("{}{path}", gate.url))).await;
        let wrong = answer(gate.request(method, &path, &SecretString::from("placet_owner_0"))).await;

        let open = route.access == Access::Open;
        assert_eq!(bare.status == 401, !open, "{path}: {}", bare.text);
        assert_eq!(wrong.status == 401, !open, "{path}: {}", wrong.text);
    }
    gate.stop().await;
}

#[tokio::test]
async fn token_is_limited_to_its_scopes() {
    let (_folder, gate) = plain().await;
    for scope in Scope::ALL {
        let token = gate.gate.create_token("somebody", "w", &[scope], None).await.unwrap();
        for route in router::table() {
            // A stream would not end.
            if route.path.ends_with("/events") && !route.path.contains("{id}") {
                continue;
            }
            let path = route.path.replace(['{', '}'], "");
            let method = Method::from_bytes(route.method.as_str().as_bytes()).unwrap();

            let said = answer(gate.request(method, &path, &token)).await;

            let may = route.access == Access::Scope(scope) || !matches!(route.access, Access::Scope(_));
            let lacks = said.status == 403 && said.at("/error/message").contains("lacks the scope");
            assert_eq!(lacks, !may, "{path} with {scope}: {} {}", said.status, said.text);
        }
    }
    gate.stop().await;
}

/// `P` stands for the gate's port.
const HOSTS: [(&str, bool); 11] = [
    ("127.0.0.1:P", true),
    ("localhost:P", true),
    ("[::1]:P", true),
    ("gate.example.com", true),
    ("evil.example", false),
    ("evil.example:P", false),
    ("localhost.evil.example:P", false),
    ("gate.example.com.evil.example", false),
    ("10.0.0.1:P", false),
    ("0.0.0.0:P", false),
    ("127.0.0.1:P@evil.example", false),
];
const ORIGINS: [Option<&str>; 5] =
    [None, Some("null"), Some("http://127.0.0.1:P"), Some("https://evil.example"), Some("")];
const KINDS: [(Option<&str>, bool); 5] = [
    (Some("application/json"), true),
    (Some("Application/JSON; charset=utf-8"), true),
    (Some("text/plain"), false),
    (Some("application/x-www-form-urlencoded"), false),
    (None, false),
];

#[tokio::test]
async fn g24_routes_refuse_browsers() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = vec!["gate.example.com".to_owned()];
    let gate = start(GateConfig { hosts, ..config(folder.path()) }).await;
    let token = gate.gate.create_token("every", "w", &Scope::ALL, None).await.unwrap();
    let port = gate.url.rsplit_once(':').unwrap().1;
    let combinations: Vec<_> = HOSTS
        .into_iter()
        .flat_map(|host| ORIGINS.map(|origin| (host, origin)))
        .flat_map(|(host, origin)| KINDS.map(|kind| (host, origin, kind)))
        .collect();
    assert!(combinations.len() >= 40, "{}", combinations.len());
    // By default, each route gets each host, origin and kind, and one route in eight gets each combination.
    let one_in = rounds(8, 1) as usize;
    for (nth, ((host, ours), origin, (kind, json))) in combinations.into_iter().enumerate() {
        let odd = [host != HOSTS[0].0, origin.is_some(), kind != KINDS[0].0];
        let alone = odd.into_iter().filter(|odd| *odd).count() <= 1;
        for (at, route) in router::table().into_iter().enumerate() {
            if !alone && (nth + at) % one_in != 0 {
                continue;
            }
            let path = route.path.replace(['{', '}'], "");
            let method = Method::from_bytes(route.method.as_str().as_bytes()).unwrap();
            let posts = method == Method::POST;
            let mut request = gate.request(method, &path, &token).header("host", host.replace('P', port));
            if let Some(origin) = origin {
                request = request.header("origin", origin.replace('P', port));
            }
            if let Some(kind) = kind {
                request = request.header("content-type", kind);
            }
            if posts {
                request = request.body("{}");
            }

            // Only the status, because a stream would not end.
            let status = request.send().await.unwrap().status().as_u16();

            let want = match (origin, ours, json || !posts) {
                (Some(_), ..) => Some(403),
                (None, false, _) => Some(421),
                (None, true, false) => Some(415),
                (None, true, true) => None,
            };
            let heard = ![403, 415, 421].contains(&status);
            let said = format!("{path} Host {host}, Origin {origin:?}, {kind:?}: {status}");
            assert!(want.map_or(heard, |want| status == want), "{said}");
        }
    }
    gate.stop().await;
}

#[tokio::test]
async fn g24_request_without_exactly_one_host_is_refused() {
    let (_folder, gate) = plain().await;
    let address = gate.url.strip_prefix("http://").unwrap();
    for hosts in ["", "Host: localhost\r\nHost: evil.example\r\n", "Host: localhost\r\nHost: localhost\r\n"] {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let request = format!("GET /openapi.json HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut said = String::new();
        tokio::time::timeout(LIMIT, stream.read_to_string(&mut said)).await.unwrap().unwrap();

        assert!(said.starts_with("HTTP/1.1 4"), "{hosts:?}: {said}");
    }
    gate.stop().await;
}
