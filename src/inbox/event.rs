//! What a watched source says.

use crate::domain::SourceName;
use crate::sources::EventKind;

/// Something happened at a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub source: SourceName,
    pub kind: EventKind,
}
