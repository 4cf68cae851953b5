//! G8 with the real binary: untyped bytes decide nothing at the gate.

use super::support::agent;
use super::support::eventually;
use super::support::gate::Address;
use super::support::home::{Home, WRITE_FILE};
use super::support::pty::Pty;

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
