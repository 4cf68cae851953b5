//! People of a source: who a subject is.

use super::Untrusted;

/// Somebody a source knows. The subject says who it is; the name is for people to read, and others may have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub subject: Untrusted,
    pub name: Option<Untrusted>,
}
