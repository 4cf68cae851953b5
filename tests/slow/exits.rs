//! All exit codes, and wrong arguments of every command.

use std::io::Write as _;
use std::process::{Child, Output, Stdio};

use super::support::agent;
use super::support::gate::Gate;
use super::support::home::{Home, WRITE_FILE};
use super::support::team;
use super::support::{ended, eventually};

const INPUT: &str = r#"{"title":"x"}"#;

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Starts a gate with a tool that kills itself while running, so that its outcome is unknown.
fn served() -> (Home, Gate, Home) {
    let killed = "[gate.tools.vanish]\nexecutor = \"command\"\nargv = [\"sh\", \"-c\", \"kill -9 $$\"]\n";
    let gate_home = Home::with_config(&format!("{WRITE_FILE}{killed}"));
    let gate = Gate::serve(&gate_home, &[]);
    let home = Home::with_config(&team(&gate, &gate_home));
    (gate_home, gate, home)
}

fn waiting(gate_home: &Home, home: &Home, tool: &str, seconds: &str) -> Child {
    let token = gate_home.state().join("agent.token");
    let args = ["propose", tool, "--input", "-", "--wait", seconds, "--token-file", token.to_str().unwrap()];
    let mut child = home.command(&args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(INPUT.as_bytes()).unwrap();
    child
}

fn pending(home: &Home) -> String {
    eventually("something is pending", || {
        let output = home.run(&["list", "--csv", "--columns", "id"]);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().nth(1).map(str::to_owned)
    })
}

#[test]
fn proposal_exits_with_its_outcome() {
    let (gate_home, _gate, home) = served();
    for (tool, decide, code) in [
        ("write_note", Some("--approve"), 0),
        ("write_note", Some("--reject"), 6),
        ("vanish", Some("--approve"), 4),
        ("write_note", None, 7),
    ] {
        let child = waiting(&gate_home, &home, tool, if decide.is_some() { "25" } else { "1" });
        if let Some(flag) = decide {
            let decided = home.run(&["decide", flag, &pending(&home)]);
            assert_eq!(decided.status.code(), Some(0), "{}", said(&decided));
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{tool} {decide:?}: {}", said(&output));
    }
    let unknown = home.run(&["list", "--line", "is:unknown"]);
    assert_eq!(unknown.status.code(), Some(0));
    let listed = home.run(&["list", "--status", "unknown"]);
    assert!(said(&listed).contains("1 unknown"), "{}", said(&listed));
}

#[test]
fn reading_and_deciding_exit_with_the_outcome() {
    let (_gate_home, gate, home) = served();
    let away =
        Home::with_config("[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = \"http://127.0.0.1:9\"\n");
    let body = r#"{"toolName":"write_note","toolInput":{"n":1},"workspaceId":"default"}"#;
    let ids = [agent::propose(&gate.address, body), agent::propose(&gate.address, body)];
    let reject = |id: &str| {
        agent::request(
            &gate.address,
            &gate.address.owner_token,
            "POST",
            &format!("/api/pending-actions/{id}/reject"),
            "{}",
        )
    };
    assert_eq!(reject(&ids[1]).status, 200);

    for (home, args, code) in [
        (&home, &["list"][..], 0),
        (&home, &["list", "--line"], 0),
        (&home, &["list", "--status", "rejected"], 0),
        (&home, &["show", &ids[0]], 0),
        (&home, &["show", &ids[0], "no-such-id"], 1),
        (&home, &["decide", "--approve", "no-such-id"], 3),
        (&home, &["decide", "--approve", "no-such-id", "--dry-run"], 3),
        (&home, &["decide", "--approve", &ids[1]], 3),
        (&home, &["decide", "--approve", &ids[1], "--dry-run"], 3),
        (&home, &["decide", "--approve", &ids[0], "--dry-run"], 0),
        (&home, &["decide", "--approve", &ids[0]], 0),
        (&home, &["log"], 0),
        (&home, &["log", "report"], 0),
        (&home, &["doctor"], 0),
        (&away, &["list"], 5),
        (&away, &["list", "--line"], 5),
        (&away, &["list", "--status", "executed"], 5),
        (&away, &["list", "--csv"], 5),
        (&away, &["show", &ids[0]], 5),
        (&away, &["decide", "--reject", &ids[0]], 5),
        (&away, &["doctor"], 1),
    ] {
        let output = home.run(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", said(&output));
    }
}

#[test]
fn unreachable_source_is_reported_when_named() {
    let (_gate_home, _gate, home) = served();
    let down = "[[source]]\nname = \"down\"\nkind = \"gate\"\nurl = \"http://127.0.0.1:9\"\n";
    std::fs::write(home.config(), down.to_owned() + &std::fs::read_to_string(home.config()).unwrap())
        .unwrap();

    for (args, code) in [(&["--source", "down"][..], 5), (&["--source", "team"], 0), (&[], 0)] {
        let output = home.run(&[&["list", "--status", "executed"], args].concat());
        let said = said(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert_eq!(said.contains("! down"), args != ["--source", "team"], "{said}");
    }
}

#[test]
fn action_decided_twice_in_a_file_is_refused() {
    let (_gate_home, gate, home) = served();
    let body = r#"{"toolName":"write_note","toolInput":{"n":1},"workspaceId":"default"}"#;
    let id = agent::propose(&gate.address, body);
    let from = home.path().join("decisions.json");
    let both = format!(
        r#"[{{"id":"{id}","decision":"reject"}},{{"id":"{id}","source":"team","decision":"approve"}}]"#
    );
    std::fs::write(&from, both).unwrap();

    for more in [&["--dry-run"][..], &[]] {
        let output = home.run(&[&["decide", "--from", from.to_str().unwrap()], more].concat());
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("is decided twice"), "{}", said(&output));
    }
    assert_eq!(agent::status(&gate.address, &id), "pending");
}

#[test]
fn misleading_input_needs_a_digest_to_approve() {
    let (_gate_home, gate, home) = served();
    let body = r#"{"toolName":"write_note","toolInput":{"to":"a\u200bb"},"workspaceId":"default"}"#;
    let id = agent::propose(&gate.address, body);
    for more in [&["--dry-run"][..], &[]] {
        let refused = home.run(&[&["decide", "--approve", &id], more].concat());
        assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
        assert!(said(&refused).contains("it asks for a second look (invisible"), "{}", said(&refused));
    }
    assert_eq!(agent::status(&gate.address, &id), "pending");

    let shown = home.run(&["show", &id, "--json"]);
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert!(shown["beforeDeciding"].to_string().contains("look twice: invisible"), "{shown}");
    let from = home.path().join("decisions.json");
    let digest = shown["digest"].as_str().unwrap();
    let decision = format!(r#"[{{"id":"{id}","decision":"approve","digest":"{digest}"}}]"#);
    std::fs::write(&from, decision).unwrap();
    let approved = home.run(&["decide", "--from", from.to_str().unwrap()]);
    assert_eq!(approved.status.code(), Some(0), "{}", said(&approved));
}

#[test]
fn wrong_arguments_exit_with_2() {
    let home = Home::with_config(
        "[[filter]]\nname = \"old\"\ntext = \"age:>1h\"\n[gate]\nlisten = \"127.0.0.1:0\"\n",
    );
    let garbage = home.path().join("garbage.json");
    std::fs::write(&garbage, "[{\"id\":\"1\",\"decision\":\"maybe\"}]").unwrap();
    let garbage = garbage.to_str().unwrap();
    for (args, says) in [
        (&["list", "colour:red"][..], "no field colour:"),
        (&["list", "is:marked"], "is:marked"),
        (&["list", "-x"], "unexpected argument"),
        (&["list", "kind:exclude"], "kind:"),
        (&["list", "--filter", "new"], "there are \"old\""),
        (&["list", "--columns", "colour"], "possible values"),
        (&["list", "--status", "lost"], "possible values"),
        (&["list", "--json", "--csv"], "cannot be used with"),
        (&["list", "--line", "--json"], "cannot be used with"),
        (&["list", "--source", "nowhere"], "there is no source"),
        (&["show"], "required"),
        (&["show", "x", "--source", "nowhere"], "there is no source"),
        (&["decide"], "nothing to decide"),
        (&["decide", "--approve", "a", "--reject", "a"], "decided twice"),
        (&["decide", "--from", garbage], "not a list of decisions"),
        (&["log", "--since", "soon"], "is not a time"),
        (&["log", "--until", "soon"], "is not a time"),
        (&["log", "--outcome", "good"], "possible values"),
        (&["log", "--csv", "--json"], "cannot be used with"),
        (&["log", "report", "nothing"], "no submission"),
        (&["propose"], "required"),
        (&["doctor", "--source", "nowhere"], "no source is called"),
        (&["man", "nowhere"], "there is no page"),
        (&["schema", "row"], "there is no schema"),
        (&["completions", "tcsh"], "possible values"),
        (&["config"], "Usage"),
        (&["gate", "token", "create", "--scopes", "fly", "--subject", "a", "--workspace", "w"], "fly"),
        (&["gate", "settle", "x"], "required"),
        (&["gate", "audit", "export", "--database", "sqlite:/nowhere.db"], "no gate database"),
        (&["gate", "backup"], "required"),
        (&["gate", "serve", "--listen", "here"], "invalid"),
        (&["demo", "--fast"], "unexpected argument"),
    ] {
        let output = home.run(args);
        let said = said(&output);
        assert!(said.contains(says), "{args:?}: wanted {says:?} in {said}");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    }
}

#[test]
fn hanging_source_does_not_delay_another() {
    let (_gate_home, gate, home) = served();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let hangs = format!(
        "[[source]]\nname = \"hangs\"\nkind = \"gate\"\nurl = \"http://{}\"\n",
        silent.local_addr().unwrap()
    );
    std::fs::write(home.config(), hangs + &std::fs::read_to_string(home.config()).unwrap()).unwrap();
    let body = r#"{"toolName":"write_note","toolInput":{"n":1},"workspaceId":"default"}"#;
    let id = agent::propose(&gate.address, body);

    // Waiting for the silent source's whole time limit takes half a minute, longer than allowed here.
    let (line, shown) = (home.begin(&["list", "--line"]), home.begin(&["show", &id]));
    let (line, shown) = (ended(line), ended(shown));
    let named = ended(home.begin(&["decide", "--approve", &id, "--source", "team"]));

    assert!(
        said(&line).starts_with("1 pending, oldest ") && said(&line).contains("; hangs does not answer"),
        "{}",
        said(&line)
    );
    assert!(said(&shown).contains(&id) && said(&shown).contains("hangs does not answer"), "{}", said(&shown));
    assert_eq!(
        [line.status.code(), shown.status.code(), named.status.code()],
        [Some(0); 3],
        "{}",
        said(&named)
    );
}
