//! `placet log`: the decisions made here, and whether their receipts are valid.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use placet::for_tests::Fields;

use super::support::agent;
use super::support::eventually;
use super::support::gate::Gate;
use super::support::home::{Home, WRITE_FILE};
use super::support::pty::Pty;

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn team(gate: &Gate, gate_home: &Home) -> Home {
    Home::with_config(&format!(
        "[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = \"{}\"\ntoken_file = \"{}\"\n",
        gate.address.url,
        gate_home.state().join("owner.token").display()
    ))
}

fn propose(gate: &Gate, n: u32) -> String {
    let body =
        format!(r#"{{"toolName":"write_note","toolInput":{{"n":{n}}},"workspaceId":"default","title":"t"}}"#);
    agent::propose(&gate.address, &body)
}

#[test]
fn decisions_are_listed_verified_and_exported_while_an_inbox_runs() {
    let gate_home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&gate_home, &[]);
    let home = team(&gate, &gate_home);
    let nothing = home.run(&["log"]);
    assert_eq!((nothing.status.code(), stdout(&nothing).as_str()), (Some(0), "nothing was decided here\n"));
    assert_eq!(home.run(&["log", "verify"]).status.code(), Some(2), "a missing journal does not verify");
    let ids = [propose(&gate, 1), propose(&gate, 2)];
    propose(&gate, 3);
    let decide = ["decide", "--approve", &ids[0], "--reject", &ids[1], "--reason", "no\u{1b}[2J", "--follow"];
    let decided = home.command(&decide).env("USER", "ada").output().unwrap();
    assert_eq!(decided.status.code(), Some(0), "{}", stdout(&decided));
    let inbox = Pty::start(&home, (100, 30), &[]);
    inbox.wait("1 to decide");

    let log = stdout(&home.run(&["log"]));
    let json = stdout(&home.run(&["log", "--json", "--since", "1h", "--source", "team"]));
    let verified = home.run(&["log", "verify"]);
    let file = home.path().join("receipts.jsonl");
    let exported = home.run(&["log", "export", "--to", file.to_str().unwrap()]);

    for text in ["executed", "rejected", "never", "2 decisions", &ids[0][..13]] {
        assert!(log.contains(text), "{text}: {log}");
    }
    assert!(!log.contains('\u{1b}'), "{log}");
    for text in [r#""version":1"#, r#""status":"executed""#, r#""reason":"no\u001b[2J""#, r#""login":"ada""#]
    {
        assert!(json.contains(text), "{text}: {json}");
    }
    assert_eq!(verified.status.code(), Some(0));
    assert!(stdout(&verified).starts_with("Intact: 5 receipts, 2 decisions\n"), "{verified:?}");
    assert_eq!(exported.status.code(), Some(0));
    let receipts = std::fs::read_to_string(&file).unwrap();
    assert_eq!(receipts, stdout(&home.run(&["log", "export"])));
    let numbers: Vec<u64> =
        receipts.lines().map(|line| Fields::of(line).unwrap().number("seq").unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!log.contains("approved, then"), "{log}");
    let again = home.run(&["log", "export", "--to", file.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(1), "an export is not overwritten");
    let future = stdout(&home.run(&["log", "--since", "2999-01-01T00:00:00Z"]));
    assert_eq!(future, "no decision matches\n");
}

#[test]
fn restored_older_journal_contradicts_the_kept_head() {
    let gate_home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&gate_home, &[]);
    let home = team(&gate, &gate_home);
    let decide = |id: &str| assert_eq!(home.run(&["decide", "--approve", id]).status.code(), Some(0));
    let verify = |head: &str| home.run(&["log", "verify", "--head", head]);
    decide(&propose(&gate, 1));
    // An attacker who restores this copy hides the second decision.
    let (journal, before) = (home.state().join("journal.db"), home.path().join("before.db"));
    std::fs::copy(&journal, &before).unwrap();
    decide(&propose(&gate, 2));
    let head = home.path().join("head.json");
    std::fs::write(&head, home.run(&["log", "verify", "--json"]).stdout).unwrap();
    let hash = Fields::of(&std::fs::read_to_string(&head).unwrap()).unwrap().text("hash").unwrap();
    for head in [head.to_str().unwrap(), hash.as_raw()] {
        assert_eq!(verify(head).status.code(), Some(0));
    }

    std::fs::rename(&before, &journal).unwrap();

    assert_eq!(home.run(&["log", "verify"]).status.code(), Some(0), "the older journal alone verifies");
    for head in [head.to_str().unwrap(), hash.as_raw()] {
        let found = verify(head);
        assert_eq!(found.status.code(), Some(1), "{}", stdout(&found));
        assert!(stdout(&found).contains("cut off or written anew"), "{}", stdout(&found));
    }
    assert_eq!(verify("/nowhere").status.code(), Some(1));
    assert_eq!(verify(home.config().to_str().unwrap()).status.code(), Some(2), "no head in it");
}

#[test]
fn log_reads_the_outcome_of_approved_actions() {
    let gate_home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&gate_home, &[]);
    let home = team(&gate, &gate_home);
    let id = propose(&gate, 1);
    assert_eq!(home.run(&["decide", "--approve", &id]).status.code(), Some(0));

    let line = eventually("it ran", || {
        let log = stdout(&home.run(&["log", "--outcome", "executed"]));
        log.lines().find(|line| line.contains(&id[..13])).map(str::to_owned)
    });
    let json = stdout(&home.run(&["log", "--json"]));

    assert!(line.contains("approve") && line.contains(" executed "), "{line}");
    assert!(json.contains(r#""outcome":"approved""#) && json.contains(r#""status":"executed""#), "{json}");
    assert!(!json.contains(r#""risk":null"#), "{json}");
}
