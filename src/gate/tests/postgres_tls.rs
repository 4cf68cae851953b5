//! TLS between a gate and a PostgreSQL server on a port. Skipped if PostgreSQL is not installed.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::postgres::is_used;
use super::postgres::server::{Server, owned_folder, programs, user};
use super::support::{LIMIT, config, serve};
use crate::config::GateConfig;
use crate::gate::{Gate, GateError};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A server whose certificate is valid for the first of its two addresses, and the folder of its files.
fn with_certificate(programs: PathBuf) -> (Server, TempDir) {
    let files = owned_folder();
    let paths = ["tls.cert.pem", "tls.key.pem"].map(|name| files.path().join(name));
    for path in &paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        std::fs::copy(fixture(name), path).unwrap();
        std::fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
        if let Some(user) = user() {
            chown(path, Some(user), Some(user)).unwrap();
        }
    }
    let [cert, key] = paths.each_ref().map(|path| path.to_str().unwrap());
    let addresses = ("listen_addresses", "127.0.0.1,127.0.0.2");
    let tls = [("ssl", "on"), ("ssl_cert_file", cert), ("ssl_key_file", key), addresses];
    (Server::on_a_port(programs, &tls), files)
}

async fn open(url: &str) -> Result<Gate, GateError> {
    let folder = tempfile::tempdir().unwrap();
    Gate::open(&GateConfig { server: Some(url.to_owned()), ..config(folder.path()) }).await
}

async fn refused(url: &str) -> String {
    open(url).await.unwrap_err().to_string()
}

/// The server's URL with `root` as trusted certificate.
fn url(server: &Server, root: &str) -> String {
    let root = fixture(root);
    format!(
        "postgres://placet@{}/postgres?sslmode=verify-full&sslrootcert={}",
        server.address(),
        root.display()
    )
}

async fn until(is_so: impl AsyncFn() -> bool) {
    let waiting = async {
        while !is_so().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, waiting).await.unwrap();
}

#[tokio::test]
async fn tls_connection_works_and_its_errors_are_reported() {
    let Some(programs) = programs().filter(|_| !is_used()) else { return };
    let (server, files) = with_certificate(programs.clone());
    let plain = Server::on_a_port(programs, &[]);
    let good = url(&server, "tls.cert.pem");

    let gate = serve(open(&good).await.unwrap()).await;

    assert_eq!(gate.status(&gate.propose("t", "{}").await).await, "pending");
    let ways = "SELECT bool_and(ssl) AND bool_or(query LIKE 'LISTEN%') FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                WHERE application_name = 'placet gate'";
    until(async || server.sql(ways) == "t").await;
    gate.stop().await;
    for (url, says) in [
        (
            good.split('&').next().unwrap().to_owned(),
            "has no signer that is trusted here; name the signer's file as",
        ),
        (url(&server, "tls.renewed.cert.pem"), "has no signer that is trusted here"),
        (url(&server, "save_recommendations.json"), "has no signer that is trusted here"),
        (url(&server, "none.pem"), "names as sslrootcert, sslcert or sslkey cannot be read: No such file"),
        (good.replace("127.0.0.1", "127.0.0.2"), "is for another name; use a name that it is for in the URL"),
        (url(&plain, "tls.cert.pem"), "does not speak TLS; set ssl = on there, or ask for less with sslmode"),
    ] {
        let said = refused(&url).await;
        assert!(said.contains(says), "{url}: {said}");
    }
    std::fs::copy(fixture("tls.expired.cert.pem"), files.path().join("tls.cert.pem")).unwrap();
    server.sql("SELECT pg_reload_conf()");
    let outdated = url(&server, "tls.expired.cert.pem");
    until(async || refused(&outdated).await.contains("has expired or is not valid yet; renew it")).await;
}
