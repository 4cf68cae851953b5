//! Digests, which bind decisions to exact bytes.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// `sha256:` and 64 hex digits over the length-prefixed fields `placet/v1`, tool name, workspace and the exact bytes of
/// the input (lengths as unsigned 64-bit big-endian numbers).
///
/// Clients compute it from the bytes that they show. A digest in a reply is only compared with it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    pub fn of(tool: &str, workspace: &str, input: &str) -> Self {
        let mut hash = Sha256::new();
        for field in ["placet/v1", tool, workspace, input] {
            hash.update((field.len() as u64).to_be_bytes());
            hash.update(field.as_bytes());
        }
        Self(hash.finalize().into())
    }

    /// Computes a digest of other fields after `label`. Each field starts with a byte: 0 if absent, 1 if present.
    pub fn of_fields<'a>(label: &str, fields: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let mut hash = Sha256::new();
        hash.update((label.len() as u64).to_be_bytes());
        hash.update(label.as_bytes());
        for field in fields {
            let text = field.unwrap_or_default();
            hash.update((text.len() as u64 + 1).to_be_bytes());
            hash.update([u8::from(field.is_some())]);
            hash.update(text.as_bytes());
        }
        Self(hash.finalize().into())
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix("sha256:")?.as_bytes();
        let hex: &[u8; 64] = hex.try_into().ok()?;
        let mut bytes = [0; 32];
        // Without a branch per digit, because a list has 64 of them per action.
        let mut odd = 0;
        for (byte, pair) in bytes.iter_mut().zip(hex.as_chunks().0) {
            let [high, low] = pair.map(four_bits);
            odd |= high | low;
            *byte = high << 4 | low & 15;
        }
        (odd < 16).then_some(Self(bytes))
    }
}

/// Returns the value of a hex digit; 255 if it is not one.
const fn four_bits(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => 255,
    }
}

/// Faster than a formatter for each byte.
const fn digit(four: u8) -> u8 {
    if four < 10 { b'0' + four } else { b'a' + four - 10 }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = *b"sha256:0000000000000000000000000000000000000000000000000000000000000000";
        for (byte, digits) in self.0.iter().zip(text[7..].chunks_exact_mut(2)) {
            digits.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed independently: python3 -c "import hashlib; h=hashlib.sha256()
    /// [ (h.update(len(f).to_bytes(8,'big')), h.update(f)) for f in (b'placet/v1', b't', b'w', b'{}') ]; print(h.hexdigest())"
    const KNOWN: &str = "sha256:9c0d8c6c15e8b07cee722fe8b4483456e10532811e06d90f17908bba1a1dff9d";

    #[test]
    fn a_digest_matches_the_specification() {
        assert_eq!(Digest::of("t", "w", "{}").to_string(), KNOWN);
        assert_eq!(Digest::parse(KNOWN), Some(Digest::of("t", "w", "{}")));
    }

    #[test]
    fn shifted_fields_have_another_digest() {
        assert_ne!(Digest::of("ab", "c", "{}"), Digest::of("a", "bc", "{}"));
    }

    #[test]
    fn absent_fields_differ_from_empty_ones() {
        let of = |fields: &[Option<&str>]| Digest::of_fields("x", fields.iter().copied());

        assert_ne!(of(&[None]), of(&[Some("")]));
        assert_ne!(of(&[Some("a"), None]), of(&[None, Some("a")]));
        assert_ne!(of(&[Some("ab"), Some("c")]), of(&[Some("a"), Some("bc")]));
        assert_ne!(of(&[Some("a")]), Digest::of_fields("y", [Some("a")]));
    }

    #[test]
    fn only_the_printed_form_is_read() {
        for text in
            ["", "sha256:", "sha256:zz", "SHA256:00", &KNOWN.to_uppercase(), &KNOWN.replace("sha256", "md5")]
        {
            assert_eq!(Digest::parse(text), None, "{text}");
        }
    }
}
