//! A request that failed.

use crate::domain::{SourceName, Untrusted};
use crate::journal::JournalError;
use crate::sources::SourceError;

/// What a failed request says, in words for a person. The foreign part stands apart, because it needs the door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub source: Option<SourceName>,
    pub what: String,
    pub why: Option<Untrusted>,
}

impl Problem {
    pub(super) fn of(source: &SourceName, error: &SourceError) -> Self {
        Self { source: Some(source.clone()), what: error.to_string(), why: error.why().cloned() }
    }
}

impl From<JournalError> for Problem {
    fn from(error: JournalError) -> Self {
        Self { source: None, what: error.to_string(), why: None }
    }
}
