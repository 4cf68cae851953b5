//! placet restores the terminal however it ends.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use super::support::agent;
use super::support::eventually;
use super::support::gate::{Address, Gate};
use super::support::home::{Home, WAITS_FOR_GO};
use super::support::pty::Pty;

const CONFIG: &str = "[gate]\nlisten = \"127.0.0.1:0\"\n";

fn started(home: &Home, env: &[(&str, &str)]) -> Pty {
    let inbox = Pty::start_with(home, (80, 24), &[], env);
    inbox.wait("placet propose");
    assert!(inbox.is_full_screen());
    inbox
}

fn signal(inbox: &Pty, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), inbox.pid.to_string()]).status().unwrap();
    assert!(sent.success());
}

const ALL_ON: &str = "[ui]\nkeyboard = \"kitty\"\nmouse = true\n[gate]\nlisten = \"127.0.0.1:0\"\n";

/// Returns the modes that are on after the last byte.
pub(super) fn left_behind(inbox: &Pty) -> Vec<&'static str> {
    let bytes = inbox.bytes();
    let last = |text: &str| bytes.windows(text.len()).rposition(|window| window == text.as_bytes());
    let modes = [
        ("alternate screen", "\x1b[?1049h", "\x1b[?1049l"),
        ("bracketed paste", "\x1b[?2004h", "\x1b[?2004l"),
        ("no line wrap", "\x1b[?7l", "\x1b[?7h"),
        ("hidden cursor", "\x1b[?25l", "\x1b[?25h"),
        ("focus reports", "\x1b[?1004h", "\x1b[?1004l"),
        ("mouse", "\x1b[?1000h", "\x1b[?1000l"),
        ("mouse coordinates", "\x1b[?1006h", "\x1b[?1006l"),
        ("kitty keys", "\x1b[>5u", "\x1b[<1u"),
        ("synchronized update", "\x1b[?2026h", "\x1b[?2026l"),
    ];
    modes.into_iter().filter(|(_, on, off)| last(on) > last(off)).map(|(name, ..)| name).collect()
}

fn assert_restored(inbox: &Pty) {
    eventually("the terminal is restored", || left_behind(inbox).is_empty().then_some(()));
}

fn count(inbox: &Pty, text: &str) -> usize {
    inbox.bytes().windows(text.len()).filter(|window| *window == text.as_bytes()).count()
}

#[test]
fn all_modes_are_switched_off_on_exit() {
    for name in ["TERM", "HUP", "INT"] {
        let home = Home::with_config(ALL_ON);
        let mut inbox = started(&home, &[]);
        for on in ["\x1b[>5u", "\x1b[?1000h", "\x1b[?1006h", "\x1b[?2004h", "\x1b[?1004h", "\x1b]0;"] {
            eventually(&format!("{on:?} is switched on"), || (count(&inbox, on) > 0).then_some(()));
        }

        signal(&inbox, name);

        inbox.wait_end();
        assert_restored(&inbox);
        let bytes = inbox.bytes();
        let off = ["\x1b[<1u", "\x1b[?1006l", "\x1b[?2004l", "\x1b[?1004l", "\x1b[?25h", "\x1b[?1049l"];
        let mut from = bytes.windows(5).rposition(|it| it == off[0].as_bytes()).unwrap();
        for text in off {
            let next = bytes[from..].windows(text.len()).position(|it| it == text.as_bytes());
            from += next.unwrap_or_else(|| panic!("{name}: {text:?} does not come in its turn"));
        }
    }
}

#[test]
fn suspending_without_a_shell_says_so() {
    let home = Home::with_config(ALL_ON);
    let mut inbox = started(&home, &[]);

    inbox.send("\x1a");

    inbox.wait("No shell to return to");
    assert_eq!(count(&inbox, "\x1b[?1049h"), 1, "the screen stays");
    inbox.send("\x03\x03");
    inbox.wait_end();
    assert_restored(&inbox);
}

#[test]
fn modes_are_set_again_after_a_stop() {
    let home = Home::with_config(ALL_ON);
    let mut inbox = started(&home, &[]);
    signal(&inbox, "STOP");
    let state = || Command::new("ps").args(["-o", "stat=", "-p", &inbox.pid.to_string()]).output().unwrap();
    eventually("it is stopped", || state().stdout.starts_with(b"T").then_some(()));
    let before = inbox.bytes().len();
    inbox.cook();

    signal(&inbox, "CONT");

    let modes =
        ["\x1b[?1049h", "\x1b[?7l", "\x1b[>5u", "\x1b[?1000h", "\x1b[?1006h", "\x1b[?2004h", "\x1b[?1004h"];
    for on in modes.into_iter().chain(["\x1b[?25l", "\x1b]0;", "\x1b[2J"]) {
        let again = |bytes: &[u8]| bytes.windows(on.len()).any(|window| window == on.as_bytes());
        eventually(&format!("{on:?} is sent again"), || again(&inbox.bytes()[before..]).then_some(()));
    }
    eventually("the terminal is raw", || (!inbox.is_cooked()).then_some(()));
    inbox.send("?");
    inbox.wait("Help");
    inbox.send("\x03\x03\x03");
    inbox.wait_end();
    assert_restored(&inbox);
    assert!(inbox.is_cooked());
}

#[test]
fn terminal_without_a_size_is_not_guessed() {
    let home = Home::with_config(CONFIG);
    for env in [&[][..], &[("COLUMNS", "100")], &[("LINES", "30")], &[("COLUMNS", "0"), ("LINES", "30")]] {
        for args in [&[][..], &["demo"], &["watch"]] {
            let mut inbox = Pty::start_with(&home, (0, 0), args, env);

            assert_eq!(inbox.wait_end(), 2, "{args:?} {env:?}");
            inbox.wait("stty cols 80 rows 24");
            assert_eq!(count(&inbox, "\x1b[?1049h"), 0, "{args:?} {env:?}");
        }
    }

    let inbox = Pty::start_with(&home, (0, 0), &[], &[("COLUMNS", "100"), ("LINES", "30")]);
    inbox.wait("placet propose");
    assert!(inbox.is_full_screen());
    let mut plain = Pty::start_with(&home, (0, 0), &["--plain"], &[]);
    plain.wait("Plain mode");
    plain.send("quit\r");
    assert_eq!(plain.wait_end(), 0);
}

#[test]
fn second_inbox_on_a_folder_says_so() {
    let home = Home::with_config(CONFIG);
    let shared = "nother inbox uses this state folder";
    let first = started(&home, &[]);

    let second = started(&home, &[]);
    second.wait(shared);
    let plain = Pty::start(&home, (80, 24), &["--plain"]);
    plain.wait(shared);

    assert!(!first.screen().contains(shared));
}

#[test]
fn late_terminal_reply_is_not_typed() {
    let home = Home::with_config("[ui]\ntheme = \"auto\"\n[gate]\nlisten = \"127.0.0.1:0\"\n");
    let mut inbox = started(&home, &[]);
    eventually("it asks for the background", || (count(&inbox, "\x1b]11;?") == 1).then_some(()));
    let before = inbox.screen();

    for _ in 0..20 {
        inbox.answer("\x1b]11;rgb:aaaa/eeee/cccc\x1b\\");
    }
    inbox.send("?");
    inbox.wait("Help");
    inbox.send("\x1b");
    inbox.wait_gone("Help");

    assert!(!inbox.screen().contains("ignored"), "{}\n{before}", inbox.screen());
}

#[test]
fn configuration_can_switch_off_queries_and_mouse() {
    let home = Home::with_config(
        "[ui]\ntheme = \"terminal\"\nmouse = false\ntitle = false\n[gate]\nlisten = \"127.0.0.1:0\"\n",
    );
    let mut inbox = started(&home, &[]);
    inbox.send("\x03\x03");
    inbox.wait_end();
    for never in ["\x1b[?1000h", "\x1b]0;", "\x1b]11;?", "\x1b[>5u", "\x1b[6n"] {
        assert_eq!(count(&inbox, never), 0, "{never:?}");
    }
}

#[test]
fn q_restores_the_terminal() {
    let home = Home::with_config(CONFIG);
    let mut inbox = started(&home, &[]);

    inbox.send("q");
    inbox.wait_for("the way out", |screen| screen.contains("Enter") || !screen.contains("placet propose"));
    inbox.send("\r");

    assert_eq!(inbox.wait_end(), 0);
    assert_restored(&inbox);
}

#[test]
fn ctrl_c_twice_restores_the_terminal() {
    let home = Home::with_config(CONFIG);
    let mut inbox = started(&home, &[]);

    inbox.send("\x03\x03");

    assert_eq!(inbox.wait_end(), 0);
    assert_restored(&inbox);
}

#[test]
fn sigterm_and_sighup_restore_the_terminal() {
    for name in ["TERM", "HUP"] {
        let home = Home::with_config(CONFIG);
        let mut inbox = started(&home, &[]);

        signal(&inbox, name);

        inbox.wait_end();
        assert_restored(&inbox);
    }
}

#[test]
fn panic_restores_the_terminal() {
    let home = Home::with_config(CONFIG);
    let mut inbox = started(&home, &[("PLACET_TEST_PANIC", "1")]);

    inbox.send("\x0c");

    assert_ne!(inbox.wait_end(), 0);
    assert_restored(&inbox);
}

/// Runs placet in a terminal that closes at a line of standard input. Exits like placet.
const VANISHING: &str = r"
import os, pty, sys, time, select, fcntl, termios, struct
pid, fd = pty.fork()
if pid == 0:
    os.environ['TERM'] = 'xterm-256color'
    os.execv(sys.argv[1], ['placet'] + sys.argv[2:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
seen, until = b'', time.time() + 30
while time.time() < until:
    ready = select.select([fd, 0], [], [], 0.2)[0]
    if fd in ready:
        seen += os.read(fd, 65536)
        if any(word in seen for word in (b'propose', b'undecided', b'to decide')):
            print('it is there', flush=True)
            seen = b''
    if 0 in ready:
        break
os.close(fd)
while time.time() < until:
    ended, status = os.waitpid(pid, os.WNOHANG)
    if ended:
        sys.exit(os.waitstatus_to_exitcode(status))
    time.sleep(0.02)
os.kill(pid, 9)
sys.exit('it goes on without a terminal')
";

struct Vanishing {
    child: std::process::Child,
    stdin: std::process::ChildStdin,
}

impl Vanishing {
    fn start(home: &Home, args: &[&str], hangup_lost: bool) -> Self {
        let mut command = Command::new(if hangup_lost { "nohup" } else { "env" });
        command.args(["python3", "-c", VANISHING, env!("CARGO_BIN_EXE_placet")]).args(args);
        command.env_clear().envs(home.env()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        assert!(said.read_line(&mut String::new()).unwrap() > 0, "it does not start");
        std::thread::spawn(move || drop(std::io::copy(&mut said, &mut std::io::sink())));
        let stdin = child.stdin.take().unwrap();
        Self { child, stdin }
    }

    fn vanish(&mut self) {
        self.stdin.write_all(b"now\n").unwrap();
    }

    fn end(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

#[test]
fn closed_terminal_ends_placet_in_order() {
    for hangup_lost in [false, true] {
        for args in [&[][..], &["--plain"], &["watch"], &["demo"]] {
            let home = Home::with_config(CONFIG);
            let mut inbox = Vanishing::start(&home, args, hangup_lost);

            inbox.vanish();

            assert_eq!(inbox.end(), Some(0), "{args:?}, without SIGHUP: {hangup_lost}");
            assert!(!home.state().join("gate.json").exists(), "{args:?}: the gate was not finished");
        }
    }
}

#[test]
fn running_action_finishes_after_the_terminal_closed() {
    let home = Home::with_config(WAITS_FOR_GO);
    let mut inbox = Vanishing::start(&home, &[], false);
    let address = Address::of_embedded(&home);
    let body = r#"{"toolName":"wait","workspaceId":"default","toolInput":{"n":1}}"#;
    let id = agent::propose(&address, body);
    agent::approve(&address, &id);
    eventually("the command runs", || home.out().join("begun").exists().then_some(()));

    inbox.vanish();
    std::fs::write(home.out().join("go"), "").unwrap();

    assert_eq!(inbox.end(), Some(0));
    let gate = Gate::serve(&home, &[]);
    assert_eq!(agent::status(&gate.address, &id), "executed");
}
