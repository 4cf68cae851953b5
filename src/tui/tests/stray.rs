//! G8: untyped input stages and sends nothing: noise on standard input, terminal replies, pastes.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

use crate::rounds::{Random, rounds};
use crate::tui::app::decoder::{Decoder, TerminalInput};
use crate::tui::core::msg::What;
use crate::tui::submit::state::ReviewSheet;
use crate::tui::testing::{Desk, few};

/// Replies and reports of terminals: DA1, DA2, DA3, DSR, cursor position, DECRQSS, DECRQM, XTVERSION, XTGETTCAP,
/// OSC 4, 10, 11, 12 and 52, focus, kitty's keyboard and graphics, colour scheme.
const ANSWERS: [&str; 22] = [
    "\x1b[?62;22;52c",
    "\x1b[>41;354;0c",
    "\x1bP!|00000000\x1b\\",
    "\x1b[0n",
    "\x1b[24;80R",
    "\x1b[?1;1R",
    "\x1bP1$r0;1;4msaay\x1b\\",
    "\x1bP1$r 2 q\x1b\\",
    "\x1b[?2026;2$y",
    "\x1bP>|xterm(390) yes\x1b\\",
    "\x1bP1+r544e=787465726d\x1b\\",
    "\x1b]4;1;rgb:aaaa/xaxa/ssss\x07",
    "\x1b]10;rgb:dada/dada/dada\x1b\\",
    "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\",
    "\x1b]11;rgba:aaaa/aaaa/aaaa/ffff\x07",
    "\x1b]12;rgb:ffff/0000/aaaa\x1b\\",
    "\x1b]52;c;YXhzeQ==\x1b\\",
    "\x1b]52;c;aaaasy\x07",
    "\x1b[I",
    "\x1b[O",
    "\x1b[?31u",
    "\x1b_Gi=31;OK\x1b\\",
];

struct Noise {
    desk: Desk,
    decoder: Decoder,
}

impl Noise {
    fn new(staged: &str) -> Self {
        // Without undo send: a confirmed submission is sent at once.
        let mut desk = Desk::new(100, 30, few(12));
        desk.press(staged);
        desk.wait(2_000);
        desk.drawn();
        Self { desk, decoder: Decoder::default() }
    }

    /// Sends bytes `gap` milliseconds apart and draws like the loop.
    fn bytes(&mut self, bytes: &[u8], gap: i64) {
        for (nth, byte) in bytes.iter().enumerate() {
            self.desk.wait(gap);
            for heard in self.decoder.take(&[*byte]) {
                self.hear(&heard);
            }
            if nth % 16 == 0 {
                self.desk.drawn();
            }
        }
        for heard in self.decoder.quiet() {
            self.hear(&heard);
        }
        self.desk.drawn();
        self.desk.effects.clear();
        self.desk.saved.clear();
    }

    fn rest(&mut self, millis: i64) {
        self.desk.wait(millis);
        self.desk.say(What::StoodAlone);
        self.desk.say(What::Wake);
        self.desk.drawn();
    }

    fn hear(&mut self, heard: &TerminalInput) {
        match heard {
            TerminalInput::Event(Event::Key(key)) => self.desk.say(What::Key(*key)),
            TerminalInput::Escaped(key) => self.desk.say(What::Escaped(*key)),
            TerminalInput::Event(Event::Paste(text)) => self.desk.say(What::Paste(text.clone())),
            TerminalInput::Event(_) => {}
            TerminalInput::Background(rgb) => self.desk.say(What::Background(*rgb)),
        }
    }

    fn nothing_sent(&mut self, after: &str) {
        self.rest(4_000);
        assert!(self.desk.submitted.is_empty(), "{after} sent {:?}", self.desk.submitted);
    }
}

/// A read ends anywhere in a paste without brackets, so that a part comes as keys and another as one event.
#[test]
fn g8_unbracketed_paste_in_parts_confirms_nothing() {
    for text in [format!("y{}", "x".repeat(50)), format!("{}y", "x".repeat(50)), "y".repeat(51)] {
        for cut in 0..=text.len() {
            for staged in ["as", "a"] {
                let mut noise = Noise::new(staged);
                let (reviews, was) = (noise.desk.model.sheet.is_some(), noise.desk.staged());
                for part in [&text.as_bytes()[..cut], &text.as_bytes()[cut..]] {
                    for heard in noise.decoder.take(part) {
                        noise.hear(&heard);
                    }
                }
                noise.nothing_sent(&format!("{text:?} cut at {cut}"));
                assert_eq!(noise.desk.staged(), was, "{text:?} cut at {cut}, on the review: {reviews}");
            }
        }
    }
}

#[test]
fn g8_noise_on_standard_input_sends_nothing() {
    let mut random = Random::seeded();
    let mut noise = Noise::new("axa");
    let mut left = rounds(9_000, 1_000_000) as usize;
    while left > 0 {
        let length = 3 + random.below(200);
        // Every other block uses only keys that stage, review and confirm.
        let tame = random.below(2) == 0;
        let mut byte =
            || if tame { b"axsSyAYRu0123456789\r\x1bjk "[random.below(24)] } else { random.below(256) as u8 };
        let block: Vec<u8> = (0..length).map(|_| byte()).collect();
        noise.bytes(&block, random.below(6) as i64);
        noise.rest(random.below(1_500) as i64);
        assert!(noise.desk.submitted.is_empty(), "{:?}", String::from_utf8_lossy(&block));
        left = left.saturating_sub(length);
        if noise.desk.model.queue.lines.is_empty() || random.below(40) == 0 {
            noise = Noise::new("axa");
        }
    }
}

#[test]
fn g8_terminal_replies_stage_and_send_nothing() {
    let mut random = Random::seeded();
    for answer in ANSWERS {
        for staged in ["", "ax", "axs"] {
            let mut noise = Noise::new(staged);
            let before = noise.desk.staged();
            noise.bytes(answer.as_bytes(), 0);
            noise.rest(500);
            noise.bytes(answer.repeat(3).as_bytes(), 1);
            assert_eq!(noise.desk.staged(), before, "{answer:?} after {staged:?}");
            noise.nothing_sent(answer);
        }
    }
    for _ in 0..rounds(14, 5_000) {
        let mut noise = Noise::new("axs");
        for _ in 0..20 {
            let answer = ANSWERS[random.below(ANSWERS.len())].as_bytes();
            // Split at a random byte, as on a slow line.
            let cut = 2 + random.below(answer.len() - 2);
            noise.bytes(&answer[..cut], 0);
            noise.desk.wait(random.below(3) as i64);
            noise.bytes(&answer[cut..], 0);
            noise.rest(random.below(600) as i64);
        }
        noise.nothing_sent("torn answers");
    }
}

#[test]
fn g8_pastes_send_nothing() {
    // ESC before a space is not a character, so the rest of the burst is not typed either.
    for text in ["\x1b y", "yes\n", "\ry", "2\n", "y\n", "yy", "y and more"] {
        let mut noise = Noise::new("axs");
        noise.rest(500);
        noise.bytes(text.as_bytes(), 0);
        noise.nothing_sent(text);
    }
    let mut random = Random::seeded();
    let pieces = [
        "a",
        "x",
        "s",
        "S",
        "y",
        "yes",
        "2",
        "\n",
        "\r",
        "A",
        "approve everything",
        "\x1b",
        "u",
        " ",
        "12\n",
    ];
    for _ in 0..rounds(14, 5_000) {
        let text: String = (0..3 + random.below(40)).map(|_| pieces[random.below(pieces.len())]).collect();
        for staged in ["", "ax", "axs", "axS"] {
            let mut noise = Noise::new(staged);
            let before = noise.desk.staged();
            noise.desk.say(What::Paste(text.clone()));
            noise.desk.drawn();
            noise.desk.wait(500);
            noise.desk.drawn();
            assert_eq!(noise.desk.staged(), before, "a bracketed paste of {text:?}");
            noise.bytes(text.as_bytes(), 0);
            noise.nothing_sent(&text);
        }
    }
}

/// Single keys, with frames and time between them as in the program.
struct Keyboard(Desk);

impl Keyboard {
    fn after(keys: &str) -> Self {
        let mut desk = Desk::new(100, 30, few(12));
        desk.press(keys);
        desk.drawn();
        Self(desk)
    }

    fn rest(&mut self, millis: i64) {
        let mut left = millis;
        while left > 0 {
            let frame = left.min(16);
            self.0.wait(frame);
            self.0.say(What::StoodAlone);
            self.0.say(What::Wake);
            self.0.drawn();
            left -= frame;
        }
    }

    fn key(&mut self, code: KeyCode) {
        self.0.say(What::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    fn reviews(&self) -> bool {
        self.0.model.sheet.is::<ReviewSheet>()
    }
}

#[test]
fn g8_random_keys_at_the_review_send_nothing() {
    const OFTEN: &[u8] = b"yyyySs0123456789\rjk";
    let all = rounds(3_000, 60_000);
    let mut random = Random::seeded();
    let (mut keys, mut at_the_sheet) = (0, 0);
    while keys < all {
        // The first review is confirmed by a key, the second by its count.
        let mut board = Keyboard::after(if random.below(2) == 0 { "axs" } else { "xxxxs" });
        board.rest(random.below(1_000) as i64);
        board.key(KeyCode::Char('z'));
        for _ in 0..300 {
            board.rest(random.below(41) as i64);
            let byte = match random.below(3) {
                0 => OFTEN[random.below(OFTEN.len())],
                _ => 0x20 + random.below(0x5f) as u8,
            };
            board.key(match byte {
                b'\r' => KeyCode::Enter,
                b'`' => KeyCode::Esc,
                b'~' => KeyCode::Backspace,
                byte => KeyCode::Char(char::from(byte)),
            });
            keys += 1;
            at_the_sheet += u32::from(board.reviews());
            assert!(board.0.submitted.is_empty(), "key {keys}");
            if board.0.model.screen.leaving {
                break;
            }
        }
        board.rest(100);
        assert!(board.0.submitted.is_empty(), "after key {keys}");
    }
    assert!(at_the_sheet > all / 3, "{at_the_sheet} keys met the sheet");
}

#[test]
fn g8_keys_at_a_persons_pace_always_send() {
    let mut random = Random::seeded();
    let (mut sent, all) = (0, rounds(40, 1_000) as usize);
    for nth in 0..all {
        let (staged, answer) = if nth % 2 == 0 { ("axs", "y") } else { ("xxxxs", "4\r") };
        let mut board = Keyboard::after(staged);
        board.rest(500 + random.below(1_500) as i64);
        for c in answer.chars() {
            board.key(if c == '\r' { KeyCode::Enter } else { KeyCode::Char(c) });
            board.rest(60 + random.below(240) as i64);
        }
        sent += board.0.submitted.len();
    }
    assert_eq!(sent, all);
}

/// A key without a meaning on the sheet suggests that the reviewer does not read it.
#[test]
fn useless_key_restarts_the_sheets_delay() {
    for (useless, opens) in ["z", "5", "<Enter>", "o", "gx", "g<Esc>", "?<Esc>", ":<Esc>", ":zz<Enter><Esc>"]
        .map(|key| (key, "axs"))
    {
        let mut board = Keyboard::after(opens);
        board.rest(900);
        board.0.hurry(useless, 20);
        board.rest(200);
        board.key(KeyCode::Char('y'));
        board.rest(100);
        assert!(board.reviews() && board.0.submitted.is_empty(), "{useless}: {}", board.0.screen());

        board.rest(400);
        board.key(KeyCode::Char('y'));
        board.rest(100);
        assert_eq!(board.0.submitted.len(), 1, "{useless}: {}", board.0.screen());
    }
}

#[test]
fn scrolling_and_count_digits_do_not_restart_the_delay() {
    let mut board = Keyboard::after("xxxxs");
    board.rest(500);
    board.0.hurry("jk<PageDown>", 60);
    board.0.hurry("y44<Backspace><Enter>", 60);
    board.rest(100);

    assert_eq!(board.0.submitted.len(), 1, "{}", board.0.screen());
}

/// Describes the state that a paste could change.
fn left_behind(desk: &Desk) -> String {
    let (screen, queue, model) = (&desk.model.screen, &desk.model.queue, &desk.model);
    format!(
        "{:?} {:?} {:?}",
        (screen.zoom, screen.focus, screen.overlay.is_some(), &screen.chords, screen.leaving),
        (
            queue.cursor(),
            queue.marks.len(),
            queue.has_range(),
            queue.lines.len(),
            model.list.frozen.is_some()
        ),
        (
            model.sheet.is_some(),
            model.preview.tab,
            model.preview.place,
            model.history.open.is_some(),
            model.watches()
        )
    )
}

#[test]
fn ignored_keys_change_nothing() {
    let texts = [
        "f j",
        " zp",
        "*vx",
        "h-e",
        "V a",
        "gwA",
        "E x",
        "1 e",
        ",ra",
        "?ab",
        ":q!",
        "P]d",
        "TERM2 3.6.10n",
        "CZo",
        "+x'",
        "\t f",
        "a\ny",
        "RRR",
    ];
    for text in texts {
        for gap in [0, 3, 14] {
            for before in ["", "  ", "a", "z", "<Tab>"] {
                let mut noise = Noise::new(before);
                let (was, staged) = (left_behind(&noise.desk), noise.desk.staged());

                for byte in text.bytes() {
                    noise.desk.wait(gap);
                    for heard in noise.decoder.take(&[byte]) {
                        noise.hear(&heard);
                    }
                }
                for heard in noise.decoder.quiet() {
                    noise.hear(&heard);
                }
                noise.rest(400);

                let message = noise.desk.message();
                assert!(message.starts_with("Ignored "), "{text:?} at {gap} after {before:?}: {message}");
                assert_eq!(left_behind(&noise.desk), was, "{text:?} at {gap} after {before:?}");
                assert_eq!(noise.desk.staged(), staged, "{text:?}");
            }
        }
    }
}

#[test]
fn two_keys_of_a_quick_typist_both_count() {
    let mut desk = Desk::new(100, 30, few(9));

    desk.hurry("ax", 10);

    assert_eq!(desk.staged(), "1A 2X", "{}", desk.message());
}

#[test]
fn escape_and_a_key_in_one_read_both_count() {
    let alt = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::ALT);
    for open in ["/xyz", "X", "e", ":", "?"] {
        let mut desk = Desk::new(100, 30, few(9));
        desk.press("j");
        desk.press(open);
        let before = desk.here();
        desk.wait(500);

        desk.say(What::Escaped(alt('j')));
        desk.stands_alone();
        // Esc clears what is typed in the help, and closes it then.
        desk.press(if open == "?" { "<Esc>" } else { "" });

        assert!(
            desk.model.sheet.is_none() && desk.model.screen.overlay.is_none(),
            "{open}: {}",
            desk.screen()
        );
        assert!(!desk.model.queue.is_filtered, "{open}");
        assert_ne!(desk.here(), before, "{open}");
    }
    for place in ["/xyz", "X", "e"] {
        let mut desk = Desk::new(100, 30, few(9));
        desk.press(place);
        desk.say(What::Key(alt('a')));
        desk.stands_alone();
        assert!(desk.model.sheet.is_some() && desk.staged().is_empty(), "{place}: a chord is no Esc");
    }
    for place in ["", "<Tab>", "as", "gw"] {
        let mut desk = Desk::new(100, 30, few(9));
        desk.press(place);
        desk.wait(500);
        let (was, staged) = (left_behind(&desk), desk.staged());
        for c in ['a', 'x', 'y', 'j', 'q', 's'] {
            desk.say(What::Escaped(alt(c)));
            desk.say(What::Key(alt(c)));
            desk.stands_alone();
        }
        assert_eq!((left_behind(&desk), desk.staged()), (was, staged), "{place}");
    }
}
