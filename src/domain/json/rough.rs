//! Reads text that may not be JSON by quotes and brackets only, so that an invalid value does not hide other members.

use std::borrow::Cow;

use super::value::decode;

/// Position relative to strings and brackets.
#[derive(Debug, Default)]
pub struct Nesting {
    depth: usize,
    quoted: bool,
    escaped: bool,
}

impl Nesting {
    /// Returns whether the byte is outside of strings, or ends one.
    pub fn take(&mut self, byte: u8) -> bool {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.quoted => self.escaped = true,
            b'"' => self.quoted = !self.quoted,
            _ if self.quoted => {}
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        !self.quoted
    }

    pub const fn depth(&self) -> usize {
        self.depth
    }
}

/// Returns the members of an object; `None` if the text does not begin one. The last value may be incomplete.
pub fn rough_members<'a>(text: &'a str) -> Option<Vec<(Cow<'a, str>, &'a str)>> {
    let inner = text.trim_start().strip_prefix('{')?;
    let (mut members, mut nesting, mut from) = (Vec::new(), Nesting { depth: 1, ..Nesting::default() }, 0);
    let keep = |member: Option<&'a str>| {
        let (key, value) = member?.split_once(':')?;
        Some((decode(key.trim()).text, value.trim()))
    };
    for (at, byte) in inner.bytes().enumerate() {
        if nesting.take(byte) && matches!((byte, nesting.depth), (b',', 1) | (b'}', 0)) {
            members.extend(keep(inner.get(from..at)));
            from = at + 1;
        }
    }
    members.extend(keep(inner.get(from..).filter(|_| nesting.depth > 0)));
    Some(members)
}

pub fn last<'a>(members: &[(Cow<'_, str>, &'a str)], key: &str) -> Option<&'a str> {
    members.iter().rfind(|(name, _)| name == key).map(|(_, value)| *value)
}
