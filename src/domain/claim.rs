//! Claims: who is reviewing an action. They are only shown, end by themselves, and do not prevent decisions.

use super::{ActionId, Timestamp, Untrusted};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub id: ActionId,
    pub by: Untrusted,
    pub since: Timestamp,
}

impl Claim {
    /// Milliseconds of inactivity after which a claim ends, by the gate's clock.
    pub const QUIET: i64 = 5 * 60 * 1_000;
}
