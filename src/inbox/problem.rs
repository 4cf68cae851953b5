//! Failed requests.

use std::time::Duration;

use crate::domain::{SourceName, Untrusted};
use crate::journal::JournalError;
use crate::sources::SourceError;

/// A failed request, described for a person. `why` is foreign text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub source: Option<SourceName>,
    pub what: String,
    pub why: Option<Untrusted>,
}

pub(super) const GONE: &str = "no longer in the source";

impl Problem {
    /// Returns whether the source answered that it does not have the action.
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

    /// A source that was left out after the others had answered.
    pub(crate) fn silent(source: &SourceName, after: Duration) -> Self {
        Self::at(source, format!("did not answer within {} s and is left out", after.as_secs()))
    }
}

impl From<JournalError> for Problem {
    fn from(error: JournalError) -> Self {
        Self::ours(error.to_string())
    }
}
