//! Reads JSON without changing it: exact bytes and numbers, all keys with duplicates.
//!
//! `serde_json::Value` turns `1.10` into `1.1` and 2^64 into a float, and drops duplicate keys, so a reviewer would
//! approve something else than what runs. This reader keeps spans of the original text and interprets only strings. It
//! is strict, but accepts the words in [`ODD_WORDS`] and unpaired surrogates, which some backends write.

mod keys;
mod layout;
mod loose;
mod rough;
mod same;
mod scan;
mod value;

pub use keys::{DoubtfulKeys, doubtful_keys, duplicate_keys};
pub use layout::{compact, legible, pretty};
pub use loose::{Items, items, read_items};
pub use rough::{Nesting, last, rough_members};
pub use same::is_same;
#[cfg(any(test, fuzzing))]
pub use scan::MAX_DEPTH;
#[cfg(test)]
pub(super) use scan::NO_VALUE;
pub(crate) use scan::only;
pub use scan::{JsonError, ODD_WORDS, Scanner, TokenKind, is_number};
pub use value::{Decoded, Member, RawJson, decode, elements, encode, members, members_until_broken};
