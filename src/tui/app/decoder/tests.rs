use super::*;

/// Replies and reports of terminals: DA1, DA2, DA3, DSR, cursor place, DECRQSS, DECRQM, XTVERSION, XTGETTCAP,
/// OSC 4, 10, 11, 12 and 52, kitty's keyboard and graphics, colour scheme, sizes, and tmux passing one on.
const REPLIES: [&str; 28] = [
    "\x1b[?62;22;52c",
    "\x1b[>41;354;0c",
    "\x1b[=0;1;0c",
    "\x1bP!|00000000\x1b\\",
    "\x1b[0n",
    "\x1b[24;80R",
    "\x1b[?1;1R",
    "\x1b[0;0R",
    "\x1bP1$r0;1;4msaay\x1b\\",
    "\x1bP1$r 2 q\x1b\\",
    "\x1b[?2026;2$y",
    "\x1bP>|tmux 3.3a\x1b\\",
    "\x1bP>|iTERM2 3.6.10n\x1b\\",
    "\x1bP1+r544e=787465726d\x1b\\",
    "\x1bP0+r\x1b\\",
    "\x1b]4;1;rgb:aaaa/xaxa/ssss\x07",
    "\x1b]10;rgb:dada/dada/dada\x1b\\",
    "\x1b]12;rgb:ffff/0000/aaaa\x1b\\",
    "\x1b]52;c;YXhzeQ==\x1b\\",
    "\x1b]52;c;aaaasy\x07",
    "\x1b]1337;ReportCellSize=17.5;8.0;2.0\x1b\\",
    "\x1b[?31u",
    "\x1b_Gi=31;OK\x1b\\",
    "\x1b[?997;1n",
    "\x1b[8;24;80t",
    "\x1b[6;20;10t",
    "\x1b[48;24;80;480;800t",
    "\x1b^privacy\x1b\\",
];

/// The 8-bit form: one byte for ESC and a letter, or the same as a character.
fn in_8_bits(reply: &str, as_characters: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut escaped = false;
    for byte in reply.bytes() {
        match (std::mem::take(&mut escaped), byte) {
            (false, ESC) => escaped = true,
            (true, byte) => {
                bytes.extend(as_characters.then_some(0xc2));
                bytes.push(byte + 0x40);
            }
            (false, byte) => bytes.push(byte),
        }
    }
    bytes
}

/// These bytes a few at a time, then `jj` and a rest.
fn heard(bytes: &[u8], at_once: usize) -> Vec<TerminalInput> {
    let mut decoder = Decoder::default();
    let mut heard: Vec<TerminalInput> = bytes.chunks(at_once).flat_map(|part| decoder.take(part)).collect();
    heard.extend(decoder.take(b"jj"));
    heard.extend(decoder.quiet());
    heard
}

fn typed(c: char) -> TerminalInput {
    key(KeyCode::Char(c), KeyModifiers::NONE)
}

#[test]
fn replies_are_never_keys_in_any_form() {
    for reply in REPLIES {
        let forms = [reply.as_bytes().to_vec(), in_8_bits(reply, false), in_8_bits(reply, true)];
        for form in forms {
            for at_once in 1..=form.len() {
                let heard = heard(&form, at_once);
                assert_eq!(heard, [typed('j'), typed('j')], "{reply:?} as {form:?}, {at_once} at once");
            }
        }
    }
}

#[test]
fn reply_without_its_first_byte_is_no_key() {
    // These look like typed words.
    for reply in REPLIES.iter().chain(&["\x1b[<65;10;5M"]).filter(|reply| !reply.starts_with("\x1b^")) {
        for at_once in 1..reply.len() {
            assert_eq!(heard(&reply.as_bytes()[1..], at_once), [typed('j'), typed('j')], "{reply:?}");
        }
    }
}

#[test]
fn torn_reply_takes_no_key_after_a_rest() {
    for reply in REPLIES {
        for cut in 3..reply.len() {
            let mut decoder = Decoder::default();
            assert_eq!(decoder.take(&reply.as_bytes()[..cut]), [], "{reply:?} cut at {cut}");
            assert_eq!(decoder.quiet(), [], "{reply:?} cut at {cut}");
            assert_eq!(decoder.take(b"j"), [typed('j')], "{reply:?} cut at {cut}");
        }
    }
}

#[test]
fn background_is_understood_in_all_forms() {
    let reply = "\x1b]11;rgb:fAfA/aaaa/eeee\x1b\\";
    let background = TerminalInput::Background(Rgb(0xfa, 0xaa, 0xee));
    for form in
        [reply.as_bytes().to_vec(), b"\x1b]11;rgb:fafa/aaaa/eeee\x07".to_vec(), in_8_bits(reply, false)]
    {
        for at_once in 1..=form.len() {
            assert_eq!(heard(&form, at_once)[0], background, "{form:?}");
        }
    }
}

#[test]
fn keys_are_read_as_terminals_send_them() {
    use KeyModifiers as M;
    for (bytes, code, modifiers) in [
        ("\x1b[A", KeyCode::Up, M::NONE),
        ("\x1bOB", KeyCode::Down, M::NONE),
        ("\x1b[1;5C", KeyCode::Right, M::CONTROL),
        ("\x1b[1;2D", KeyCode::Left, M::SHIFT),
        ("\x1b[H", KeyCode::Home, M::NONE),
        ("\x1b[4~", KeyCode::End, M::NONE),
        ("\x1b[5~", KeyCode::PageUp, M::NONE),
        ("\x1b[6;3~", KeyCode::PageDown, M::ALT),
        ("\x1b[3~", KeyCode::Delete, M::NONE),
        ("\x1bOP", KeyCode::F(1), M::NONE),
        ("\x1bOR", KeyCode::F(3), M::NONE),
        ("\x1bO2S", KeyCode::F(4), M::SHIFT),
        ("\x1bO5A", KeyCode::Up, M::CONTROL),
        ("\x1b[97;3u", KeyCode::Char('a'), M::ALT),
        ("\x1b[[A", KeyCode::F(1), M::NONE),
        ("\x1b[15~", KeyCode::F(5), M::NONE),
        ("\x1b[24~", KeyCode::F(12), M::NONE),
        ("\x1b[Z", KeyCode::BackTab, M::SHIFT),
        ("\x1b[27u", KeyCode::Esc, M::NONE),
        ("\x1b[120;9u", KeyCode::Char('x'), M::SUPER),
        ("\x1b[97;5u", KeyCode::Char('a'), M::CONTROL),
        ("\x1b[97:65;2u", KeyCode::Char('A'), M::NONE),
        ("\x1b[57405u", KeyCode::Char('6'), M::NONE),
        ("\x1b\x7f", KeyCode::Backspace, M::ALT),
        ("\x08", KeyCode::Backspace, M::NONE),
        ("\x7f", KeyCode::Backspace, M::NONE),
        ("\r", KeyCode::Enter, M::NONE),
        ("\x1bOM", KeyCode::Enter, M::NONE),
        ("\x1a", KeyCode::Char('z'), M::CONTROL),
        ("\x1c", KeyCode::Char('4'), M::CONTROL),
        ("\0", KeyCode::Char(' '), M::CONTROL),
        ("A", KeyCode::Char('A'), M::SHIFT),
        ("é", KeyCode::Char('é'), M::NONE),
        ("重", KeyCode::Char('重'), M::NONE),
        ("𝛼", KeyCode::Char('𝛼'), M::NONE),
    ] {
        for at_once in 1..=bytes.len() {
            let heard = heard(bytes.as_bytes(), at_once);
            assert_eq!(heard, [key(code, modifiers), typed('j'), typed('j')], "{bytes:?}, {at_once} at once");
        }
    }
}

#[test]
fn character_after_escape_is_told_apart_from_a_chord() {
    for typed_after in ['a', 'A', 'ü', '重'] {
        let text = format!("\x1b{typed_after}");
        for at_once in 1..=text.len() {
            let heard = heard(text.as_bytes(), at_once);
            assert_eq!(
                heard,
                [character(typed_after, KeyModifiers::ALT), typed('j'), typed('j')],
                "{text:?}"
            );
            assert!(matches!(heard[0], TerminalInput::Escaped(_)));
        }
    }
    assert_eq!(heard(b"\x1bO\x1b[A", 1)[0], key(KeyCode::Up, KeyModifiers::NONE), "ESC begins again");
}

#[test]
fn endless_paste_is_bounded() {
    let mut decoder = Decoder::default();
    decoder.take(b"\x1b[200~");
    decoder.take(&vec![b'x'; PASTE_MAX + 100]);
    assert!(decoder.pasted.as_ref().unwrap().len() <= PASTE_MAX);
    assert_eq!(decoder.take(PASTE_END).len(), 1, "its end is seen");
    assert_eq!(decoder.take(b"j"), [typed('j')]);
}

#[test]
fn lone_beginnings_are_keys_after_a_rest() {
    use KeyModifiers as M;
    for (bytes, wants) in [
        ("\x1b", vec![key(KeyCode::Esc, M::NONE)]),
        ("\x1b\x1b", vec![key(KeyCode::Esc, M::NONE); 2]),
        ("\x1b]", vec![character(']', M::ALT)]),
        ("[", vec![typed('[')]),
        ("P", vec![key(KeyCode::Char('P'), M::SHIFT)]),
        ("_", vec![typed('_')]),
    ] {
        let mut decoder = Decoder::default();
        let mut heard = decoder.take(bytes.as_bytes());
        assert_eq!(decoder.holds(), Holds::Key, "{bytes:?}");
        heard.extend(decoder.quiet());
        assert_eq!(heard, wants, "{bytes:?}");
        assert_eq!(decoder.holds(), Holds::Nothing);
    }
}

#[test]
fn text_that_looks_like_a_reply_at_first_is_text() {
    for text in [
        "Please [ship] it",
        "P1 first",
        "P>Q",
        "[x] done",
        "]]",
        "_Go",
        "[12] of [13]",
        "[]",
        "a[1]; b",
        "[note]",
        "[any]",
        "];x",
    ] {
        let mut decoder = Decoder::default();
        let mut heard = decoder.take(text.as_bytes());
        heard.extend(decoder.quiet());
        let want: Vec<_> = text.chars().map(|c| character(c, KeyModifiers::NONE)).collect();
        assert_eq!(heard, want, "{text:?}");
    }
}

#[test]
fn paste_is_one_event_and_may_hold_anything() {
    let text = "a\x1b[Ay\r\x1b]11;x\u{7}重";
    let heard = heard(format!("\x1b[200~{text}\x1b[201~").as_bytes(), 3);
    assert_eq!(heard, [TerminalInput::Event(Event::Paste(text.to_owned())), typed('j'), typed('j')]);
}

#[test]
fn many_characters_in_one_read_are_a_paste() {
    let text = "lorem ipsum dolor sit amet ".repeat(100);
    let mut decoder = Decoder::default();
    assert_eq!(
        decoder.take(format!("{text}\rmore\x1b[A").as_bytes()),
        [TerminalInput::Event(Event::Paste(format!("{text}\nmore"))), key(KeyCode::Up, KeyModifiers::NONE)]
    );
    assert_eq!(decoder.take(b"jjjj"), vec![typed('j'); 4], "a key that is held");
}

#[test]
fn mouse_reports_are_read() {
    let mouse = |bytes: &str| match heard(bytes.as_bytes(), 2).first() {
        Some(TerminalInput::Event(Event::Mouse(it))) => Some((it.kind, it.column, it.row)),
        _ => None,
    };
    assert_eq!(mouse("\x1b[<0;3;4M"), Some((MouseEventKind::Down(MouseButton::Left), 2, 3)));
    assert_eq!(mouse("\x1b[<2;300;4m"), Some((MouseEventKind::Up(MouseButton::Right), 299, 3)));
    assert_eq!(mouse("\x1b[<64;1;1M"), Some((MouseEventKind::ScrollUp, 0, 0)));
    assert_eq!(mouse("\x1b[<65;1;1M"), Some((MouseEventKind::ScrollDown, 0, 0)));
    assert_eq!(mouse("\x1b[<0;0;0M"), None, "there is no column 0");
    assert_eq!(heard(b"\x1b[Maxs", 1), [typed('j'), typed('j')], "the oldest form is dropped");
}
