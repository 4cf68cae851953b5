//! G8 with the real binary: untyped bytes decide nothing at the gate.

use super::support::agent;
use super::support::eventually;
use super::support::gate::Address;
use super::support::home::{Home, WRITE_FILE};
use super::support::pty::Pty;
use std::fmt::Write as _;

struct Noise(u64);

impl Noise {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    /// Returns random bytes without those that suspend, quit or open an editor.
    fn block(&mut self, length: usize) -> String {
        let tame = b"axsSyAu0123456789\r jk";
        let half = self.below(2) == 0;
        let mut byte = || if half { tame[self.below(tame.len())] } else { self.below(128) as u8 };
        let bytes = std::iter::repeat_with(&mut byte).filter(|byte| !b"\x03\x07\x1a\x1cqQ:eE".contains(byte));
        bytes.take(length).map(char::from).collect()
    }
}

/// The terminal buffers more than placet reads at once.
#[test]
fn long_burst_is_read_without_a_further_key() {
    let home = Home::with_config(WRITE_FILE);
    let mut inbox = Pty::start(&home, (100, 30), &[]);
    inbox.wait("placet propose");

    inbox.answer(&"j".repeat(3_500));

    eventually("nothing is left to read", || (inbox.unread() == 0).then_some(()));
}

/// Keys with Cmd, Hyper and Meta as the kitty protocol and modifyOtherKeys send them.
#[test]
fn chords_with_foreign_modifiers_do_nothing() {
    let home = Home::with_config("[ui]\nkeyboard = \"kitty\"\n[gate]\nlisten = \"127.0.0.1:0\"\n");
    let mut inbox = Pty::start(&home, (100, 30), &[]);
    inbox.wait("placet propose");
    let gate = Address::of_embedded(&home);
    let body = r#"{"toolName":"write_note","toolInput":{"title":"note"},"workspaceId":"default"}"#;
    let id = agent::propose(&gate, body);
    inbox.wait("write_note note");
    let mut chords = String::new();
    for modifier in [9, 10, 13, 17, 33, 73] {
        for key in "axsSyeq:/?1\r\t\x1b\x7f ".chars().map(u32::from).chain([57414, 57420]) {
            let _ = write!(chords, "\x1b[{key};{modifier}u\x1b[27;{modifier};{key}~");
        }
        let _ = write!(chords, "\x1b[1;{modifier}B\x1b[5;{modifier}~\x1b[15;{modifier}~\x1b[1;{modifier}P");
    }

    let opened = [
        ("X", "abc", "> abc"),
        ("/no", "te", "/ note"),
        (":ap", "prove-r", ": approve-r"),
        ("e", "", "Edit before approving"),
        ("xs", "", "Send 1 decision"),
    ];
    for (opens, types, shows) in opened {
        inbox.answer(&chords);
        inbox.send(opens);
        inbox.answer(&chords);
        inbox.send(types);
        inbox.wait(shows);
        assert_eq!(inbox.screen().contains("staged"), opens == "xs", "{opens}: {}", inbox.screen());
        inbox.send("\x1b");
        inbox.wait_gone(shows);
    }

    assert_eq!(agent::status(&gate, &id), "pending", "{}", inbox.screen());
}

#[test]
fn g8_untyped_bytes_decide_nothing_at_the_gate() {
    let home = Home::with_config(WRITE_FILE);
    let mut inbox = Pty::start(&home, (100, 30), &[]);
    inbox.wait("placet propose");
    let gate = Address::of_embedded(&home);
    let ids: Vec<String> = (0..6)
        .map(|n| {
            let body = format!(
                r#"{{"toolName":"write_note","toolInput":{{"title":"note {n}"}},"workspaceId":"default","missionId":"m-1"}}"#
            );
            agent::propose(&gate, &body)
        })
        .collect();
    inbox.wait("note 5");
    inbox.send("R");
    let mut noise = Noise(0x5eed);
    let blocks = if std::env::var_os("PLACET_LONG").is_some() { 500 } else { 10 };
    for nth in 0..blocks {
        // Stages two decisions and opens the review now and then.
        if nth % 5 == 0 {
            inbox.send("\x1b");
            inbox.send("as");
        }
        inbox.answer(&noise.block(600));
        inbox.answer("\x1b]11;rgb:aaaa/yyyy/ssss\x1b\\\x1bP1$r0;1;4msaayy\x1b\\\x1b[?62;22c");
    }
    inbox.send("\x1b\x1b\x1b");
    inbox.send("?");
    inbox.wait("Help");

    for id in &ids {
        assert_eq!(agent::status(&gate, id), "pending", "{}", inbox.screen());
    }
}
