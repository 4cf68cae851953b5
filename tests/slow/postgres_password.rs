//! The ways to give a gate its PostgreSQL password, against a server that requires it. Like the drills, they need
//! `PLACET_NEEDS_POSTGRES`.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use super::drills::asked;
use super::support::gate::Gate;
use super::support::home::Home;
use super::support::postgres::Server;

const PASSWORD: &str = "canary-pa55-w0rd-1";
const WRONG: &str = "canary-pa55-w0rd-2";

/// Starts a server that requires passwords on its port. Returns it with the URL for `kim`.
fn asking(programs: PathBuf) -> (Server, String) {
    let server = Server::on_a_port(programs, &[]);
    server.sql(&format!("CREATE ROLE kim LOGIN PASSWORD '{PASSWORD}'"));
    server.sql("CREATE DATABASE gate OWNER kim");
    let rules = "local all placet trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
    std::fs::write(server.data().join("pg_hba.conf"), rules).unwrap();
    server.sql("SELECT pg_reload_conf()");
    let url = format!("postgres://kim@{}/gate", server.address());
    (server, url)
}

/// A way to give a password: lines of `[gate.postgres]`, and the environment.
struct Way {
    home: Home,
    env: Vec<(String, String)>,
}

fn ways(server: &Server, password: &str) -> Vec<Way> {
    let way = |keys: &str, file: &str, env: &[(&str, &str)]| {
        let home = Home::with_config(&format!("[gate]\nlisten = \"127.0.0.1:0\"\n[gate.postgres]\n{keys}\n"));
        let path = home.path().join("secret");
        std::fs::write(&path, file).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let path = path.to_str().unwrap();
        let everything = ("RUST_LOG".to_owned(), "trace".to_owned());
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), value.replace("SECRET", path)));
        Way { env: env.chain([everything]).collect(), home }
    };
    let port = server.address().rsplit_once(':').unwrap().1.to_owned();
    vec![
        way("password_file = \"secret\"", &format!("{password}\n"), &[]),
        way("password_env = \"PASSWORD\"", "", &[("PASSWORD", password)]),
        way("password_command = [\"sh\", \"-c\", \"cat $HOME/secret\"]", password, &[]),
        way("", &format!("*:{port}:gate:kim:{password}\n"), &[("PGPASSFILE", "SECRET")]),
        way("", "", &[("PGPASSWORD", password)]),
    ]
}

fn log(way: &Way) -> String {
    std::fs::read_to_string(way.home.state().join("placet.log")).unwrap_or_default()
}

#[test]
fn each_password_setting_works_and_leaks_nothing() {
    let Some(programs) = asked("passwords of a database") else { return };
    let (server, url) = asking(programs);
    let args = ["gate", "serve", "--database", &url];

    for way in ways(&server, PASSWORD) {
        let gate = Gate::serve_with(&way.home, &args[2..], &way.env);

        let line = std::fs::read_to_string(format!("/proc/{}/cmdline", gate.id())).unwrap();
        assert!(line.contains("kim") && !line.contains("canary"), "{line}");
        gate.kill_9();
        let log = log(&way);
        assert!(log.contains("DEBUG") && !log.contains("canary"), "{:?}: {log}", way.env);
    }

    for way in ways(&server, WRONG) {
        let refused = way.home.command(&args).envs(way.env.iter().cloned()).output().unwrap();

        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        let why = "the database server refuses the password or the user; check both";
        assert!(refused.status.code() == Some(1) && said.contains(why), "{said}");
        assert!(!(said + &log(&way)).contains("canary"), "{:?}", way.env);
    }
    assert!(!server.log().contains("canary"));
}
