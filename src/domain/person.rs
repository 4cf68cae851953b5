//! People of a source.

use super::Untrusted;

/// A person known to a source. The subject is unique, the name may not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub subject: Untrusted,
    pub name: Option<Untrusted>,
}
