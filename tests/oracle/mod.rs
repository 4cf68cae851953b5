//! The allow-list of bytes that a program showing foreign text may write to a terminal, checked by an independent
//! parser. Used by tests of the screen and of the binary.

use vte::{Params, Parser, Perform};

/// Returns the violations in these bytes.
pub(crate) fn judge(bytes: &[u8]) -> Vec<String> {
    let mut judge = Judge::default();
    let text = String::from_utf8_lossy(bytes);
    let text = text.replace(TAKES_THE_TERMINAL, "\x1b[?1049h");
    Parser::new().advance(&mut judge, text.as_bytes());
    if std::str::from_utf8(bytes).is_err() {
        judge.bad.push("not UTF-8".to_owned());
    }
    judge.bad
}

/// A session begins so, because another program may have left the terminal in any mode.
const TAKES_THE_TERMINAL: &str = "\x1b(B\x0f\x1b[?1049h\x1b[>4m\x1b[0m\x1b[4l\x1b[?6l\x1b[r\x1b[?1l\x1b>\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1015l\x1b[?1016l";

#[derive(Default)]
struct Judge {
    bad: Vec<String>,
    last: Option<char>,
}

/// Private modes that a session sets: line wrap, cursor, alternate screen, paste, synchronized output, mouse, focus.
const MODES: [u16; 10] = [7, 25, 1000, 1002, 1003, 1004, 1006, 1015, 1049, 2004];
const SYNCHRONIZED: u16 = 2026;

impl Judge {
    fn bad(&mut self, what: String) {
        if self.bad.len() < 20 {
            self.bad.push(what);
        }
    }
}

impl Perform for Judge {
    fn print(&mut self, c: char) {
        // These characters are only allowed inside an emoji, or in a script that needs them.
        let earned = match c {
            '\u{200c}' | '\u{200d}' | '\u{fe0f}' => self.last.is_some_and(|last| !last.is_ascii()),
            '\u{20e3}' => self.last.is_some_and(|last| last == '\u{fe0f}'),
            '\u{e0061}'..='\u{e007f}' => {
                self.last.is_some_and(|last| matches!(last, '\u{1f3f4}' | '\u{e0061}'..='\u{e007f}'))
            }
            _ => !is_hidden(c),
        };
        // A keycap's selector follows its digit.
        let keycap = c == '\u{fe0f}'
            && self.last.is_some_and(|last| last.is_ascii_digit() || matches!(last, '#' | '*'));
        if !earned && !keycap {
            self.bad(format!("printed {} after {:?}", c.escape_unicode(), self.last));
        }
        self.last = Some(c);
    }

    fn execute(&mut self, byte: u8) {
        // Lines are ended outside of the full screen, before and after it.
        if !matches!(byte, b'\r' | b'\n') {
            self.bad(format!("control {byte:#04x}"));
        }
        self.last = None;
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _ignore: bool, action: char) {
        let first = params.iter().next().and_then(|it| it.first()).copied().unwrap_or_default();
        let fine = match (intermediates, action) {
            (b"", 'C' | 'H' | 'J' | 'K' | 'X' | 'm') | (b">" | b"<", 'u') => true,
            (b"?", 'h' | 'l') => first == SYNCHRONIZED || MODES.contains(&first),
            _ => false,
        };
        if !fine {
            self.bad(format!("CSI {:?} {params:?} {action}", String::from_utf8_lossy(intermediates)));
        }
        self.last = None;
    }

    fn osc_dispatch(&mut self, params: &[&[u8]], _bell: bool) {
        let text = params.get(1).map(|it| String::from_utf8_lossy(it).into_owned()).unwrap_or_default();
        let ours = text.is_empty()
            || (text.ends_with(" - placet")
                && text.chars().all(|c| c.is_ascii_alphanumeric() || " (!),-".contains(c)));
        let fine = match params.first().copied() {
            Some(b"0" | b"2") => ours,
            Some(b"11") => text == "?",
            _ => false,
        };
        if !fine {
            self.bad(format!(
                "OSC {:?}",
                params.iter().map(|it| String::from_utf8_lossy(it)).collect::<Vec<_>>()
            ));
        }
        self.last = None;
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], _ignore: bool, byte: u8) {
        // The end of a string sequence.
        if !(intermediates.is_empty() && byte == b'\\') {
            self.bad(format!("ESC {intermediates:?} {:?}", char::from(byte)));
        }
        self.last = None;
    }

    fn hook(&mut self, _params: &Params, _intermediates: &[u8], _ignore: bool, action: char) {
        self.bad(format!("DCS {action}"));
    }
}

/// Written down again, and not asked of the code that is judged.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{37e}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{1680}'
            | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2024}'
            | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{20dd}'..='\u{20e4}' | '\u{2800}' | '\u{3000}'
            | '\u{3164}' | '\u{335}'..='\u{338}' | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}' | '\u{fffe}' | '\u{ffff}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..)
}

#[test]
fn the_judge_knows_good_from_bad() {
    let good =
        "\u{1b}[?2026h\u{1b}[3;4H\u{1b}[1mpay ⟦ESC⟧ 👩‍💻 1️⃣\u{1b}[m\u{1b}]0;(1!) 2 pending - placet\u{7}";
    assert_eq!(judge(good.as_bytes()), Vec::<String>::new());
    for bad in [
        "\u{1b}]52;c;eA==\u{7}",
        "\u{1b}]0;approved\u{7}",
        "\u{1b}]8;;x\u{7}",
        "\u{1b}[6n",
        "\u{1b}[4l",
        "\u{1b}>",
        "\u{1b}[?47l",
        "\u{1b}c",
        "\u{1b}P$q\u{1b}\\",
        "a\u{202e}b",
        "a\u{200b}b",
        "a\u{200d}b",
        "a\u{9b}2J",
        "a\tb",
        "a\u{8}b",
        "\u{7}",
        "a\u{a0}b",
        "a\u{e0041}",
        "a\u{fe0f}",
    ] {
        assert_ne!(judge(bad.as_bytes()), Vec::<String>::new(), "{}", bad.escape_unicode());
    }
}
