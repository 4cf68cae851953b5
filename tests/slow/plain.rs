//! Plain mode as a process: lines in, lines out, no terminal codes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use super::support::LIMIT;
use super::support::home::Home;
use super::support::pty::Pty;

struct Talk {
    child: Child,
    words: Option<ChildStdin>,
    lines: Receiver<String>,
    heard: String,
}

impl Talk {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (tell, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        Self { words: child.stdin.take(), child, lines, heard: String::new() }
    }

    fn say(&mut self, words: &str) {
        let input = self.words.as_mut().unwrap();
        writeln!(input, "{words}").unwrap();
        input.flush().unwrap();
    }

    fn hear(&mut self, text: &str) -> String {
        let until = Instant::now() + LIMIT;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("never heard {text:?} in:\n{}", self.heard)
            };
            self.heard.push_str(&line);
            self.heard.push('\n');
            if line.contains(text) {
                return line;
            }
        }
    }

    fn ends(mut self) -> (Option<i32>, String) {
        self.words = None;
        let code = self.child.wait().unwrap().code();
        self.heard.extend(self.lines.iter().map(|line| line + "\n"));
        (code, std::mem::take(&mut self.heard))
    }
}

#[test]
fn demo_can_be_reviewed_in_plain_mode() {
    let home = Home::with_config("this is no configuration");
    let mut talk = Talk::start(home.command(&["demo", "--plain"]));
    talk.hear("Plain mode on, because --plain.");
    talk.hear("Action 1 of");
    talk.say("show");
    talk.hear("End. Read in full.");
    talk.say("exclude because the order was never placed");
    talk.hear("Staged: exclude, with a reason.");
    talk.say("submit");
    talk.hear("1 batch, 1 decision: 1 exclude (final).");
    talk.hear("Type yes to send");
    talk.say("y");
    talk.hear("Nothing was sent. Everything stays staged.");
    talk.say("submit");
    talk.hear("Type yes to send");
    talk.say("yes");
    talk.hear("Sent. 1 rejected");

    let (code, heard) = talk.ends();

    assert_eq!(code, Some(0));
    assert!(!heard.contains('\u{1b}'), "an escape code: {heard:?}");
    assert_eq!(std::fs::read_dir(home.state()).unwrap().count(), 0, "something in the user's state folder");
}

#[test]
fn staged_decisions_survive_end_of_input_and_signals() {
    let home = Home::with_config("[gate]\nlisten = \"127.0.0.1:0\"\n");
    let mut talk = Talk::start(home.command(&["--plain"]));
    talk.hear("Nothing is pending.");
    let proposed = home
        .command(&["propose", "write_note", "--input", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .and_then(|mut child| {
            child.stdin.take().unwrap().write_all(b"{\"text\":\"hello\"}")?;
            child.wait()
        });
    assert!(proposed.unwrap().success());
    talk.hear("Action 1 of 1.");
    talk.say("show");
    talk.hear("End. Read in full.");
    talk.say("approve");
    talk.hear("Staged: approve.");
    assert_eq!(talk.ends().0, Some(0));

    let mut talk = Talk::start(home.command(&["--plain"]));
    talk.hear("1 decision is staged from last time");
    let pid = talk.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert_eq!(talk.child.wait().unwrap().code(), Some(0));

    let mut talk = Talk::start(home.command(&["--plain"]));
    talk.hear("1 decision is staged from last time");
    talk.say("staged");
    talk.hear("1: Approve.");
}

#[test]
fn plain_watch_reads_the_figures_then_the_inbox() {
    let home = Home::with_config("[gate]\nlisten = \"127.0.0.1:0\"\n");
    let mut talk = Talk::start(home.command(&["watch", "--plain"]));
    talk.hear("Plain mode on, because --plain.");
    talk.hear("The last 60 minutes. All: 0 pending");
    talk.hear("No alerts.");
    talk.hear("Words: show");
    talk.say("where");
    talk.hear("0 pending, 0 undecided");

    assert_eq!(talk.ends().0, Some(0));
}

#[test]
fn plain_mode_leaves_the_terminal_unchanged() {
    let home = Home::with_config("[gate]\nlisten = \"127.0.0.1:0\"\n");
    let mut inbox = Pty::start_with(&home, (80, 24), &[], &[("PLACET_A11Y", "1")]);
    inbox.wait("Plain mode on, because PLACET_A11Y is set.");
    inbox.wait("> ");
    inbox.send("where\r");
    inbox.wait("0 pending, 0 undecided");
    inbox.send("quit\r");

    assert_eq!(inbox.wait_end(), 0);
    assert!(!inbox.is_full_screen());
    assert!(!inbox.bytes().contains(&0x1b), "an escape code");
}
