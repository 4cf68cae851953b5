//! Reads keys, pastes and mouse events from the bytes of a terminal, and drops the terminal's replies.
//!
//! crossterm's reader gives up at a sequence that it does not know, and takes the rest for typed keys. A reply may also
//! come late, in parts, without its first byte, or in its 8-bit form. Its characters must not count as keys, because
//! letters decide.

#[cfg(test)]
mod tests;

use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use crate::tui::chrome::theme::palette::Rgb;

const ESC: u8 = 0x1b;
/// Bytes that are kept of a sequence. A longer one is a reply, of which no more is needed.
const KEPT: usize = 256;
/// This many characters in one read count as a paste.
const PASTED: usize = 32;
/// Bytes that are kept of a paste; the rest is cut.
const PASTE_MAX: usize = 16 << 20;
const PASTE_END: &[u8] = b"\x1b[201~";

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TerminalInput {
    Event(Event),
    /// A character right after ESC: an Alt chord, or Esc and a key in one read.
    Escaped(KeyEvent),
    Background(Rgb),
}

/// Holds the beginning of a sequence, or of a character, until the rest comes.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    held: Vec<u8>,
    /// The sequence began with one byte, as no key does.
    is_8_bit: bool,
    /// The rest of a mouse report in the oldest form.
    skip: u8,
    pasted: Option<Vec<u8>>,
}

/// The unfinished input, which decides how long to wait for the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Nothing,
    /// Bytes that may be a key.
    Key,
    Sequence,
    Paste,
}

impl Decoder {
    pub(crate) fn holds(&self) -> Holds {
        match self.held.as_slice() {
            _ if self.pasted.is_some() => Holds::Paste,
            [] if self.skip == 0 => Holds::Nothing,
            [] | [ESC, _, _, ..] | [0x80..=0xff, ..] => Holds::Sequence,
            _ => Holds::Key,
        }
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<TerminalInput> {
        let mut heard = Vec::new();
        for byte in bytes {
            self.byte(*byte, &mut heard);
        }
        if heard.len() < PASTED { heard } else { with_pastes(&heard) }
    }

    /// Ends the wait for more bytes. The held ones are keys, or the torn part of a reply.
    pub(crate) fn quiet(&mut self) -> Vec<TerminalInput> {
        let mut heard = Vec::new();
        if let Some(text) = self.pasted.take() {
            heard.push(pasted(&text));
        }
        self.skip = 0;
        let held = std::mem::take(&mut self.held);
        match held.as_slice() {
            [ESC] => heard.push(key(KeyCode::Esc, KeyModifiers::NONE)),
            [ESC, byte] if !self.is_8_bit => ground(*byte, KeyModifiers::ALT, &mut heard),
            [ESC | 0x80..=0xff, ..] | [b'[', b'<' | b'?' | b'>' | b'=', ..] => {}
            // An arrow key without its first byte.
            [b'[', letter] if letter.is_ascii_alphabetic() => {}
            typed => {
                for byte in typed {
                    ground(*byte, KeyModifiers::NONE, &mut heard);
                }
            }
        }
        heard
    }

    fn byte(&mut self, byte: u8, heard: &mut Vec<TerminalInput>) {
        if let Some(text) = &mut self.pasted {
            text.push(byte);
            if text.ends_with(PASTE_END) {
                text.truncate(text.len() - PASTE_END.len());
                heard.push(pasted(text));
                self.pasted = None;
            } else if text.len() > PASTE_MAX {
                // Only the end mark matters now.
                text.remove(PASTE_MAX - PASTE_END.len());
            }
            return;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        match self.held.as_slice() {
            [] => self.begins(byte, heard),
            [0xc2] if (0x80..=0x9f).contains(&byte) => self.control(byte),
            [ESC] => self.escaped(byte, heard),
            // Old terminals put the modifiers between.
            [ESC, b'O', ..] if byte.is_ascii_digit() && self.held.len() < 4 => self.held.push(byte),
            [ESC, b'O', ..] => self.function(byte, heard),
            [ESC, 0xc2..=0xf4, ..] => self.escaped_character(byte, heard),
            [ESC, b'[', ..] => self.parameter(byte, heard),
            [ESC, ..] => self.text(byte, heard),
            [0x80..=0xff, ..] => self.character(byte, heard),
            _ => self.without_escape(byte, heard),
        }
    }

    /// Handles the byte after `ESC O` and modifiers.
    fn function(&mut self, byte: u8, heard: &mut Vec<TerminalInput>) {
        let held = std::mem::take(&mut self.held);
        if byte == ESC {
            return self.begins(byte, heard);
        }
        let mask = std::str::from_utf8(held.get(2..).unwrap_or_default()).unwrap_or_default();
        let Some((modifiers, kind)) = pressed(mask) else { return };
        heard.extend(match byte {
            b'M' => Some(event(KeyCode::Enter, modifiers, kind)),
            b'R' => Some(event(KeyCode::F(3), modifiers, kind)),
            _ => letter(byte, modifiers, kind),
        });
    }

    /// Handles a byte outside any sequence.
    fn begins(&mut self, byte: u8, heard: &mut Vec<TerminalInput>) {
        self.is_8_bit = false;
        match byte {
            ESC | 0xc2..=0xf4 | b'[' | b']' | b'P' | b'_' => self.held.push(byte),
            0x80..=0x9f => self.control(byte),
            _ => ground(byte, KeyModifiers::NONE, heard),
        }
    }

    /// Handles the 8-bit form of ESC and a letter; other control characters are dropped.
    fn control(&mut self, byte: u8) {
        self.held.clear();
        if matches!(byte, 0x90 | 0x98 | 0x9b | 0x9d..=0x9f) {
            self.is_8_bit = true;
            self.held.extend([ESC, byte - 0x40]);
        }
    }

    fn escaped(&mut self, byte: u8, heard: &mut Vec<TerminalInput>) {
        match byte {
            ESC => heard.push(key(KeyCode::Esc, KeyModifiers::NONE)),
            b'[' | b'O' | b'P' | b'X' | b']' | b'^' | b'_' | 0xc2..=0xf4 => self.held.push(byte),
            0x80.. => {
                self.held.clear();
                heard.push(key(KeyCode::Esc, KeyModifiers::NONE));
                self.begins(byte, heard);
            }
            _ => {
                self.held.clear();
                ground(byte, KeyModifiers::ALT, heard);
            }
        }
    }

    /// Handles a byte after `ESC [`.
    fn parameter(&mut self, byte: u8, heard: &mut Vec<TerminalInput>) {
        match byte {
            // The Linux console's function keys.
            b'[' if self.held.len() == 2 => self.held.push(byte),
            0x40..=0x7e => {
                let held = std::mem::take(&mut self.held);
                match (std::str::from_utf8(held.get(2..).unwrap_or_default()).unwrap_or_default(), byte) {
                    ("200", b'~') => self.pasted = Some(Vec::new()),
                    ("", b'M') => self.skip = 3,
                    (parameters, _) => heard.extend(sequence(parameters, byte)),
                }
            }
            0x20..=0x3f if self.held.len() < KEPT => self.held.push(byte),
            0x20..=0x3f => {}
            _ => {
                self.held.clear();
                self.begins(byte, heard);
            }
        }
    }

    /// Handles a byte after `ESC ]`, `ESC P` and similar, up to BEL or ST.
    fn text(&mut self, byte: u8, heard: &mut Vec<TerminalInput>) {
        let last = self.held.last().copied().unwrap_or_default();
        match byte {
            0x07 => self.text_ends(heard),
            b'\\' if last == ESC => self.text_ends(heard),
            // As the last byte of a character it ends nothing.
            0x9c if last < 0x80 || last == 0xc2 => self.text_ends(heard),
            _ if last == ESC && self.held.len() > 2 => {
                self.held = vec![ESC];
                self.escaped(byte, heard);
            }
            0x03 | 0x18 | 0x1a => {
                self.held.clear();
                self.begins(byte, heard);
            }
            _ => {
                self.held.truncate(KEPT);
                self.held.push(byte);
            }
        }
    }

    fn text_ends(&mut self, heard: &mut Vec<TerminalInput>) {
        let held = std::mem::take(&mut self.held);
        let text = std::str::from_utf8(&held).unwrap_or_default().trim_end_matches('\u{1b}');
        let background = text.strip_prefix("\u{1b}]11;").and_then(Rgb::from_reply);
        heard.extend(background.map(TerminalInput::Background));
    }

    /// Handles the next byte of a character outside ASCII.
    fn character(&mut self, byte: u8, heard: &mut Vec<TerminalInput>) {
        self.held.push(byte);
        match whole(&self.held) {
            Whole::Not => {}
            Whole::Character(typed) => {
                self.held.clear();
                heard.push(character(typed, KeyModifiers::NONE));
            }
            Whole::Broken => {
                self.held.clear();
                self.begins(byte, heard);
            }
        }
    }

    /// The same after ESC.
    fn escaped_character(&mut self, byte: u8, heard: &mut Vec<TerminalInput>) {
        self.held.push(byte);
        match whole(self.held.get(1..).unwrap_or_default()) {
            Whole::Not => {}
            Whole::Character(typed) => {
                self.held.clear();
                heard.push(character(typed, KeyModifiers::ALT));
            }
            Whole::Broken => {
                self.held.clear();
                self.begins(byte, heard);
            }
        }
    }

    /// Handles a byte of what may be a reply without its first byte.
    fn without_escape(&mut self, byte: u8, heard: &mut Vec<TerminalInput>) {
        self.held.push(byte);
        let is_letter = byte.is_ascii_alphabetic();
        let is_reply = |it: &u8| matches!(it, b';' | b'?' | b'>' | b'=' | b'n');
        match self.held.as_slice() {
            [b'[', b'0'..=b'?', ..] if is_letter && self.held.iter().any(is_reply) => self.held.clear(),
            [b'[', b'<' | b'?' | b'>' | b'=' | b'0'..=b'9', rest @ ..]
                if rest.iter().all(|it| (0x20..0x40).contains(it)) && rest.len() < KEPT => {}
            [b'[', _] if is_letter => {}
            [b']', number @ .., b';'] | [b']', number @ ..]
                if number.len() < 5
                    && number.iter().all(u8::is_ascii_digit)
                    && (byte != b';' || !number.is_empty()) =>
            {
                if byte == b';' {
                    self.held.insert(0, ESC);
                }
            }
            [b'P', b'>' | b'!' | b'0'..=b'9'] | [b'_', b'G'] | [b'_', b'G', b'a'..=b'z'] => {}
            [b'P', _, b'|' | b'$' | b'+'] | [b'_', b'G', _, b'='] => self.held.insert(0, ESC),
            _ => {
                self.held.pop();
                let typed = std::mem::take(&mut self.held);
                for byte in typed {
                    ground(byte, KeyModifiers::NONE, heard);
                }
                self.begins(byte, heard);
            }
        }
    }
}

/// Handles a byte that is a whole key.
fn ground(byte: u8, alt: KeyModifiers, heard: &mut Vec<TerminalInput>) {
    let control = |first: u8| key(KeyCode::Char(char::from(first)), alt | KeyModifiers::CONTROL);
    heard.push(match byte {
        b'\r' => key(KeyCode::Enter, alt),
        b'\t' => key(KeyCode::Tab, alt),
        // Terminals differ in which of them Backspace sends.
        0x08 | 0x7f => key(KeyCode::Backspace, alt),
        0 => control(b' '),
        0x01..=0x1a => control(byte + 0x60),
        0x1c..=0x1f => control(byte + 0x18),
        0x20..0x7f => character(char::from(byte), alt),
        _ => return,
    });
}

enum Whole {
    Not,
    Character(char),
    /// The last byte does not belong to it.
    Broken,
}

/// Reads the bytes of one character so far.
fn whole(bytes: &[u8]) -> Whole {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.chars().next().map_or(Whole::Not, Whole::Character),
        Err(error) if error.error_len().is_none() => Whole::Not,
        Err(_) => Whole::Broken,
    }
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> TerminalInput {
    TerminalInput::Event(Event::Key(KeyEvent::new(code, modifiers)))
}

fn character(typed: char, alt: KeyModifiers) -> TerminalInput {
    let shift = if typed.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
    if alt.is_empty() {
        return key(KeyCode::Char(typed), shift);
    }
    TerminalInput::Escaped(KeyEvent::new(KeyCode::Char(typed), alt | shift))
}

fn pasted(text: &[u8]) -> TerminalInput {
    TerminalInput::Event(Event::Paste(String::from_utf8_lossy(text).into_owned()))
}

/// Makes one event of each long run of characters, so that a paste without brackets costs no more than one with them.
fn with_pastes(heard: &[TerminalInput]) -> Vec<TerminalInput> {
    let runs = heard.chunk_by(|one, other| text(one).is_some() == text(other).is_some());
    let grouped = runs.flat_map(|run| match run.iter().map(text).collect::<Option<String>>() {
        Some(text) if run.len() >= PASTED => vec![TerminalInput::Event(Event::Paste(text))],
        _ => run.to_vec(),
    });
    grouped.collect()
}

fn text(heard: &TerminalInput) -> Option<char> {
    let TerminalInput::Event(Event::Key(key)) = heard else { return None };
    match key.code {
        KeyCode::Char(typed) if (key.modifiers - KeyModifiers::SHIFT).is_empty() => Some(typed),
        KeyCode::Enter if key.modifiers.is_empty() => Some('\n'),
        _ => None,
    }
}

/// Returns the event of a whole `ESC [` sequence; `None` for replies.
fn sequence(parameters: &str, last: u8) -> Option<TerminalInput> {
    if let Some(mouse) = parameters.strip_prefix('<') {
        return mouse_event(mouse, last);
    }
    let mut fields = parameters.split(';');
    let code = fields.next().unwrap_or_default();
    let (modifiers, kind) = pressed(fields.next().unwrap_or_default())?;
    match last {
        b'I' if parameters.is_empty() => Some(TerminalInput::Event(Event::FocusGained)),
        b'O' if parameters.is_empty() => Some(TerminalInput::Event(Event::FocusLost)),
        b'Z' => Some(key(KeyCode::BackTab, KeyModifiers::SHIFT)),
        b'A'..=b'E' if code == "[" => Some(key(KeyCode::F(last - b'A' + 1), KeyModifiers::NONE)),
        b'~' => Some(event(numbered(code.parse().ok()?)?, modifiers, kind)),
        b'u' => unicode(code, modifiers, kind),
        _ if matches!(code, "" | "1") => letter(last, modifiers, kind),
        _ => None,
    }
}

/// Parses modifiers and the kind of key event: `5` or `5:3`.
fn pressed(field: &str) -> Option<(KeyModifiers, KeyEventKind)> {
    let (mask, kind) = field.split_once(':').unwrap_or((field, "1"));
    let mask = if mask.is_empty() { 1 } else { mask.parse::<u8>().ok()? }.saturating_sub(1);
    let all = [
        KeyModifiers::SHIFT,
        KeyModifiers::ALT,
        KeyModifiers::CONTROL,
        KeyModifiers::SUPER,
        KeyModifiers::HYPER,
        KeyModifiers::META,
    ];
    let held = (0..).zip(all).filter(|(bit, _)| mask & (1 << bit) != 0);
    let kind = match kind {
        "2" => KeyEventKind::Repeat,
        "3" => KeyEventKind::Release,
        _ => KeyEventKind::Press,
    };
    Some((held.fold(KeyModifiers::NONE, |all, (_, one)| all | one), kind))
}

fn event(code: KeyCode, modifiers: KeyModifiers, kind: KeyEventKind) -> TerminalInput {
    TerminalInput::Event(Event::Key(KeyEvent::new_with_kind(code, modifiers, kind)))
}

fn letter(last: u8, modifiers: KeyModifiers, kind: KeyEventKind) -> Option<TerminalInput> {
    let code = match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'P' | b'Q' | b'S' => KeyCode::F(last - b'P' + 1),
        _ => return None,
    };
    Some(event(code, modifiers, kind))
}

fn numbered(number: u8) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::F(number - 10),
        17..=21 => KeyCode::F(number - 11),
        23..=26 => KeyCode::F(number - 12),
        28..=29 => KeyCode::F(number - 15),
        31..=34 => KeyCode::F(number - 17),
        _ => return None,
    })
}

/// Parses a key of the kitty keyboard protocol: `97`, or `97:65` with the shifted character.
fn unicode(code: &str, mut modifiers: KeyModifiers, kind: KeyEventKind) -> Option<TerminalInput> {
    let (code, shifted) = code.split_once(':').unwrap_or((code, ""));
    let mut code = match code.parse().ok()? {
        27 => KeyCode::Esc,
        13 | 57414 => KeyCode::Enter,
        9 if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        9 => KeyCode::Tab,
        8 | 127 => KeyCode::Backspace,
        digit @ 57399..=57408 => KeyCode::Char(char::from_digit(digit - 57399, 10)?),
        sign @ 57409..=57413 => KeyCode::Char("./*-+".chars().nth((sign - 57409) as usize)?),
        57415 => KeyCode::Char('='),
        57416 => KeyCode::Char(','),
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57425 => KeyCode::Insert,
        57426 => KeyCode::Delete,
        function @ 57376..=57398 => KeyCode::F(u8::try_from(function - 57363).ok()?),
        // Modifiers, locks and media keys.
        57344..=63743 => return None,
        other => KeyCode::Char(char::from_u32(other)?),
    };
    let shifted = shifted.split(':').next().and_then(|it| it.parse().ok()).and_then(char::from_u32);
    if let Some(shifted) = shifted.filter(|_| modifiers.contains(KeyModifiers::SHIFT)) {
        code = KeyCode::Char(shifted);
        modifiers.remove(KeyModifiers::SHIFT);
    }
    Some(event(code, modifiers, kind))
}

/// `button;column;row`, from 1.
fn mouse_event(report: &str, last: u8) -> Option<TerminalInput> {
    let mut fields = report.split(';').map(|field| field.parse::<u16>().ok());
    let (button, column, row) = (fields.next()??, fields.next()??, fields.next()??);
    let held = match button & 3 {
        0 => MouseButton::Left,
        1 => MouseButton::Middle,
        _ => MouseButton::Right,
    };
    let kind = match (button & 0b1100_0011, button & 0b10_0000 != 0) {
        (64, _) => MouseEventKind::ScrollUp,
        (65, _) => MouseEventKind::ScrollDown,
        (66, _) => MouseEventKind::ScrollLeft,
        (67, _) => MouseEventKind::ScrollRight,
        (0..=2, false) if last == b'M' => MouseEventKind::Down(held),
        (0..=3, false) => MouseEventKind::Up(held),
        (0..=2, true) => MouseEventKind::Drag(held),
        (3, true) => MouseEventKind::Moved,
        _ => return None,
    };
    let modifier = |bit, modifier| if button & bit == 0 { KeyModifiers::NONE } else { modifier };
    let modifiers = modifier(4, KeyModifiers::SHIFT) | modifier(8, KeyModifiers::ALT);
    let modifiers = modifiers | modifier(16, KeyModifiers::CONTROL);
    let (column, row) = (column.checked_sub(1)?, row.checked_sub(1)?);
    matches!(last, b'M' | b'm')
        .then(|| TerminalInput::Event(Event::Mouse(MouseEvent { kind, column, row, modifiers })))
}
