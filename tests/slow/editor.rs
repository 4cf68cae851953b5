//! The reviewer's editor: it gets the terminal, and placet redraws afterwards.

use super::support::home::Home;
use super::support::pty::Pty;

/// Announces itself, reads a line from the terminal, changes every text, and leaves its modes on.
const EDITOR: &str = r#"
trap '' QUIT
stty -a > "$HOME/modes"
ls -l "$1" | cut -c1-10 > "$HOME/rights"
echo "THE EDITOR RUNS"
read line
echo "$line" > "$HOME/line"
sed 's/": "/": "EDITED /' "$1" > "$1.new" && mv "$1.new" "$1"
printf '\033[?1003h\033[5;10r\033(0\033[4h\033[?6h\033[>4;2mIT ENDS'
stty -icanon -echo
exit $CODE
"#;

fn in_the_form(home: &Home, code: &str) -> Pty {
    let script = home.path().join("my editor.sh");
    std::fs::write(&script, EDITOR).unwrap();
    let line = format!("sh '{}'", script.display());
    let mut inbox = Pty::start_with(home, (100, 30), &["demo"], &[("EDITOR", &line), ("CODE", code)]);
    inbox.wait("[Rendered]");
    // The first key pins the cursor to its row.
    inbox.send("n");
    inbox.wait_for("the page counts as read", |screen| {
        ["  read   1-", "partly read   1-"].iter().any(|read| screen.contains(read))
    });
    inbox.send("E");
    inbox.wait("THE EDITOR RUNS");
    assert!(!inbox.is_full_screen(), "a mode of placet is still on");
    // Ctrl-\ is the editor's.
    inbox.send("\x1c");
    inbox.send("axsy\r");
    inbox.wait("Edit before approving");
    assert!(inbox.is_full_screen());
    let bytes = inbox.bytes();
    let find = |text: &str| bytes.windows(text.len()).rposition(|window| window == text.as_bytes());
    let ended = find("IT ENDS");
    for reset in ["\x1b(B", "\x1b[?1003l", "\x1b[r", "\x1b[4l", "\x1b[?6l", "\x1b[>4m"] {
        assert!(ended.is_some() && find(reset) > ended, "{reset:?} is not sent");
    }
    inbox
}

/// Leaves it with q.
fn leave(mut inbox: Pty) {
    inbox.send("q");
    inbox.wait_end();
    assert!(inbox.is_cooked(), "the shell gets what it gave");
}

fn read(home: &Home, name: &str) -> String {
    std::fs::read_to_string(home.path().join(name)).unwrap()
}

#[test]
fn editor_has_the_terminal_and_returns_its_text() {
    let home = Home::with_config("");

    let mut inbox = in_the_form(&home, "0");

    inbox.wait("EDITED");
    assert_eq!(read(&home, "line"), "axsy\n", "placet took a key");
    assert_eq!(read(&home, "rights"), "-rw-------\n");
    let modes = read(&home, "modes");
    assert!(modes.contains(" icanon") && modes.contains(" echo "), "{modes}");
    inbox.send("\x1b");
    inbox.wait_gone("Edit before approving");
    inbox.wait("2 edited");
    leave(inbox);
}

#[test]
fn failing_editor_changes_nothing() {
    let home = Home::with_config("");

    let mut inbox = in_the_form(&home, "3");

    inbox.wait("exit status: 3; nothing was changed");
    assert!(!inbox.screen().contains("EDITED"));
    inbox.send("\x1b");
    inbox.wait_gone("Edit before approving");
    leave(inbox);
}
