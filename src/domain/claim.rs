//! Claims: who said "I'm on it". Soft: they are shown, end by themselves, and nobody is kept from deciding.

use super::{ActionId, Timestamp, Untrusted};

/// Somebody is on a pending action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub id: ActionId,
    /// The subject of the token that claimed it.
    pub by: Untrusted,
    pub since: Timestamp,
}

impl Claim {
    /// A claim ends when its holder was quiet for so many milliseconds, by the clock of the gate.
    pub const QUIET: i64 = 5 * 60 * 1_000;
}
