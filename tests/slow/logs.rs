//! The request log of a gate: enough to find a fault, without contents.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use placet::for_tests::Fields;
use rustix::process::{Pid, Signal, kill_process};

use super::support::agent::{self, propose, request};
use super::support::eventually;
use super::support::gate::Address;
use super::support::home::Home;

/// A text put into every part of the requests.
const CANARY: &str = "canary7b1f";

const CONFIG: &str = r#"
[gate]
listen = "127.0.0.1:0"
[gate.limits]
body_bytes = 4000
[gate.tools.fails]
executor = "command"
argv = ["sh", "-c", "cat >&2; exit 3"]
[gate.tools.works]
executor = "command"
argv = ["cat"]
"#;

struct Logged {
    home: Home,
    child: Ended,
    address: Address,
}

struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Logged {
    fn serve(args: &[&str]) -> Self {
        let home = Home::with_config(CONFIG);
        let mut command = home.command(&["gate", "serve"]);
        command.args(args).env("RUST_LOG", "debug").stdin(Stdio::null()).current_dir(home.path());
        command.stdout(File::create(home.path().join("stdout")).unwrap());
        command.stderr(File::create(home.path().join("stderr")).unwrap());
        let child = Ended(command.spawn().unwrap());
        let stdout = home.path().join("stdout");
        let address = eventually("it is ready", || {
            let line = std::fs::read_to_string(&stdout).ok()?;
            line.ends_with('\n').then(|| Address::read(&line))?
        });
        Self { home, child, address }
    }

    /// Ends the gate with SIGTERM and returns all it wrote.
    fn end(mut self) -> (Home, Address, Vec<(PathBuf, String)>) {
        kill_process(Pid::from_child(&self.child.0), Signal::TERM).unwrap();
        assert!(self.child.0.wait().unwrap().success());
        let written =
            ["stdout", "stderr", "own.log", "state/placet.log"].map(|name| self.home.path().join(name));
        let written = written.into_iter().filter_map(|path| Some((path.clone(), read(&path)?))).collect();
        (self.home, self.address, written)
    }
}

fn read(path: &Path) -> Option<String> {
    Some(String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned())
}

fn talk(address: &Address) {
    let (owner, agent) = (address.owner_token.as_str(), address.agent_token.as_str());
    let all = "/api/pending-actions";
    let body = |tool: &str| {
        format!(
            r#"{{"toolName":"{tool}","workspaceId":"default","toolInput":{{"secret":"{CANARY}"}},"preview":"{CANARY}",
            "summary":"{CANARY}","missionId":"{CANARY}","agent":"{CANARY}\n","sessionId":"{CANARY}"}}"#
        )
    };
    for tool in ["works", "fails"] {
        let id = propose(address, &body(tool));
        let edits = format!(r#"{{"userEdits":{{"more":"{CANARY}"}},"reason":"{CANARY}"}}"#);
        assert_eq!(request(address, owner, "POST", &format!("{all}/{id}/approve"), &edits).status, 200);
        request(address, owner, "GET", &format!("{all}/{id}?wait=20s&until=final"), "");
        assert_eq!(request(address, owner, "POST", &format!("{all}/{id}/reject"), "{}").status, 409);
        assert_eq!(request(address, owner, "POST", &format!("{all}/{id}/reject"), &edits).status, 400);
    }
    let pulled = propose(address, &body(CANARY));
    request(address, owner, "POST", &format!("{all}/{pulled}/approve"), "{}");
    let claimed = request(address, agent, "POST", &format!("{all}/{pulled}/claim"), "{}");
    let fence = Fields::of(&claimed.body).unwrap().number("fence").unwrap();
    let result = format!(r#"{{"fence":{fence},"error":"{CANARY}"}}"#);
    assert_eq!(request(address, agent, "POST", &format!("{all}/{pulled}/result"), &result).status, 200);
    let long = format!(r#"{{"toolInput":"{}"}}"#, CANARY.repeat(500));
    for (token, method, path, body, status) in [
        (agent, "POST", all.to_owned(), format!(r#"{{"{CANARY}":"#), 400),
        (agent, "POST", all.to_owned(), format!(r#"{{"toolName":"{CANARY}","toolInput":"{CANARY}"}}"#), 422),
        (agent, "POST", all.to_owned(), long, 413),
        (owner, "POST", all.to_owned(), body("works"), 403),
        (CANARY, "GET", all.to_owned(), String::new(), 401),
        (owner, "GET", format!("{all}/{CANARY}"), String::new(), 404),
        (owner, "GET", format!("/{CANARY}"), String::new(), 404),
        (owner, "GET", format!("{all}?status={CANARY}"), String::new(), 422),
        (owner, "GET", format!("{all}?limit={CANARY}"), String::new(), 400),
        (owner, "GET", format!("{all}?mission_id={CANARY}"), String::new(), 200),
        (agent, CANARY, all.to_owned(), String::new(), 405),
        (owner, "POST", format!("{all}/batch/{CANARY}/approve"), r#"{"items":[]}"#.to_owned(), 404),
        (owner, "GET", "/metrics".to_owned(), String::new(), 200),
        (owner, "GET", format!("{all}/changes?since=0"), String::new(), 200),
    ] {
        let reply = request(address, token, method, &path, &body);
        assert_eq!(reply.status, status, "{method} {path}: {}", reply.body);
    }
    assert_eq!(agent::status(address, &pulled), "failed");
}

fn search(written: &[(PathBuf, String)], secrets: &[&str]) {
    for (path, text) in written {
        for secret in secrets {
            let line = text.lines().find(|line| line.contains(secret));
            assert!(line.is_none(), "{} holds a secret: {}", path.display(), line.unwrap_or_default());
        }
    }
}

#[test]
fn logs_contain_no_request_contents() {
    for (args, log) in [
        (["--log", "-", "--log-format", "json"], "stderr"),
        (["--log", "own.log", "--log-format", "text"], "own.log"),
    ] {
        let gate = Logged::serve(&args);
        talk(&gate.address);
        let (home, address, written) = gate.end();

        let tokens = [address.owner_token.as_str(), address.agent_token.as_str()];
        search(&written, &[&[CANARY][..], &tokens[..]].concat());
        let in_log = written.iter().find(|(path, _)| path.ends_with(log)).map(|(_, text)| text).unwrap();
        let at = |what: &str| in_log.lines().find(|line| line.contains(what));
        let approved = at("/api/pending-actions/{id}/approve").unwrap_or_else(|| panic!("{in_log}"));
        assert!(
            approved.contains("owner") && approved.contains("200") && approved.contains("POST"),
            "{approved}"
        );
        for what in ["the gate serves", "the gate stopped"] {
            assert_eq!(in_log.lines().filter(|line| line.contains(what)).count(), 1, "{what}: {in_log}");
        }
        if log == "stderr" {
            let objects = in_log.lines().filter(|line| Fields::of(line).is_some()).count();
            assert_eq!(objects, in_log.lines().count(), "{in_log}");
        }
        let stdout = written.iter().find(|(path, _)| path.ends_with("stdout")).unwrap();
        assert_eq!(stdout.1.lines().count(), 1, "{}", stdout.1);
        // The database holds proposals, but only hashes of tokens.
        for file in ["gate.db", "gate.db-wal"] {
            let path = home.state().join(file);
            if let Some(text) = read(&path) {
                search(&[(path, text)], &tokens);
            }
        }
    }
}
