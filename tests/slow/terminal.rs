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

/// What stays switched on after the last byte: the alternate screen, a hidden cursor, bracketed paste, focus reports, mouse.
fn left_behind(inbox: &Pty) -> Vec<&'static str> {
    let bytes = inbox.bytes();
    let last = |text: &str| bytes.windows(text.len()).rposition(|window| window == text.as_bytes());
    let modes = [
        ("alternate screen", "\x1b[?1049h", "\x1b[?1049l"),
        ("bracketed paste", "\x1b[?2004h", "\x1b[?2004l"),
        ("hidden cursor", "\x1b[?25l", "\x1b[?25h"),
        ("focus reports", "\x1b[?1004h", "\x1b[?1004l"),
        ("mouse", "\x1b[?1000h", "\x1b[?1000l"),
    ];
    modes.into_iter().filter(|(_, on, off)| last(on) > last(off)).map(|(name, ..)| name).collect()
}

fn assert_restored(inbox: &Pty) {
    eventually("the terminal is restored", || left_behind(inbox).is_empty().then_some(()));
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
