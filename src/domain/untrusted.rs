//! Foreign text: written by an agent, a backend or another reviewer.

use std::fmt;
use std::sync::Arc;

/// Foreign text. It has no `Display`, so it reaches a screen only through `text`, which makes hidden characters
/// visible.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Untrusted(Arc<str>);

impl Untrusted {
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The original text, for wires, digests, comparison and storage. Never for a screen, a title or a log line.
    pub fn as_raw(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for Untrusted {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Untrusted {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

/// Escapes control and format characters, so that logs and failing tests cannot control a terminal.
impl fmt::Debug for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            let plain = c.is_ascii_graphic() || c == ' ';
            if plain { write!(f, "{c}") } else { write!(f, "{}", c.escape_unicode()) }?;
        }
        f.write_str("\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_escapes_control_characters() {
        let text = format!("{:?}", Untrusted::from("a\u{1b}[2J\u{202e}é"));

        assert_eq!(text, "\"a\\u{1b}[2J\\u{202e}\\u{e9}\"");
    }
}
