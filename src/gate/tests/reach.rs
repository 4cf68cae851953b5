//! TLS and host names.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::{Certificate, Client, Method};
use secrecy::ExposeSecret as _;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::postgres;
use super::support::{LIMIT, TestGate, answer, config, start};
use crate::config::{GateConfig, TlsFiles};
use crate::contract::time;
use crate::gate::{check, tls};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The test certificate, and its key readable only by its owner.
fn files(folder: &Path) -> TlsFiles {
    let key = folder.join("key.pem");
    std::fs::copy(fixture("tls.key.pem"), &key).unwrap();
    mode(&key, 0o600);
    TlsFiles { cert: fixture("tls.cert.pem"), key }
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

async fn with_tls() -> (TempDir, TestGate) {
    let folder = tempfile::tempdir().unwrap();
    let tls = Some(files(folder.path()));
    let gate = trusting(start(GateConfig { tls, ..config(folder.path()) }).await);
    (folder, gate)
}

fn trusting(mut gate: TestGate) -> TestGate {
    gate.url = gate.url.replace("http://", "https://");
    gate.client = client("tls.cert.pem");
    gate
}

fn client(cert: &str) -> Client {
    let cert = Certificate::from_pem(&std::fs::read(fixture(cert)).unwrap()).unwrap();
    Client::builder().no_proxy().timeout(LIMIT).tls_certs_only([cert]).build().unwrap()
}

fn address(gate: &TestGate) -> String {
    gate.url.strip_prefix("https://").unwrap().to_owned()
}

#[tokio::test]
async fn gate_with_a_certificate_uses_tls() {
    if postgres::gates() > 1 {
        // Concerns one gate.
        return;
    }
    let (_folder, gate) = with_tls().await;

    let id = gate.propose("t", "{}").await;
    let strange = Client::builder().no_proxy().tls_certs_only([]).build().unwrap();

    assert_eq!(gate.status(&id).await, "pending");
    assert!(strange.get(format!("{}/healthz", gate.url)).send().await.is_err());
    gate.stop().await;
}

#[tokio::test]
async fn stalled_handshakes_do_not_delay_others() {
    let (_folder, gate) = with_tls().await;
    let mut stalled = Vec::new();
    for said in [&b""[..], b"\x16", b"\x16\x03\x01\x02\x00\x01\x00"].iter().cycle().take(60) {
        let mut stream = TcpStream::connect(address(&gate)).await.unwrap();
        stream.write_all(said).await.unwrap();
        stalled.push(stream);
    }
    let mut plain = TcpStream::connect(address(&gate)).await.unwrap();
    plain.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();

    // Sequential handshakes would take minutes.
    let healthy = tokio::time::timeout(LIMIT, gate.get("/healthz")).await.unwrap();
    let mut said = Vec::new();
    let ended = tokio::time::timeout(LIMIT, plain.read_to_end(&mut said)).await.unwrap();

    assert_eq!(healthy.status, 200);
    assert!(ended.is_err() || !said.starts_with(b"HTTP"), "{said:?}");
    drop(stalled);
    gate.stop().await;
}

#[tokio::test]
async fn handshake_ends_after_five_seconds() {
    let (_folder, gate) = with_tls().await;
    let mut stalled = TcpStream::connect(address(&gate)).await.unwrap();
    assert_eq!(gate.get("/healthz").await.status, 200);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(6)).await;
    // Paused time would advance to any limit before the connection's end is seen.
    tokio::time::resume();

    let ended = tokio::time::timeout(LIMIT, stalled.read(&mut [0])).await;

    assert!(matches!(ended, Ok(Ok(0) | Err(_))), "{ended:?}");
}

#[tokio::test]
async fn stalled_handshakes_of_one_client_are_bounded() {
    let (_folder, gate) = with_tls().await;
    let mut stalled = Vec::new();
    for _ in 0..150 {
        stalled.push(TcpStream::connect(address(&gate)).await.unwrap());
    }

    let ended = tokio::time::timeout(LIMIT, stalled[0].read(&mut [0])).await.unwrap();

    assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}");
    assert_eq!(gate.get("/healthz").await.status, 200);
    gate.stop().await;
}

#[tokio::test]
async fn source_trusts_the_certificates_in_its_ca_file() {
    let (folder, gate) = with_tls().await;
    gate.propose("t", "{}").await;
    let token = folder.path().join("token");
    std::fs::write(&token, gate.owner.expose_secret()).unwrap();
    mode(&token, 0o600);
    let http = |ca: Option<&Path>| {
        let ca = ca.map(|path| std::fs::read(path).unwrap());
        let way = crate::net::http::Way { ca: ca.as_deref(), ..Default::default() };
        crate::net::http::Http::by(&gate.url, None, way)
    };
    let ask = crate::net::http::Ask { path: "/healthz".to_owned(), body: None, key: None, limit: LIMIT };

    let trusting = http(Some(&fixture("tls.cert.pem"))).unwrap().ask(&ask).await;
    let strange = http(None).unwrap().ask(&ask).await;
    let wrong = http(Some(&token));

    assert_eq!(trusting.unwrap().status, 200);
    let strange = strange.unwrap_err().to_string();
    assert!(strange.contains("trusted") && strange.contains("ca_file"), "{strange}");
    assert!(wrong.is_err(), "{wrong:?}");
}

#[test]
fn certificate_problems_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let good = files(folder.path());
    let open = folder.path().join("open.pem");
    std::fs::copy(fixture("tls.key.pem"), &open).unwrap();
    mode(&open, 0o640);
    let another = folder.path().join("another.pem");
    std::fs::copy(fixture("tls.other.key.pem"), &another).unwrap();
    mode(&another, 0o600);
    let says = |cert: &Path, key: &Path| {
        let tls = Some(TlsFiles { cert: cert.to_owned(), key: key.to_owned() });
        check(&GateConfig { tls, ..config(folder.path()) }).map_err(|error| error.to_string())
    };

    assert_eq!(says(&good.cert, &good.key), Ok(()));
    for (cert, key, words) in [
        (good.cert.as_path(), open.as_path(), "chmod 600"),
        (&folder.path().join("none"), &good.key, "gate.tls_cert: cannot read"),
        (&good.cert, &folder.path().join("none"), "gate.tls_key: cannot read"),
        (&good.key, &good.key, "holds no certificate"),
        (&good.cert, &good.cert, "gate.tls_key"),
        (&good.cert, &another, "is not the key of"),
    ] {
        let error = says(cert, key).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn outdated_certificate_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let expired = TlsFiles { cert: fixture("tls.expired.cert.pem"), ..files(folder.path()) };

    let error = check(&GateConfig { tls: Some(expired), ..config(folder.path()) }).unwrap_err().to_string();
    assert!(error.contains("expired at 2021-01-01T00:00:00") && error.contains("SIGHUP"), "{error}");

    let tls = tls::load(&files(folder.path())).unwrap();
    let told = |moment: &str| tls.outdated(time::read(moment).unwrap());
    assert!(told("2019-12-31T23:59:59Z").unwrap().contains("is not valid before 2020-01-01T00:00:00"));
    assert_eq!([told("2020-01-01T00:00:00Z"), told("2126-01-01T00:00:00Z")], [None, None]);
    assert!(told("2126-01-01T00:00:01Z").unwrap().contains("expired at 2126-01-01T00:00:00"));
}

#[tokio::test]
async fn renewed_certificate_applies_to_new_connections() {
    if postgres::gates() > 1 {
        // Concerns one gate.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let own = TlsFiles { cert: folder.path().join("cert.pem"), ..files(folder.path()) };
    std::fs::copy(fixture("tls.cert.pem"), &own.cert).unwrap();
    let mut gate = trusting(start(GateConfig { tls: Some(own.clone()), ..config(folder.path()) }).await);
    let id = gate.propose("t", "{}").await;
    let (renewed, before) = (client("tls.renewed.cert.pem"), gate.client.clone());
    let asks = async |client: &Client| client.get(format!("{}/healthz", gate.url)).send().await.is_ok();
    assert!(!asks(&renewed).await);

    std::fs::write(&own.cert, "half of a certificate").unwrap();
    let problems = gate.gate.reload(folder.path()).await;
    assert!(problems.len() == 1 && problems[0].contains("gate.tls_cert"), "{problems:?}");
    assert!(asks(&client("tls.cert.pem")).await, "the old certificate is still used");
    std::fs::copy(fixture("tls.renewed.cert.pem"), &own.cert).unwrap();
    std::fs::copy(fixture("tls.renewed.key.pem"), &own.key).unwrap();
    mode(&own.key, 0o600);
    assert_eq!(gate.gate.reload(folder.path()).await, Vec::<String>::new());

    assert!(asks(&renewed).await && !asks(&client("tls.cert.pem")).await);
    assert!(asks(&before).await, "an earlier connection continues");
    gate.client = renewed;
    assert_eq!(gate.status(&id).await, "pending");
    gate.stop().await;
}

#[test]
fn public_address_requires_tls_or_a_proxy() {
    let folder = tempfile::tempdir().unwrap();
    for listen in ["0.0.0.0:7878", "[::]:7878", "10.0.0.1:7878"] {
        let open = GateConfig { listen: listen.parse().unwrap(), ..config(folder.path()) };
        let error = check(&open).unwrap_err().to_string();
        for word in [listen, "gate.tls_cert", "--behind-proxy", "127.0.0.1"] {
            assert!(error.contains(word), "{error}");
        }
        check(&GateConfig { behind_proxy: true, ..open.clone() }).unwrap();
        check(&GateConfig { tls: Some(files(folder.path())), ..open }).unwrap();
    }
}

#[tokio::test]
async fn only_configured_host_names_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = vec!["gate.example.com".to_owned()];
    let gate = start(GateConfig { hosts, ..config(folder.path()) }).await;
    let asked = async |host: &str| {
        answer(gate.request(Method::GET, "/api/workspaces", &gate.owner).header("host", host)).await
    };

    assert_eq!(asked("gate.example.com").await.status, 200);
    assert_eq!(asked("evil.example.com").await.code(), (421, "MISDIRECTED".to_owned()));
    gate.stop().await;
}
