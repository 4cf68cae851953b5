//! The terminal is given back, however placet ends.

use std::process::Command;

use super::support::eventually;
use super::support::home::Home;
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

/// Everything that can be switched on.
const ALL_ON: &str = "[ui]\nkeyboard = \"kitty\"\nmouse = true\n[gate]\nlisten = \"127.0.0.1:0\"\n";

/// What stays switched on after the last byte: the alternate screen, a hidden cursor, bracketed paste, focus reports, mouse.
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
fn everything_that_was_switched_on_goes_off_in_order() {
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
fn suspending_gives_everything_back_and_takes_it_again() {
    let home = Home::with_config(ALL_ON);
    let mut inbox = started(&home, &[]);

    inbox.send("\x1a");

    // In this session nobody could wake it, so the system lets it go on at once.
    for on in ["\x1b[?1049h", "\x1b[>5u", "\x1b[?1000h", "\x1b[?2004h", "\x1b[?1004h"] {
        eventually(&format!("{on:?} is switched on again"), || (count(&inbox, on) == 2).then_some(()));
    }
    inbox.send("\x03\x03");
    inbox.wait_end();
    assert_restored(&inbox);
}

#[test]
fn a_late_answer_of_the_terminal_is_never_typed() {
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
fn nothing_is_asked_and_the_mouse_stays_where_the_configuration_says_so() {
    let home = Home::with_config("[ui]\nmouse = false\ntitle = false\n[gate]\nlisten = \"127.0.0.1:0\"\n");
    let mut inbox = started(&home, &[]);
    inbox.send("\x03\x03");
    inbox.wait_end();
    for never in ["\x1b[?1000h", "\x1b]0;", "\x1b]11;?", "\x1b[>5u", "\x1b[6n"] {
        assert_eq!(count(&inbox, never), 0, "{never:?}");
    }
}

#[test]
fn after_q() {
    let home = Home::with_config(CONFIG);
    let mut inbox = started(&home, &[]);

    inbox.send("q");
    inbox.wait_for("the way out", |screen| screen.contains("Enter") || !screen.contains("placet propose"));
    inbox.send("\r");

    assert_eq!(inbox.wait_end(), 0);
    assert_restored(&inbox);
}

#[test]
fn after_ctrl_c_twice() {
    let home = Home::with_config(CONFIG);
    let mut inbox = started(&home, &[]);

    inbox.send("\x03\x03");

    assert_eq!(inbox.wait_end(), 0);
    assert_restored(&inbox);
}

#[test]
fn after_sigterm_and_sighup() {
    for name in ["TERM", "HUP"] {
        let home = Home::with_config(CONFIG);
        let mut inbox = started(&home, &[]);

        signal(&inbox, name);

        inbox.wait_end();
        assert_restored(&inbox);
    }
}

#[test]
fn after_a_panic() {
    let home = Home::with_config(CONFIG);
    let mut inbox = started(&home, &[("PLACET_TEST_PANIC", "1")]);

    inbox.send("\x0c");

    assert_ne!(inbox.wait_end(), 0);
    assert_restored(&inbox);
}

#[test]
fn a_vanished_terminal_ends_it() {
    let script = r"
import os, pty, sys, time, select, fcntl, termios, struct
pid, fd = pty.fork()
if pid == 0:
    os.environ['TERM'] = 'xterm-256color'
    os.execv(sys.argv[1], ['placet'])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
seen, until = b'', time.time() + 20
while b'propose' not in seen and time.time() < until:
    if select.select([fd], [], [], 0.2)[0]:
        seen += os.read(fd, 65536)
os.close(fd)
while time.time() < until:
    if os.waitpid(pid, os.WNOHANG)[0]:
        sys.exit(0)
    time.sleep(0.02)
os.kill(pid, 9)
sys.exit('it goes on without a terminal')
";
    for hangup_lost in [false, true] {
        let home = Home::with_config(CONFIG);
        let mut command = Command::new(if hangup_lost { "nohup" } else { "env" });
        let output = command
            .args(["python3", "-c", script, env!("CARGO_BIN_EXE_placet")])
            .env_clear()
            .envs(home.env())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
