//! What a callback is told: that an action was decided or is over, and never what it does.

use serde::Serialize;

/// In the form that <https://www.standardwebhooks.com> proposes.
#[derive(Debug, Serialize)]
pub struct CallbackBody<'a> {
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Of the change.
    pub timestamp: String,
    pub data: CallbackData<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallbackData<'a> {
    pub pending_action_id: &'a str,
    pub workspace_id: &'a str,
    /// Grows with every change in the workspace: of two messages about one action the higher is the newer.
    pub revision: u64,
    pub status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<&'a str>,
}

impl CallbackBody<'_> {
    pub const KIND: &'static str = "placet.action";
}
