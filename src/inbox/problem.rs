//! A request that failed.

use std::time::Duration;

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

/// What is said of an action that its source does not have.
pub(super) const GONE: &str = "no longer in the source";

impl Problem {
    /// The source was asked, and does not have the action.
    pub fn is_gone(&self) -> bool {
        self.what == GONE
    }

    pub(super) const fn ours(what: String) -> Self {
        Self { source: None, what, why: None }
    }

    pub(super) fn at(source: &SourceName, what: impl Into<String>) -> Self {
        Self { source: Some(source.clone()), what: what.into(), why: None }
    }

    pub(super) fn of(source: &SourceName, error: &SourceError) -> Self {
        Self { source: Some(source.clone()), what: error.to_string(), why: error.why().cloned() }
    }

    /// The others answered, and this source was not waited for any longer.
    pub(crate) fn silent(source: &SourceName, after: Duration) -> Self {
        Self::at(source, format!("did not answer within {} s and is left out", after.as_secs()))
    }
}

impl From<JournalError> for Problem {
    fn from(error: JournalError) -> Self {
        Self::ours(error.to_string())
    }
}
