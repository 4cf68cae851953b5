//! An executor killed while running, up to the resolution by a human, against a real gate.

use std::time::Instant;

use super::job::GUARD;
use super::support::agent::{self, propose, request, status};
use super::support::eventually;
use super::support::gate::Address;
use super::support::home::Home;
use super::support::pty::Pty;

const CONFIG: &str = r#"
[gate]
listen = "127.0.0.1:0"
[gate.tools.write_note]
executor = "command"
argv = ["sh", "-c", "cat > \"$OUT/$PLACET_ACTION_ID\"; kill -9 $$"]
env = { OUT = "@OUT@" }
risk = "low"
"#;

fn two_lost(gate: &Address) -> [String; 2] {
    let ids = ["First", "Second"].map(|title| {
        propose(
            gate,
            &format!(
                r#"{{"toolName":"write_note","workspaceId":"default","toolInput":{{"title":"{title}"}}}}"#
            ),
        )
    });
    for id in &ids {
        let path = format!("/api/pending-actions/{id}/approve");
        assert_eq!(request(gate, &gate.owner_token, "POST", &path, "{}").status, 200);
        eventually("the executor is lost", || (status(gate, id) == "unknown").then_some(()));
    }
    ids
}

/// Presses `key` until `text` shows, because new sheets and changed rows ignore keys for a moment.
pub(super) fn press_until(inbox: &mut Pty, key: &str, text: &str) {
    let mut pressed = None::<Instant>;
    eventually(text, || {
        // A key that comes too early restarts the sheet's delay.
        if pressed.is_none_or(|at| at.elapsed() > GUARD) {
            inbox.send(key);
            pressed = Some(Instant::now());
        }
        inbox.screen().contains(text).then_some(())
    });
}

#[test]
fn unknown_outcome_is_resolved_in_the_inbox_or_by_api() {
    let home = Home::with_config(CONFIG);
    let mut inbox = Pty::start(&home, (80, 24), &[]);
    inbox.wait("placet propose");
    let gate = Address::of_embedded(&home);
    let [first, second] = two_lost(&gate);
    inbox.wait("2 unknown");
    inbox.wait("outcome unknown: t resolves these");

    inbox.send("gg");
    inbox.send("j");
    press_until(&mut inbox, "a", "t resolves it");
    inbox.send("t");
    inbox.wait("What became of it?");
    press_until(&mut inbox, "e", "Press y to say: it ran");
    press_until(&mut inbox, "y", "Marked executed: ");

    assert_eq!(status(&gate, &first), "executed");
    inbox.wait("1 unknown");
    let path = format!("/api/pending-actions/{second}/settle");
    let reply = request(&gate, &gate.owner_token, "POST", &path, r#"{"as":"failed","reason":"no file"}"#);
    assert_eq!(reply.status, 200, "{}", reply.body);
    inbox.wait_gone("1 unknown");
    assert!(agent::get(&gate, &second).body.contains("no file"));
}

#[test]
fn command_line_lists_unknown_outcomes_separately() {
    let home = Home::with_config(CONFIG);
    let inbox = Pty::start(&home, (80, 24), &[]);
    inbox.wait("placet propose");
    let [first, _] = two_lost(&Address::of_embedded(&home));
    let printed = |args: &[&str]| {
        let output = home.run(args);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };

    let pending = printed(&["list"]);
    let unknown = printed(&["list", "--status", "unknown"]);
    let shown = printed(&["show", &first]);

    assert!(pending.contains("nothing is pending\n! 2 actions with an unknown outcome"), "{pending}");
    assert!(unknown.contains("First") && unknown.ends_with("2 unknown\n"), "{unknown}");
    assert!(shown.contains("status      unknown: it ran, and the outcome is unknown"), "{shown}");
    assert!(shown.contains("approved by owner") && shown.contains("what ran:"), "{shown}");
}
