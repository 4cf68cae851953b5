//! Cleans the input of the event parser: valid UTF-8 without byte order mark, in events of bounded size. The parser
//! would stop at an invalid byte and buffer an unfinished event without limit.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

/// Maximum bytes of an id to send back. A longer one is dropped, and a full briefing follows.
const ID_MAX: usize = 1_024;
/// Bytes of a line that are kept: enough for `id` and `retry`.
const HEAD_MAX: usize = "retry: ".len() + ID_MAX;

/// Last id and `retry` of a stream. The parser only reports them with an event that has data, and accepts `+5` as
/// digits.
#[derive(Debug, Default)]
pub(super) struct StreamMeta(Mutex<Notes>);

#[derive(Debug, Default)]
struct Notes {
    last_id: String,
    retry: Option<u64>,
}

impl StreamMeta {
    /// The last id over all connections; empty if there is none.
    pub(super) fn last_id(&self) -> String {
        self.with(|notes| notes.last_id.clone())
    }

    /// Takes the last requested wait in milliseconds.
    pub(super) fn retry(&self) -> Option<u64> {
        self.with(|notes| notes.retry.take())
    }

    fn with<T>(&self, run: impl FnOnce(&mut Notes) -> T) -> T {
        run(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

#[derive(Debug)]
pub(super) struct Cleaner<'a> {
    said: &'a StreamMeta,
    /// The beginning of a line that may be an `id` or `retry` field.
    head: Vec<u8>,
    /// The id of the current block, valid only once the block ends.
    id: Option<String>,
    /// An incomplete character, at most 3 bytes.
    carry: Vec<u8>,
    at_start: bool,
    /// Bytes since the last empty line; `line` counts since the last line end.
    event: usize,
    line: usize,
    after_cr: bool,
    max_event: usize,
}

impl<'a> Cleaner<'a> {
    pub(super) fn new(max_event: usize, said: &'a StreamMeta) -> Self {
        Self {
            said,
            head: Vec::new(),
            id: None,
            carry: Vec::new(),
            at_start: true,
            event: 0,
            line: 0,
            after_cr: false,
            max_event,
        }
    }

    /// Returns the chunk with invalid UTF-8 replaced by U+FFFD. Empty if more bytes are needed.
    pub(super) fn clean(&mut self, chunk: &[u8]) -> Result<Bytes, TooLarge> {
        let mut text = self.decode(chunk);
        if self.at_start && !text.is_empty() {
            self.at_start = false;
            if text.starts_with('\u{feff}') {
                text.remove(0);
            }
        }
        self.measure(text.as_bytes())?;
        Ok(Bytes::from(text))
    }

    fn decode(&mut self, chunk: &[u8]) -> String {
        self.carry.extend_from_slice(chunk);
        let bytes = std::mem::take(&mut self.carry);
        let mut text = String::with_capacity(bytes.len());
        let mut rest = bytes.as_slice();
        loop {
            let (valid, invalid) = match std::str::from_utf8(rest) {
                Ok(valid) => (valid, None),
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    (std::str::from_utf8(valid).unwrap_or_default(), Some((after, error.error_len())))
                }
            };
            text.push_str(valid);
            match invalid {
                None => return text,
                Some((unfinished, None)) => {
                    self.carry = unfinished.to_vec();
                    return text;
                }
                Some((after, Some(bad))) => {
                    text.push(char::REPLACEMENT_CHARACTER);
                    rest = after.get(bad..).unwrap_or_default();
                }
            }
        }
    }

    /// Counts bytes between empty lines. CR, LF and CRLF end a line.
    fn measure(&mut self, bytes: &[u8]) -> Result<(), TooLarge> {
        for &byte in bytes {
            let second_half = byte == b'\n' && self.after_cr;
            self.after_cr = byte == b'\r';
            match byte {
                b'\n' if second_half => {}
                b'\n' | b'\r' => {
                    if self.line == 0 {
                        self.event = 0;
                        self.end_block();
                    } else {
                        self.end_line();
                    }
                    self.line = 0;
                }
                _ => {
                    let worth = self.line > 0 || matches!(byte, b'i' | b'r');
                    if worth && self.head.len() == self.line && self.line <= HEAD_MAX {
                        self.head.push(byte);
                    }
                    self.line += 1;
                    self.event += 1;
                }
            }
            if self.event > self.max_event {
                return Err(TooLarge);
            }
        }
        Ok(())
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.head);
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let (name, value) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"id" if line.len() > HEAD_MAX || value.len() > ID_MAX => self.id = Some(String::new()),
            b"id" if !value.contains(&0) => self.id = String::from_utf8(value.to_vec()).ok(),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let millis = String::from_utf8_lossy(value).parse().unwrap_or(u64::MAX);
                self.said.with(|notes| notes.retry = Some(millis));
            }
            _ => {}
        }
    }

    fn end_block(&mut self) {
        if let Some(id) = self.id.take() {
            self.said.with(|notes| notes.last_id = id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(chunks: &[&[u8]]) -> String {
        let said = StreamMeta::default();
        let mut cleaner = Cleaner::new(1_000, &said);
        let bytes: Vec<u8> = chunks.iter().flat_map(|chunk| cleaner.clean(chunk).unwrap().to_vec()).collect();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn characters_split_between_chunks_are_joined() {
        let bytes = "data: é😀\n\n".as_bytes();

        let one_by_one: Vec<&[u8]> = bytes.chunks(1).collect();

        assert_eq!(cleaned(&one_by_one), "data: é😀\n\n");
        assert_eq!(cleaned(&[bytes]), "data: é😀\n\n");
    }

    #[test]
    fn invalid_bytes_become_replacement_characters() {
        assert_eq!(cleaned(&[b"a\xFFb\xC3", b"\x28c\xF0\x9F", b"\x98\x80"]), "a\u{fffd}b\u{fffd}(c😀");
    }

    #[test]
    fn one_leading_byte_order_mark_is_dropped() {
        assert_eq!(cleaned(&[b"\xEF", b"\xBB", b"\xBFa\xEF\xBB\xBFb"]), "a\u{feff}b");
        assert_eq!(cleaned(&[b"a\xEF\xBB\xBF"]), "a\u{feff}");
    }

    #[test]
    fn only_events_have_a_size_limit() {
        let said = StreamMeta::default();
        let small = |end: &str| format!("data: 123456{end}{end}").repeat(50);

        for end in ["\n", "\r", "\r\n"] {
            let mut cleaner = Cleaner::new(20, &said);
            assert!(cleaner.clean(small(end).as_bytes()).is_ok(), "{end:?}");
        }
        let mut lines = Cleaner::new(20, &said);
        assert_eq!(lines.clean("data: 123456\n".repeat(2).as_bytes()), Err(TooLarge));
        let mut endless = Cleaner::new(20, &said);
        assert!(endless.clean(b"data: 123456").is_ok());
        assert_eq!(endless.clean(b"78901234567890"), Err(TooLarge));
    }
}
