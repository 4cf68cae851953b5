//! The reviewer's own editor: it gets the terminal, and placet has it back, drawn anew.

use super::support::home::Home;
use super::support::pty::Pty;

/// Says that it runs, takes a line from the terminal, and changes every text.
const EDITOR: &str = r#"
stty -a > "$HOME/modes"
ls -l "$1" | cut -c1-10 > "$HOME/rights"
echo "THE EDITOR RUNS"
read line
echo "$line" > "$HOME/line"
sed 's/": "/": "EDITED /' "$1" > "$1.new" && mv "$1.new" "$1"
exit $CODE
"#;

fn in_the_form(home: &Home, code: &str) -> Pty {
    let script = home.path().join("my editor.sh");
    std::fs::write(&script, EDITOR).unwrap();
    let line = format!("sh '{}'", script.display());
    let mut inbox = Pty::start_with(home, (100, 30), &["demo"], &[("EDITOR", &line), ("CODE", code)]);
    inbox.wait("[Rendered]");
    // From the first key on the cursor stays where it is.
    inbox.send("n");
    inbox.wait_for("its page was on screen for its time", |screen| {
        ["  read   1-", "partly read   1-"].iter().any(|read| screen.contains(read))
    });
    inbox.send("E");
    inbox.wait("THE EDITOR RUNS");
    assert!(!inbox.is_full_screen(), "every mode of ours is left");
    inbox.send("axsy\r");
    inbox.wait("Edit before approving");
    assert!(inbox.is_full_screen());
    inbox
}

fn read(home: &Home, name: &str) -> String {
    std::fs::read_to_string(home.path().join(name)).unwrap()
}

#[test]
fn the_editor_has_the_terminal_to_itself_and_its_text_comes_back() {
    let home = Home::with_config("");

    let mut inbox = in_the_form(&home, "0");

    inbox.wait("EDITED");
    assert_eq!(read(&home, "line"), "axsy\n", "no key of it was ours");
    assert_eq!(read(&home, "rights"), "-rw-------\n");
    let modes = read(&home, "modes");
    assert!(modes.contains(" icanon") && modes.contains(" echo "), "{modes}");
    inbox.send("\x1b");
    inbox.wait_gone("Edit before approving");
    inbox.wait("(edited)");
    inbox.send("q");
    inbox.wait_end();
}

#[test]
fn an_editor_that_fails_changes_nothing_and_the_screen_is_back() {
    let home = Home::with_config("");

    let mut inbox = in_the_form(&home, "3");

    inbox.wait("exit status: 3; nothing was changed");
    assert!(!inbox.screen().contains("EDITED"));
    inbox.send("\x1b");
    inbox.wait_gone("Edit before approving");
    inbox.send("q");
    inbox.wait_end();
}
