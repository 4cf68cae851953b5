//! The whole job: an agent proposes over HTTP, a reviewer decides by keyboard, the executor runs the exact input.

use std::time::{Duration, Instant};

use super::support::agent;
use super::support::eventually;
use super::support::gate::{Address, Gate};
use super::support::home::{Home, WRITE_FILE};
use super::support::pty::Pty;

const SIZE: (u16, u16) = (100, 30);
/// Delay in which a new sheet ignores keys, with a margin.
pub(crate) const GUARD: Duration = Duration::from_millis(450);

/// Numbers and a duplicate key that a lossy parser would change.
const EXACT: &str = r#"{"title":"Price of INV-8841", "price": 1.10,"n":18446744073709551616,"to":"a","to":"b","tiny":1e-400}"#;

fn proposal(title: &str) -> String {
    format!(
        r#"{{"toolName":"write_note","toolInput":{{"title":"{title}"}},"workspaceId":"default","missionId":"m-1","agent":"scribe"}}"#
    )
}

#[test]
fn proposal_is_shown_approved_and_run_byte_for_byte() {
    let home = Home::with_config(WRITE_FILE);
    let mut inbox = Pty::start(&home, SIZE, &[]);
    inbox.wait("placet propose");
    let address = Address::of_embedded(&home);

    let id = agent::propose(
        &address,
        &format!(
            r#"{{"toolName":"write_note","toolInput":{EXACT},"workspaceId":"default","missionId":"m-1"}}"#
        ),
    );
    inbox.wait("Price of INV-8841");
    inbox.wait("18446744073709551616");
    inbox.wait("  read   1-");
    inbox.send("a");
    inbox.wait("staged 1");
    inbox.send("s");
    inbox.wait("─ Send ");
    confirm(&mut inbox);
    inbox.wait("1 approved · 0 rejected · 0 skipped   then 1 ran");

    let file = home.out().join(&id);
    let ran = eventually("the executor's file is complete", || {
        std::fs::read_to_string(&file).ok().filter(|text| text.len() == EXACT.len())
    });
    assert_eq!(ran, EXACT);
    assert_eq!(agent::status(&address, &id), "executed");
    // An extra `y` of `confirm` may have opened the copy menu.
    inbox.send("\x1b");
    inbox.send("q");
    assert_eq!(inbox.wait_end(), 0);
}

#[test]
fn approve_edit_and_exclude_are_sent_together() {
    let home = Home::with_config(WRITE_FILE);
    let mut inbox = Pty::start(&home, SIZE, &[]);
    inbox.wait("placet propose");
    let address = Address::of_embedded(&home);
    let ids: Vec<String> = ["first", "second", "third", "fourth"]
        .iter()
        .map(|title| agent::propose(&address, &proposal(title)))
        .collect();
    inbox.wait("fourth");
    inbox.send("R");

    inbox.send("gg");
    walk_to(&mut inbox, "first");
    inbox.send("a");
    inbox.wait("staged 1");
    walk_to(&mut inbox, "second");
    inbox.send("e");
    inbox.wait("as proposed");
    edit_title(&mut inbox, "second", "better");
    inbox.wait("1 edit");
    walk_to(&mut inbox, "third");
    inbox.send("x");
    inbox.wait("1 exclude");
    inbox.send("s");
    inbox.wait("─ Send ");
    confirm(&mut inbox);
    inbox.wait("2 approved · 1 rejected · 0 skipped");

    let settled =
        |id: &String, word: &str| eventually(word, || (agent::status(&address, id) == word).then_some(()));
    settled(&ids[0], "executed");
    settled(&ids[1], "executed");
    settled(&ids[2], "rejected");
    assert_eq!(agent::status(&address, &ids[3]), "pending");
    assert_eq!(std::fs::read_to_string(home.out().join(&ids[1])).unwrap(), r#"{"title":"better"}"#);
    assert!(!home.out().join(&ids[2]).exists());
}

#[test]
fn staged_decisions_survive_kill_9_of_the_inbox() {
    let home = Home::with_config(WRITE_FILE);
    let mut inbox = Pty::start(&home, SIZE, &[]);
    inbox.wait("placet propose");
    let address = Address::of_embedded(&home);
    agent::propose(&address, &proposal("keep me"));
    inbox.wait("keep me");
    inbox.wait("  read   1-");
    inbox.send("x");
    inbox.wait("staged 1");
    inbox.wait("saved");
    inbox.kill_9();
    inbox.wait_end();

    let inbox = Pty::start(&home, SIZE, &[]);

    inbox.wait("keep me");
    inbox.wait("staged 1");
}

#[test]
fn inbox_continues_after_a_gate_restart() {
    let serving = Home::with_config(WRITE_FILE);
    let first = Gate::serve(&serving, &[]);
    let listen = first.listen();
    let reviewing = Home::with_config(&format!(
        "[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = \"{}\"\ntoken_file = \"{}\"\n[watch]\npoll_seconds = 1\n",
        first.address.url,
        serving.state().join("owner.token").display()
    ));
    let mut inbox = Pty::start(&reviewing, SIZE, &[]);
    let id = agent::propose(&first.address, &proposal("through the storm"));
    inbox.wait("through the storm");
    inbox.wait("  read   1-");
    inbox.send("a");
    inbox.wait("staged 1");

    first.kill_9();
    inbox.wait_for("the lost connection on the screen", |screen| screen.contains("RETRY"));
    let second = Gate::serve(&serving, &["--listen", &listen]);
    inbox.wait_for("the connection is back", |screen| !screen.contains("RETRY"));
    inbox.send("s");
    inbox.wait("─ Send ");
    confirm(&mut inbox);

    let file = serving.out().join(&id);
    eventually("the executor has run", || {
        std::fs::read_to_string(&file).ok().filter(|it| it.contains("storm"))
    });
    inbox.wait("then 1 ran");
    assert_eq!(agent::status(&second.address, &id), "executed");
}

/// Types what the open review asks for: a count, or `y`.
pub(crate) fn confirm(inbox: &mut Pty) {
    inbox.wait_for("the sheet takes keys", |screen| screen.contains("Type ") || screen.contains("Press y"));
    let screen = inbox.screen();
    let count = screen.split("Type ").nth(1).and_then(|rest| rest.split(' ').next()).map(str::to_owned);
    // A new sheet ignores keys for a moment, and a key that comes too early restarts the delay.
    let mut pressed = Instant::now();
    eventually("the sheet is confirmed", || {
        if pressed.elapsed() > GUARD {
            match &count {
                Some(count) => inbox.send(&format!("\x7f\x7f\x7f{count}\r")),
                None => inbox.send("y"),
            }
            pressed = Instant::now();
        }
        (!inbox.screen().contains("─ Send ")).then_some(())
    });
}

fn walk_to(inbox: &mut Pty, title: &str) {
    for _ in 0..12 {
        let in_list =
            |line: &str| line.split('│').take(2).any(|row| row.contains(title)) && line.starts_with('▌');
        let on_it = |screen: &str| screen.lines().any(in_list);
        if on_it(&inbox.screen()) {
            let is_read = |screen: &str| screen.contains("  read   1-");
            inbox.wait_for("the page counts as read", |screen| {
                screen.contains(&format!("title  {title}")) && is_read(screen)
            });
            return;
        }
        let before = inbox.screen();
        inbox.send("j");
        inbox.wait_for("the cursor moved", |screen| screen != before);
    }
    panic!("no row {title:?}:\n{}", inbox.screen());
}

fn edit_title(inbox: &mut Pty, from: &str, to: &str) {
    // The form opens with the caret at the end of the title.
    inbox.send(&"\x7f".repeat(from.len()));
    inbox.send(to);
    inbox.wait("Edits: title");
    inbox.send("\r");
}
