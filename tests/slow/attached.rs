//! Two placets on one database: the first serves, the second attaches and takes over when the first ends.

use std::process::Command;

use super::support::agent;
use super::support::eventually;
use super::support::gate::{Address, Gate};
use super::support::home::{Home, WAITS_FOR_GO, WRITE_FILE};
use super::support::pty::Pty;

const SIZE: (u16, u16) = (100, 30);

fn proposal(title: &str) -> String {
    format!(
        r#"{{"toolName":"write_note","workspaceId":"default","missionId":"m","toolInput":{{"title":"{title}"}}}}"#
    )
}

#[test]
fn attached_placet_takes_over_on_the_same_address() {
    let home = Home::with_config(WRITE_FILE);
    let first = Pty::start(&home, SIZE, &[]);
    first.wait("placet propose");
    let before = Address::of_embedded(&home);
    let second = Pty::start(&home, SIZE, &[]);
    second.wait("placet propose");
    agent::propose(&before, &proposal("seen by both"));
    first.wait("seen by both");
    second.wait("seen by both");

    first.kill_9();
    let serving = eventually("the second placet serves", || {
        let address = Address::of_embedded(&home);
        let pid = std::fs::read_to_string(home.state().join("gate.json")).ok()?;
        pid.contains(&format!("\"pid\":{}", second.pid)).then_some(address)
    });

    assert_eq!(serving.url, before.url);
    agent::propose(&serving, &proposal("after the change"));
    second.wait_for("the new proposal, shown or held above the cursor", |screen| {
        screen.contains("after the change") || screen.contains("2 to decide")
    });
}

#[test]
fn killed_standalone_gate_is_not_taken_over() {
    let home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&home, &[]);
    let listen = gate.listen();
    let inbox = Pty::start(&home, SIZE, &[]);
    inbox.wait("Another placet serves the gate");

    gate.kill_9();
    // An attached inbox with the right to take over would serve before its retry delay gets this long.
    inbox.wait_for("the inbox still retries", |screen| {
        (3..=30).any(|seconds| screen.contains(&format!("RETRY in {seconds} s")))
    });
    let again = Gate::serve(&home, &["--listen", &listen]);
    agent::propose(&again.address, &proposal("after the restart"));

    inbox.wait("after the restart");
}

fn running(home: &Home, address: &Address) -> String {
    let body = r#"{"toolName":"wait","workspaceId":"default","toolInput":{"n":1}}"#;
    let id = agent::propose(address, body);
    agent::approve(address, &id);
    eventually("the command runs", || home.out().join("begun").exists().then_some(()));
    id
}

fn signal(pid: u32) {
    assert!(Command::new("kill").arg(pid.to_string()).status().unwrap().success());
}

#[test]
fn new_placet_waits_for_a_draining_gate() {
    let home = Home::with_config(WAITS_FOR_GO);
    let mut first = Pty::start(&home, SIZE, &[]);
    first.wait("placet propose");
    let id = running(&home, &Address::of_embedded(&home));

    signal(first.pid);
    eventually("the note says draining", || {
        let note = std::fs::read_to_string(home.state().join("gate.json")).ok()?;
        note.contains("\"draining\":true").then_some(())
    });
    first.wait("Ctrl-C leaves it running");
    let second = Pty::start(&home, SIZE, &[]);
    second.wait("is stopping; waiting for what it runs");
    std::fs::write(home.out().join("go"), "").unwrap();

    assert_eq!(first.wait_end(), 0);
    second.wait_for("the inbox", |screen| {
        screen.contains("nothing is pending") || screen.contains("placet propose")
    });
    assert_eq!(agent::status(&Address::of_embedded(&home), &id), "executed");
}

#[test]
fn second_signal_ends_a_gate_and_the_next_recovers_runs() {
    let home = Home::with_config(WAITS_FOR_GO);
    let mut gate = Gate::serve(&home, &[]);
    let id = running(&home, &gate.address);

    gate.signal("TERM");
    eventually("it drains", || {
        (agent::try_request(&gate.address, "", "GET", "/readyz", "")?.status == 503).then_some(())
    });
    gate.signal("TERM");

    assert_eq!(gate.wait_end(), Some(0));
    assert!(!home.out().join("got").exists());
    let next = Gate::serve(&home, &[]);
    std::fs::write(home.out().join("go"), "").unwrap();
    eventually("it is executed", || (agent::status(&next.address, &id) == "executed").then_some(()));
    assert_eq!(std::fs::read_to_string(home.out().join("begun")).unwrap().lines().count(), 1);
}

#[test]
fn sighup_rewrites_missing_token_files() {
    let home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&home, &[]);
    let token = home.state().join("agent.token");
    std::fs::remove_file(&token).unwrap();

    gate.signal("HUP");

    eventually("the token is written again", || token.exists().then_some(()));
    let again = Address {
        agent_token: std::fs::read_to_string(&token).unwrap().trim().to_owned(),
        ..gate.address.clone()
    };
    let id = agent::propose(&again, &proposal("after SIGHUP"));
    assert_eq!(agent::status(&gate.address, &id), "pending");
}
