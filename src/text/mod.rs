//! The one door through which foreign text reaches a screen: [`Untrusted`] in, [`Shown`] out.
//!
//! Every character that a terminal would obey, hide or reorder becomes a visible token such as `⟦U+202E⟧`, and the
//! token's own brackets are tokens too, so two different texts never look the same (homoglyphs aside).

use crate::domain::Untrusted;

mod shown;

pub use shown::{Piece, Shown};

/// Text for one line: line breaks become tokens.
pub fn line(text: &Untrusted) -> Shown {
    Shown::of_line(text.as_raw())
}

/// `1 action`, `2 actions`.
pub fn count(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// Text for several lines: LF and CRLF end a line, everything else that is no plain character becomes a token.
pub fn lines(text: &str) -> Vec<Shown> {
    text.split('\n').map(|line| Shown::of_line(line.strip_suffix('\r').unwrap_or(line))).collect()
}
