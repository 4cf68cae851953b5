//! Two placets on one database: one serves, the other attaches, and takes over when the first one is gone.

use super::support::agent;
use super::support::eventually;
use super::support::gate::{Address, Gate};
use super::support::home::{Home, WRITE_FILE};
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
        screen.contains("after the change") || screen.contains("pending 2")
    });
}

#[test]
fn an_operators_gate_is_not_taken_over_and_comes_back_as_its_own() {
    let home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&home, &[]);
    let listen = gate.listen();
    let inbox = Pty::start(&home, SIZE, &[]);
    inbox.wait("another placet serves it");

    gate.kill_9();
    // By the time that it waits so long between two tries, an heir would have served long ago.
    inbox.wait_for("the inbox goes on missing the gate", |screen| {
        (3..=30).any(|seconds| screen.contains(&format!("RETRY in {seconds} s")))
    });
    let again = Gate::serve(&home, &["--listen", &listen]);
    agent::propose(&again.address, &proposal("after the restart"));

    inbox.wait("after the restart");
}
