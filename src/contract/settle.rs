//! What a human says of an action whose outcome nobody knows.

use serde::{Deserialize, Serialize};

/// `POST …/{id}/settle`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settle {
    #[serde(rename = "as")]
    pub how: SettleAs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SettleAs {
    /// The write landed.
    Executed,
    /// It did not land, and shall not.
    Failed,
    /// It did not land: run it again.
    Retry,
}
