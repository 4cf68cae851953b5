//! Text written by somebody else: an agent, a backend, another reviewer.

use std::fmt;
use std::sync::Arc;

/// Foreign text. It has no `Display`: the only way to a screen is through `text`, which makes every hidden
/// character visible. Cloning is cheap.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Untrusted(Arc<str>);

impl Untrusted {
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text as it came. For wires, digests, comparisons and storage; never for a screen, a title or a log line.
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

/// `Debug` escapes control and format characters, so that a log or a failing test cannot drive a terminal.
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
    fn debug_lets_no_control_character_through() {
        let text = format!("{:?}", Untrusted::from("a\u{1b}[2J\u{202e}é"));

        assert_eq!(text, "\"a\\u{1b}[2J\\u{202e}\\u{e9}\"");
    }
}
