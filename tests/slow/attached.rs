//! Two placets on one database: one serves, the other attaches, and takes over when the first one is gone.

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
fn the_attached_one_takes_over_on_the_same_address() {
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
    let serving = eventually("the second one says that it serves", || {
        let address = Address::of_embedded(&home);
        let pid = std::fs::read_to_string(home.state().join("gate.json")).ok()?;
        pid.contains(&format!("\"pid\":{}", second.pid)).then_some(address)
    });

    assert_eq!(serving.url, before.url);
    agent::propose(&serving, &proposal("after the change"));
    second.wait_for("the new proposal, or that it waits above the cursor", |screen| {
        screen.contains("after the change") || screen.contains("2 to decide")
    });
}

#[test]
fn an_operators_gate_is_not_taken_over_and_comes_back_as_its_own() {
    let home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&home, &[]);
    let listen = gate.listen();
    let inbox = Pty::start(&home, SIZE, &[]);
    inbox.wait("Another placet serves the gate");

    gate.kill_9();
    // By the time that it waits so long between two tries, an heir would have served long ago.
    inbox.wait_for("the inbox goes on missing the gate", |screen| {
        (3..=30).any(|seconds| screen.contains(&format!("RETRY in {seconds} s")))
    });
    let again = Gate::serve(&home, &["--listen", &listen]);
    agent::propose(&again.address, &proposal("after the restart"));

    inbox.wait("after the restart");
}

/// An approved action whose command runs.
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
fn a_new_placet_waits_for_a_gate_that_drains_and_says_so() {
    let home = Home::with_config(WAITS_FOR_GO);
    let mut first = Pty::start(&home, SIZE, &[]);
    first.wait("placet propose");
    let id = running(&home, &Address::of_embedded(&home));

    signal(first.pid);
    eventually("the note says that it drains", || {
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
fn a_second_signal_ends_a_gate_at_once_and_the_next_takes_up_what_ran() {
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
fn sighup_ends_no_served_gate_and_writes_missing_token_files_anew() {
    let home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&home, &[]);
    let token = home.state().join("agent.token");
    std::fs::remove_file(&token).unwrap();

    gate.signal("HUP");

    eventually("the token is written anew", || token.exists().then_some(()));
    let again = Address {
        agent_token: std::fs::read_to_string(&token).unwrap().trim().to_owned(),
        ..gate.address.clone()
    };
    let id = agent::propose(&again, &proposal("after SIGHUP"));
    assert_eq!(agent::status(&gate.address, &id), "pending");
}
