//! Two URLs of one gate: an inbox and a hook when the first one fails or loses an answer.

use std::io::Write as _;
use std::process::{Output, Stdio};

use super::support::agent::{self, approve};
use super::support::gate::Gate;
use super::support::home::{Home, WRITE_FILE};
use super::support::relay::{Lose, Relay};
use super::support::{ended, eventually};

const ASKED: &str = r#"{"session_id":"s1","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"echo 1"},"tool_use_id":"t1"}"#;

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn two_ways() -> (Home, Gate, Relay, Home) {
    let gate_home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&gate_home, &[]);
    let relay = Relay::start(&gate);
    let token = gate_home.state().join("owner.token");
    let home = Home::with_config(&format!(
        "[ui]\nhold_seconds = 0\n[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = [\"{}\", \"{}\"]\ntoken_file = \"{}\"\n",
        relay.url,
        gate.address.url,
        token.display()
    ));
    (gate_home, gate, relay, home)
}

fn proposed(gate: &Gate) -> String {
    agent::propose(&gate.address, r#"{"workspaceId":"default","toolName":"other","toolInput":{"title":"x"}}"#)
}

#[test]
fn inbox_uses_the_second_url_and_doctor_names_both() {
    let (_gate_home, gate, relay, home) = two_ways();
    let id = proposed(&gate);
    let (first, second) = (relay.url.clone(), gate.address.url.clone());
    let well = home.run(&["doctor", "--source", "team"]);
    assert_eq!(well.status.code(), Some(0), "{}", out(&well));
    for url in [&first, &second] {
        assert!(out(&well).contains(&format!("  ok     url            {url} answers")), "{}", out(&well));
    }

    relay.end();

    let listed = home.run(&["list", "--csv", "--columns", "id"]);
    assert!(listed.status.success() && out(&listed).contains(&id), "{listed:?}");
    let told = home.run(&["doctor", "--source", "team"]);
    assert_eq!(told.status.code(), Some(0), "{}", out(&told));
    assert!(
        out(&told).contains(&format!("  note   url            {first} cannot be reached")),
        "{}",
        out(&told)
    );
    assert!(out(&told).contains(&format!("{second} answers")), "{}", out(&told));

    gate.kill_9();
    let ill = home.run(&["doctor", "--source", "team"]);
    assert_eq!(ill.status.code(), Some(1), "{}", out(&ill));
    assert!(out(&ill).contains("2 wrong"), "{}", out(&ill));
    let list = home.run(&["list"]);
    let said = String::from_utf8_lossy(&list.stderr).into_owned() + &out(&list);
    assert!(!list.status.success() && said.contains(&first) && said.contains(&second), "{said}");
}

#[test]
fn lost_decision_is_made_once() {
    let (_gate_home, gate, relay, home) = two_ways();
    for lose in [Lose::Request, Lose::Answer] {
        let id = proposed(&gate);

        relay.lose_the_next_write(lose);
        let decided = home.run(&["decide", "--approve", &id]);

        assert!(relay.has_lost());
        assert_eq!(decided.status.code(), Some(0), "{lose:?}: {decided:?}");
        assert_eq!(agent::status(&gate.address, &id), "approved");
        let path = format!("/api/pending-actions/{id}/events");
        let events = agent::request(&gate.address, &gate.address.owner_token, "GET", &path, "").body;
        assert_eq!(events.matches(r#""event":"approved""#).count(), 1, "{lose:?}: {events}");
    }
}

#[test]
fn proposal_names_the_url_that_took_it() {
    let (gate_home, gate, relay, _home) = two_ways();
    let home = Home::with_config("");
    let input = home.path().join("input.json");
    std::fs::write(&input, "{}").unwrap();
    let first = relay.url.clone();
    let propose = || {
        let mut command = home.command(&["propose", "other", "--input", input.to_str().unwrap()]);
        command.env("PLACET_URL", format!("{first} {}", gate.address.url));
        out(&command.env("PLACET_TOKEN_FILE", gate_home.state().join("agent.token")).output().unwrap())
    };
    assert!(propose().contains(&format!(" at {first};")));

    relay.end();

    assert!(propose().contains(&format!(" at {};", gate.address.url)));
}

#[test]
fn waiting_hook_uses_the_second_url() {
    let (gate_home, gate, relay, _home) = two_ways();
    let token = gate_home.state().join("agent.token");
    let home = Home::with_config("");
    let mut command = home.command(&["hook"]);
    command.env("PLACET_URL", format!("{} {}", relay.url, gate.address.url)).env("PLACET_TOKEN_FILE", token);
    let mut hook =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();

    // First the proposal's answer is lost, then the relay ends.
    relay.lose_the_next_write(Lose::Answer);
    hook.stdin.take().unwrap().write_all(ASKED.as_bytes()).unwrap();
    let owner = &gate.address.owner_token;
    let id = eventually("a proposal", || {
        let reply = agent::request(&gate.address, owner, "GET", "/api/pending-actions?status=pending", "");
        Some(reply.body.split_once(r#""id":""#)?.1.split('"').next()?.to_owned())
    });
    assert!(relay.has_lost());
    relay.end();
    approve(&gate.address, &id);

    let answer = ended(hook);
    assert!(out(&answer).contains(r#""permissionDecision":"allow""#), "{answer:?}");
    let all = agent::request(&gate.address, owner, "GET", "/api/pending-actions?view=row", "").body;
    assert_eq!(all.matches(r#""toolName":"Bash""#).count(), 1, "{all}");
}
