//! Makes foreign text safe to show: [`crate::domain::Untrusted`] in, [`Shown`] out. There is no other way to a screen.
//!
//! A character that a terminal would obey, hide or reorder becomes a token such as `⟦U+202E⟧`. The brackets are tokens,
//! too, so two different texts never look the same, except for homoglyphs.

mod badge;
mod class;
mod cluster;
pub mod csv;
mod flags;
mod identifier;
#[cfg(any(test, fuzzing))]
pub mod inverse;
mod lines;
mod links;
mod lookalike;
mod outcome;
mod people;
mod rows;
mod shown;
#[cfg(test)]
mod tests;
mod units;

#[cfg(any(test, fuzzing))]
pub use badge::badges;
pub use badge::{Badge, LINES as BLANK_LINES};
#[cfg(test)]
pub use badge::{Badges, badges_of_identifier, badges_of_line};
pub use flags::Flags;
pub use identifier::{identifier, name};
pub use lines::{blank, blank_lines, count, first_line, json, line, line_of, lines, part};
pub use links::{is_link, links_in, misleading, named_hosts};
pub use outcome::{by_whom, outcome, partly_approved, reason, skipped, status_as, status_badge, status_word};
pub use people::People;
pub use rows::{NARROWEST, column, hidden, row, styled};
pub use shown::{PieceKind, Shown};
