//! Events of watched sources.

use crate::domain::SourceName;
use crate::sources::EventKind;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub source: SourceName,
    pub kind: EventKind,
}
